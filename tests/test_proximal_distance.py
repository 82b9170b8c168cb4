"""How far ``prox`` ends from its solution by default: a part of the unary, whatever its scale."""

import numpy as np
import pytest

import submin as sm

from .driver_problems import hard_problem


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_prox_ends_by_default_at_a_distance_relative_to_the_unary(scale):
    problem = hard_problem(scale=scale)
    length = np.linalg.norm(problem.unary)
    exact = sm.prox(problem, tol=0.5 * (1e-7 * length) ** 2).x
    result = sm.prox(problem)
    assert result.status is sm.Status.CONVERGED
    assert np.sqrt(2.0 * result.tol) == pytest.approx(1e-5 * length)
    assert np.linalg.norm(result.x - exact) <= 1.01e-5 * length
