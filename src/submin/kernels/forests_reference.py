"""NumPy twin of the kernel that splits the edges of a graph into linear forests.

A linear forest is a family of paths without a common node.  At least half the largest degree of
them are needed for a graph; that as many always suffice, or one more, is the linear arboricity
conjecture (Akiyama, Exoo & Harary 1980).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin._typing import IndexArray

__all__ = ["linear_forests"]

Forest = dict[int, list[int]]  # the edges at each node, one or two


def _other_end(forest: Forest, ends: list[tuple[int, int]], node: int) -> int:
    """Return where the path that ends at a node ends too."""
    edge = forest[node][0]
    while True:
        node = sum(ends[edge]) - node
        if len(forest[node]) == 1:
            return node
        edge = sum(forest[node]) - edge


def _fits(forest: Forest, ends: list[tuple[int, int]], a: int, b: int) -> bool:
    """Say whether an edge leaves all degrees at most 2 and closes no cycle."""
    degrees = [len(forest.get(node, ())) for node in (a, b)]
    return max(degrees) < 2 and (min(degrees) == 0 or _other_end(forest, ends, a) != b)


def linear_forests(
    tails: IndexArray,
    heads: IndexArray,
    forest: IndexArray,
    edge: IndexArray,
    orientation: npt.NDArray[np.int8],
    first: npt.NDArray[np.uint8],
) -> None:
    """Put each edge into the first linear forest that it fits in, and list the paths."""
    ends = list(zip(tails.tolist(), heads.tolist(), strict=True))
    forests: list[Forest] = []
    members: list[list[int]] = []
    for number, (a, b) in enumerate(ends):
        k = next((k for k, grown in enumerate(forests) if _fits(grown, ends, a, b)), len(forests))
        if k == len(forests):
            forests.append({})
            members.append([])
        members[k].append(number)
        for node in (a, b):
            forests[k].setdefault(node, []).append(number)
    at = 0
    for k, grown in enumerate(forests):
        for start in [node for number in members[k] for node in ends[number]]:
            node, begin = start, at
            while len(grown.get(node, ())) == 1:
                (number,) = grown.pop(node)
                along = ends[number][0] == node
                node = ends[number][along]
                grown[node].remove(number)
                forest[at], edge[at], orientation[at] = k, number, 1 if along else -1
                first[at] = at == begin
                at += 1
