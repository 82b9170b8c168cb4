"""Chains: total variation along rows, columns, diagonals and paths.

A chain has nodes with values ``r = s / c`` and edges between neighbours. Edge j has the value
``t_j``, ``-backward_j <= t_j <= forward_j``, which adds ``t_j`` to ``r_j`` and subtracts it from
``r_{j+1}``. The projection of ``y - s / c`` onto the chain's base polytope changes the ``t_j`` so
that the new values have least norm. With ``R_j = r_0 + ... + r_j`` their sums have to pass the
gates

    ``R_j - backward_j - t_j <= X_j <= R_j + forward_j - t_j``,    ``X_{k-1} = R_{k-1}``,

and the new values are the slopes of the taut string through them (Davies & Kovac 2001,
doi:10.1214/aos/996986501). With the opposite sign they are the minimiser x of
``1/2 |x - a|^2 + sum_j forward_j (x_j - x_{j+1})_+ + backward_j (x_{j+1} - x_j)_+``.

In the norm ``sum_j (.)_j^2 / d_j`` the string goes the way d_j from sum j - 1 to sum j, and the new
values are its slopes times d.

Chain k of a grid has ``length[k]`` nodes, the first at ``node_start[k]`` and each next
``node_stride`` further, and its edges likewise.  Weights of size 1 are for all edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray
from submin.kernels.refusals import refuse_outside, refuse_size

__all__ = [
    "grid_chains_project",
    "grid_chains_sweep",
    "path_chains_project",
    "path_chains_sweep",
]

Number = Any  # float, or Fraction for exact answers
Piece = tuple[int, Number, int]


def _next_piece(
    values: Sequence[Number],
    down: Sequence[Number],
    up: Sequence[Number],
    places: Sequence[Number],
    apex: int,
    offset: Number,
) -> Piece:
    """Find the straight piece that starts after node ``apex``: its last node, slope, and side.

    ``places[j + 1]`` is where gate j stands, and ``offset`` the distance of the string from the
    sums at the apex. Side is 1 where the piece touches the upper end of a gate, -1 at a lower end.
    """
    last = len(values) - 1
    total = -offset
    low = high = None
    for j in range(apex + 1, last + 1):
        total = total + values[j]
        way = places[j + 1] - places[apex + 1]
        bottom = (total - down[j]) / way
        top = (total + up[j]) / way
        if low is not None and top < low[1]:
            return low
        if high is not None and bottom > high[1]:
            return high
        if low is None or bottom >= low[1]:
            low = (j, bottom, -1)
        if high is None or top <= high[1]:
            high = (j, top, 1)
    return last, total / (places[last + 1] - places[apex + 1]), 1


def taut_string(
    values: Sequence[Number],
    down: Sequence[Number],
    up: Sequence[Number],
    lengths: Sequence[Number] | None = None,
) -> Iterator[Piece]:
    """Pull the string taut: yield its straight pieces as (last node, slope, side).

    Parameters
    ----------
    values
        The k node values.
    down, up
        How far the flow of each edge may go down and up, k numbers each; those of the last node,
        which has no edge, are zero.
    lengths
        The way d_j from each sum to the next, k numbers above 0; by default 1.

    Notes
    -----
    Works on floats and on fractions, then exactly. O(k) for typical data, O(k^2) in the worst
    case; the native kernel is O(k) always.

    Examples
    --------
    Weighted total variation of [6, 6.25, 13.75] with the weights 0.5 and 0.25, from flows of zero:

    >>> weights = [0.5, 0.25, 0]
    >>> [piece[:2] for piece in taut_string([-6, -6.25, -13.75], weights, weights)]
    [(1, -6.25), (2, -13.5)]
    """
    places = list(accumulate(lengths or [1] * len(values), initial=0))
    apex, offset = -1, 0 * values[0]
    while apex < len(values) - 1:
        apex, slope, side = _next_piece(values, down, up, places, apex, offset)
        offset = up[apex] if side > 0 else -down[apex]
        yield apex, slope, side


def solve_chain(
    values: FloatArray,
    flow: FloatArray,
    backward: WeightArray,
    forward: WeightArray,
    lengths: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the new values and flows of one chain, nearest in the norm sum (.)^2 / lengths."""
    down = [*(backward + flow).tolist(), 0.0]
    up = [*(forward - flow).tolist(), 0.0]
    new_values = np.empty_like(values)
    new_flow = np.empty_like(flow)
    begin, change = 0, 0.0
    for end, slope, side in taut_string(values.tolist(), down, up, lengths.tolist()):
        new_values[begin : end + 1] = slope * lengths[begin : end + 1]
        moved = flow[begin:end] + change + np.cumsum(new_values[begin:end] - values[begin:end])
        new_flow[begin:end] = np.clip(moved, -backward[begin:end], forward[begin:end])
        if end < flow.size:
            new_flow[end] = forward[end] if side > 0 else -backward[end]
            change = float(new_flow[end] - flow[end])
        begin = end + 1
    return new_values, new_flow


