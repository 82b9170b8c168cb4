"""Concave functions of the mass of S in groups.

    F(S) = sum over groups R of  phi_R(m_R(S and R)),   phi_R concave, phi_R(0) = 0,  m_R >= 0

A piecewise-linear phi with slopes a_1 > a_2 > ... that changes at t_1 < t_2 < ... is a sum of
truncations and a linear part (Stobbe & Krause 2010, arXiv:1010.5511),

    phi(t) = a_L t + sum_l (a_l - a_(l + 1)) min(t, t_l)

so that solvers see one ``Truncation`` for each change of slope.  Its numbers are products with
slopes, and rounded; ``evaluate`` uses phi itself, and ``value_error`` bounds what lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import fsum
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._sums import (
    UNIT_ROUNDOFF,
    binary_unit,
    compensated_sum,
    product_error,
    scatter_sum,
    second_order_error,
    summable_granularity,
    two_sum,
)
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.terms.base.groups import check_pointers, checked_members, incidences, per_entry
from submin.terms.concave_functions import (
    TOLERANCE,
    ConcaveFunctions,
    hull_excess,
    largest,
    owners,
)
from submin.terms.truncation import Truncation

MassFunction = Callable[[FloatArray, float], npt.ArrayLike]

MOST_MASSES = 256
MOST_EXACT_MASSES = 2**14
LARGEST_PRODUCT = 1e150


class Groups(NamedTuple):
    """Groups in CSR form, and the mass of each member."""

    pointers: PointerArray
    members: IndexArray
    masses: FloatArray


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
        finite, a slope times a mass overflows, a mass is negative, or the groups are malformed.

    Notes
    -----
    The mass of S in a group is the exact sum of the masses, rounded to the nearest float64.  F(S)
    is phi at this mass, up to 64 units roundoff (7e-15) of the largest absolute value that phi has
    on the masses of each group: values that are concave up to 16 of them count as rounded ones of a
    concave phi.  ``value_error`` bounds the difference, and that of the truncations which solvers
    see; it is large only where phi falls so steeply that rounded masses do not tell its values.

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
    given: Groups
    function: ConcaveFunctions

    def __init__(
        self,
        pointers: npt.ArrayLike,
        members: npt.ArrayLike,
        masses: npt.ArrayLike,
        breakpoints: npt.ArrayLike,
        values: npt.ArrayLike,
    ) -> None:
        given = _checked_groups(pointers, members, masses)
        count = given.pointers.size - 1
        points, heights = _checked_function(breakpoints, values, count)
        rows = points.shape[-1] * np.arange(count + 1)
        shape = (count, points.shape[-1])
        at, height = (np.broadcast_to(part, shape).ravel() for part in (points, heights))
        self._build(given, rows, at, height)

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
            default every mass that a subset of the group has, as the nearest float64, so that F is
            exact for every S.

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
        given = _checked_groups(pointers, members, masses)
        points, heights = [np.zeros(0)], [np.zeros(0)]
        for group, (start, stop) in enumerate(pairwise(given.pointers.tolist())):
            own = given.masses[start:stop].tolist()
            at = _subset_masses(own, group) if breakpoints is None else breakpoints
            sampled = _sampled(function, at, fsum(own))
            points.append(sampled[0])
            heights.append(sampled[1])
        rows = np.cumsum([0, *(part.size for part in points[1:])])
        term = cls.__new__(cls)
        term._build(given, rows, np.concatenate(points), np.concatenate(heights))
        return term

    def _build(self, given: Groups, rows: PointerArray, at: FloatArray, values: FloatArray) -> None:
        """Store the function of each group, given by knots, and make a truncation of each turn."""
        self.given, whole = given, rounded_sums(given.masses, given.pointers)
        knots = _up_to(whole, rows, at, values)
        _refuse_bent(*knots)
        self.function, moved = ConcaveFunctions.through(*knots)
        pieces = _pieces(self.function, whole)
        where = incidences(given.pointers, pieces.group)
        sizes = np.diff(given.pointers)[pieces.group]
        mass, slope = given.masses[where], np.repeat(pieces.slope, sizes)
        linear = np.repeat(pieces.linear, sizes)
        _refuse_overflow(pieces, whole)
        Truncation.__init__(
            self,
            np.concatenate([[0], np.cumsum(sizes)]),
            given.members[where],
            slope * mass,
            pieces.slope * pieces.at,
            linear * mass,
        )
        lost = product_error(slope, mass), product_error(linear, mass)
        errors = [scatter_sum(self.group_of, part, pieces.group.size) for part in lost]
        self._difference = float(
            np.sum(moved)
            + np.sum(self.function.slope_errors(whole))
            + np.sum(pieces.error * pieces.at)
            + np.sum(np.minimum(
                np.maximum(errors[0], product_error(pieces.slope, pieces.at)),
                3.0 * UNIT_ROUNDOFF * self.caps + 2.0**-1070,
            ))
            + np.sum(errors[1])
            + _mass_rounding(given, pieces, whole)
        )  # fmt: skip

    def evaluate(self, members: BoolArray) -> float:
        """Return the sum of phi at the masses of S, O(incidences)."""
        values, _ = self.function.at_masses(self._masses(members))
        return compensated_sum(values)

    def _masses(self, members: BoolArray) -> FloatArray:
        """Return the rounded mass of S in each group."""
        inside = _checks.flat_mask("members", members)[self.given.members]
        return rounded_sums(np.where(inside, self.given.masses, 0.0), self.given.pointers)

    def value_error(self, members: BoolArray) -> float:
        """Bound the errors of the sum, and of the truncations in place of phi, O(incidences)."""
        if self.granularity():
            return 0.0
        values, part = self.function.at_masses(self._masses(members))
        within = 8.0 * np.abs(part) + np.abs(values) * (part != 0.0)
        rounding = UNIT_ROUNDOFF * float(np.sum(within))
        size = float(np.sum(np.abs(values)))
        return 1.01 * (rounding + second_order_error(values.size, size) + self._difference)

    def granularity(self) -> float:
        """Return the granularity of masses, caps and modular part, if none of them is rounded."""
        return super().granularity() if self._difference == 0.0 else 0.0

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return groups and masses, and the knots of phi of each group in the same form."""
        names = ("knot_pointers", "breakpoints", "values")
        return {**self.given._asdict(), **dict(zip(names, self.function[:3], strict=True))}

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family."""
        return [
            cls([0, 3, 5], [0, 1, 2, 2, 4], [1.0, 3.0, 0.5, 2.0, 2.0], [0, 2, 5], [0.0, 2.0, 3.0]),
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a term from what ``arrays`` returned."""
        given = _checked_groups(*(arrays[name] for name in Groups._fields))
        at, values = np.asarray(arrays["breakpoints"]), np.asarray(arrays["values"])
        rows = check_pointers("knot_pointers", arrays["knot_pointers"], at.size)
        if at.shape != values.shape or rows.size != given.pointers.size:
            raise ValueError("breakpoints, values and groups do not fit together")
        parts = [_checked_function(at[a:b], values[a:b], 1) for a, b in pairwise(rows.tolist())]
        term, columns = cls.__new__(cls), zip((np.zeros(0), np.zeros(0)), *parts, strict=True)
        term._build(given, rows, *(np.concatenate(column) for column in columns))
        return term


