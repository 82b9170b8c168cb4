"""Cut problems with a starting flow, and the two maximum flows on them."""

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

native = pytest.importorskip("submin.kernels.native")

OFFSETS = {
    (1, 2): [(1,)],
    (2, 4): [(0, 1), (1, 0)],
    (2, 8): [(0, 1), (1, -1), (1, 0), (1, 1)],
    (3, 6): [(0, 0, 1), (0, 1, 0), (1, 0, 0)],
}


def half(offsets):
    """Keep the offsets whose first step is forward."""
    return [offset for offset in offsets if offset > (0,) * len(offset)]


CUBE = list(itertools.product((-1, 0, 1), repeat=3))
OFFSETS[3, 26] = half(CUBE)
OFFSETS[3, 18] = half([offset for offset in CUBE if sum(map(abs, offset)) <= 2])


LINES = [((1,), 2), ((2,), 2), ((7,), 2)]
PLANES = itertools.product([(1, 1), (1, 6), (5, 1), (3, 3), (2, 5), (4, 3)], (4, 8))
BODIES = itertools.product([(1, 1, 1), (2, 2, 2), (1, 3, 3), (3, 2, 2)], (6, 18, 26))
small_grids = st.sampled_from([*LINES, *PLANES, *BODIES])


def grid_edges(shape, offset):
    """Return tails and heads of the edges of an offset, in C order of the overlap."""
    nodes = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    tails = tuple(
        slice(max(0, -step), max(0, extent - max(0, step)))
        for extent, step in zip(shape, offset, strict=True)
    )
    heads = tuple(
        slice(max(0, step), max(0, extent - max(0, -step)))
        for extent, step in zip(shape, offset, strict=True)
    )
    return nodes[tails].ravel(), nodes[heads].ravel()


class Instance:
    """A cut problem with a starting flow; weights and flows by group of edges."""

    def __init__(self, unary, edges, backward, forward, flows):
        self.unary = np.asarray(unary, dtype=float)
        self.edges = edges
        self.backward = backward
        self.forward = forward
        self.flows = [flow.copy() for flow in flows]
        self.s = self.unary + self.pushed()

    def pushed(self):
        """Return A flow."""
        total = np.zeros_like(self.unary)
        for (tails, heads), flow in zip(self.edges, self.flows, strict=True):
            np.add.at(total, tails, flow)
            np.subtract.at(total, heads, flow)
        return total

    def value(self, members):
        """Return F(S) of one set, or of each row of sets."""
        total = members @ self.unary
        for (tails, heads), backward, forward in zip(
            self.edges, self.backward, self.forward, strict=True
        ):
            out = members[..., tails].astype(int) - members[..., heads]
            total = total + np.where(out > 0, forward, 0).sum(axis=-1)
            total = total + np.where(out < 0, backward, 0).sum(axis=-1)
        return total

    def minimisers(self):
        """Return the smallest and the largest minimiser, by enumeration."""
        size = self.unary.size
        sets = (np.arange(1 << size)[:, None] >> np.arange(size) & 1).astype(bool)
        values = self.value(sets)
        best = sets[values == values.min()]
        return best.all(axis=0), best.any(axis=0)

    def check_dual(self):
        """Flows are within bounds exactly and s belongs to them."""
        for flow, backward, forward in zip(self.flows, self.backward, self.forward, strict=True):
            assert np.all((-backward <= flow) & (flow <= forward))
        np.testing.assert_allclose(self.s, self.unary + self.pushed(), rtol=1e-12, atol=1e-9)


def finish(solver, size, *, budget=1 << 40, threads=1):
    """Run to the end; return the smallest and the largest minimiser and the number of calls."""
    calls = 1
    while not solver.advance(budget, threads):
        calls += 1
    members = np.empty((2, size), dtype=np.uint8)
    solver.members(members[0], largest=False)
    solver.members(members[1], largest=True)
    return members[0].astype(bool), members[1].astype(bool), calls


def grid_arguments(instance, shape, offsets):
    return (
        np.array(shape, dtype=np.int64),
        np.array(offsets, dtype=np.int64).reshape(len(offsets), len(shape)),
        instance.backward,
        instance.forward,
        instance.flows,
        instance.s,
    )


def grid_solver(instance, shape, offsets, kernels=native, **settings):
    return kernels.GridFlow(*grid_arguments(instance, shape, offsets), **settings)


