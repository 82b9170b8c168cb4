"""Every family and solver keeps its laws; brute force keeps its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers import REGISTRY as SOLVERS
from submin.solvers.acdm import ACDM
from submin.terms import REGISTRY as FAMILIES
from submin.testing import (
    brute_force,
    check_solver,
    check_term,
    small_problems,
)
from submin.testing.brute_force import set_values

from .strategies import cardinalities, cuts, grid_cuts, problems, shapes

SETTINGS: dict[str, Any] = {"acdm": ACDM(epoch_passes=20)}
"""Solvers whose own settings are too slow for a test."""

TOLERANCES = {"frank_wolfe": 0.01}
"""Solvers of a sublinear rate, which do not close a gap."""


@pytest.mark.parametrize("kind", sorted(FAMILIES))
def test_every_family_conforms(kind) -> None:
    examples = FAMILIES[kind].examples()
    assert examples, f"{FAMILIES[kind].__name__}.examples() returns no small term"
    for term in examples:
        check_term(term)


@pytest.mark.parametrize("kind", sorted(FAMILIES))
def test_every_family_is_minimised_and_saved(kind, tmp_path) -> None:
    """By the default solver and a general one, against brute force; and once more from a file."""
    random = np.random.default_rng(0)
    for term in FAMILIES[kind].examples():
        problem = sm.Problem(random.normal(size=term.elements or 1), [term])
        least = brute_force(problem).minimum
        for solver in ("auto", "accelerated_sweeps"):
            result = sm.minimize(problem, solver)
            assert result.value == pytest.approx(least, abs=1e-9)
            assert result.certificate.closed
            assert sm.verify(problem, result) == result.certificate
        point = sm.prox(problem, tol=1e-9)
        assert sm.verify(problem, point).gap <= 1e-9
        if kind == "function":
            with pytest.raises(TypeError, match="Python code"):
                problem.save(tmp_path / "problem.npz")
            continue
        problem.save(tmp_path / "problem.npz")
        assert sm.Problem.load(tmp_path / "problem.npz").evaluate(result.minimizer) == result.value


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_solver_conforms(name) -> None:
    solver = SETTINGS.get(name, SOLVERS[name]())
    assert check_solver(solver, seed=1, tol=TOLERANCES.get(name, 0.0))


def test_the_default_solver_solves_every_problem_of_the_suite() -> None:
    names = [name for name, _ in small_problems()]
    assert list(check_solver(sm.AcceleratedSweeps())) == names


@given(st.data(), shapes().filter(lambda shape: np.prod(shape) <= 8), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_random_terms_conform(data, shape, seed) -> None:
    n = int(np.prod(shape))
    term = data.draw(st.one_of(grid_cuts(shape), cuts(n), cardinalities(n)))
    check_term(term, n=n, seed=seed)


# Brute force against a plain loop, and the library against brute force.


@given(problems(hard_constraints=True).filter(lambda problem: problem.n <= 8))
@settings(max_examples=40)
def test_brute_force_against_a_loop_over_sets(problem) -> None:
    values, rounding = set_values(problem)
    masks = [(i >> np.arange(problem.n)) & 1 == 1 for i in range(1 << problem.n)]
    expected = np.array([problem.evaluate(mask) for mask in masks])
    np.testing.assert_allclose(values, expected, rtol=0.0, atol=1e-10)
    found = brute_force(problem)
    assert found.minimum == problem.evaluate(found.smallest)
    best = [
        mask for mask, value in zip(masks, values, strict=True) if value <= values.min() + rounding
    ]
    np.testing.assert_array_equal(found.smallest.ravel(), np.all(best, axis=0))
    np.testing.assert_array_equal(found.largest.ravel(), np.any(best, axis=0))
    assert problem.evaluate(found.largest) == pytest.approx(found.minimum, abs=1e-10)


@given(problems(hard_constraints=True))
@settings(max_examples=60)
def test_random_mixtures_reach_the_minimum(problem) -> None:
    result, known = sm.minimize(problem, max_passes=500), brute_force(problem)
    scale = 1.0 + abs(known.minimum)
    assert result.lower_bound <= known.minimum + 1e-12 * scale
    assert known.minimum <= result.value <= known.minimum + result.gap + 1e-12 * scale
    assert result.gap <= 1e-6 * scale


def test_brute_force_of_twenty_elements() -> None:
    random = np.random.default_rng(0)
    grid = sm.GridCut((4, 5), 1.0)
    groups = sm.Cardinality.from_labels(np.arange(20) // 5, lambda k, m: 0.5 * k * (m - k))
    problem = sm.Problem(4.0 * random.normal(size=(4, 5)), [grid, groups])
    found = brute_force(problem)
    assert found.smallest.shape == (4, 5)
    assert sm.minimize(problem).value == pytest.approx(found.minimum, abs=1e-9)
    with pytest.raises(ValueError, match="21 elements: enumeration takes at most 20"):
        brute_force(sm.Problem(np.zeros(21)))


def test_brute_force_finds_both_extreme_minimisers() -> None:
    found = brute_force(sm.Problem([0.0, -1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(found.smallest, [False, True, False, False])
    np.testing.assert_array_equal(found.largest, [True, True, True, False])


@pytest.mark.parametrize(("scale", "minimum"), [(0.2, -3.2), (0.5, -2.0), (1.0, -1.0), (2.0, -1.0)])
def test_superpixel_term(scale, minimum) -> None:
    labels = np.zeros(4, dtype=int)
    term = sm.Cardinality.from_labels(labels, lambda k, m: scale * k * (m - k))
    problem = sm.Problem([-3.0, -1.0, 1.0, 2.0], [term])
    assert brute_force(problem).minimum == pytest.approx(minimum, abs=1e-12)
    assert sm.minimize(problem).value == pytest.approx(minimum, abs=1e-12)


@pytest.mark.parametrize(("scale", "minimum"), [(0.5, -3.5), (1.0, -3.0), (1.5, -2.5), (2.5, -1.5)])
def test_truncated_superpixel_term(scale, minimum) -> None:
    def truncated(k: np.ndarray, m: int) -> np.ndarray:
        return scale * np.minimum(np.minimum(k, m - k), 1.0)

    problem = sm.Problem(
        [-3.0, -1.0, 1.0, 2.0], [sm.Cardinality.from_labels(np.zeros(4, dtype=int), truncated)]
    )
    found = brute_force(problem)
    assert found.minimum == pytest.approx(minimum, abs=1e-12)
    np.testing.assert_array_equal(found.smallest, [True, True, False, False])
    assert sm.minimize(problem).value == pytest.approx(minimum, abs=1e-12)


def test_a_term_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match=r"13 elements, .* at most 12: give a smaller one"):
        check_term(sm.GridCut(13, 1.0))
    with pytest.raises(ValueError, match=r"n is 13: it must be from 4, .* to 12"):
        check_term(sm.GridCut(4, 1.0), n=13)
    with pytest.raises(ValueError, match="n is 3: it must be from 4"):
        check_term(sm.GridCut(4, 1.0), n=3)
