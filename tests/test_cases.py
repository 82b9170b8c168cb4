"""Small cases with known answers, each from a report against some package, restated in numbers.

E(x) = sum_i u_i(x_i) + sum_ij w_ij |x_i - x_j|, label 1 = in S.
"""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.terms.table import Table

from .laws import descending_rank
from .problems import SLOW, general_solvers, is_exact

SOLVERS = general_solvers()
FAST = [name for name in SOLVERS if name not in SLOW]
PROXIMAL = [name for name in FAST if not is_exact(name)]


def assert_optimal(result: sm.Result, value: float, members: list[int] | None = None) -> None:
    """Check value, bound, status, and the set where it is unique."""
    assert result.value == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert result.lower_bound == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert result.status is sm.Status.OPTIMAL
    if members is not None:
        assert np.flatnonzero(result.minimizer).tolist() == members


@pytest.mark.parametrize("solver", FAST)
def test_case_1_float_capacities(solver):
    """Float capacities, right set.

    Arcs a->b 1, b->a 0.1, a->c 2; source arcs s->a 2, s->b 2; sink arcs a->t 1, b->t 1, c->t 2.
    Minimum cut 3.1, source side exactly {b}, unique (next best 4).
    """
    arcs = sm.Cut([0, 1, 0], [1, 0, 2], [1.0, 0.1, 2.0], 0)
    problem = sm.Problem.from_costs([1.0, 1.0, 2.0], [2.0, 2.0, 0.0], [arcs])
    result = sm.minimize(problem, solver)
    assert_optimal(result, 3.1, [1])
    assert problem.evaluate(result.minimizer) == result.value


@pytest.mark.parametrize("solver", SOLVERS)
def test_case_2_reverse_arcs(solver):
    """Reverse arcs count.

    1->2:2, 1->3:2, 2->4:4, 2->5:4, 3->5:4, 3->6:4, 4->7:1, 5->7:1, 6->7:1, source 1, sink 7.
    Minimum 3, source side {1..6}, unique.
    """
    tails = np.array([1, 1, 2, 2, 3, 3, 4, 5, 6]) - 1
    heads = np.array([2, 3, 4, 5, 5, 6, 7, 7, 7]) - 1
    network = sm.Cut(tails, heads, [2, 2, 4, 4, 4, 4, 1, 1, 1], 0)
    unary = np.array([-np.inf, 0, 0, 0, 0, 0, np.inf])
    result = sm.minimize(sm.Problem(unary, [network]), solver)
    assert_optimal(result, 3.0, [0, 1, 2, 3, 4, 5])
    assert result.gap == 0.0


@pytest.mark.parametrize("solver", PROXIMAL)
def test_case_3_weighted_total_variation(solver):
    """Minimise |x - y|^2 / 2 + 0.5 |x2 - x1| + 0.2 |x3 - x2|, y = [6, 6.3, 13.8].

    x = [6.25, 6.25, 13.6], objective 1.5225.
    """
    y = np.array([6.0, 6.3, 13.8])
    chain = sm.Cut([0, 1], [1, 2], [0.5, 0.2])
    x = sm.prox(sm.Problem(-y, [chain]), solver, tol=1e-12).x
    assert np.abs(x - [6.25, 6.25, 13.6]).max() <= 2e-6
    objective = 0.5 * np.sum((x - y) ** 2) + 0.5 * abs(x[1] - x[0]) + 0.2 * abs(x[2] - x[1])
    assert objective == pytest.approx(1.5225, abs=1e-5)


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8"])
def test_case_4_no_truncation(dtype):
    """Two pixels, cost of label 1 [0.9, 0], of label 0 [0, 0.9], w = 0.5: E = 0.5, x = [0, 1]."""
    cost_in, cost_out = np.array([0.9, 0], dtype), np.array([0, 0.9], dtype)
    problem = sm.Problem.from_costs(cost_in, cost_out, [sm.GridCut(2, 0.5)])
    assert_optimal(sm.minimize(problem), 0.5, [1])


@pytest.mark.parametrize("dtype", ["u1", "i4", "?", "i8", "u8"])
def test_case_4_whole_types(dtype):
    """uint8, int32 and bool are exact: costs [1, 0] and [0, 1], w = 1: E = 1."""
    one, other = np.array([1, 0]).astype(dtype), np.array([0, 1]).astype(dtype)
    weights = np.ones(1).astype(dtype)
    problem = sm.Problem.from_costs(one, other, [sm.Cut([0], [1], weights)])
    result = sm.minimize(problem)
    assert_optimal(result, 1.0)
    assert result.gap == 0.0


def test_case_5_nan():
    """Chain of 3, w = 0.5, cost of label 1 [1, NaN, 0]: refused, naming index 1.

    The same for NaN or negative weights, an empty array, a zero-size axis.
    """
    with pytest.raises(ValueError, match=r"unary\[1\] is nan"):
        sm.Problem([1.0, np.nan, 0.0], [sm.GridCut(3, 0.5)])
    with pytest.raises(ValueError, match=r"cost_in\[1\] is nan"):
        sm.Problem.from_costs([1.0, np.nan, 0.0], np.zeros(3))
    for bad in (np.nan, -0.5):
        with pytest.raises(ValueError, match=rf"weights\[1\] is {bad}"):
            sm.Cut([0, 1], [1, 2], [0.5, bad])
        with pytest.raises(ValueError, match=rf"weights\[0\]\[1\] is {bad}"):
            sm.GridCut(3, [[0.5, bad]])
    for shape in ((0,), (3, 0)):
        with pytest.raises(ValueError, match="is 0: every axis needs"):
            sm.Problem(np.zeros(shape))


