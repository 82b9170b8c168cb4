"""Maximum flows against brute force in rational arithmetic, SciPy and networkx, and known cases."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import maximum_flow

import submin as sm
from submin.files import read_network

small = st.integers(0, 4)
large = st.integers(0, 2**53)
real = st.floats(0, 1e9) | st.floats(1e-30, 1e30)
endless = st.just(float("inf"))


@st.composite
def networks(draw, capacities):
    """Up to 6 nodes, with loops, parallel and opposite arcs, also into the source."""
    n = draw(st.integers(2, 6))
    node = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(node, node, capacities, st.just(0) | capacities), max_size=14))
    tails, heads, forward, backward = zip(*arcs, strict=True) if arcs else ((),) * 4
    source = draw(node)
    sink = draw(node.filter(lambda v: v != source))
    return sm.Network(tails, heads, forward, source, sink, backward, n)


def exact(values):
    """Numbers as fractions; infinity stays."""
    return [v if v == np.inf else Fraction(v) for v in np.asarray(values, dtype=float).tolist()]


def all_cuts(network):
    """Every source side and its capacity, by the definition."""
    arcs = list(
        zip(
            network.tails.tolist(),
            network.heads.tolist(),
            exact(network.capacities),
            exact(network.reverse_capacities),
            strict=True,
        )
    )
    for side in product([False, True], repeat=network.nodes):
        if side[network.source] and not side[network.sink]:
            yield (
                side,
                sum(f for t, h, f, _ in arcs if side[t] and not side[h])
                + sum(b for t, h, _, b in arcs if side[h] and not side[t]),
            )


def assert_flow(network, flow):
    """Conserving and within capacities in rational arithmetic; a value that is the net flow."""
    amounts = exact(flow.arcs)
    net = [Fraction(0)] * network.nodes
    for t, h, amount in zip(network.tails, network.heads, amounts, strict=True):
        net[t] += amount
        net[h] -= amount
    limits = zip(exact(network.reverse_capacities), exact(network.capacities), strict=True)
    for amount, (backward, forward) in zip(amounts, limits, strict=True):
        assert -backward <= amount <= forward
    assert net[network.source] == -net[network.sink] == Fraction(flow.value)
    assert not any(v for k, v in enumerate(net) if k not in (network.source, network.sink))


def assert_maximum(network):
    """The flow is feasible; with data that are not rounded, all of it is what brute force says."""
    flow = sm.max_flow(network)
    assert_flow(network, flow)
    cuts = dict(all_cuts(network))
    least = min(cuts.values())
    given = [cuts[tuple(s.tolist())] for s in (flow.source_side, flow.largest_source_side)]
    certificate = flow.verify()
    assert certificate.feasible
    assert certificate.value == flow.value <= least <= max(given) <= certificate.cut_value
    if flow.exact:
        assert flow.value == least == certificate.cut_value
        minimal = [side for side, value in cuts.items() if value == least]
        assert flow.source_side.tolist() == np.all(minimal, axis=0).tolist()
        assert flow.largest_source_side.tolist() == np.any(minimal, axis=0).tolist()
    else:
        assert max(given) - Fraction(flow.value) <= network.tails.size * 2**-47 * float(least)
    assert certificate.optimal == (flow.value == certificate.cut_value)
    return flow


@given(networks(small))
def test_small_integers(network):
    assert assert_maximum(network).exact


@given(networks(small | large | st.just(2**53) | st.integers(0, 53).map(lambda k: 2**k)))
def test_integers_of_all_magnitudes(network):
    """Nothing is rounded if the maximum is below 2^52, whatever the capacities sum to."""
    flow = assert_maximum(network)
    assert flow.exact or flow.value > 2.0**51


@given(networks(real))
def test_reals_of_all_magnitudes(network):
    assert_maximum(network)


@given(networks(small | endless))
def test_infinite_capacities(network):
    if min(value for _, value in all_cuts(network)) == np.inf:
        with pytest.raises(ValueError, match=r"is inf: the arcs \[.*no largest flow"):
            sm.max_flow(network)
    else:
        assert assert_maximum(network).exact


@given(networks(small), st.integers(-1000, 900))
def test_units_do_not_matter(network, exponent):
    """A power of two scales flow and cuts exactly, down to the smallest numbers."""
    flow = sm.max_flow(network)
    capacities = [
        np.ldexp(part, min(exponent, 480))
        for part in (network.capacities, network.reverse_capacities)
    ]
    scaled = sm.max_flow(
        sm.Network(
            network.tails, network.heads, capacities[0], network.source, network.sink,
            capacities[1], network.nodes,
        )
    )  # fmt: skip
    assert scaled.exact
    assert scaled.verify().optimal
    assert scaled.value == np.ldexp(flow.value, min(exponent, 480))
    assert np.array_equal(scaled.source_side, flow.source_side)
    assert np.array_equal(scaled.largest_source_side, flow.largest_source_side)


def test_subnormal_capacities():
    assert assert_maximum(sm.Network([0, 0, 1], [1, 2, 2], [5e-324, 1.5e-323, 1.0], 0, 2)).exact


@pytest.mark.parametrize("seed", range(20))
def test_against_scipy_and_networkx(seed):
    """Random sparse networks of 60 nodes with opposite and parallel arcs."""
    rng = np.random.default_rng(seed)
    tails, heads = rng.integers(0, 60, (2, 300))
    capacities = rng.integers(0, 1000, 300)
    flow = sm.max_flow(sm.Network(tails, heads, capacities, 0, 1, nodes=60))
    assert_flow(flow.network, flow)
    assert flow.verify().optimal
    matrix = scipy.sparse.coo_array((capacities, (tails, heads)), (60, 60)).tocsr()
    matrix = matrix.astype(np.int32)
    assert flow.value == maximum_flow(matrix, 0, 1).flow_value
    assert sm.max_flow(sm.Network.from_sparse(matrix, 0, 1)).value == flow.value
    graph = networkx.from_scipy_sparse_array(matrix, create_using=networkx.DiGraph)
    value, (side, _) = networkx.minimum_cut(graph, 0, 1, capacity="weight")
    assert flow.value == value
    inside = np.isin(np.arange(60), list(side))
    assert np.all(flow.source_side <= inside)
    assert np.all(inside <= flow.largest_source_side)


def test_grids_against_scipy():
    """Problems of grids: their network, the flow in it, the set and the dual."""
    rng = np.random.default_rng(0)
    for connectivity in (4, 8):
        unary = rng.integers(-20, 21, (15, 20))
        grid = sm.GridCut(unary.shape, 6, connectivity)
        problem = sm.Problem(unary, [grid], 7.0)
        flow = sm.max_flow(problem)
        network, n = flow.network, problem.n
        assert_flow(network, flow)
        matrix = scipy.sparse.coo_array(
            (
                np.r_[network.capacities, network.reverse_capacities].astype(np.int32),
                (np.r_[network.tails, network.heads], np.r_[network.heads, network.tails]),
            ),
            (n + 2, n + 2),
        ).tocsr()
        assert flow.value == maximum_flow(matrix, n, n + 1).flow_value
        least = sm.minimize(problem)
        assert flow.value + 7.0 + np.minimum(unary, 0).sum() == least.value
        for side, largest in ((flow.source_side, False), (flow.largest_source_side, True)):
            members = side[:n].reshape(unary.shape)
            same = sm.minimize(problem, sm.MaxFlow(largest=largest)).minimizer
            assert np.array_equal(members, same)
            assert sm.verify(problem, members, [flow.arcs[: grid.size]]).optimal


def test_several_terms_and_hard_constraints():
    """Edges in the order of the terms; seeds are terminals without a limit."""
    unary = np.array([-np.inf, 0.0, 2.0, np.inf])
    first = sm.Cut([0, 1], [1, 2], [3.0, 2.0], 0.0)
    second = sm.GridCut(4, [[0.5, 1.0, 0.25]])
    problem = sm.Problem(unary, [first, second])
    flow = sm.max_flow(problem)
    assert_flow(flow.network, flow)
    assert flow.network.capacities.tolist() == [3, 2, 0.5, 1, 0.25, np.inf, 0, 2, np.inf]
    least = sm.minimize(problem)
    assert flow.value == least.value
    assert np.array_equal(flow.source_side[:4], least.minimizer)
    assert sm.verify(problem, least, [flow.arcs[:2], flow.arcs[2:5]]).optimal


def case_2():
    tails, heads = [1, 1, 2, 2, 3, 3, 4, 5, 6], [2, 3, 4, 5, 5, 6, 7, 7, 7]
    return sm.Network(tails, heads, [2, 2, 4, 4, 4, 4, 1, 1, 1], 1, 7)


def test_case_1_float_capacities():
    """Minimum cut 3.1, source side exactly {b}, unique."""
    s, a, b, c, t = range(5)
    network = sm.Network(
        [a, b, a, s, s, a, b, c], [b, a, c, a, b, t, t, t], [1, 0.1, 2, 2, 2, 1, 1, 2], s, t
    )
    flow = assert_maximum(network)
    assert flow.value == pytest.approx(3.1, abs=1e-14)
    for side in (flow.source_side, flow.largest_source_side):
        assert np.flatnonzero(side).tolist() == [s, b]


def test_case_2_reverse_arcs():
    """Minimum 3, source side {1..6}, unique; node 0 is on no side's way."""
    flow = assert_maximum(case_2())
    assert flow.value == 3.0
    assert np.flatnonzero(flow.source_side).tolist() == [1, 2, 3, 4, 5, 6]
    assert np.flatnonzero(flow.largest_source_side).tolist() == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("rate", "value", "inside"), [(0.5, 3.5, False), (1.0, 6.0, False), (1.5, 4.5, True)]
)
def test_case_8_parametric(rate, value, inside):
    """s->1: 1 + 5 rate, 1->t: 9 - 3 rate: node 1 changes side at 1, where the value is 6."""
    flow = assert_maximum(sm.Network([0, 1], [1, 2], [1 + 5 * rate, 9 - 3 * rate], 0, 2))
    assert flow.value == value
    assert bool(flow.source_side[1]) is inside
    assert bool(flow.largest_source_side[1]) is (inside or rate == 1.0)


