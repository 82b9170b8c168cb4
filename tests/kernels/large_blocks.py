"""One call of every native kernel, large enough for several threads.

A case is a function of (kernels, threads) that makes its own data from a fixed seed, runs the
kernel and returns the arrays it wrote.
"""

import numpy as np

from .grids import grid_matching
from .projections import random_submodular

EDGES, TABLES = 100_000, 20_000


def _edges(rng):
    nodes = rng.permutation(2 * EDGES).astype(np.int32)
    block = rng.permutation(EDGES).astype(np.int32)
    weights = rng.random((2, EDGES))
    return (nodes[:EDGES], nodes[EDGES:], *weights, block), rng.normal(size=EDGES) / 4, 2 * EDGES


def edges_sweep(kernels, threads):
    rng = np.random.default_rng(0)
    fixed, flow, nodes = _edges(rng)
    s = rng.normal(size=nodes)
    kernels.edges_sweep(*fixed, flow, s, threads)
    return flow, s


def edges_project(kernels, threads):
    rng = np.random.default_rng(0)
    fixed, flow, nodes = _edges(rng)
    out = np.empty(EDGES)
    kernels.edges_project(*fixed, flow, rng.normal(size=nodes), 0.7, out, threads)
    return (out,)


def _grid(rng, axis):
    shape = (437, 651)
    offset = (1 - axis, axis)
    geometry, _, _, _, count = grid_matching(shape, offset, axis, 1)
    return geometry, *rng.random((2, count)), rng.normal(size=count) / 4, rng.normal(size=437 * 651)


def grid_sweep_across(kernels, threads):
    *fixed, flow, s = _grid(np.random.default_rng(0), 0)
    kernels.grid_sweep(*fixed, flow, s, threads)
    return flow, s


def grid_sweep_along(kernels, threads):
    *fixed, flow, s = _grid(np.random.default_rng(0), 1)
    kernels.grid_sweep(*fixed, flow, s, threads)
    return flow, s


def grid_project(kernels, threads):
    arguments = _grid(np.random.default_rng(0), 0)
    out = np.empty(int(np.prod(arguments[0][1:3])))
    kernels.grid_project(*arguments, 0.7, out, threads)
    return (out,)


def _cardinality(rng):
    sizes = rng.integers(0, 700, size=300)
    indptr = np.append(0, np.cumsum(sizes)).astype(np.int64)
    members = rng.permutation(indptr[-1]).astype(np.int32)
    gains = np.concatenate([np.linspace(1, -1, size) for size in sizes])
    order = np.concatenate([np.arange(size) for size in sizes]).astype(np.int32)
    groups = rng.permutation(300)[:290].astype(np.int32)
    return (indptr, members, gains, groups), *rng.normal(size=(2, members.size)), order


def cardinality_sweep(kernels, threads):
    fixed, y, s, order = _cardinality(np.random.default_rng(0))
    for _ in range(2):
        kernels.cardinality_sweep(*fixed, y, s, order, threads)
    return y, s, order


def cardinality_project(kernels, threads):
    fixed, y, s, order = _cardinality(np.random.default_rng(0))
    out = np.empty(int(np.diff(fixed[0])[fixed[3]].sum()))
    kernels.cardinality_project(*fixed, y, s, 0.7, order, out, threads)
    return out, order


def cardinality_greedy(kernels, threads):
    rng = np.random.default_rng(0)
    (indptr, members, gains, _), *_ = _cardinality(rng)
    rank = rng.permutation(members.size).astype(np.int32)
    out = np.empty(members.size)
    kernels.cardinality_greedy(indptr, members, gains, rank, out, threads)
    return (out,)


def cardinality_excess(kernels, threads):
    (indptr, _, gains, _), y, *_ = _cardinality(np.random.default_rng(0))
    costs = np.concatenate([np.append(0, np.cumsum(g)) for g in np.split(gains, indptr[1:-1])])
    return (np.array(kernels.cardinality_excess(indptr, costs, y, threads)),)


def hyperedge_excess(kernels, threads):
    rng = np.random.default_rng(0)
    (indptr, *_), y, *_ = _cardinality(rng)
    weights, roles = rng.random(300), rng.integers(1, 4, y.size).astype(np.uint8)
    return (np.array(kernels.hyperedge_excess(indptr, roles, weights, y, threads)),)


def truncation_excess(kernels, threads):
    rng = np.random.default_rng(0)
    (indptr, *_), y, modular, _ = _cardinality(rng)
    masses, caps = rng.random(y.size), 9 * rng.random(300)
    return (np.array(kernels.truncation_excess(indptr, modular, masses, caps, y, threads)),)


def group_counts(kernels, threads):
    rng = np.random.default_rng(0)
    (indptr, members, *_), *_ = _cardinality(rng)
    inside, out = rng.integers(0, 2, members.size).astype(np.uint8), np.empty(300, dtype=np.int64)
    kernels.group_counts(indptr, members, inside, out, threads)
    return (out,)


def _tables(rng):
    members = rng.permutation(4 * TABLES).astype(np.int32).reshape(TABLES, 4)
    values = random_submodular(rng, 4)[None]
    tables = rng.permutation(TABLES).astype(np.int32)
    return (members, values, tables), *rng.normal(size=(2, 4 * TABLES))


def table_sweep(kernels, threads):
    fixed, y, s = _tables(np.random.default_rng(0))
    kernels.table_sweep(*fixed, y, s, threads)
    return y, s


def table_project(kernels, threads):
    fixed, y, s = _tables(np.random.default_rng(0))
    out = np.empty(y.size)
    kernels.table_project(*fixed, y, s, 0.7, out, threads)
    return (out,)


CASES = [
    edges_sweep,
    edges_project,
    grid_sweep_across,
    grid_sweep_along,
    grid_project,
    cardinality_sweep,
    cardinality_project,
    cardinality_greedy,
    cardinality_excess,
    hyperedge_excess,
    truncation_excess,
    group_counts,
    table_sweep,
    table_project,
]
