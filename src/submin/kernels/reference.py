"""NumPy twins of the native kernels: the executable specification.

Each function has the signature and the conventions of :class:`submin.kernels.protocol.KernelSet`
and states its mathematics. They are what the documentation shows, what the native kernels are
tested against, and what runs when no compiled module is available. ``threads`` is ignored.

The one primitive is the projection ``y+ = Proj_B(a)`` of ``a = y - s / c`` onto a base polytope
``B = {y : y(S) <= F(S) for all S, y(V) = F(V)}``. Its Lagrange dual is the proximal problem
``min_x f(x) + 1/2 |x - a|^2`` of the Lovász extension f, and ``y+ = a - x``
(Bach 2013, doi:10.1561/2200000039).
"""

from __future__ import annotations

import ctypes
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray
from submin.kernels.chains_reference import (
    grid_chains_project,
    grid_chains_sweep,
    path_chains_project,
    path_chains_sweep,
)
from submin.kernels.closure_reference import (
    close_sides,
    edges_close_sides,
    grid_close_sides,
)
from submin.kernels.diagonal_metric import (
    project_table,
    weighted_cardinality,
    weighted_chains,
    weighted_hyperedge,
    weighted_table,
    weighted_truncation,
)
from submin.kernels.forests_reference import linear_forests
from submin.kernels.groups_reference import (
    cardinality_excess,
    group_counts,
    groups_accumulate,
    hyperedge_excess,
    hyperedge_project,
    hyperedge_sweep,
    truncation_excess,
    truncation_project,
    truncation_sweep,
)
from submin.kernels.networks_reference import adjacency_order, conserve
from submin.kernels.sums_reference import (
    absolute_sum,
    best_prefix,
    compensated_sum,
    descending_ranks,
    edges_accumulate,
    edges_cut_value,
    edges_excess,
    extrapolate,
    grid_accumulate,
    grid_cut_value,
    grid_greedy,
    grid_inspect,
    negative_sum,
    nonnegative_sum,
    sum_of_squares,
    sum_within,
)

__all__ = [
    "absolute_sum",
    "adjacency_order",
    "best_prefix",
    "cardinality_excess",
    "cardinality_greedy",
    "cardinality_project",
    "cardinality_sweep",
    "close_sides",
    "colour",
    "compensated_sum",
    "conserve",
    "descending_ranks",
    "edges_accumulate",
    "edges_close_sides",
    "edges_cut_value",
    "edges_excess",
    "edges_project",
    "edges_sweep",
    "evaluate_sets",
    "extrapolate",
    "grid_accumulate",
    "grid_chains_project",
    "grid_chains_sweep",
    "grid_close_sides",
    "grid_cut_value",
    "grid_greedy",
    "grid_inspect",
    "grid_project",
    "grid_sweep",
    "group_counts",
    "groups_accumulate",
    "hyperedge_excess",
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
    "truncation_excess",
    "truncation_project",
    "truncation_sweep",
    "weighted_cardinality",
    "weighted_chains",
    "weighted_hyperedge",
    "weighted_table",
    "weighted_truncation",
]


# Edges: B = {(t, -t) : -backward <= t <= forward}.


def _clipped_step(
    flow: FloatArray,
    difference: FloatArray,
    c: float,
    backward: WeightArray,
    forward: WeightArray,
) -> FloatArray:
    """Minimise ``(t - a_i)^2 + (-t - a_j)^2`` over ``-backward <= t <= forward``.

    With ``a = (t_old - s_i / c, -t_old - s_j / c)`` the free minimiser is
    ``(a_i - a_j) / 2 = t_old - (s_i - s_j) / (2 c)``; one variable, so clipping is exact.
    """
    return np.clip(flow - difference * (0.5 / c), -backward, forward)


def _selected(weights: WeightArray, edges: IndexArray) -> WeightArray:
    return weights if weights.size == 1 else weights[edges]


