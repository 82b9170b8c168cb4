"""Groups with one dual value for each member: hyperedges, truncations, sums over all groups.

Group i has the members ``members[indptr[i]:indptr[i + 1]]``; ``groups`` selects the block's groups,
whose members are disjoint; ``out`` concatenates their results.

An excess is sum_i max_S (y_i(S) - F_i(S)) over all groups, with a bound on its rounding error;
``y`` has one entry per incidence. It is infinite or NaN if numbers overflow.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from submin._sums import LONG_ROUNDOFF
from submin._typing import FloatArray, IndexArray, PointerArray
from submin.kernels.metric import HEAD, TAIL, project_hyperedge, project_slice
from submin.kernels.refusals import refuse_outside, refuse_pointers

__all__ = [
    "cardinality_excess",
    "group_counts",
    "groups_accumulate",
    "hyperedge_excess",
    "hyperedge_project",
    "hyperedge_sweep",
    "truncation_excess",
    "truncation_project",
    "truncation_sweep",
]


def groups_accumulate(members: IndexArray, y: FloatArray, s: FloatArray, scale: float) -> None:
    """Add ``scale`` times each value to the entry of ``s`` of its member. O(incidences).

    Refused out of range: members.
    """
    refuse_outside(members, s.size, "members")
    np.add.at(s, members, scale * y)


def group_counts(
    indptr: PointerArray,
    members: IndexArray,
    member: npt.NDArray[np.uint8],
    out: PointerArray,
    threads: int,
) -> None:
    """Write how many members of each group are in the set ``member``. O(incidences).

    Refused out of range: indptr, members.
    """
    refuse_pointers(indptr, members.size, "indptr")
    refuse_outside(members, member.size, "members")
    running = np.concatenate([[0], np.cumsum(member[members] != 0, dtype=np.int64)])
    out[:] = running[indptr[1:]] - running[indptr[:-1]]


def _parts(indptr: PointerArray, y: FloatArray) -> list[slice]:
    refuse_pointers(indptr, y.size, "indptr")
    return [slice(a, b) for a, b in pairwise(indptr.tolist())]


def _excess(largest: list[np.longdouble], magnitudes: list[float]) -> tuple[float, float]:
    """Sum what the groups exceed by; each takes up to a few sums of that magnitude."""
    total = float(np.sum(np.array(largest, dtype=np.longdouble)))
    return total, LONG_ROUNDOFF * float(sum(magnitudes)) + 2.0**-52 * total


def cardinality_excess(
    indptr: PointerArray, costs: FloatArray, y: FloatArray, threads: int
) -> tuple[float, float]:
    """Return the excess over g_i(|S|), O(k log k) for k members.

    ``costs`` has g_i(0), ..., g_i(k) of each group, one after the other. Refused out of range:
    indptr.
    """
    largest, magnitudes = [], []
    for group, part in enumerate(_parts(indptr, y)):
        sums = np.cumsum(np.concatenate([[0.0], -np.sort(-y[part])]), dtype=np.longdouble)
        start = part.start + group
        largest.append(np.max(sums - costs[start : start + sums.size]))
        magnitudes.append((sums.size + 1) * float(np.sum(np.abs(y[part]))))
    return _excess(largest, magnitudes)


def hyperedge_excess(
    indptr: PointerArray,
    roles: npt.NDArray[np.uint8],
    weights: FloatArray,
    y: FloatArray,
    threads: int,
) -> tuple[float, float]:
    """Return the excess over the functions of ``hyperedge_project``. O(incidences).

    The sets that cost nothing have no tail or all heads; all others cost w. Refused out of range:
    indptr.
    """
    role_of = np.broadcast_to(roles, y.shape)
    largest, magnitudes = [], []
    for part, weight in zip(_parts(indptr, y), weights, strict=True):
        values, role = y[part].astype(np.longdouble), role_of[part]
        positive = np.maximum(values, 0.0)
        without_tails = np.sum(positive[(role & TAIL) == 0])
        with_heads = np.sum(np.where(role & HEAD, values, positive))
        largest.append(max(without_tails, with_heads, np.sum(positive) - weight))
        magnitudes.append((values.size + 1) * float(np.sum(np.abs(values))))
    return _excess(largest, magnitudes)


def truncation_excess(
    indptr: PointerArray,
    modular: FloatArray,
    masses: FloatArray,
    caps: FloatArray,
    y: FloatArray,
    threads: int,
) -> tuple[float, float]:
    """Return the excess over modular(S) + min(masses(S), cap). O(incidences).

    The minimum is the smaller of two numbers, so the excess over it is the larger of those over
    masses(S) and over the cap, each largest for the members that add to it. Refused out of range:
    indptr.
    """
    largest, magnitudes = [], []
    for part, cap in zip(_parts(indptr, y), caps, strict=True):
        values = y[part].astype(np.longdouble) - modular[part]
        above = np.sum(np.maximum(values - masses[part], 0.0))
        largest.append(max(above, np.sum(np.maximum(values, 0.0)) - cap))
        magnitudes.append((values.size + 3) * float(np.sum(np.abs(values))))
    return _excess(largest, magnitudes)


def chosen(
    indptr: PointerArray, members: IndexArray, groups: IndexArray, s: FloatArray
) -> PointerArray:
    """Return the positions of the members of some groups; refuse numbers out of range."""
    refuse_pointers(indptr, members.size, "indptr")
    refuse_outside(groups, indptr.size - 1, "groups")
    parts = [np.arange(indptr[group], indptr[group + 1]) for group in groups]
    where = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
    refuse_outside(members[where], s.size, "members", where)
    return where


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
    """Project the groups ``groups`` of functions ``w (max over tails - min over heads)_+``.

    ``roles`` says of each member whether it is a tail (1), a head (2) or both (3); one entry of 3
    alone says so of all. ``weights`` has one entry per group. O(k) per evaluation of a
    piecewise-linear function of k knots, O(k log k) at worst. Refused out of range: indptr,
    members, groups.
    """
    chosen(indptr, members, groups, s)
    role_of, end = np.broadcast_to(roles, members.shape), 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        a = y[part] - s[members[part]] / c
        tails, heads = (role_of[part] & TAIL) != 0, (role_of[part] & HEAD) != 0
        begin, end = end, end + a.size
        weight = float(weights[group])
        out[begin:end] = project_hyperedge(a, np.ones(a.size), tails, heads, weight)


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
    """Project the groups ``groups`` with c = 1 in place and update ``s``.

    Refused out of range: indptr, members, groups.
    """
    where = chosen(indptr, members, groups, s)
    updated = np.empty(where.size)
    hyperedge_project(indptr, members, roles, weights, groups, y, s, 1.0, updated, threads)
    s[members[where]] += updated - y[where]
    y[where] = updated


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
    """Project the groups ``groups`` onto ``{lower <= y <= upper, sum of y = total}``.

    ``lower`` and ``upper`` have one entry per incidence, ``totals`` one per group, between the sums
    of both up to rounding. O(k) per evaluation of a piecewise-linear function of 2 k knots, O(k log
    k) at worst. Refused out of range: indptr, members, groups.
    """
    chosen(indptr, members, groups, s)
    end = 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        a = y[part] - s[members[part]] / c
        begin, end = end, end + a.size
        bounds, total = (lower[part], upper[part]), float(totals[group])
        out[begin:end] = project_slice(a, np.ones(a.size), *bounds, total)


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
    """Project the groups ``groups`` with c = 1 in place and update ``s``.

    Refused out of range: indptr, members, groups.
    """
    where = chosen(indptr, members, groups, s)
    updated = np.empty(where.size)
    truncation_project(indptr, members, lower, upper, totals, groups, y, s, 1.0, updated, threads)
    s[members[where]] += updated - y[where]
    y[where] = updated
