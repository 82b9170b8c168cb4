"""Minors: what is left of a family when elements are fixed in S or out of it.

With the elements of A fixed in S and those of B out of it, a set S of the free elements costs

    F'(S) = F(S ∪ A) = constant + modular(S) + terms(S),   constant = F(A)

which is the contraction of F by A, restricted to the free elements: submodular again.  Functions
that keep free elements stay functions of these; others become constants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from submin._lazy import lazy
from submin._typing import BoolArray, IndexArray


@dataclass(frozen=True, eq=False)
class Fixing:
    """The elements fixed in S and out of it: disjoint flat masks, shape (n,)."""

    inside: BoolArray
    outside: BoolArray

    def joined(self, other: Fixing) -> Fixing:
        """Return what either fixes; what they fix on different sides is inside."""
        inside = self.inside | other.inside
        return Fixing(inside, (self.outside | other.outside) & ~inside)

    @lazy
    def free(self) -> BoolArray:
        """Flat mask of the other elements, shape (n,)."""
        free: BoolArray = ~(self.inside | self.outside)
        return free

    @lazy
    def side(self) -> npt.NDArray[np.int8]:
        """1 for elements inside, -1 for those outside, 0 for the free ones, shape (n,)."""
        return self.inside.astype(np.int8) - self.outside.astype(np.int8)

    @lazy
    def elements(self) -> IndexArray:
        """The free elements in increasing order, shape (n',)."""
        return np.flatnonzero(self.free).astype(np.int32)

    @lazy
    def number(self) -> IndexArray:
        """The place of each element among the free ones, -1 if it is fixed, shape (n,)."""
        number = np.full(self.free.size, -1, dtype=np.int32)
        number[self.elements] = np.arange(self.elements.size, dtype=np.int32)
        return number
