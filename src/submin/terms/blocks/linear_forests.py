"""Linear forests: families of paths of a graph without a common node, which form a block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from submin import kernels
from submin._typing import IndexArray, PointerArray


class Paths(NamedTuple):
    """Paths without a common node, as the kernels take them.

    Path k runs through ``nodes[indptr[k]:indptr[k + 1]]`` and through as many edges less one, from
    ``edges[indptr[k] - k]`` on; orientation -1 marks an edge run through from head to tail.
    """

    indptr: PointerArray
    nodes: IndexArray
    edges: IndexArray
    orientation: npt.NDArray[np.int8]


def linear_forests(tails: IndexArray, heads: IndexArray) -> list[Paths]:
    """Split the edges of a graph into linear forests, greedily.

    Parameters
    ----------
    tails, heads : int32 arrays, shape (m,)
        The two ends of each edge; parallel edges are fine, loops are not.

    Returns
    -------
    list of Paths
        Each edge is in one of them.  Half the largest degree is the least possible number; each
        edge takes the first forest in which neither end has two edges and it closes no cycle.

    Notes
    -----
    O(m) expected.

    Examples
    --------
    A cycle is a path and an edge:

    >>> cycle = linear_forests(np.array([0, 1, 2], np.int32), np.array([1, 2, 0], np.int32))
    >>> [paths.nodes.tolist() for paths in cycle]
    [[0, 1, 2], [2, 0]]
    """
    forest, edges = np.empty((2, tails.size), dtype=np.int32)
    orientation = np.empty(tails.size, dtype=np.int8)
    first = np.empty(tails.size, dtype=np.uint8)
    kernels.active.linear_forests(tails, heads, forest, edges, orientation, first)
    stops = np.cumsum(np.bincount(forest)).tolist() if tails.size else []
    parts = [slice(a, b) for a, b in zip([0, *stops], stops, strict=False)]
    return [_paths(tails, heads, edges[p], orientation[p], first[p]) for p in parts]


def _paths(
    tails: IndexArray,
    heads: IndexArray,
    edges: IndexArray,
    orientation: npt.NDArray[np.int8],
    first: npt.NDArray[np.uint8],
) -> Paths:
    """Add the nodes to the edges of one forest."""
    along = orientation > 0
    before = np.where(along, tails[edges], heads[edges])
    after = np.where(along, heads[edges], tails[edges])
    starts = np.flatnonzero(first)
    nodes = np.insert(after, starts, before[starts])
    indptr = np.append(starts + np.arange(starts.size), nodes.size).astype(np.int64)
    return Paths(indptr, nodes, edges, orientation)
