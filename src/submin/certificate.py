"""Certificates: a proof of how good a set is, recomputed from the set and the dual alone.

For any dual y, feasible or not, converged or not, let delta_i = max_S (y_i(S) - F_i(S)).  Then
every set S has

    F(S) = u(S) + sum_i F_i(S) >= s(S) - sum_i delta_i >= sum_v min(0, s_v) - sum_i delta_i

with s = u + sum_i y_i, so the last number is a lower bound on min F.  Elements with hard
constraints are counted as what they must be.  This module shares no code with any solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._sums import UNIT_ROUNDOFF
from submin._typing import BoolArray, FloatArray
from submin.problem import Problem

if TYPE_CHECKING:
    from submin.proximal_certificate import ProximalCertificate
    from submin.result import Result


class Status(Enum):
    """What was proved about an answer."""

    OPTIMAL = "optimal: the gap is closed, up to rounding or below the granularity of the data"
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
        No set costs less.  Already lowered by `rounding`; on data of known granularity, raised to
        the next value that F can take.
    gap : float
        ``value - lower_bound``: S costs at most this much more than the minimum.
    violation : float
        sum_i max_S (y_i(S) - F_i(S)): what the dual's infeasibility costs the bound.
    rounding : float
        Bound on all floating-point errors made in computing value and bound.
    granularity : float
        All values of F (less the constant) are multiples of this number; 0 if unknown.
    optimal : bool
        Whether S is proved to be a minimiser, up to `rounding` (exactly, if the granularity is
        known and larger).
    """

    value: float
    lower_bound: float
    gap: float
    violation: float
    rounding: float
    granularity: float
    optimal: bool

    def status(self, tol: float = 0.0) -> Status:
        """Return what the certificate proves, for a tolerance on the gap."""
        if self.optimal:
            return Status.OPTIMAL
        return Status.CONVERGED if self.gap <= tol else Status.STOPPED

    def __str__(self) -> str:
        proof = "a minimiser" if self.optimal else f"within {self.gap:.3g} of the minimum"
        return (
            f"value {self.value:.12g}, lower bound {self.lower_bound:.12g}, "
            f"gap {self.gap:.3g}, rounding {self.rounding:.1g}: proved to be {proof}"
        )


def certify(
    problem: Problem,
    members: BoolArray,
    dual: Sequence[FloatArray],
    value: float | None = None,
    s: FloatArray | None = None,
) -> Certificate:
    """Compute the certificate of a flat set and a dual (one array per term), O(size of data).

    `value` is F(S), where it is known.  An array `s` is filled with u + sum_i y_i, unless there are
    hard constraints.
    """
    value = problem.evaluate(members) if value is None else value
    bound, violation, rounding = lower_bound(problem, dual, s)
    return _assembled(problem, value, bound, violation, rounding + _value_error(problem, members))


def _value_error(problem: Problem, members: BoolArray) -> float:
    """Bound the rounding errors in F(S) that its size does not show."""
    return sum(term.value_error(members) for term in problem.terms)


def _assembled(
    problem: Problem, value: float, bound: float, violation: float, rounding: float
) -> Certificate:
    """Make the certificate of a value and a bound; it is rigorous for all errors in both."""
    scale = abs(bound) + abs(problem.constant) + violation
    rounding += 4.0 * UNIT_ROUNDOFF * (scale + (abs(value) if np.isfinite(value) else 0.0))
    computed_gap = value - bound
    rigorous = bound - rounding
    if not np.isfinite(rigorous):  # numbers overflowed: such a dual proves nothing
        rigorous, rounding = -float("inf"), float("inf")
    granularity = problem.granularity
    if granularity > 2.0 * rounding:
        steps = np.ceil((rigorous - problem.constant) / granularity)
        rigorous = max(rigorous, float(steps * granularity) + problem.constant)
        computed_gap = value - rigorous
    rigorous = min(rigorous, value)
    return Certificate(
        value=value,
        lower_bound=rigorous,
        gap=value - rigorous if np.isfinite(value) else float("inf"),
        violation=violation,
        rounding=rounding,
        granularity=granularity,
        optimal=bool(computed_gap <= rounding < float("inf")),
    )


def lower_bound(
    problem: Problem, dual: Sequence[FloatArray], s: FloatArray | None = None
) -> tuple[float, float, float]:
    """Return the bound before rounding, the dual's violation, and the rounding error.

    The error of s(v) is at most depth * unit roundoff * (|u(v)| + sum_i |y_i(v)|), and min(0, s) is
    1-Lipschitz, so these add up over the elements; the terms bound the errors of their violations.
    """
    unary = problem.unary.ravel()
    if problem.has_forced:
        s = np.where(np.isfinite(unary), unary, 0.0)
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
    bound = problem.least_cost(s) + problem.constant - violation
    return bound, violation, error + depth * UNIT_ROUNDOFF * magnitude


def verify(
    problem: Problem, result: Result | npt.ArrayLike, dual: Sequence[FloatArray] | None = None
) -> Certificate | ProximalCertificate:
    """Recompute the certificate of a result, independently of the solver that made it.

    Parameters
    ----------
    problem : Problem
    result : Result, or array_like of bool
        A result, or a set of the problem's shape together with `dual`.
    dual : sequence of arrays, optional
        One dual per term, if `result` is a set.  By default that of the result; for a set, zeros.

    Returns
    -------
    Certificate or ProximalCertificate
        The latter for a result of ``prox``, about its `x`; ``verify(problem, result.minimizer,
        result.dual)`` is about its set.

    Raises
    ------
    ValueError
        If the shapes do not fit the problem, or the set costs less than the bound, which only
        functions that are not submodular allow.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> result = sm.minimize(problem)
    >>> sm.verify(problem, result).optimal
    True
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, and not a {type(problem).__name__}")
    if dual is None and getattr(result, "proximal", False):
        from submin.proximal_certificate import verify_point

        return verify_point(problem, cast("Result", result))
    return verify_set(problem, result, dual)


def verify_set(
    problem: Problem, result: Result | npt.ArrayLike, dual: Sequence[FloatArray] | None = None
) -> Certificate:
    """Recompute the certificate of the set of any result; see ``verify``."""
    problem.check_data()
    members = result.minimizer if hasattr(result, "minimizer") else result
    if dual is None:
        dual = getattr(result, "dual", [np.zeros(term.size) for term in problem.terms])
    parts = [_checks.float_array("dual", part).ravel() for part in dual]
    sizes = [term.size for term in problem.terms]
    if [part.size for part in parts] != sizes:
        raise ValueError(
            f"the dual has sizes {[part.size for part in parts]}, but the terms have {sizes}"
        )
    if not all(np.all(np.isfinite(part)) for part in parts):
        raise ValueError("the dual holds a number that is not finite, so it proves nothing")
    mask = problem.flat_set("result", members)
    bound, violation, rounding = lower_bound(problem, parts)
    rounding += _value_error(problem, mask)
    certificate = _assembled(problem, problem.evaluate(mask), bound, violation, rounding)
    _refuse_contradiction(certificate, bound)
    return certificate


def _refuse_contradiction(certificate: Certificate, bound: float) -> None:
    """Refuse a set that costs clearly less than the lower bound: F is not submodular then."""
    margin = certificate.rounding + 1e-6 * (abs(bound) + abs(certificate.value))
    if certificate.value < bound - margin:
        raise ValueError(
            f"the set costs {certificate.value}, less than the lower bound {bound} of the dual: "
            "a term is not submodular, or its values have changed"
        )
