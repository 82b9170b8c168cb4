"""Kernels of flow networks: native against twin, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import reference

native = pytest.importorskip("submin.kernels.native")

NODES = 6
arc = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1))
flows = st.lists(st.tuples(arc, st.integers(-4, 4)), max_size=24)


def net_outflow(tails, heads, flow):
    out = np.bincount(tails, flow, NODES) - np.bincount(heads, flow, NODES)
    return out.astype(float)


def arrays(arcs):
    ends = np.array([ends for ends, _ in arcs], dtype=np.int32).reshape(-1, 2).T.copy()
    return *ends, np.array([amount for _, amount in arcs], dtype=np.float64)


def has_cycle(tails, heads, flow):
    """Whether arcs that carry flow go round, by taking away nodes that nothing enters."""
    kept = (flow != 0) & (tails != heads)
    along = flow[kept] > 0
    begin, end = (
        np.where(along, tails[kept], heads[kept]),
        np.where(along, heads[kept], tails[kept]),
    )
    while begin.size:
        inner = np.isin(begin, end)
        if inner.all():
            return True
        begin, end = begin[inner], end[inner]
    return False


@given(flows)
def test_native_against_twin(arcs):
    """Bit for bit: of a flow from node 0, with what is stuck at the others."""
    tails, heads, flow = arrays(arcs)
    s = net_outflow(tails, heads, flow)
    results = []
    for kernels in (native, reference):
        own, imbalance = flow.copy(), s.copy()
        kernels.conserve(tails, heads, own, imbalance, 0, NODES - 1)
        results.append((own, imbalance))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


@given(flows)
def test_excess_goes_back_and_no_cycle_stays(arcs):
    """What is sent from node 0 along any arcs conserves afterwards, and sends less on every arc."""
    tails, heads, flow = arrays(arcs)
    s = net_outflow(tails, heads, flow)
    left = s.copy()
    native.conserve(tails, heads, flow, left, 0, NODES - 1)
    loops = tails == heads
    before = arrays(arcs)[2]
    assert np.all(np.abs(flow) <= np.abs(before))
    assert np.all(flow * before >= 0)
    assert np.array_equal(flow[loops], before[loops])
    assert not has_cycle(tails, heads, flow)
    net = net_outflow(tails, heads, flow)
    np.testing.assert_array_equal(net, left)
    inner = slice(1, NODES - 1)
    assert np.all(net[inner] >= 0)  # no excess; what lacked inflow from the start still does
    assert np.all(net[inner] <= np.maximum(s[inner], 0))


def test_long_cycles_and_paths():
    """A path of 10^5 arcs with a stuck end, and a cycle as long: deeper than a call stack."""
    n = 100_000
    tails = np.r_[np.arange(n), np.arange(n)].astype(np.int32)
    heads = np.r_[np.arange(1, n + 1), (np.arange(n) + 1) % n].astype(np.int32)
    flow = np.r_[np.full(n, 3.0), np.full(n, 2.0)]
    s = np.zeros(n + 2)
    s[0], s[n] = 3.0, -3.0
    native.conserve(tails, heads, flow, s, 0, n + 1)
    assert not flow.any()
    assert not s.any()


@st.composite
def adjacencies(draw):
    edges = draw(st.lists(st.tuples(arc, st.integers(0, 5)), max_size=24))
    both = sorted({(*ends[::way], weight) for ends, weight in edges for way in (1, -1)})
    both = [(a, b, weight) for a, b, weight in both if a != b]
    pointers = np.searchsorted([a for a, _, _ in both], np.arange(NODES + 1))
    return (
        pointers.astype(np.int64),
        np.array([b for _, b, _ in both], dtype=np.int32),
        np.array([weight for _, _, weight in both], dtype=np.float64),
    )


@given(adjacencies(), st.integers(0, 12))
def test_adjacency_orders(graph, bound):
    """Native against twin; the keys are what the definition says, and none was passed over."""
    pointers, neighbours, weights = graph
    results = []
    for kernels in (native, reference):
        order, keys = np.full(NODES, -1, dtype=np.int32), np.full(NODES, -1.0)
        kernels.adjacency_order(pointers, neighbours, weights, float(bound), order, keys)
        results.append((order, keys))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    order, keys = results[0]
    matrix = np.zeros((NODES, NODES))
    np.add.at(matrix, (np.repeat(np.arange(NODES), np.diff(pointers)), neighbours), weights)
    for place in range(NODES):
        to_earlier = matrix[order[:place]].sum(axis=0)
        assert keys[place] == to_earlier[order[place]]
        assert min(bound, keys[place]) >= np.minimum(bound, to_earlier[order[place:]]).max()
