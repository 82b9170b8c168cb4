"""Projections of one function in a diagonal metric: the mathematics, in NumPy.

    y = argmin over y' in B(F) of  sum_v (y'_v - a_v)^2 / (2 d_v),   d > 0,

or, for x = (a - y) / d, the proximal point argmin f(x) + 1/2 sum_v d_v (x_v - a_v / d_v)^2.  The
Euclidean projection is d = 1.  Chains are in ``chains``: a string over steps of length d.

The kernels ``weighted_...`` project targets ``a`` of many functions, into ``out``.  Group k has the
entries ``pointers[k]:pointers[k + 1]`` of all arrays that have one entry for each member, and one
entry of the others.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray, FloatArray, PointerArray
from submin.kernels.chains import solve_chain
from submin.kernels.refusals import refuse_pointers

__all__ = [
    "weighted_cardinality",
    "weighted_chains",
    "weighted_hyperedge",
    "weighted_table",
    "weighted_truncation",
]

TAIL, HEAD = 1, 2

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


def _piecewise_root(knots: FloatArray, slopes: FloatArray, constant: float) -> float:
    """Return a root of the nonincreasing G(t) = sum_k slopes_k (knots_k - t)_+ - constant.

    From above the largest knot, where G = -constant <= 0, go down to the first piece on which G
    becomes 0 or more.

    >>> _piecewise_root(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 1.0)
    2.0
    """
    order = np.argsort(-knots, kind="stable")
    knots, descents = knots[order], np.cumsum(slopes[order])
    values = np.concatenate([[0.0], np.cumsum(descents[:-1] * -np.diff(knots))]) - constant
    reached = np.flatnonzero(values >= 0.0)
    if reached.size and reached[0] == 0:
        return float(knots[0])
    last = int(reached[0]) - 1 if reached.size else knots.size - 1
    step = values[last] / descents[last] if descents[last] > 0.0 else 0.0
    return float(knots[last] + step)


def project_hyperedge(
    a: FloatArray, d: FloatArray, tails: BoolArray, heads: BoolArray, weight: float
) -> FloatArray:
    """Project onto B(F) of F(S) = weight [S has a tail and misses a head], O(k log k).

    With b = a / d, ``y = d ((b - u)_+ on tails - (l - b)_+ on heads)``, u = l where the flow from
    tails to heads is at most the weight, and else the roots of ``sum d (b - u)_+ = weight`` over
    the tails and ``sum d (l - b)_+ = weight`` over the heads.

    >>> both = np.array([True, True])
    >>> project_hyperedge(np.array([3.0, -1.0]), np.array([1.0, 3.0]), both, both, 5.0)
    array([ 2.5, -2.5])
    """
    if not (tails.any() and heads.any()):
        return np.zeros(a.size)
    b, out, into = a / d, d[tails], d[heads]
    # G(t) = sum_T d (b - t)_+ - sum_H d (t - b)_+, where below the largest number, top,
    # -(t - b)_+ = (top - t) - (top - b) - (b - t)_+.
    top = max(b[tails].max(), b[heads].max())
    knots = np.concatenate([b[tails], b[heads], [top]])
    slopes = np.concatenate([out, -into, [into.sum()]])
    level = _piecewise_root(knots, slopes, float(into @ (top - b[heads])))
    upper = lower = level
    if float(out @ np.maximum(b[tails] - level, 0.0)) > weight:
        upper = _piecewise_root(b[tails], out, weight)
        lower = -_piecewise_root(-b[heads], into, weight)
    sent: FloatArray = np.maximum(a - d * upper, 0.0) * tails
    taken: FloatArray = np.maximum(d * lower - a, 0.0) * heads
    return sent - taken


def project_slice(
    a: FloatArray, d: FloatArray, lower: FloatArray, upper: FloatArray, total: float
) -> FloatArray:
    """Project onto ``{lower <= y <= upper, sum of y = total}``, O(k log k).

    It is ``clip(a - t d, lower, upper)``, with the t for which the sum is the total, and
    ``clip(a - t d, lower, upper) = lower + (a - lower - t d)_+ - (a - upper - t d)_+``.

    >>> project_slice(np.array([3.0, 3.0]), np.array([1.0, 2.0]), np.zeros(2), np.full(2, 9.0), 3.0)
    array([2., 1.])
    """
    if total >= upper.sum() or total <= lower.sum():
        return (upper if total >= upper.sum() else lower).copy()
    knots = np.concatenate([(a - lower) / d, (a - upper) / d])
    level = _piecewise_root(knots, np.concatenate([d, -d]), float(total - lower.sum()))
    return np.clip(a - level * d, lower, upper)


def project_cardinality(a: FloatArray, d: FloatArray, gains: FloatArray) -> FloatArray:
    """Project onto B(F) of F(S) = g(|S|), g concave with these gains, O(k log k) a split.

    The order of x is not that of a unless d is constant, so that isotonic regression does not
    apply; instead, decomposition (Groenevelt 1991, doi:10.1016/0377-2217(91)90300-K).  Let y be the
    projection onto the hyperplane y(E) = g(|E|) alone and A the set with the largest y(A) - g(|A|),
    which has the |A| largest entries of y.  If it is 0 then y is feasible, hence the answer.
    Otherwise A is tight at the answer, which splits into those for the first |A| gains on A and
    for the other gains on the rest.

    >>> project_cardinality(np.array([4.0, 0.0]), np.array([1.0, 3.0]), np.array([2.0, -2.0]))
    array([ 2., -2.])
    """
    answer = np.empty(a.size)
    pending = [(np.arange(a.size), gains)]
    while pending:
        where, own = pending.pop()
        y = a[where] + d[where] * ((own.sum() - a[where].sum()) / d[where].sum())
        order = np.argsort(-y, kind="stable")
        excess = np.cumsum(y[order] - own)[:-1]
        split = 1 + int(np.argmax(excess)) if excess.size else 0
        if split and excess[split - 1] > ROUNDING * y.size * float(np.abs(y).sum()):
            pending.append((where[order[:split]], own[:split]))
            pending.append((where[order[split:]], own[split:]))
        else:
            answer[where] = y
    return answer


def project_table(a: FloatArray, d: FloatArray, values: FloatArray) -> FloatArray:
    """Project onto B(F) of a table of 2^k values, O(k 2^k).

    Decomposition, as in ``project_cardinality``: A is a minimiser of F - y, and the answer splits
    into those for the restriction of F to A and for its contraction S -> F(A + S) - F(A).
    """
    y: FloatArray = a + d * ((values[-1] - a.sum()) / d.sum())
    slack = values - _subset_sums(y)
    worst = int(np.argmin(slack[:-1]))
    if slack[worst] >= -ROUNDING * a.size * float(np.abs(y).sum()):
        return y
    inside = np.flatnonzero(worst >> np.arange(a.size) & 1)
    outside = np.flatnonzero(~worst >> np.arange(a.size) & 1)
    contracted = values[worst | _subsets(outside)] - values[worst]
    y[inside] = project_table(a[inside], d[inside], values[_subsets(inside)])
    y[outside] = project_table(a[outside], d[outside], contracted)
    return y


def _subset_sums(y: FloatArray) -> FloatArray:
    """Return ``y(S)`` for all subsets S, by doubling: ``y(S + b) = y(S) + y_b``.

    >>> _subset_sums(np.array([1.0, 10.0]))
    array([ 0.,  1., 10., 11.])
    """
    sums: FloatArray = np.zeros(1)
    for value in y:
        sums = np.concatenate([sums, sums + value])
    return sums


def _subsets(members: PointerArray) -> PointerArray:
    """Return the bit masks of all subsets of ``members``.

    >>> _subsets(np.array([0, 2]))
    array([0, 1, 4, 5])
    """
    return _subset_sums(np.exp2(members)).astype(np.int64)


# Many functions at once.


def weighted_cardinality(
    pointers: PointerArray,
    a: FloatArray,
    d: FloatArray,
    gains: FloatArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Project functions g(|S|) with the given gains, O(k log k) for each split of k members.

    Refused out of range: pointers.
    """
    refuse_pointers(pointers, a.size, "pointers")
    for begin, end in pairwise(pointers):
        if begin < end:
            out[begin:end] = project_cardinality(a[begin:end], d[begin:end], gains[begin:end])


