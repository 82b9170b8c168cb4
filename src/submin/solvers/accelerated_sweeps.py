"""Cyclic block minimisation with extrapolation of the dual and restart.

    y_0 = y_{-1} in Y, t_0 = 1
    In each pass k:
        beta <- (t_k - 1) / t_{k+1},  t_{k+1} = (1 + sqrt(1 + 4 t_k^2)) / 2       (Nesterov 1983)
        y <- y_k + beta (y_k - y_{k-1})                          extrapolate, maybe out of Y
        for each block i in order: y^(i) <- Proj_{B(F_i)}(y^(i) - s)                a sweep
        if ||s||^2 rose: y_{k+1} <- y_k, t <- 1           restart (O'Donoghue & Candes 2015,
        else:            y_{k+1} <- y                              doi:10.1007/s10208-013-9150-3)

The order is that of the layout for few blocks.  For many it is drawn anew for each pass: a fixed
order of many blocks that meet in one element, the edges of a star say, needs hundreds of times more
passes (see ``sweeps``).

Every block is projected in each pass, so every accepted y is feasible, and ||s||^2 never rises.
There is no proof of a rate for the extrapolated sweep; the restart makes it safe, and of the
methods here it has the fewest passes to a closed gap (`benchmarks/solvers.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from submin import kernels
from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout
from submin.solvers.randomness import seeded
from submin.solvers.solver import array_bytes

FEW_BLOCKS = 16


@dataclass
class AcceleratedSweepsState:
    """The current and the previous dual with their s, and Nesterov's t."""

    y: Dual
    s: FloatArray
    previous_y: Dual
    previous_s: FloatArray
    generator: np.random.Generator
    t: float = 1.0


@dataclass(frozen=True)
class AcceleratedSweeps:
    """Sweeps with Nesterov extrapolation of the dual, restarted whenever ||s||^2 rises.

    Parameters
    ----------
    seed : int, optional
        Seed of the orders that problems of more than 16 blocks are swept in.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.AcceleratedSweeps()).value
    0.0
    """

    seed: int = 0

    def start(self, layout: Layout, dual: Dual) -> AcceleratedSweepsState:
        """Start from a feasible dual."""
        s, copy = layout.total(dual), [part.copy() for part in dual]
        return AcceleratedSweepsState(dual, s, copy, s.copy(), seeded(self.seed))

    def _order(self, layout: Layout, state: AcceleratedSweepsState) -> Iterable[int]:
        if layout.r <= FEW_BLOCKS:
            return range(layout.r)
        order: list[int] = state.generator.permutation(layout.r).tolist()
        return order

    def step(self, layout: Layout, state: AcceleratedSweepsState) -> int:
        """Do one pass: extrapolate, sweep all blocks, accept or restart."""
        t_next = (1.0 + np.sqrt(1.0 + 4.0 * state.t**2)) / 2.0
        beta = (state.t - 1.0) / t_next
        y, s = state.previous_y, state.previous_s
        for ahead, now in zip([*y, s], [*state.y, state.s], strict=True):
            kernels.active.extrapolate(ahead, now, beta, layout.threads)
        for i in self._order(layout, state):
            layout.sweep(i, y, s)
        norm = partial(kernels.active.sum_of_squares, threads=layout.threads)
        if beta > 0.0 and norm(s) > norm(state.s):
            for ahead, now in zip([*y, s], [*state.y, state.s], strict=True):
                ahead[...] = now
            state.t = 1.0
        else:
            state.y, state.previous_y = y, state.y
            state.s, state.previous_s = s, state.s
            state.t = t_next
        return layout.r

    def iterate(self, layout: Layout, state: AcceleratedSweepsState) -> tuple[Dual, FloatArray]:
        """Return y; s is summed afresh, so that rounding does not drift."""
        state.s = layout.total(state.y)
        return state.y, state.s

    def memory(self, layout: Layout) -> int:
        """Count the current and the previous y and s, and the s that ``iterate`` sums afresh."""
        return array_bytes(layout, duals=2, vectors=3)
