"""Level sets of a proximal point: candidates for the minimiser, all of them in one sorted sweep.

Adding the elements in decreasing order of x, Edmonds' greedy vertex g of F gives the value of every
level set as a running sum, and the Lovász extension as f(x) = <g, x>.

With precedences, the finite part of F has the vertex, and only sets that are closed count: the
level sets of an isotonic x, which may be raised for it (``Problem.isotonic``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from submin import kernels
from submin._orders import ranks
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.solve.layout import Layout


class LevelSet(NamedTuple):
    """The best level set of x, as a flat mask, f(x) of the problem with finite unaries, and x."""

    members: BoolArray
    lovasz: float
    x: FloatArray


def best_level_set(layout: Layout, x: FloatArray) -> LevelSet:
    """Return the smallest of the best sets among all prefixes of the decreasing order of x.

    The order starts with the largest x; ties are added one by one, which only adds candidates, or
    all at once where there are precedences, for which x is raised.  Complexity O(n log n + greedy).
    """
    ordered = layout.problem.precedences.tails.size > 0
    if ordered:
        x = layout.problem.isotonic(x)
    rank = ranks(x)
    vertex = layout.unary.copy()
    for term in layout.problem.terms:
        term.accumulate(term.finite_part().greedy(rank), vertex)
    count = kernels.active.best_prefix(rank, _together(rank, x, vertex) if ordered else vertex)
    return LevelSet(rank < count, float(vertex @ x), x)


def _together(rank: IndexArray, x: FloatArray, gains: FloatArray) -> FloatArray:
    """Return gains of which the last element of each level has all, and the others none, O(n)."""
    order = np.empty_like(rank)
    order[rank] = np.arange(rank.size, dtype=rank.dtype)
    first = np.flatnonzero(np.diff(x[order], prepend=np.inf))
    sums, joined = np.add.reduceat(gains[order], first), np.zeros_like(gains)
    joined[order[np.append(first[1:], rank.size) - 1]] = sums
    return joined
