"""Concave functions of one number, piecewise linear, many of them in flat arrays.

Function i has the *knots* ``at[k]``, ``values[k]`` for ``pointers[i] <= k < pointers[i + 1]``, two
or more; ``at`` increases.  It is straight between them, and goes on with its last slope.

Values that come from a formula in floats are concave up to their rounding only, and between knots a
few units in the last place apart a slope is rounding alone.  So the function is taken to be the
least concave one above the values, their *hull*: its knots are some of the given ones, its slopes
decrease, and it is above the values by no more than these are above or below concave ones.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from submin._sums import UNIT_ROUNDOFF, is_exact, product_error, scatter_sum, two_sum
from submin._typing import FloatArray, PointerArray

TOLERANCE = 16.0 * UNIT_ROUNDOFF
"""How far values may lie below their hull, as a share of the largest: the rounding of a formula."""


class ConcaveFunctions(NamedTuple):
    """Functions by their knots; ``slopes[k]`` is the slope from knot k on."""

    pointers: PointerArray
    at: FloatArray
    values: FloatArray
    slopes: FloatArray

    @classmethod
    def through(
        cls, pointers: PointerArray, at: FloatArray, values: FloatArray
    ) -> tuple[Self, FloatArray]:
        """Return the functions of given knots, without those that rounding alone makes turn.

        Beside them, how far each is from its values: no more than its hull is, and ``TOLERANCE``
        times the largest value.
        """
        group = owners(pointers)
        rounding = 0.5 * TOLERANCE * largest(np.abs(values), pointers)
        kept = turning_knots(
            at, values, group, 0.0 * rounding if is_exact(at, values) else rounding
        )
        starts = np.searchsorted(kept, pointers)
        found = at[kept], values[kept]
        moved = np.abs(_through(at, values, kept) - values)
        return cls(starts, *found, _slopes(*found, owners(starts))), largest(moved, pointers)

    def at_masses(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return each function at its own t >= 0, and the part that is not a given value.

        O(knots).  The part has a relative error of 8 units roundoff at most: one rounding of the
        difference of masses, three of the slope, one of the product.
        """
        below = self.at <= t[owners(self.pointers)]
        knot = self.pointers[:-1] - 1
        if t.size:
            knot = knot + np.add.reduceat(below, self.pointers[:-1], dtype=np.int64)
        part = (t - self.at[knot]) * self.slopes[knot]
        return self.values[knot] + part, part

    def turns(self) -> PointerArray:
        """Return the numbers of the knots at which slopes change, all but first and last ones."""
        inner = np.ones(self.at.size, dtype=np.bool_)
        inner[self.pointers[:-1]] = inner[self.pointers[1:] - 1] = False
        return np.flatnonzero(inner)

    def slope_errors(self, whole: FloatArray) -> FloatArray:
        """Bound what rounded slopes move each function by, anywhere up to `whole`, O(knots).

        For a step from knot to knot that is |slope (t' - t) - (v' - v)|, whose parts are computed
        without an error or with their errors; the last slope may go on beyond the last knot.
        """
        same = np.flatnonzero(np.diff(owners(self.pointers)) == 0)
        step, step_error = two_sum(self.at[same + 1], -self.at[same])
        rise, rise_error = two_sum(self.values[same + 1], -self.values[same])
        slope = self.slopes[same]
        lost = np.abs(slope * step - rise) + product_error(slope, step)
        lost += np.abs(slope * step_error) + np.abs(rise_error)
        last = np.flatnonzero(np.isin(same + 2, self.pointers) & (lost > 0.0))
        ahead = whole[owners(self.pointers)[same[last]]] - self.at[same[last]]
        with np.errstate(over="ignore"):
            lost[last] *= np.maximum(1.0, ahead / step[last])
        return scatter_sum(owners(self.pointers)[same].astype(np.int32), lost, whole.size)


def owners(pointers: PointerArray) -> PointerArray:
    """Return the number of the function of each knot."""
    return np.repeat(np.arange(pointers.size - 1), np.diff(pointers))


