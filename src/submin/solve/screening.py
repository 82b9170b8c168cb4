"""Safe screening: elements that are proved to be in every minimiser, or in none.

Let y be feasible, s = u + sum_i y_i, x = -s, and S0 any set.

*Discrete rule* (reduced costs).  nu = F(S0) - sum_v min(0, s_v), the discrete gap.  Every set has

    F(S) >= s(S) = sum_v min(0, s_v) + sum over S of max(0, s_v) + sum outside S of max(0, -s_v)

so one with an element of s_v > nu, or without one of s_v < -nu, costs more than S0:

    s_v > nu:  v is in no minimiser          s_v < -nu:  v is in every minimiser

*Ball rule* (Zhang, Hong, Ma, Liu, Zhang 2018, arXiv:1805.08527).  The proximal problem
P(x) = f(x) + ||x||^2 / 2 and its dual D(y) = -||s||^2 / 2 are strongly convex, so the solution x*
has, at any x and y with the smooth gap G = P(x) - D(y),

    ||x* - x||^2 / 2 + ||x* + s||^2 / 2 <= (P(x) - P(x*)) + (D(x*) - D(y)) = G,    hence
    ||x* - (x - s) / 2||^2 <= G - ||x + s||^2 / 4                          (parallelogram law)

The smallest and the largest minimiser are {x* > 0} and {x* >= 0}, so an element on which the whole
ball has one sign is decided.  At x = -s the ball has the centre -s and the radius sqrt(G).

*Range rule*.  Adding v costs between u_v + min y_v and u_v + max y_v, whatever is in S:

    u_v + max y_v <= 0:  some minimiser has v       u_v + min y_v >= 0:  some minimiser does not

and all at once, as adding the former and leaving out the latter, one by one, never raises F.

*Static rule*.  The range rule, then the range rule on the minor that is left, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from submin._sums import EXACT_STEPS, UNIT_ROUNDOFF, binary_unit
from submin._typing import BoolArray, FloatArray
from submin.model.minor import Minor, has_minors
from submin.model.problem import Problem
from submin.solve.certificate import dual_gap
from submin.solve.verification import verify_set
from submin.terms.capabilities.fixing import Fixing

if TYPE_CHECKING:
    from submin.solve.result import Result

LEAST_SHARE = 1 / 16
"""Part of the free elements that a round of the static rule must fix to be followed by another."""


class Screening(NamedTuple):
    """Elements that some minimiser has, and elements that it has not, as masks."""

    inside: BoolArray
    outside: BoolArray

    def __repr__(self) -> str:
        inside, outside = int(self.inside.sum()), int(self.outside.sum())
        free = self.inside.size - inside - outside
        return f"<Screening inside={inside}, outside={outside}, undecided={free}>"


def discrete_rule(s: FloatArray, gap: float) -> Fixing:
    """Return the elements that reduced costs decide.

    Parameters
    ----------
    s : float array, shape (n,)
        Of any feasible dual.
    gap : float
        At least F(S0) - sum_v min(0, s_v) of some set S0; a bound on rounding errors is added to
        it by the caller.

    Examples
    --------
    >>> decided = discrete_rule(np.array([-3.0, 0.5, 2.0]), gap=1.0)
    >>> decided.inside.tolist(), decided.outside.tolist()
    ([True, False, False], [False, False, True])
    """
    return Fixing(s < -gap, s > gap)


def ball_rule(x: FloatArray, s: FloatArray, smooth_gap: float) -> Fixing:
    """Return the elements on which the ball around the proximal point has one sign.

    Parameters
    ----------
    x : float array, shape (n,)
        Any point; -s, or a better one.
    s : float array, shape (n,)
        Of any feasible dual.
    smooth_gap : float
        At least f(x) + ||x||^2 / 2 + ||s||^2 / 2, in units of cost squared.

    Examples
    --------
    >>> s = np.array([-3.0, 0.5, 2.0])
    >>> decided = ball_rule(-s, s, smooth_gap=2.25)
    >>> decided.inside.tolist(), decided.outside.tolist()
    ([True, False, False], [False, False, True])
    """
    centre, apart = 0.5 * (x - s), x + s
    radius = max(0.0, smooth_gap - 0.25 * float(apart @ apart)) ** 0.5
    return Fixing(centre > radius, centre < -radius)


def static_rule(problem: Problem) -> Fixing:
    """Return elements that the ranges of marginal costs decide, in some minimiser.

    Each round looks at the minor that the one before left, as long as rounds fix one in 16 of the
    free elements; O(size of the data) in all.
    """
    fixing = range_rule(problem)
    newly = ~fixing.free
    while has_minors(problem) and newly.sum() >= LEAST_SHARE * newly.size and fixing.free.any():
        minor = Minor.of(problem, fixing)
        found = range_rule(minor.problem)
        fixing, newly = minor.lift_fixing(found), ~found.free
    return fixing


def range_rule(problem: Problem) -> Fixing:
    """Return the elements that one round of the static rule decides; hard constraints count.

    O(size of the data).  Elements nearer to the limit than sums are exact stay free.
    """
    unary, forced = problem.unary.ravel(), problem.implied
    own = np.where(np.isfinite(unary), unary, 0.0)
    low, high, low_scale, high_scale = own.copy(), own.copy(), np.abs(own), np.abs(own)
    for term in problem.terms:
        least, most = term.marginal_range(problem.n)
        low += least
        high += most
        low_scale += np.abs(least)
        high_scale += np.abs(most)
    inside = forced.inside | (forced.free & (high <= -_margin(problem, high_scale)))
    outside = forced.outside | (forced.free & (low >= _margin(problem, low_scale)))
    return Fixing(inside, outside & ~inside)


def _margin(problem: Problem, scale: FloatArray) -> FloatArray:
    """Bound the rounding errors of sums of numbers whose magnitudes sum to `scale`."""
    exact = scale < EXACT_STEPS * binary_unit(problem.granularity)
    return np.where(exact, 0.0, _roundings(problem) * UNIT_ROUNDOFF * scale)


def decided(
    problem: Problem,
    dual: Sequence[FloatArray],
    s: FloatArray,
    gap: float,
    smooth_gap: float = float("nan"),
) -> Fixing:
    """Apply the discrete rule, and the ball rule at x = -s raised for precedences, O(size of y).

    Parameters
    ----------
    problem : Problem
    dual : sequence of float arrays
        Feasible, up to rounding.
    s : float array, shape (n,)
    gap : float
        F(S0) less the lower bound of the dual.
    smooth_gap : float, optional
        f(x) + ||x||^2; without it, the discrete rule alone.
    """
    rounding = rounding_error(problem, dual)
    found = discrete_rule(s, gap + rounding)
    if not np.isnan(smooth_gap):
        ball = ball_rule(problem.isotonic(-s), s, smooth_gap + rounding * float(np.max(np.abs(s))))
        found = found.joined(ball)
    return _with_pins(problem, found)


def _with_pins(problem: Problem, found: Fixing) -> Fixing:
    """Decide pinned elements by their own cost alone."""
    pins = problem.pins
    if pins is None:
        return found
    free = pins.free
    return Fixing(pins.inside | (found.inside & free), pins.outside | (found.outside & free))


def rounding_error(problem: Problem, dual: Sequence[FloatArray]) -> float:
    """Bound the rounding errors of s, of sums over it, and of a feasible dual, O(size of y)."""
    parts = zip(problem.terms, dual, strict=True)
    magnitude = sum(term.magnitude(part) for term, part in parts)
    magnitude += float(np.sum(np.abs(problem.unary), where=np.isfinite(problem.unary)))
    return _roundings(problem) * UNIT_ROUNDOFF * magnitude


def _roundings(problem: Problem) -> float:
    """Return how many roundings a sum over the functions of an element and over V has, or more."""
    return 64.0 + 2.0 * sum(term.depth + 1 for term in problem.terms)


def screen(problem: Problem, result: Result | None = None) -> Screening:
    """Find elements that are proved to be in a minimiser, or out of it.

    Parameters
    ----------
    problem : Problem
    result : Result, optional
        Of any solve of the problem, however short; without one, the static rule alone.

    Returns
    -------
    Screening
        The masks ``inside`` and ``outside``, of the problem's shape: some minimiser has all of the
        former and none of the latter, and so ``problem.minor(inside, outside)`` has the same
        minimum.

    Raises
    ------
    ValueError
        If the result does not fit the problem.

    Notes
    -----
    O(size of the data).  The gap of the discrete rule is enlarged by the violation and the rounding
    bound of the certificate, so that the proof holds in floating point.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([3.0, -4.0, 0.5, -0.25], [sm.GridCut(4, 1.0)])
    >>> screened = screen(problem)
    >>> screened
    <Screening inside=1, outside=1, undecided=2>
    >>> screened.inside
    array([False,  True, False, False])
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, and not a {type(problem).__name__}")
    fixing = static_rule(problem)
    if result is not None:
        if not hasattr(result, "dual"):
            raise TypeError(f"result must be a Result, and not a {type(result).__name__}")
        fixing = fixing.joined(_decided_by_result(problem, result))
    return Screening(fixing.inside.reshape(problem.shape), fixing.outside.reshape(problem.shape))


def _decided_by_result(problem: Problem, result: Result) -> Fixing:
    """Apply the discrete rule with all errors that the certificate knows."""
    verify_set(problem, result)  # refuses what does not fit
    members = problem.flat_set("result", result.minimizer)
    dual = [np.asarray(part, dtype=np.float64).ravel() for part in result.dual]
    gap = dual_gap(problem, members, dual)
    return _with_pins(problem, discrete_rule(gap.bound.s, gap.size))
