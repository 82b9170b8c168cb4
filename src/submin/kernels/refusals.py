"""What the twins refuse: numbers out of range, and pointers and sizes that do not fit."""

from __future__ import annotations

import numpy as np

from submin._typing import IndexArray, PointerArray

MOST_INDICES = 2**31 - 1
"""Elements that numbers of 32 bits can tell apart."""


def refuse_outside(
    numbers: IndexArray, bound: int, name: str, places: IndexArray | PointerArray | None = None
) -> None:
    """Refuse the first number that is not one of 0, ..., bound - 1.

    They are all of the array ``name``, or those at ``places`` of it.

    >>> refuse_outside(np.array([0, 3], dtype=np.int32), 3, "heads")
    Traceback (most recent call last):
    ValueError: heads[1] = 3 is outside of 0, ..., 2
    """
    flat = numbers.ravel()
    outside = np.flatnonzero((flat < 0) | (flat >= bound))
    if outside.size:
        k = int(outside[0])
        place = k if places is None else int(places[k])
        raise ValueError(f"{name}[{place}] = {flat[k]} is outside of 0, ..., {bound - 1}")


def refuse_pointers(pointers: PointerArray, count: int, name: str) -> None:
    """Refuse pointers that do not lead from 0 to the last of ``count`` entries, never back."""
    if not pointers.size or pointers[0] != 0:
        raise ValueError(f"{name} must start with 0")
    if np.any(np.diff(pointers) < 0):
        raise ValueError(f"{name} must not decrease")
    if pointers[-1] != count:
        raise ValueError(f"{name} ends with {pointers[-1]}, expected {count}, all members")


def refuse_size(size: int, expected: int, name: str) -> None:
    """Refuse an array of another size.

    >>> refuse_size(2, 3, "flow")
    Traceback (most recent call last):
    ValueError: flow has size 2, expected 3
    """
    if size != expected:
        raise ValueError(f"{name} has size {size}, expected {expected}")