def tree_solver(instance, shape, offsets, kernels=native):
    return kernels.GridTreeFlow(*grid_arguments(instance, shape, offsets))


def graph_solver(instance, *, warm=False, kernels=native):
    """Give all groups of edges to the solver of general graphs, as one."""
    sizes = [tails.size for tails, _ in instance.edges]

    def joined(parts):
        full = [np.broadcast_to(part, size) for part, size in zip(parts, sizes, strict=True)]
        return np.concatenate(full) if full else np.empty(0)

    tails = np.concatenate([tails for tails, _ in instance.edges]).astype(np.int32)
    heads = np.concatenate([heads for _, heads in instance.edges]).astype(np.int32)
    instance.edges = [(tails, heads)]
    instance.backward = [joined(instance.backward)]
    instance.forward = [joined(instance.forward)]
    instance.flows = [joined(instance.flows)]
    return kernels.GraphFlow(
        tails,
        heads,
        instance.backward[0],
        instance.forward[0],
        instance.flows[0],
        instance.s,
        warm,
    )


def check_optimal(instance, smallest, largest):
    """The dual proves both sets optimal."""
    instance.check_dual()
    bound = np.minimum(instance.s, 0).sum()
    np.testing.assert_allclose(instance.value(smallest), bound, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(instance.value(largest), bound, rtol=1e-12, atol=1e-9)
    assert np.all(smallest <= largest)


def check_against_enumeration(instance, smallest, largest):
    check_optimal(instance, smallest, largest)
    expected_smallest, expected_largest = instance.minimisers()
    np.testing.assert_array_equal(smallest, expected_smallest)
    np.testing.assert_array_equal(largest, expected_largest)


def random_instance(seed, nodes, edges, *, scale=6, uniform=False):
    """Draw small integers, so that ties and plateaus are common and sums are exact."""
    rng = np.random.default_rng(seed)
    sizes = [1 if uniform and tails.size else tails.size for tails, _ in edges]
    forward = [rng.integers(0, scale, size).astype(float) for size in sizes]
    backward = [
        same if rng.random() < 0.5 else rng.integers(0, scale, same.size).astype(float)
        for same in forward
    ]
    flows = []
    for (tails, _), back, forth in zip(edges, backward, forward, strict=True):
        low, high = np.broadcast_to(-back, tails.size), np.broadcast_to(forth, tails.size)
        start = np.floor(low + rng.random(tails.size) * (high - low + 1))
        flows.append(np.where(rng.random(tails.size) < 0.3, np.clip(0, low, high), start))
    unary = rng.integers(-scale, scale + 1, nodes)
    return Instance(unary, edges, backward, forward, flows)


def scipy_minimum(instance):
    """Return the minimum by SciPy's maximum flow between two extra nodes."""
    source, sink = instance.unary.size, instance.unary.size + 1
    supply = np.arange(source)
    parts = [
        (source + np.zeros_like(supply), supply, np.maximum(-instance.unary, 0)),
        (supply, sink + np.zeros_like(supply), np.maximum(instance.unary, 0)),
    ]
    for (tails, heads), back, forth in zip(
        instance.edges, instance.backward, instance.forward, strict=True
    ):
        parts.append((tails, heads, np.broadcast_to(forth, tails.size)))
        parts.append((heads, tails, np.broadcast_to(back, tails.size)))
    rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    graph = csr_array((values, (rows, columns)), shape=(sink + 1, sink + 1)).astype(np.int32)
    return maximum_flow(graph, source, sink).flow_value + np.minimum(instance.unary, 0).sum()


def long_instance(seed, shape=(140, 150)):
    """Draw real data that needs long paths: blocks of one sign, strong edges, any start."""
    rng = np.random.default_rng(seed)
    offsets = OFFSETS[2, 8]
    edges = [grid_edges(shape, offset) for offset in offsets]
    blocks = np.kron(rng.normal(size=(7, 6)), np.ones((shape[0] // 7, shape[1] // 6)))
    unary = (blocks + 0.2 * rng.normal(size=shape)).ravel()
    weights = [3 * rng.random(tails.size) ** 4 for tails, _ in edges]
    flows = [(2 * rng.random(w.size) - 1) * w * 0.1 for w in weights]
    return Instance(unary, edges, weights, weights, flows), shape, offsets
