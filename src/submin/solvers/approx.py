"""Accelerated, parallel and proximal coordinate descent (APPROX): what the ACDM solvers share.

    Fercoq & Richtarik 2015, doi:10.1137/130949993, for min 1/2 ||s||^2 over y in Y:

    z_0 in Y, theta_0 <- p, u_0 <- 0
    In each iteration k:
        Draw a set C of blocks, each in it with probability p;  u_{k+1} <- u_k, z_{k+1} <- z_k
        s <- that of the point theta_k^2 u_k + z_k
        For each i in C:
            t <- argmin over t + z^(i) in B(F_i) of  <s, t> + theta_k / (2 p) sum_v w_v t_v^2
            z_{k+1}^(i) <- z_k^(i) + t
            u_{k+1}^(i) <- u_k^(i) - (1 - theta_k / p) / theta_k^2 t
        theta_{k+1} <- (sqrt(theta_k^4 + 4 theta_k^2) - theta_k^2) / 2
    Return theta_k^2 u_{k+1} + z_{k+1}

with weights w that fit the sampling (see ``samplings``).  After an epoch of iterations the method
starts again from the point that it returns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from submin._typing import Dual, FloatArray, IndexArray
from submin.solve.layout import Layout
from submin.solvers.randomness import seeded
from submin.solvers.samplings import Sampling


@dataclass
class ApproxState:
    """z and u, the n-vectors w_z = unary + sum_i z^(i) and w_u = sum_i u^(i), and theta.

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
    sampling: Sampling
    places: list[IndexArray | slice]
    s: FloatArray
    epoch_start: Dual | None = None


@dataclass(frozen=True)
class Approx(ABC):
    """APPROX with a sampling of blocks, in epochs."""

    seed: int = 0
    epoch_passes: float | None = None

    def __post_init__(self) -> None:
        if self.epoch_passes is not None and not 0 < self.epoch_passes < float("inf"):
            raise ValueError(f"epoch_passes is {self.epoch_passes}: it must be above 0 and finite")

    @abstractmethod
    def make_sampling(self, layout: Layout) -> Sampling:
        """Return the random sets of blocks that move together."""

    def epoch_iterations(self, n: int, period: float, epoch: int) -> int:
        """Return the number of iterations of an epoch; here the same for all.

        A pass has ``period`` = 1 / p of them.
        """
        if self.epoch_passes is None:
            return int(np.ceil(4.0 * n * period**1.5)) + 1
        return max(1, round(self.epoch_passes * period))

    def start(self, layout: Layout, dual: Dual) -> ApproxState:
        """Start the first epoch from a feasible dual."""
        sampling = self.make_sampling(layout)
        return ApproxState(
            z=dual,
            u=[np.zeros_like(part) for part in dual],
            w_z=layout.total(dual),
            w_u=np.zeros(layout.n),
            theta=1.0 / max(sampling.period, 1.0),
            weight=0.0,
            iteration=0,
            epoch=0,
            generator=seeded(self.seed),
            sampling=sampling,
            places=[_dense_if_large(support, layout.n) for support in layout.supports],
            s=np.zeros(layout.n),
        )

    def step(self, layout: Layout, state: ApproxState) -> int:
        """Do one iteration, and end the epoch when it is over."""
        theta, period = state.theta, state.sampling.period
        chosen = state.sampling.draw(state.generator)
        weights = state.sampling.weights(chosen)
        targets = [self._target(layout, state, i, weights).copy() for i in chosen]
        scale = -(1.0 - period * theta) / theta**2
        for i, target in zip(chosen, targets, strict=True):
            move = target - layout.take(i, state.z)
            layout.put(i, state.z, target)
            layout.put(i, state.u, layout.take(i, state.u) + scale * move)
            layout.accumulate(i, move, state.w_z)
            layout.accumulate(i, move, state.w_u, scale)
        state.weight = theta**2
        state.theta = (np.sqrt(theta**4 + 4.0 * theta**2) - theta**2) / 2.0
        state.iteration += 1
        if state.iteration == self.epoch_iterations(layout.n, period, state.epoch):
            self._end_epoch(layout, state)
        return len(chosen)

    def _target(
        self, layout: Layout, state: ApproxState, i: int, weights: FloatArray | float
    ) -> FloatArray:
        """Return z^(i) + t for block i; s is only formed where the block looks."""
        where, theta = state.places[i], state.theta
        state.s[where] = state.w_z[where] + theta**2 * state.w_u[where]
        c = state.sampling.period * theta
        if isinstance(weights, float):
            return layout.project(i, state.z, state.s, weights * c)
        return layout.project_weighted(i, state.z, state.s, weights, c)

    def _end_epoch(self, layout: Layout, state: ApproxState) -> None:
        """Start the next epoch from the point that APPROX returns."""
        y, s = self.iterate(layout, state)
        self._begin_epoch(layout, state, y, s)

    def _begin_epoch(self, layout: Layout, state: ApproxState, y: Dual, s: FloatArray) -> None:
        """Set z_0 = y, u_0 = 0, theta_0 = p."""
        state.z, state.w_z = y, s
        state.u = [np.zeros_like(part) for part in state.z]
        state.w_u = np.zeros(layout.n)
        state.theta, state.weight, state.iteration = 1.0 / state.sampling.period, 0.0, 0
        state.epoch += 1

    def iterate(self, layout: Layout, state: ApproxState) -> tuple[Dual, FloatArray]:
        """Return theta_k^2 u_{k+1} + z_{k+1}, a convex combination of feasible points."""
        y = [z + state.weight * u for z, u in zip(state.z, state.u, strict=True)]
        return y, layout.total(y)


def _dense_if_large(support: IndexArray, n: int) -> IndexArray | slice:
    """Index the elements of a block, or all elements where gathering would cost more."""
    return support if support.size < n / 8 else slice(None)