def _project(
    nodes: NDArray[np.int64],
    edges: NDArray[np.int64],
    sign: NDArray[np.int8],
    weights: tuple[WeightArray, WeightArray],
    flow: FloatArray,
    s: FloatArray,
    c: float,
) -> tuple[FloatArray, FloatArray]:
    """Return one chain's new values and the new flows of ``edges``; sign -1: from head to tail."""
    backward, forward = (np.broadcast_to(w, flow.shape)[edges] for w in weights)
    down, up = np.where(sign < 0, forward, backward), np.where(sign < 0, backward, forward)
    values, moved = solve_chain(s[nodes] / c, flow[edges] * sign, down, up, np.ones(nodes.size))
    return values, moved * sign


def _grid_chains(
    node_start: PointerArray,
    edge_start: PointerArray,
    length: PointerArray,
    node_stride: int,
    edge_stride: int,
    flow: FloatArray,
    s: FloatArray,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]]:
    _refuse_beyond("s", s.size, node_start, node_stride, length)
    _refuse_beyond("flow", flow.size, edge_start, edge_stride, length - 1)
    for node, edge, count in zip(node_start, edge_start, length, strict=True):
        steps = np.arange(count)
        sign = np.ones(count - 1, np.int8)
        yield node + node_stride * steps, edge + edge_stride * steps[:-1], sign


def _path_chains(
    indptr: PointerArray,
    nodes: IndexArray,
    edges: IndexArray,
    orientation: NDArray[np.int8],
    flow: FloatArray,
    s: FloatArray,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]]:
    _refuse_paths(indptr, nodes, edges, flow, s)
    for k, (begin, end) in enumerate(pairwise(indptr.tolist())):
        part = slice(begin - k, end - k - 1)
        yield nodes[begin:end].astype(np.int64), edges[part].astype(np.int64), orientation[part]


def _refuse_beyond(
    name: str, size: int, start: PointerArray, stride: int, length: PointerArray
) -> None:
    """Refuse chains that reach outside of an array; those of no steps there lie anywhere."""
    for chain, (first, count) in enumerate(zip(start.tolist(), length.tolist(), strict=True)):
        ends = (first, first + stride * (count - 1))
        if count < 0 or (count and not (min(ends) >= 0 and max(ends) < size)):
            raise ValueError(f"chain {chain} reaches outside of {name} of size {size}")


def _refuse_paths(
    indptr: PointerArray, nodes: IndexArray, edges: IndexArray, flow: FloatArray, s: FloatArray
) -> None:
    if not indptr.size or indptr[0] != 0 or np.any(np.diff(indptr) < 1):
        raise ValueError("indptr must start with 0 and increase: no path is empty")
    refuse_size(nodes.size, int(indptr[-1]), "nodes")
    refuse_outside(nodes, s.size, "nodes")
    refuse_outside(edges, flow.size, "edges")


def grid_chains_project(
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
    """Project a grid's chains: write the new flows to ``out``, where they are in ``flow``.

    Chain k has the nodes ``node_start[k] + j * node_stride``, j < ``length[k]``, and the edges
    ``edge_start[k] + j * edge_stride``, one fewer; edge j goes from node j to node j + 1. O(edges).
    Refused out of range: node_start, edge_start, length.
    """
    chains = _grid_chains(node_start, edge_start, length, node_stride, edge_stride, flow, s)
    for nodes, edges, sign in chains:
        out[edges] = _project(nodes, edges, sign, (backward, forward), flow, s, c)[1]


def grid_chains_sweep(
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
    """Project with c = 1 in place; ``s`` becomes constant along the pieces of each string.

    Refused out of range: node_start, edge_start, length.
    """
    chains = _grid_chains(node_start, edge_start, length, node_stride, edge_stride, flow, s)
    for nodes, edges, sign in chains:
        s[nodes], flow[edges] = _project(nodes, edges, sign, (backward, forward), flow, s, 1.0)


def path_chains_project(
    indptr: PointerArray,
    nodes: IndexArray,
    edges: IndexArray,
    orientation: NDArray[np.int8],
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Project node-disjoint paths: write the new flows to ``out``, where they are in ``flow``.

    Path k runs through ``nodes[indptr[k]:indptr[k + 1]]``, at least one, and through as many edges
    less one, from ``edges[indptr[k] - k]`` on; orientation -1: from an edge's head to its tail.
    O(edges). Refused out of range: indptr, nodes, edges.
    """
    for path, along, sign in _path_chains(indptr, nodes, edges, orientation, flow, s):
        out[along] = _project(path, along, sign, (backward, forward), flow, s, c)[1]


def path_chains_sweep(
    indptr: PointerArray,
    nodes: IndexArray,
    edges: IndexArray,
    orientation: NDArray[np.int8],
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project with c = 1 in place and keep ``s`` up to date.

    Refused out of range: indptr, nodes, edges.
    """
    for path, along, sign in _path_chains(indptr, nodes, edges, orientation, flow, s):
        s[path], flow[along] = _project(path, along, sign, (backward, forward), flow, s, 1.0)