def edges_project(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    edges: IndexArray,
    flow: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Write ``clip(t - (s_i - s_j) / (2 c), -backward, forward)`` for the edges (i, j), flows t."""
    difference = s[tails[edges]] - s[heads[edges]]
    lower, upper = _selected(backward, edges), _selected(forward, edges)
    out[:] = _clipped_step(flow[edges], difference, c, lower, upper)


def edges_sweep(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    edges: IndexArray,
    flow: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project with c = 1, then ``s_i += dt`` and ``s_j -= dt``; the edges share no node."""
    updated = np.empty(edges.size)
    edges_project(tails, heads, backward, forward, edges, flow, s, 1.0, updated, threads)
    change = updated - flow[edges]
    flow[edges] = updated
    s[tails[edges]] += change
    s[heads[edges]] -= change


# Grid edges: the same, on strided views.


def _view(
    array: npt.NDArray[Any], extents: PointerArray, strides: PointerArray, start: int
) -> npt.NDArray[Any]:
    """Return the view ``array[start + k . strides]`` for the multi-indices ``0 <= k < extents``."""
    reach = (extents - 1) * strides
    low, high = start + reach[reach < 0].sum(), start + reach[reach > 0].sum()
    if not 0 <= low <= high < array.size:
        raise ValueError(f"geometry reaches from {low} to {high}, outside of size {array.size}")
    return as_strided(array[start:], tuple(extents), tuple(strides * array.itemsize))


def _grid_views(
    geometry: PointerArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
) -> tuple[npt.NDArray[Any], ...]:
    """Return views of the block's backward and forward weights, flows, tails' and heads' sums."""
    extents, edge_strides, node_strides = geometry[1:-3].reshape(3, -1)
    edge_start, tail_start, head_start = (int(start) for start in geometry[-3:])

    def weights(array: WeightArray) -> WeightArray:
        return array if array.size == 1 else _view(array, extents, edge_strides, edge_start)

    return (
        weights(backward),
        weights(forward),
        _view(flow, extents, edge_strides, edge_start),
        _view(s, extents, node_strides, tail_start),
        _view(s, extents, node_strides, head_start),
    )


def grid_project(
    geometry: PointerArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Write ``clip(t - (s_tail - s_head) / (2 c), -backward, forward)`` in C order."""
    if out.size > 0:
        lower, upper, old, tail, head = _grid_views(geometry, backward, forward, flow, s)
        out[:] = _clipped_step(old, tail - head, c, lower, upper).ravel()


def grid_sweep(
    geometry: PointerArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project with c = 1, then add the change of flow at the tails, subtract it at the heads."""
    if np.any(geometry[1 : geometry[0] + 1] == 0):
        return
    lower, upper, old, tail, head = _grid_views(geometry, backward, forward, flow, s)
    updated = _clipped_step(old, tail - head, 1.0, lower, upper)
    change = updated - old
    old[...] = updated
    tail += change
    head -= change


# Concave functions of the cardinality.


def _nonincreasing_regression(z: FloatArray) -> FloatArray:
    """Return the nonincreasing x closest to z: pool adjacent violators, one pass over a stack.

    >>> _nonincreasing_regression(np.array([3.0, 1.0, 2.0, 0.0]))
    array([3. , 1.5, 1.5, 0. ])
    """
    totals: list[float] = []
    counts: list[int] = []
    for value in z.tolist():
        total, count = value, 1
        while totals and totals[-1] * count <= total * counts[-1]:
            total += totals.pop()
            count += counts.pop()
        totals.append(total)
        counts.append(count)
    return np.repeat(np.divide(totals, counts), counts)


def _project_cardinality(a: FloatArray, gains: FloatArray, order: IndexArray) -> FloatArray:
    """Project ``a`` onto B of ``F(S) = g(|S|)``, g concave with the given gains; update ``order``.

    f(x) gives the j-th largest entry of x the j-th gain. The proximal point is ordered like ``a``,
    so in the descending order of ``a`` it is the nonincreasing regression of ``a - gains``.
    """
    order[:] = order[np.argsort(-a[order], kind="stable")]
    x = np.empty(a.size)
    x[order] = _nonincreasing_regression(a[order] - gains)
    return a - x


def cardinality_project(
    indptr: PointerArray,
    members: IndexArray,
    gains: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    c: float,
    order: IndexArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Project each group's ``a = y - s[members] / c``; ``out`` concatenates the results."""
    end = 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        a = y[part] - s[members[part]] / c
        begin, end = end, end + a.size
        out[begin:end] = _project_cardinality(a, gains[part], order[part])


def cardinality_sweep(
    indptr: PointerArray,
    members: IndexArray,
    gains: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    order: IndexArray,
    threads: int,
) -> None:
    """Project with c = 1 and add the change of y to ``s``; the groups share no member."""
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        updated = _project_cardinality(y[part] - s[members[part]], gains[part], order[part])
        s[members[part]] += updated - y[part]
        y[part] = updated


def cardinality_greedy(
    indptr: PointerArray,
    members: IndexArray,
    gains: FloatArray,
    rank: IndexArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Write Edmonds' greedy vertices: the j-th member of a group in increasing rank gets gain j.

    The j-th gain is ``g(j) - g(j - 1)``, what F grows by along the chain of sets of first members.
    """
    for begin, end in pairwise(indptr.tolist()):
        ascending = np.argsort(rank[members[begin:end]], kind="stable")
        out[begin + ascending] = gains[begin:end]


# Explicit tables.


def table_project(
    members: IndexArray,
    values: FloatArray,
    tables: IndexArray,
    y: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Project each table's ``a = y - s[members] / c``; row k of ``out`` is for ``tables[k]``."""
    rows, results = y.reshape(members.shape), out.reshape(-1, members.shape[1])
    for result, table in zip(results, tables, strict=True):
        a = rows[table] - s[members[table]] / c
        result[:] = project_table(a, np.ones(a.size), values[table if len(values) > 1 else 0])


def table_sweep(
    members: IndexArray,
    values: FloatArray,
    tables: IndexArray,
    y: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project with c = 1 and add the change of y to ``s``; the tables share no member."""
    updated = np.empty((tables.size, members.shape[1]))
    table_project(members, values, tables, y, s, 1.0, updated.reshape(-1), threads)
    rows = y.reshape(members.shape)
    s[members[tables]] += updated - rows[tables]
    rows[tables] = updated


def table_second_differences(values: FloatArray, out: FloatArray, threads: int) -> None:
    """Write the least F(A + i) + F(A + j) - F(A) - F(A + i + j) of each table."""
    rows, subsets = values.shape
    out[...] = np.inf
    for i, j in combinations(range(subsets.bit_length() - 1), 2):
        bits = values.reshape(rows, subsets >> (j + 1), 2, 1 << (j - i - 1), 2, 1 << i)
        apart = bits[:, :, 0, :, 1] + bits[:, :, 1, :, 0]
        together = bits[:, :, 0, :, 0] + bits[:, :, 1, :, 1]
        np.minimum(out, (apart - together).min(axis=(1, 2, 3)), out=out)


# Functions that are compiled.


def evaluate_sets(address: int, data: int, sets: npt.NDArray[np.uint8], out: FloatArray) -> None:
    """Call the C function at an address for each row of a matrix of masks."""
    if not address:
        raise ValueError("the address of the function is null")
    if out.shape != sets.shape[:1]:
        raise ValueError(f"out has size {out.size}, expected {sets.shape[0]}")
    pointer, size = ctypes.c_void_p, ctypes.c_int64
    function = ctypes.CFUNCTYPE(ctypes.c_double, pointer, size, pointer)(address)
    for row, members in enumerate(np.ascontiguousarray(sets)):
        out[row] = function(members.ctypes.data, members.size, data or None)


# Colouring: functions of one colour have pairwise disjoint supports.


def colour(pointers: PointerArray, members: IndexArray, colours: IndexArray) -> None:
    """Give each function the first colour that no earlier function on any of its elements has."""
    taken: set[tuple[int, int]] = set()
    for i in range(pointers.size - 1):
        support = members[pointers[i] : pointers[i + 1]].tolist()
        candidate = 0
        while any((element, candidate) in taken for element in support):
            candidate += 1
        colours[i] = candidate
        taken.update((element, candidate) for element in support)
