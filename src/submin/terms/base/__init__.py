"""What families share: the contract of a term, and the bases of edges and of groups."""
