"""Smoothed Lovász gradient (SLG): Stobbe & Krause 2010 (arXiv:1010.5511), with Nesterov smoothing.

    f_mu(x) = <u, x> + sum_i max over y in B(F_i) of <y, x> - mu / 2 ||y||^2
    gradient  u + sum_i Proj_{B(F_i)}(x / mu),   Lipschitz constant  omega / mu
    In each iteration k, over the cube [0, 1]^n:                       (Nesterov 2005, FISTA form)
        x_{k+1} <- clip(ahead - mu / omega grad f_mu(ahead), 0, 1),   ahead <- x + momentum

omega is the largest number of blocks on one element.  The maximisers y are a feasible dual at every
step, and give the bound.  The error of the smoothing is at most mu / 2 sum_i ||y_i||^2, so mu is
divided whenever the method comes to rest, down to where x / mu loses the digits of y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout
from submin.solvers.solver import refuse_precedences

SMALLEST = 1e-9
"""How small mu gets, in units of the first one."""


@dataclass
class SmoothedLovaszState:
    """x and its predecessor, Nesterov's t, the smoothing mu, and the maximisers y."""

    x: FloatArray
    previous: FloatArray
    y: Dual
    zero: Dual
    overlap: float
    mu: float
    least_mu: float
    t: float = 1.0


@dataclass(frozen=True)
class SmoothedLovasz:
    """Accelerated gradient descent on the smoothed Lovász extension, with decreasing smoothing.

    Parameters
    ----------
    smoothing : float, optional
        The first mu, in 1 / units of cost; by default 1 over the mean of ``|u|``.
    rest : float, optional
        The change of x (largest entry, x in [0, 1]) below which mu is halved.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.SmoothedLovasz()).value
    0.0
    """

    smoothing: float | None = None
    rest: float = 1e-3

    def __post_init__(self) -> None:
        if self.smoothing is not None and not 0.0 < self.smoothing < float("inf"):
            raise ValueError(f"smoothing is {self.smoothing}: it must be above 0 and finite")
        if not self.rest > 0.0:
            raise ValueError(f"rest is {self.rest}: it must be above 0")

    def start(self, layout: Layout, dual: Dual) -> SmoothedLovaszState:
        """Start at the level set {x > 0} of a feasible dual.

        Raises
        ------
        TypeError
            If a term has infinite weights.
        """
        refuse_precedences(layout, self)
        x = (layout.total(dual) < 0.0).astype(np.float64)
        scale = float(np.mean(np.abs(layout.unary))) or 1.0
        mu = self.smoothing or min(1.0 / scale, 1e100)
        zero = [np.zeros_like(part) for part in dual]
        overlap = float(max(layout.overlap(), 1))
        return SmoothedLovaszState(x, x.copy(), dual, zero, overlap, mu, SMALLEST * mu)

    def step(self, layout: Layout, state: SmoothedLovaszState) -> int:
        """Do one accelerated gradient step on the cube."""
        t_next = (1.0 + np.sqrt(1.0 + 4.0 * state.t**2)) / 2.0
        ahead = state.x + (state.t - 1.0) / t_next * (state.x - state.previous)
        for i in range(layout.r):
            layout.put(i, state.y, layout.project(i, state.zero, -ahead, state.mu))
        gradient = layout.total(state.y)
        x = np.clip(ahead - state.mu / state.overlap * gradient, 0.0, 1.0)
        if float((ahead - x) @ (x - state.x)) > 0.0:
            t_next = 1.0
        if float(np.max(np.abs(x - state.x), initial=0.0)) < self.rest:
            state.mu, t_next = max(0.5 * state.mu, state.least_mu), 1.0
        state.previous, state.x, state.t = state.x, x, float(t_next)
        return layout.r

    def iterate(self, layout: Layout, state: SmoothedLovaszState) -> tuple[Dual, FloatArray]:
        """Return the maximisers of the smoothed functions, and their s."""
        return state.y, layout.total(state.y)
