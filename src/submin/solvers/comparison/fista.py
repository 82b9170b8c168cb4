"""FISTA on the dual, with gradient restart.

    y_0 = y_{-1} in Y, t_0 = 1
    In each iteration k:             (doi:10.1137/080716542, Beck & Teboulle 2009)
        ahead   <- y_k + (t_k - 1) / t_{k+1} (y_k - y_{k-1}),  t_{k+1} = (1 + sqrt(1 + 4 t_k^2)) / 2
        y_{k+1} <- Proj_Y(ahead - s(ahead) / r)           a projected gradient step: that of AP
        if <ahead - y_{k+1}, y_{k+1} - y_k> > 0: t_{k+1} <- 1        restart (O'Donoghue & Candes
                                                                2015, doi:10.1007/s10208-013-9150-3)

The gradient of ||s||^2 / 2 is s in every block, and its Lipschitz constant is r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout


@dataclass
class FISTAState:
    """The current and the previous dual, and Nesterov's t."""

    y: Dual
    previous: Dual
    t: float = 1.0


@dataclass(frozen=True)
class FISTA:
    """Accelerated alternating projections, restarted when the momentum points uphill.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.FISTA()).value
    0.0
    """

    def start(self, layout: Layout, dual: Dual) -> FISTAState:
        """Start from a feasible dual."""
        return FISTAState(dual, [part.copy() for part in dual])

    def step(self, layout: Layout, state: FISTAState) -> int:
        """Extrapolate, then project every block, all from the same s."""
        t_next = (1.0 + np.sqrt(1.0 + 4.0 * state.t**2)) / 2.0
        beta = (state.t - 1.0) / t_next
        ahead = [y + beta * (y - old) for y, old in zip(state.y, state.previous, strict=True)]
        s = layout.total(ahead)
        y = [part.copy() for part in ahead]
        for i in range(layout.r):
            layout.put(i, y, layout.project(i, ahead, s, float(layout.r)))
        uphill = sum(
            float((a - new) @ (new - old)) for a, new, old in zip(ahead, y, state.y, strict=True)
        )
        state.previous, state.y = state.y, y
        state.t = 1.0 if uphill > 0.0 else float(t_next)
        return layout.r

    def iterate(self, layout: Layout, state: FISTAState) -> tuple[Dual, FloatArray]:
        """Return y and s."""
        return state.y, layout.total(state.y)
