"""What the theory says of the combinatorial solvers on their way, and known minima."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers import comparison
from submin.solvers.combination import Combination
from submin.solvers.comparison.schrijver import SchrijverState, _distances, _vertex
from submin.solvers.submodular_flow import _search

from .group_terms import concave_families, csr, hyperedges, truncations
from .problems import SHAPES, Model, all_sets, dense_model, model, models, vectors

FEW = settings(max_examples=25)
MIXED_SHAPES = [shape for shape in SHAPES if np.prod(shape) <= 9]


def smallest(case: Model) -> np.ndarray:
    """The intersection of all minimisers, of whole numbers."""
    best = all_sets(case.problem.n)[case.values == case.minimum]
    return best.all(axis=0).reshape(case.problem.shape)


def random_start(layout: sm.Layout, seed: int) -> list[np.ndarray]:
    """A greedy vertex of a random order."""
    return layout.greedy_vertex(np.random.default_rng(seed).normal(size=layout.n))


def finished(solver, layout: sm.Layout, state) -> int:
    """Step to the end; return the number of steps."""
    steps = 0
    while not solver.done(state):
        solver.step(layout, state)
        steps += 1
    return steps


def iwata(n: int) -> sm.Problem:
    """F(S) = |S||V without S| - sum over j in S of (5 j - 2 n), j = 1..n."""
    term = sm.Cardinality([0, n], np.arange(n), lambda k, m: k * (m - k))
    return sm.Problem(-(5.0 * np.arange(1, n + 1) - 2 * n), [term])


# Known minima.


@pytest.mark.parametrize(("n", "value", "size"), [(10, -84, 7), (20, -301, 14), (50, -1751, 34)])
@pytest.mark.parametrize(
    "solver", ["submodular_flow", "schrijver", "minimum_norm_point", "pairwise_frank_wolfe"]
)
def test_iwata(solver, n, value, size):
    result = sm.minimize(iwata(n), solver)
    assert result.value == result.lower_bound == value
    assert result.minimizer.sum() == size


@pytest.mark.parametrize("n", [5, 8])
def test_iwata_by_schrijver_from_any_order(n):
    problem = iwata(n)
    layout, known = sm.Layout(problem), sm.testing.brute_force(problem)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(n).astype(np.int32)
        state = SchrijverState(Combination.of(layout, _vertex(layout, order)), order[None])
        solver = comparison.Schrijver()
        finished(solver, layout, state)
        assert problem.evaluate(solver.minimizer(state)) == known.minimum


# Submodular flow.


@FEW
@given(models(whole=True, shapes=MIXED_SHAPES))
def test_the_flow_ends_with_the_smallest_minimiser(case: Model):
    result = sm.minimize(case.problem, sm.SubmodularFlow())
    assert result.value == result.lower_bound == case.minimum
    assert np.array_equal(result.minimizer, smallest(case))


@pytest.mark.parametrize("family", [hyperedges, truncations, concave_families])
@FEW
@given(data=st.data())
def test_the_flow_on_families_of_groups(family, data):
    chosen = [data.draw(family(5)), data.draw(family(5))]
    case = model(data.draw(vectors(False, 5)), chosen)
    result = sm.minimize(case.problem, sm.SubmodularFlow())
    assert result.value == pytest.approx(case.minimum, abs=1e-11 * case.scale)
    assert result.gap <= 1e-11 * case.scale


def sparse_groups(seed: int, n: int = 40) -> sm.Problem:
    """Groups along a line and costs at its ends, so that paths are long and visit groups again."""
    random = np.random.default_rng(seed)
    groups = np.array([start + random.permutation(9)[:5] for start in range(0, n - 8, 2)])
    pointers = np.arange(0, groups.size + 1, 5)
    regions = sm.Cardinality(pointers, groups.ravel(), lambda k, m: np.minimum(k, m - k))
    arcs = sm.Cut(np.arange(n - 1), np.arange(1, n), 1, random.integers(0, 3, n - 1))
    unary = np.zeros(n)
    unary[:4], unary[-4:] = [-3, -2, -4, 1], [2, -1, 4, 5]
    unary[[n // 2, n // 2 + 1]] = [1, -1]
    return sm.Problem(unary, [regions, arcs])


@pytest.mark.parametrize("seed", range(6))
def test_distances_never_fall_and_augmentations_are_few(seed):
    """Exact on whole numbers: feasible after each path, s up to date, all within the bound."""
    problem = sparse_groups(seed)
    layout, solver = sm.Layout(problem), sm.SubmodularFlow()
    state = solver.start(layout, layout.feasible_start())
    lengths = []
    while path := _search(state, state.tolerance)[0]:
        elements = [path[0].tail, *(arc.head for arc in path)]
        assert len(set(elements)) == len(elements)
        assert [arc.tail for arc in path] == elements[:-1]
        lengths.append(len(path))
        excess = np.maximum(-state.s, 0.0).sum()
        assert solver.step(layout, state) == lengths[-1]
        assert np.array_equal(state.s, layout.total(state.y))
        assert excess - np.maximum(-state.s, 0.0).sum() >= layout.problem.granularity
        for term, part in zip(problem.terms, state.y, strict=True):
            assert term.violation(part).total == 0.0
    assert max(lengths) > 2
    assert np.all(np.diff(lengths) >= 0)
    incidences = sum(term.magnitude(np.ones(term.size)) for term in problem.terms)
    assert state.augmentations == len(lengths) <= (incidences + layout.n) ** 2
    solver.step(layout, state)
    assert solver.done(state)
    assert not np.any(state.s[state.members] > 0.0)
    assert problem.evaluate(state.members) == np.minimum(state.s, 0.0).sum()


def test_a_near_optimal_start_leaves_little_flow():
    random = np.random.default_rng(0)
    shape = (12, 13)
    regions = sm.Cardinality.from_labels(
        np.arange(156).reshape(shape) // 7, lambda k, m: 0.1 * k * (m - k)
    )
    problem = sm.Problem(random.normal(size=shape), [sm.GridCut(shape, 0.4), regions])
    layout, solver = sm.Layout(problem), sm.SubmodularFlow()
    near = sm.minimize(problem, sm.AcceleratedSweeps(), max_passes=10)
    counts = []
    for dual in (layout.feasible_start(), list(near.dual)):
        state = solver.start(layout, [part.copy() for part in dual])
        finished(solver, layout, state)
        counts.append(state.augmentations)
        assert problem.evaluate(solver.minimizer(state)) == pytest.approx(near.lower_bound, abs=1.0)
    assert counts[1] <= counts[0] / 4


@FEW
@given(models(whole=True, shapes=MIXED_SHAPES), st.integers(0, 99))
def test_the_smallest_minimiser_from_a_fractional_start(case: Model, seed):
    layout = sm.Layout(case.problem)
    ends = [random_start(layout, seed), random_start(layout, seed + 1)]
    start = [0.3 * a + 0.7 * b for a, b in zip(*ends, strict=True)]
    result = sm.minimize(case.problem, sm.SubmodularFlow(), warm_start=start)
    assert result.value == result.lower_bound == case.minimum
    assert np.array_equal(result.minimizer, smallest(case))


def test_the_arcs_that_are_kept_are_those_of_the_dual():
    layout, solver = sm.Layout(sparse_groups(9)), sm.SubmodularFlow()
    state = solver.start(layout, layout.feasible_start())
    kept = 0
    while not solver.done(state):
        solver.step(layout, state)
        kept += len(state.arcs)
        for element, arcs in state.arcs.items():
            fresh = [exchanges.arcs(element).capacities for exchanges in state.exchanges]
            fresh = np.concatenate(fresh)
            assert np.array_equal(arcs.capacities, fresh[fresh > state.tolerance])
    assert kept > 0


def test_terms_without_exchange_capacities_are_named():
    class Plain(sm.Truncation):
        exchanges = sm.Term.exchanges

    problem = sm.Problem(np.zeros(2), [sm.Cut([0], [1], 1.0), Plain([0, 1], [0], 1.0, 1.0)])
    with pytest.raises(TypeError, match=r"terms\[1\]: a Plain has no exchange .* MinimumNormPoint"):
        sm.minimize(problem, "submodular_flow")
    assert sm.minimize(problem, "minimum_norm_point").value == 0.0


# Minimum-norm point and pairwise Frank-Wolfe.


@pytest.mark.parametrize("seed", range(4))
def test_a_corral_is_small_and_its_norm_falls(seed):
    case = dense_model(seed, False)
    layout, solver = sm.Layout(case.problem), sm.MinimumNormPoint()
    state = solver.start(layout, random_start(layout, seed))
    norms = [float(state.s @ state.s)]
    for _ in range(100):
        assert solver.step(layout, state) == layout.r
        norms.append(float(state.s @ state.s))
        assert state.corral.weights.size <= layout.n + 1
        assert state.corral.weights.min() > 0.0
        s = layout.total(state.corral.dual(layout))
        assert np.abs(s - state.s).max() <= 1e-10
    assert np.all(np.diff(norms) <= 1e-12 * norms[0])
    point = layout.total(layout.greedy_vertex(-state.s))
    assert state.s @ (state.s - point) <= 1e-12 * norms[0], "it is not the point of least norm"


def test_a_nearly_optimal_dual_is_a_first_point_of_both():
    case = dense_model(0, False)
    near = sm.minimize(case.problem, max_passes=3)
    norm = float(np.sum(near.x**2))
    for solver in (sm.MinimumNormPoint(), comparison.PairwiseFrankWolfe()):
        result = sm.prox(sm.Problem(case.problem.unary, case.problem.terms), solver,
                         warm_start=near, max_passes=1)  # fmt: skip
        assert float(np.sum(result.x**2)) <= norm * (1 + 1e-12)


@pytest.mark.parametrize("memory", [0, 500])
def test_an_active_set_of_little_memory(memory):
    case = dense_model(3, True)
    layout, solver = sm.Layout(case.problem), comparison.PairwiseFrankWolfe(memory)
    state = solver.start(layout, layout.feasible_start())
    numbers = layout.n + sum(term.size for term in case.problem.terms)
    largest = 0
    for _ in range(200):
        norm = float(state.s @ state.s)
        solver.step(layout, state)
        largest = max(largest, state.active.weights.size)
        assert float(state.s @ state.s) <= norm + 1e-9
        assert state.active.weights.sum() == pytest.approx(1.0)
        y, s = solver.iterate(layout, state)
        assert np.abs(state.active.weights @ state.active.points - s).max() <= 1e-9
        for term, part in zip(case.problem.terms, y, strict=True):
            assert term.violation(part).total <= 1e-11
    assert largest == max(2, memory // numbers)
    result = sm.minimize(case.problem, solver, max_passes=5_000)
    assert result.value == case.minimum


def test_memory_is_a_number():
    with pytest.raises(ValueError, match="memory is -1"):
        comparison.PairwiseFrankWolfe(-1)
    with pytest.raises(TypeError, match=r"memory is 2\.5"):
        comparison.PairwiseFrankWolfe(2.5)  # type: ignore[arg-type]


# Schrijver's algorithm.


@pytest.mark.parametrize("seed", range(4))
def test_distances_of_schrijver_never_fall(seed):
    """Schrijver 2000: no d(v) falls; at most n vertices, each that of its order; S is a start."""
    case = dense_model(seed, True, (2, 3))
    layout, solver, n = sm.Layout(case.problem), comparison.Schrijver(), 6
    state = solver.start(layout, random_start(layout, seed))
    before, steps = np.zeros(n), 0
    while not solver.done(state):
        points, _, weights = state.vertices
        assert weights.size <= n
        assert weights.min() > 0.0
        for order, point in zip(state.orders, points, strict=True):
            assert np.array_equal(np.sort(order), np.arange(n))
            assert np.array_equal(point, layout.total(_vertex(layout, order)))
        x = weights @ points
        distances = _distances(state.orders, x > 1e-12).astype(float)
        distances[distances < 0] = np.inf
        assert np.all(distances >= before)
        before = distances
        assert solver.step(layout, state) == layout.r
        steps += 1
    members = solver.minimizer(state)
    assert np.all(state.orders[:, members] < members.sum())
    assert case.problem.evaluate(members) == case.minimum
    assert state.vertices_made <= 1 + n * steps
    assert 1 < steps <= n**6


@FEW
@given(models(whole=True, hard=True, shapes=[(5,), (2, 3)]), st.integers(0, 99))
def test_schrijver_from_any_start(case: Model, seed):
    layout = sm.Layout(case.problem)
    result = sm.minimize(
        case.problem, comparison.Schrijver(), warm_start=random_start(layout, seed)
    )
    assert result.value == result.lower_bound == case.minimum


def test_schrijver_refuses_many_elements():
    with pytest.raises(TypeError, match="at most 200 elements, but the problem has 201; Minimum"):
        sm.minimize(sm.Problem(np.zeros(201), [sm.Hyperedge(*csr([[0, 1]]), 1.0)]), "schrijver")


def test_a_time_limit_between_steps_leaves_a_valid_answer():
    random = np.random.default_rng(0)
    grid = sm.GridCut((9, 9), 0.5)
    problem = sm.Problem(random.normal(size=(9, 9)), [grid])
    result = sm.minimize(problem, comparison.Schrijver(), time_limit=0.3)
    assert result.lower_bound <= sm.minimize(problem).value <= result.value
    assert sm.verify(problem, result) == result.certificate