def test_case_12_huge_terminal_arcs():
    """A capacity of 2^53 decides nothing: minimum 4, source side {1, 2, 3, 4}."""
    tails, heads = [1, 2, 3, 4, 3, 4, 5, 6, 7, 7, 6], [2, 3, 4, 2, 5, 7, 6, 7, 5, 8, 8]
    flow = assert_maximum(sm.Network(tails, heads, [2**53, 5, 5, 5, 2, 2, 5, 5, 5, 1, 4], 1, 8))
    assert flow.value == 4.0
    assert np.flatnonzero(flow.source_side).tolist() == [1, 2, 3, 4]
    assert flow.exact


def test_dimacs_files(tmp_path):
    """All arcs in their order, parallel and useless ones too."""
    path = tmp_path / "tiny.max"
    arcs = ["1 2 5", "1 2 1", "2 2 9", "2 1 4", "2 3 3", "3 1 2", "1 3 0"]
    path.write_text("\n".join(["p max 3 7", "n 1 s", "n 3 t", *(f"a {arc}" for arc in arcs)]))
    flow = assert_maximum(read_network(path))
    assert flow.value == 3.0
    assert flow.arcs.size == 7


def test_a_published_network(data_folder):
    published = sm.max_flow(read_network(data_folder / "maxflow" / "igraph_ak-4102.max"))
    assert published.value == 8207.0
    assert published.verify().optimal


