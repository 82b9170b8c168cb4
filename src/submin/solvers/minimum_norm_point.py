"""The minimum-norm point of the base polytope of the whole problem (Fujishige-Wolfe).

    Wolfe 1976, doi:10.1007/BF01580381; Fujishige & Isotani 2011 (Pacific J. Optim. 7, 3-17)

    Q <- {s_0},  s <- s_0
    In each iteration (major cycle):
        q <- argmin over B(F) of <s, q>                  the greedy vertex of the order of s
        If <s, s - q> is 0 up to rounding: s is the minimum-norm point
        Q <- the smallest corral in Q + q with a nearer point; s <- that point

The cycle itself is in ``blocks.minimum_norm_point``.  The starting dual is the first point of the
corral, though it need not be a vertex.  Each point of the corral is kept with its dual, so that the
answer is a dual of every term.  The cycles are finitely many, as no corral comes twice, and each
takes r oracle calls, counted like projections; a corral holds at most n + 1 points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from submin._typing import Dual, FloatArray
from submin.solve.layout import Layout
from submin.solvers.combination import Combination
from submin.solvers.solver import refuse_precedences
from submin.terms.blocks.minimum_norm_point import Corral, major_cycle


@dataclass
class MinimumNormPointState:
    """The corral with its duals, and s."""

    corral: Combination
    s: FloatArray


@dataclass(frozen=True)
class MinimumNormPoint:
    """The Fujishige-Wolfe algorithm on the whole problem; it needs greedy vertices alone.

    Notes
    -----
    With m <= n + 1 points in the corral and d dual coordinates, an iteration takes a greedy vertex
    of every function and O(m^3 + m^2 n), and the memory is m (n + d) numbers.  The corral grows to
    the order of n, so it is for a few thousand elements at most, as the reference for arbitrary
    functions (the guide's page of measurements has seconds by size).

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.MinimumNormPoint()).value
    0.0
    """

    def start(self, layout: Layout, dual: Dual) -> MinimumNormPointState:
        """Start from a feasible dual, as the only point of the corral.

        Raises
        ------
        TypeError
            If a term has infinite weights.
        """
        refuse_precedences(layout, self)
        return MinimumNormPointState(Combination.of(layout, dual), layout.total(dual))

    def step(self, layout: Layout, state: MinimumNormPointState) -> int:
        """Do one major cycle, which changes nothing at the minimum-norm point."""
        points, _, weights = state.corral
        larger = state.corral.extended(layout, [layout.greedy_vertex(-state.s)])
        cycle = major_cycle(Corral(points, weights), larger.points[-1], np.zeros(layout.n))
        if cycle is not None:
            corral, kept = cycle
            state.corral = Combination(corral.vertices, larger.duals[kept], corral.weights)
            state.s = corral.point
        return layout.r

    def iterate(self, layout: Layout, state: MinimumNormPointState) -> tuple[Dual, FloatArray]:
        """Return the dual that the corral combines to, and its s."""
        dual = state.corral.dual(layout)
        return dual, layout.total(dual)
