"""Douglas-Rachford splitting (averaged alternating reflections): Jegelka, Bach, Sra 2013.

    A = {(a^(1), ..., a^(r)) : u + sum_i a^(i) = 0},   Y = B(F_1) x ... x B(F_r)
    z_0 in R^{nr}
    In each iteration k:
        y_k     <- Proj_Y(z_k)
        a_k     <- Proj_A(2 y_k - z_k)
        z_{k+1} <- z_k + a_k - y_k                    the mean of z and its two reflections

The shadow y_k tends to a point of Y nearest to A even though the sets do not meet (Bauschke,
Combettes, Luke 2004, doi:10.1016/j.jat.2004.02.006).  z is held in full, r n-vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout


@dataclass
class DouglasRachfordState:
    """z, one n-vector per block, and the last dual y."""

    z: list[FloatArray]
    y: Dual
    zero: Dual


@dataclass(frozen=True)
class DouglasRachford:
    """Averaged alternating reflections; no parameters, r n-vectors of memory.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.DouglasRachford()).value
    0.0
    """

    def start(self, layout: Layout, dual: Dual) -> DouglasRachfordState:
        """Start at the projection on A of a feasible dual."""
        share = layout.total(dual) / max(layout.r, 1)
        z = []
        for i in range(layout.r):
            vector = -share
            layout.accumulate(i, layout.take(i, dual), vector)
            z.append(vector)
        return DouglasRachfordState(z, dual, [np.zeros_like(part) for part in dual])

    def step(self, layout: Layout, state: DouglasRachfordState) -> int:
        """Reflect in Y, reflect in A, and take the mean."""
        reflected = []
        for i, z in enumerate(state.z):
            part = layout.project(i, state.zero, -z, 1.0)
            layout.put(i, state.y, part)
            mirror = -z
            layout.accumulate(i, part, mirror, 2.0)
            reflected.append(mirror)
        share = (layout.unary + np.sum(reflected, axis=0)) / layout.r
        for i, (z, mirror) in enumerate(zip(state.z, reflected, strict=True)):
            z += mirror - share
            layout.accumulate(i, layout.take(i, state.y), z, -1.0)
        return layout.r

    def iterate(self, layout: Layout, state: DouglasRachfordState) -> tuple[Dual, FloatArray]:
        """Return the shadow y and its s."""
        return state.y, layout.total(state.y)
