"""The loop for the proximal point: it keeps the iterate with the least smooth gap.

A solver that is exact (``ProximalSolver``) knows the point when it is done.  On the way, and of
others, x is -s.

Far from the solution the gap is f(x) + ||x||^2 at x = -s, which the level sets give for free.  Near
the tolerance, and where rounding errors of f(x) may hide the gap, it is that of the certificate
(``proximal_certificate``), which decides.  Rounding errors of s separate elements that are equal
in the solution, and an edge of weight w between them costs w times as much: there, x is -s with
almost equal elements made equal.

A gap of the size that rounding can make, which has not halved in three quarters of all passes, or
is mostly the certificate's allowance for rounding, is not going to: the solve ends *stalled*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from submin import kernels
from submin._sums import UNIT_ROUNDOFF
from submin._typing import Dual, FloatArray
from submin.model.problem import Problem
from submin.solve.driver import Callback, Incumbent, Limits, Run, State
from submin.solve.layout import Layout
from submin.solve.level_sets import best_level_set
from submin.solve.proximal_certificate import ProximalCertificate, certify_point
from submin.solve.result import Record, Result
from submin.solvers.solver import ProximalSolver, Solver

PATIENCE = 4.0
"""How many times the passes to the last halving of the gap a solve goes on where rounding rules."""
FEWEST_CHECKS = 8
"""Checks without a halving before a solve may be stalled."""
TIES = (0.0, 16.0, 1.0, 256.0)
"""Distances below which elements count as equal, in rounding errors of s."""
FAR = 1e-3
"""Gaps of more than this part of ||s||^2 are none that equal elements would close."""


class InfinitePointError(ValueError):
    """A set without weight wants in or out at all costs; ``x`` is infinite there."""

    def __init__(self, x: FloatArray) -> None:
        self.x = x
        index = int(np.argmax(np.isinf(x)))
        side = "in" if x[index] > 0.0 else "out of"
        super().__init__(
            f"x would be infinite at element {index}: weights are 0 on a set of it that lowers the "
            f"cost when it is {side} S; give it a weight above 0"
        )


@dataclass
class ProximalIncumbent(Incumbent):
    """The best set so far, and the point and dual with the least smooth gap."""

    gap: float = float("inf")
    x: FloatArray | None = None
    point: ProximalCertificate | None = None

    def offer_dual(self, dual: Dual, s: FloatArray, final: bool = False) -> float:
        """Return the lower bound of a dual; ``offer_point`` keeps it, once its gap is known."""
        return self.bound_of(s)

    def offer_point(self, dual: Dual, s: FloatArray, gap: float, final: bool = False) -> bool:
        """Keep a dual if its smooth gap is smaller, or it is final; say whether it is kept."""
        if not (gap < self.gap or final):
            return False
        self.keep_dual(dual, s)
        self.gap, self.quality, self.x, self.point = gap, -gap, None, None
        return True

    def certified_point(self, tol: float) -> ProximalCertificate:
        """Return the certificate of the point that is kept."""
        if self.point is None or self.x is None:
            self.x, self.point = nearest_point(self.layout, self.dual, self.s, tol)
            self.gap = self.point.gap
        return self.point


class ProximalRun(Run[State]):
    """One solve for the proximal point."""

    incumbent = ProximalIncumbent
    best: ProximalIncumbent

    def __init__(
        self,
        layout: Layout,
        solver: Solver[State],
        limits: Limits,
        callback: Callback | None = None,
    ) -> None:
        super().__init__(layout, solver, limits, callback)
        self.slopes: float | None = None
        self.reach = float("inf")
        self.halved = Halving()
        self.stalled = False

    def _offer(
        self, kept: Incumbent, state: State, dual: Dual, s: FloatArray
    ) -> tuple[float, float]:
        """Offer the set and the point of a state; return the set's value and the smooth gap."""
        if self._done(state):
            return self._offer_solution(kept, state, dual, s)
        x = unscaled(-s, self.layout.masses)
        level_set = best_level_set(self.layout, x)
        slopes = level_set.x if self.layout.masses is None else self.layout.masses * level_set.x
        gap = level_set.lovasz + 0.5 * float(level_set.x @ slopes - x @ s)
        if kept is self.best:
            gap = self._offer_iterate(dual, s, gap)
        return kept.offer_set(level_set.members), gap

    def _offer_solution(
        self, kept: Incumbent, state: State, dual: Dual, s: FloatArray
    ) -> tuple[float, float]:
        """Offer what an exact solver has found."""
        assert isinstance(self.solver, ProximalSolver)
        x = self.solver.point(state)
        if np.isinf(x).any():
            raise InfinitePointError(x)
        point = certify_point(self.layout.problem, x, dual, self.layout.masses)
        final = not self.best.gap < np.inf  # a gap that overflows is still that of the answer
        if self.best.offer_point(dual, s, point.gap, final):
            self.best.x, self.best.point = x, point
        return kept.offer_set(self.solver.minimizer(state)), point.gap

    def _offer_iterate(self, dual: Dual, s: FloatArray, gap: float) -> float:
        """Return the smooth gap of an iterate, and keep that with the least."""
        self.reach = self._reachable(dual, s)
        overdue = self.halved.overdue(self.passes)
        if gap <= PATIENCE * max(self.limits.tol, self.reach) or overdue:
            x, point = nearest_point(self.layout, dual, s, self.limits.tol)
            gap = point.gap
            if self.best.offer_point(dual, s, gap):
                self.best.x, self.best.point = x, point
        else:
            self.best.offer_point(dual, s, gap)
        self.halved.see(self.best.gap, self.passes)
        return gap

    def _reachable(self, dual: Dual, s: FloatArray) -> float:
        """Return about how much of a gap rounding errors of s, and of sums over it, can make."""
        problem = self.layout.problem
        if self.slopes is None:
            self.slopes = _total_slope(problem)
        terms = zip(problem.terms, dual, strict=True)
        size = sum(term.magnitude(part) for term, part in terms)
        size += kernels.active.absolute_sum(self.layout.unary, 0)
        largest = float(np.max(np.abs(s)))
        return (
            8.0 * UNIT_ROUNDOFF * (self.slopes * (size / s.size + largest) + 2.0 * largest * size)
        )

    def _closed(self, record: Record, dual: Dual, s: FloatArray) -> bool:
        """Say whether the gap is within the tolerance, or as small as rounding lets it be."""
        point = self.best.point
        if point is None:
            return False
        ruled = point.gap <= 2.0 * point.rounding  # of which no more than half can go
        overdue = self.halved.overdue(self.passes, 1.0 if ruled else PATIENCE)
        self.stalled = point.gap > self.limits.tol and point.gap <= self.reach and overdue
        return self.stalled or point.gap <= self.limits.tol

    def _result(self) -> Result:
        """Return the result, whose status is about the point."""
        result = super()._result()
        point = self.best.certified_point(self.limits.tol)
        assert self.best.x is not None
        return replace(
            result,
            x=self.best.x.reshape(self.layout.problem.shape),
            status=point.status(self.limits.tol),
            point=point,
            stalled=self.stalled,
            weights=self._weights(),
        )

    def _weights(self) -> FloatArray | None:
        masses = self.layout.masses
        return None if masses is None else masses.reshape(self.layout.problem.shape)


