"""The part of the kernel contract for flows that conserve, and for global minimum cuts."""

from __future__ import annotations

from typing import Protocol

from submin._typing import FloatArray, IndexArray, PointerArray

__all__ = ["NetworkKernels"]


class NetworkKernels(Protocol):
    """Kernels of ``submin.networks``."""

    def conserve(
        self,
        tails: IndexArray,
        heads: IndexArray,
        flow: FloatArray,
        s: FloatArray,
        source: int,
        sink: int,
    ) -> None:
        """Take back the flow that goes in cycles or gets stuck, in place.

        A node of ``s < 0`` has an excess of ``-s``, which goes back along the flow that brought it,
        to the source in the end; that of source and sink stays.  Afterwards no cycle carries flow.
        O(nodes + edges), and the length of each cycle, of which there are at most as many as
        edges.  Exact where flow and sums are integers up to 2^53 in magnitude.
        """

    def adjacency_order(
        self,
        pointers: PointerArray,
        neighbours: IndexArray,
        weights: FloatArray,
        bound: float,
        order: IndexArray,
        keys: FloatArray,
    ) -> None:
        """Write a maximum adjacency order of the nodes, and the key of each place.

        Node v has the neighbours ``neighbours[pointers[v]:pointers[v + 1]]``.  The key of a node is
        its weight to the nodes before it.  Next comes a node of the largest key; keys from
        ``bound`` on count as equal.  O(nodes + edges log edges).
        """
