"""Paths: the minimisers of F + lam m for every lam, from one proximal point.

For m >= 0 the minimisers shrink as lam grows.  With x = argmin f(x) + sum_v m_v x_v^2 / 2, f the
Lovász extension of F, the smallest one at lam is {x > lam} and the largest {x >= lam} (Fujishige
1980, doi:10.1287/moor.5.2.186; Bach 2013, Proposition 8.6, doi:10.1561/2200000039).  So a path of
any number of sets takes one number for each element: the lam at which it leaves.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from os import PathLike

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._sums import compensated_sum
from submin._typing import BoolArray, FloatArray
from submin.model import archive
from submin.model.problem import Problem
from submin.solve.api import minimize, prox
from submin.solve.proximal_certificate import ProximalCertificate
from submin.solve.proximal_driver import InfinitePointError
from submin.solvers.parametric_flow import ParametricFlow
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.precedences import closed

EXACT = ProximalCertificate(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""What is known where hard constraints decide everything."""


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """The minimisers of F + lam m for every lam.

    Its sets are nested.  ``len(path)`` counts them, ``path[0]`` is the largest one, that of the
    lowest lam, and a loop over the path goes through them as lam grows (as it falls, if m <= 0).

    Attributes
    ----------
    problem : Problem
        F.
    direction : float array, the problem's shape
        m.
    x : float array, the problem's shape
        The lam at which each element leaves the minimisers (enters, if m <= 0): infinite for
        elements that are always in, or never.
    certificate : ProximalCertificate
        How near x is proved to be to the exact one, in the norm of the weights ``|m|``.
    """

    problem: Problem
    direction: FloatArray
    x: FloatArray
    certificate: ProximalCertificate

    @property
    def breakpoints(self) -> FloatArray:
        """The lam at which the minimiser changes, ascending, shape (len(path) - 1,)."""
        return np.unique(self.x[np.isfinite(self.x)])

    def __len__(self) -> int:
        return self.breakpoints.size + 1

    def __getitem__(self, index: int) -> BoolArray:
        """Return a set of the path, from the largest, 0, to the smallest, O(n log n)."""
        index, count = operator.index(index), len(self)
        if not -count <= index < count:
            raise IndexError(f"path[{index}]: the path has {count} sets")
        ends = np.concatenate([[-np.inf], self._sign * self.breakpoints[:: self._sign]])
        members: BoolArray = self._leaving > ends[index % count]
        return members

    def __iter__(self) -> Iterator[BoolArray]:
        for index in range(len(self)):
            yield self[index]

    def __repr__(self) -> str:
        return f"<Path of {len(self)} sets, {self.problem!r}>"

    @property
    def _sign(self) -> int:
        return 1 if float(np.max(self.direction)) > 0.0 else -1

    @property
    def _leaving(self) -> FloatArray:
        """The point of the problem with the direction |m|."""
        return self._sign * self.x

    def minimizer(self, lam: float, *, largest: bool = False) -> BoolArray:
        """Return the smallest or the largest minimiser of F + lam m, O(n).

        Parameters
        ----------
        lam : float
        largest : bool, optional

        Notes
        -----
        At a breakpoint they differ, if lam is its very number in ``breakpoints``.  Elements whose
        cost does not change with lam may be left out of both, or be in both, where that costs the
        same.

        Examples
        --------
        >>> import submin as sm
        >>> path = sm.path(sm.Problem([2.0, -2.0, 1.0], [sm.GridCut(3, 1.0)]))
        >>> path.breakpoints
        array([-1.,  0.])
        >>> path.minimizer(0.0), path.minimizer(0.0, largest=True)
        (array([False, False, False]), array([False,  True,  True]))
        """
        level = self._sign * _number(lam)
        return self._leaving >= level if largest else self._leaving > level

    def value(self, lam: float) -> float:
        """Return the minimum of F + lam m, from the value of its minimiser, O(size of the data).

        Elements that are forced into S pay lam m, too, though their unary counts as 0.

        Examples
        --------
        >>> import submin as sm
        >>> path = sm.path(sm.Problem([2.0, -2.0, 1.0], [sm.GridCut(3, 1.0)]))
        >>> path.value(-2.0), path.value(1.0)
        (-5.0, 0.0)
        """
        lam = _checks.number("lam", lam)
        members = self.minimizer(lam)
        return self.problem.evaluate(members) + lam * compensated_sum(self.direction[members])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the path and its problem to a ``.npz`` file, without pickle.

        Raises
        ------
        TypeError
            If a term of the problem holds Python code.
        OSError
            If the file can not be written.
        """
        arrays: archive.Arrays = {"direction": self.direction, "x": self.x}
        parts = {"problem": self.problem.put(arrays)}
        archive.write(path, arrays, **parts, levels=asdict(self.certificate))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Path:
        """Read a path that ``save`` wrote.

        Raises
        ------
        ValueError
            If the file is not a submin file, is damaged or holds no path.
        OSError
            If the file can not be opened.
        """
        problem = Problem.load(path)
        with archive.reading(path, "levels", "no path") as (file, saved):
            found = cls(
                problem=problem,
                direction=archive.floats("direction", file["direction"]),
                x=archive.floats("x", file["x"]),
                certificate=archive.entries(ProximalCertificate, saved),
            )
            _checked_direction(problem, found.direction)
            if found.x.shape != problem.shape or np.isnan(found.x).any():
                raise ValueError("x does not fit its problem")
            return found


def path(
    problem: Problem,
    direction: npt.ArrayLike | None = None,
    *,
    time_limit: float | None = None,
    threads: int = 0,
    progress: bool = False,
) -> Path:
    """Find the minimisers of F + lam m for every lam at once.

    Parameters
    ----------
    problem : Problem
        Of cuts, and of terms that are cuts with a few auxiliary nodes (those of ``MaxFlow``).  Hard
        constraints hold for every lam.
    direction : array_like, shape of the problem, optional
        m: how the cost of each element changes with lam; all >= 0, or all <= 0, and not all 0.  By
        default 1.
    time_limit : float, optional
        Seconds; x is what is known by then, and the certificate says how near it is.
    threads : int, optional
        Threads for large parts; 0 means all cores.  Any number gives the same bits.
    progress : bool, optional
        Show progress on standard error.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If the direction is not finite, has both signs or is 0, or does not fit.
    TypeError
        If a term is neither a cut nor one with a few auxiliary nodes.

    Notes
    -----
    It takes the time of ``prox``, some cuts' worth, whatever the number of sets.  Breakpoints that
    rounding errors part may be one, and the other way round.

    Examples
    --------
    A node's arc from the source has the capacity 1 + 5 lam, and that to the sink 9 - 3 lam.  With
    the node in S, on the side of the source, the cut costs 9 - 3 lam, and without it 1 + 5 lam: 8 -
    8 lam more.

    >>> import submin as sm
    >>> path = sm.path(sm.Problem([8.0]), direction=[-8.0])
    >>> path.breakpoints, path.minimizer(0.5), path.minimizer(1.5)
    (array([1.]), array([False]), array([ True]))
    """
    _checks.refuse_other("problem", problem, Problem)
    m = _checked_direction(problem, np.ones(problem.shape) if direction is None else direction)
    sign = 1.0 if float(np.max(m)) > 0.0 else -1.0
    inside, outside = problem.forced_in.ravel(), problem.forced_out.ravel()
    x = np.where(inside, np.inf, np.where(outside, -np.inf, 0.0))
    while True:
        rest = _rest(problem, x)
        free = np.isfinite(x)
        if not (np.abs(m.ravel()[free]) > 0.0).any():
            return Path(problem, m, (sign * _decided(problem, x)).reshape(problem.shape), EXACT)
        _checks.refuse_far_weights("direction", np.where(free, np.abs(m.ravel()), 0.0), rest.unary)
        try:
            result = prox(
                rest,
                ParametricFlow(),
                weights=np.abs(m.ravel()[free]).reshape(rest.shape),
                time_limit=time_limit,
                threads=threads,
                progress=progress,
            )
        except InfinitePointError as error:
            x[free] = np.where(np.isfinite(error.x), 0.0, error.x)
            continue
        assert result.point is not None
        x[free] = result.x.ravel()
        return Path(problem, m, (sign * x).reshape(problem.shape), result.point)


def _rest(problem: Problem, x: FloatArray) -> Problem:
    """Return the problem on the elements of finite x; others follow from those of infinite x."""
    inside, outside = x == np.inf, x == -np.inf
    if not (inside | outside).any() or not np.isfinite(x).any():
        return problem
    implied = closed(problem.precedences, Fixing(inside, outside))
    x[implied.inside], x[implied.outside] = np.inf, -np.inf
    if not np.isfinite(x).any():
        return problem
    return problem.minor(implied.inside, implied.outside).problem


def _decided(problem: Problem, x: FloatArray) -> FloatArray:
    """Return infinite x for what is free and has no weight: its minimiser is that of every lam."""
    free = np.isfinite(x)
    if not free.any():
        return x
    rest, decided = _rest(problem, x), x.copy()
    decided[free] = np.where(minimize(rest).minimizer.ravel(), np.inf, -np.inf)
    return decided


def _number(lam: float) -> float:
    level = float(lam)
    if np.isnan(level):
        raise ValueError("lam is NaN: it must be a number")
    return level


def _checked_direction(problem: Problem, given: npt.ArrayLike) -> FloatArray:
    """Return m in the problem's shape."""
    direction = _checks.array_for("direction", given, problem.shape)
    _checks.refuse_where("direction", direction, ~np.isfinite(direction), "it must be finite")
    if not direction.any():
        raise ValueError("direction is 0 everywhere, so that no minimiser ever changes")
    if direction.min() < 0.0 < direction.max():
        index = int(np.argmin(direction))
        raise ValueError(
            f"direction.flat[{index}] is {direction.flat[index]}, and others are above 0: the "
            "minimisers are nested only where all have one sign"
        )
    return direction.reshape(problem.shape)
