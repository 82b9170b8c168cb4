"""What is claimed of results holds in exact arithmetic; tests/exactness.py checks many more."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.solvers import REGISTRY

from .exactness import Case, check_many, exact, faults, random_case

PIECES = [range(start, start + 25) for start in range(0, 300, 25)]


@pytest.mark.parametrize("seeds", PIECES, ids=str)
def test_small_random_problems(seeds):
    met, wrong = check_many(seeds)
    assert not wrong
    assert met["OPTIMAL"] > 0


@pytest.mark.parametrize("name", [*REGISTRY, "auto"])
def test_every_solver(name):
    """Each on some problems of its own, from any start, and on the minor that fixes an element."""
    solved = 0
    for seed in range(40):
        case = random_case(np.random.default_rng([seed, 7]), most=4)
        start = sm.minimize(case.problem, "accelerated_sweeps", max_passes=1)
        try:
            with np.errstate(all="ignore"):
                result = sm.minimize(case.problem, name, max_passes=60, warm_start=start)
        except TypeError:
            continue
        assert not faults(case, result), f"seed {seed}"
        solved += 1
    assert solved >= 5


def test_a_gap_beside_a_huge_cost_is_rounded_up():
    """Its last place was lost beside 1e140."""
    unary = [-1e140, -150925311936396.2, -55051060134317.13]
    problem = sm.Problem(unary, constant=0.0078125)
    case = Case(problem, [problem_value(unary, k, 0.0078125) for k in range(8)])
    assert not faults(case, sm.minimize(problem))


def problem_value(unary: list[float], members: int, constant: float) -> int:
    return exact(constant) + sum(exact(u) for v, u in enumerate(unary) if members >> v & 1)
