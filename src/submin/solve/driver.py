"""The loop, written once: limits, checks, history, progress, Ctrl-C.

Every solver runs in it, so all stop by the same rule and are measured at the same points:

    repeat: steps of the solver until the next check
        x = -s; S = best level set of x; bound = sum_v min(0, s_v)
        keep the best S and the dual with the best bound
        stop if F(S) - bound <= tol, or is closed up to rounding or granularity; or at a limit
    certify the best S with the best dual

An exact solver knows its own minimiser when it is done, which saves the search among level sets.
On its way it is measured only if someone watches, by a callback or the progress display, and what
they are shown takes no part in the answer, unless they end the solve.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import fsum
from typing import Generic, TypeVar

import numpy as np

from submin import _memory, kernels
from submin._typing import BoolArray, Dual, FloatArray
from submin.solve.certificate import Certificate, certify, core_cost
from submin.solve.layout import Layout
from submin.solve.level_sets import LevelSet, best_level_set
from submin.solve.result import History, Record, Result
from submin.solve.screening import decided
from submin.solvers.solver import ExactSolver, Solver

State = TypeVar("State")
Callback = Callable[[Record, BoolArray], object]


@dataclass(frozen=True)
class Limits:
    """When to stop: gap in units of cost, passes, seconds."""

    tol: float = 0.0
    max_passes: float = float("inf")
    time_limit: float = float("inf")
    check_every: int = 5

    def __post_init__(self) -> None:
        for name in ("tol", "max_passes", "time_limit", "check_every"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise TypeError(f"{name} is {value!r}: it must be a number")
        if not self.tol >= 0.0:
            raise ValueError(f"tol is {self.tol}: a gap can not be below 0")
        if not self.max_passes >= 0:
            raise ValueError(f"max_passes is {self.max_passes}: it must be 0 or more")
        if not self.time_limit >= 0:
            raise ValueError(f"time_limit is {self.time_limit}: it must be 0 seconds or more")
        if not 1 <= self.check_every < float("inf"):
            raise ValueError(f"check_every is {self.check_every}: it must be 1 pass or more")

    def next_check(self, passes: float) -> float:
        """Return the passes at the next check: each of the first five, then a regular beat."""
        ahead = np.floor(passes) + 1.0
        if ahead > 5:
            ahead = self.check_every * np.ceil(ahead / self.check_every)
        return min(float(ahead), self.max_passes)


@dataclass
class Incumbent:
    """The best set and the best dual so far; each is kept on its own.

    ``value`` and ``bound`` are less the constant and pinned costs, which are the same for all.
    """

    layout: Layout
    members: BoolArray
    dual: Dual
    s: FloatArray
    quality: float = -float("inf")
    value: float = float("inf")
    bound: float = -float("inf")
    certificate: Certificate | None = None

    def offer_set(self, members: BoolArray) -> float:
        """Keep a set if it is better, once the hard constraints hold; return its value."""
        members = self.layout.problem.repaired(members)
        value = core_cost(self.layout.problem, members)
        if value < self.value:
            self.keep_set(members, value)
        return value

    def keep_set(self, members: BoolArray, value: float) -> None:
        """Make a set the incumbent."""
        self.value, self.members, self.certificate = value, members, None

    def offer_dual(self, dual: Dual, s: FloatArray, final: bool = False) -> float:
        """Keep a feasible dual if its lower bound on min F is better; return the bound.

        Of a `final` one the solver lets go: it is kept without a copy.
        """
        bound = self.bound_of(s)
        if bound > self.quality:
            self.keep_dual(dual, s, final)
            self.quality = bound
        return bound

    def bound_of(self, s: FloatArray) -> float:
        """Return the lower bound of a feasible dual, and keep the best; refuse what overflowed."""
        if not np.isfinite(kernels.active.absolute_sum(s, 0)):
            element = int(np.argmin(np.isfinite(s)))
            raise FloatingPointError(
                f"s[{element}] is {s[element]}: the costs are too large for float64; scale them"
            )
        bound = self.layout.core_bound(s)
        self.bound = max(self.bound, bound)
        return bound

    def keep_dual(self, dual: Dual, s: FloatArray, final: bool = False) -> None:
        """Make a dual the incumbent; unless it is `final`, as a copy."""
        kept = (s, dual) if final else (s.copy(), [part.copy() for part in dual])
        (self.s, self.dual), self.certificate = kept, None

    def certified(self) -> Certificate:
        """Return the rigorous certificate of the best set with the best dual."""
        if self.certificate is None:
            self.certificate = certify(self.layout.problem, self.members, self.dual, self.s)
        return self.certificate


class Run(Generic[State]):
    """One solve: a solver on a layout, with its limits."""

    incumbent: type[Incumbent] = Incumbent

    def __init__(
        self,
        layout: Layout,
        solver: Solver[State],
        limits: Limits,
        callback: Callback | None = None,
    ) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(
                f"callback is {callback!r}: it must be callable with (record, minimizer)"
            )
        self.layout, self.solver, self.limits, self.callback = layout, solver, limits, callback
        self.projections, self.started = 0, time.perf_counter()
        self.history = History()
        self.interrupted = False
        self.threshold = float("inf")
        self.fixed = np.zeros(layout.n, dtype=np.bool_)
        # Asked once, as a protocol is slow to ask and steps are many.
        self.exact = solver if isinstance(solver, ExactSolver) else None
        self.measured = self.exact is None or callback is not None
        self.state: State | None = None
        self.seen: Incumbent | None = None

    @property
    def passes(self) -> float:
        """Projections in units of the number of blocks."""
        return self.projections / self.layout.r if self.projections else 0.0

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self.started

    def solve(self, dual: Dual) -> Result:
        """Run from a feasible dual until a stop rule holds; Ctrl-C ends the run, not the answer."""
        layout = self.layout
        nothing = np.zeros(layout.n, dtype=np.bool_)
        s = layout.total(dual) if self.exact is None else layout.unary
        self.best = self.incumbent(layout, nothing, dual, s)
        if self.exact and self.measured:
            self.seen = self.incumbent(layout, nothing, dual, s)
        try:
            self._loop(dual)
        except KeyboardInterrupt:
            self.interrupted = True
            self._look_once_more()
        try:
            return self._result()
        except KeyboardInterrupt:  # the answer is there: finish writing it down
            self.interrupted = True
            return self._result()

    def _loop(self, dual: Dual) -> None:
        """Check the start and then after each stretch of steps."""
        self._check_start(dual)
        self.state = self.solver.start(self.layout, dual)
        if not self.measured and not self._at_limit():
            self._advance(self.state)
        while not self._check(self.state) and not self._done(self.state):
            self._advance(self.state)

    def _check_start(self, dual: Dual) -> None:
        """Offer what there is without a step."""
        self.best.offer_set(self.best.members)
        if self.exact is None:
            self.best.offer_dual(dual, self.best.s)

    def _look_once_more(self) -> None:
        """Take what an interrupted exact solver has reached; its dual is valid between steps."""
        if self.exact and self.state is not None:
            self.callback = None  # who interrupts has seen enough
            with suppress(KeyboardInterrupt):
                self._check(self.state)
            if self.seen and self.seen.value < self.best.value:
                self.best.keep_set(self.seen.members, self.seen.value)

    def _done(self, state: State) -> bool:
        """Say whether an exact solver has nothing left to do."""
        return self.exact is not None and self.exact.done(state)

    def _advance(self, state: State) -> None:
        """Step until the next check, or until the time is up or an exact solver is done."""
        goal = self.limits.next_check(self.passes) if self.measured else self.limits.max_passes
        deadline = self.started + self.limits.time_limit
        while self.passes < goal and time.perf_counter() < deadline:
            projections = self.solver.step(self.layout, state)
            self.projections += projections
            if self._done(state):
                return

    def _check(self, state: State) -> bool:
        """Measure, record, report, and say whether to stop."""
        dual, s = self.solver.iterate(self.layout, state)
        last = self.exact is None or self._done(state) or self._at_limit() or self.interrupted
        kept = self.best if last or self.seen is None else self.seen
        bound = kept.offer_dual(dual, s, final=self._done(state) or self.interrupted)
        value, smooth_gap = self._offer(kept, state, dual, s)
        record = Record(
            self.passes, self.projections, self.seconds, smooth_gap, max(0.0, value - bound),
            self._whole(kept.value), self._whole(min(kept.bound, kept.value)),
            self._fix(dual, s, kept.value - bound, smooth_gap),
        )  # fmt: skip
        self.history.append(record)
        if self.callback is not None:
            stop = bool(self.callback(record, kept.members.reshape(self._shape).copy()))
            self.interrupted |= stop
            if stop:
                self.best = kept
                return True
        return last and (self._closed(record, dual, s) or self._at_limit())

    def _offer(
        self, kept: Incumbent, state: State, dual: Dual, s: FloatArray
    ) -> tuple[float, float]:
        """Offer the set of a state; return its value, and the smooth gap where it is measured."""
        if self.exact is not None and self._done(state):
            members = kept.layout.problem.repaired(self.exact.minimizer(state))
            value = core_cost(kept.layout.problem, members)
            if value <= kept.value:  # of several minimisers, the one that was asked for
                kept.keep_set(members, value)
            return value, float("nan")
        if self.exact is not None and (self.interrupted or self.seconds >= self.limits.time_limit):
            return kept.offer_set(s < 0.0), float("nan")  # there is no time to search
        level_set = best_level_set(self.layout, -s)
        value = kept.offer_set(level_set.members)
        return value, self._smooth_gap(dual, s, level_set)

    def _whole(self, core: float) -> float:
        """Add the constant and pinned costs."""
        return fsum([core, *self.layout.fixed_costs]) if np.isfinite(core) else core

    def _smooth_gap(self, dual: Dual, s: FloatArray, level_set: LevelSet) -> float:
        """Return f(x) + ||x||^2 / 2 + ||s||^2 / 2 at x = -s, or where that breaks no precedence."""
        return level_set.lovasz + 0.5 * float(level_set.x @ level_set.x + s @ s)

    def _fix(self, dual: Dual, s: FloatArray, gap: float, smooth_gap: float) -> int:
        """Count the elements that this dual or an earlier one decides, if someone watches."""
        if not self.measured:
            return 0
        if not smooth_gap > np.finfo(float).tiny:  # closed, or lost to underflow
            smooth_gap = float("nan")
        self.fixed |= ~decided(self.layout.problem, dual, s, gap, smooth_gap).free
        return int(np.count_nonzero(self.fixed))

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.layout.problem.shape

    def _closed(self, record: Record, dual: Dual, s: FloatArray) -> bool:
        """Say whether the gap is closed; the rigorous certificate has the last word."""
        if not any(part.size for part in dual):
            return True
        if self.best.value - self.best.bound > self.threshold:
            return False
        certificate = self.best.certified()
        near = 4.0 * certificate.rounding
        self.threshold = max(self.limits.tol, near, certificate.granularity)
        return certificate.closed or certificate.gap <= self.limits.tol

    def _at_limit(self) -> bool:
        return self.passes >= self.limits.max_passes or self.seconds >= self.limits.time_limit

    def _result(self) -> Result:
        best = self.best
        if best.value == float("inf"):  # interrupted before the first look
            best.offer_set(best.members)
        if best.quality == -float("inf"):
            best.s = self.layout.total(best.dual)
        certificate = best.certified()
        return Result(
            minimizer=best.members.reshape(self._shape),
            certificate=certificate,
            status=certificate.status(self.limits.tol),
            x=self._point(best.s).reshape(self._shape),
            dual=tuple(best.dual),
            history=self.history,
            solver=repr(self.solver),
            tol=self.limits.tol,
            interrupted=self.interrupted,
        )

    def _point(self, s: FloatArray) -> FloatArray:
        """Return x = -s, with the costs of the problem where no hard constraint decides."""
        problem, unary = self.layout.problem, self.layout.problem.unary.ravel()
        x = np.negative(s, out=_memory.empty(self.layout.n))
        if problem.pins is not None:
            x += np.where(problem.implied.free, self.layout.unary - unary, 0.0)
        return x
