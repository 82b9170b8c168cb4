"""Certificates of proximal points: how near x is to argmin P, from x and any dual alone.

Let f be the Lovász extension of F less its constant and P(x) = f(x) + ||x||^2 / 2.  Take any x and
any dual y, feasible or not, converged or not, with s = u + sum_i y_i, and for each function let

    delta_i  = max_S (y_i(S) - F_i(S)),         delta  = sum_i delta_i    how far y is outside
    shortage = sum_i (F_i(V) - y_i(V)),         delta' = delta + shortage

As f_i(x) is the integral over all levels of F_i(S), less F_i(V) at negative ones, where S is the
level set of x,

    <y_i, x> - f_i(x) <= delta_i max(0, max_v x_v) + (delta_i + F_i(V) - y_i(V)) max(0, max_v -x_v)

and a sum over i gives P(x) >= <s, x> + ||x||^2 / 2 - delta max_v (x_v)_+ - delta' max_v (-x_v)_+.
The right-hand side is the least of the quadratics that put the two costs on one element each, or on
none, so that it is at least

    D(y) = -||s||^2 / 2 - (delta max_v (-s_v) + delta^2 / 2)_+ - (delta' max_v s_v + delta'^2 / 2)_+

for every x: D(y) <= min P, and D(y) = -||s||^2 / 2 for a feasible y.  The *smooth gap* is
P(x) - D(y).  Numbers of the size of P do not enter it,

    P(x) - D(y) = sum_i (f_i(x) - <y_i, x>) + ||x + s||^2 / 2 + (...)_+ + (...)_+

where ``Term.slackness`` computes the sum from differences, so that large weights leave no rounding
errors of their size where they are not felt.  P is strongly convex, hence

    ||x - x*||^2 / 2 <= P(x) - P(x*) <= P(x) - D(y)        for x* = argmin P.

With weights m > 0 of the squares, P(x) = f(x) + sum_v m_v x_v^2 / 2, the same holds with
s_v^2 / m_v and (m_v x_v + s_v)^2 / m_v for the squares, the two maxima over what is in brackets
divided by m_v, and the distance in the norm of the weights.  Elements of weight 0 are to stay
within the range of the others (an optimal x that leaves it can come back, for a set of them alone
that lowers the cost would leave P without bound).  Then the highest level x_v is -F(S) / m(S), and
the lowest -(F(V) - F(V - S)) / m(S), of a set S with weight, so that sums over v of weight 0 give

    R = max((max_v -s_v / m_v)_+ + (sum_0 (-s_v)_+ + delta) / min m,
            (max_v s_v / m_v)_+ + (sum_0 (s_v)_+ + delta') / min m)  >=  |x_v|

(m_v > 0 in the maxima and the minimum); they add |s_v| (|x_v| + R) each, and (delta + delta') R in
all.

This module shares no code with any solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf, isfinite, nan, nextafter, sqrt
from typing import NamedTuple

import numpy as np

from submin import kernels
from submin._sums import UNIT_ROUNDOFF, compensated_sum, sum_error
from submin._typing import FloatArray
from submin.model.problem import Problem
from submin.solve.certificate import Status


@dataclass(frozen=True)
class ProximalCertificate:
    """How near a point x is proved to be to the proximal point, rigorous for all rounding errors.

    Attributes
    ----------
    value : float
        P(x) = f(x) + sum_v m_v x_v^2 / 2 (m_v = 1 without weights), in units of cost squared, as
        are all but `distance` and `violation`.
    lower_bound : float
        No x has a smaller P, whose elements of weight 0, if any, are in the range of the others.
        Rounded down.
    gap : float
        P(x) is at most this much above the minimum.  It is computed apart from value and bound,
        whose difference would be lost in their rounding, and counts its own.
    distance : float
        ``sqrt(2 gap)``: x is no further from the solution, in the Euclidean norm (that of the
        weights, if there are any).  Unit of cost.
    violation : float
        sum_i max_S (y_i(S) - F_i(S)): how far the dual is outside.  Unit of cost.
    rounding : float
        The part of the gap that stands for rounding errors.
    """

    value: float
    lower_bound: float
    gap: float
    distance: float
    violation: float
    rounding: float

    @property
    def optimal(self) -> bool:
        """Whether x is proved to be the proximal point itself: the gap is 0."""
        return self.gap == 0.0

    @property
    def closed(self) -> bool:
        """Whether the gap is no more than what rounding errors of its own sums may make."""
        return isfinite(self.gap) and self.gap <= 2.0 * self.rounding

    def status(self, tol: float = 0.0) -> Status:
        """Return what the certificate proves, for a tolerance on the gap."""
        if self.gap <= tol:
            return Status.CONVERGED
        return Status.CLOSED if self.closed else Status.STOPPED

    def __str__(self) -> str:
        return (
            f"objective {self.value:.12g}, smooth gap {self.gap:.3g} with rounding "
            f"{self.rounding:.1g}: within {self.distance:.3g} of the proximal point"
        )


UNKNOWN = ProximalCertificate(inf, -inf, inf, inf, inf, inf)
"""What is known of a point before anything is computed."""


class Sides(NamedTuple):
    """What the certificate takes from the dual, and bounds on the rounding errors in it.

    ``masses`` are the weights of the squares, None if all are 1.
    """

    masses: FloatArray | None
    s: FloatArray
    s_error: float
    violation: float
    violation_error: float
    shortage: float
    shortage_error: float

    def reach(self) -> float:
        """Return R of the module, which only elements without a weight need, rounded up."""
        if self.masses is None or self.masses.all() or not self.masses.any():
            return 0.0
        light, heavy = self.masses == 0.0, self.masses > 0.0
        least = float(np.min(self.masses[heavy]))
        outside = self.violation + self.violation_error
        short = max(0.0, outside + self.shortage + self.shortage_error)
        ends = [
            float(np.max(side[heavy] / self.masses[heavy], initial=0.0))
            + (float(np.sum(np.maximum(side[light], 0.0))) + amount + self.s_error) / least
            for side, amount in ((-self.s, outside), (self.s, short))
        ]
        return float(max(ends) * (1.0 + (light.size + 64) * UNIT_ROUNDOFF))


def certify_point(
    problem: Problem,
    x: FloatArray,
    dual: Sequence[FloatArray],
    weights: FloatArray | None = None,
) -> ProximalCertificate:
    """Compute the certificate of a point and a dual (one array per term).

    Parameters
    ----------
    problem : Problem
        Without hard constraints.
    x : float array, shape (n,)
    dual : sequence of float arrays
        One for each term, feasible or not.
    weights : float array, shape (n,), optional
        The weights m of the squares, at least 0; by default 1.

    Notes
    -----
    O(size of the data), and O(n log n + greedy) for terms that are no cuts.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> problem = sm.Problem([-6.0, -6.25], [sm.Cut([0], [1], [0.5])])
    >>> certificate = certify_point(problem, np.array([6.125, 6.125]), [np.array([-0.125])])
    >>> certificate.value, certificate.gap < 1e-28
    (-37.515625, True)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        certificate, _ = certified(problem, x, dual, weights)
    return certificate


