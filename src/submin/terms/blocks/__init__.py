"""Blocks: what a solver projects in one go, and how supports are split into them."""
