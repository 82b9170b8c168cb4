"""Certificates: a proof of how good a set is, recomputed from the set and the dual alone.

For any dual y, feasible or not, converged or not, let delta_i = max_S (y_i(S) - F_i(S)).  Then
every set S has

    F(S) = u(S) + sum_i F_i(S) >= s(S) - sum_i delta_i >= sum_v min(0, s_v) - sum_i delta_i

with s = u + sum_i y_i, so the last number is a lower bound on min F, and no set costs less than S
by more than the *gap*, F(S) less the bound.  Pinned elements (``model.pins``) count as what they
must be, and their costs, which both sides have in common, in neither.

A gap is *closed* when no more of it is left than the rounding errors of its sums.  A closed gap
proves a minimiser exactly in one of two ways:

* All values of F are multiples of some number, and the gap is smaller.  Where the sums in floating
  point are not sharp enough for that, they are computed again exactly (``submin.solve.exact_gap``).
* No other set can fill the gap (``submin.solve.uniqueness``).

This module shares no code with any solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import fsum, inf, isfinite, nextafter
from typing import NamedTuple

import numpy as np

from submin import kernels
from submin._sums import UNIT_ROUNDOFF, adds_exactly
from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.solve.exact_gap import exact_gap
from submin.solve.uniqueness import is_only_candidate


class Status(Enum):
    """What was proved about an answer."""

    OPTIMAL = "optimal: it is proved that no set costs less"
    CLOSED = "closed: if an answer is better, then by no more than the rounding errors of the sums"
    CONVERGED = "converged: the gap is within the tolerance"
    STOPPED = "stopped: a limit, the user or rounding came first; the answer and its gap are valid"


@dataclass(frozen=True)
class Certificate:
    """A set's value and a rigorous lower bound on the minimum, all in units of cost.

    Attributes
    ----------
    value : float
        F(S), with compensated sums; ``inf`` if S breaks a hard constraint.
    lower_bound : float
        No set costs less.  Rounded down.
    gap : float
        No set costs less than S by more than this; 0 if S is proved to be a minimiser.  It is
        ``value - lower_bound``, up to the last digits of these two.
    violation : float
        sum_i max_S (y_i(S) - F_i(S)): what the dual's infeasibility costs the bound.
    rounding : float
        Bound on all floating-point errors made in computing the gap, which counts them.
    granularity : float
        All values of F (less the constant) are multiples of this number; 0 if unknown.
    optimal : bool
        Whether it is proved that no set costs less than S.
    """

    value: float
    lower_bound: float
    gap: float
    violation: float
    rounding: float
    granularity: float
    optimal: bool

    @property
    def closed(self) -> bool:
        """Whether S is a minimiser, or no more than rounding errors away from one."""
        return self.optimal or self.gap <= 2.0 * self.rounding < inf

    def status(self, tol: float = 0.0) -> Status:
        """Return what the certificate proves, for a tolerance on the gap."""
        if self.optimal:
            return Status.OPTIMAL
        if self.closed:
            return Status.CLOSED
        return Status.CONVERGED if self.gap <= tol else Status.STOPPED

    def __str__(self) -> str:
        proof = "a minimiser" if self.optimal else f"within {self.gap:.3g} of the minimum"
        if self.closed and not self.optimal:
            proof += ", as near as rounding allows"
        return (
            f"value {self.value:.12g}, lower bound {self.lower_bound:.12g}, gap {self.gap:.3g}: "
            f"proved to be {proof}"
        )


class Bound(NamedTuple):
    """A lower bound on min F less `constant` and pinned costs, before rounding errors.

    ``core`` = sum_v min(0, s_v) - violation; ``error`` bounds the rounding errors of both, and
    ``s`` is u + sum_i y_i, in which the costs of pinned elements count as 0.
    """

    core: float
    violation: float
    error: float
    s: FloatArray


class Gap(NamedTuple):
    """F(S) less the lower bound of a dual: ``size`` counts the rounding errors, ``error``."""

    size: float
    error: float
    bound: Bound


def certify(
    problem: Problem,
    members: BoolArray,
    dual: Sequence[FloatArray],
    s: FloatArray | None = None,
) -> Certificate:
    """Compute the certificate of a flat set and a dual (one array per term), O(size of data).

    An array `s` is filled with u + sum_i y_i, unless elements are pinned.
    """
    parts = problem.value_parts(members)
    gap = dual_gap(problem, members, dual, s, parts)
    (size, error), unit = _sharpened(problem, members, dual, gap), problem.granularity
    optimal = size < unit or size == 0.0
    if not optimal and size <= 2.0 * error < inf:
        optimal = is_only_candidate(problem, members, dual, gap.bound.s, gap.size)
    size = 0.0 if optimal else size
    value, below = _value(problem, members, parts)
    return Certificate(
        value=value,
        lower_bound=_lower_bound(problem, value, below, gap, size),
        gap=size,
        violation=gap.bound.violation,
        rounding=error,
        granularity=unit,
        optimal=optimal,
    )


def _sharpened(
    problem: Problem, members: BoolArray, dual: Sequence[FloatArray], gap: Gap
) -> tuple[float, float]:
    """Return the size of a gap and what of it is rounding, with known granularity exactly."""
    size, error, unit = gap.size, gap.error, problem.granularity
    if unit and unit <= size <= unit + 2.0 * error < inf:
        exact = exact_gap(problem, members, dual)
        size, error = (exact, 0.0) if exact < size else (size, error)
    steps = np.floor(size / unit) if unit and isfinite(size) else inf
    return (float(unit * steps) if steps < 2.0**26 else size), error


def dual_gap(
    problem: Problem,
    members: BoolArray,
    dual: Sequence[FloatArray],
    s: FloatArray | None = None,
    values: Sequence[float] | None = None,
) -> Gap:
    """Return what a set costs more than the lower bound of a dual, in floating point, O(data).

    `values` are the ``value_parts`` of the set, where they are known.
    """
    bound = lower_bound(problem, dual, s)
    values = problem.value_parts(members) if values is None else values
    parts, error = core_parts(problem, members, values)
    size = fsum([*parts, -bound.core]) if isfinite(bound.core) else inf
    error += bound.error + 4.0 * UNIT_ROUNDOFF * (abs(bound.core) + bound.violation)
    if not isfinite(size):
        return Gap(inf, error if isfinite(bound.core) else inf, bound)
    return Gap(max(0.0, size + error), error, bound)


def core_parts(
    problem: Problem, members: BoolArray, values: Sequence[float]
) -> tuple[list[float], float]:
    """Return numbers that add up to F(S) less `constant` and pinned costs, and their error."""
    parts = _core_costs(problem, members, values)
    if parts == [inf]:
        return parts, 0.0
    error = sum(term.value_error(members) for term in problem.terms)
    return parts, error + 4.0 * UNIT_ROUNDOFF * sum(abs(part) for part in parts)


def core_cost(problem: Problem, members: BoolArray) -> float:
    """Return F(S) less `constant` and pinned costs, in which large ones would hide the rest."""
    return fsum(_core_costs(problem, members, problem.value_parts(members)))


def _core_costs(problem: Problem, members: BoolArray, values: Sequence[float]) -> list[float]:
    unary, pins = problem.unary.ravel(), problem.pins
    parts = list(values[:-1])
    if not isfinite(fsum(parts)):
        return [inf]
    if pins is not None:
        finite = np.isfinite(unary)
        extra = unary[pins.outside & members & finite]
        missing = unary[pins.inside & ~members & finite]
        own = kernels.active.sum_within(unary, (members & pins.free).view(np.uint8), 0)
        parts[0] = fsum([own, *extra.tolist(), *(-missing).tolist()])
    return parts


def _value(problem: Problem, members: BoolArray, parts: Sequence[float]) -> tuple[float, float]:
    """Return F(S), rounded to the nearest float, and a float that is not above it."""
    value, unit = fsum(parts), problem.granularity
    if not isfinite(value):
        return value, value
    sizes = [abs(part) for part in (*parts, value)]
    if unit and adds_exactly(max(sizes), np.array([unit, problem.constant])):
        return value, value  # sums of multiples, all of which are floats
    error = sum(term.value_error(members) for term in problem.terms)
    error += 4.0 * UNIT_ROUNDOFF * sum(sizes)
    return value, nextafter(value - error, -inf) if error else value


def _lower_bound(problem: Problem, value: float, below: float, gap: Gap, size: float) -> float:
    """Return the certified bound on min F: `below` F(S) by `size`, or that of the dual alone."""
    if size == 0.0:
        return below
    if isfinite(value):
        return _difference_below(below, size) if isfinite(size) else -inf
    paid = [] if problem.pins is None else problem.pins.paid.tolist()
    bound = fsum([gap.bound.core, problem.constant, *paid])
    error = gap.error + 4.0 * UNIT_ROUNDOFF * (abs(problem.constant) + abs(bound))
    return nextafter(bound - error, -inf) if isfinite(bound - error) else -inf


def _difference_below(first: float, second: float) -> float:
    """Return the difference of two floats, rounded down."""
    difference = first - second
    if not isfinite(difference):
        return -inf
    exact = Fraction(first) - Fraction(second)
    return difference if Fraction(difference) <= exact else nextafter(difference, -inf)


def lower_bound(problem: Problem, dual: Sequence[FloatArray], s: FloatArray | None = None) -> Bound:
    """Return the lower bound of a dual, with a bound on its rounding errors.

    The error of s(v) is at most depth * unit roundoff * (|u(v)| + sum_i |y_i(v)|), and min(0, s) is
    1-Lipschitz, so these add up over the elements; the terms bound the errors of their violations.
    """
    unary, pins = problem.unary.ravel(), problem.pins
    if pins is not None:
        s = np.where(pins.free, unary, 0.0)
    elif s is None:
        s = unary.copy()
    else:
        s[:] = unary
    violation, depth, error = 0.0, 3, 0.0
    magnitude = kernels.active.absolute_sum(s, 0)
    for term, part in zip(problem.terms, dual, strict=True):
        excess, size = term.inspect(part, s)
        violation += excess.total
        error += excess.error
        depth += term.depth + 1
        magnitude += size
    core = problem.least_cost(s) - violation
    return Bound(core, violation, error + depth * UNIT_ROUNDOFF * magnitude, s)
