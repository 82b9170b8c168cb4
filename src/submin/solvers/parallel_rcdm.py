"""Parallel random coordinate descent: Li & Milenkovic 2018 (arXiv:1803.03851).

    In each iteration k:
        Pick K of the r blocks uniformly at random
        c <- the largest number of picked blocks on one element
        For each picked block i, all from the same s:  y^(i) <- Proj_{B(F_i)}(y^(i) - s / c)

The Hessian of ||s||^2 / 2 restricted to the picked blocks has the norm c, so every iteration
descends; picked blocks without common elements take full steps.  All projections of an iteration
are independent of one another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin import _checks
from submin._typing import Dual, FloatArray, IndexArray
from submin.layout import Layout
from submin.solvers.randomness import seeded


@dataclass
class ParallelRCDMState:
    """The dual y, its s, and how many picked blocks touch each element."""

    y: Dual
    s: FloatArray
    generator: np.random.Generator
    supports: list[IndexArray]
    touched: IndexArray


@dataclass(frozen=True)
class ParallelRCDM:
    """Random coordinate descent on several blocks at a time.

    Parameters
    ----------
    batch : int
        K, the number of blocks of one iteration; at most r are taken.
    seed : int, optional
        Seed of the random picks.

    Raises
    ------
    ValueError
        If `batch` is below 1.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.ParallelRCDM(batch=2)).value
    0.0
    """

    batch: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        _checks.whole_number("batch", self.batch, 1)

    def start(self, layout: Layout, dual: Dual) -> ParallelRCDMState:
        """Start from a feasible dual."""
        return ParallelRCDMState(
            y=dual,
            s=layout.total(dual),
            generator=seeded(self.seed),
            supports=[layout.support(i) for i in range(layout.r)],
            touched=np.zeros(layout.n, dtype=np.int32),
        )

    def step(self, layout: Layout, state: ParallelRCDMState) -> int:
        """Project K random blocks, all from the same s."""
        count = min(self.batch, layout.r)
        picked = state.generator.choice(layout.r, count, replace=False, shuffle=False).tolist()
        c = float(self._overlap(state, picked))
        targets = [layout.project(i, state.y, state.s, c) for i in picked]
        for i, target in zip(picked, targets, strict=True):
            layout.accumulate(i, target - layout.take(i, state.y), state.s)
            layout.put(i, state.y, target)
        return count

    def _overlap(self, state: ParallelRCDMState, picked: list[int]) -> int:
        """Return the largest number of picked blocks on one element."""
        most = 1
        for i in picked:
            state.touched[state.supports[i]] += 1
            most = max(most, int(np.max(state.touched[state.supports[i]], initial=1)))
        for i in picked:
            state.touched[state.supports[i]] = 0
        return most

    def iterate(self, layout: Layout, state: ParallelRCDMState) -> tuple[Dual, FloatArray]:
        """Return y; s is summed afresh, so that rounding does not drift."""
        state.s = layout.total(state.y)
        return state.y, state.s
