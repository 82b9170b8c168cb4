"""The part of the kernel contract for hyperedges and truncations; see ``protocol``."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray

__all__ = ["GroupKernels"]


class GroupKernels(Protocol):
    """Projections of groups whose dual has one value for each member.

    Group i has the members ``members[indptr[i]:indptr[i + 1]]``; ``groups`` selects the block's
    groups, whose members are disjoint; ``out`` concatenates their results.
    """

    def hyperedge_project(
        self,
        indptr: PointerArray,
        members: IndexArray,
        roles: npt.NDArray[np.uint8],
        weights: FloatArray,
        groups: IndexArray,
        y: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project the groups ``groups`` of functions ``w (max over tails - min over heads)_+``.

        ``roles`` says of each member whether it is a tail (1), a head (2) or both (3); one entry
        of 3 alone says so of all. ``weights`` has one entry per group. O(k) per evaluation of a
        piecewise-linear function of k knots, O(k log k) at worst.
        """

    def hyperedge_sweep(
        self,
        indptr: PointerArray,
        members: IndexArray,
        roles: npt.NDArray[np.uint8],
        weights: FloatArray,
        groups: IndexArray,
        y: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> None:
        """Project the groups ``groups`` with c = 1 in place and update ``s``."""

    def truncation_project(
        self,
        indptr: PointerArray,
        members: IndexArray,
        lower: FloatArray,
        upper: FloatArray,
        totals: FloatArray,
        groups: IndexArray,
        y: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project the groups ``groups`` onto ``{lower <= y <= upper, sum of y = total}``.

        ``lower`` and ``upper`` have one entry per incidence, ``totals`` one per group, between the
        sums of both up to rounding. O(k) per evaluation of a piecewise-linear function of 2 k
        knots, O(k log k) at worst.
        """

    def truncation_sweep(
        self,
        indptr: PointerArray,
        members: IndexArray,
        lower: FloatArray,
        upper: FloatArray,
        totals: FloatArray,
        groups: IndexArray,
        y: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> None:
        """Project the groups ``groups`` with c = 1 in place and update ``s``."""