def largest(values: FloatArray, pointers: PointerArray) -> FloatArray:
    """Return the largest number of each function; none is empty."""
    found: FloatArray = np.maximum.reduceat(values, pointers[:-1]) if values.size else values
    return found


def hull_excess(at: FloatArray, values: FloatArray, group: PointerArray) -> FloatArray:
    """Return by how much the hull of each function is above its values, O(knots) a round."""
    kept = _hull(at, values, group, np.arange(at.size))
    return _through(at, values, kept) - values


def turning_knots(
    at: FloatArray, values: FloatArray, group: PointerArray, rounding: FloatArray
) -> PointerArray:
    """Return the first and last knots, and those at which the hull turns by more than rounding.

    Leaving the others out moves no value by more than twice ``rounding[group]``; where it would,
    all knots of the hull are kept.
    """
    hull = _hull(at, values, group, np.arange(at.size))
    found = _larger_turns(at, values, group, hull, rounding)
    if found.size == hull.size:
        return hull
    moved = np.abs(_through(at, values, found) - _through(at, values, hull))
    far = np.zeros(rounding.size, dtype=np.bool_)
    far[group[moved > 2.0 * rounding[group]]] = True
    if far.any():
        found = np.union1d(found, hull[far[group[hull]]])
    return _hull(at, values, group, found)


def _slopes(at: FloatArray, values: FloatArray, group: PointerArray) -> FloatArray:
    """Return the slope from each knot to the next, at the last one that to it."""
    slopes, same = np.zeros(at.size), np.diff(group) == 0
    with np.errstate(over="ignore"):
        np.divide(np.diff(values), np.diff(at), out=slopes[:-1], where=same)
    last = np.flatnonzero(~np.append(same, False)[: at.size])
    slopes[last] = slopes[np.maximum(last - 1, 0)]
    return slopes


def _hull(
    at: FloatArray, values: FloatArray, group: PointerArray, kept: PointerArray
) -> PointerArray:
    """Drop knots that are not above the chord of their neighbours, until none is left.

    A knot of the hull is above every chord, so that all others may go at once.  A few rounds.
    """
    while True:
        slopes, owner = _slopes(at[kept], values[kept], group[kept]), group[kept]
        inner = np.flatnonzero((owner[1:-1] == owner[:-2]) & (owner[1:-1] == owner[2:])) + 1
        low = inner[slopes[inner - 1] <= slopes[inner]]
        if not low.size:
            return kept
        kept = np.delete(kept, low)


def _larger_turns(
    at: FloatArray,
    values: FloatArray,
    group: PointerArray,
    hull: PointerArray,
    rounding: FloatArray,
) -> PointerArray:
    """Return first and last knots, and those whose absence alone moves more than rounding."""
    if hull.size < 3:
        return hull
    slopes, owner = _slopes(at[hull], values[hull], group[hull]), group[hull]
    inner = np.zeros(hull.size, dtype=np.bool_)
    inner[1:-1] = (owner[1:-1] == owner[:-2]) & (owner[1:-1] == owner[2:])
    k = np.flatnonzero(inner)
    left, right = at[hull[k]] - at[hull[k - 1]], at[hull[k + 1]] - at[hull[k]]
    moved = (slopes[k - 1] - slopes[k]) * np.minimum(left, right)
    return np.delete(hull, k[0.5 * moved <= rounding[owner[k]]])


def _through(at: FloatArray, values: FloatArray, kept: PointerArray) -> FloatArray:
    """Return at all knots the function through those that are kept, with the first and last."""
    before = np.searchsorted(kept, np.arange(at.size), side="right") - 1
    known = kept[before]
    after = kept[np.minimum(before + 1, kept.size - 1)]
    between = np.flatnonzero(known != np.arange(at.size))
    met, start, stop = values.copy(), known[between], after[between]
    slope = (values[stop] - values[start]) / (at[stop] - at[start])
    met[between] = values[start] + (at[between] - at[start]) * slope
    return met