def test_case_17_closure():
    """Profits and needs: the best closure earns 4.95, and takes all."""
    profits = np.array([12.5, -7.25, 8, -4.5, -6, 3.3, -1.1])
    needs = np.array([(0, 1), (0, 3), (2, 3), (2, 4), (5, 6), (5, 4)])
    earns = profits > 0
    network = sm.Network(
        np.r_[needs[:, 0], np.where(earns, 7, range(7))],
        np.r_[needs[:, 1], np.where(earns, range(7), 8)],
        np.r_[np.full(6, np.inf), np.abs(profits)],
        7,
        8,
    )
    flow = assert_maximum(network)
    assert profits[earns].sum() - flow.value == pytest.approx(4.95)
    assert flow.source_side[:7].all()


def test_case_18_a_flow_that_conserves():
    """Maximum flow 1, and arc 1->2 carries 1: the dual of the same cut holds 5 there."""
    network = sm.Network([0, 0, 1, 2, 3], [1, 2, 2, 3, 0], [10, 10, 5, 1, 1], 1, 0)
    flow = assert_maximum(network)
    assert flow.value == 1.0
    assert flow.arcs.tolist() == [0, 0, 1, 1, 1]


def test_verify_is_not_fooled():
    """Changed arcs, values and sides show in the numbers, or are refused."""
    flow = sm.max_flow(case_2())
    assert str(flow.verify()) == "flow 3, cuts of 3: proved to be a maximum flow and minimum cuts"
    for arc in range(9):
        changed = flow.arcs.copy()
        changed[arc] += 0.5
        assert not replace(flow, arcs=changed).verify().feasible
    assert "no flow" in str(replace(flow, arcs=-flow.arcs).verify())
    nothing = replace(flow, arcs=np.zeros(9), value=3.0).verify()
    assert nothing.feasible
    assert nothing.value == 0.0
    assert nothing.gap == 3.0
    assert "within 3 of" in str(nothing)
    assert not replace(flow, arcs=np.full(9, np.nan)).verify().feasible
    worse = replace(flow, source_side=np.arange(8) == 1).verify()
    assert worse.cut_value == 4.0
    assert not worse.optimal
    for side in (np.ones(8, dtype=bool), np.zeros(8, dtype=bool)):
        with pytest.raises(ValueError, match="it is no cut"):
            replace(flow, largest_source_side=side).verify()


