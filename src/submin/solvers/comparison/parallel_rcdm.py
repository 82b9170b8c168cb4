"""Parallel random coordinate descent: Li & Milenkovic 2018 (arXiv:1803.03851).

    In each iteration k:
        Pick a set C of blocks, at most K:  uniformly at random, or a random part of a partition
        mu_v <- the number of blocks of C that touch element v
        For each block i of C, all from the same s:
            y^(i) <- argmin over y in B(F_i) of  sum_v mu_v (y_v - (y_v^(i) - s_v / mu_v))^2

The blocks of C share s where they have elements in common and take full steps elsewhere, and
||s||^2 falls in every iteration (see ``iap``, which is K = r).  The greedy partition packs blocks
with few common elements into one part.  All projections of an iteration are independent of one
another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout
from submin.solvers.randomness import seeded
from submin.solvers.samplings import SAMPLINGS, Sampling, check_sampling


@dataclass
class ParallelRCDMState:
    """The dual y, its s, and what picks the blocks."""

    y: Dual
    s: FloatArray
    generator: np.random.Generator
    sampling: Sampling


@dataclass(frozen=True)
class ParallelRCDM:
    """Random coordinate descent on several blocks at a time.

    Parameters
    ----------
    batch : int
        K, the number of blocks of one iteration; at most r are taken.
    seed : int, optional
        Seed of the random picks.
    sampling : str, optional
        ``"uniform"``: any K blocks.  ``"greedy"``: a random part of a partition into ceil(r / K)
        parts that overlap little.

    Raises
    ------
    ValueError
        If `batch` is below 1, or there is no sampling of that name.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.ParallelRCDM(batch=2)).value
    0.0
    """

    batch: int = 4
    seed: int = 0
    sampling: str = "uniform"

    def __post_init__(self) -> None:
        check_sampling(self.batch, self.sampling)

    def start(self, layout: Layout, dual: Dual) -> ParallelRCDMState:
        """Start from a feasible dual."""
        sampling = SAMPLINGS[self.sampling](layout, self.batch)
        return ParallelRCDMState(dual, layout.total(dual), seeded(self.seed), sampling)

    def step(self, layout: Layout, state: ParallelRCDMState) -> int:
        """Project the blocks of one set, all from the same s."""
        chosen = state.sampling.draw(state.generator)
        mu = layout.degrees(chosen)
        targets = [layout.project_weighted(i, state.y, state.s, mu).copy() for i in chosen]
        for i, target in zip(chosen, targets, strict=True):
            layout.accumulate(i, target - layout.take(i, state.y), state.s)
            layout.put(i, state.y, target)
        return len(chosen)

    def iterate(self, layout: Layout, state: ParallelRCDMState) -> tuple[Dual, FloatArray]:
        """Return y; s is summed afresh, so that rounding does not drift."""
        state.s = layout.total(state.y)
        return state.y, state.s
