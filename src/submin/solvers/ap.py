"""Alternating projections (AP): Nishihara, Jegelka, Jordan 2014; Ene & Nguyen 2015, Section 4.

    A = {(a^(1), ..., a^(r)) : sum_i a^(i) = 0},  Y = B(F_1) x ... x B(F_r)
    Start with a_0 in A
    In each iteration k:
        y_k     <- projection of a_k on Y
        a_{k+1} <- projection of y_k on A,   that is   a^(i) = y^(i) - s / r

so an iteration projects every block with c = r, all from the same s.  The unary is a function whose
base polytope is one point, and any block may carry it.
"""

from __future__ import annotations

from dataclasses import dataclass

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout


@dataclass
class APState:
    """The dual y and its s."""

    y: Dual
    s: FloatArray


@dataclass(frozen=True)
class AP:
    """Alternating projections between the product of base polytopes and a subspace.

    After k iterations of r projections each, the distance to the limit is O((1 - 1/(n^2 r^2))^k)
    (Nishihara, Jegelka, Jordan 2014, with kappa* <= n r, Theorem 3 of Ene & Nguyen).

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.AP()).value
    0.0
    """

    def start(self, layout: Layout, dual: Dual) -> APState:
        """Start from a feasible dual."""
        return APState(dual, layout.total(dual))

    def step(self, layout: Layout, state: APState) -> int:
        """Project every block once, all from the same s."""
        for i in range(layout.r):
            layout.put(i, state.y, layout.project(i, state.y, state.s, float(layout.r)))
        state.s = layout.total(state.y)
        return layout.r

    def iterate(self, layout: Layout, state: APState) -> tuple[Dual, FloatArray]:
        """Return y and s."""
        return state.y, state.s
