"""Concave functions of the cardinality: projections, and greedy vertices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from submin._typing import FloatArray, IndexArray, PointerArray
from submin.kernels.groups import chosen
from submin.kernels.refusals import refuse_outside, refuse_pointers

__all__ = ["cardinality_greedy", "cardinality_project", "cardinality_sweep"]


def _nonincreasing_regression(z: FloatArray) -> FloatArray:
    """Return the nonincreasing x closest to z: pool adjacent violators, one pass over a stack.

    >>> _nonincreasing_regression(np.array([3.0, 1.0, 2.0, 0.0]))
    array([3. , 1.5, 1.5, 0. ])
    """
    totals: list[float] = []
    counts: list[int] = []
    for value in z.tolist():
        total, count = value, 1
        while totals and totals[-1] * count <= total * counts[-1]:
            total += totals.pop()
            count += counts.pop()
        totals.append(total)
        counts.append(count)
    return np.repeat(np.divide(totals, counts), counts)


def _project_cardinality(a: FloatArray, gains: FloatArray, order: IndexArray) -> FloatArray:
    """Project ``a`` onto B of ``F(S) = g(|S|)``, g concave with the given gains; update ``order``.

    f(x) gives the j-th largest entry of x the j-th gain. The proximal point is ordered like ``a``,
    so in the descending order of ``a`` it is the nonincreasing regression of ``a - gains``.
    """
    order[:] = order[np.argsort(-a[order], kind="stable")]
    x = np.empty(a.size)
    x[order] = _nonincreasing_regression(a[order] - gains)
    return a - x


def _refuse(
    indptr: PointerArray, members: IndexArray, groups: IndexArray, s: FloatArray, order: IndexArray
) -> None:
    """Refuse numbers out of range: of groups, and of their members and places in the order."""
    where = chosen(indptr, members, groups, s)
    sizes = np.diff(indptr)[groups]
    outside = (order[where] < 0) | (order[where] >= np.repeat(sizes, sizes))
    if outside.any():
        place = where[np.argmax(outside)]
        raise ValueError(f"order[{place}] = {order[place]} is outside of its group")


def cardinality_project(
    indptr: PointerArray,
    members: IndexArray,
    gains: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    c: float,
    order: IndexArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Project the groups ``groups`` of functions ``g_i(|S & e_i|)``, g_i concave.

    Group i has the members ``members[indptr[i]:indptr[i + 1]]`` and, at the same places of
    ``gains``, the gains ``g_i(j) - g_i(j - 1)``, nonincreasing in j = 1, 2, ... The warm start
    ``order``, of the size of ``members``, holds each group's local permutation (0, ..., k - 1 at
    first) that sorted it last time, and is replaced by the new one. ``out`` concatenates the
    selected groups. O(k) for k members in practice, O(k log k) at worst. Refused out of range:
    indptr, members, groups, order.
    """
    _refuse(indptr, members, groups, s, order)
    end = 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        a = y[part] - s[members[part]] / c
        begin, end = end, end + a.size
        out[begin:end] = _project_cardinality(a, gains[part], order[part])


def cardinality_sweep(
    indptr: PointerArray,
    members: IndexArray,
    gains: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    order: IndexArray,
    threads: int,
) -> None:
    """Project the groups ``groups`` with c = 1 in place and update ``s`` and ``order``.

    Refused out of range: indptr, members, groups, order.
    """
    _refuse(indptr, members, groups, s, order)
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        updated = _project_cardinality(y[part] - s[members[part]], gains[part], order[part])
        s[members[part]] += updated - y[part]
        y[part] = updated


def cardinality_greedy(
    indptr: PointerArray,
    members: IndexArray,
    gains: FloatArray,
    rank: IndexArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Write the greedy vertices of all groups: the j-th member in increasing rank gets gain j.

    Gain j is what F grows by along the chain of sets of first members. ``rank`` has one entry per
    node, ``out`` one per incidence. O(incidences). Refused out of range: indptr, members.
    """
    refuse_pointers(indptr, members.size, "indptr")
    refuse_outside(members, rank.size, "members")
    for begin, end in pairwise(indptr.tolist()):
        ascending = np.argsort(rank[members[begin:end]], kind="stable")
        out[begin + ascending] = gains[begin:end]
