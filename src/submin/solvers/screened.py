"""Safe screening around any solver: it goes on with the functions that are still undecided.

    L <- all functions, less those that the range rule decides
    Repeat:
        a few passes of the inner solver over L, from y
        A, B <- the elements that the range rule or the discrete rule decides, with s of y and the
                best set {s < 0} so far                                              (``screening``)
        if at most half as many elements are undecided as at the last change:
            L <- the functions whose support is neither inside A nor inside B

Leaving a function F_i out, so that it keeps its y_i, loses nothing.  Let G be F with y_i in the
place of such F_i.  Then G <= F, and y is a dual of G with the same s, so the rules decide the same
elements for G.  On the sets A ∪ S with S undecided, G is F: y_i(e) = F_i(e) where the support e is
inside A, and both are 0 where it is inside B.  Hence min G = min F, and since every dual of G is
one of F with the same s, the gap of the whole problem closes on the functions that are left.

To go on with the minor on the undecided elements would leave less to do, but the gap would have to
be closed once more from a dual lifted to the whole problem: functions between decided and undecided
elements lose their balance, and in trials that took more passes than were saved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from submin import _checks
from submin._typing import Dual, FloatArray
from submin.layout import Layout, OpenLayout
from submin.screening import decided, range_rule
from submin.solvers.accelerated_sweeps import AcceleratedSweeps
from submin.solvers.solver import ExactSolver, Solver
from submin.terms.fixing import Fixing


@dataclass
class ScreenedState:
    """The inner solver's state on what is open, and what decides the next look."""

    open: Layout
    inner: Any
    ranges: Fixing
    undecided: int
    projections: int = 0
    next_look: int = 0
    value: float = float("inf")


@dataclass(frozen=True)
class Screened:
    """A solver that leaves out the functions which proofs have decided.

    A projection of what is left of a block counts as one.

    Parameters
    ----------
    inner : solver, optional
        Any solver that converges; ``AcceleratedSweeps()`` by default.
    every : int, optional
        Passes between two looks, or more after many passes; a look costs less than a pass.

    Raises
    ------
    TypeError
        If `inner` is an exact solver, which has no use for screening.
    ValueError
        If `every` is less than 1.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.Screened(sm.RCDM(seed=1))).value
    0.0
    """

    inner: Solver[Any] = field(default_factory=AcceleratedSweeps)
    every: int = 5

    def __post_init__(self) -> None:
        if isinstance(self.inner, type | str | ExactSolver | Screened):
            raise TypeError(
                f"inner is {self.inner!r}: it must be a solver that converges, such as RCDM(seed=0)"
            )
        _checks.whole_number("every", self.every, 1)

    def start(self, layout: Layout, dual: Dual) -> ScreenedState:
        """Start from a feasible dual."""
        ranges = range_rule(layout.problem)
        state = ScreenedState(layout, None, ranges, layout.n)
        if not self._shrink(layout, state, ranges, dual):
            state.inner = self.inner.start(layout, dual)
        return state

    def step(self, layout: Layout, state: ScreenedState) -> int:
        """Do a step of the inner solver, and look at what it decided every few passes."""
        projections = self.inner.step(state.open, state.inner)
        state.projections += projections
        if state.projections >= state.next_look:
            pause = max(self.every * layout.r, state.projections // 16)
            state.next_look = state.projections + pause
            self._look(layout, state)
        return projections

    def iterate(self, layout: Layout, state: ScreenedState) -> tuple[Dual, FloatArray]:
        """Return the inner solver's dual of all functions and its s, freshly summed."""
        y, s = self.inner.iterate(state.open, state.inner)
        return y, s if state.open is layout else layout.total(y)

    def _look(self, layout: Layout, state: ScreenedState) -> None:
        """Apply the rules, and leave out what they decide."""
        y, s = self.iterate(layout, state)
        value = layout.problem.evaluate(layout.problem.repaired(s < 0.0))
        state.value = min(state.value, value)
        found = decided(layout.problem, y, s, state.value - layout.lower_bound(s))
        self._shrink(layout, state, state.ranges.joined(found), y)

    def _shrink(self, layout: Layout, state: ScreenedState, fixing: Fixing, y: Dual) -> bool:
        """Go on with the open functions, if the undecided elements are half as many."""
        undecided = int(np.sum(fixing.free))
        if undecided > state.undecided / 2:
            return False
        smaller = OpenLayout(layout, fixing, y)
        if not smaller.r:
            return False
        state.open, state.undecided = smaller, undecided
        state.inner = self.inner.start(smaller, [part.copy() for part in y])
        return True
