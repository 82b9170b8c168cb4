"""The proximal problem: its tolerance, its status, and the level sets of its point."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm

from .driver_problems import SPECIAL, hard_problem, problem_for


def test_prox_reaches_its_tolerance():
    problem = hard_problem(shape=(6, 7))
    exact = sm.prox(problem, tol=1e-14).x
    for tol in (1.0, 1e-3, 1e-8):
        for solver in ("rcdm", "acdm", "accelerated_sweeps"):
            result = sm.prox(problem, solver, tol=tol)
            assert np.linalg.norm(result.x - exact) <= np.sqrt(2 * tol) + 1.5e-7


def test_prox_is_converged_when_its_tolerance_is_reached():
    """The tolerance is on the smooth gap; here it is reached long before the set is proved."""
    result = sm.prox(hard_problem(scale=1e-4), tol=1e-5, max_passes=100)
    assert result.history[-1].smooth_gap <= 1e-5
    assert result.passes < 100
    assert result.status in (sm.Status.CONVERGED, sm.Status.OPTIMAL)


def test_prox_that_is_cut_off_is_not_converged():
    """The gap of the set may be below the tolerance of the smooth gap by accident of units."""
    result = sm.prox(hard_problem(scale=1e3), tol=1e5, max_passes=0)
    assert result.history[-1].smooth_gap > 1e5 > result.gap
    assert result.status in (sm.Status.STOPPED, sm.Status.OPTIMAL)


@pytest.mark.parametrize("solver", SPECIAL)
def test_prox_by_a_solver_of_another_question(solver):
    """One that finds the minimiser, and not the proximal point: refuse, or find it."""
    problem = problem_for(solver)
    exact = sm.prox(problem, tol=1e-14).x
    try:
        result = sm.prox(problem, solver, tol=1e-9)
    except TypeError:
        return
    assert np.abs(result.x - exact).max() <= 1e-4


def test_prox_of_large_numbers_ends():
    """A smooth gap far below the rounding of |s|^2 can not be reached, and is not waited for."""
    assert sm.prox(hard_problem(shape=(6, 7), scale=1e8), max_passes=3_000).passes < 3_000


def test_level_sets_of_prox_are_all_minimisers():
    problem = hard_problem(shape=(6, 7))
    x = sm.prox(problem, tol=1e-14).x
    for level in (-0.8, -0.1, 0.3, 1.2):
        moved = sm.Problem(problem.unary + level, problem.terms)
        assert moved.evaluate(x > level) == pytest.approx(sm.minimize(moved).value, abs=1e-9)


def test_prox_speaks_of_the_point_and_not_of_the_set():
    """The set of lam = 0 is certified long before x is: the status is that of x."""
    rng = np.random.default_rng(0)
    problem = sm.Problem(-100.0 * rng.random((30, 30)), [sm.GridCut((30, 30), 20.0)])
    result = sm.prox(problem, max_passes=3)
    assert result.certificate.optimal
    assert result.status is sm.Status.STOPPED
    assert "smooth gap" in str(result)
    assert result.smooth_gap > result.tol
