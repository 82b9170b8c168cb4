"""Colouring: functions of one colour have pairwise disjoint supports."""

from __future__ import annotations

from submin._typing import IndexArray, PointerArray
from submin.kernels.refusals import MOST_INDICES, refuse_outside, refuse_pointers

__all__ = ["colour"]


def colour(pointers: PointerArray, members: IndexArray, colours: IndexArray) -> None:
    """Give each function the first colour that no earlier function on any of its elements has.

    Function i has the support ``members[pointers[i]:pointers[i + 1]]``; ``colours`` has one entry
    per function. O(incidences) expected, times the colours tried beyond the first free one of each
    element. Refused out of range: pointers, members.
    """
    refuse_pointers(pointers, members.size, "pointers")
    refuse_outside(members, MOST_INDICES, "members")
    taken: set[tuple[int, int]] = set()
    for i in range(pointers.size - 1):
        support = members[pointers[i] : pointers[i + 1]].tolist()
        candidate = 0
        while any((element, candidate) in taken for element in support):
            candidate += 1
        colours[i] = candidate
        taken.update((element, candidate) for element in support)
