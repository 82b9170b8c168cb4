"""A proof that no other set costs as little: what a small gap leaves no room for.

Let m = sum_v min(0, s_v) - sum_i delta_i be the lower bound of a dual.  For every set T,

    F(T) - m = sum_{v in T} max(0, s_v) + sum_{v not in T} max(0, -s_v)
               + sum_i (F_i(T) - y_i(T) + delta_i)

is a sum of numbers that are 0 or more, and those of an edge that T cuts are at least its residual
capacity.  If F(S) - m <= gap, a set that costs no more than S therefore has every element with
s_v < -gap, none with s_v > gap, and with an element the head of each residual arc out of it of
capacity above the gap.  If that decides all elements as S does, S is the only minimiser.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from submin import kernels
from submin._typing import BoolArray, FloatArray
from submin.problem import Problem
from submin.terms.edges import EdgeTerm


def is_only_candidate(
    problem: Problem,
    members: BoolArray,
    dual: Sequence[FloatArray],
    s: FloatArray,
    gap: float,
) -> bool:
    """Say whether every other set is proved to cost more, O(size of the data).

    `gap` is above F(S) less the bound of the dual, and above the rounding errors of s, which leaves
    out the costs of pinned elements.
    """
    room = 2.0 * gap
    side = (s < -room).astype(np.int8) - (s > room).astype(np.int8)
    if problem.pins is not None:
        side[problem.pins.inside], side[problem.pins.outside] = 1, -1
    edges = [(term, part) for term, part in zip(problem.terms, dual, strict=True)
             if isinstance(term, EdgeTerm)]  # fmt: skip
    if edges and not side.all():
        _follow_residual_arcs(edges, room, side)
    decided: npt.NDArray[np.int8] = np.where(members, 1, -1).astype(np.int8)
    return bool(np.array_equal(side, decided))


def _follow_residual_arcs(
    edges: Sequence[tuple[EdgeTerm, FloatArray]], room: float, side: npt.NDArray[np.int8]
) -> None:
    """Decide the elements that residual arcs tie to decided ones, in place."""
    arcs = [term.residual_arcs(part, room, side == 0) for term, part in edges]
    tails = np.concatenate([tail for tail, _ in arcs])
    heads = np.concatenate([head for _, head in arcs])
    kernels.active.close_sides(tails, heads, side)
