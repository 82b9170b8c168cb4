"""Gadgets: functions as cuts with auxiliary nodes, against enumeration and other solvers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers.flows.network import FlowNetwork, network_size
from submin.solvers.max_flow import MaxFlow
from submin.terms.table import Table
from submin.testing import brute_force, check_term

from .group_terms import concave_families, csr, hyperedges, truncations
from .problems import Part, cardinalities, cuts, grid_cuts, tables, vectors

N = 6
SPLIT = ("hyperedge", "truncation", "concave_of_modular", "cardinality")
"""The families whose gadgets take any feasible dual as a flow."""


def parts(n: int, whole: bool) -> st.SearchStrategy[Part]:
    """A random term of a family that the maximum flow takes."""
    return st.one_of(
        hyperedges(n), truncations(n), concave_families(n), cardinalities(n, whole), cuts(n, whole),
        grid_cuts((n,), whole), tables(n, whole),
    )  # fmt: skip


@st.composite
def problems(draw: st.DrawFn) -> sm.Problem:
    """Up to three terms, with whole numbers or others, with hard constraints or without."""
    whole, n = draw(st.booleans()), draw(st.integers(2, N))
    terms = [draw(parts(n, whole)).term for _ in range(draw(st.integers(1, 3)))]
    unary = draw(vectors(whole, n))
    if draw(st.booleans()):
        limits = st.sampled_from((0.0, 0.0, -np.inf, np.inf))
        unary = unary + np.array(draw(st.lists(limits, min_size=n, max_size=n)))
    return sm.Problem(unary, terms)


@given(st.data(), st.integers(1, N), st.booleans())
@settings(max_examples=60)
def test_every_gadget_is_its_function(data, n, whole):
    check_term(data.draw(parts(n, whole)).term, n=n)


@given(problems())
@settings(max_examples=150)
def test_minimum_and_certificate(problem):
    result, known = sm.minimize(problem, MaxFlow()), brute_force(problem)
    scale = 1.0 + abs(known.minimum)
    assert result.value == pytest.approx(known.minimum, abs=1e-9 * scale)
    assert result.lower_bound <= known.minimum + 1e-12 * scale
    assert result.gap <= 1e-9 * scale
    if problem.granularity:
        assert result.status is sm.Status.OPTIMAL
        assert result.gap == 0.0
        assert sm.verify(problem, result).violation == 0.0


@given(problems().filter(lambda problem: problem.granularity > 0.0), st.booleans())
@settings(max_examples=100)
def test_extreme_minimisers_of_whole_numbers(problem, largest):
    known = brute_force(problem)
    found = sm.minimize(problem, MaxFlow(largest=largest)).minimizer
    np.testing.assert_array_equal(found, known.largest if largest else known.smallest)


@given(problems(), st.integers(1, 3))
@settings(max_examples=60)
def test_warm_starts(problem, passes):
    """From a dual that is far from the end, and from its own."""
    near = sm.minimize(problem, "accelerated_sweeps", max_passes=passes)
    known, end = brute_force(problem), sm.minimize(problem, MaxFlow(), warm_start=near)
    again = sm.minimize(problem, MaxFlow(sweeps=0), warm_start=end)
    scale = 1.0 + abs(known.minimum)
    for result in (end, again):
        assert result.value == pytest.approx(known.minimum, abs=1e-9 * scale)
        assert result.gap <= 1e-9 * scale


@given(st.data(), st.booleans())
@settings(max_examples=100)
def test_a_feasible_dual_is_a_flow_without_imbalance(data, whole):
    term = data.draw(parts(N, whole).filter(lambda part: part.term.kind in SPLIT)).term
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    vertices = [term.greedy(random.permutation(N).astype(np.int32)) for _ in range(3)]
    dual = np.mean(vertices, axis=0)
    network = FlowNetwork([term], np.zeros(N), [dual])
    scale = 1e-12 * (1.0 + np.abs(dual).sum())
    assert np.abs(network.imbalance()[N:]).max(initial=0.0) <= scale
    np.testing.assert_allclose(network.dual(done=False)[0], dual, rtol=0.0, atol=scale)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("family", ["hyperedge", "directed", "truncation", "robust", "mixture"])
def test_middle_sizes_against_sweeps(family, whole):
    random, n = np.random.default_rng(3), 400
    groups = [random.choice(n, size, replace=False) for size in random.integers(2, 12, 300)]
    pointers, members = csr([group.tolist() for group in groups])
    weights = random.integers(1, 9, 300).astype(float) if whole else 8.0 * random.random(300)
    masses, shifted = np.repeat(weights, np.diff(pointers)), (members + 7) % n
    terms = {
        "hyperedge": [sm.Hyperedge(pointers, members, weights)],
        "directed": [sm.Hyperedge.directed(pointers, members, pointers, shifted, weights)],
        "truncation": [sm.Truncation(pointers, members, masses, 2.0 * weights)],
        "robust": [sm.robust_pn(pointers, members, 2.0 * weights, 2.0)],
    }
    terms["mixture"] = [*terms["hyperedge"], sm.GridCut((20, 20), 1.0), *terms["robust"]]
    unary = random.integers(-9, 10, n).astype(float) if whole else 6.0 * random.normal(size=n)
    shape = (20, 20) if family == "mixture" else (n,)
    problem = sm.Problem(unary.reshape(shape), terms[family])
    flow, sweeps = sm.minimize(problem, MaxFlow()), sm.minimize(problem, "accelerated_sweeps")
    assert flow.certificate.closed
    assert sweeps.certificate.closed
    assert flow.value == pytest.approx(sweeps.value, rel=1e-12)
    assert 0 < flow.minimizer.sum() < n


def test_sizes_are_counted_without_making_the_network():
    """A pair is an edge, three members are 7 edges; a cap that is never reached is modular."""
    pair = sm.Hyperedge([0, 2, 5, 6], [0, 1, 0, 1, 2, 1], 1.0)
    assert tuple(pair.gadget_size()) == (2, 1 + 7)
    loose = sm.Truncation([0, 2, 4], [0, 1, 1, 2], 1.0, [5.0, 1.5])
    assert tuple(loose.gadget_size()) == (1, 2)
    robust = sm.robust_pn([0, 10], np.arange(10), 2.0, 2.0)
    assert tuple(robust.gadget_size()) == (2, 20)
    grid = sm.GridCut((2, 5), 1.0)
    assert tuple(network_size([pair, grid, robust])) == (4, grid.size, 28, 6 + 10)
    assert network_size([grid, sm.Function([0, 1], lambda mask: float(mask.any()))]) is None


def test_rounding_makes_no_changes_of_slope():
    """A robust potential of inexact numbers has the two or three turns of its definition."""
    term = sm.robust_pn([0, 1000], np.arange(1000), np.pi, 77.0)
    assert term.gadget_size().auxiliaries == 2
    smooth = sm.Cardinality([0, 1000], np.arange(1000), lambda k, m: np.sqrt(k))
    assert smooth.gadget_size().auxiliaries == 999


def test_pairs_and_triples_of_tables():
    """A pair is one edge whose flow is the dual; a triple of no cubic part needs no auxiliary."""
    pair = Table([[0, 1], [1, 2]], [0.0, 2.0, 3.0, 4.5])
    assert tuple(pair.gadget_size()) == (0, 2)
    vertex = pair.greedy(np.array([2, 0, 1], dtype=np.int32))
    np.testing.assert_array_equal(FlowNetwork([pair], np.zeros(3), [vertex]).dual(False)[0], vertex)
    sums = np.array([0.1, 0.2, 0.3]) @ (np.arange(8) >> np.arange(3)[:, None] & 1)
    chain = sums + np.array([0.0, 0.7, 1.4, 0.7, 0.7, 1.4, 0.7, 0.0])
    assert tuple(Table([[0, 1, 2]], chain).gadget_size()) == (0, 2)
    any_of_three = Table([[0, 1, 2]], [0.0] + [1.0] * 7)
    assert tuple(any_of_three.gadget_size()) == (1, 3)
    with pytest.raises(TypeError, match=r"Table .* AcceleratedSweeps"):
        Table([[0, 1, 2, 3]], [0.0] + [1.0] * 15).gadget(np.zeros(4))


def test_the_choice_looks_at_the_size_of_the_network():
    labels = np.arange(3000) // 1500
    robust = sm.robust_pn(*sm.label_groups(labels), 2.0, 20.0)
    product = sm.Cardinality.from_labels(labels, lambda k, m: k * (m - k))
    small, large = sm.Problem(np.zeros(3000), [robust]), sm.Problem(np.zeros(3000), [product])
    assert "solver: MaxFlow" in sm.describe(small)
    assert "with 4 auxiliary nodes" in sm.describe(small)
    assert "solver: AcceleratedSweeps" in sm.describe(large)
    assert "1499 edges for each number of the dual" in sm.describe(large)
    with pytest.raises(TypeError, match=r"4497000 edges.*AcceleratedSweeps"):
        sm.minimize(large, "max_flow")


def test_refusals_say_what_would_work():
    problem = sm.Problem([1.0, -2.0], [sm.Function([0, 1], lambda mask: float(mask.any()))])
    with pytest.raises(TypeError, match=r"terms\[0\] is a Function; .* AcceleratedSweeps"):
        sm.minimize(problem, "max_flow")
    with pytest.raises(TypeError, match=r"Function .* AcceleratedSweeps"):
        problem.terms[0].gadget(np.zeros(2))


def test_a_stopped_search_has_a_feasible_dual(monkeypatch):
    """Between two slices of the search flow lies at the auxiliaries; the dual is feasible."""
    monkeypatch.setattr("submin.solvers.max_flow.SLICE", 1)
    random, n = np.random.default_rng(0), 60
    groups = [random.choice(n, 5, replace=False).tolist() for _ in range(60)]
    problem = sm.Problem(random.integers(-9, 10, n), [sm.Hyperedge(*csr(groups), 3.0)])
    best = sm.minimize(problem)
    layout, solver = sm.Layout(problem), MaxFlow()
    state, bounds = solver.start(layout, layout.feasible_start()), []
    while not solver.done(state):
        solver.step(layout, state)
        dual, s = solver.iterate(layout, state)
        assert problem.terms[0].violation(dual[0]).total == 0.0
        np.testing.assert_array_equal(s, layout.total(dual))
        bounds.append(layout.lower_bound(s))
    assert len(bounds) > 10
    assert bounds[-1] == best.value
    assert max(bounds) == best.value
