"""The block of a function that is given by the user's own code, without a table of its values."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from submin._typing import FloatArray, IndexArray
from submin.terms.base.term import Block
from submin.terms.blocks.minimum_norm_point import Corral, nearest_point


class GreedyFunction(Protocol):
    """A function with its support, and greedy vertices by the order of its elements."""

    support: IndexArray
    size: int
    corral: Corral | None
    """The last one, from which a later solve may start."""

    def checked_vertex(self, x: FloatArray) -> FloatArray:
        """Return the greedy vertex that maximises <x, y>, for x on the support."""


class FunctionBlock(Block):
    """A function that is projected by the minimum-norm point algorithm.

    The corral of one projection starts the next, so the last bits depend on the calls before; each
    solve makes its own blocks and therefore repeats bit by bit.
    """

    slots: Any = slice(None)

    def __init__(self, function: GreedyFunction) -> None:
        self.function, self.size = function, function.size
        self.corral: Corral | None = None

    def support(self) -> IndexArray:
        """Return the support of the function."""
        return self.function.support

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Return the point of B(F) nearest to y - s / c: a convex combination of vertices."""
        target = dual - s[self.function.support] / c
        self.corral = nearest_point(self.function.checked_vertex, target, self.corral)
        self.function.corral = self.corral
        return self.corral.point

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return the nearest point after a change of scale: sqrt(w) y lies in sqrt(w) B(F)."""
        function, support = self.function, self.function.support
        root = np.sqrt(weights[support])
        known = None
        if self.corral is not None:
            known = Corral(root * self.corral.vertices, self.corral.weights)
        vertices, shares = nearest_point(
            lambda x: root * function.checked_vertex(root * x),
            root * (dual - step[support]),
            known,
        )
        self.corral = function.corral = Corral(vertices / root, shares)
        return self.corral.point

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add each value to its element, O(k)."""
        s[self.function.support] += scale * part
