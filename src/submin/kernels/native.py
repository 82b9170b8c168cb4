"""The compiled kernels: the same functions as :mod:`submin.kernels.reference`, in C++17.

They release the interpreter lock, use up to ``threads`` threads of a small pool of their own, and
give the same bits for any number of them.
"""

from __future__ import annotations

from submin._native import (
    absolute_sum,
    cardinality_greedy,
    cardinality_project,
    cardinality_sweep,
    colour,
    compensated_sum,
    edges_excess,
    edges_project,
    edges_sweep,
    evaluate_sets,
    grid_accumulate,
    grid_chains_project,
    grid_chains_sweep,
    grid_cut_value,
    grid_project,
    grid_sweep,
    hyperedge_project,
    hyperedge_sweep,
    linear_forests,
    path_chains_project,
    path_chains_sweep,
    table_project,
    table_second_differences,
    table_sweep,
    truncation_project,
    truncation_sweep,
)

__all__ = [
    "absolute_sum",
    "cardinality_greedy",
    "cardinality_project",
    "cardinality_sweep",
    "colour",
    "compensated_sum",
    "edges_excess",
    "edges_project",
    "edges_sweep",
    "evaluate_sets",
    "grid_accumulate",
    "grid_chains_project",
    "grid_chains_sweep",
    "grid_cut_value",
    "grid_project",
    "grid_sweep",
    "hyperedge_project",
    "hyperedge_sweep",
    "linear_forests",
    "path_chains_project",
    "path_chains_sweep",
    "table_project",
    "table_second_differences",
    "table_sweep",
    "truncation_project",
    "truncation_sweep",
]
