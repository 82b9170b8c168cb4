"""The part of the kernel contract for chains: rows, columns, diagonals and paths of a graph."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray

__all__ = ["ChainKernels"]


class ChainKernels(Protocol):
    """Projections of disjoint chains, whose dual is one flow per edge; O(edges).

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
        backward: FloatArray,
        forward: FloatArray,
        flow: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Write the flows of Proj(y - s / c) to ``out``, at the positions they have in ``flow``."""

    def grid_chains_sweep(
        self,
        node_start: PointerArray,
        edge_start: PointerArray,
        length: PointerArray,
        node_stride: int,
        edge_stride: int,
        backward: FloatArray,
        forward: FloatArray,
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
        backward: FloatArray,
        forward: FloatArray,
        flow: FloatArray,
        s: FloatArray,
        c: float,
        out: FloatArray,
        threads: int,
    ) -> None:
        """Write the flows of Proj(y - s / c) to ``out``, at the positions they have in ``flow``."""

    def path_chains_sweep(
        self,
        indptr: PointerArray,
        nodes: IndexArray,
        edges: IndexArray,
        orientation: npt.NDArray[np.int8],
        backward: FloatArray,
        forward: FloatArray,
        flow: FloatArray,
        s: FloatArray,
        threads: int,
    ) -> None:
        """Project with c = 1 in place and update ``s``."""
