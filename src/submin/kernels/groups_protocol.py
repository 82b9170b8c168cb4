"""The part of the kernel contract for groups with one dual value for each member."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray

__all__ = ["GroupKernels"]


class GroupKernels(Protocol):
    """Sums over all groups, and projections of hyperedges and truncations (see ``protocol``).

    Group i has the members ``members[indptr[i]:indptr[i + 1]]``; ``groups`` selects the block's
    groups, whose members are disjoint; ``out`` concatenates their results.

    An excess is sum_i max_S (y_i(S) - F_i(S)) over all groups, with a bound on its rounding error;
    ``y`` has one entry per incidence. It is infinite or NaN if numbers overflow.
    """

    def groups_accumulate(
        self, members: IndexArray, y: FloatArray, s: FloatArray, scale: float
    ) -> None:
        """Add ``scale`` times each value to the entry of ``s`` of its member. O(incidences)."""

    def group_counts(
        self,
        indptr: PointerArray,
        members: IndexArray,
        member: npt.NDArray[np.uint8],
        out: PointerArray,
        threads: int,
    ) -> None:
        """Write how many members of each group are in the set ``member``. O(incidences)."""

    def cardinality_excess(
        self, indptr: PointerArray, costs: FloatArray, y: FloatArray, threads: int
    ) -> tuple[float, float]:
        """Return the excess over g_i(|S|), O(k log k) for k members.

        ``costs`` has g_i(0), ..., g_i(k) of each group, one after the other.
        """

    def hyperedge_excess(
        self,
        indptr: PointerArray,
        roles: npt.NDArray[np.uint8],
        weights: FloatArray,
        y: FloatArray,
        threads: int,
    ) -> tuple[float, float]:
        """Return the excess over the functions of ``hyperedge_project``. O(incidences).

        The sets that cost nothing have no tail or all heads; all others cost w.
        """

    def truncation_excess(
        self,
        indptr: PointerArray,
        modular: FloatArray,
        masses: FloatArray,
        caps: FloatArray,
        y: FloatArray,
        threads: int,
    ) -> tuple[float, float]:
        """Return the excess over modular(S) + min(masses(S), cap). O(incidences).

        The minimum is the smaller of two numbers, so the excess over it is the larger of those
        over masses(S) and over the cap, each largest for the members that add to it.
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
