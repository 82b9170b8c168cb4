"""The compiled kernels: the same functions as :mod:`submin.kernels.reference`, in C++17.

They release the interpreter lock, use up to ``threads`` threads of a small pool of their own, and
give the same bits for any number of them and for any width of the machine's vectors. The
environment variable ``SUBMIN_VECTORS`` (``portable``, ``avx2`` or ``avx512``) chooses a width
instead of the widest, to test it or to compare times; ``ValueError`` where the machine lacks it.
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
    negative_sum,
    nonnegative_sum,
    path_chains_project,
    path_chains_sweep,
    sum_of_squares,
    sum_within,
    table_project,
    table_second_differences,
    table_sweep,
    truncation_project,
    truncation_sweep,
    vector_width,
    weighted_cardinality,
    weighted_chains,
    weighted_hyperedge,
    weighted_table,
    weighted_truncation,
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
    "negative_sum",
    "nonnegative_sum",
    "path_chains_project",
    "path_chains_sweep",
    "sum_of_squares",
    "sum_within",
    "table_project",
    "table_second_differences",
    "table_sweep",
    "truncation_project",
    "truncation_sweep",
    "vector_width",
    "weighted_cardinality",
    "weighted_chains",
    "weighted_hyperedge",
    "weighted_table",
    "weighted_truncation",
]

vector_width()  # judges the variable before a kernel needs it