def test_case_6_contradictory_seeds():
    """An element with infinite cost for both labels is infeasible, and named."""
    with pytest.raises(ValueError, match=r"cost_in\[1\] is inf: .*infeasible"):
        sm.Problem.from_costs([1.0, np.inf], [0.0, np.inf], [sm.GridCut(2, 1.0)])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", [-np.inf, np.inf])
def test_case_6_seeds_of_one_class(solver, seed):
    """Seeds of one class only give the constant answer."""
    unary = np.zeros((3, 4))
    unary[1, 1] = seed
    result = sm.minimize(sm.Problem(unary, [sm.GridCut((3, 4), 1.0)]), solver)
    assert_optimal(result, 0.0)
    assert np.all(result.minimizer == (seed < 0))


def test_case_7_not_submodular():
    """Triangle with three weights -1 (true minimum -2): refused, naming the edge.

    Pair table E00 = 0, E01 = 1, E10 = 1: E11 = 3 refused, E11 = 2 accepted.
    """
    with pytest.raises(ValueError, match=r"weights\[0\] is -1"):
        sm.Cut([0, 1, 2], [1, 2, 0], [-1, -1, -1])
    with pytest.raises(ValueError, match="not submodular"):
        Table([[0, 1]], [0.0, 1.0, 1.0, 3.0])
    pair = Table([[0, 1]], [0.0, 1.0, 1.0, 2.0])
    assert_optimal(sm.minimize(sm.Problem([-1.5, 0.25], [pair])), -0.5, [0])


def test_case_8_parametric():
    """s->1: 1 + 5 lambda, 1->t: 9 - 3 lambda, lambda in [0, 2]: node 1 changes side at lambda = 1.

    The minimum value there is 6.
    """
    for parameter in (0.0, 0.5, 1.0, 1.5, 2.0):
        cost_in, cost_out = [9 - 3 * parameter], [1 + 5 * parameter]
        result = sm.minimize(sm.Problem.from_costs(cost_in, cost_out))
        assert_optimal(result, min(1 + 5 * parameter, 9 - 3 * parameter))
        assert result.minimizer.tolist() == [parameter > 1]
    assert sm.minimize(sm.Problem.from_costs([6.0], [6.0])).value == 6.0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("weight", "members", "value"),
    [
        (0.2, [0, 1], -3.2),
        (0.5, [0, 1], -2.0),
        (1.0, [0, 1, 2, 3], -1.0),
        (2.0, [0, 1, 2, 3], -1.0),
    ],
)
def test_case_9_superpixel(solver, weight, members, value):
    """u = [-3, -1, 1, 2] plus lambda |S||V without S|."""
    region = sm.Cardinality.from_labels(np.zeros(4, dtype=int), lambda k, m: weight * k * (m - k))
    result = sm.minimize(sm.Problem([-3.0, -1.0, 1.0, 2.0], [region]), solver)
    assert_optimal(result, value, members)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("weight", "value"), [(0.5, -3.5), (1.0, -3.0), (1.5, -2.5), (2.5, -1.5)])
def test_case_9_truncated(solver, weight, value):
    """u = [-3, -1, 1, 2] plus lambda min(|S|, |V without S|, 1): all {0, 1}."""
    region = sm.Cardinality(
        [0, 4], [0, 1, 2, 3], lambda k, m: weight * np.minimum(np.minimum(k, m - k), 1)
    )
    result = sm.minimize(sm.Problem([-3.0, -1.0, 1.0, 2.0], [region]), solver)
    assert_optimal(result, value, [0, 1])


@pytest.mark.parametrize(
    ("n", "value", "size"),
    [(10, -84, 7), (20, -301, 14), (50, -1751, 34), (100, -6834, 67), (1000, -668334, None)],
)
def test_case_10_iwata(n, value, size):
    """F(S) = |S||V without S| - sum over j in S of (5 j - 2 n), j = 1..n.

    n = 10: -84 (7 elements); 20: -301 (14); 50: -1751 (34); 100: -6834, S = {34..100};
    1000: -668334.
    """
    unary = -(5.0 * np.arange(1, n + 1) - 2 * n)
    whole = sm.Cardinality([0, n], np.arange(n), lambda k, m: k * (m - k))
    result = sm.minimize(sm.Problem(unary, [whole]))
    assert result.value == result.lower_bound == value
    assert result.status is sm.Status.OPTIMAL
    if size is not None:
        assert result.minimizer.sum() == size
    if n == 100:
        assert np.flatnonzero(result.minimizer).tolist() == list(range(33, 100))


def test_case_11_projection():
    """F(S) = h(|S|), h(z) = -z^2 / 2 + n z + z / 2, n = 4 (permutahedron).

    The projection of (3, 2, 5, 1) onto B(F) is (3, 2, 4, 1).
    """
    term = sm.Cardinality([0, 4], range(4), lambda k, m: -k * k / 2 + m * k + k / 2)
    (block,) = term.blocks("auto", 1)
    target = np.array([3.0, 2.0, 5.0, 1.0])
    assert block.project(target, np.zeros(4), 1.0).tolist() == [3.0, 2.0, 4.0, 1.0]
    assert block.project(np.zeros(4), -2 * target, 2.0).tolist() == [3.0, 2.0, 4.0, 1.0]


def test_case_11_greedy_vertex():
    """With h = (40, 70, 90, 100) the greedy vertex for w = (3, 2, 4, 1) is (30, 20, 40, 10)."""
    table = np.array([0.0, 40.0, 70.0, 90.0, 100.0])
    term = sm.Cardinality([0, 4], range(4), lambda k, m: table)
    rank = descending_rank(np.array([3.0, 2.0, 4.0, 1.0]))
    assert term.greedy(rank).tolist() == [30.0, 20.0, 40.0, 10.0]
