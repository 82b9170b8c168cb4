"""Answers that only exact arithmetic gets right: huge terminals, closures, costs that cancel."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_flow

import submin as sm

from .problems import general_solvers

SOLVERS = ["auto", *general_solvers()]
HUGE = 2.0**53


def with_huge_terminals() -> sm.Problem:
    """Source 1 and sink 8 of 1-2 2^53, 2-3 5, 3-4 5, 4-2 5, 3-5 2, 4-7 2, 5-6 5, 6-7 5, 7-5 5,
    7-8 1, 6-8 4: the minimum is 4, and its only source side {1, 2, 3, 4}.
    """  # fmt: skip
    unary = np.array([-np.inf, -HUGE, 0, 0, 0, 4, 1, np.inf])
    tails, heads = np.array([2, 3, 4, 3, 4, 5, 6, 7]) - 1, np.array([3, 4, 2, 5, 7, 6, 7, 5]) - 1
    return sm.Problem(unary, [sm.Cut(tails, heads, [5, 5, 5, 2, 2, 5, 5, 5.0], 0.0)], HUGE)


@pytest.mark.parametrize("callback", [None, lambda record, members: False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_huge_terminal_arcs(solver, callback):
    problem = with_huge_terminals()
    try:
        result = sm.minimize(problem, solver, callback=callback, max_passes=2_000)
    except TypeError:  # a solver that does not take cuts
        return
    assert np.flatnonzero(result.minimizer).tolist() == [0, 1, 2, 3]
    assert (result.value, result.gap, result.status) == (4.0, 0.0, sm.Status.OPTIMAL)
    assert sm.verify(problem, result).optimal


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_one_huge_cost_beside_small_ones(seed, watched):
    """Integer networks with a unary of -2^53, against an integer flow."""
    random, n = np.random.default_rng(seed), 12
    unary = random.integers(-9, 10, n).astype(float)
    tails, heads = random.integers(0, n, (2, 30))
    tails, heads = tails[tails != heads], heads[tails != heads]
    weights = random.integers(0, 7, tails.size).astype(float)
    unary[0] = -HUGE
    problem = sm.Problem(unary, [sm.Cut(tails, heads, weights, 0.0)])
    result = sm.minimize(problem, callback=(lambda *_: False) if watched else None)
    assert result.minimizer[0]
    assert result.status is sm.Status.OPTIMAL
    small = np.where(np.arange(n) == 0, -1000, unary).astype(int)  # as good as -2^53
    arcs = sp.coo_array((weights.astype(int), (tails, heads)), shape=(n + 2, n + 2)).tolil()
    for v, cost in enumerate(small):
        arcs[(n, v) if cost < 0 else (v, n + 1)] = abs(cost)
    flow = maximum_flow(sp.csr_array(arcs).astype(np.int32), n, n + 1).flow_value
    least = flow + int(small[small < 0].sum())
    exact = int(least) + 1000 - 2**53
    assert abs(int(result.value) - exact) <= 2  # floats are even there
    assert int(result.lower_bound) <= exact
    inside = result.minimizer
    cut = weights[inside[tails] & ~inside[heads]].sum()
    assert int(cut) + int(small[inside].sum()) == least


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_hard_constraint_holds_beside_costs_that_cancel(solver):
    terms = [sm.Table([[0]], [0, 1e17]), sm.Table([[0]], [0, -1e17])]
    problem = sm.Problem([-np.inf, 1.0], terms)
    try:
        result = sm.minimize(problem, solver, max_passes=50)
    except TypeError:
        return
    assert result.minimizer.tolist() == [True, False]
    assert result.value == problem.evaluate(result.minimizer) == 0.0
    assert result.lower_bound <= 0.0


@pytest.mark.parametrize("factor", [1, 1_000])
def test_smallest_and_largest_pit(data_folder, factor):
    """Arcs to the 9 blocks above, of finite weight; sums of all weights are beyond 2^53."""
    file = data_folder / "mining" / "bauxitemed.dat"
    if not file.exists():
        pytest.skip("the mining data are not there")
    shape = (26, 120, 120)
    profit = np.loadtxt(file) * factor
    blocks = np.arange(profit.size).reshape(shape)
    tails, heads = [], []
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            ys, xs = slice(max(0, -dy), 120 - max(0, dy)), slice(max(0, -dx), 120 - max(0, dx))
            yt, xt = slice(max(0, dy), 120 + min(0, dy)), slice(max(0, dx), 120 + min(0, dx))
            tails.append(blocks[:-1, ys, xs].ravel())
            heads.append(blocks[1:, yt, xt].ravel())
    arcs = np.concatenate(tails), np.concatenate(heads)
    assert arcs[0].size == 3_204_100
    problem = sm.Problem(-profit, [sm.Cut(*arcs, 31_050_000.0 * factor, 0.0)])
    for largest, size in ((False, 77_677), (True, 125_024)):
        result = sm.minimize(problem, sm.MaxFlow(largest=largest))
        assert (result.value, result.status) == (-25_697_179.0 * factor, sm.Status.OPTIMAL)
        assert int(result.minimizer.sum()) == size


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("large", ["cost", "constant"])
def test_large_numbers_that_all_sets_share_hide_no_differences(solver, large):
    """A cost that decides its element, or a constant, costs the rest no digits."""
    unary = [1e20, -1.0, -1.0, 1.5, -1e20] if large == "cost" else [3.0, -1.0, -1.0, 1.5, -9.0]
    cut = sm.Cut([0, 1, 2, 3], [1, 2, 3, 4], 1.0)
    count = sm.Cardinality([0, 3], [1, 2, 3], lambda k, m: 0.5 * np.minimum(k, m - k))
    problem = sm.Problem(unary, [cut, count], 0.0 if large == "cost" else 1e20)
    try:
        result = sm.minimize(problem, solver, max_passes=2_000)
    except TypeError:
        return
    assert result.minimizer.tolist() == [False, True, True, True, True]  # 0.5 less than the next
    assert result.certificate.closed


def test_a_proximal_point_beside_a_large_constant():
    problem = sm.Problem([-1.0, -1.0, 1.5], [sm.Cut([0, 1], [1, 2], 1.0)], 1e20)
    result = sm.prox(problem, tol=1e-9)
    assert np.allclose(result.x, [0.5, 0.5, -0.5], atol=1e-4)
    assert result.minimizer.tolist() == (result.x > 0.0).tolist()


@pytest.mark.parametrize("solver", ["auto", "accelerated_sweeps"])
def test_weights_that_are_hardly_above_zero(solver):
    problem = sm.Problem([0.0, -1.0], [sm.Truncation([0, 2], [0, 1], 5e-324, 1.0)])
    result = sm.minimize(problem, solver)
    assert result.value == -1.0
    assert result.minimizer.tolist() == [False, True]


def coarse_terms() -> list[sm.Term]:
    """Values that are multiples of 6, up to 2^52 sixteenths, on elements 0 to 2."""
    large = 6.0 * (2**47 // 6)
    table = [0.0, -6.0, -12.0, -large]
    return [
        sm.Table([[2, 0]], table),
        sm.Table([[0, 1, 2]], [0.0, -6.0, -12.0, -18.0, -6.0, -12.0, -18.0, -large]),
        sm.Cardinality([0, 3], [0, 1, 2], lambda k, m: -large * (k == m)),
        sm.Hyperedge([0, 3], [0, 1, 2], large),
        sm.Truncation([0, 3], [0, 1, 2], [large / 4, large / 4, 6.0], large / 2),
        sm.Cut([0, 1], [1, 2], [large, 6.0]),
        sm.GridCut(3, large / 2),
    ]


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("which", range(len(coarse_terms())))
@pytest.mark.parametrize("seed", range(3))
def test_costs_of_a_finer_unit_than_that_of_large_values(which, seed, largest):
    """The dual is a multiple of the costs' unit, not of the values', and is exact nonetheless."""
    unary = np.random.default_rng(seed).integers(-9, 10, 3) / 16.0
    problem = sm.Problem(unary, [coarse_terms()[which]])
    result = sm.minimize(problem, sm.MaxFlow(largest=largest))
    sets = (np.array(members) for members in product([False, True], repeat=3))
    least = min(problem.evaluate(members) for members in sets)
    assert result.status is sm.Status.OPTIMAL
    assert result.value == least


@pytest.mark.parametrize("odd", [3, 7, 1001, 2**20 + 1])
def test_multiples_of_an_odd_number_have_a_digit_too_many(odd):
    """Sums of multiples of g are not floats up to 2^53 g: the bound is not above the minimum."""
    for k in range(1, 16, 2):
        costs = [-float(odd * 2**51), -float(odd * (2**51 + k))]
        result = sm.minimize(sm.Problem(costs))
        assert Fraction(result.lower_bound) <= sum(map(Fraction, costs))
        assert Fraction(result.value) - sum(map(Fraction, costs)) <= Fraction(np.spacing(-costs[1]))
