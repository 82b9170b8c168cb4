"""Groups of all elements and hubs of very many edges: near linear work, a closed certificate."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers.flows.network import FlowNetwork
from submin.solvers.max_flow import MaxFlow
from submin.testing import brute_force

pytest.importorskip("submin.kernels.native")  # the counts of work are those of its searches

FAMILIES = ("hyperedge", "truncation", "concave", "cardinality", "star")


def whole_group(family: str, n: int, random: np.random.Generator, scale: float) -> sm.Term:
    """Build one function of all elements; `scale` is about what it costs for each of them."""
    pointers, members = [0, n], random.permutation(n)
    weights = random.integers(1, 9, n) * scale / 8.0
    points = n * np.array([0.0, 0.25, 0.5, 1.0])

    def bent(k: np.ndarray, m: int) -> np.ndarray:
        return np.minimum(k, m // 3) * scale + np.minimum(k, m // 2) * scale

    return {
        "hyperedge": lambda: sm.Hyperedge(pointers, members, 0.25 * n * scale),
        "truncation": lambda: sm.Truncation(pointers, members, weights, 0.125 * n * scale),
        "concave": lambda: sm.ConcaveOfModular(
            pointers, members, np.ones(n), points, scale * n * np.array([0.0, 0.25, 0.375, 0.5])
        ),
        "cardinality": lambda: sm.Cardinality(pointers, members, bent),
        "star": lambda: sm.Cut(np.zeros(n - 1, dtype=int), np.arange(1, n), weights[1:]),
    }[family]()


def mixture(families: tuple[str, ...], n: int, seed: int, whole: bool) -> sm.Problem:
    """Some functions of all elements beside a path, of whole numbers or of real ones."""
    random = np.random.default_rng(seed)
    scale = 8.0 if whole else 8.0 * float(random.uniform(0.3, 1.0))
    terms = [whole_group(family, n, random, scale) for family in families]
    terms.append(sm.GridCut(n, scale / 2.0))
    unary = random.integers(-12, 9, n) * 1.0 if whole else 9.0 * random.normal(size=n) - 2.0
    return sm.Problem(unary, terms)


def reordered(problem: sm.Problem, order: tuple[int, ...]) -> sm.Problem:
    """Build the problem with its terms in another order."""
    return sm.Problem(problem.unary, [problem.terms[i] for i in order])


def expanded_minimum(problem: sm.Problem) -> float:
    """Return the minimum of the network of a problem of whole numbers, as networkx finds it."""
    dual = [np.zeros(term.size) for term in problem.terms]
    network = FlowNetwork(problem.terms, problem.unary, dual)
    costs = np.concatenate([network._unary, *network._costs]).tolist()
    graph = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for v, cost in enumerate(costs):
        graph.add_edge(*(("source", v) if cost < 0 else (v, "sink")), capacity=abs(cost))
    ends = zip(network.edges.tails.tolist(), network.edges.heads.tolist(), strict=True)
    weights = [np.broadcast_to(w, network.flow.size).tolist() for w in network.edges[2:]]
    for (tail, head), backward, forward in zip(ends, *weights, strict=True):
        for arc, weight in (((tail, head), forward), ((head, tail), backward)):
            before = graph.get_edge_data(*arc, {"capacity": 0.0})["capacity"]
            graph.add_edge(*arc, capacity=before + weight)
    return float(nx.maximum_flow_value(graph, "source", "sink")) + min(
        sum(cost for cost in costs if cost < 0), 0.0
    )


def work(
    problem: sm.Problem, monkeypatch: pytest.MonkeyPatch, solver: MaxFlow
) -> tuple[int, sm.Result]:
    """Solve a problem; return what its searches counted, and the result."""
    searches, search = [], FlowNetwork.search

    def watched(network: FlowNetwork, s: np.ndarray, warm: bool) -> object:
        searches.append(search(network, s, warm))
        return searches[-1]

    with monkeypatch.context() as patch:
        patch.setattr(FlowNetwork, "search", watched)
        result = sm.minimize(problem, solver)
    return sum(sum(flow.counts().values()) for flow in searches), result


@given(
    st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=3).map(tuple),
    st.integers(3, 10),
    st.integers(0, 10**6),
    st.booleans(),
)
@settings(max_examples=80)
def test_all_orders_of_terms_against_enumeration(families, n, seed, whole):
    problem = mixture(families, n, seed, whole)
    known = brute_force(problem)
    scale = 1.0 + abs(known.minimum)
    for order in itertools.permutations(range(len(problem.terms))):
        result = sm.minimize(reordered(problem, order), MaxFlow())
        assert result.value == pytest.approx(known.minimum, rel=0.0, abs=1e-12 * scale)
        assert result.lower_bound <= known.minimum + 1e-12 * scale
        assert result.gap <= 1e-11 * scale
        if problem.granularity:
            np.testing.assert_array_equal(result.minimizer, known.smallest)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("families", [(family,) for family in FAMILIES] + [FAMILIES])
def test_expanded_networks_against_networkx(families, seed):
    problem = mixture(families, 120, seed, whole=True)
    result = sm.minimize(problem, MaxFlow())
    assert result.status is sm.Status.OPTIMAL
    assert result.value == expanded_minimum(problem)
    assert result.value == sm.minimize(problem, "accelerated_sweeps").value


@pytest.mark.parametrize("solver", [MaxFlow(), MaxFlow(sweeps=0)])
@pytest.mark.parametrize("families", [(family,) for family in FAMILIES] + [FAMILIES])
def test_work_grows_with_the_size_and_not_with_the_order(families, solver, monkeypatch):
    for n in (2_000, 16_000):
        problem = mixture(families, n, 0, whole=False)
        turned = reordered(problem, tuple(range(len(problem.terms)))[::-1])
        one, result = work(problem, monkeypatch, solver)
        other, again = work(turned, monkeypatch, solver)
        assert result.value == pytest.approx(again.value, rel=1e-12)
        assert max(one, other) < 2 * min(one, other) + n
        assert one < 600 * n


@pytest.mark.parametrize("solver", [MaxFlow(), MaxFlow(sweeps=0)])
@pytest.mark.parametrize("weight", [0.02, 0.1, 0.5])
def test_work_on_a_hyperedge_of_a_picture(weight, solver, monkeypatch):
    """An excess of all pixels that meets them in one node: some steps for each of them."""
    shape, n = (120, 120), 120 * 120
    unary = np.random.default_rng(1).normal(size=shape) - 0.5
    terms = [sm.Hyperedge([0, n], np.arange(n), weight * n), sm.GridCut(shape, 0.5)]
    steps, result = work(sm.Problem(unary, terms), monkeypatch, solver)
    other, again = work(sm.Problem(unary, terms[::-1]), monkeypatch, solver)
    assert steps == other
    assert steps < 400 * n
    np.testing.assert_array_equal(result.minimizer, again.minimizer)


@pytest.mark.parametrize("leaves", [20_000, 80_000])
def test_children_of_a_hub_are_not_walked_for_every_merger(leaves, monkeypatch):
    """A star of ordinary edges between the ends of a path."""
    random = np.random.default_rng(0)
    unary = random.normal(size=leaves)
    unary[0] = -0.2 * leaves
    star = sm.Cut(np.zeros(leaves - 1, dtype=int), np.arange(1, leaves), random.random(leaves - 1))
    problem = sm.Problem(unary, [star, sm.GridCut(leaves, 0.5)])
    steps, _ = work(problem, monkeypatch, MaxFlow())
    assert steps < 100 * leaves


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [1_000, 10_000])
def test_rounding_at_hubs_does_not_open_the_certificate(family, n):
    """What 10,000 pushes through a hub round away is no more than the certificate's own sums."""
    random = np.random.default_rng(n)
    problem = sm.Problem(random.normal(size=n), [whole_group(family, n, random, np.pi / 3.0)])
    result = sm.minimize(problem, MaxFlow())
    magnitude = np.abs(problem.unary).sum() + np.abs(result.dual[0]).sum()
    s = sm.Layout(problem).total(result.dual)
    misplaced = np.maximum(np.where(result.minimizer, s, -s), 0.0).sum()
    assert misplaced <= 2.0**-50 * magnitude
    assert problem.terms[0].violation(result.dual[0]).total <= 2.0**-50 * magnitude


def test_a_hyperedge_of_all_elements_closes():
    """Nothing, everything, or all that costs less than nothing: one of the three is cheapest."""
    n = 10**4
    unary, weight = np.random.default_rng(0).normal(size=n), 0.3 * n
    problem = sm.Problem(unary, [sm.Hyperedge([0, n], np.arange(n), weight)])
    result = sm.minimize(problem)
    cheapest = min(0.0, unary.sum(), np.minimum(unary, 0.0).sum() + weight)
    assert result.status is sm.Status.OPTIMAL
    assert result.value == pytest.approx(cheapest, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_threads_and_slices_do_not_change_a_bit(family, monkeypatch):
    problem = mixture((family,), 700, 5, whole=False)
    reference = sm.minimize(problem, MaxFlow(), threads=1)
    monkeypatch.setattr("submin.solvers.max_flow.SLICE", 7)
    again = sm.minimize(problem, MaxFlow(), threads=2)
    np.testing.assert_array_equal(reference.minimizer, again.minimizer)
    for one, other in zip(reference.dual, again.dual, strict=True):
        np.testing.assert_array_equal(one, other)
