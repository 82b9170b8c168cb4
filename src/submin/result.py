"""Results are values: the answer, its proof, and how the solver got there."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from submin._typing import BoolArray, FloatArray
from submin.certificate import Certificate, Status
from submin.proximal_certificate import ProximalCertificate

if TYPE_CHECKING:
    from submin.problem import Problem


class Record(NamedTuple):
    """The state of a solve at one check.

    ``smooth_gap`` is the paper's nu_s = f(x) + ||x||^2 / 2 + ||s||^2 / 2, ``discrete_gap`` its
    nu_d = F(best level set) - sum_v min(0, s_v), both at the current dual; ``value`` and
    ``lower_bound`` are the best so far.  All but the counts and seconds are in units of cost
    (``smooth_gap``: cost squared).  ``fixed`` counts the elements that are proved so far to be in
    every minimiser, or in none (``submin.screening``).
    """

    passes: float
    projections: int
    seconds: float
    smooth_gap: float
    discrete_gap: float
    value: float
    lower_bound: float
    fixed: int = 0


class History(list[Record]):
    """The records of a solve; each column is also an array: ``history.passes``, and so on."""

    def _column(self, name: str) -> FloatArray:
        return np.array([getattr(record, name) for record in self], dtype=np.float64)

    def __getattr__(self, name: str) -> FloatArray:
        if name not in Record._fields:
            raise AttributeError(f"a history has no column {name!r}; it has {Record._fields}")
        return self._column(name)


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The answer of ``minimize``, with its certificate.

    Attributes
    ----------
    minimizer : bool array, the problem's shape
        The best set found: ``True`` means in S.
    certificate : Certificate
        Its value, the lower bound on the minimum, and what they prove.
    status : Status
        ``OPTIMAL`` (proved), ``CLOSED`` (a minimiser up to rounding), ``CONVERGED`` (gap within the
        tolerance) or ``STOPPED``.
    x : float array, the problem's shape
        The point -s of the dual; its level set {x > 0} is the minimiser at convergence.  Of
        ``prox``, elements whose values rounding alone may have parted have one value.
    dual : tuple of float arrays
        One array per term, in natural coordinates; warm-starts any solver.
    history : History
        One record per check.
    solver : str
        The solver's settings.
    tol : float
        The tolerance on the gap that `status` refers to.
    interrupted : bool
        Whether Ctrl-C (or the callback) ended the solve.
    point : ProximalCertificate or None
        How near `x` is to the proximal point, for a result of ``prox``: then `status` is about `x`,
        and not about the set.
    stalled : bool
        Whether ``prox`` ended because rounding errors left no further progress.
    """

    minimizer: BoolArray
    certificate: Certificate
    status: Status
    x: FloatArray
    dual: tuple[FloatArray, ...]
    history: History
    solver: str
    tol: float
    interrupted: bool = field(default=False)
    point: ProximalCertificate | None = field(default=None)
    stalled: bool = field(default=False)

    @property
    def value(self) -> float:
        """F of the minimizer, in units of cost."""
        return self.certificate.value

    @property
    def lower_bound(self) -> float:
        """No set costs less than this."""
        return self.certificate.lower_bound

    @property
    def gap(self) -> float:
        """``value - lower_bound``."""
        return self.certificate.gap

    @property
    def passes(self) -> float:
        """Passes over the blocks, of r projections each."""
        return self.history[-1].passes if self.history else 0.0

    @property
    def projections(self) -> int:
        """Block projections."""
        return self.history[-1].projections if self.history else 0

    @property
    def seconds(self) -> float:
        """Wall time of the solve."""
        return self.history[-1].seconds if self.history else 0.0

    @property
    def proximal(self) -> bool:
        """Whether the result answers ``prox``."""
        return self.point is not None

    @property
    def smooth_gap(self) -> float:
        """The smooth gap of `x` and `dual` (cost squared), with its rounding errors.

        `x` is within sqrt(2 gap) of the proximal point.  It is NaN for a result of ``minimize``,
        which does not compute it; ``history.smooth_gap`` has those along the way.
        """
        return float("nan") if self.point is None else self.point.gap

    def __repr__(self) -> str:
        return f"<Result {self}>"

    def __str__(self) -> str:
        effort = f"{self.passes:.6g} passes, {self.seconds:.3g} s"
        if self.point is not None:
            end = "no further progress in float64, " if self.stalled else ""
            return f"{self.status.name}: {self.point}; {end}{effort}"
        return (
            f"{self.status.name}: {self.certificate}; {int(self.minimizer.sum())} of "
            f"{self.minimizer.size} elements in S, {effort}"
        )

    def save(self, path: str | PathLike[str], problem: Problem | None = None) -> None:
        """Write the result to a ``.npz`` file, without pickle.

        Parameters
        ----------
        path : str or path
        problem : Problem, optional
            Written beside the result, so that ``submin verify`` can check the file on its own.
        """
        from submin import storage

        storage.save(path, problem=problem, result=self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Result:
        """Read a result that ``save`` wrote."""
        from submin import storage

        return storage.load_result(path)