def weighted_hyperedge(
    pointers: PointerArray,
    a: FloatArray,
    d: FloatArray,
    roles: npt.NDArray[np.uint8],
    weights: FloatArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Project functions ``w (max over tails - min over heads)_+``, O(k log k).

    Refused out of range: pointers.
    """
    refuse_pointers(pointers, a.size, "pointers")
    for (begin, end), weight in zip(pairwise(pointers), weights.tolist(), strict=True):
        own = slice(begin, end)
        tails, heads = roles[own] & TAIL != 0, roles[own] & HEAD != 0
        out[own] = project_hyperedge(a[own], d[own], tails, heads, weight)


def weighted_truncation(
    pointers: PointerArray,
    a: FloatArray,
    d: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    totals: FloatArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Project onto ``{lower <= y <= upper, sum of y = total}``, O(k log k).

    Refused out of range: pointers.
    """
    refuse_pointers(pointers, a.size, "pointers")
    for (begin, end), total in zip(pairwise(pointers), totals.tolist(), strict=True):
        own = slice(begin, end)
        out[own] = project_slice(a[own], d[own], lower[own], upper[own], total)


def weighted_chains(
    pointers: PointerArray,
    step: FloatArray,
    d: FloatArray,
    backward: FloatArray,
    forward: FloatArray,
    flow: FloatArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Project chains, whose nodes the pointers divide, O(nodes).

    The target is ``y - step`` with the y of the flows; chain k has the edges ``pointers[k] - k :
    pointers[k + 1] - k - 1``, one fewer than nodes. Refused out of range: pointers.
    """
    refuse_pointers(pointers, step.size, "pointers")
    for chain, (begin, end) in enumerate(pairwise(pointers)):
        nodes, edges = slice(begin, end), slice(begin - chain, end - chain - 1)
        _, out[edges] = solve_chain(
            step[nodes], flow[edges], backward[edges], forward[edges], d[nodes]
        )


def weighted_table(
    a: FloatArray, d: FloatArray, values: FloatArray, out: FloatArray, threads: int
) -> None:
    """Project tables of k members, O(k 2**k).

    ``a``, ``d`` and ``out`` are (m, k), ``values`` is (m, 2**k), or one row for all.
    """
    for row, table in enumerate(np.broadcast_to(values, (len(a), values.shape[1]))):
        out[row] = project_table(a[row], d[row], table)