def test_verify_sums_exactly():
    """Net flows that float64 would round to 0, and a value between two numbers."""
    network = sm.Network([0, 0, 0, 1], [1, 1, 1, 2], [1e16, 1.0, 1.0, 2e16], 0, 2)
    flow = sm.max_flow(network)
    off = replace(flow, arcs=np.array([1e16, 1.0, 0.0, 1e16])).verify()
    assert off.imbalance == 1.0
    assert off.value == 1e16 < 1e16 + 2.0 == off.cut_value


def test_one_capacity_for_all_arcs():
    flow = assert_maximum(sm.Network([0, 1, 2], [1, 2, 3], 0.1, 0, 3, reverse_capacities=0.1))
    assert flow.arcs.tolist() == [0.1] * 3
    assert assert_maximum(sm.Network([1], [0], 3, 0, 1, 2)).arcs.tolist() == [-2]


def test_networks_without_arcs_or_paths():
    flow = assert_maximum(sm.Network([], [], [], 0, 1))
    assert flow.value == 0.0
    flow = assert_maximum(sm.Network([0, 2], [2, 2], [1e-300, 3.0], 0, 1, nodes=4))
    assert flow.source_side.tolist() == [True, False, True, False]
    assert flow.largest_source_side.tolist() == [True, False, True, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sink": 0}, "source and sink are both node 0: give two nodes"),
        ({"source": -1}, "source is -1: it must be 0 or more"),
        ({"heads": [1]}, "tails has 2 entries and heads has 1: each arc needs both"),
        ({"capacities": [1.0, -2.0]}, r"capacities\[1\] is -2.0: a capacity must be"),
        ({"capacities": [np.nan, 1.0]}, r"capacities\[0\] is nan: a capacity must be"),
        ({"reverse_capacities": [1.0] * 3}, "reverse_capacities has 3 entries for 2 arcs"),
        ({"capacities": [1e150, 1e150]}, "capacities overflows"),
        ({"capacities": np.array([2**53 + 1, 1])}, r"capacities\[0\] is 9007199254740993"),
        ({"heads": [1, 2**31 - 2]}, "the graph has 2147483647 nodes, more than 134217726"),
        ({"nodes": 2}, "nodes is 2, but node 2 occurs: give 3 or more"),
        ({"tails": [0, -1]}, r"tails\[1\] is -1"),
    ],
)
def test_networks_that_are_refused(change, message):
    data = {"tails": [0, 1], "heads": [1, 2], "capacities": [1.0, 2.0], "source": 0, "sink": 2}
    with pytest.raises(ValueError, match=message):
        sm.Network(**(data | change))


def test_infinite_paths_name_their_arcs():
    network = sm.Network(
        [0, 0, 2, 1], [1, 2, 3, 3], [np.inf, np.inf, 1, 0], 0, 3, [0, 0, 0, np.inf]
    )
    assert_maximum(network)
    network = sm.Network(
        [0, 0, 3, 1], [1, 2, 1, 3], [np.inf, np.inf, 0, 1], 0, 3, [0, 0, np.inf, 0]
    )
    with pytest.raises(ValueError, match=r"capacities\[0\] is inf: the arcs \[0, 2\], all"):
        sm.max_flow(network)


def test_what_is_no_network():
    group = sm.Cardinality([0, 2], [0, 1], lambda k, m: k * (m - k))
    problem = sm.Problem([1.0, -1.0], [sm.GridCut(2, 1.0), group])
    with pytest.raises(TypeError, match=r"terms\[1\] is a Cardinality: only the edges of Cut and"):
        sm.max_flow(problem)
    with pytest.raises(TypeError, match="network must be a Network or a Problem, not a list"):
        sm.max_flow([0, 1])
    with pytest.raises(TypeError, match="matrix is a ndarray"):
        sm.Network.from_sparse(np.eye(2), 0, 1)
    with pytest.raises(ValueError, match=r"matrix has shape \(2, 3\)"):
        sm.Network.from_sparse(scipy.sparse.csr_array((2, 3)), 0, 1)


def test_a_network_of_many_nodes():
    """10^5 nodes whose excess goes far and comes back: a comb of dead ends behind a long path."""
    n = 50_000
    path, teeth = np.arange(n), np.arange(n, 2 * n)
    network = sm.Network(
        np.r_[path[:-1], path], np.r_[path[1:], teeth], np.r_[np.full(n - 1, 1e6), np.ones(n)],
        0, 2 * n - 1,
    )  # fmt: skip
    flow = sm.max_flow(network)
    assert flow.value == 1.0
    assert flow.verify().optimal
    assert np.count_nonzero(flow.arcs) == n
