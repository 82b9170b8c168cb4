"""Residual arcs: which elements go together wherever a dual leaves room.

At a dual y of a function F_i, an arc (u, v) of more than `room` says that every set T with u and
without v has

    F_i(T) - y_i(T) > room

which is the exchange capacity from u to v.  For an edge it is the residual capacity.  A group of k
elements has up to k^2 arcs; they are given by auxiliary nodes instead, whose arcs have the same
paths between elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from submin._sums import UNIT_ROUNDOFF
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray


class Arcs(NamedTuple):
    """Tails and heads of arcs; the auxiliary nodes 0, 1, ... are written as -1, -2, ..."""

    tails: IndexArray
    heads: IndexArray
    auxiliaries: int = 0

    def numbered(self, n: int) -> tuple[IndexArray, IndexArray]:
        """Return tails and heads with the auxiliary nodes numbered from n on."""
        if not self.auxiliaries:
            return self.tails, self.heads
        tails, heads = (
            np.where(ends < 0, n - 1 - ends, ends).astype(np.int32)
            for ends in (self.tails, self.heads)
        )
        return tails, heads


NO_ARCS = Arcs(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))


def joined(arcs: Sequence[Arcs]) -> Arcs:
    """Return all arcs of a list, with auxiliary nodes of their own."""
    some = [part for part in arcs if part.tails.size]
    if len(some) == 1:
        return some[0]
    tails, heads, count = [NO_ARCS.tails], [NO_ARCS.heads], 0
    for part in some:
        for ends, own in ((tails, part.tails), (heads, part.heads)):
            ends.append(own if not count else np.where(own < 0, own - np.int32(count), own))
        count += part.auxiliaries
    return Arcs(np.concatenate(tails), np.concatenate(heads), count)


def star(
    group_of: IndexArray, members: IndexArray, into: BoolArray, out: BoolArray, groups: int
) -> Arcs:
    """Return arcs from the members `into` a node for each group, and from it to those `out`."""
    tails = np.concatenate([members[into], -1 - group_of[out]])
    return Arcs(tails, np.concatenate([-1 - group_of[into], members[out]]), groups)


def count_arcs(members: IndexArray, values: FloatArray, y: FloatArray, room: float) -> Arcs:
    """Return the arcs of F(T) = g(|T|) with g(k) = values[k] at a dual y, O(m log m).

    With y_1 >= y_2 >= ..., a set T with u and without v, of k elements, has at least

        F(T) - y(T) >= g(k) - (y_1 + ... + y_k) + max(y_k - y_u, y_v - y_(k + 1), 0)

    so that only *tight* k, whose first part is within the room, can keep (u, v) from being an arc:
    where neither y_u < y_k nor y_v > y_(k + 1), by more than the room.  The former holds for the
    first tight k, as many as ``low[u]``, the latter for all but the first ``high[v]``; (u, v) is an
    arc if high[v] <= low[u].  Auxiliary node j leads to j - 1 and to the v of high[v] = j.
    """
    order = np.argsort(-y, kind="stable")
    values_at, sizes = y[order], float(np.sum(np.abs(y)) + np.max(np.abs(values)))
    least = room + 4.0 * y.size * UNIT_ROUNDOFF * sizes
    sums = np.cumsum(values_at)[:-1]
    tight = np.flatnonzero(values[1:-1] - sums <= least)  # 0-based: y_k is values_at[k]
    above, below = values_at[tight], values_at[tight + 1]
    low = np.searchsorted(-above, -(values_at + least), side="left")
    high = np.searchsorted(-below, -(values_at - least), side="right")
    nodes = np.arange(tight.size + 1)
    tails = np.concatenate([members[order], -1 - nodes[1:], -1 - high])
    heads = np.concatenate([-1 - low, -1 - nodes[:-1], members[order]])
    return Arcs(tails.astype(np.int32), heads.astype(np.int32), nodes.size)


def touched(pointers: PointerArray, members: IndexArray, near: BoolArray) -> PointerArray:
    """Return the groups of two members or more that have one in the mask `near`."""
    sizes = np.diff(pointers)
    marked = np.concatenate([[0], np.cumsum(near[members])])
    return np.flatnonzero((np.diff(marked[pointers]) > 0) & (sizes > 1))
