"""Proofs that a set is the only minimiser, against all sets in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solve.certificate import dual_gap
from submin.solve.uniqueness import is_only_candidate

from .problems import FAMILIES, model, parts

N = 5
SETS = [np.array([(k >> v) & 1 for v in range(N)], dtype=bool) for k in range(2**N)]


def exact_costs(problem: sm.Problem) -> list[Fraction]:
    """F of every set, with the values of functions as the floats that they are."""
    return [
        sum((Fraction(float(u)) for u in problem.unary.ravel()[members]), Fraction(0))
        + sum((Fraction(term.evaluate(members)) for term in problem.terms), Fraction(0))
        for members in SETS
    ]


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=60)
@given(data=st.data())
def test_no_other_set_costs_as_little(family, data):
    """Costs of tenths tie often; whatever is proved must hold of every set."""
    part = data.draw(parts(family, (N,), False))
    tenths = st.integers(-9, 9).map(lambda k: k / 10)
    unary = np.array(data.draw(st.lists(tenths, min_size=N, max_size=N)))
    problem = model(unary, [part]).problem
    result = sm.minimize(problem, "accelerated_sweeps", max_passes=50)
    gap = dual_gap(problem, result.minimizer, list(result.dual))
    if not is_only_candidate(problem, result.minimizer, list(result.dual), gap.bound.s, gap.size):
        return
    costs = exact_costs(problem)
    best = [members for members, cost in zip(SETS, costs, strict=True) if cost == min(costs)]
    assert len(best) == 1
    assert np.array_equal(best[0], result.minimizer)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=60)
@given(data=st.data())
def test_residual_arcs_leave_no_set_between_their_ends(family, data):
    """F(T) - y(T) is above the room for every T with u and without v, for each path from u to v."""
    term = data.draw(parts(family, (N,), False)).term
    dual = term.greedy(np.array(data.draw(st.permutations(range(N))), dtype=np.int32))
    other = term.greedy(np.array(data.draw(st.permutations(range(N))), dtype=np.int32))
    share = data.draw(st.sampled_from([0.0, 0.25, 0.5]))
    dual = (1.0 - share) * dual + share * other
    room = data.draw(st.sampled_from([1e-9, 0.1, 1.0]))
    arcs = term.residual_arcs(dual, room, np.ones(N, dtype=bool))
    reach = np.eye(N + arcs.auxiliaries, dtype=bool)
    ends = [np.where(end < 0, N - 1 - end, end) for end in (arcs.tails, arcs.heads)]
    reach[tuple(ends)] = True
    for k in range(N + arcs.auxiliaries):
        reach |= np.outer(reach[:, k], reach[k])
    y = np.zeros(N)
    term.accumulate(dual, y)
    for members in SETS:
        if reach[:N, :N][np.ix_(members, ~members)].any():
            assert term.evaluate(members) - y[members].sum() > room * (1.0 - 1e-9)


def test_a_plateau_that_is_tied_to_an_excess_is_decided():
    """The flow has pushed all excess but that of element 0; elements 1 and 2 have none left."""
    problem = sm.Problem([-5.0, 0.1, 0.2, 9.0], [sm.Cut([0, 1, 2], [1, 2, 3], [2.0, 3.0, 0.3])])
    result = sm.minimize(problem)
    assert result.minimizer.tolist() == [True, True, True, False]
    assert result.status is sm.Status.OPTIMAL


def test_ties_of_real_costs_are_not_called_optimal():
    """0.1 + 0.2 - 0.3 is not 0 in floating point: which set is less is for exact sums to say."""
    problem = sm.Problem([0.1, 0.2, -0.3], [sm.Cut([0, 1, 2], [1, 2, 0], 1.0)])
    result = sm.minimize(problem)
    assert result.certificate.closed
    exact = exact_costs_of_three(problem)
    chosen = exact[sum(1 << v for v in np.flatnonzero(result.minimizer))]
    assert result.status is not sm.Status.OPTIMAL or chosen == min(exact)
    assert Fraction(result.lower_bound) <= min(exact)


def exact_costs_of_three(problem: sm.Problem) -> list[Fraction]:
    costs = []
    for k in range(8):
        members = np.array([(k >> v) & 1 for v in range(3)], dtype=bool)
        unary = sum((Fraction(float(u)) for u in problem.unary[members]), Fraction(0))
        costs.append(unary + Fraction(problem.terms[0].evaluate(members)))
    return costs
