"""Verification: the certificate of a result once more, from its arrays alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from typing import cast

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.solve.certificate import Certificate, certify, core_parts, lower_bound
from submin.solve.proximal_certificate import UNKNOWN, ProximalCertificate, certified
from submin.solve.result import Result

ELSEWHERE = {
    "Ratio": "verify(ratio.shifted, ratio.result) proves that no set has F(S) < lam m(S)",
    "Path": "prox(problem, weights=path.direction) has its point, which verify takes",
    "LabelResult": "labels.verify_labels(problem, result) proves its bound",
    "ConvexResult": "its gap was computed from x and its dual by formulas that need no solver",
}
"""What proves the answers that ``verify`` does not take."""


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
    TypeError
        If it is an answer to another question; the message says what proves it.
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
    if (remedy := ELSEWHERE.get(type(result).__name__)) is not None:
        raise TypeError(f"a {type(result).__name__} is no result of one problem: {remedy}")
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, and not a {type(problem).__name__}")
    if dual is None and getattr(result, "proximal", False):
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
    _refuse_contradiction(problem, mask, parts)
    return certify(problem, mask, parts)


def _refuse_contradiction(problem: Problem, members: BoolArray, dual: Sequence[FloatArray]) -> None:
    """Refuse a set that costs clearly less than the lower bound: F is not submodular then."""
    bound = lower_bound(problem, dual)
    parts, error = core_parts(problem, members, problem.value_parts(members))
    cost = fsum(parts)
    margin = bound.error + error + 1e-6 * (abs(bound.core) + abs(cost))
    if cost < bound.core - margin:
        raise ValueError(
            f"the set costs {bound.core - cost} less than the lower bound of the dual: "
            "a term is not submodular, or its values have changed"
        )


def verify_point(problem: Problem, result: Result) -> ProximalCertificate:
    """Recompute the certificate of the point of a result of ``prox``; ``verify`` calls it.

    Raises
    ------
    ValueError
        If the shapes do not fit the problem, it has hard constraints, a number is not finite, or
        the objective is less than the bound, which only functions that are not submodular allow.
    """
    problem.check_data()
    if problem.has_forced:
        raise ValueError("the problem has hard constraints: its proximal point would be infinite")
    x = _checks.array_for("x", result.x, problem.shape)
    dual = [_checks.float_array("dual", part).ravel() for part in result.dual]
    sizes, fitting = [part.size for part in dual], [term.size for term in problem.terms]
    if sizes != fitting:
        raise ValueError(f"the dual has sizes {sizes}, but the terms have {fitting}")
    if not all(np.all(np.isfinite(part)) for part in (x, *dual)):
        raise ValueError("x or the dual holds a number that is not finite, so it proves nothing")
    masses = _checks.square_weights(getattr(result, "weights", None), problem.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        certificate, gap = certified(problem, x.ravel(), dual, masses)
    if gap < -certificate.rounding - 1e-6 * abs(certificate.value):
        raise ValueError(
            f"the objective {certificate.value} is {-gap} less than the lower bound of the dual: "
            "a term is not submodular, or its values have changed"
        )
    return certificate


def _square(values: FloatArray) -> float:
    """Return ||u||^2, or infinity."""
    with np.errstate(over="ignore"):
        return float(np.sum(np.square(values)))


def _faults_of_numbers(
    proved: ProximalCertificate, claimed: ProximalCertificate, slack: float, norm: float
) -> list[str]:
    """Compare the other numbers of the certificates of a point."""
    digits = slack + 1e-12 * abs(proved.value)
    near = sqrt(2.0 * max(0.0, proved.gap - slack))
    holds = {
        "distance": claimed.distance >= (1.0 - 1e-9) * near,
        "violation": claimed.violation >= (1.0 - 1e-9) * proved.violation - 1e-12 * norm,
        "rounding": claimed.rounding >= 0.5 * proved.rounding,
        "lower_bound": claimed.lower_bound <= proved.lower_bound + digits,
        "value": abs(claimed.value - proved.value) <= digits,
    }
    return [
        f"the {name} of the point is {getattr(proved, name)!r}, not {getattr(claimed, name)!r}"
        for name, true in holds.items()
        if not true
    ]


def faults_of_point(problem: Problem, result: Result) -> list[str]:
    """Return a sentence for each claim of a result of ``prox`` that its point does not keep.

    Last digits of sums differ between processors: claims may be off by the rounding of the proof,
    and by no more than 1e-12 of ||u||^2, which the dual of the result has no part in.

    Raises
    ------
    ValueError
        As ``verify_point``.
    """
    proved, claimed = verify_point(problem, result), result.point or UNKNOWN
    square = _square(problem.unary.ravel())
    slack = 1e-9 * proved.gap + min(proved.rounding, 1e-12 * square)
    faults = []
    if not claimed.gap >= proved.gap - slack:
        faults.append(f"the smooth gap is {proved.gap!r}, not {claimed.gap!r}")
    if claimed != UNKNOWN:
        faults += _faults_of_numbers(proved, claimed, slack, sqrt(square))
    if result.status.name == "OPTIMAL":
        faults.append("the status of a proximal point is never OPTIMAL")
    if result.status.name == "CLOSED" and not proved.gap <= 4.0 * min(proved.rounding, square):
        faults.append(
            f"x is claimed to be right up to rounding, but its smooth gap is {proved.gap!r}, of "
            f"which {proved.rounding!r} is rounding"
        )
    if result.status.name == "CONVERGED" and not proved.gap - slack <= result.tol:
        faults.append(
            f"x is claimed to be within the tolerance {result.tol!r}, but its smooth gap is "
            f"{proved.gap!r}"
        )
    return faults
