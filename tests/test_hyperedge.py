"""Hyperedges: against brute force, special cases that other families know, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.testing import brute_force

from .group_terms import assert_every_solver, csr, groups, hyperedges
from .problems import all_sets, vectors

FEW = settings(max_examples=30)


@FEW
@given(st.data())
def test_violation_is_that_of_each_hyperedge(data):
    part = data.draw(hyperedges(5))
    term, expected = part.term, 0.0
    dual = data.draw(vectors(False, term.size))
    for block in term.blocks("functions", 1):
        single, slots = np.zeros(5), block.slots
        single[term.members[slots]] = dual[slots]
        (group,) = block.groups
        roles = np.broadcast_to(term.roles, term.members.shape)[slots]
        members, weight = term.members[slots], term.weights[group]
        sets = all_sets(5)
        cut = sets[:, members[roles & 1 != 0]].any(axis=1)
        cut &= ~sets[:, members[roles & 2 != 0]].all(axis=1)
        expected += np.max(sets @ single - weight * cut)
    assert term.violation(dual).total == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_feasible_duals_of_zero_have_no_error():
    term = sm.Hyperedge([0, 3, 4], [0, 1, 2, 3], [1e6, 1.0])
    assert term.violation(np.zeros(4)) == (0.0, 0.0)


@FEW
@given(st.lists(st.integers(0, 4), min_size=4, max_size=4), st.booleans())
def test_pairs_are_edges(weights, directed):
    """Hyperedges of two members are an undirected graph, arcs with one tail and head directed."""
    tails, heads, pointers = [0, 1, 2, 3], [1, 2, 3, 0], [0, 1, 2, 3, 4]
    if directed:
        term = sm.Hyperedge.directed(pointers, tails, pointers, heads, weights)
        cut = sm.Cut(tails, heads, weights, np.zeros(4))
    else:
        pairs = np.stack([tails, heads], axis=1).ravel()
        term = sm.Hyperedge([0, 2, 4, 6, 8], pairs, weights)
        cut = sm.Cut(tails, heads, weights)
    for mask in all_sets(4):
        assert term.evaluate(mask) == cut.evaluate(mask)
    problem = sm.Problem([-3.0, 1.0, 2.0, -1.0], [term])
    other = sm.minimize(sm.Problem([-3.0, 1.0, 2.0, -1.0], [cut]))
    assert sm.minimize(problem).value == other.value


@FEW
@given(st.data())
def test_swapping_sides_complements(data):
    """F with tails and heads swapped is F of the complement."""
    tails = data.draw(groups(5, 1))
    heads = data.draw(st.permutations(tails))
    weights = data.draw(vectors(True, len(tails), 0.0))
    term = sm.Hyperedge.directed(*csr(tails), *csr(heads), weights)
    swapped = sm.Hyperedge.directed(*csr(heads), *csr(tails), weights)
    for mask in all_sets(5):
        assert term.evaluate(mask) == swapped.evaluate(~mask)


def test_directed_with_equal_sides_is_undirected():
    given_groups = csr([[0, 1, 2], [3, 1]])
    directed = sm.Hyperedge.directed(*given_groups, *given_groups, [2.0, 1.0])
    undirected = sm.Hyperedge(*given_groups, [2.0, 1.0])
    assert directed.roles.size == undirected.roles.size == 1
    for mask in all_sets(4):
        assert directed.evaluate(mask) == undirected.evaluate(mask)


def test_every_solver_reaches_the_minimum():
    rng = np.random.default_rng(3)
    grid = sm.GridCut((3, 3), rng.random())
    rows = sm.Hyperedge([0, 3, 6, 9], np.arange(9), [1.0, 0.5, 2.0])
    arcs = sm.Hyperedge.directed([0, 2, 4], [0, 8, 4, 1], [0, 2, 3], [3, 7, 6], [0.8, 1.5])
    assert_every_solver(sm.Problem(2.0 * rng.normal(size=(3, 3)), [grid, rows, arcs]))


def test_every_solver_proves_optimality_of_whole_numbers():
    rng = np.random.default_rng(4)
    term = sm.Hyperedge([0, 4, 8, 11], [0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 0], [3, 2, 5])
    problem = sm.Problem(rng.integers(-4, 5, 8), [term])
    assert problem.granularity == 1.0
    assert_every_solver(problem)
    assert sm.minimize(problem).value == brute_force(problem).minimum


def test_disjoint_hyperedges_are_one_block():
    assert len(sm.Hyperedge([0, 2, 4], [0, 1, 2, 3], 1.0).blocks("auto", 1)) == 1
    assert len(sm.Hyperedge([0, 2, 4], [0, 1, 1, 3], 1.0).blocks("auto", 1)) == 2
    assert len(sm.Hyperedge([0, 2, 2, 4], [0, 1, 2, 3], 1.0).blocks("functions", 1)) == 2


def test_marginal_range_of_arcs():
    """An element that is the only tail and the only head of a hyperedge never decides."""
    term = sm.Hyperedge.directed([0, 1, 3], [0, 0, 1], [0, 1, 2], [0, 1], [7.0, 2.0])
    low, high = term.marginal_range(3)
    assert low.tolist() == [0.0, -2.0, 0.0]
    assert high.tolist() == [2.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 2], [0, 1], -1.0), ValueError, "a negative weight is not submodular"),
        (([0, 2], [0, 1], [np.nan]), ValueError, r"weights\[0\] is nan"),
        (([0, 2], [0, 1], [1.0, 2.0]), ValueError, r"weights has shape \(2,\).*each hyperedge"),
        (
            ([0, 2], [1, 1], 1.0),
            ValueError,
            r"members\[1\] is 1 \(group 0\): an element may be once",
        ),
        (([0, 2], [0, -3], 1.0), ValueError, r"members\[1\] is -3"),
        (([0, 2], [0.5, 1.5], 1.0), TypeError, "members must hold integers"),
        (([0, 3], [0, 1], 1.0), ValueError, "pointers runs from 0 to 3"),
        (([0, 2, 1, 2], [0, 1], 1.0), ValueError, r"pointers\[2\] is 1: pointers must not"),
        (([], [], 1.0), TypeError, "pointers must be a 1-D array"),
    ],
)
def test_bad_hyperedges_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        sm.Hyperedge(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 0], [], [0, 1], [0], 1.0), ValueError, "hyperedge 0 has no tail.*coverage"),
        (([0, 1], [0], [0, 0], [], 1.0), ValueError, "hyperedge 0 has no head"),
        (([0, 1], [0], [0, 1, 2], [1, 2], 1.0), ValueError, "1 hyperedges and head_pointers has 2"),
        (
            ([0, 2], [0, 0], [0, 1], [1], 1.0),
            ValueError,
            r"tails\[1\] is 0 \(group 0\): an element may be",
        ),
        (([0, 1], [0], [0, 2], [1], 1.0), ValueError, "head_pointers runs from 0 to 2"),
    ],
)
def test_bad_directed_hyperedges_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        sm.Hyperedge.directed(*arguments)


@pytest.mark.parametrize(
    "roles",
    [np.array([4, 1], "u1"), np.array([0, 3], "u1"), np.array([1.0, 1.0]), np.array([1], "u1")],
)
def test_damaged_files_are_refused(roles):
    arrays = {**sm.Hyperedge([0, 2], [0, 1], 1.0).arrays(), "roles": roles}
    with pytest.raises(ValueError, match="role"):
        sm.Hyperedge.from_arrays(arrays)
