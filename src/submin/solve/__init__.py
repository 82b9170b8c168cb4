"""Solving: the layout of blocks, the loop, certificates, results."""
