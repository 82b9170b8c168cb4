"""NumPy twins of the native kernels for hyperedges and truncations.

Like :mod:`submin.kernels.reference`, of which this is a part: the executable specification.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray

TAIL, HEAD = 1, 2

__all__ = ["hyperedge_project", "hyperedge_sweep", "truncation_project", "truncation_sweep"]


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


def _project_hyperedge(
    a: FloatArray, tails: npt.NDArray[np.bool_], heads: npt.NDArray[np.bool_], weight: float
) -> FloatArray:
    """Cut ``a`` at u on the tails and at l on the heads.

    ``y = (a - u)_+ on tails - (l - a)_+ on heads``, u = l where the flow from tails to heads is at
    most the weight and else the roots of ``sum (a - u)_+ = w = sum (l - a)_+``.
    """
    if not (tails.any() and heads.any()):
        return np.zeros(a.size)
    ends = np.concatenate([a[tails], a[heads]])
    # G(t) = sum_T (a - t)_+ - sum_H (t - a)_+, where -(t - a)_+ = (top - t) - (top - a) - (a - t)_+
    # below the largest number, top.
    top, count = ends.max(), int(heads.sum())
    knots = np.append(ends, top)
    slopes = np.concatenate([np.ones(int(tails.sum())), -np.ones(count), [count]])
    level = _piecewise_root(knots, slopes, float(np.sum(top - a[heads])))
    upper = lower = level
    if np.maximum(a[tails] - level, 0.0).sum() > weight:
        upper = _piecewise_root(a[tails], np.ones(int(tails.sum())), weight)
        lower = -_piecewise_root(-a[heads], np.ones(count), weight)
    sent: FloatArray = np.maximum(a - upper, 0.0) * tails
    taken: FloatArray = np.maximum(lower - a, 0.0) * heads
    return sent - taken


def hyperedge_project(
    indptr: PointerArray,
    members: IndexArray,
    roles: npt.NDArray[np.uint8],
    weights: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Project each group's ``a = y - s[members] / c``; ``out`` concatenates the results."""
    role_of, end = np.broadcast_to(roles, members.shape), 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        a = y[part] - s[members[part]] / c
        tails, heads = (role_of[part] & TAIL) != 0, (role_of[part] & HEAD) != 0
        begin, end = end, end + a.size
        out[begin:end] = _project_hyperedge(a, tails, heads, float(weights[group]))


def hyperedge_sweep(
    indptr: PointerArray,
    members: IndexArray,
    roles: npt.NDArray[np.uint8],
    weights: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project with c = 1 and add the change of y to ``s``; the groups share no member."""
    where = _incidences(indptr, groups)
    updated = np.empty(where.size)
    hyperedge_project(indptr, members, roles, weights, groups, y, s, 1.0, updated, threads)
    s[members[where]] += updated - y[where]
    y[where] = updated


def _project_slice(a: FloatArray, lower: FloatArray, upper: FloatArray, total: float) -> FloatArray:
    """Return ``clip(a - t, lower, upper)`` with the t for which the sum is ``total``.

    ``clip(a - t, lower, upper) = lower + (a - lower - t)_+ - (a - upper - t)_+``.
    """
    if total >= upper.sum() or total <= lower.sum():
        return (upper if total >= upper.sum() else lower).copy()
    knots = np.concatenate([a - lower, a - upper])
    slopes = np.repeat([1.0, -1.0], a.size)
    level = _piecewise_root(knots, slopes, float(total - lower.sum()))
    return np.clip(a - level, lower, upper)


def truncation_project(
    indptr: PointerArray,
    members: IndexArray,
    lower: FloatArray,
    upper: FloatArray,
    totals: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Project each group's ``a = y - s[members] / c``; ``out`` concatenates the results."""
    end = 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        a = y[part] - s[members[part]] / c
        begin, end = end, end + a.size
        out[begin:end] = _project_slice(a, lower[part], upper[part], float(totals[group]))


def truncation_sweep(
    indptr: PointerArray,
    members: IndexArray,
    lower: FloatArray,
    upper: FloatArray,
    totals: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project with c = 1 and add the change of y to ``s``; the groups share no member."""
    where = _incidences(indptr, groups)
    updated = np.empty(where.size)
    truncation_project(indptr, members, lower, upper, totals, groups, y, s, 1.0, updated, threads)
    s[members[where]] += updated - y[where]
    y[where] = updated


def _incidences(indptr: PointerArray, groups: IndexArray) -> PointerArray:
    """Return the positions of the members of some groups."""
    parts = [np.arange(indptr[group], indptr[group + 1]) for group in groups]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
