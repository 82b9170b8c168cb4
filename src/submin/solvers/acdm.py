"""Accelerated random coordinate descent (ACDM): Ene & Nguyen 2015, Section 3, Figures 2 and 3.

    ACDM:  y_0 in Y; in each epoch l: y_{l+1} <- APPROX from y_l for 4 n r^{3/2} + 1 iterations

    APPROX (Fercoq & Richtarik 2015, doi:10.1137/130949993):
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

from submin._typing import Dual, FloatArray, IndexArray
from submin.layout import Layout
from submin.solvers.randomness import seeded


@dataclass
class ACDMState:
    """z and u of APPROX, the n-vectors w_z = unary + sum_i z^(i) and w_u = sum_i u^(i), and theta.

    ``weight`` is theta_k^2 of the last iteration, with which u enters the returned point.
    """

    z: Dual
    u: Dual
    w_z: FloatArray
    w_u: FloatArray
    theta: float
    weight: float
    iteration: int
    epoch: int
    generator: np.random.Generator
    supports: list[IndexArray | slice]
    s: FloatArray
    step_constant: float
    epoch_start: Dual | None = None


@dataclass(frozen=True)
class ACDM:
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

    seed: int = 0
    epoch_passes: float | None = None
    step_constant: float | None = 2.0

    def __post_init__(self) -> None:
        if self.epoch_passes is not None and not 0 < self.epoch_passes < float("inf"):
            raise ValueError(f"epoch_passes is {self.epoch_passes}: it must be above 0 and finite")
        if self.step_constant is not None and not self.step_constant >= 1.0:
            raise ValueError(f"step_constant is {self.step_constant}: it must be 1 or more")

    def epoch_iterations(self, n: int, r: int, epoch: int) -> int:
        """Return the number of iterations of an epoch; here the same for all."""
        if self.epoch_passes is None:
            return int(np.ceil(4.0 * n * r**1.5)) + 1
        return max(1, round(self.epoch_passes * r))

    def start(self, layout: Layout, dual: Dual) -> ACDMState:
        """Start the first epoch from a feasible dual."""
        return ACDMState(
            z=dual,
            u=[np.zeros_like(part) for part in dual],
            w_z=layout.total(dual),
            w_u=np.zeros(layout.n),
            theta=1.0 / max(layout.r, 1),
            weight=0.0,
            iteration=0,
            epoch=0,
            generator=seeded(self.seed),
            supports=[_dense_if_large(layout.support(i), layout.n) for i in range(layout.r)],
            s=np.zeros(layout.n),
            step_constant=self.step_constant or _overlap_constant(layout),
        )

    def step(self, layout: Layout, state: ACDMState) -> int:
        """Do one iteration of APPROX, and end the epoch when it is over."""
        theta, r = state.theta, layout.r
        chosen = _independent_blocks(state.generator, r)
        targets = [self._target(layout, state, int(i)) for i in chosen]
        for i, target in zip(chosen.tolist(), targets, strict=True):
            move = target - layout.take(i, state.z)
            scale = -(1.0 - r * theta) / theta**2
            layout.put(i, state.z, target)
            layout.put(i, state.u, layout.take(i, state.u) + scale * move)
            layout.accumulate(i, move, state.w_z)
            layout.accumulate(i, move, state.w_u, scale)
        state.weight = theta**2
        state.theta = (np.sqrt(theta**4 + 4.0 * theta**2) - theta**2) / 2.0
        state.iteration += 1
        if state.iteration == self.epoch_iterations(layout.n, r, state.epoch):
            self._end_epoch(layout, state)
        return len(targets)

    def _target(self, layout: Layout, state: ACDMState, i: int) -> FloatArray:
        """Return z^(i) + t for block i; s is only formed where the block looks."""
        where, theta = state.supports[i], state.theta
        state.s[where] = state.w_z[where] + theta**2 * state.w_u[where]
        return layout.project(i, state.z, state.s, state.step_constant * layout.r * theta)

    def _end_epoch(self, layout: Layout, state: ACDMState) -> None:
        """Start the next epoch from the point that APPROX returns."""
        y, s = self.iterate(layout, state)
        self._begin_epoch(layout, state, y, s)

    def _begin_epoch(self, layout: Layout, state: ACDMState, y: Dual, s: FloatArray) -> None:
        """Set z_0 = y, u_0 = 0, theta_0 = 1 / r."""
        state.z, state.w_z = y, s
        state.u = [np.zeros_like(part) for part in state.z]
        state.w_u = np.zeros(layout.n)
        state.theta, state.weight, state.iteration = 1.0 / layout.r, 0.0, 0
        state.epoch += 1

    def iterate(self, layout: Layout, state: ACDMState) -> tuple[Dual, FloatArray]:
        """Return theta_k^2 u_{k+1} + z_{k+1}, a convex combination of feasible points."""
        y = [z + state.weight * u for z, u in zip(state.z, state.u, strict=True)]
        return y, layout.total(y)


def _independent_blocks(generator: np.random.Generator, r: int) -> IndexArray:
    """Include each of r blocks independently with probability 1/r, in O(number included).

    The number included is binomial, and given the number every subset is equally likely.
    """
    count = int(generator.binomial(r, 1.0 / r)) if r else 0
    return generator.choice(r, size=count, replace=False, shuffle=False).astype(np.int32)


def _dense_if_large(support: IndexArray, n: int) -> IndexArray | slice:
    """Index the elements of a block, or all elements where gathering would cost more."""
    return support if support.size < n / 8 else slice(None)


def _overlap_constant(layout: Layout) -> float:
    """Return 1 + (omega - 1) / r."""
    return 1.0 + max(layout.overlap() - 1, 0) / max(layout.r, 1)
