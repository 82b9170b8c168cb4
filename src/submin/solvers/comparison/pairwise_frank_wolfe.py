"""Pairwise Frank-Wolfe on the dual: weight moves from the worst point in use to the best vertex.

    Lacoste-Julien & Jaggi 2015, arXiv:1511.05932

    A <- {y_0},  alpha <- 1
    In each iteration k:
        v_k     <- argmin over v in Y of <s_k, v>         the greedy vertex of the order of s_k
        a_k     <- argmax over a in A of <s_k, a>         the away point
        gamma   <- argmin over [0, alpha(a_k)] of ||s_k + gamma (s(v_k) - s(a_k))||^2
        y_{k+1} <- y_k + gamma (v_k - a_k):  alpha(v_k) += gamma,  alpha(a_k) -= gamma
        Drop a_k from A if its weight is 0

The active set A holds points of the whole product polytope Y, so that one weight serves all terms
and the geometry takes place in s.  The starting dual is its first point.  Linear rate on a
polytope.  An iteration is one greedy vertex of every function, counted as r oracle calls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin import _checks
from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout
from submin.solvers.combination import Combination
from submin.solvers.solver import refuse_precedences


@dataclass
class PairwiseFrankWolfeState:
    """The active set with its weights, and s."""

    active: Combination
    s: FloatArray


@dataclass(frozen=True)
class PairwiseFrankWolfe:
    """Frank-Wolfe with pairwise steps and exact line search.

    Parameters
    ----------
    memory : int, optional
        Numbers that the active set may hold, 2^25 (256 MB) by default, n + d for each point of it
        with d dual coordinates; from two points on.  When it is full, its two points of the least
        weight are merged into their mean, which is a point of Y and leaves y as it is.

    Notes
    -----
    With m points in the active set and d dual coordinates, an iteration takes a greedy vertex of
    every function and O(m (n + d)), and a new point copies all of them.  Its linear rate holds in
    theory, and is slow from some hundred elements on (see the guide's page of measurements): use
    it to compare.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.PairwiseFrankWolfe()).value
    0.0
    """

    memory: int = 2**25

    def __post_init__(self) -> None:
        _checks.whole_number("memory", self.memory, 0)

    def start(self, layout: Layout, dual: Dual) -> PairwiseFrankWolfeState:
        """Start from a feasible dual, as the only point of the active set.

        Raises
        ------
        TypeError
            If a term has infinite weights.
        """
        refuse_precedences(layout, self)
        return PairwiseFrankWolfeState(Combination.of(layout, dual), layout.total(dual))

    def step(self, layout: Layout, state: PairwiseFrankWolfeState) -> int:
        """Move weight from the away point to the greedy vertex, as far as ||s||^2 falls."""
        toward = self._activated(layout, state)
        points, _, weights = state.active
        away = int(np.argmax(points @ state.s))
        direction = points[toward] - points[away]
        length = float(direction @ direction)
        gamma = max(0.0, -float(state.s @ direction) / length) if length else 0.0
        gamma = min(gamma, float(weights[away]))
        weights[toward] += gamma
        weights[away] -= gamma
        state.s = state.s + gamma * direction
        state.active = state.active.positive()
        return layout.r

    def iterate(self, layout: Layout, state: PairwiseFrankWolfeState) -> tuple[Dual, FloatArray]:
        """Return the dual that the active set combines to; s is summed afresh."""
        dual = state.active.dual(layout)
        state.s = layout.total(dual)
        return dual, state.s

    def _activated(self, layout: Layout, state: PairwiseFrankWolfeState) -> int:
        """Return the place of the greedy vertex in the active set, where it is put if it is new."""
        vertex = layout.greedy_vertex(-state.s)
        point = layout.total(vertex)
        known = np.flatnonzero(np.all(state.active.points == point, axis=1))
        if known.size:
            return int(known[0])
        numbers = state.active.points.shape[1] + state.active.duals.shape[1]
        if len(state.active.weights) >= max(2, self.memory // max(1, numbers)):
            state.active = _merged(state.active)
        state.active = state.active.extended(layout, [vertex])
        return len(state.active.weights) - 1


def _merged(active: Combination) -> Combination:
    """Replace the two points of the least weight by their mean in these weights."""
    light = np.argsort(active.weights, kind="stable")[:2]
    share = active.weights[light] / active.weights[light].sum()
    rest = np.delete(np.arange(active.weights.size), light)
    return Combination(
        np.vstack([active.points[rest], share @ active.points[light]]),
        np.vstack([active.duals[rest], share @ active.duals[light]]),
        np.append(active.weights[rest], active.weights[light].sum()),
    )
