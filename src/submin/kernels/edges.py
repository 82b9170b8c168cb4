"""Edges of a graph: ``B = {(t, -t) : -backward <= t <= forward}`` for each of them.

Edge e has the value ``t = flow[e]``, adds ``t`` to ``s[tails[e]]`` and subtracts it from
``s[heads[e]]``.
"""

from __future__ import annotations

import numpy as np

from submin._typing import FloatArray, IndexArray, WeightArray
from submin.kernels.refusals import refuse_outside

__all__ = ["edges_project", "edges_sweep", "edges_sweep_in_turn"]


def clipped_step(
    flow: FloatArray,
    difference: FloatArray,
    c: float,
    backward: WeightArray,
    forward: WeightArray,
) -> FloatArray:
    """Minimise ``(t - a_i)^2 + (-t - a_j)^2`` over ``-backward <= t <= forward``.

    With ``a = (t_old - s_i / c, -t_old - s_j / c)`` the free minimiser is
    ``(a_i - a_j) / 2 = t_old - (s_i - s_j) / (2 c)``; one variable, so clipping is exact.
    """
    return np.clip(flow - difference * (0.5 / c), -backward, forward)


def _selected(weights: WeightArray, edges: IndexArray) -> WeightArray:
    return weights if weights.size == 1 else weights[edges]


def edges_project(
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

    Writes ``clip(t - (s_i - s_j) / (2 c), -backward, forward)`` for an edge from i to j, with
    ``-backward[e] <= t <= forward[e]``. Weights of size 1 hold for all edges. The edges share no
    node. O(len(edges)). Refused out of range: edges, tails, heads.
    """
    refuse_outside(edges, flow.size, "edges")
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends[edges], s.size, name, edges)
    difference = s[tails[edges]] - s[heads[edges]]
    lower, upper = _selected(backward, edges), _selected(forward, edges)
    out[:] = clipped_step(flow[edges], difference, c, lower, upper)


def edges_sweep(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    edges: IndexArray,
    flow: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project a matching with c = 1 in place: ``s_i += dt`` and ``s_j -= dt``. O(len(edges)).

    The edges share no node; see ``edges_sweep_in_turn`` for those that do. Refused out of range:
    edges, tails, heads.
    """
    updated = np.empty(edges.size)
    edges_project(tails, heads, backward, forward, edges, flow, s, 1.0, updated, threads)
    change = updated - flow[edges]
    flow[edges] = updated
    s[tails[edges]] += change
    s[heads[edges]] -= change


def edges_sweep_in_turn(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
) -> None:
    """Project all edges of a graph with c = 1 in place, one after the other. O(edges).

    Edges may share nodes: each finds ``s`` as those before it have left it. One thread does this.
    Refused out of range: tails, heads.
    """
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, s.size, name)
    lower, upper = (np.broadcast_to(weights, flow.shape) for weights in (backward, forward))
    for e, (i, j) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        updated = np.clip(flow[e] - 0.5 * (s[i] - s[j]), -lower[e], upper[e])
        change = updated - flow[e]
        flow[e] = updated
        s[i] += change
        s[j] -= change
