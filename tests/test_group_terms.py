"""The laws of terms and blocks, for every family on groups, against plain loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.testing import check_term

from .group_terms import concave_families, hyperedges, truncations
from .laws import assert_block_laws, assert_round_trip, assert_term_laws
from .problems import Part, vectors

FEW = settings(max_examples=30)
FAMILIES = pytest.mark.parametrize("family", [hyperedges, truncations, concave_families])
DECOMPOSITIONS = ["auto", *sm.Hyperedge([0], [], 1.0).decompositions]

Family = Callable[[int], st.SearchStrategy[Part]]


def test_the_families_have_the_same_decompositions():
    empty = [sm.Truncation([0], [], 1.0, 1.0), sm.ConcaveOfModular([0], [], 1.0, [0, 1], [0, 1])]
    for term in empty:
        assert ["auto", *term.decompositions] == DECOMPOSITIONS


@FAMILIES
@FEW
@given(data=st.data())
def test_laws_of_terms(family: Family, data):
    part = data.draw(family(5))
    x, dual = data.draw(vectors(False, 5)), data.draw(vectors(False, part.term.size))
    assert_term_laws(part.term, part.values, x, dual)
    assert_round_trip(part.term, 5)


@FAMILIES
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
@FEW
@given(data=st.data())
def test_laws_of_blocks(decomposition: str, family: Family, data):
    part = data.draw(family(5))
    s, dual = data.draw(vectors(False, 5)), data.draw(vectors(False, part.term.size))
    assert_block_laws(part.term, decomposition, s, dual)


@pytest.mark.parametrize(
    ("family", "n"), [(hyperedges, 6), (truncations, 6), (concave_families, 5)]
)
@settings(max_examples=15)
@given(data=st.data())
def test_public_suite(family: Family, n: int, data):
    check_term(data.draw(family(n)).term, 6)


@pytest.mark.parametrize("solver", ["auto", "accelerated_sweeps"])
@pytest.mark.parametrize("number", [50_000_000, -1])
@pytest.mark.parametrize(
    "make",
    [
        lambda groups: sm.Cardinality([0, 3], groups, lambda k, m: k * (m - k)),
        lambda groups: sm.Hyperedge([0, 3], groups, 1.0),
        lambda groups: sm.Truncation([0, 3], groups, np.ones(3), 2.0),
        lambda groups: sm.Table(groups[None], np.zeros((1, 8))),
    ],
)
def test_members_changed_in_place_are_refused(make, number, solver):
    members = np.array([0, 1, 2], dtype=np.int32)
    problem = sm.Problem([1.0, -2.0, 0.5], [make(members)])
    problem.terms[0].members.reshape(-1)[1] = number
    with pytest.raises(ValueError, match=rf"members\[.*1\)?\] is {number}: they were"):
        sm.minimize(problem, solver)
