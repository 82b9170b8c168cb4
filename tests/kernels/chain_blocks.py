"""Blocks of chains: geometry, data of several kinds, and calls of the kernels on copies."""

import numpy as np

OFFSETS = [(0, 1), (1, 0), (1, 1), (1, -1), (2, 1), (1, -3)]


def grid_chains(shape, offset):
    """Geometry of all chains of ``offset`` in a grid, and the number of its edges."""
    extents = [n - abs(d) for n, d in zip(shape, offset, strict=True)]
    nodes = np.arange(np.prod(shape)).reshape(shape)
    edges = np.full(shape, -1)
    tails = tuple(slice(max(0, -d), n - max(0, d)) for n, d in zip(shape, offset, strict=True))
    heads = tuple(slice(max(0, d), n - max(0, -d)) for n, d in zip(shape, offset, strict=True))
    edges[tails] = np.arange(np.prod(extents)).reshape(extents)
    first = edges >= 0
    first[heads] &= edges[tails] < 0
    steps = [
        (n - 1 - at if d > 0 else at) // abs(d)
        for n, d, at in zip(shape, offset, np.nonzero(first), strict=True)
        if d != 0
    ]
    node_stride = int(np.dot(offset, np.cumprod((1, *shape[:0:-1]))[::-1]))
    edge_stride = int(np.dot(offset, np.cumprod((1, *extents[:0:-1]))[::-1]))
    length = np.min(steps, axis=0) + 1
    return (nodes[first], edges[first], length, node_stride, edge_stride), int(np.prod(extents))


def path_chains(lengths, rng):
    """Random node-disjoint paths of these lengths: indptr, nodes, edges, orientation."""
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    nodes = rng.permutation(indptr[-1] + 3)[: indptr[-1]].astype(np.int32)
    edges = rng.permutation(indptr[-1] + 5)[: indptr[-1] - len(lengths)].astype(np.int32)
    orientation = rng.choice([-1, 1], edges.size).astype(np.int8)
    return indptr, nodes, edges, orientation


def data(rng, edges, nodes, kind="general"):
    """Weights, feasible flows and node sums of a kind."""
    forward, backward = rng.exponential(size=(2, edges))
    s = 3 * rng.normal(size=nodes)
    if kind == "undirected":
        backward = forward
    elif kind == "uniform":
        backward = forward = np.array([0.7])
    elif kind == "plateaus":
        forward, backward, s = np.round(2 * forward), np.round(2 * backward), np.round(s)
    elif kind == "zeros":
        forward, backward = (w * (rng.random(edges) < 0.6) for w in (forward, backward))
    elif kind == "constant":
        s = np.full(nodes, 1.25)
    elif kind == "scales":
        forward, backward = 10.0 ** rng.uniform(-8, 8, size=(2, edges))
    elif kind == "precedences":
        forward, backward = (
            np.where(rng.random(edges) < 0.4, np.inf, w * (rng.random(edges) < 0.6))
            for w in (forward, backward)
        )
    elif kind == "isotonic":
        forward, backward = np.array([np.inf]), np.zeros(1)
    flow = np.clip(2 * rng.normal(size=edges), -backward, forward)
    return backward, forward, flow, s


KINDS = [
    "general", "undirected", "uniform", "plateaus", "zeros", "constant", "scales", "precedences",
    "isotonic",
]  # fmt: skip


def sweep(kernels, kind, geometry, weights, flow, s, threads=1):
    flow, s = flow.copy(), s.copy()
    getattr(kernels, f"{kind}_chains_sweep")(*geometry, *weights, flow, s, threads)
    return flow, s


def project(kernels, kind, geometry, weights, flow, s, c=1.7, threads=1):
    out = flow.copy()
    getattr(kernels, f"{kind}_chains_project")(*geometry, *weights, flow, s, c, out, threads)
    return out


def results(kernels, threads):
    """Arrays by name: blocks of all kinds, offsets and families, from any flows, then again."""
    arrays = {}
    for kind in KINDS:
        for offset in OFFSETS:
            geometry, edges = grid_chains((37, 41), offset)
            _record(arrays, kernels, f"grid {offset} {kind}", geometry, edges, 37 * 41, threads)
        geometry = path_chains(np.arange(1, 30), np.random.default_rng(0))
        size = int(geometry[0][-1])
        _record(arrays, kernels, f"path {kind}", geometry, size + 5, size + 3, threads)
    arrays.update(smooth_results(kernels, threads))
    return arrays


def _record(arrays, kernels, name, geometry, edges, nodes, threads):
    family, kind = name.split()[0], name.split()[-1]
    *weights, flow, s = data(np.random.default_rng(1), edges, nodes, kind)
    for again in range(2):
        arrays[f"{name} project {again}"] = project(
            kernels, family, geometry, weights, flow, s, threads=threads
        )
        flow, s = sweep(kernels, family, geometry, weights, flow, s, threads)
        arrays[f"{name} flow {again}"], arrays[f"{name} s {again}"] = flow, s


def smooth_results(kernels, threads):
    """Among rough columns, smooth ones, which exhaust the walk's budget of steps."""
    geometry, edges = grid_chains((300, 19), (1, 0))
    rng = np.random.default_rng(2)
    forward, backward = rng.uniform(2, 8, size=(2, edges))
    s = rng.normal(size=(300, 19))
    s[:, ::3] = 50 * np.linspace(-1, 1, 300)[:, None] ** 2
    flow, s = sweep(
        kernels, "grid", geometry, (backward, forward), np.zeros(edges), s.ravel(), threads
    )
    return {"smooth flow": flow, "smooth s": s}
