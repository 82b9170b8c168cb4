"""Exact proximal points: against enumeration, a published solution, and first-order solvers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers import parametric_flow

from ..exact_proximal import lovasz
from ..instances import fused_lasso
from ..problems import models
from .decomposition import point

SMALL = [(1,), (2,), (5,), (7,), (2, 3), (2, 2, 2)]
FAMILIES = ("cut", "grid_cut", "cardinality", "table")
some_families = st.lists(st.sampled_from(FAMILIES), max_size=3)


def small_models(whole: bool) -> st.SearchStrategy:
    return some_families.flatmap(lambda names: models(names, whole=whole, shapes=SMALL))


def solvable(problem: sm.Problem) -> bool:
    """Tables of four elements have no gadget."""
    return not any(isinstance(term, sm.Table) and term.arity > 3 for term in problem.terms)


@given(st.booleans().flatmap(small_models), st.integers(0, 2**32), st.sampled_from([0, 2, 40]))
@settings(max_examples=300)
def test_points_against_enumeration(model, seed, sweeps):
    problem = model.problem
    masses = None
    if seed % 2:
        masses = np.random.default_rng(seed).integers(1, 4, problem.shape).astype(float)
    solver = sm.ParametricFlow(sweeps)
    if not solvable(problem):
        with pytest.raises(TypeError, match="Table"):
            sm.prox(problem, solver)
        return
    result = sm.prox(problem, solver, weights=masses)
    expected = point(model.values, np.ones(problem.n) if masses is None else masses.ravel())
    np.testing.assert_allclose(result.x.ravel(), expected, rtol=0, atol=1e-12 * model.scale)
    assert result.point.gap <= 1e-24 * model.scale**2 or result.point.closed
    assert sm.verify(problem, result) == result.point


@given(st.integers(0, 2**32), st.sampled_from([4, 8]))
@settings(max_examples=20)
def test_points_against_sweeps(seed, connectivity):
    rng = np.random.default_rng(seed)
    problem = sm.Problem(
        rng.normal(size=(9, 11)), [sm.GridCut((9, 11), rng.random() * 2, connectivity=connectivity)]
    )
    exact, near = sm.prox(problem), sm.prox(problem, sm.AcceleratedSweeps(), tol=1e-14)
    assert exact.solver.startswith("ParametricFlow")
    assert np.linalg.norm(exact.x - near.x) <= 2e-7
    assert exact.point.gap <= 1e-20


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e30])
def test_points_scale(scale):
    """Where all plateaus are far apart, they are the same at every scale."""
    rng = np.random.default_rng(0)
    costs = rng.integers(-50, 50, (6, 7)).astype(float)
    one = sm.prox(sm.Problem(costs, [sm.GridCut((6, 7), 7.0)])).x
    other = sm.prox(sm.Problem(scale * costs, [sm.GridCut((6, 7), 7.0 * scale)])).x
    np.testing.assert_allclose(other, scale * one, rtol=0, atol=1e-13 * scale * 50)


def test_case_3_a_chain_ends_by_a_taut_string():
    chain = sm.Cut([0, 1], [1, 2], [0.5, 0.2])
    result = sm.prox(sm.Problem([-6.0, -6.3, -13.8], [chain]))
    np.testing.assert_allclose(result.x, [6.25, 6.25, 13.6], rtol=0, atol=1e-14)
    assert result.passes == 1


def test_a_published_solution(data_folder):
    """The stored x is not quite the optimum; the proof is in the gap."""
    values, edges, _ = fused_lasso(data_folder)
    weight = 0.8685272417128072
    problem = sm.Problem(-values, [sm.Cut(*edges.T, np.full(len(edges), weight))])
    result = sm.prox(problem)
    objective = result.point.value + 0.5 * float(values.ravel() @ values.ravel())
    assert objective == pytest.approx(1645.61567, abs=5e-6)
    assert result.point.gap <= 1e-20


def test_missing_data_take_values_between_their_neighbours():
    rng = np.random.default_rng(1)
    data, known = rng.normal(size=(8, 9)), rng.random((8, 9)) < 0.6
    problem = sm.Problem(-np.where(known, data, 0.0), [sm.GridCut((8, 9), 0.3)])
    result = sm.prox(problem, weights=known.astype(float))
    assert result.point.gap <= 1e-12
    assert sm.verify(problem, result) == result.point
    inside = result.x[1:-1, 1:-1]
    around = np.stack(
        [result.x[:-2, 1:-1], result.x[2:, 1:-1], result.x[1:-1, :-2], result.x[1:-1, 2:]]
    )
    missing = ~known[1:-1, 1:-1]
    assert (inside >= around.min(axis=0) - 1e-12)[missing].all()
    assert (inside <= around.max(axis=0) + 1e-12)[missing].all()


def test_weights_that_do_not_hold_x_are_named():
    problem = sm.Problem([1.0, -0.5, 3.0], [sm.Cut([0], [1], [1.0])])
    with pytest.raises(ValueError, match="infinite at element 2"):
        sm.prox(problem, weights=[1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0, 1.0], r"weights\[1\] is -1.0"),
        ([1.0, np.nan, 1.0], r"weights\[1\] is nan"),
        ([1.0, np.inf, 1.0], r"weights\[1\] is inf"),
        ([0.0, 0.0, 0.0], "weights are all 0"),
        ([1.0, 1.0], "shape"),
    ],
)
def test_weights_are_checked(weights, message):
    with pytest.raises(ValueError, match=message):
        sm.prox(sm.Problem([1.0, -2.0, 3.0]), weights=weights)


def test_weights_need_a_solver_that_takes_them():
    problem = sm.Problem([1.0, -2.0], [sm.Function([0, 1], lambda mask: float(mask.any()))])
    with pytest.raises(TypeError, match="takes no weights"):
        sm.prox(problem, weights=[1.0, 2.0])
    with pytest.raises(TypeError, match="takes no weights"):
        sm.prox(sm.Problem([1.0]), sm.RCDM(), weights=[1.0])


def test_weighted_results_are_saved_and_verified(tmp_path):
    problem = sm.Problem([1.0, -2.0, 3.0], [sm.GridCut(3, 0.5)])
    result = sm.prox(problem, weights=[1.0, 2.0, 4.0])
    result.save(tmp_path / "point.npz", problem)
    loaded = sm.Result.load(tmp_path / "point.npz")
    assert sm.verify(sm.Problem.load(tmp_path / "point.npz"), loaded) == result.point
    np.testing.assert_array_equal(loaded.weights, [1.0, 2.0, 4.0])


def test_a_limit_leaves_a_point_with_its_gap():
    rng = np.random.default_rng(2)
    problem = sm.Problem(rng.normal(size=(40, 40)), [sm.GridCut((40, 40), 1.0)])
    exact = sm.prox(problem).x
    result = sm.prox(problem, time_limit=0.0)
    assert result.point.gap > 0.0
    assert np.linalg.norm(result.x - exact) <= result.point.distance
    few = sm.prox(problem, max_passes=2)
    assert few.passes == 2
    assert np.linalg.norm(few.x - exact) <= few.point.distance


def test_work_on_an_open_part_is_kept(monkeypatch):
    """Weighted squares have no sweeps: all flow in the midst of a cut is that of its part."""
    monkeypatch.setattr(parametric_flow, "SLICE", 2_000)
    rng = np.random.default_rng(5)
    tails = np.concatenate([np.arange(5999), np.arange(5900)])
    heads = np.concatenate([np.arange(1, 6000), np.arange(100, 6000)])
    problem = sm.Problem(rng.normal(size=6000), [sm.Cut(tails, heads, np.full(tails.size, 3.0))])
    layout = sm.Layout(problem, weights=rng.uniform(1.0, 2.0, 6000))
    solver = sm.ParametricFlow()
    state = solver.start(layout, layout.feasible_start())
    for _ in range(3):
        solver.step(layout, state)
    assert not state.done
    flow = state.network.flow
    assert 0.0 < np.abs(flow).max() <= 3.0
    dual, s = solver.iterate(layout, state)
    np.testing.assert_allclose(s, layout.total(dual), rtol=0, atol=1e-12)
    assert np.sum(s * s / layout.masses) <= np.sum(layout.unary**2 / layout.masses)


def test_an_observer_changes_nothing():
    rng = np.random.default_rng(3)
    problem = sm.Problem(rng.normal(size=(30, 31)), [sm.GridCut((30, 31), 0.7, connectivity=8)])
    seen = []
    watched = sm.prox(problem, callback=lambda record, members: seen.append(record) and False)
    alone = sm.prox(problem)
    assert seen
    np.testing.assert_array_equal(watched.x, alone.x)
    assert watched.point == alone.point


def test_threads_change_no_bits():
    rng = np.random.default_rng(4)
    problem = sm.Problem(rng.normal(size=(90, 80)), [sm.GridCut((90, 80), 0.4)])
    one, two = (sm.prox(problem, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.x, two.x)
    np.testing.assert_array_equal(one.dual[0], two.dual[0])


def test_missing_data_with_precedences():
    """A missing datum that is held with another by infinite weights takes its value, with proof."""
    together = sm.Cut([0], [1], [np.inf])
    result = sm.prox(sm.Problem([0.6, 0.8], [together]), weights=[1.0, 0.0])
    np.testing.assert_allclose(result.x, [-1.4, -1.4], rtol=1e-15)
    assert result.point.gap <= 1e-12
    rising = sm.Cut([0, 1, 2], [1, 2, 3], np.full(3, np.inf), np.zeros(3))
    problem = sm.Problem([-3.0, 0.0, -1.0, -5.0], [rising])
    result = sm.prox(problem, weights=[1.0, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(result.x, [2.0, 2.0, 2.0, 5.0], rtol=1e-15)
    assert result.point.gap <= 1e-12
    assert sm.verify(problem, result) == result.point


def test_missing_data_with_large_couplings():
    """What elements without weight may be is bounded by the dual, and not by their couplings."""
    cut = sm.Cut([0, 1], [1, 0], [1e30, 4e29])
    result = sm.prox(sm.Problem([0.1, 1e-17], [cut]), weights=[2.0, 0.0])
    np.testing.assert_allclose(result.x, -0.05, rtol=1e-15)
    assert result.point.gap <= 1e-16
    assert result.status is sm.Status.CONVERGED


@pytest.mark.parametrize(
    ("costs", "weights", "message"),
    [
        ([1e10, -1.0], [1.0, 1e-300], r"weights.flat\[1\] is 1e-300: x overflows"),
        ([1e100, -1.0], [1.0, 1e-110], r"weights.flat\[1\] is 1e-110: x overflows"),
        ([1.0, -1.0], [1.0, 1e300], r"weights must sum .* flat index 1"),
    ],
)
def test_weights_at_which_numbers_overflow_are_named(costs, weights, message):
    with pytest.raises(ValueError, match=message):
        sm.prox(sm.Problem(costs, [sm.Cut([0], [1], [1.0])]), weights=weights)


@given(
    some_families.flatmap(lambda names: models(names, whole=False, shapes=[(3,), (5,)])),
    st.integers(0, 2**32),
)
@settings(max_examples=100)
def test_no_weighted_bound_is_above_the_optimum(model, seed):
    """Weights of all sizes: bounds against the exact optimum, in rationals."""
    if not solvable(model.problem):
        return
    rng, n = np.random.default_rng(seed), model.problem.n
    masses = 10.0 ** rng.uniform(-30, 30, n)
    result = sm.prox(model.problem, weights=masses.reshape(model.problem.shape))
    m = [Fraction(float(weight)) for weight in masses]

    def objective(x: np.ndarray) -> Fraction:
        point = [Fraction(float(value)) for value in x.ravel()]
        squares = sum((a * v * v for a, v in zip(m, point, strict=True)), Fraction(0)) / 2
        modular = zip(map(Fraction, map(float, model.problem.unary.ravel())), point, strict=True)
        terms = sum((lovasz(term, point) for term in model.problem.terms), Fraction(0))
        return terms + sum((u * v for u, v in modular), squares)

    optimum = objective(point(model.values, masses))  # rounded, and so not below the exact one
    slack = abs(optimum) * Fraction(1, 2**45)
    assert Fraction(result.point.lower_bound) <= optimum
    assert objective(result.x) - optimum <= Fraction(result.point.gap) + slack


def test_a_star_is_not_swept():
    """Its blocks are as many as its edges, nearly; a chain is one."""
    rng, n = np.random.default_rng(5), 3000
    star = sm.Cut(np.zeros(n, dtype=np.int32), np.arange(1, n + 1), 0.1 * rng.random(n))
    problem = sm.Problem(rng.normal(size=n + 1), [star])
    result = sm.prox(problem)
    assert result.passes == 0
    assert result.point.gap <= 1e-12
    chain = sm.Cut(np.arange(n), np.arange(1, n + 1), rng.random(n))
    assert sm.prox(sm.Problem(rng.normal(size=n + 1), [chain])).passes == 1
