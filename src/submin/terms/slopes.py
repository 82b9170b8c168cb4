"""Concave functions of the cardinality as sums of truncations, one for each change of slope.

    g(j) = last * j + sum over changes of  drop * min(j, at)

Here ``last`` is the last slope, which falls by ``drop`` at ``at`` members (Stobbe & Krause 2010,
arXiv:1010.5511).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from submin import kernels
from submin._typing import FloatArray, PointerArray
from submin.terms.base.groups import GroupTerm, incidences, ranges
from submin.terms.concave_functions import TOLERANCE, largest, owners, turning_knots


class Turns(NamedTuple):
    """The changes of slope of concave functions, those of each group one after the other.

    At ``at`` members of group ``group`` the slope falls by ``drop``; ``last`` is the last slope of
    each group.
    """

    group: PointerArray
    at: PointerArray
    drop: FloatArray
    last: FloatArray


def changes_of_slope(values: FloatArray, pointers: PointerArray, exact: bool) -> Turns:
    """Find the changes of slope of the hulls, of values that are not `exact` those beyond rounding.

    Slopes are those between the changes, so that g is met there, and decrease.
    """
    if not values.size:
        return Turns(pointers[:-1], pointers[:-1], values, values)
    group = owners(pointers)
    counts = np.arange(values.size) - pointers[:-1][group]
    rounding = (0.0 if exact else 0.5 * TOLERANCE) * largest(np.abs(values), pointers)
    knots = turning_knots(counts.astype(np.float64), values, group, rounding)
    owner, inner = group[knots], np.diff(group[knots]) == 0
    slopes = np.diff(values[knots])[inner] / np.diff(counts[knots])[inner]
    reached, own = counts[knots][1:][inner], owner[1:][inner]
    last = np.zeros(pointers.size - 1)
    last[own] = slopes  # of several, the last one
    turns = np.flatnonzero(np.diff(own) == 0)
    return Turns(own[turns], reached[turns], (slopes[:-1] - slopes[1:])[turns], last)


def split(term: GroupTerm, turns: Turns, rest: FloatArray) -> FloatArray:
    """Split a dual less the last slopes among the truncations; `rest` is changed in place.

    What the earlier ones leave is projected on each.  Of all they could leave this is the least
    spread out, so that the later ones, functions of cardinalities too, have it in their base
    polytopes whenever they can.  O(k) for each of k members.
    """
    group, at, drop, _ = turns
    sizes = np.diff(term.pointers)[group]
    stops = np.cumsum(sizes)
    rank = np.arange(group.size) - np.searchsorted(group, group)
    order, flow = np.argsort(rank, kind="stable"), np.zeros(int(sizes.sum()))
    zero, upper, totals = np.zeros(term.size), np.zeros(term.size), np.zeros(term.pointers.size - 1)
    for stars in np.split(order, np.cumsum(np.bincount(rank))[:-1]) if group.size else []:
        groups, own = group[stars].astype(np.int32), incidences(term.pointers, group[stars])
        upper[own], totals[groups] = np.repeat(drop[stars], sizes[stars]), drop[stars] * at[stars]
        part = np.empty(own.size)
        kernels.active.truncation_project(
            term.pointers, term.members, zero, upper, totals, groups, rest,
            np.zeros(term.elements), 1.0, part, 1,
        )  # fmt: skip
        flow[ranges((stops - sizes)[stars], sizes[stars])] = part
        rest[own] -= part
    return flow