def certified(
    problem: Problem,
    x: FloatArray,
    dual: Sequence[FloatArray],
    masses: FloatArray | None = None,
) -> tuple[ProximalCertificate, float]:
    """Return the certificate, and the gap before rounding errors, which a true F keeps above 0."""
    sides = _sides(problem, dual, masses)
    found = [term.slackness(y, x) for term, y in zip(problem.terms, dual, strict=True)]
    slack, slack_error = _sums(found, 2)
    apart, apart_error = _distance(x, sides)
    computed = [slack, 0.5 * apart * apart, _light(x, sides, 0.0), _penalties(sides, 0.0)]
    rigorous = [
        slack + slack_error,
        _half_square(apart * (1.0 + (x.size + 16) * UNIT_ROUNDOFF) + apart_error),
        _light(x, sides, 1.0),
        _penalties(sides, 1.0),
    ]
    size = sum(abs(part) for part in rigorous)
    gap = sum(rigorous) + 8.0 * UNIT_ROUNDOFF * (size + abs(slack))
    if not isfinite(gap):
        return UNKNOWN, inf
    gap = max(0.0, gap)
    value, value_error = _objective(x, sides, slack, slack_error)
    return ProximalCertificate(
        value=value,
        lower_bound=nextafter(value - value_error - gap - 4.0 * UNIT_ROUNDOFF * abs(value), -inf),
        gap=gap,
        distance=nextafter(sqrt(2.0 * gap), inf) if gap else 0.0,
        violation=sides.violation,
        rounding=max(0.0, gap - max(0.0, sum(computed))),
    ), sum(computed)


