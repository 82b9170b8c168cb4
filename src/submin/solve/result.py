"""Results are values: the answer, its proof, and how the solver got there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray, FloatArray
from submin.model import archive
from submin.model.problem import Problem
from submin.solve.certificate import Certificate, Status
from submin.solve.proximal_certificate import UNKNOWN, ProximalCertificate


class Record(NamedTuple):
    """The state of a solve at one check.

    ``smooth_gap`` is the paper's nu_s = f(x) + ||x||^2 / 2 + ||s||^2 / 2, ``discrete_gap`` its
    nu_d = F(best level set) - sum_v min(0, s_v), both at the current dual; ``value`` and
    ``lower_bound`` are the best so far.  All but the counts and seconds are in units of cost
    (``smooth_gap``: cost squared).  ``fixed`` counts the elements that are proved so far to be in
    every minimiser, or in none (``submin.solve.screening``).
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
    weights : float array, the problem's shape, or None
        The weights of the squares that ``prox`` was given; None if all are 1.
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
    weights: FloatArray | None = field(default=None)

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
        """By how much the value is above the minimum at most; computed apart from both bounds."""
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

        Raises
        ------
        TypeError
            If a term of the problem holds Python code.
        OSError
            If the file can not be written.
        """
        arrays: archive.Arrays = {}
        parts = {} if problem is None else {"problem": problem.put(arrays)}
        archive.write(path, arrays, **parts, result=self._put(arrays))

    def _put(self, arrays: archive.Arrays) -> archive.Description:
        arrays["minimizer"], arrays["x"] = self.minimizer, self.x
        for k, part in enumerate(self.dual):
            arrays[f"dual_{k}"] = part
        if self.weights is not None:
            arrays["weights"] = self.weights
        return {
            "certificate": asdict(self.certificate),
            "status": self.status.name,
            "duals": len(self.dual),
            "history": [list(record) for record in self.history],
            "solver": self.solver,
            "tol": self.tol,
            "proximal": self.proximal,
            "interrupted": self.interrupted,
            "point": None if self.point is None else asdict(self.point),
            "stalled": self.stalled,
            "weighted": self.weights is not None,
        }

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Result:
        """Read a result that ``save`` wrote.

        Raises
        ------
        ValueError
            If the file is not a submin file, is damaged or holds no result.
        OSError
            If the file can not be opened.
        """
        with archive.reading(path, "result", "a problem without a result") as (file, saved):
            return cls(
                minimizer=_set(file["minimizer"]),
                certificate=archive.entries(Certificate, saved["certificate"]),
                status=Status[saved["status"]],
                x=archive.floats("x", file["x"]),
                dual=tuple(
                    archive.floats(f"dual_{k}", file[f"dual_{k}"])
                    for k in range(_checks.whole_number("duals", saved["duals"], 0))
                ),
                history=History(map(_record, saved["history"])),
                solver=archive.of_type("solver", saved["solver"], str),
                tol=_tolerance(saved["tol"]),
                interrupted=archive.of_type("interrupted", saved["interrupted"], bool),
                point=_point(saved),
                stalled=archive.of_type("stalled", saved.get("stalled", False), bool),
                weights=(
                    archive.floats("weights", file["weights"])
                    if archive.of_type("weighted", saved.get("weighted", False), bool)
                    else None
                ),
            )


def _set(members: npt.NDArray[Any]) -> BoolArray:
    """Return a saved set; other bytes than 0 and 1 would count as other numbers of elements."""
    if members.dtype != np.bool_:
        raise ValueError(f"its set has the type {members.dtype}, and not bool")
    values = members.view(np.uint8)
    _checks.refuse_where("minimizer", values, values > 1, "a boolean is the byte 0 or 1")
    return np.ascontiguousarray(members).reshape(members.shape)


def _point(saved: Mapping[str, Any]) -> ProximalCertificate | None:
    """Return the certificate of a proximal point; version 0.1 saved none."""
    if not archive.of_type("proximal", saved["proximal"], bool):
        return None
    return archive.entries(ProximalCertificate, saved["point"]) if "point" in saved else UNKNOWN


def _record(row: Sequence[Any]) -> Record:
    kinds = get_type_hints(Record)
    numbers = zip(kinds, row, strict=True)
    return Record(**{name: archive.of_type(name, number, kinds[name]) for name, number in numbers})


def _tolerance(value: object) -> float:
    tol: float = archive.of_type("tol", value, float)
    if not tol >= 0.0:
        raise ValueError(f"tol is {tol}, and a gap can not be below 0")
    return tol