class Pieces(NamedTuple):
    """Functions ``slope * min(t, at) + linear * t`` of the mass t of a group.

    ``error`` is the rounding error of the slope.
    """

    group: PointerArray
    slope: FloatArray
    at: FloatArray
    linear: FloatArray
    error: FloatArray


def _pieces(function: ConcaveFunctions, whole: FloatArray) -> Pieces:
    """Split functions into pieces, those of each group one after the other."""
    last = function.slopes[function.pointers[1:] - 1]
    turns, group = function.turns(), owners(function.pointers)
    drop, error = two_sum(function.slopes[turns - 1], -function.slopes[turns])
    straight = np.setdiff1d(np.arange(whole.size), group[turns])
    none = np.zeros(straight.size)
    columns = [
        (group[turns], straight), (drop, none), (function.at[turns], none),
        (np.zeros(turns.size), none), (np.abs(error), none),
    ]  # fmt: skip
    order = np.argsort(np.concatenate(columns[0]), kind="stable")
    pieces = Pieces(*(np.concatenate(column)[order] for column in columns))
    first = np.searchsorted(pieces.group, np.arange(whole.size))
    pieces.linear[first] = last
    return pieces


def _mass_rounding(given: Groups, pieces: Pieces, whole: FloatArray) -> float:
    """Bound what rounded masses of S move phi by: a relative change of each piece by u."""
    unit = binary_unit(summable_granularity(given.masses))
    if np.max(whole, initial=0.0) < 2.0**52 * unit:
        return 0.0
    size = pieces.slope * pieces.at + np.abs(pieces.linear) * whole[pieces.group]
    return UNIT_ROUNDOFF * float(np.sum(size))


