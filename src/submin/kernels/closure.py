"""Two disjoint sets, inside and outside, closed under arcs, and numbers that never fall along."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray
from submin.kernels.refusals import refuse_outside
from submin.kernels.sums import OffsetArray, grid_ends

__all__ = ["close_sides", "edges_close_sides", "grid_close_sides", "raise_along"]


def close_sides(tails: IndexArray, heads: IndexArray, side: npt.NDArray[np.int8]) -> None:
    """Decide elements by arcs, in place: 1 is inside, -1 outside, 0 open, shape (n,).

    The head of an arc from an element inside is inside, the tail of one to an element outside is
    outside; what is decided stays as it is. Open elements that both say something of go either way.
    O(n + arcs). Refused out of range: tails, heads.
    """
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, side.size, name)
    changed = True
    while changed:
        inward = (side[tails] == 1) & (side[heads] == 0)
        side[heads[inward]] = 1
        outward = (side[heads] == -1) & (side[tails] == 0)
        side[tails[outward]] = -1
        changed = bool(inward.any() or outward.any())


def edges_close_sides(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    room: float,
    side: npt.NDArray[np.int8],
) -> None:
    """Decide elements as ``close_sides``, by arcs of edges of a residual capacity above ``room``.

    It is ``forward - t`` from the tail of an edge and ``backward + t`` from its head.
    O(n + edges). Refused out of range: tails, heads.
    """
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, side.size, name)
    ahead, behind = forward - flow > room, backward + flow > room
    out = np.concatenate([tails[ahead], heads[behind]])
    close_sides(out, np.concatenate([heads[ahead], tails[behind]]), side)


def grid_close_sides(
    shape: PointerArray,
    offsets: OffsetArray,
    backward: Sequence[WeightArray],
    forward: Sequence[WeightArray],
    flow: FloatArray,
    room: float,
    side: npt.NDArray[np.int8],
) -> None:
    """Decide elements as ``close_sides``, by arcs of a grid of a residual capacity above ``room``.

    The weights are given as to ``grid_cut_value``. O(open nodes times offsets). Refused out of
    range: shape.
    """
    nodes = np.arange(side.size, dtype=np.int32).reshape(shape)
    pairs = list(grid_ends(shape, offsets))
    tails, heads = (np.concatenate([nodes[pair[end]].ravel() for pair in pairs]) for end in (0, 1))
    sizes = [nodes[tail].size for tail, _ in pairs]
    back, out = (
        np.concatenate([np.broadcast_to(*part) for part in zip(parts, sizes, strict=True)])
        for parts in (backward, forward)
    )
    edges_close_sides(tails, heads, back, out, flow, room, side)


def raise_along(tails: IndexArray, heads: IndexArray, values: FloatArray) -> None:
    """Raise numbers of nodes, in place, to the largest one from which arcs lead to the node.

    They are the least numbers, none below those given, that do not fall along any arc.
    O(n + arcs). Refused out of range: tails, heads.
    """
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, values.size, name)
    while np.any(values[heads] < values[tails]):
        np.maximum.at(values, heads, values[tails])
