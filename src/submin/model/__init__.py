"""The model: a problem, what is left of it when elements are fixed, and files."""
