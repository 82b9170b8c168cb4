"""The part of the kernel contract for sums over whole arrays, in any order or a given one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray

__all__ = ["SumKernels"]

OffsetArray = npt.NDArray[np.int64]


class SumKernels(Protocol):
    """Sums whose results do not depend on ``threads``, and whose rounding errors are known.

    A grid is given by its ``shape`` and by ``offsets``, one row per offset; the edges of an offset
    are numbered in C order of the overlap of the grid with its shifted copy.
    """

    def compensated_sum(self, values: FloatArray, threads: int) -> float:
        """Return the sum of a flat array, its error at most ``_sums.sum_error``. O(n)."""

    def absolute_sum(self, values: FloatArray, threads: int) -> float:
        """Return the sum of magnitudes, to the same accuracy. O(n)."""

    def sum_of_squares(self, values: FloatArray, threads: int) -> float:
        """Return ||values||^2, to the same accuracy but for the rounding of the squares. O(n)."""

    def negative_sum(self, values: FloatArray, threads: int) -> float:
        """Return the sum of min(0, value), to the same accuracy. O(n)."""

    def nonnegative_sum(self, values: WeightArray, threads: int) -> float:
        """Return the sum, to the same accuracy, or NaN if a value is negative or NaN. O(n)."""

    def sum_within(self, values: FloatArray, member: npt.NDArray[np.uint8], threads: int) -> float:
        """Return the sum over the entries whose ``member`` is not 0, likewise. O(n)."""

    def extrapolate(self, before: FloatArray, now: FloatArray, beta: float, threads: int) -> None:
        """Replace ``before`` by ``now + beta (now - before)``. O(n)."""

    def edges_excess(
        self, backward: WeightArray, forward: WeightArray, flow: FloatArray, threads: int
    ) -> float:
        """Return sum_e max(0, t - forward) + max(0, -backward - t). O(edges).

        Weights of size 1 hold for all edges.
        """

    def edges_accumulate(
        self,
        tails: IndexArray,
        heads: IndexArray,
        flow: FloatArray,
        s: FloatArray,
        scale: float,
    ) -> None:
        """Add ``scale`` times the flow out of each node to ``s``, in place. O(edges)."""

    def edges_cut_value(
        self,
        tails: IndexArray,
        heads: IndexArray,
        backward: WeightArray,
        forward: WeightArray,
        member: npt.NDArray[np.uint8],
        threads: int,
    ) -> float:
        """Return the weight of the edges that a set cuts, a compensated sum. O(edges).

        As ``grid_cut_value``, for one list of edges.
        """

    def grid_accumulate(
        self,
        shape: PointerArray,
        offsets: OffsetArray,
        flow: FloatArray,
        s: FloatArray,
        scale: float,
        threads: int,
    ) -> None:
        """Add ``scale`` times the flow out of each node to ``s``, in place. O(edges).

        ``flow`` has the edges of all offsets, one offset after the other.
        """

    def grid_greedy(
        self,
        shape: PointerArray,
        offsets: OffsetArray,
        backward: Sequence[WeightArray],
        forward: Sequence[WeightArray],
        rank: IndexArray,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Write the flows of the greedy vertex: all ``forward``, or all of minus ``backward``.

        Forward where the tail has the smaller rank; weights as for ``grid_cut_value``. O(edges).
        """

    def grid_inspect(
        self,
        shape: PointerArray,
        offsets: OffsetArray,
        backward: Sequence[WeightArray],
        forward: Sequence[WeightArray],
        flow: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> tuple[float, float]:
        """Add the flow out of each node to ``s``; return the excess and sum_e |t|. O(edges).

        The excess is that of ``edges_excess``, over all offsets; the weights are given as to
        ``grid_cut_value``.
        """

    def grid_cut_value(
        self,
        shape: PointerArray,
        offsets: OffsetArray,
        backward: Sequence[WeightArray],
        forward: Sequence[WeightArray],
        member: npt.NDArray[np.uint8],
        threads: int,
    ) -> float:
        """Return the weight of the edges that a set cuts, a compensated sum. O(edges).

        ``forward`` counts where the tail is in the set and the head is not, ``backward`` the other
        way round; one array per offset, of size 1 where one weight holds for all its edges.
        """

    def descending_ranks(self, values: FloatArray, out: IndexArray) -> None:
        """Write the place of each number when they descend; equal ones keep their order. O(n)."""

    def best_prefix(self, rank: IndexArray, gains: FloatArray) -> int:
        """Return how many elements, added by their ranks, have the least sum of gains. O(n).

        The fewest such, and 0 if no sum is below 0; the sums are compensated.
        """
