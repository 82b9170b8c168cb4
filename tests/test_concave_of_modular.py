"""Concave functions of masses: against their definition, other families, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from .group_terms import (
    assert_every_solver,
    csr,
    groups,
    split,
)
from .problems import all_sets, vectors

FEW = settings(max_examples=30)


@FEW
@given(st.data())
def test_sampling_every_mass_is_exact(data):
    given_groups = data.draw(groups(5))
    pointers, members = csr(given_groups)
    masses = data.draw(vectors(data.draw(st.booleans()), members.size, 0.0))
    term = sm.ConcaveOfModular.sampled(pointers, members, masses, lambda t, whole: np.sqrt(t))
    parts = list(zip(given_groups, split(masses, given_groups), strict=True))
    for mask in all_sets(5):
        expected = sum(np.sqrt(m @ mask[g]) for g, m in parts)
        assert term.evaluate(mask) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_sampling_at_breakpoints_interpolates():
    term = sm.ConcaveOfModular.sampled(
        [0, 2], [0, 1], [1.0, 3.0], lambda t, whole: t * (whole - t), [0.0, 2.0, 4.0]
    )
    values = [term.evaluate(mask) for mask in all_sets(2)]
    assert values == [0.0, 2.0, 2.0, 0.0]


@FEW
@given(st.data())
def test_equal_masses_are_cardinalities(data):
    given_groups = data.draw(groups(6))
    term = sm.ConcaveOfModular.sampled(*csr(given_groups), 1.0, lambda t, whole: t * (whole - t))
    same = sm.Cardinality(*csr(given_groups), lambda k, m: k * (m - k))
    for mask in all_sets(6):
        assert term.evaluate(mask) == same.evaluate(mask)
    unary = 2.0 * data.draw(vectors(True, 6))
    values = [sm.minimize(sm.Problem(unary, [kind])).value for kind in (term, same)]
    assert values[0] == values[1]


def test_linear_functions_are_one_modular_piece():
    term = sm.ConcaveOfModular([0, 2, 2], [0, 1], [1.0, 2.0], [0, 10], [0, -5])
    assert term.size == 2
    assert term.evaluate(np.array([True, True])) == -1.5
    np.testing.assert_array_equal(term.feasible_start(), [-0.5, -1.0])


def test_changes_beyond_the_mass_are_dropped():
    """phi changes its slope at 2, 4 and 6; the groups weigh 3 and 5."""
    breakpoints, values = [0, 2, 4, 6, 8], [0, 8, 14, 18, 20]
    term = sm.ConcaveOfModular([0, 1, 2], [0, 1], [3.0, 5.0], breakpoints, values)
    assert np.diff(term.pointers).tolist() == [1, 1, 1]
    assert term.evaluate(np.array([True, False])) == 11.0
    assert term.evaluate(np.array([False, True])) == 16.0


def test_every_solver_reaches_the_minimum():
    rng = np.random.default_rng(7)
    grid = sm.GridCut((3, 3), rng.random())
    groups_of_elements = csr([[0, 1, 2, 4], [8, 4, 5], [6, 3, 7]])
    term = sm.ConcaveOfModular(
        *groups_of_elements, rng.random(10), [0, 0.5, 1, 2], [0, 1.5, 2, 0.5]
    )
    assert_every_solver(sm.Problem(rng.normal(size=(3, 3)), [grid, term]))


@pytest.mark.parametrize(
    ("breakpoints", "values", "message"),
    [
        ([0, 1, 2], [0, 1, 3], r"values\[1\] is 1.0: phi is not concave there"),
        ([[0, 1, 3], [0, 2, 3]], [0, 1, 2], r"values\[1, 1\] is 1.0: phi is not concave"),
        ([1, 2], [0, 1], r"breakpoints\[0\] is 1.0: phi starts"),
        ([0, 2], [1, 1], r"values\[0\] is 1.0: phi starts"),
        ([0, 2, 2], [0, 1, 1], r"breakpoints\[2\] is 2.0: breakpoints must increase"),
        ([0, np.inf], [0, 1], r"breakpoints\[1\] is inf"),
        ([0, 1], [0, np.nan], r"values\[1\] is nan"),
        ([0, 1], [0, 1, 1], "breakpoints has 2 numbers and values 3"),
        ([0], [0], r"breakpoints has shape \(1,\)"),
        ([[0, 1]], [0, 1], r"breakpoints has shape \(1, 2\).*each of the 2 groups"),
        (3.0, [0, 1], r"breakpoints has shape \(\)"),
    ],
)
def test_bad_functions_are_refused(breakpoints, values, message):
    with pytest.raises(ValueError, match=message):
        sm.ConcaveOfModular([0, 1, 2], [0, 1], 1.0, breakpoints, values)


def test_rounding_is_no_lack_of_concavity():
    t = np.linspace(0.0, 1.0, 50)
    sm.ConcaveOfModular([0, 1], [0], 1.0, t, 0.1 * t)


def test_bad_masses_are_refused():
    with pytest.raises(ValueError, match=r"masses\[1\] is -1.0"):
        sm.ConcaveOfModular([0, 2], [0, 1], [1.0, -1.0], [0, 1], [0, 1])


def test_too_many_masses_ask_for_breakpoints():
    masses = np.exp2(np.arange(9.0))
    with pytest.raises(ValueError, match="group 0 have more than 256 different masses: give"):
        sm.ConcaveOfModular.sampled([0, 9], range(9), masses, lambda t, whole: np.sqrt(t))


def test_functions_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match="must return one value for each mass"):
        sm.ConcaveOfModular.sampled([0, 1], [0], 1.0, lambda t, whole: np.zeros(7))
