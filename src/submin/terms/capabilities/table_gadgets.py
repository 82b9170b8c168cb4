"""Tables of up to three elements as cuts, with one auxiliary for the cubic part.

A function of x in {0, 1}^3 is a sum of l_i x_i, q_ij x_i x_j and p x_1 x_2 x_3.  With w = -q >= 0,

    q x_i x_j = w x_i (1 - x_j) - w x_i                    an edge of weight w
    p x_1 x_2 x_3 = |p| (min(k, 2) - k),                   k = x_1 + x_2 + x_3,   if p < 0
                  = p (min(k, 1) - k + sum x_i x_j)        if p > 0

and both min are truncations.  The p that the second one adds to q_ij leaves it q_ij + p <= 0, the
second difference where the third element is in S (Kolmogorov & Zabih 2004,
doi:10.1109/TPAMI.2004.1262177).
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from submin._sums import UNIT_ROUNDOFF
from submin._typing import FloatArray, IndexArray
from submin.terms.capabilities.gadgets import Gadget, GadgetSize

MOST_MEMBERS = 3


class Cubic(NamedTuple):
    """The parts of each table: shapes (rows, k), (rows, pairs of ``combinations``), (rows,)."""

    linear: FloatArray
    weights: FloatArray
    cubic: FloatArray


def cubic(values: FloatArray, exact: bool) -> Cubic:
    """Split tables of up to three elements, O(rows); what is not `exact` has rounding left out."""
    k = values.shape[1].bit_length() - 1
    pairs = list(combinations(range(k), 2))
    linear, p = values[:, 1 << np.arange(k)].copy(), np.zeros(values.shape[0])
    both = [values[:, 1 << i | 1 << j] - linear[:, i] - linear[:, j] for i, j in pairs]
    q = np.stack(both, axis=1) if pairs else np.zeros((values.shape[0], 0))
    rounding = (0.0 if exact else 16.0 * UNIT_ROUNDOFF) * np.max(np.abs(values), axis=1)
    if k == MOST_MEMBERS:
        p = values[:, -1] - linear.sum(axis=1) - q.sum(axis=1)
        p[np.abs(p) <= rounding] = 0.0
    weights = -q - np.maximum(p, 0.0)[:, None]
    weights[weights <= rounding[:, None]] = 0.0
    for (i, _), weight in zip(pairs, weights.T, strict=True):
        linear[:, i] -= weight
    return Cubic(linear - np.abs(p)[:, None], weights, p)


def gadget_size(parts: Cubic, tables: int) -> GadgetSize:
    """Count an edge for each pair, and an auxiliary with three edges for each cubic part."""
    copies = tables if len(parts.cubic) == 1 else 1
    pairs, stars = np.count_nonzero(parts.weights), np.count_nonzero(parts.cubic)
    return GadgetSize(copies * int(stars), copies * int(pairs + MOST_MEMBERS * stars))


def table_gadget(parts: Cubic, members: IndexArray, dual: FloatArray) -> Gadget:
    """Return edges and stars; a dual of two elements is the flow of its edge, others start anew.

    The flow of a star is a third of its cost on each edge.
    """
    tables, k = members.shape
    linear = np.broadcast_to(parts.linear, (tables, k))
    weights = np.broadcast_to(parts.weights, (tables, parts.weights.shape[1]))
    p = np.broadcast_to(parts.cubic, (tables,))
    ends = np.array(list(combinations(range(k), 2)), dtype=np.int64).reshape(-1, 2)
    table, pair = np.nonzero(weights)
    cut = weights[table, pair]
    edge_flow = np.zeros(cut.size)
    if k == 2:
        edge_flow = (dual.reshape(tables, k) - linear)[table, 0]
    cubics = np.flatnonzero(p)
    size = np.abs(p[cubics])
    costs = np.where(p[cubics] < 0.0, 2.0, 1.0) * size
    places = (k * cubics[:, None] + np.arange(MOST_MEMBERS)).ravel()
    star = np.repeat(members.size + np.arange(cubics.size), MOST_MEMBERS)
    forward = np.concatenate([cut, np.repeat(size, MOST_MEMBERS)])
    flow = np.concatenate([edge_flow, np.repeat(costs / MOST_MEMBERS, MOST_MEMBERS)])
    return Gadget(
        elements=members.ravel(),
        modular=linear.ravel(),
        costs=costs,
        tails=np.concatenate([k * table + ends[pair, 0], places]).astype(np.int32),
        heads=np.concatenate([k * table + ends[pair, 1], star]).astype(np.int32),
        forward=forward,
        backward=np.zeros(forward.size),
        flow=np.clip(flow, 0.0, forward),
    )