def _up_to(
    whole: FloatArray, rows: PointerArray, at: FloatArray, values: FloatArray
) -> tuple[PointerArray, FloatArray, FloatArray]:
    """Return the knots that masses up to `whole` need, the last one moved there if it is beyond."""
    group = owners(rows)
    used = np.ones(at.size, dtype=np.bool_)
    used[1:] = at[:-1] < whole[group[1:]]
    used[rows[:-1]] = used[rows[:-1] + 1] = True
    kept = np.flatnonzero(used)
    pointers, at, values = np.searchsorted(kept, rows), at[kept], values[kept]
    last = pointers[1:] - 1
    beyond = last[(at[last] > whole) & (whole > 0.0)]
    start, end = at[beyond - 1], whole[group[kept[beyond]]]
    slope = (values[beyond] - values[beyond - 1]) / (at[beyond] - start)
    values[beyond] = values[beyond - 1] + (end - start) * slope
    at[beyond] = end
    return pointers, at, values


def rounded_sums(values: FloatArray, pointers: PointerArray) -> FloatArray:
    """Return the exact sum of each group, rounded once to the nearest float64.

    Examples
    --------
    >>> rounded_sums(np.array([1e16, 1.0, 1.0, 0.1]), np.array([0, 3, 4])).tolist()
    [1.0000000000000002e+16, 0.1]
    """
    listed = values.tolist()
    return np.array([fsum(listed[a:b]) for a, b in pairwise(pointers.tolist())], dtype=np.float64)


def _checked_groups(
    pointers: npt.ArrayLike, members: npt.ArrayLike, masses: npt.ArrayLike
) -> Groups:
    """Check groups and masses, and copy them."""
    checked, numbers = checked_members("members", members, "pointers", pointers)
    mass = per_entry("masses", masses, numbers.size, "member")
    return Groups(checked.copy(), numbers.copy(), mass.copy())


def _sampled(
    function: MassFunction, breakpoints: npt.ArrayLike, whole: float
) -> tuple[FloatArray, FloatArray]:
    """Sample the function of one group."""
    points = _checks.float_array("breakpoints", breakpoints)
    sampled = _checks.float_array(f"function(t, {whole})", function(points.copy(), whole)).copy()
    if sampled.shape != points.shape:
        raise ValueError(
            f"function(t, {whole}) returned shape {sampled.shape} for t of shape {points.shape}: "
            "it must return one value for each mass"
        )
    if points.shape == (1,):  # a group without mass: no subset looks beyond 0
        points, sampled = np.append(points, 1.0), np.repeat(sampled, 2)
    return _checked_function(points, sampled, 1)


