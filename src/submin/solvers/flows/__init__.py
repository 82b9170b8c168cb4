"""What exact solvers share: the flow network of a problem, and searches that are kept."""
