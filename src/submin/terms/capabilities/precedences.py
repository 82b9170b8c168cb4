"""Precedences: arcs (p, q) of infinite weight, which say "p in S only with q in S".

A set without an infinite cost is *closed*: it has, with p, every q to which arcs lead.  The Lovász
extension is infinite at x unless x_p <= x_q for every arc, as its level sets are closed then and
only then.  Both ways, an arc says that its ends go together.

The base polytope of such a function is unbounded, as the flow of an arc has no upper limit, so a
greedy vertex exists only where the order of the elements has q before p.  What is left of a family
without its infinite weights, its *finite part*, has one for every order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin import kernels
from submin._typing import FloatArray, WeightArray
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.residuals import Arcs


def finite_weights(weights: WeightArray) -> WeightArray:
    """Return weights with 0 in place of infinite ones; the same array where none is infinite."""
    endless = np.isposinf(weights)
    return np.where(endless, weights.dtype.type(0), weights) if endless.any() else weights


def closed_sides(arcs: Arcs, side: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Decide what arcs tie to decided elements: 1 is in S, -1 out of it, 0 open, O(n + arcs).

    Examples
    --------
    >>> arcs = Arcs(np.array([0, 1], np.int32), np.array([1, 2], np.int32))
    >>> closed_sides(arcs, np.array([0, 1, 0, 0], np.int8))
    array([0, 1, 1, 0], dtype=int8)
    """
    nodes = np.concatenate([side, np.zeros(arcs.auxiliaries, dtype=np.int8)])
    kernels.active.close_sides(*arcs.numbered(side.size), nodes)
    return nodes[: side.size]


def closed(arcs: Arcs, fixing: Fixing) -> Fixing:
    """Return the elements fixed in S and out of it with those that arcs tie to them."""
    if not arcs.tails.size:
        return fixing
    side = closed_sides(arcs, fixing.side)
    return Fixing(side == 1, side == -1)


def contradiction(arcs: Arcs, fixing: Fixing) -> tuple[int, int] | None:
    """Return an element fixed in S from which arcs lead to one fixed out of it, and that one."""
    if not arcs.tails.size:
        return None
    n = fixing.free.size
    tails, heads = arcs.numbered(n)
    side = np.concatenate([fixing.side, np.zeros(arcs.auxiliaries, dtype=np.int8)])
    kernels.active.close_sides(tails, heads, side)
    broken = np.flatnonzero((side[tails] == 1) & (side[heads] == -1))
    if not broken.size:
        return None
    before, after = np.zeros_like(side), np.zeros_like(side)
    before[tails[broken[0]]], after[heads[broken[0]]] = -1, 1
    for nodes in (before, after):
        kernels.active.close_sides(tails, heads, nodes)
    first = np.argmax(fixing.inside & (before[:n] == -1))
    return int(first), int(np.argmax(fixing.outside & (after[:n] == 1)))


def raised(arcs: Arcs, x: FloatArray) -> FloatArray:
    """Return the least vector above x that does not fall along any arc, O(n + arcs).

    Its level sets are those of x, each with what arcs lead to from it.

    Examples
    --------
    >>> arcs = Arcs(np.array([0, 1], np.int32), np.array([1, 2], np.int32))
    >>> raised(arcs, np.array([2.0, 1.0, 3.0, 0.0])).tolist()
    [2.0, 2.0, 3.0, 0.0]
    """
    if not arcs.tails.size:
        return x
    values = np.concatenate([x, np.full(arcs.auxiliaries, -np.inf)])
    kernels.active.raise_along(*arcs.numbered(x.size), values)
    return values[: x.size]


def keeps(arcs: Arcs, x: FloatArray) -> bool:
    """Say whether x falls along none of the arcs, so that its Lovász extension is finite."""
    return not arcs.tails.size or bool(np.array_equal(raised(arcs, x), x))
