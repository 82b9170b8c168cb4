"""A proof that no other set costs as little: what a small gap leaves no room for.

Let m = sum_v min(0, s_v) - sum_i delta_i be the lower bound of a dual.  For every set T,

    F(T) - m = sum_{v in T} max(0, s_v) + sum_{v not in T} max(0, -s_v)
               + sum_i (F_i(T) - y_i(T) + delta_i)

is a sum of numbers that are 0 or more.  If F(S) - m <= gap, a set that costs no more than S has
none of them above the gap: it has every element with s_v < -gap, none with s_v > gap, and with an
element the head of each residual arc out of it of capacity above the gap.  If
that decides all elements as S does, S is the only minimiser.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from submin import kernels
from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.terms.base.edges import EdgeTerm
from submin.terms.capabilities.residuals import joined


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
    side = _closed(problem, dual, room, side)
    decided: npt.NDArray[np.int8] = np.where(members, 1, -1).astype(np.int8)
    return bool(np.array_equal(side, decided))


def _closed(
    problem: Problem, dual: Sequence[FloatArray], room: float, side: npt.NDArray[np.int8]
) -> npt.NDArray[np.int8]:
    """Decide the elements that residual arcs tie to decided ones: of edges, then of the others."""
    parts = list(zip(problem.terms, dual, strict=True))
    others = [(term, part) for term, part in parts if not isinstance(term, EdgeTerm)]
    arcs = joined([term.residual_arcs(part, room, side == 0) for term, part in others])
    tails, heads = arcs.numbered(side.size)
    nodes = np.concatenate([side, np.zeros(arcs.auxiliaries, dtype=np.int8)])
    elements, left = nodes[: side.size], -1
    while left != (left := int(np.count_nonzero(nodes == 0))) and left:
        for term, part in parts:
            if isinstance(term, EdgeTerm):
                term.close_sides(part, room, elements)
        if tails.size:
            kernels.active.close_sides(tails, heads, nodes)
    return elements
