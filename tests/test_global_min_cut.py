"""Global minimum cuts against brute force in rational arithmetic, and networkx."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import submin as sm
from submin.networks.contraction_proof import Absorption, Order, first_unproved

small = st.integers(0, 3)
large = st.integers(0, 2**53) | st.integers(0, 53).map(lambda k: 2**k)
real = st.floats(0, 1e9) | st.floats(1e-30, 1e30)


@st.composite
def graphs(draw, weights):
    """Up to 7 nodes, with loops and parallel edges; often not connected."""
    n = draw(st.integers(2, 7))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node, weights), max_size=24))
    return (*(zip(*edges, strict=True) if edges else ((),) * 3), n)


def weight(side, tails, heads, weights):
    """The weight of a cut, by the definition."""
    edges = zip(tails, heads, weights, strict=True)
    return sum((Fraction(w) for t, h, w in edges if side[t] != side[h]), Fraction(0))


def assert_minimum(tails, heads, weights, nodes):
    cut = sm.global_min_cut(tails, heads, weights, nodes)
    sides = [s for s in product([False, True], repeat=nodes) if any(s) and not all(s)]
    least = min(weight(side, tails, heads, weights) for side in sides)
    own = weight(cut.side, tails, heads, weights)
    assert cut.side.any()
    assert not cut.side.all()
    assert Fraction(np.nextafter(cut.value, -np.inf)) < own <= Fraction(cut.value)
    assert Fraction(cut.lower_bound) <= least <= own
    assert own - Fraction(cut.lower_bound) <= max(len(tails), 1) * 2**-47 * float(least)
    certificate = cut.verify()
    assert (certificate.value, certificate.lower_bound) == (cut.value, cut.lower_bound)
    return cut


@given(graphs(small))
def test_small_integers(graph):
    assert assert_minimum(*graph).verify().optimal


@given(graphs(small | large))
def test_integers_of_all_magnitudes(graph):
    """Nothing is rounded if the minimum is below 2^52, whatever the weights sum to."""
    cut = assert_minimum(*graph)
    assert cut.verify().optimal or cut.value > 2.0**51


@given(graphs(real))
def test_reals_of_all_magnitudes(graph):
    assert_minimum(*graph)


def test_a_weight_is_not_rounded_down_to_that_of_a_lesser_cut():
    """{0} weighs 0.1 + 0.6, which is 2.8e-17 more than the 0.7 of {2}."""
    cut = sm.global_min_cut([0, 0, 1], [1, 1, 2], [0.1, 0.6, 0.7])
    exact = sum(
        Fraction(w)
        for w, c in zip(cut.weights, cut.side[[0, 0, 1]] != cut.side[[1, 1, 2]], strict=True)
        if c
    )
    assert Fraction(cut.value) >= exact
    assert not cut.verify().optimal or exact == Fraction(0.7)


def networkx_value(edges):
    graph = networkx.Graph()
    graph.add_weighted_edges_from(edges)
    return networkx.stoer_wagner(graph)[0]


def clusters(rng, n, density, bridges):
    """Two random clusters of n nodes, each with a path through it, and a few edges between them."""
    for offset in (0, n):
        for a in range(n - 1):
            yield offset + a, offset + a + 1, int(rng.integers(1, 10))
        for a, b in np.argwhere(np.triu(rng.random((n, n)) < density, 2)).tolist():
            yield offset + a, offset + b, int(rng.integers(1, 10))
    for _ in range(bridges):
        yield int(rng.integers(n)), n + int(rng.integers(n)), int(rng.integers(1, 3))


@pytest.mark.parametrize("density", [0.02, 0.1])
def test_case_19_dumbbells(density):
    """Weighted, 600 nodes, against networkx."""
    edges = {(a, b): w for a, b, w in clusters(np.random.default_rng(0), 300, density, 3)}
    ends = np.array(list(edges))
    cut = sm.global_min_cut(ends[:, 0], ends[:, 1], list(edges.values()))
    assert cut.value == networkx_value([(*pair, w) for pair, w in edges.items()])
    assert cut.verify().optimal
    # A path and its extra edges: more than a few steps would say that few nodes are contracted.
    assert len(cut.steps) <= 12


def test_case_19_two_triangles():
    tails, heads = [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]
    cut = assert_minimum(tails, heads, [1] * 7, 6)
    assert cut.value == 1.0
    assert cut.side.tolist() in ([True] * 3 + [False] * 3, [False] * 3 + [True] * 3)
    assert str(cut.verify()) == "cut of 1: proved to be a minimum cut"


@pytest.mark.parametrize("seed", range(10))
def test_random_graphs_against_networkx(seed):
    """Connected, of 40 nodes, with weights from 1 to 10^6."""
    rng = np.random.default_rng(seed)
    tails = np.r_[np.arange(39), rng.integers(0, 40, 100)]
    heads = np.r_[np.arange(1, 40), rng.integers(0, 40, 100)]
    whole = np.rint(10.0 ** rng.uniform(0, 6, tails.size))
    sums: dict[tuple[int, int], int] = {}
    for a, b, w in zip(tails.tolist(), heads.tolist(), whole.tolist(), strict=True):
        if a != b:
            sums[min(a, b), max(a, b)] = sums.get((min(a, b), max(a, b)), 0) + int(w)
    cut = sm.global_min_cut(tails, heads, whole)
    assert cut.value == networkx_value([(*pair, w) for pair, w in sums.items()])
    assert cut.verify().optimal


@pytest.mark.parametrize(
    ("name", "tails", "heads", "value"),
    [
        ("cycle", np.arange(2000), (np.arange(2000) + 1) % 2000, 2.0),
        ("path", np.arange(2000), np.arange(1, 2001), 1.0),
        ("star", np.zeros(2000, dtype=int), np.arange(1, 2001), 1.0),
        ("grid", *sm.GridCut((40, 50), 1.0).edge_list(), 2.0),
        ("isolated nodes", 2 * np.arange(60), (2 * np.arange(60) + 2) % 120, 0.0),
        ("complete", *np.triu_indices(40, 1), 39.0),
    ],
)
def test_known_values(name, tails, heads, value):
    """Families whose edge connectivity is known; the numbers of nodes are in random order."""
    order = np.random.default_rng(0).permutation(1 + max(tails.max(), heads.max()))
    cut = sm.global_min_cut(order[tails], order[heads], 1.0)
    assert cut.value == value, name
    assert cut.verify().optimal
    if name in ("cycle", "path", "star", "grid"):
        assert len(cut.steps) <= 40, name  # and not one for each node


def test_a_planted_cut_far_below_the_degrees():
    """Weights from 1e-30 to 1e30: the bridge decides, though it is nothing beside a degree."""
    tails, heads = [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]
    cut = assert_minimum(tails, heads, [1e30] * 6 + [3e-30], 6)
    assert cut.value == cut.lower_bound == 3e-30


def test_small_graphs():
    assert assert_minimum([0], [1], [2.5], 2).value == 2.5
    assert assert_minimum([0, 1], [1, 0], [2.0, 3.0], 2).value == 5.0
    assert assert_minimum([], [], [], 2).value == 0.0
    assert assert_minimum([0, 0], [0, 1], [7.0, 0.0], 3).value == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tails": [0], "heads": [0], "weights": [1.0]}, "the graph has 1 nodes: a cut needs two"),
        ({"tails": [], "heads": [], "weights": []}, "the graph has 0 nodes: a cut needs two"),
        ({"weights": [1.0, -1.0]}, r"weights\[1\] is -1.0"),
        ({"weights": [np.inf, 1.0]}, r"weights\[0\] is inf: it must be finite"),
        ({"weights": [1.0]}, "weights has 1 entries for 2 edges"),
        ({"heads": [1]}, "tails has 2 entries and heads has 1"),
        ({"nodes": 2}, "nodes is 2, but node 2 occurs"),
    ],
)
def test_what_is_refused(change, message):
    data = {"tails": [0, 1], "heads": [1, 2], "weights": [1.0, 2.0]}
    with pytest.raises(ValueError, match=message):
        sm.global_min_cut(**(data | change))


def test_nodes_that_move_to_nodes_that_move():
    """Each step alone would be well, but not both at once."""
    tails, heads = np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    both = Absorption(np.array([1, 2]), np.array([0, 1]))
    fault = first_unproved([both], tails, heads, np.array([2.0, 1.0]), 1.0, 3)
    assert fault == "step 0 moves a node twice, or to a node that moves itself"
    twice = Absorption(np.array([2, 2]), np.array([1, 1]))
    assert "moves a node twice" in first_unproved([twice], tails, heads, np.ones(2), 1.0, 3)


def random_cut():
    rng = np.random.default_rng(1)
    tails, heads = rng.integers(0, 30, (2, 120))
    return sm.global_min_cut(tails, heads, rng.integers(1, 9, 120))


def test_verify_is_not_fooled():
    """A higher bound, fewer steps and other sides are refused."""
    cut = random_cut()
    assert cut.verify().optimal
    assert cut.steps
    with pytest.raises(ValueError, match=r"the lower bound .* is not proved"):
        replace(cut, lower_bound=cut.lower_bound + 1.0).verify()
    with pytest.raises(ValueError, match="nodes are left after all steps"):
        replace(cut, steps=cut.steps[:-1]).verify()
    for side in (np.zeros(30, dtype=bool), np.ones(30, dtype=bool)):
        with pytest.raises(ValueError, match="a side of the cut is empty"):
            replace(cut, side=side).verify()
    other = replace(cut, side=np.arange(30) < 15).verify()
    assert other.gap > 0.0
    assert "within" in str(other)


@st.composite
def any_step(draw, nodes):
    """A step on a few nodes, mostly a wrong one."""
    if draw(st.booleans()):
        order = draw(st.permutations(range(nodes)))
        joins = draw(st.lists(st.booleans(), min_size=nodes, max_size=nodes))
        return Order(np.array(order, dtype=np.int32), np.array(joins))
    movers = draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=nodes - 1, unique=True))
    rest = [v for v in range(nodes) if v not in movers]
    partner = st.sampled_from(rest if draw(st.booleans()) else range(nodes))
    partners = draw(st.lists(partner, min_size=len(movers), max_size=len(movers)))
    return Absorption(np.array(movers), np.array(partners))


@given(graphs(st.integers(1, 3)), st.data())
def test_steps_prove_no_more_than_the_minimum(graph, data):
    """Whatever the steps are, they are accepted only for bounds that hold."""
    tails, heads, weights, nodes = graph
    sides = [s for s in product([False, True], repeat=nodes) if any(s) and not all(s)]
    least = min(weight(side, tails, heads, weights) for side in sides)
    steps, left = [], nodes
    while left > 1 and len(steps) < 8:
        steps.append(data.draw(any_step(left)))
        left = int(steps[-1].labels(left).max()) + 1
    arrays = [np.array(part, dtype=np.int32) for part in (tails, heads)]
    for bound in range(1, 8):
        if not first_unproved(steps, *arrays, np.array(weights, dtype=float), bound, nodes):
            assert bound <= least
