"""Exchange capacities: how much of a dual can move between two elements inside one function.

    c_i(u, v) = min {F_i(S) - y_i(S) : u in S, v not in S}

is the largest amount by which y_i(u) can grow and y_i(v) fall while y_i stays in B(F_i)
(Fujishige 2005, Submodular Functions and Optimization, Section 2.3).  It is the residual capacity
of the arc (u, v) of function i in the flow networks of combinatorial algorithms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from submin._typing import FloatArray, IndexArray, PointerArray


class Arcs(NamedTuple):
    """Arcs from one element: their heads, the numbers of their functions, their capacities."""

    heads: IndexArray
    functions: PointerArray
    capacities: FloatArray


class Exchanges(ABC):
    """The exchange capacities of a term's functions at a feasible dual.

    Attributes
    ----------
    dual : float array
        The term's dual, which ``push`` changes in place.
    count : int
        The functions are numbered below this.
    """

    dual: FloatArray
    count: int

    @abstractmethod
    def arcs(self, element: int) -> Arcs:
        """Return all arcs of positive capacity from an element, and maybe others."""

    @abstractmethod
    def push(self, function: int, tail: int, head: int, amount: float) -> IndexArray:
        """Add `amount` to y_i(tail) and take it from y_i(head), in place.

        Returns the support of the function: the arcs of all other elements are as before.
        """


class Incidence:
    """Where each element occurs in a list of elements, O(entries log entries) to build."""

    def __init__(self, members: IndexArray) -> None:
        self._order = np.argsort(members, kind="stable")
        self._stops = np.cumsum(np.bincount(members))

    def entries(self, element: int) -> PointerArray:
        """Return the positions of an element, in increasing order."""
        if element >= self._stops.size:
            return self._order[:0]
        start = self._stops[element - 1] if element else 0
        return self._order[start : self._stops[element]]


class EdgeExchanges(Exchanges):
    """Edges that carry a flow t: t can grow up to `forward`, and fall down to -`backward`."""

    def __init__(
        self,
        tails: IndexArray,
        heads: IndexArray,
        forward: FloatArray,
        backward: FloatArray,
        dual: FloatArray,
    ) -> None:
        self.tails, self.heads, self.dual, self.count = tails, heads, dual, tails.size
        self.forward, self.backward = forward, backward
        self.incidence = Incidence(np.concatenate([tails, heads]))

    def arcs(self, element: int) -> Arcs:
        """Return the arc to the other end of each edge at an element, O(its edges)."""
        entries = self.incidence.entries(element)
        edges, outward = entries % max(self.count, 1), entries < self.count
        flow = self.dual[edges]
        others = np.where(outward, self.heads[edges], self.tails[edges])
        room = np.where(outward, self.forward[edges] - flow, self.backward[edges] + flow)
        return Arcs(others, edges, room)

    def push(self, function: int, tail: int, head: int, amount: float) -> IndexArray:
        """Change the flow of one edge."""
        self.dual[function] += amount if self.tails[function] == tail else -amount
        return np.array([tail, head], dtype=np.int32)


class GroupExchanges(Exchanges):
    """Functions of groups in CSR form with one dual value for each member."""

    def __init__(self, pointers: PointerArray, members: IndexArray, dual: FloatArray) -> None:
        self.pointers, self.members, self.dual = pointers, members, dual
        self.count = pointers.size - 1
        self.incidence = Incidence(members)

    @abstractmethod
    def capacities(self, group: int, slots: slice, place: int) -> FloatArray:
        """Return the capacities from one member of a group to each; its own entry has no meaning.

        `slots` are the places of the group among all members, `place` is that of the member inside.
        """

    def arcs(self, element: int) -> Arcs:
        """Return the arcs to all other members of the groups of an element."""
        entries = self.incidence.entries(element)
        groups = np.searchsorted(self.pointers, entries, side="right") - 1
        parts = [Arcs(self.members[:0], groups[:0], self.dual[:0])]
        for entry, group in zip(entries.tolist(), groups.tolist(), strict=True):
            slots = self._slots(group)
            others = self.members[slots] != element
            room = self.capacities(group, slots, entry - slots.start)[others]
            functions = np.full(room.size, group, dtype=np.int64)
            parts.append(Arcs(self.members[slots][others], functions, room))
        return Arcs(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def push(self, function: int, tail: int, head: int, amount: float) -> IndexArray:
        """Change two values of one group."""
        slots = self._slots(function)
        support, part = self.members[slots], self.dual[slots]
        part[support == tail] += amount
        part[support == head] -= amount
        return support

    def _slots(self, group: int) -> slice:
        return slice(int(self.pointers[group]), int(self.pointers[group + 1]))
