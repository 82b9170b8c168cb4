"""The compiled kernels: the same functions as :mod:`submin.kernels.reference`, in C++17.

They release the interpreter lock, use up to ``threads`` threads of a small pool of their own, and
give the same bits for any number of them.
"""

from __future__ import annotations

from submin._native import (
    cardinality_greedy,
    cardinality_project,
    cardinality_sweep,
    colour,
    edges_project,
    edges_sweep,
    grid_chains_project,
    grid_chains_sweep,
    grid_project,
    grid_sweep,
    hyperedge_project,
    hyperedge_sweep,
    path_chains_project,
    path_chains_sweep,
    table_project,
    table_sweep,
    truncation_project,
    truncation_sweep,
    weighted_cardinality,
    weighted_chains,
    weighted_hyperedge,
    weighted_table,
    weighted_truncation,
)

__all__ = [
    "cardinality_greedy",
    "cardinality_project",
    "cardinality_sweep",
    "colour",
    "edges_project",
    "edges_sweep",
    "grid_chains_project",
    "grid_chains_sweep",
    "grid_project",
    "grid_sweep",
    "hyperedge_project",
    "hyperedge_sweep",
    "path_chains_project",
    "path_chains_sweep",
    "table_project",
    "table_sweep",
    "truncation_project",
    "truncation_sweep",
    "weighted_cardinality",
    "weighted_chains",
    "weighted_hyperedge",
    "weighted_table",
    "weighted_truncation",
]
