"""The part of the kernel contract for diagonal metrics; see ``protocol``."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, PointerArray

__all__ = ["MetricKernels"]


class MetricKernels(Protocol):
    """Projections of targets ``a``: the y that minimise ``sum (y - a)^2 / d``, d > 0, into ``out``.

    Group k has the entries ``pointers[k]:pointers[k + 1]`` of all arrays that have one entry for
    each member, and one entry of the others.
    """

    def weighted_cardinality(
        self,
        pointers: PointerArray,
        a: FloatArray,
        d: FloatArray,
        gains: FloatArray,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project functions g(|S|) with the given gains, O(k log k) for each split of k members."""

    def weighted_hyperedge(
        self,
        pointers: PointerArray,
        a: FloatArray,
        d: FloatArray,
        roles: npt.NDArray[np.uint8],
        weights: FloatArray,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project functions ``w (max over tails - min over heads)_+``, O(k log k)."""

    def weighted_truncation(
        self,
        pointers: PointerArray,
        a: FloatArray,
        d: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        totals: FloatArray,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project onto ``{lower <= y <= upper, sum of y = total}``, O(k log k)."""

    def weighted_chains(
        self,
        pointers: PointerArray,
        step: FloatArray,
        d: FloatArray,
        backward: FloatArray,
        forward: FloatArray,
        flow: FloatArray,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project chains, whose nodes the pointers divide, O(nodes).

        The target is ``y - step`` with the y of the flows; chain k has the edges ``pointers[k] -
        k : pointers[k + 1] - k - 1``, one fewer than nodes.
        """

    def weighted_table(
        self, a: FloatArray, d: FloatArray, values: FloatArray, out: FloatArray, threads: int
    ) -> None:
        """Project tables of k members, O(k 2**k).

        ``a``, ``d`` and ``out`` are (m, k), ``values`` is (m, 2**k), or one row for all.
        """
