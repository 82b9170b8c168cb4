"""Ratios: min F(S) / m(S) over the sets S that are not empty, by Newton's steps.

    S <- V
    Repeat:
        lam <- F(S) / m(S)
        S' <- a minimiser of F - lam m, with a lower bound L on the minimum
        F(S') / m(S') >= lam? Stop: F(T) - lam m(T) >= L for every set T
        S <- S'

Each step is a cut, warm from the last; lam falls, and the m(S) fall too, so that there are at most
n steps, and few as a rule (Dinkelbach 1967, doi:10.1287/mnsc.13.7.492).  In the end every set T has
F(T) / m(T) >= lam + min(0, L) / min_v m_v, which is proved by one dual.  Hard constraints hold for
every set.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._sums import UNIT_ROUNDOFF, compensated_sum, product_error, two_sum
from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.solve.result import Result
from submin.solvers.solver import Solver


@dataclass(frozen=True, eq=False, repr=False)
class Ratio:
    """The set of the least ratio F(S) / m(S), with its proof.

    Attributes
    ----------
    minimizer : bool array, the problem's shape
        The set.
    value : float
        Its ratio, in cost per unit of m.
    lower_bound : float
        No set that is not empty has a smaller ratio.
    result : Result
        Of F - lam m at the last lam: its dual proves the bound (``verify(shifted, result)``).
    shifted : Problem
        F - lam m.
    steps : int
        The number of minimum cuts.
    """

    minimizer: BoolArray
    value: float
    lower_bound: float
    result: Result
    shifted: Problem
    steps: int

    @property
    def gap(self) -> float:
        """``value - lower_bound``."""
        return self.value - self.lower_bound

    def __repr__(self) -> str:
        return (
            f"<Ratio {self.value:.12g}, lower bound {self.lower_bound:.12g}, "
            f"{int(self.minimizer.sum())} of {self.minimizer.size} elements, {self.steps} steps>"
        )


def minimize_ratio(
    problem: Problem,
    m: npt.ArrayLike | None = None,
    solver: Solver[Any] | str = "auto",
    *,
    time_limit: float | None = None,
    threads: int = 0,
    progress: bool = False,
) -> Ratio:
    """Minimise F(S) / m(S) over the sets S that are not empty, with a certificate.

    Parameters
    ----------
    problem : Problem
        F, with any terms; F(∅) >= 0.
    m : array_like, shape of the problem, optional
        What to divide by, a sum over the elements of S, each above 0; by default 1.
    solver : str or solver, optional
        That of each step; as in ``minimize``.
    time_limit : float, optional
        Seconds for each step.
    threads : int, optional
    progress : bool, optional

    Returns
    -------
    Ratio

    Raises
    ------
    ValueError
        If m does not fit, or is not finite and above 0, or its sum overflows; if F(∅) < 0, the
        ratio of which is no number; or if every element is forced out of S.

    Examples
    --------
    The densest subgraph: as many edges inside for each node as can be.  The edges inside S are half
    of the degrees in S, less half of the edges that leave it.

    >>> import numpy as np, submin as sm
    >>> tails, heads = np.array([0, 0, 0, 1, 1, 2, 3, 4]), np.array([1, 2, 3, 2, 3, 3, 4, 5])
    >>> degrees = np.bincount(tails, minlength=6) + np.bincount(heads, minlength=6)
    >>> problem = sm.Problem(-0.5 * degrees, [sm.Cut(tails, heads, 0.5 * np.ones(8))])
    >>> densest = sm.minimize_ratio(problem)
    >>> np.flatnonzero(densest.minimizer), -densest.value, densest.gap
    (array([0, 1, 2, 3]), 1.5, 0.0)
    """
    _checks.refuse_other("problem", problem, Problem)
    masses = _checked_masses(problem, m)
    if problem.constant < 0.0 and not problem.forced_in.any():
        raise ValueError(
            f"F of the empty set is {problem.constant}, below 0: every ratio would be without bound"
        )
    best = _first_set(problem, masses)
    value, steps = _ratio(problem, masses, best), 0
    result: Result | None = None
    while True:
        steps += 1
        shifted = _shifted(problem, value, masses)[0]
        result = minimize(
            shifted, solver, time_limit=time_limit, threads=threads, progress=progress,
            warm_start=result,
        )  # fmt: skip
        found = result.minimizer
        ratio = _ratio(problem, masses, found) if found.any() else value
        if not ratio < value:
            break
        best, value = found, ratio
        if result.interrupted:
            break
    return Ratio(best, value, _bound(problem, value, masses, result), result, shifted, steps)


def _shifted(problem: Problem, lam: float, masses: FloatArray) -> tuple[Problem, FloatArray]:
    """Return F - lam m, and bounds on the rounding errors in its unary."""
    product = -lam * masses
    hard = ~np.isfinite(problem.unary)
    unary, error = two_sum(np.where(hard, 0.0, problem.unary), product)
    error = np.where(hard, 0.0, np.abs(error) + product_error(-np.full_like(masses, lam), masses))
    shifted = Problem(np.where(hard, problem.unary, unary), problem.terms, problem.constant)
    return shifted, error


def _bound(problem: Problem, lam: float, masses: FloatArray, result: Result) -> float:
    """Return the bound of the module's head, less the rounding errors of F - lam m, rounded down.

    An error e_v of a cost is one of e_v / m_v in the ratio, at most.
    """
    error = float(np.max(_shifted(problem, lam, masses)[1] / masses))
    short = -min(0.0, result.lower_bound) / float(np.min(masses)) + error
    if short == 0.0:
        return lam
    return float(np.nextafter(lam - short * (1.0 + 4.0 * UNIT_ROUNDOFF), -np.inf))


def _first_set(problem: Problem, masses: FloatArray) -> BoolArray:
    """Return the largest set that obeys the hard constraints: V without what has to be out."""
    everything: BoolArray = ~problem.implied.outside.reshape(problem.shape)
    if not everything.any():
        raise ValueError(
            "every element is forced out, or is in S only with one that is: no set is left but the "
            "empty one"
        )
    return everything


def _ratio(problem: Problem, masses: FloatArray, members: BoolArray) -> float:
    """Return F(S) / m(S), rounded once."""
    value, mass = problem.evaluate(members), compensated_sum(masses[members])
    return float(Fraction(value) / Fraction(mass)) if np.isfinite(value) else value


def _checked_masses(problem: Problem, given: npt.ArrayLike | None) -> FloatArray:
    """Return m in the problem's shape."""
    if given is None:
        return np.ones(problem.shape)
    masses = _checks.array_for("m", given, problem.shape)
    positive = np.isfinite(masses) & (masses > 0.0)
    _checks.refuse_where("m", masses, ~positive, "it must be finite, and above 0")
    small = masses <= 1.0 / _checks.LARGEST_SUM
    _checks.refuse_where("m", masses, small, "ratios would overflow; scale m up")
    if not _checks.total(masses) < _checks.LARGEST_SUM:
        raise ValueError(
            f"m must sum to less than {_checks.LARGEST_SUM:g}, and its largest is "
            f"{float(np.max(masses))}, at flat index {int(np.argmax(masses))}: scale m down"
        )
    return masses.reshape(problem.shape)
