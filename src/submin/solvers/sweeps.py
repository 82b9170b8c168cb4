"""Sweeps: exact block minimisation of ||s||^2 over all blocks, one after the other.

    In each pass, for each block i in order:  y^(i) <- Proj_{B(F_i)}(y^(i) - s)

`CyclicSweeps` keeps one order.  `PermutedSweeps` draws a new one for each pass, which avoids the
quadratics on which a fixed order is up to n^2 times slower (Sun & Ye 2021,
doi:10.1007/s10107-019-01437-5; Lee & Wright 2019, doi:10.1093/imanum/dry040).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout
from submin.solvers.randomness import seeded


@dataclass
class SweepsState:
    """The dual y, its s, and the random numbers of the coming orders."""

    y: Dual
    s: FloatArray
    generator: np.random.Generator


@dataclass(frozen=True)
class CyclicSweeps:
    """Block coordinate descent in the order of the layout.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.CyclicSweeps()).value
    0.0
    """

    def start(self, layout: Layout, dual: Dual) -> SweepsState:
        """Start from a feasible dual."""
        return SweepsState(dual, layout.total(dual), seeded(0))

    def step(self, layout: Layout, state: SweepsState) -> int:
        """Do one pass."""
        for i in range(layout.r):
            layout.sweep(i, state.y, state.s)
        return layout.r

    def iterate(self, layout: Layout, state: SweepsState) -> tuple[Dual, FloatArray]:
        """Return y; s is summed afresh, so that rounding does not drift."""
        state.s = layout.total(state.y)
        return state.y, state.s


@dataclass(frozen=True)
class PermutedSweeps(CyclicSweeps):
    """Block coordinate descent in a new random order for each pass.

    Parameters
    ----------
    seed : int, optional
        Seed of the orders.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.PermutedSweeps(seed=1)).value
    0.0
    """

    seed: int = 0

    def start(self, layout: Layout, dual: Dual) -> SweepsState:
        """Start from a feasible dual."""
        return SweepsState(dual, layout.total(dual), seeded(self.seed))

    def step(self, layout: Layout, state: SweepsState) -> int:
        """Do one pass in a new order."""
        for i in state.generator.permutation(layout.r).tolist():
            layout.sweep(i, state.y, state.s)
        return layout.r