def _checked_function(
    breakpoints: npt.ArrayLike, values: npt.ArrayLike, groups: int
) -> tuple[FloatArray, FloatArray]:
    """Check concave functions, one in each row or one for all."""
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
    _refuse_steep(points, heights)
    _refuse_convex(points, heights)
    return points, heights


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
    large = np.abs(array) >= LARGEST_PRODUCT
    _checks.refuse_where(name, array, large, "this overflows; scale it down")
    not_zero = np.zeros(array.shape, dtype=np.bool_)
    not_zero[..., 0] = array[..., 0] != 0.0
    _checks.refuse_where(name, array, not_zero, "phi starts with phi(0) = 0")
    return array


def _refuse_steep(points: FloatArray, heights: FloatArray) -> None:
    """Refuse the first step whose slope overflows."""
    with np.errstate(over="ignore"):
        slopes = np.diff(heights) / np.diff(points)
    steep = np.zeros((*slopes.shape[:-1], points.shape[-1]), dtype=np.bool_)
    steep[..., 1:] = ~np.isfinite(slopes)
    shown = np.broadcast_to(heights, steep.shape)
    remedy = "the slope up to there overflows; scale the masses up or the values down"
    _checks.refuse_where("values", shown, steep, remedy)


def _refuse_convex(points: FloatArray, heights: FloatArray) -> None:
    """Refuse the value that is farthest below the hull, if that is more than rounding."""
    shape = np.broadcast_shapes(points.shape, heights.shape)
    at, shown = np.broadcast_to(points, shape), np.broadcast_to(heights, shape)
    rows = np.arange(at.size) // shape[-1]
    excess = hull_excess(at.ravel(), shown.ravel(), rows).reshape(shape)
    allowed = TOLERANCE * np.max(np.abs(shown), axis=-1, keepdims=True)
    worst = (excess > allowed) & (excess == np.max(excess, axis=-1, keepdims=True))
    remedy = "phi is not concave there (its slope increases), and F not submodular"
    _checks.refuse_where("values", shown, worst, remedy)


def _refuse_bent(pointers: PointerArray, at: FloatArray, values: FloatArray) -> None:
    """Refuse a group whose phi is not concave on the masses that its subsets have."""
    group = owners(pointers)
    excess = hull_excess(at, values, group)
    bent = np.flatnonzero(excess > TOLERANCE * largest(np.abs(values), pointers)[group])
    if bent.size:
        k = bent[np.argmax(excess[bent])]
        raise ValueError(
            f"phi of group {group[k]} is not concave at the mass {at[k]}: it is {excess[k]} below "
            "the line between its neighbours, more than the rounding of the values up to the mass "
            "of the group"
        )


def _refuse_overflow(pieces: Pieces, whole: FloatArray) -> None:
    """Refuse slopes that take the masses of a group beyond what squares allow."""
    with np.errstate(over="ignore"):
        product = (pieces.slope + np.abs(pieces.linear)) * whole[pieces.group]
        total = float(np.sum(product))
    if not total < LARGEST_PRODUCT:
        group = int(pieces.group[np.argmax(product)])
        raise ValueError(
            f"masses overflow: slopes times masses sum to {total}, the largest in group {group}; "
            "they must stay below 1e150, so scale the masses up or the values down"
        )


def _subset_masses(masses: list[float], group: int) -> FloatArray:
    """Return the masses of all subsets, exact sums that are rounded once, each once.

    Floats are multiples of a power of two, as whole numbers of which sums are exact.
    """
    denominator = max([mass.as_integer_ratio()[1] for mass in masses], default=1)
    sums = {0}
    for mass in masses:
        numerator, own = mass.as_integer_ratio()
        sums |= {total + numerator * (denominator // own) for total in sums}
        if len(sums) > MOST_MASSES:
            different = len({total / denominator for total in sums})
            if different > MOST_MASSES or len(sums) > MOST_EXACT_MASSES:
                raise ValueError(
                    f"the subsets of group {group} have more than {MOST_MASSES} different masses: "
                    "give the breakpoints at which to sample the function"
                )
    return np.array(sorted({total / denominator for total in sums}))
