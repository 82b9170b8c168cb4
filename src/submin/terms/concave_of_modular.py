"""Concave functions of the mass of S in groups.

    F(S) = sum over groups R of  phi_R(m_R(S and R)),   phi_R concave, phi_R(0) = 0,  m_R >= 0

A piecewise-linear phi with slopes a_1 > a_2 > ... that changes at t_1 < t_2 < ... is a sum of
truncations and a linear part (Stobbe & Krause 2010, arXiv:1010.5511),

    phi(t) = a_L t + sum_l (a_l - a_(l + 1)) min(t, t_l)

so that the family is one ``Truncation`` for each change of slope, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import FloatArray, PointerArray
from submin.terms.groups import check_pointers, grouped_sum, incidences, per_entry
from submin.terms.truncation import Truncation

MassFunction = Callable[[FloatArray, float], npt.ArrayLike]

MOST_MASSES = 256


class ConcaveOfModular(Truncation):
    """Concave piecewise-linear functions of the mass that S has in each group.

    Parameters
    ----------
    pointers : array_like of int, shape (groups + 1,)
        Group i has the elements ``members[pointers[i]:pointers[i + 1]]`` (CSR, like SciPy).
    members : array_like of int, shape (incidences,)
        Element numbers in C order of the ground set; no element twice in one group.
    masses : array_like of float, shape (incidences,), or float
        Mass of each member in its group, 0 or more.
    breakpoints : array_like of float, shape (L,) or (groups, L)
        Masses 0 = t_0 < t_1 < ... between which phi is linear, for all groups or for each.
        Beyond the last one phi goes on with its last slope.
    values : array_like of float, shape (L,) or (groups, L)
        phi at the breakpoints, in units of cost; phi(0) = 0.

    Raises
    ------
    TypeError
        If pointers or members are not integers.
    ValueError
        If phi is not concave, phi(0) is not 0, breakpoints do not increase from 0, a number is not
        finite, a mass is negative, or the groups are malformed.

    Notes
    -----
    With B changes of slope below the mass of a group, the group is B functions on the same
    elements, hence B blocks and B dual values for each member; a projection is O(k) for each, like
    that of ``Truncation``.  Where all members of a group have the same mass, phi is a function of
    their number: ``Cardinality`` does the same (and for unequal weights of whole groups too: scale
    its g) in one block.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> term = sm.ConcaveOfModular([0, 2], [0, 1], [1.0, 3.0], [0, 2, 4], [0.0, 2.0, 3.0])
    >>> [term.evaluate(np.array(chosen)) for chosen in ([True, False], [False, True], [True] * 2)]
    [1.0, 2.5, 3.0]
    """

    kind = "concave_of_modular"

    def __init__(
        self,
        pointers: npt.ArrayLike,
        members: npt.ArrayLike,
        masses: npt.ArrayLike,
        breakpoints: npt.ArrayLike,
        values: npt.ArrayLike,
    ) -> None:
        size, groups = np.size(members), np.size(pointers) - 1
        checked = check_pointers("pointers", pointers, size)
        mass = per_entry("masses", masses, size, "member")
        points, heights = _checked_function(breakpoints, values, groups)
        whole = grouped_sum(mass, checked).astype(np.float64)
        self._build(checked, members, mass, _pieces(points, heights, whole))

    @classmethod
    def sampled(
        cls,
        pointers: npt.ArrayLike,
        members: npt.ArrayLike,
        masses: npt.ArrayLike,
        function: MassFunction,
        breakpoints: npt.ArrayLike | None = None,
    ) -> Self:
        """Build the family of a smooth phi, sampled at masses.

        Parameters
        ----------
        pointers, members, masses
            As for the constructor.
        function : callable (t, whole) -> phi
            Called once for each group with increasing masses t that start at 0, and the mass of the
            whole group; returns phi at t, of the shape of t.
        breakpoints : array_like of float, shape (L,), optional
            The masses at which to sample; phi is replaced by its interpolation between them.  By
            default every mass that a subset of the group has, so that F is exact for every S.

        Raises
        ------
        ValueError
            If a group's subsets have more than 256 masses and no breakpoints are given, or as for
            the constructor.

        Examples
        --------
        >>> import numpy as np, submin as sm
        >>> root = sm.ConcaveOfModular.sampled([0, 2], [0, 1], [9, 16], lambda t, whole: np.sqrt(t))
        >>> round(root.evaluate(np.array([True, True])), 12)
        5.0
        """
        size = np.size(members)
        checked = check_pointers("pointers", pointers, size)
        mass = per_entry("masses", masses, size, "member")
        pieces = []
        for group, (start, stop) in enumerate(pairwise(checked.tolist())):
            own = mass[start:stop]
            at = _subset_masses(own, group) if breakpoints is None else breakpoints
            found = _sampled_pieces(function, at, float(np.sum(own)))
            pieces.append(found._replace(group=found.group + group))
        term = cls.__new__(cls)
        term._build(checked, members, mass, _joined(pieces))
        return term

    def _build(
        self, pointers: PointerArray, members: npt.ArrayLike, masses: FloatArray, pieces: Pieces
    ) -> None:
        """Make one truncated group of each piece."""
        where = incidences(pointers, pieces.group)
        sizes = np.diff(pointers)[pieces.group]
        mass, checked = masses[where], _checks.indices("members", members).ravel()
        Truncation.__init__(
            self,
            np.concatenate([[0], np.cumsum(sizes)]),
            checked[where],
            np.repeat(pieces.slope, sizes) * mass,
            pieces.slope * pieces.at,
            np.repeat(pieces.linear, sizes) * mass,
        )


class Pieces(NamedTuple):
    """Functions ``slope * min(t, at) + linear * t`` of the mass t of a group."""

    group: PointerArray
    slope: FloatArray
    at: FloatArray
    linear: FloatArray


def _pieces(breakpoints: FloatArray, values: FloatArray, whole: FloatArray) -> Pieces:
    """Split functions, one in each row, into pieces; `whole` is the largest mass of each group."""
    slopes = np.diff(values, axis=1) / np.diff(breakpoints, axis=1)
    used = breakpoints[:, :-1] < np.maximum(whole, np.finfo(np.float64).tiny)[:, None]
    drops = np.maximum(slopes[:, :-1] - slopes[:, 1:], 0.0) * used[:, 1:]
    group, change = np.nonzero(drops)
    last = slopes[np.arange(len(slopes)), used.sum(axis=1) - 1]
    linear = np.zeros(group.size)
    first = np.ones(group.size, dtype=np.bool_)
    first[1:] = np.diff(group) != 0
    linear[first] = last[group[first]]
    found = Pieces(group, drops[group, change], breakpoints[group, change + 1], linear)
    straight = np.setdiff1d(np.arange(len(slopes)), group)
    none = np.zeros(straight.size)
    return _joined([found, Pieces(straight, none, none, last[straight])])


def _sampled_pieces(function: MassFunction, breakpoints: npt.ArrayLike, whole: float) -> Pieces:
    """Sample the function of one group and split it into pieces."""
    points = _checks.float_array("breakpoints", breakpoints)
    sampled = _checks.float_array(f"function(t, {whole})", function(points, whole))
    if sampled.shape != points.shape:
        raise ValueError(
            f"function(t, {whole}) returned shape {sampled.shape} for t of shape {points.shape}: "
            "it must return one value for each mass"
        )
    return _pieces(*_checked_function(points, sampled, 1), np.array([whole]))


def _joined(pieces: list[Pieces]) -> Pieces:
    """Put pieces together, those of each group one after the other."""
    if not pieces:
        return Pieces(np.zeros(0, dtype=np.int64), *(np.zeros(0) for _ in range(3)))
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return Pieces(*(column[order] for column in columns))


def _checked_function(
    breakpoints: npt.ArrayLike, values: npt.ArrayLike, groups: int
) -> tuple[FloatArray, FloatArray]:
    """Check concave functions and return both arrays with one row for each group."""
    points = _checked_rows("breakpoints", breakpoints, groups)
    heights = _checked_rows("values", values, groups)
    if points.shape[-1] != heights.shape[-1]:
        raise ValueError(
            f"breakpoints has {points.shape[-1]} numbers and values {heights.shape[-1]}: each "
            "breakpoint needs its value"
        )
    falls = np.zeros(points.shape, dtype=np.bool_)
    falls[..., 1:] = np.diff(points) <= 0.0
    _checks.refuse_where("breakpoints", points, falls, "breakpoints must increase")
    _refuse_convex(points, heights)
    shape = (groups, points.shape[-1])
    return np.broadcast_to(points, shape), np.broadcast_to(heights, shape)


def _checked_rows(name: str, given: npt.ArrayLike, groups: int) -> FloatArray:
    """Convert finite numbers that start with 0, in one row or in one for each group."""
    array = _checks.float_array(name, given)
    fits = array.ndim == 1 or (array.ndim == 2 and array.shape[0] == groups)
    if not fits or array.shape[-1] < 2:
        raise ValueError(
            f"{name} has shape {array.shape}: it must have 2 or more numbers, shape (L,), or a row "
            f"of them for each of the {groups} groups, shape ({groups}, L)"
        )
    _checks.refuse_where(name, array, ~np.isfinite(array), f"{name} must be finite")
    not_zero = np.zeros(array.shape, dtype=np.bool_)
    not_zero[..., 0] = array[..., 0] != 0.0
    _checks.refuse_where(name, array, not_zero, "phi starts with phi(0) = 0")
    return array


def _refuse_convex(points: FloatArray, heights: FloatArray) -> None:
    """Refuse the first breakpoint at which a slope increases beyond rounding."""
    steps = np.diff(points)
    slopes = np.diff(heights) / steps
    largest = np.max(np.abs(heights), axis=-1, keepdims=True)
    rounding = (
        8.0 * np.finfo(np.float64).eps * largest / np.minimum(steps[..., 1:], steps[..., :-1])
    )
    rises = np.diff(slopes) > np.maximum(rounding, 1e-300)
    convex = np.zeros((*rises.shape[:-1], points.shape[-1]), dtype=np.bool_)
    convex[..., 1:-1] = rises
    shown = np.broadcast_to(heights, convex.shape)
    remedy = "phi is not concave there (its slope increases), and F not submodular"
    _checks.refuse_where("values", shown, convex, remedy)


def _subset_masses(masses: FloatArray, group: int) -> FloatArray:
    """Return the masses of all subsets, each once."""
    sums = np.zeros(1)
    for mass in masses:
        sums = np.unique(np.concatenate([sums, sums + mass]))
        if sums.size > MOST_MASSES:
            raise ValueError(
                f"the subsets of group {group} have more than {MOST_MASSES} different masses: give "
                "the breakpoints at which to sample the function"
            )
    return sums if sums.size > 1 else np.array([0.0, 1.0])
