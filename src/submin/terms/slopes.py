"""Concave functions of the cardinality as sums of truncations, one for each change of slope.

    g(j) = last * j + sum over changes of  drop * min(j, at)

Here ``last`` is the last slope, which falls by ``drop`` at ``at`` members (Stobbe & Krause 2010,
arXiv:1010.5511).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from submin import kernels
from submin._sums import UNIT_ROUNDOFF
from submin._typing import FloatArray, PointerArray
from submin.terms.groups import incidences, ranges

if TYPE_CHECKING:
    from submin.terms.cardinality import Cardinality


class Turns(NamedTuple):
    """The changes of slope of concave functions, those of each group one after the other.

    At ``at`` members of group ``group`` the slope falls by ``drop``; ``last`` is the last slope of
    each group.
    """

    group: PointerArray
    at: PointerArray
    drop: FloatArray
    last: FloatArray


def changes_of_slope(term: Cardinality) -> Turns:
    """Find the changes of slope, of data without a granularity those beyond rounding.

    Slopes are those between the changes, so that g is met there.  Where leaving changes out would
    move g by more than rounding, all of them are kept.
    """
    values, starts = term.values, term.value_pointers[:-1]
    if not starts.size:
        return Turns(starts, starts, values, values)
    exact = term.granularity() > 0.0
    rounding = (0.0 if exact else 8.0 * UNIT_ROUNDOFF) * np.maximum.reduceat(np.abs(values), starts)
    knots = _knots(term, rounding)
    if not exact:
        met = np.interp(np.arange(values.size), knots, values[knots])
        moved = np.maximum.reduceat(np.abs(met - values), starts) > 2.0 * rounding
        knots = _knots(term, np.where(moved, 0.0, rounding))
    group = np.searchsorted(starts, knots, side="right") - 1
    inner, counts = np.diff(group) == 0, knots - starts[group]
    slopes = np.diff(values[knots])[inner] / np.diff(knots)[inner]
    owner, reached = group[1:][inner], counts[1:][inner]
    last = np.zeros(starts.size)
    last[owner] = slopes  # of several, the last one
    drop = slopes[:-1] - slopes[1:]
    turns = np.flatnonzero((np.diff(owner) == 0) & (drop > 0.0))
    return Turns(owner[turns], reached[turns], drop[turns], last)


def _knots(term: Cardinality, rounding: FloatArray) -> PointerArray:
    """Return where in the tables g begins, ends, or turns by more than `rounding` of its group."""
    group = term.group_of[:-1].astype(np.int64)
    turns = term.gains[:-1] - term.gains[1:] > rounding[group]
    inner = np.flatnonzero(turns & (group == term.group_of[1:]))
    marked = np.zeros(term.values.size, dtype=np.bool_)
    for at in (term.value_pointers[:-1], term.value_pointers[1:] - 1, inner + group[inner] + 1):
        marked[at] = True
    return np.flatnonzero(marked)


def split(term: Cardinality, rest: FloatArray) -> FloatArray:
    """Split a dual less the last slopes among the truncations; `rest` is changed in place.

    What the earlier ones leave is projected on each.  Of all they could leave this is the least
    spread out, so that the later ones, functions of cardinalities too, have it in their base
    polytopes whenever they can.  O(k) for each of k members.
    """
    group, at, drop, _ = term.turns
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
