"""Alternating projections with incidence relations (IAP): Li & Milenkovic 2018 (arXiv:1803.03851).

    mu_v <- the number of blocks that touch element v
    In each iteration k:
        a^(i)   <- y^(i) - s / mu             on the support of block i, for all i from the same s
        y^(i)   <- argmin over y in B(F_i) of  sum_v mu_v (y_v - a_v^(i))^2

Where AP divides s among all r blocks, of which many do not have the element, IAP divides it among
the mu_v that do.  Both are projected gradient steps for ||s||^2 / 2, whose gradient in each block
is s: AP with the preconditioner r, IAP with the diagonal one mu <= r.  It is large enough, since

    || s + sum_i h_i ||^2  <=  ||s||^2 + sum_i ( 2 <s, h_i> + sum_v mu_v h_i(v)^2 ),

so ||s||^2 never rises.  Where every element is in all r blocks the two methods are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout


@dataclass
class IAPState:
    """The dual y, its s, and mu."""

    y: Dual
    s: FloatArray
    mu: FloatArray


@dataclass(frozen=True)
class IAP:
    """Alternating projections in which an element counts only the blocks that touch it.

    ``O(n |mu|_1 r log(1 / eps))`` block projections, where AP takes ``O(n^2 r^2 log(1 / eps))``.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.IAP()).value
    0.0
    """

    def start(self, layout: Layout, dual: Dual) -> IAPState:
        """Start from a feasible dual."""
        return IAPState(dual, layout.total(dual), layout.degrees())

    def step(self, layout: Layout, state: IAPState) -> int:
        """Project every block once, all from the same s."""
        for i in range(layout.r):
            layout.put(i, state.y, layout.project_weighted(i, state.y, state.s, state.mu))
        state.s = layout.total(state.y)
        return layout.r

    def iterate(self, layout: Layout, state: IAPState) -> tuple[Dual, FloatArray]:
        """Return y and s."""
        return state.y, state.s
