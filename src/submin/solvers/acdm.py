"""Accelerated random coordinate descent (ACDM): Ene & Nguyen 2015, Section 3, Figures 2 and 3.

    ACDM:  y_0 in Y; in each epoch l: y_{l+1} <- APPROX from y_l for 4 n r^{3/2} + 1 iterations

    APPROX (Fercoq & Richtarik 2015, doi:10.1137/130949993; see ``approx``):
    z_0 in Y, theta_0 <- 1/r, u_0 <- 0
    In each iteration k:
        R_k: each block independently with probability 1/r;  u_{k+1} <- u_k, z_{k+1} <- z_k
        For each i in R_k:
            t <- argmin over t + z^(i) in B(F_i) of
                     <grad_i g(theta_k^2 u_k + z_k), t> + 2 r theta_k ||t||^2
            z_{k+1}^(i) <- z_k^(i) + t
            u_{k+1}^(i) <- u_k^(i) - (1 - r theta_k) / theta_k^2 t
        theta_{k+1} <- (sqrt(theta_k^4 + 4 theta_k^2) - theta_k^2) / 2
    Return theta_k^2 u_{k+1} + z_{k+1}

The gradient is 2 s with s summed over theta^2 u + z, so t = Proj(z - s / (2 r theta)) - z: the
block primitive with c = 2 r theta.

The 2 is the step constant of Lemma 5, E[g(x + h_R)] <= g(x) + <grad g(x), h> / r + (2 / r) ||h||^2.
Its proof bounds the cross terms <h^(i), h^(j)> of all pairs of blocks; only blocks with a common
element have one.  If no element is in more than omega blocks, the same proof gives the constant
1 + (omega - 1) / r, which is close to 1 for many small blocks and allows twice the step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin.layout import Layout
from submin.solvers.approx import Approx
from submin.solvers.samplings import Sampling


@dataclass(frozen=True)
class ACDM(Approx):
    """Accelerated random coordinate descent.

    The expected gap halves with every epoch of 4 n r^{3/2} + 1 iterations (Theorem 6), about one
    block projection each.

    Parameters
    ----------
    seed : int, optional
        Seed of the random blocks; the same seed gives the same bits for any number of threads.
    epoch_passes : float, optional
        Length of an epoch in passes of r iterations.  By default the theory's, which no image
        lives to see the end of; 10 to 100 is practical.
    step_constant : float, optional
        The constant of Lemma 5: 2 as in the paper, or ``None`` for 1 + (omega - 1) / r, the same
        lemma with the number omega of blocks that share an element counted.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.ACDM(seed=1, epoch_passes=10)).value
    0.0
    """

    step_constant: float | None = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step_constant is not None and not self.step_constant >= 1.0:
            raise ValueError(f"step_constant is {self.step_constant}: it must be 1 or more")

    def make_sampling(self, layout: Layout) -> Sampling:
        """Return independent blocks, each with probability 1 / r."""
        return IndependentSampling(layout.r, self.step_constant or _overlap_constant(layout))


class IndependentSampling:
    """Each of r blocks independently with probability 1 / r; the step constant as every weight."""

    def __init__(self, r: int, step_constant: float) -> None:
        self.period, self.step_constant = float(r), float(step_constant)

    def draw(self, generator: np.random.Generator) -> list[int]:
        """Return a binomial number of blocks, in O(that number).

        Given their number, every subset is equally likely.
        """
        r = int(self.period)
        count = int(generator.binomial(r, 1.0 / r)) if r else 0
        chosen: list[int] = generator.choice(r, size=count, replace=False, shuffle=False).tolist()
        return chosen

    def weights(self, chosen: list[int]) -> float:
        """Return the step constant."""
        return self.step_constant


def _overlap_constant(layout: Layout) -> float:
    """Return 1 + (omega - 1) / r."""
    return 1.0 + max(layout.overlap() - 1, 0) / max(layout.r, 1)
