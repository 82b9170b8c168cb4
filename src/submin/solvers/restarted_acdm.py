"""ACDM with restarts that need no knowledge of the problem: Fercoq & Qu 2018 (arXiv:1803.05771).

    K_0 passes are the shortest epoch.
    In each epoch l = 1, 2, 3, ...:
        run APPROX (see ``approx``) for 2^j K_0 passes, 2^j the largest power of two that divides l
        start the next epoch from the better of its result and its starting point

So the lengths are K_0 (1, 2, 1, 4, 1, 2, 1, 8, ...).  Whatever the best length is, the sequence
contains it often enough: nearly geometric convergence without the constant n r^{3/2} of the theory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin.solve.layout import Layout
from submin.solvers.acdm import ACDM
from submin.solvers.approx import Approx, ApproxState


@dataclass(frozen=True)
class RestartedApprox(Approx):
    """APPROX with the restarts of Fercoq & Qu."""

    epoch_passes: float | None = 8.0

    def epoch_iterations(self, n: int, period: float, epoch: int) -> int:
        """Return K_0 passes times the largest power of two that divides the epoch's number."""
        shortest = super().epoch_iterations(n, period, epoch)
        number = epoch + 1
        return shortest * (number & -number)

    def _end_epoch(self, layout: Layout, state: ApproxState) -> None:
        """Start the next epoch from the better of the old and the new point."""
        y, s = self.iterate(layout, state)
        start = state.epoch_start
        if start is not None and float(s @ s) > float(np.square(layout.total(start)).sum()):
            y, s = [part.copy() for part in start], layout.total(start)
        self._begin_epoch(layout, state, y, s)
        state.epoch_start = [part.copy() for part in y]


@dataclass(frozen=True)
class RestartedACDM(RestartedApprox, ACDM):
    """Accelerated random coordinate descent with the restarts of Fercoq & Qu.

    Parameters
    ----------
    seed : int, optional
        Seed of the random blocks.
    epoch_passes : float, optional
        K_0, the shortest epoch in passes.
    step_constant : float, optional
        As in ``ACDM``; by default the smallest that is proved for the sampling and the blocks.
    sampling : str, optional
        ``"independent"`` or ``"uniform"``, as in ``ACDM``.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.RestartedACDM(seed=1)).value
    0.0
    """

    step_constant: float | None = None
