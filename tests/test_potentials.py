"""Potentials under the names of the literature: against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.testing import brute_force, check_term

from .group_terms import assert_every_solver, csr, groups, split
from .problems import all_sets, vectors

FEW = settings(max_examples=30)


@FEW
@given(groups(5), st.integers(0, 3))
def test_potts(given_groups, penalty):
    term = sm.potts_pn(*csr(given_groups), float(penalty))
    for mask in all_sets(5):
        mixed = [mask[group].any() and not mask[group].all() for group in given_groups]
        assert term.evaluate(mask) == penalty * sum(mixed)


@st.composite
def robust(draw, n, weighted):
    """Arguments of robust_pn and F of all sets by its formula."""
    given_groups = draw(groups(n))
    whole = draw(st.booleans())
    penalties = draw(vectors(whole, len(given_groups), 0.0))
    tolerances = 0.5 + draw(vectors(whole, len(given_groups), 0.0))
    pointers, members = csr(given_groups)
    masses = draw(vectors(whole, members.size, 0.0)) if weighted else np.ones(members.size)
    parts = list(zip(given_groups, split(masses, given_groups), penalties, tolerances, strict=True))

    def cost(mask):
        return sum(
            penalty * min(1.0, m @ mask[g] / tolerance, m @ ~mask[g] / tolerance)
            for g, m, penalty, tolerance in parts
        )

    given_masses = (masses,) if weighted else ()
    arguments = (pointers, members, penalties, tolerances, *given_masses)
    return arguments, np.array([cost(mask) for mask in all_sets(n)])


@pytest.mark.parametrize("weighted", [False, True])
@FEW
@given(data=st.data())
def test_robust_potts(weighted, data):
    arguments, expected = data.draw(robust(5, weighted))
    term = sm.robust_pn(*arguments)
    assert isinstance(term, sm.ConcaveOfModular if weighted else sm.Cardinality)
    found = [term.evaluate(mask) for mask in all_sets(5)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * (1 + expected.max()))


def test_robust_potts_of_unit_masses_are_those_of_counts():
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    groups_of_labels = sm.label_groups(labels)
    counted = sm.robust_pn(*groups_of_labels, 3.0, [1.0, 3.0])
    weighted = sm.robust_pn(*groups_of_labels, 3.0, [1.0, 3.0], np.ones(9))
    for mask in all_sets(9):
        assert counted.evaluate(mask) == pytest.approx(weighted.evaluate(mask), abs=1e-12)
    unary = np.random.default_rng(0).normal(size=9)
    results = [sm.minimize(sm.Problem(unary, [term])) for term in (counted, weighted)]
    assert results[0].value == pytest.approx(results[1].value, abs=1e-12)


def test_a_tolerance_of_one_member_is_the_potts_potential():
    groups_of_elements = csr([[0, 1, 2, 3], [2, 4]])
    robust_term = sm.robust_pn(*groups_of_elements, [2.0, 5.0], 1.0)
    potts = sm.potts_pn(*groups_of_elements, [2.0, 5.0])
    for mask in all_sets(5):
        assert robust_term.evaluate(mask) == potts.evaluate(mask)


@FEW
@given(st.data())
def test_coverage(data):
    items = data.draw(groups(5))
    weights = data.draw(vectors(True, len(items), 0.0))
    term = sm.coverage(*csr(items), weights)
    for mask in all_sets(5):
        assert term.evaluate(mask) == weights @ [mask[item].any() for item in items]


@FEW
@given(st.integers(1, 3), st.data())
def test_facility_location(clients, data):
    whole = data.draw(st.booleans())
    benefits = data.draw(vectors(whole, clients * 4, 0.0)).reshape(clients, 4)
    term = sm.facility_location(benefits)
    for mask in all_sets(4):
        expected = sum(max(row[mask], default=0.0) for row in benefits)
        assert term.evaluate(mask) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@FEW
@given(st.data())
def test_negative_hinge(data):
    given_groups = data.draw(groups(5))
    pointers, members = csr(given_groups)
    masses = data.draw(vectors(True, members.size, 0.0))
    thresholds = data.draw(vectors(True, len(given_groups), 0.0))
    term = sm.negative_hinge(pointers, members, masses, thresholds)
    parts = list(zip(given_groups, split(masses, given_groups), thresholds, strict=True))
    for mask in all_sets(5):
        expected = -sum(max(0.0, m @ mask[g] - threshold) for g, m, threshold in parts)
        assert term.evaluate(mask) == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda p, m: sm.potts_pn(p, m, [1.0, 2.0]),
        lambda p, m: sm.robust_pn(p, m, 2.0, [1.5, 2.0]),
        lambda p, m: sm.robust_pn(p, m, 2.0, 0.7, np.linspace(0.1, 1.0, 9)),
        lambda p, m: sm.negative_hinge(p, m, np.linspace(0.1, 1.0, 9), 0.8),
        lambda p, m: sm.facility_location(np.random.default_rng(0).random((2, 8))),
    ],
    ids=["potts", "robust counts", "robust masses", "negative hinge", "facility location"],
)
def test_every_solver_reaches_the_minimum(make):
    rng = np.random.default_rng(8)
    term = make(*csr([[0, 1, 2, 3, 4], [4, 5, 6, 7]]))
    assert_every_solver(sm.Problem(rng.normal(size=8) - 0.3, [term]))


def test_facility_location_conforms():
    check_term(sm.facility_location([[3.0, 1.0, 3.0, 0.5], [0.0, 2.0, 2.5, 0.1]]))


def test_facility_location_chooses_facilities():
    """Benefits as rewards are supermodular; as prices, each client pays for the dearest."""
    problem = sm.Problem([-4.0, -1.0, -3.0], [sm.facility_location([[2.0, 3.0, 0.0], [1, 0, 2]])])
    assert sm.minimize(problem).value == brute_force(problem).minimum == -3.0


def test_label_groups():
    pointers, members = sm.label_groups(np.array([[5, -1, 5], [0, 0, 9]]))
    assert pointers.tolist() == [0, 2, 4, 5]
    assert members.tolist() == [3, 4, 0, 2, 5]
    empty = sm.label_groups([-1, -1])
    assert [array.tolist() for array in empty] == [[0], []]
    with pytest.raises(TypeError, match="labels must hold integers"):
        sm.label_groups([0.5])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sm.potts_pn([0, 2], [0, 1], -1.0), "a negative weight is not submodular"),
        (lambda: sm.robust_pn([0, 2], [0, 1], -1.0, 1.0), "a negative weight is not"),
        (lambda: sm.robust_pn([0, 2], [0, 1], 1.0, [0.0]), r"tolerances\[0\] is 0.0: it must be"),
        (lambda: sm.robust_pn([0, 2], [0, 1], 1.0, 1.0, [1.0]), r"masses has shape \(1,\)"),
        (lambda: sm.robust_pn([0, 3], [0, 1], 1.0, 1.0), "pointers runs from 0 to 3"),
        (lambda: sm.coverage([0, 2], [0, 1], [1.0, 2.0]), r"weights has shape \(2,\)"),
        (lambda: sm.facility_location([1.0, 2.0]), r"benefits has shape \(2,\)"),
        (lambda: sm.facility_location([[1.0, -2.0]]), r"benefits\[0, 1\] is -2.0"),
        (lambda: sm.negative_hinge([0, 2], [0, 1], [1.0, -1.0], 1.0), r"masses\[1\] is -1.0"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
