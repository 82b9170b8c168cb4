"""Odd numbers: tiny and huge scales, integers, and long solves."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm

from .driver_problems import (
    hard_problem,
)


@pytest.mark.parametrize("power", [-480, -300, -40, 40, 300, 480])
def test_scaling_by_a_power_of_two_scales_every_bit(power):
    scale = 2.0**power
    first = sm.minimize(hard_problem(shape=(5, 6)))
    second = sm.minimize(hard_problem(shape=(5, 6), scale=scale))
    assert second.certificate.closed
    assert np.array_equal(first.minimizer, second.minimizer)
    assert first.passes == second.passes
    assert second.value == first.value * scale
    assert second.gap == first.gap * scale
    assert second.lower_bound <= second.value - second.gap


@pytest.mark.parametrize("scale", [1e-290, 1e-200, 1e180, 1e290])
def test_costs_whose_squares_do_not_fit_are_solved_or_refused(scale):
    try:
        problem = hard_problem(shape=(5, 6), scale=scale)
    except ValueError:
        with pytest.raises(ValueError, match="scale"):
            hard_problem(shape=(5, 6), scale=scale)
        return
    assert sm.minimize(problem, max_passes=300).certificate.closed


@pytest.mark.parametrize("power", [-100, -60, -30, 30, 60, 100, 300])
def test_scaling_with_hard_constraints(power):
    results = []
    for scale in (1.0, 2.0**power):
        problem = hard_problem(shape=(5, 6), scale=scale)
        unary = problem.unary.copy()
        unary[0, :2], unary[4, 3:] = np.inf, -np.inf
        results.append(sm.minimize(sm.Problem(unary, problem.terms), max_passes=500))
    assert results[1].certificate.closed
    assert np.array_equal(results[0].minimizer, results[1].minimizer)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_closes_on_a_long_chain_of_strong_edges(seed):
    """Flows add up along a chain, so rounding in s grows with its length; it is allowed for."""
    random = np.random.default_rng(seed)
    problem = sm.Problem(random.normal(size=600), [sm.GridCut(600, 5.0)])
    result = sm.minimize(problem, sm.AcceleratedSweeps(), blocks="matchings", max_passes=2_000)
    assert result.certificate.closed
