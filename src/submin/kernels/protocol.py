"""The kernel contract: what a kernel set (NumPy, native, one day a GPU) offers to the terms.

Conventions shared by every function:

* all arrays are C-contiguous; values are float64, node, edge, group and table numbers int32,
  pointers int64;
* weights of edges are float64, or float32 and widened when they are read; ``backward`` and
  ``forward`` have the same type unless one of them, then float64, has one weight for all edges;
* ``s = u + sum_i y_i`` is the n-vector of node sums; a *project* writes ``Proj_B(y - s / c)`` to
  ``out`` and changes neither y nor s; a *sweep* is the projection with ``c = 1``, in place, with
  ``s`` kept up to date;
* the dual of a cut is one value t for each edge, within its capacities; the arrays of these values
  are called ``flow``, and are a pseudoflow: nothing makes it conserve, and the net flow out of a
  node is what it adds to ``s``;
* a block's functions have pairwise disjoint supports, so that its projection splits into
  independent ones and the result does not depend on ``threads`` (0 or less: every core);
* ``out`` lists the block's entries in block order and must not overlap any input;
* ``ValueError`` is raised for sizes that do not fit together, ``TypeError`` for a wrong dtype or
  layout. The *contents* of index arrays are trusted: the constructors of the terms check their
  ranges once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray
from submin.kernels.chains_protocol import ChainKernels
from submin.kernels.groups_protocol import GroupKernels
from submin.kernels.metric_protocol import MetricKernels
from submin.kernels.networks_protocol import NetworkKernels
from submin.kernels.sums_protocol import OffsetArray, SumKernels

__all__ = ["KernelSet"]


class KernelSet(ChainKernels, GroupKernels, MetricKernels, NetworkKernels, SumKernels, Protocol):
    """The functions that every kernel set provides."""

    def edges_project(
        self,
        tails: IndexArray,
        heads: IndexArray,
        backward: WeightArray,
        forward: WeightArray,
        edges: IndexArray,
        flow: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project a matching of a graph's edges: ``out[k]`` is the new value of edge ``edges[k]``.

        Edge e has the value ``t = flow[e]``, adds ``t`` to ``s[tails[e]]`` and subtracts it
        from ``s[heads[e]]``; ``-backward[e] <= t <= forward[e]``. Weights of size 1 hold for all
        edges. O(len(edges)).
        """

    def edges_sweep(
        self,
        tails: IndexArray,
        heads: IndexArray,
        backward: WeightArray,
        forward: WeightArray,
        edges: IndexArray,
        flow: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> None:
        """Project a matching with c = 1 in place and update ``s``. O(len(edges))."""

    def grid_project(
        self,
        geometry: PointerArray,
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project a matching of grid edges given as strided views; ``out`` is in C order.

        ``geometry`` is ``[ndim, *extents, *edge_strides, *node_strides, edge_start, tail_start,
        head_start]`` (strides in elements, ndim from 1 to 8): the edge with multi-index k is
        number ``edge_start + k . edge_strides``, from node ``tail_start + k . node_strides`` to
        node ``head_start + k . node_strides``. O(number of edges).
        """

    def grid_sweep(
        self,
        geometry: PointerArray,
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> None:
        """Project a matching of grid edges with c = 1 in place and update ``s``. O(edges)."""

    def cardinality_project(
        self,
        indptr: PointerArray,
        members: IndexArray,
        gains: FloatArray,
        groups: IndexArray,
        y: FloatArray,
        s: FloatArray,
        c: float,
        order: IndexArray,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project the groups ``groups`` of functions ``g_i(|S & e_i|)``, g_i concave.

        Group i has the members ``members[indptr[i]:indptr[i + 1]]`` and, at the same places of
        ``gains``, the gains ``g_i(j) - g_i(j - 1)``, nonincreasing in j = 1, 2, ... The warm start
        ``order``, of the size of ``members``, holds each group's local permutation (0, ..., k - 1
        at first) that sorted it last time, and is replaced by the new one. ``out`` concatenates
        the selected groups. O(k) for k members in practice, O(k log k) at worst.
        """

    def cardinality_sweep(
        self,
        indptr: PointerArray,
        members: IndexArray,
        gains: FloatArray,
        groups: IndexArray,
        y: FloatArray,
        s: FloatArray,
        order: IndexArray,
        threads: int,
    ) -> None:
        """Project the groups ``groups`` with c = 1 in place and update ``s`` and ``order``."""

    def cardinality_greedy(
        self,
        indptr: PointerArray,
        members: IndexArray,
        gains: FloatArray,
        rank: IndexArray,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Write the greedy vertices of all groups: the j-th member in increasing rank gets gain j.

        ``rank`` has one entry per node, ``out`` one per incidence. O(incidences).
        """

    def table_project(
        self,
        members: IndexArray,
        values: FloatArray,
        tables: IndexArray,
        y: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Project functions given by explicit values; ``out`` has one row of k values a table.

        ``members`` is (m, k) and ``values`` (m, 2**k), or (1, 2**k) if all functions share one
        table; bit b of the column says whether the b-th member is in S, column 0 is zero; ``y`` is
        the flattened (m, k). O(k 2**k) a table, k <= 20.
        """

    def table_sweep(
        self,
        members: IndexArray,
        values: FloatArray,
        tables: IndexArray,
        y: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> None:
        """Project the functions ``tables`` with c = 1 in place and update ``s``."""

    def table_second_differences(self, values: FloatArray, out: FloatArray, threads: int) -> None:
        """Write the least F(A + i) + F(A + j) - F(A) - F(A + i + j) of each table.

        ``values`` is (m, 2**k), k <= 20, and ``out`` (m,): infinite where there is no pair i, j.
        O(k**2 2**k) a table.
        """

    def evaluate_sets(
        self, address: int, data: int, sets: npt.NDArray[np.uint8], out: FloatArray
    ) -> None:
        """Call a C function for each row of a matrix of masks, one byte for each element.

        ``double (*)(const uint8_t *member, int64_t size, void *data)`` is at ``address``, and
        ``data`` is what its last argument points to, or 0.
        """

    def colour(self, pointers: PointerArray, members: IndexArray, colours: IndexArray) -> None:
        """Give each function the first colour that no earlier function on any of its elements has.

        Function i has the support ``members[pointers[i]:pointers[i + 1]]``; ``colours`` has one
        entry per function. O(incidences) expected, times the colours tried beyond the first free
        one of each element.
        """

    def close_sides(self, tails: IndexArray, heads: IndexArray, side: npt.NDArray[np.int8]) -> None:
        """Decide elements by arcs, in place: 1 is inside, -1 outside, 0 open, shape (n,).

        The head of an arc from an element inside is inside, the tail of one to an element outside
        is outside; what is decided stays as it is. O(n + arcs).
        """

    def edges_close_sides(
        self,
        tails: IndexArray,
        heads: IndexArray,
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        room: float,
        side: npt.NDArray[np.int8],
    ) -> None:
        """Do the same by the arcs of edges whose residual capacity is above ``room``.

        These are ``forward - t`` from the tail of an edge and ``backward + t`` from its head.
        O(n + edges).
        """

    def grid_close_sides(
        self,
        shape: PointerArray,
        offsets: OffsetArray,
        backward: Sequence[WeightArray],
        forward: Sequence[WeightArray],
        flow: FloatArray,
        room: float,
        side: npt.NDArray[np.int8],
    ) -> None:
        """Do the same by the arcs of a grid whose residual capacity is above ``room``.

        The weights are given as to ``grid_cut_value``. O(open nodes times offsets).
        """
