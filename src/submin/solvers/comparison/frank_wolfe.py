"""Frank-Wolfe (conditional gradient) on the dual: the linear oracle is Edmonds' greedy algorithm.

    y_0 in Y
    In each iteration k:                                   (Bach 2013, doi:10.1561/2200000039)
        v_k     <- argmin over v in Y of <s_k, v>          the greedy vertex of the order of s_k
        gamma   <- argmin over [0, 1] of ||s_k + gamma (s(v_k) - s_k)||^2
        y_{k+1} <- y_k + gamma (v_k - y_k)

Rate O(1/k).  It needs no projections: an iteration is one greedy vertex of every function, counted
here as r oracle calls.
"""

from __future__ import annotations

from dataclasses import dataclass

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout
from submin.solvers.solver import refuse_precedences


@dataclass
class FrankWolfeState:
    """The dual y and its s."""

    y: Dual
    s: FloatArray


@dataclass(frozen=True)
class FrankWolfe:
    """Conditional gradient with exact line search.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.FrankWolfe()).value
    0.0
    """

    def start(self, layout: Layout, dual: Dual) -> FrankWolfeState:
        """Start from a feasible dual.

        Raises
        ------
        TypeError
            If a term has infinite weights.
        """
        refuse_precedences(layout, self)
        return FrankWolfeState(dual, layout.total(dual))

    def step(self, layout: Layout, state: FrankWolfeState) -> int:
        """Move towards the greedy vertex, as far as ||s||^2 falls."""
        vertex = layout.greedy_vertex(-state.s)
        direction = layout.total(vertex) - state.s
        length = float(direction @ direction)
        gamma = min(1.0, max(0.0, -float(state.s @ direction) / length)) if length else 0.0
        for y, v in zip(state.y, vertex, strict=True):
            y += gamma * (v - y)
        state.s += gamma * direction
        return layout.r

    def iterate(self, layout: Layout, state: FrankWolfeState) -> tuple[Dual, FloatArray]:
        """Return y; s is summed afresh, so that rounding does not drift."""
        state.s = layout.total(state.y)
        return state.y, state.s
