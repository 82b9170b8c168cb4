"""Screening never decides wrongly, and the solver that builds on it misses nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solve.layout import Layout
from submin.solve.screening import ball_rule, decided, discrete_rule, range_rule, static_rule
from submin.terms.capabilities.fixing import Fixing

from .group_terms import concave_families, hyperedges, truncations
from .problems import (
    Model,
    Part,
    all_sets,
    edge_values,
    model,
    models,
    vectors,
)

SMALL = [(1,), (2,), (5,), (2, 3), (7,), (2, 2, 2)]
GROUPS = {"hyperedge": hyperedges, "truncation": truncations, "concave": concave_families}


def assert_every_minimiser(case: Model, fixing: Fixing) -> None:
    """Sets that contradict the decisions cost more than the minimum, up to rounding."""
    sets, least = all_sets(case.problem.n), case.minimum + 1e-13 * case.scale
    wrong = np.any(fixing.inside & ~sets, axis=1) | np.any(fixing.outside & sets, axis=1)
    assert not np.any(wrong & (case.values < case.minimum + 1e-15 * case.scale))
    assert np.any(~wrong & (case.values <= least))


def assert_some_minimiser(case: Model, fixing: Fixing) -> None:
    """A set that agrees with the decisions has the minimum."""
    sets = all_sets(case.problem.n)
    wrong = np.any(fixing.inside & ~sets, axis=1) | np.any(fixing.outside & sets, axis=1)
    assert not np.any(fixing.inside & fixing.outside)
    assert np.min(case.values[~wrong]) <= case.minimum + 1e-12 * case.scale


def cut_off(case: Model, passes: int, solver: str = "accelerated_sweeps") -> sm.Result:
    return sm.minimize(case.problem, solver, max_passes=passes)


# The rules.


@pytest.mark.parametrize("whole", [True, False])
@settings(max_examples=60)
@given(data=st.data())
def test_the_discrete_rule_for_any_set(whole, data):
    case = data.draw(models(whole=whole, shapes=SMALL))
    passes = data.draw(st.integers(0, 4))
    s = -cut_off(case, passes).x.ravel()
    value = data.draw(st.sampled_from(list(case.values)))
    gap = value - (np.minimum(0.0, s).sum() + case.problem.constant)
    assert_every_minimiser(case, discrete_rule(s, gap + 1e-12 * case.scale))


@settings(max_examples=80)
@given(models(shapes=SMALL), st.integers(0, 4), st.data())
def test_the_ball_rule_at_any_point(case: Model, passes, data):
    """f(x) from the values of the level sets, by plain loops."""
    s = -cut_off(case, passes).x.ravel()
    x = -s + data.draw(st.sampled_from([0.0, 0.3])) * data.draw(vectors(False, s.size))
    order = np.argsort(-x, kind="stable")
    gains = np.diff(case.values[np.concatenate([[0], np.cumsum(1 << order)])])
    gap = float(gains @ x[order]) + 0.5 * float(x @ x + s @ s)
    assert_every_minimiser(case, ball_rule(x, s, gap + 1e-11 * case.scale**2))


def test_the_ball_rule_decides_where_the_discrete_rule_does_not():
    """Five pairs near 0 have a large gap of the set, and a small one of the proximal point."""
    tails, heads, weights = np.arange(0, 10, 2), np.arange(1, 10, 2), np.full(5, 0.1)
    s = np.append(np.tile([0.11, -0.11], 5), [0.4, -0.4])
    cut = sm.Cut(tails, heads, weights)
    case = model(s, [Part(cut, edge_values(all_sets(12), tails, heads, weights, weights))])
    gap = case.minimum - np.minimum(0.0, s).sum()
    smooth_gap = cut.lovasz(-s)  # f(x) + |x|^2 at x = -u
    assert discrete_rule(s, gap).free.all()
    found = ball_rule(-s, s, smooth_gap)
    assert np.flatnonzero(found.inside).tolist() == [11]
    assert np.flatnonzero(found.outside).tolist() == [10]
    assert_every_minimiser(case, found)
    assert np.array_equal(
        decided(case.problem, [0.0 * weights], s, gap, smooth_gap).free, found.free
    )


def test_the_ball_has_the_radius_of_the_gap():
    """At x = -s the ball has the radius sqrt(G); at the solution it is a point."""
    s = np.array([-3.0, -1.0, 1.0, 3.0])
    assert ball_rule(-s, s, 4.0).inside.tolist() == [True, False, False, False]
    assert ball_rule(-s, s, 4.0).outside.tolist() == [False, False, False, True]
    assert not ball_rule(-s, s, 9.0).inside.any()
    assert ball_rule(-s, s, 0.99).free.sum() == 0


@settings(max_examples=80)
@given(models(hard=True, shapes=SMALL), st.integers(0, 4))
def test_what_the_driver_decides(case: Model, passes):
    """With hard constraints, by the dual of any solve, however short."""
    result = cut_off(case, passes)
    layout = Layout(case.problem)
    s = layout.total(result.dual)
    gap = result.value - layout.lower_bound(s)
    fixing = decided(case.problem, result.dual, s, gap)
    assert_every_minimiser(case, fixing)
    assert not np.any(fixing.free & ~np.isfinite(case.problem.unary.ravel()))


@pytest.mark.parametrize("rule", [range_rule, static_rule])
@pytest.mark.parametrize("whole", [True, False])
@settings(max_examples=60)
@given(data=st.data())
def test_the_static_rules(rule, whole, data):
    case = data.draw(models(whole=whole, hard=True, shapes=SMALL))
    assert_some_minimiser(case, rule(case.problem))


def test_the_static_rule_goes_on_where_the_range_rule_ends():
    """Along a path whose end is decided, each element decides the next."""
    problem = sm.Problem([-3.0, -0.5, -0.5, -0.5, 0.5], [sm.GridCut(5, 1.0)])
    assert range_rule(problem).inside.tolist() == [True, False, False, False, False]
    assert static_rule(problem).inside.all()
    weights = [1.0, 0.4, 2.0]
    both_ends = sm.Problem([-3.0, -0.5, -1.0, 3.0], [sm.Cut([0, 1, 2], [1, 2, 3], weights)])
    assert range_rule(both_ends).side.tolist() == [1, 0, 0, -1]
    assert static_rule(both_ends).side.tolist() == [1, 1, -1, -1]


@settings(max_examples=60)
@given(models(hard=True, shapes=SMALL), st.integers(0, 6))
def test_screened_elements_keep_the_minimum(case: Model, passes):
    result = cut_off(case, passes)
    for found in (sm.screen(case.problem), sm.screen(case.problem, result)):
        assert found.inside.shape == case.problem.shape
        assert_some_minimiser(case, Fixing(found.inside.ravel(), found.outside.ravel()))
        if (found.inside | found.outside).all():
            continue
        minor = case.problem.minor(*found)
        least = min(minor.problem.evaluate(members) for members in all_sets(minor.problem.n))
        assert least == pytest.approx(case.minimum, abs=1e-12 * case.scale)


def test_a_solved_problem_without_ties_is_screened():
    problem = sm.Problem([3.0, -4.0, 0.5, -0.25], [sm.GridCut(4, 1.0)])
    found = sm.screen(problem, sm.minimize(problem, "accelerated_sweeps"))
    assert found.inside.tolist() == [False, True, True, True]
    assert found.outside.tolist() == [True, False, False, False]


def test_infeasible_duals_decide_less():
    """The violation of the certificate enlarges the gap, so that a wrong dual decides nothing."""
    problem = sm.Problem([0.5, -2.0], [sm.Cut([0], [1], 1.0)])
    result = sm.minimize(problem)
    assert not sm.screen(problem, result).outside[0]  # the minimiser is {0, 1}
    wrong = [np.array([30.0])]
    fake = sm.Result(
        result.minimizer, result.certificate, result.status, result.x, tuple(wrong),
        result.history, result.solver, result.tol,
    )  # fmt: skip
    assert not sm.screen(problem, fake).outside.any()


# The column of the history.


@settings(max_examples=60)
@given(models(whole=True, hard=True, shapes=SMALL), st.sampled_from(["rcdm", "ap", "fista"]))
def test_fixed_elements_in_the_history(case: Model, solver):
    """Never more than the elements on which all minimisers agree, and never fewer than before."""
    history = sm.minimize(case.problem, solver).history
    known = sm.testing.brute_force(case.problem)
    agreed = int(np.sum(known.smallest == known.largest))
    assert np.all(history.fixed <= agreed)
    assert np.all(np.diff(history.fixed) >= 0)


@pytest.mark.parametrize("solver", ["max_flow", "accelerated_sweeps", "rcdm"])
def test_a_closed_gap_fixes_all_elements_that_are_not_at_zero(solver):
    random = np.random.default_rng(0)
    problem = sm.Problem(random.normal(size=(12, 12)), [sm.GridCut((12, 12), 0.2)])
    result = sm.minimize(problem, solver, callback=lambda *_: False)
    assert result.history[-1].fixed == np.sum(np.abs(result.x) > 1e-6)


def noisy_photograph() -> sm.Problem:
    random = np.random.default_rng(0)
    unary = random.normal(size=(64, 64))
    for axis in (0, 1, 0, 1):
        unary = (np.roll(unary, 1, axis) + unary + np.roll(unary, -1, axis)) / np.sqrt(3.0)
    labels = np.arange(64)[:, None] // 8 * 8 + np.arange(64) // 8
    return sm.Problem(
        2.0 * unary,
        [
            sm.GridCut((64, 64), 0.3, connectivity=8),
            sm.Cardinality.from_labels(labels, lambda k, m: 0.3 * np.minimum(k, m - k)),
        ],
    )


def test_results_of_another_problem_are_refused():
    problem = noisy_photograph()
    other = sm.Problem(problem.unary, problem.terms[:1])
    with pytest.raises(ValueError, match="the dual has sizes"):
        sm.screen(problem, sm.minimize(other, max_passes=1))


def test_a_gap_that_underflows_proves_nothing():
    """Both sets are minimisers, whatever the scale."""
    problem = sm.Problem(np.array([1.0, -1.0]) * 1e-200, [sm.Cut([0], [1], 1e-200)])
    assert sm.minimize(problem, "rcdm").history[-1].fixed == 0
    with pytest.raises(ValueError, match="squares of the proximal problem underflow"):
        sm.prox(problem)


def test_screening_names_what_it_needs():
    problem = sm.Problem([1.0, -1.0])
    with pytest.raises(TypeError, match="must be a Result, and not a ndarray"):
        sm.screen(problem, np.array([True, False]))
    with pytest.raises(TypeError, match="must be a Problem, and not a NoneType"):
        sm.screen(None)
