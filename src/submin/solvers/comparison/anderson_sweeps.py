"""Anderson extrapolation of sweeps: Bertrand & Massias 2021 (arXiv:2011.10065), with constraints.

    y_0 in Y
    Repeat:
        for k = 1, ..., K:  y_k <- y_{k-1} after one pass of exact block minimisation   (a sweep)
        U <- [y_1 - y_0, ..., y_K - y_{K-1}]
        c <- argmin ||U c||^2  subject to  sum c = 1
        e <- sum_k c_k y_k,  projected block by block on Y
        y_0 <- e if ||s(e)||^2 < ||s(y_K)||^2, else y_K

Sweeps near the solution are an affine map y -> T y + b on the face of Y that they have reached, and
the combination is what K steps of a Krylov method would find (Anderson 1965,
doi:10.1145/321296.321305).  It may leave Y, which the paper, without constraints, need not care
about; the projection on Y is one more pass.  ||s||^2 never rises.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from submin import _checks
from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout


@dataclass
class AndersonSweepsState:
    """The dual y, its s, and the duals since the last extrapolation, each as one vector."""

    y: Dual
    s: FloatArray
    path: list[FloatArray] = field(default_factory=list)


@dataclass(frozen=True)
class AndersonSweeps:
    """Cyclic sweeps with Anderson extrapolation of the dual; no step sizes, never uphill.

    Parameters
    ----------
    window : int, optional
        K, the number of passes that are combined.

    Raises
    ------
    ValueError
        If `window` is below 2.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.AndersonSweeps()).value
    0.0
    """

    window: int = 5

    def __post_init__(self) -> None:
        _checks.whole_number("window", self.window, 2)

    def start(self, layout: Layout, dual: Dual) -> AndersonSweepsState:
        """Start from a feasible dual."""
        return AndersonSweepsState(dual, layout.total(dual), [_flat(dual)])

    def step(self, layout: Layout, state: AndersonSweepsState) -> int:
        """Do one pass of sweeps, and extrapolate after every K of them."""
        for i in range(layout.r):
            layout.sweep(i, state.y, state.s)
        state.path.append(_flat(state.y))
        if len(state.path) <= self.window:
            return layout.r
        ahead = layout.restored(_split(_combination(state.path), state.y))
        s = layout.total(ahead)
        if s @ s < state.s @ state.s:
            state.y, state.s = ahead, s
        state.path = [_flat(state.y)]
        return 2 * layout.r

    def iterate(self, layout: Layout, state: AndersonSweepsState) -> tuple[Dual, FloatArray]:
        """Return y; s is summed afresh, so that rounding does not drift."""
        state.s = layout.total(state.y)
        return state.y, state.s


def _flat(dual: Dual) -> FloatArray:
    """Return a copy of a dual as one vector."""
    return np.concatenate([np.zeros(0), *dual])


def _split(vector: FloatArray, like: Dual) -> Dual:
    """Cut a vector into the parts of a dual."""
    return np.split(vector, np.cumsum([part.size for part in like])[:-1]) if like else []


def _combination(path: list[FloatArray]) -> FloatArray:
    """Return sum_k c_k y_k with the c, of sum 1, whose steps y_k - y_{k-1} have the least norm.

    c is proportional to the solution of (U' U) z = 1; a little is added to the diagonal, since
    steps that are nearly dependent give weights that are mostly rounding.
    """
    steps = np.diff(path, axis=0)
    gram = steps @ steps.T
    scale = float(np.trace(gram))
    if scale < np.finfo(float).tiny:  # no steps, or so small that their squares underflow
        return path[-1]
    gram[np.diag_indices_from(gram)] += 1e-10 * scale
    c = np.linalg.solve(gram, np.ones(len(steps)))
    combined: FloatArray = (c / c.sum()) @ np.stack(path[1:])
    return combined