@dataclass
class Halving:
    """When a gap last became half of what it was."""

    gap: float = float("inf")
    passes: float = 0.0
    checks: int = 0

    def see(self, gap: float, passes: float) -> None:
        """Count a check at which the least gap so far is known."""
        self.checks += 1
        if gap <= 0.5 * self.gap:
            self.gap, self.passes, self.checks = gap, passes, 0

    def overdue(self, passes: float, patience: float = PATIENCE) -> bool:
        """Say whether the last halving is long ago, in passes and in checks."""
        return self.checks >= FEWEST_CHECKS and passes > patience * self.passes


def _total_slope(problem: Problem) -> float:
    """Bound sum_v |f(x + t e_v) - f(x)| / t over all elements, O(data)."""
    slopes = np.zeros(problem.n)
    for term in problem.terms:
        low, high = term.finite_part().marginal_range(problem.n)
        slopes += np.maximum(np.abs(low), np.abs(high))
    return float(np.sum(slopes))


def unscaled(slopes: FloatArray, masses: FloatArray | None) -> FloatArray:
    """Return x with m x = slopes, and 0 where m is 0; m is 1 without masses."""
    if masses is None:
        return slopes
    return np.divide(slopes, masses, out=np.zeros_like(slopes), where=masses > 0.0)


def nearest_point(
    layout: Layout, dual: Dual, s: FloatArray, tol: float = 0.0
) -> tuple[FloatArray, ProximalCertificate]:
    """Return x = -s / m, up to rounding errors of s, with the certificate that proves the most.

    Where -s / m falls along precedences, it is raised to the least x that does not.  Elements that
    differ by no more than rounding may be made equal, if all m are 1; the first x within the
    tolerance is taken.
    """
    problem, masses = layout.problem, layout.masses
    largest = max(float(np.max(np.abs(part), initial=0.0)) for part in (problem.unary, s, *dual))
    unit = 4.0 * UNIT_ROUNDOFF * largest
    found = nearest = problem.isotonic(unscaled(np.negative(s), masses))
    best = certify_point(problem, found, dual, masses)
    for ties in TIES[1:]:
        far = best.gap > FAR * float(s @ s)
        if best.gap <= tol or far or not problem.terms or masses is not None:
            break
        x = merged(nearest, ties * unit)
        certificate = certify_point(problem, x, dual)
        if certificate.gap < best.gap:
            found, best = x, certificate
    return found, best


def merged(x: FloatArray, width: float) -> FloatArray:
    """Return x with runs of values whose neighbours differ by at most `width` at their means.

    The order of the elements stays, with more ties.  O(n log n).

    Examples
    --------
    >>> merged(np.array([3.0, 1.0, 1.25, 2.0]), width=0.5).tolist()
    [3.0, 1.125, 1.125, 2.0]
    """
    order = np.argsort(x, kind="stable")
    values = x[order]
    run = np.cumsum(np.diff(values, prepend=values[0]) > width)
    first = values[np.searchsorted(run, np.arange(run[-1] + 1))]
    means = first + np.bincount(run, values - first[run]) / np.bincount(run)
    out = np.empty_like(x)
    out[order] = means[run]
    return out
