"""How good a labelling is: its energy, and a lower bound that any dual proves.

With a number for each label at both ends of each edge, in place of which any others would do,

    E(x) >= sum over v of  min over p of  (D_v(p) + sum of the numbers at v)
            + sum over e of  min over p, q of  (weight_e d(p, q) - number at one end - at the other)

for every x: what the nodes are given the edges pay.  The kernel that adds this up shares no code
with message passing, and takes every least value less what rounding may have added to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nextafter
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from submin.labels.problem import Dual, LabelProblem, Labels, checked_problem
from submin.solve.certificate import Status


@dataclass(frozen=True)
class LabelCertificate:
    """A labelling's energy and a rigorous lower bound, in units of cost.

    Attributes
    ----------
    value : float
        The energy.
    lower_bound : float
        No labelling costs less.  Rounded down.
    gap : float
        ``value - lower_bound``, and 0 where the labelling is proved to be optimal.
    optimal : bool
        Whether it is proved that no labelling costs less: all data are integers, and the gap is
        below 1.
    """

    value: float
    lower_bound: float
    gap: float
    optimal: bool

    def status(self, tol: float, rounding: float = 0.0) -> Status:
        """Return what is proved, for a tolerance on the gap, and what rounding may make of it."""
        if self.optimal:
            return Status.OPTIMAL
        if self.gap <= rounding:
            return Status.CLOSED
        return Status.CONVERGED if self.gap <= tol else Status.STOPPED


def verify_labels(
    problem: LabelProblem, labels: npt.ArrayLike, dual: Dual | None = None
) -> LabelCertificate:
    """Compute the certificate of a labelling anew, from it and a dual alone; None is one of zeros.

    Parameters
    ----------
    problem : LabelProblem
    labels : LabelResult, or int array_like of the shape of the elements
        A result brings its own dual.
    dual : Dual, optional

    Raises
    ------
    TypeError, ValueError
        If they do not fit the problem, or a number of the dual is not finite.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.LabelProblem([[0.0, 1.0], [2.0, 0.0]], [sm.GridCut(2, 0.5)])
    >>> sm.labels.verify_labels(problem, sm.minimize_labels(problem)).value
    0.5
    """
    if isinstance(labels, HasLabels):
        labels, dual = labels.labels, labels.dual if dual is None else dual
    value = checked_problem(problem).evaluate(labels)
    if dual is None:
        return certificate(problem, value, trivial_bound(problem))
    return certificate(problem, value, problem.bound(problem.checked_dual(dual)))


@runtime_checkable
class HasLabels(Protocol):
    """A result: a labelling with a dual, or None."""

    @property
    def labels(self) -> Labels:
        """Return the labelling."""
        ...

    @property
    def dual(self) -> Dual | None:
        """Return what proves its bound."""
        ...


def certificate(problem: LabelProblem, value: float, bound: float) -> LabelCertificate:
    """Return the certificate of an energy and a bound, which is rounded down once more."""
    bound = nextafter(bound, -inf)
    gap = value - bound
    optimal = problem.is_integral and gap < 1.0
    return LabelCertificate(value, value if optimal else bound, 0.0 if optimal else gap, optimal)


def trivial_bound(problem: LabelProblem) -> float:
    """Return the bound of a dual of zeros: every element has its cheapest label."""
    cheapest = problem.least_costs.astype(np.float64)  # a group costs 0 at least
    total = float(np.sum(cheapest))
    return total - cheapest.size * 2.0**-52 * float(np.sum(np.abs(cheapest)))
