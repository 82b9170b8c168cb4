"""Greedy colouring: functions of one colour have pairwise disjoint supports and form a block."""

from __future__ import annotations

import numpy as np

from submin import kernels
from submin._typing import IndexArray, PointerArray


def colour_classes(pointers: PointerArray, members: IndexArray) -> list[IndexArray]:
    """Split functions into classes of pairwise disjoint supports.

    Each function takes the first colour that no earlier function on any of its elements has, so a
    graph of largest degree d needs at most 2d - 1 colours, and disjoint supports need one.

    Parameters
    ----------
    pointers : int64 array, shape (functions + 1,)
        Function i has the support ``members[pointers[i]:pointers[i + 1]]``.
    members : int32 array
        The supports, one after the other.

    Returns
    -------
    list of int32 arrays
        The numbers of the functions in each class, in increasing order; together all functions.
    """
    functions = pointers.size - 1
    colours = np.empty(functions, dtype=np.int32)
    kernels.active.colour(pointers, members, colours)
    order = np.argsort(colours, kind="stable").astype(np.int32)
    if not functions:
        return []
    return np.split(order, np.cumsum(np.bincount(colours))[:-1])
