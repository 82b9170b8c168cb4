"""Level sets of a proximal point: candidates for the minimiser, all of them in one sorted sweep.

Adding the elements in decreasing order of x, Edmonds' greedy vertex g of F gives the value of every
level set as a running sum, and the Lovász extension as f(x) = <g, x>.
"""

from __future__ import annotations

from typing import NamedTuple

from submin import kernels
from submin._orders import ranks
from submin._typing import BoolArray, FloatArray
from submin.solve.layout import Layout


class LevelSet(NamedTuple):
    """The best level set of x, as a flat mask, and f(x) of the problem with finite unaries."""

    members: BoolArray
    lovasz: float


def best_level_set(layout: Layout, x: FloatArray) -> LevelSet:
    """Return the smallest of the best sets among all prefixes of the decreasing order of x.

    The order starts with the largest x; ties are added one by one, which only adds candidates.
    Complexity O(n log n + greedy).
    """
    rank = ranks(x)
    vertex = layout.unary.copy()
    for term in layout.problem.terms:
        term.accumulate(term.greedy(rank), vertex)
    count = kernels.active.best_prefix(rank, vertex)
    return LevelSet(rank < count, float(vertex @ x))
