"""Truncated modular functions: against brute force, other families, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from .group_terms import assert_every_solver, csr, groups, truncations
from .problems import all_sets, vectors

FEW = settings(max_examples=30)


@FEW
@given(st.data())
def test_violation_is_that_of_each_group(data):
    term = data.draw(truncations(5)).term
    dual, expected = data.draw(vectors(False, term.size)), 0.0
    for group, cap in enumerate(term.caps):
        part = slice(term.pointers[group], term.pointers[group + 1])
        sets = all_sets(part.stop - part.start)
        costs = np.minimum(sets @ term.masses[part], cap) + sets @ term.modular[part]
        expected += np.max(sets @ dual[part] - costs)
    assert term.violation(dual).total == pytest.approx(expected, rel=1e-12, abs=1e-12)


@FEW
@given(st.data())
def test_equal_masses_are_cardinalities(data):
    given_groups = data.draw(groups(6))
    mass, cap = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 9))
    term = sm.Truncation(*csr(given_groups), float(mass), float(cap))
    same = sm.Cardinality(*csr(given_groups), lambda k, m: np.minimum(mass * k, cap))
    for mask in all_sets(6):
        assert term.evaluate(mask) == same.evaluate(mask)
    unary = data.draw(vectors(True, 6))
    values = [sm.minimize(sm.Problem(unary, [kind])).value for kind in (term, same)]
    assert values[0] == values[1]


@FEW
@given(st.data())
def test_a_cap_beyond_the_mass_is_modular(data):
    given_groups = data.draw(groups(5))
    pointers, members = csr(given_groups)
    masses = data.draw(vectors(False, members.size, 0.0))
    term = sm.Truncation(pointers, members, masses, 1e3)
    expected = np.bincount(members, masses, 5)
    for dual in (term.feasible_start(), term.greedy(np.arange(5, dtype=np.int32))):
        np.testing.assert_array_equal(dual, masses)
    for mask in all_sets(5):
        assert term.evaluate(mask) == pytest.approx(expected @ mask, abs=1e-12)


def test_every_solver_reaches_the_minimum():
    rng = np.random.default_rng(5)
    grid = sm.GridCut((3, 3), rng.random())
    pointers, members = csr([[0, 1, 2, 4], [8, 4, 5], [6, 3, 7]])
    term = sm.Truncation(pointers, members, 2 * rng.random(10), [1.0, 2.0, 0.5])
    rewards = sm.Truncation(pointers, members, rng.random(10), 0.4, -rng.random(10))
    assert_every_solver(sm.Problem(rng.normal(size=(3, 3)), [grid, term, rewards]))


def test_every_solver_proves_optimality_of_whole_numbers():
    rng = np.random.default_rng(6)
    pointers, members = csr([[0, 1, 2, 3, 4, 5], [4, 5, 6, 7, 8]])
    term = sm.Truncation(pointers, members, rng.integers(0, 5, 11), [7, 4], rng.integers(-3, 1, 11))
    problem = sm.Problem(rng.integers(-4, 2, 9), [term])
    assert problem.granularity == 1.0
    assert_every_solver(problem)


def test_evaluation_is_exact_beyond_single_roundings():
    """Masses that float64 would round away are kept until the one rounding of the result."""
    term = sm.Truncation([0, 3], [0, 1, 2], [2.0**53, 1.0, 1.0], 2.0**54)
    assert term.evaluate(np.array([True, True, True])) == 2.0**53 + 2.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 2], [0, 1], [1.0, -2.0], 1.0), ValueError, r"masses\[1\] is -2.0"),
        (([0, 2], [0, 1], 1.0, [np.inf]), ValueError, r"caps\[0\] is inf"),
        (([0, 2], [0, 1], [1.0], 1.0), ValueError, r"masses has shape \(1,\).*each member"),
        (([0, 2], [0, 1], 1.0, [1.0, 1.0]), ValueError, r"caps has shape \(2,\).*each group"),
        (([0, 2], [0, 1], 1.0, 1.0, [np.nan, 0.0]), ValueError, r"modular\[0\] is nan"),
        (([0, 2], [0, 1], 1.0, 1.0, [0.0]), ValueError, r"modular has shape \(1,\)"),
        (([0, 2], [0, 1], 1.0, 1.0, [1e308, 1e308]), ValueError, r"\|modular\| overflows"),
        (([0, 2], [0, 1], "a", 1.0), TypeError, "masses must hold real numbers"),
        (([0, 2], [5, 5], 1.0, 1.0), ValueError, r"members\[1\] is 5"),
        (([1, 2], [0, 1], 1.0, 1.0), ValueError, "pointers runs from 1 to 2"),
    ],
)
def test_bad_input_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        sm.Truncation(*arguments)
