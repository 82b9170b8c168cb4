"""What the tests of the loop share: problems that take some passes, and a check of results."""

from __future__ import annotations

import numpy as np

import submin as sm
from submin.solvers import REGISTRY

from .problems import general_solvers, is_exact

GENERAL = general_solvers()
SOLVERS = [name for name in GENERAL if not is_exact(name)]
SPECIAL = [name for name in REGISTRY if name not in SOLVERS]  # exact, or of cuts alone
PROXIMAL = SOLVERS


def hard_problem(
    seed: int = 0, shape: tuple[int, ...] = (12, 13), scale: float = 1.0
) -> sm.Problem:
    """A problem whose gap is open for some passes."""
    random = np.random.default_rng(seed)
    labels = np.arange(int(np.prod(shape))).reshape(shape) // 7
    return sm.Problem(
        scale * random.normal(size=shape),
        [
            sm.GridCut(shape, 0.4 * scale),
            sm.Cardinality.from_labels(labels, lambda k, m: 0.1 * scale * k * (m - k)),
        ],
    )


def problem_for(solver: str) -> sm.Problem:
    """The problem above, smaller for exact solvers, or the cut alone if they take no more."""
    if solver in GENERAL:
        return hard_problem() if solver in SOLVERS else hard_problem(shape=(3, 4))
    problem = hard_problem()
    return sm.Problem(problem.unary, problem.terms[:1])


def assert_valid(problem: sm.Problem, result: sm.Result) -> None:
    """Check that a result is complete and its certificate true."""
    assert result.minimizer.shape == problem.shape
    assert result.x.shape == problem.shape
    assert result.value == problem.evaluate(result.minimizer)
    assert sm.verify(problem, result) == result.certificate
    s = sm.Layout(problem).total(result.dual)
    assert np.abs(-result.x.ravel() - s).max() <= 1e-12 * (1 + np.abs(s).max())
