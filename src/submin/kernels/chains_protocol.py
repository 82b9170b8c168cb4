"""The part of the kernel contract for chains: rows, columns, diagonals and paths of a graph."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray

__all__ = ["ChainKernels"]


class ChainKernels(Protocol):
    """Projections of disjoint chains, whose dual is one value per edge; O(edges).

    Chain k of a grid has ``length[k]`` nodes, the first at ``node_start[k]`` and each next
    ``node_stride`` further, and its edges likewise; a path has the nodes
    ``nodes[indptr[k]:indptr[k + 1]]`` and one edge less, traversed from tail to head where
    ``orientation`` is 1 and from head to tail where it is -1.  Weights of size 1 are for all edges.
    """

    def grid_chains_project(
        self,
        node_start: PointerArray,
        edge_start: PointerArray,
        length: PointerArray,
        node_stride: int,
        edge_stride: int,
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Write the values of Proj(y - s / c) to ``out``, where they are in ``flow``."""

    def grid_chains_sweep(
        self,
        node_start: PointerArray,
        edge_start: PointerArray,
        length: PointerArray,
        node_stride: int,
        edge_stride: int,
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> None:
        """Project with c = 1 in place and update ``s``."""

    def path_chains_project(
        self,
        indptr: PointerArray,
        nodes: IndexArray,
        edges: IndexArray,
        orientation: npt.NDArray[np.int8],
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Write the values of Proj(y - s / c) to ``out``, where they are in ``flow``."""

    def path_chains_sweep(
        self,
        indptr: PointerArray,
        nodes: IndexArray,
        edges: IndexArray,
        orientation: npt.NDArray[np.int8],
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> None:
        """Project with c = 1 in place and update ``s``."""

    def linear_forests(
        self,
        tails: IndexArray,
        heads: IndexArray,
        forest: IndexArray,
        edge: IndexArray,
        orientation: npt.NDArray[np.int8],
        first: npt.NDArray[np.uint8],
    ) -> None:
        """Put each edge into the first linear forest that it fits in, and list the paths.

        A linear forest is a family of paths without a common node; an edge fits in if no node gets
        a third edge and no cycle is closed.  The edges are written forest by forest and path by
        path, in the order in which the path runs through them: the number of the forest, that of
        the edge, 1 for running from tail to head or -1, and 1 at the first edge of each path.
        O(edges) expected, times the forests tried beyond the first open one of each node.
        """
