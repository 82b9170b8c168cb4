"""Contractions that keep every cut below a bound, and the check that they do.

A step contracts nodes of the graph that the steps before it left.  If none of them is separated by
a cut below the bound, and one node is left in the end, then no cut of the graph is below the bound.

An order v_1, v_2, ... with keys r_j, the weight of v_j to those before it, proves that no cut below
min(bound, r_j) separates v_(j-1) from v_j, if at every place i no later node w has more weight to
the nodes before place i than r_i, where weights from the bound on count as the bound.  (With the
weights of each node cut off where they reach the bound, it is a maximum adjacency order; and v_j
would be the last node of one, if those after it were not there.)

An absorption moves nodes v to partners u, none of which moves itself.  The edge from v to u has at
least half the degree of v, and v has a degree of at least the bound.  A cut below the bound does
not leave v alone on a side, and moving each v to the side of its u makes it no larger: so if
there is one, there is one that separates no v from its u.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray

HALF = 27
"""Bits of the lower halves of units, of which sums are taken apart from the upper halves."""


class _Sums(NamedTuple):
    """Exact sums of units: upper halves, and the lower ones without what carries over."""

    upper: PointerArray
    lower: PointerArray

    @classmethod
    def of(cls, upper: PointerArray, lower: PointerArray) -> _Sums:
        """Carry over."""
        return cls(upper + (lower >> HALF), lower & (2**HALF - 1))

    def doubled(self) -> _Sums:
        """Return twice the sums."""
        return _Sums.of(2 * self.upper, 2 * self.lower)

    def at_least(self, other: _Sums) -> BoolArray:
        """Compare."""
        same = self.upper == other.upper
        more: BoolArray = (self.upper > other.upper) | (same & (self.lower >= other.lower))
        return more

    def up_to(self, bound: int) -> PointerArray:
        """Return the sums, or a bound below 2^54 where they are more."""
        whole: PointerArray = (np.minimum(self.upper, 2**HALF) << HALF) + self.lower
        return np.minimum(whole, bound)


class Edges(NamedTuple):
    """Edges between the nodes that are left, and their weights in halves."""

    nodes: int
    tails: IndexArray
    heads: IndexArray
    upper: PointerArray
    lower: PointerArray

    def both_ways(self) -> Edges:
        """Return every edge from either end."""
        ends = self.tails, self.heads
        tails, heads = np.concatenate(ends), np.concatenate(ends[::-1])
        return Edges(self.nodes, tails, heads, np.tile(self.upper, 2), np.tile(self.lower, 2))

    def selected(self, chosen: BoolArray) -> Edges:
        """Return some of the edges."""
        return Edges(
            self.nodes,
            self.tails[chosen],
            self.heads[chosen],
            self.upper[chosen],
            self.lower[chosen],
        )

    def sums(self, groups: IndexArray, size: int) -> _Sums:
        """Return the weight of each group of edges."""
        upper, lower = np.zeros((2, size), dtype=np.int64)
        np.add.at(upper, groups, self.upper)
        np.add.at(lower, groups, self.lower)
        return _Sums.of(upper, lower)


class Order(NamedTuple):
    """Nodes in an order, and whether each one joins the node before it."""

    nodes: IndexArray
    joins: BoolArray

    def labels(self, count: int) -> IndexArray:
        """Return the new number of each node."""
        labels = np.empty(count, dtype=np.int32)
        labels[self.nodes] = np.cumsum(np.r_[0, ~self.joins[1:]])
        return labels

    def fault(self, edges: Edges, bound: int) -> str:
        """Say why a cut below the bound might separate what the step joins, or nothing."""
        if not np.array_equal(np.sort(self.nodes), np.arange(edges.nodes)):
            return "does not have every node once"
        place = np.empty(edges.nodes, dtype=np.int64)
        place[self.nodes] = np.arange(edges.nodes)
        first = np.minimum(place[edges.tails], place[edges.heads])
        second = np.maximum(place[edges.tails], place[edges.heads])
        order = np.lexsort((first, second))
        first, second = first[order], second[order]
        so_far = _running_sums(second, edges.upper[order], edges.lower[order]).up_to(bound)
        keys = np.zeros(edges.nodes, dtype=np.int64)
        keys[second] = so_far  # the last one of each node stays
        if np.any(_least_within(keys, first + 1, second) < so_far):
            return "is no maximum adjacency order"
        return "" if np.all(keys[1:][self.joins[1:]] >= bound) else "joins nodes of too small a key"


class Absorption(NamedTuple):
    """Nodes that move, and the partners that they join."""

    movers: IndexArray
    partners: IndexArray

    def labels(self, count: int) -> IndexArray:
        """Return the new number of each node."""
        labels = np.ones(count, dtype=np.int32)
        labels[self.movers] = 0
        labels = (np.cumsum(labels) - 1).astype(np.int32)
        labels[self.movers] = labels[self.partners]
        return labels

    def fault(self, edges: Edges, bound: int) -> str:
        """Say why a cut below the bound might separate what the step joins, or nothing."""
        moves = np.zeros(edges.nodes, dtype=np.bool_)
        moves[self.movers] = True
        if np.count_nonzero(moves) < self.movers.size or np.any(moves[self.partners]):
            return "moves a node twice, or to a node that moves itself"
        partner = np.full(edges.nodes, -1, dtype=np.int32)
        partner[self.movers] = self.partners
        both = edges.both_ways()
        degree = both.sums(both.tails, edges.nodes)
        along = both.selected(partner[both.tails] == both.heads)
        heavy = along.sums(along.tails, edges.nodes)
        if not np.all(degree.up_to(bound)[moves] >= bound):
            return "moves a node of too small a degree"
        if not np.all(heavy.doubled().at_least(degree)[moves]):
            return "moves a node along an edge of less than half its degree"
        return ""


Step: TypeAlias = Order | Absorption


def first_unproved(
    steps: Sequence[Step],
    tails: IndexArray,
    heads: IndexArray,
    units: FloatArray,
    bound: float,
    nodes: int,
) -> str:
    """Say which step may contract nodes that a cut below the bound separates, or nothing."""
    whole = units.astype(np.int64)
    labels, count = np.arange(nodes, dtype=np.int32), nodes
    for number, step in enumerate(steps):
        between = np.flatnonzero(labels[tails] != labels[heads])
        own = whole[between]
        edges = Edges(
            count, labels[tails[between]], labels[heads[between]],
            own >> HALF, own & (2**HALF - 1),
        )  # fmt: skip
        if fault := step.fault(edges, int(bound)):
            return f"step {number} {fault}"
        labels = step.labels(count)[labels]
        count = int(labels.max()) + 1
    return "" if count == 1 else f"{count} nodes are left after all steps"


def _running_sums(groups: PointerArray, upper: PointerArray, lower: PointerArray) -> _Sums:
    """Return the sums from the first of each run of equal groups on."""
    starts = np.searchsorted(groups, groups)
    parts = [np.concatenate([[0], np.cumsum(values)]) for values in (upper, lower)]
    return _Sums.of(*(part[1:] - part[starts] for part in parts))


def _least_within(keys: PointerArray, begin: PointerArray, end: PointerArray) -> PointerArray:
    """Return the least key from `begin` to `end`, both included, O((keys + queries) log keys)."""
    level = np.frexp(end - begin + 1.0)[1] - 1
    least, table, width = np.empty(begin.size, dtype=np.int64), keys, 1
    for k in range(int(level.max(initial=-1)) + 1):
        own = level == k
        least[own] = np.minimum(table[begin[own]], table[end[own] - width + 1])
        table, width = np.minimum(table[:-width], table[width:]), 2 * width
    return least
