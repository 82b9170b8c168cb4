"""A dual as a convex combination of a few points of the whole problem's base polytope.

B(F) is the sum of the base polytopes of all functions, moved by the unary.  Each point here is kept
twice: as its s = u + sum_i y_i, where the geometry takes place, and as the dual y itself, so that
the same weights give a dual of every term.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout


class Combination(NamedTuple):
    """Points, shape (m, n), their duals, one joined array in each row, and weights of sum 1.

    With d dual coordinates the memory is m (n + d) numbers.
    """

    points: FloatArray
    duals: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, layout: Layout, dual: Dual) -> Self:
        """Make the combination of one dual alone, which need not be a vertex."""
        return cls(layout.total(dual)[None], _joined(dual)[None], np.ones(1))

    def extended(self, layout: Layout, duals: Sequence[Dual]) -> Self:
        """Return the combination with more points, of weight 0."""
        return type(self)(
            np.vstack([self.points, *(layout.total(dual) for dual in duals)]),
            np.vstack([self.duals, *(_joined(dual) for dual in duals)]),
            np.append(self.weights, np.zeros(len(duals))),
        )

    def positive(self) -> Self:
        """Return the combination without the points of weight 0."""
        stay = self.weights > 0.0
        return self if stay.all() else type(self)(*(part[stay] for part in self))

    def dual(self, layout: Layout) -> Dual:
        """Return the dual that is the convex combination, one array for each term."""
        joined = self.weights @ self.duals
        stops = np.cumsum([0, *(term.size for term in layout.problem.terms)])
        return [joined[start:stop] for start, stop in pairwise(stops)]


def _joined(dual: Dual) -> FloatArray:
    return np.concatenate([np.zeros(0), *dual])
