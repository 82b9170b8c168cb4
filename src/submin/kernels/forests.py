"""Linear forests: the edges of a graph in families of disjoint paths.

A linear forest is a family of paths without a common node.  At least half the largest degree of
them are needed for a graph; that as many always suffice, or one more, is the linear arboricity
conjecture (Akiyama, Exoo & Harary 1980).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from submin._typing import IndexArray
from submin.kernels.refusals import MOST_INDICES, refuse_outside

__all__ = ["linear_forests"]

Ends = dict[int, int | None]


def _joined(ends: Ends, a: int, b: int) -> bool:
    """Add an edge to a linear forest, unless a node gets a third edge or a cycle closes.

    ``ends`` gives for each end of a path the other end, and None for the nodes inside.
    """
    left, right = ends.get(a, a), ends.get(b, b)
    if left is None or right is None or left == b:
        return False
    ends[a] = ends[b] = None
    ends[left], ends[right] = right, left
    return True


def _paths(edges: list[int], nodes: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Run through the paths of a linear forest: yield edge, orientation, and 1 at a path's start.

    A path is run through from the end that comes first in the list of edges.
    """
    incident: dict[int, list[int]] = {}
    for edge in edges:
        for node in nodes[edge]:
            incident.setdefault(node, []).append(edge)
    for start in [node for edge in edges for node in nodes[edge]]:
        node, first = start, 1
        while len(incident[node]) == 1:
            edge = incident[node].pop()
            along = nodes[edge][0] == node
            node = nodes[edge][along]
            incident[node].remove(edge)
            yield edge, 1 if along else -1, first
            first = 0


def linear_forests(
    tails: IndexArray,
    heads: IndexArray,
    forest: IndexArray,
    edge: IndexArray,
    orientation: npt.NDArray[np.int8],
    first: npt.NDArray[np.uint8],
) -> None:
    """Put each edge into the first linear forest that it fits in, and list the paths.

    A linear forest is a family of paths without a common node; an edge fits in if no node gets a
    third edge and no cycle is closed. The edges are written forest by forest and path by path, in
    the order in which the path runs through them: the number of the forest, that of the edge, 1 for
    running from tail to head or -1, and 1 at the first edge of each path. O(edges) expected, times
    the forests tried beyond the first open one of each node. Refused out of range: tails, heads.
    """
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, MOST_INDICES, name)
    nodes = list(zip(tails.tolist(), heads.tolist(), strict=True))
    forests: list[tuple[Ends, list[int]]] = []
    for number, (a, b) in enumerate(nodes):
        members = next((members for ends, members in forests if _joined(ends, a, b)), None)
        if members is None:
            forests.append(({a: b, b: a}, [number]))
        else:
            members.append(number)
    at = 0
    for k, (_, members) in enumerate(forests):
        for found in _paths(members, nodes):
            forest[at], (edge[at], orientation[at], first[at]) = k, found
            at += 1
