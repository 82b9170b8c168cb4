"""Random block coordinate descent (RCDM): Ene & Nguyen 2015, Section 2 and Figure 1.

    Start with y_0 in Y
    In each iteration k:
        Pick an index i in {1, ..., r} uniformly at random
        y_{k+1}^(i) <- argmin over y in B(F_i) of
                           <grad_i g(y_k), y - y_k^(i)> + L_i/2 ||y - y_k^(i)||^2

With g(y) = ||sum_i y^(i)||^2 the gradient is 2 s and L_i = 2, so the update is the projection of
y_k^(i) - s: a block ``sweep``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin._typing import Dual, FloatArray, PointerArray
from submin.solve.layout import Layout
from submin.solvers.randomness import seeded


@dataclass
class RCDMState:
    """The dual y, its s, and the blocks that the coming iterations pick."""

    y: Dual
    s: FloatArray
    generator: np.random.Generator
    picks: PointerArray
    next_pick: int = 0


@dataclass(frozen=True)
class RCDM:
    """Random block coordinate descent.

    E[d(y_k, E)^2 + g(y_k) - g*] contracts by 1 - 2/(n^2 r^2 + r) per iteration, E the optimal
    duals.  This is what the proof of Theorem 4 shows; its statement has d(y_k, E) beside
    g(y_{k+1}), which a path of 5 nodes refutes.  One block projection per iteration.

    Parameters
    ----------
    seed : int, optional
        Seed of the random picks; the same seed gives the same bits for any number of threads.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.RCDM(seed=1)).value
    0.0
    """

    seed: int = 0

    def start(self, layout: Layout, dual: Dual) -> RCDMState:
        """Start from a feasible dual."""
        generator = seeded(self.seed)
        return RCDMState(dual, layout.total(dual), generator, np.empty(0, dtype=np.int64))

    def step(self, layout: Layout, state: RCDMState) -> int:
        """Minimise ||s||^2 over one random block."""
        if state.next_pick == state.picks.size:
            state.picks, state.next_pick = state.generator.integers(layout.r, size=layout.r), 0
        i = int(state.picks[state.next_pick])
        state.next_pick += 1
        layout.sweep(i, state.y, state.s)
        return 1

    def iterate(self, layout: Layout, state: RCDMState) -> tuple[Dual, FloatArray]:
        """Return y; s is summed afresh, so that rounding does not drift."""
        state.s = layout.total(state.y)
        return state.y, state.s