def _sides(problem: Problem, dual: Sequence[FloatArray], masses: FloatArray | None = None) -> Sides:
    """Measure a dual; the error of s is in the sum over the elements (see ``certificate``)."""
    s = problem.unary.ravel().copy()
    unary, depth = kernels.active.absolute_sum(s, 0), 3
    rows = []
    for term, part in zip(problem.terms, dual, strict=True):
        excess, size = term.inspect(part, s)
        rows.append((*excess, *term.shortage(part), size))
        depth += term.depth + 1
    *sums, size = _sums(rows, 5)
    error = 1.01 * depth * UNIT_ROUNDOFF * (unary + size) if size else 0.0
    return Sides(masses, s, error, *sums)


def _distance(x: FloatArray, sides: Sides) -> tuple[float, float]:
    """Return the norm of m x + s, that of 1 / m for weights m, and its error."""
    if sides.masses is None:
        return _norm(x + sides.s), sides.s_error
    heavy = sides.masses > 0.0
    masses, inner = sides.masses[heavy], x[heavy]
    if not masses.size:
        return 0.0, 0.0
    error = sides.s_error + 2.0 * UNIT_ROUNDOFF * float(np.sum(masses * np.abs(inner)))
    root = np.sqrt(masses)
    return _norm((masses * inner + sides.s[heavy]) / root), 1.01 * error / float(np.min(root))


def _light(x: FloatArray, sides: Sides, errors: float) -> float:
    """Return what elements of weight 0 cost, with `errors` times the rounding errors."""
    if sides.masses is None or sides.masses.all():
        return 0.0
    light = sides.masses == 0.0
    room = np.abs(x[light]) + sides.reach()
    own = float(np.sum(np.abs(sides.s[light]) * room))
    error = 4.0 * (room.size + 4) * UNIT_ROUNDOFF * own + sides.s_error * float(np.max(room))
    return float(own + errors * error)


def _sums(rows: Sequence[Sequence[float]], columns: int) -> list[float]:
    """Return the sum of each column, correctly rounded; NaN where a number overflowed."""
    return [
        fsum(column) if all(map(isfinite, column)) else nan
        for column in (zip(*rows, strict=True) if rows else [()] * columns)
    ]


def _penalties(sides: Sides, errors: float) -> float:
    """Return what infeasibility costs D(y), with `errors` times the rounding errors."""
    outside = (1.0 + 16.0 * UNIT_ROUNDOFF) * (sides.violation + errors * sides.violation_error)
    short = max(0.0, outside + sides.shortage + errors * sides.shortage_error)
    error = errors * sides.s_error
    if sides.masses is None:
        below, above = -float(np.min(sides.s)), float(np.max(sides.s))
        return max(0.0, outside * (below + error + 0.5 * outside)) + max(
            0.0, short * (above + error + 0.5 * short)
        )
    heavy = sides.masses > 0.0
    s, masses = sides.s[heavy], sides.masses[heavy]
    costs = [
        float(np.max(amount * (side + error + 0.5 * amount) / masses, initial=0.0))
        for amount, side in ((outside, -s), (short, s))
    ]
    return (outside + short) * sides.reach() + sum(costs)


def _objective(x: FloatArray, sides: Sides, slack: float, error: float) -> tuple[float, float]:
    """Return P(x) = sum_i (f_i(x) - <y_i, x>) + <s, x> + sum_v m_v x_v^2 / 2, and its error."""
    slopes = x if sides.masses is None else sides.masses * x
    parts = x * (sides.s + 0.5 * slopes)
    sizes = float(np.sum(np.abs(x) * (np.abs(sides.s) + np.abs(slopes))))
    error += float(np.max(np.abs(x))) * sides.s_error + 4.0 * UNIT_ROUNDOFF * sizes
    return slack + compensated_sum(parts), error + sum_error(parts)


def _norm(values: FloatArray) -> float:
    """Return the Euclidean norm; squares neither overflow nor vanish."""
    largest = float(np.max(np.abs(values)))
    if not 0.0 < largest < inf:
        return largest
    scaled = values / largest
    return largest * sqrt(float(scaled @ scaled))


def _half_square(norm: float) -> float:
    """Return half a square, which is above 0 if the number is."""
    return max(0.5 * norm * norm, 5e-324) if norm else 0.0
