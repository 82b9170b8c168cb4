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

The 2 is the step constant of Lemma 7, E[g(x + h_R)] <= g(x) + <grad g(x), h> / r + (2 / r) ||h||^2.
Its proof bounds the cross terms <h^(i), h^(j)> of all pairs of blocks; only blocks with a common
element have one.  If no element is in more than omega blocks, the same proof gives the constant
1 + (omega - 1) / r, which is close to 1 for many small blocks and allows almost twice the step.

The cross terms come from iterations that draw two blocks or more.  With exactly one block in each,
picked uniformly as RCDM does (Figure 1), there are none, and the constant is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from submin.solve.layout import Layout
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
        Length of an epoch in passes of r iterations.  The default is the length of the theory,
        which is impractical for images; 10 to 100 is practical.
    step_constant : float, optional
        The constant of Lemma 7: 2 as in the paper, or ``None`` for the smallest that its proof
        gives for the sampling and the blocks: 1 + (omega - 1) / r for ``"independent"``, omega the
        largest number of blocks on one element, and 1 for ``"uniform"``.  Smaller constants are
        accepted, but then Theorems 6 and 8 do not apply: with ``"independent"``, 1 is enough only
        if no two blocks share an element.  The certificate holds for any constant.
    sampling : str, optional
        ``"independent"``, as in Figure 2: each block with probability 1 / r, so an iteration takes
        one block on average.  ``"uniform"``: exactly one block in each iteration, picked uniformly
        as in Figure 1.

    Raises
    ------
    ValueError
        If `epoch_passes` is not above 0, `step_constant` is below 1, or there is no sampling of
        that name.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.ACDM(seed=1, epoch_passes=10)).value
    0.0
    >>> exactly_one = sm.ACDM(seed=1, epoch_passes=10, sampling="uniform", step_constant=None)
    >>> sm.minimize(problem, exactly_one).value
    0.0
    """

    step_constant: float | None = 2.0
    sampling: str = "independent"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step_constant is not None and not 1.0 <= self.step_constant < float("inf"):
            raise ValueError(
                f"step_constant is {self.step_constant}: it must be 1 or more, and finite"
            )
        if self.sampling not in SAMPLINGS:
            names = ", ".join(repr(name) for name in SAMPLINGS)
            raise ValueError(f"sampling is {self.sampling!r}: the samplings are {names}")

    def make_sampling(self, layout: Layout) -> Sampling:
        """Return the random sets of blocks, with the step constant as every weight."""
        return SAMPLINGS[self.sampling](layout, self.step_constant)


class IndependentSampling:
    """Each of r blocks independently with probability 1 / r (Figure 2)."""

    name: ClassVar[str] = "independent"

    def __init__(self, layout: Layout, step_constant: float | None = None) -> None:
        self.r, self.period = layout.r, float(layout.r)
        self.step_constant = float(step_constant or self.least_constant(layout))

    @staticmethod
    def least_constant(layout: Layout) -> float:
        """Return 1 + (omega - 1) / r."""
        return 1.0 + max(layout.overlap() - 1, 0) / max(layout.r, 1)

    def draw(self, generator: np.random.Generator) -> list[int]:
        """Return a binomial number of blocks, in O(that number).

        Given their number, every subset is equally likely.
        """
        count = int(generator.binomial(self.r, 1.0 / self.r)) if self.r else 0
        chosen: list[int] = generator.choice(
            self.r, size=count, replace=False, shuffle=False
        ).tolist()
        return chosen

    def weights(self, chosen: list[int]) -> float:
        """Return the step constant."""
        return self.step_constant


class OneBlockSampling:
    """Exactly one of r blocks, each with probability 1 / r (Figure 1): ``samplings`` with K = 1."""

    name: ClassVar[str] = "uniform"

    def __init__(self, layout: Layout, step_constant: float | None = None) -> None:
        self.r, self.period = layout.r, float(layout.r)
        self.step_constant = float(step_constant or 1.0)

    def draw(self, generator: np.random.Generator) -> list[int]:
        """Return one block."""
        return [int(generator.integers(self.r))] if self.r else []

    def weights(self, chosen: list[int]) -> float:
        """Return the step constant."""
        return self.step_constant


SAMPLINGS = {sampling.name: sampling for sampling in (IndependentSampling, OneBlockSampling)}
