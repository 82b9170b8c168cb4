"""Capacities as whole multiples of a power of two, small enough for float64 to add them exactly.

No flow and no minimum cut is larger than a known bound, so capacities beyond it may be cut off, and
then the numbers that matter have at most 53 bits above the unit.  Searches add and subtract such
numbers without any rounding.  Only rounding the capacities down to the unit loses something, and
not even that for integers up to 2^53, or for other data that have the unit in common.
"""

from __future__ import annotations

from math import frexp, fsum, inf, ldexp, nextafter
from typing import NamedTuple, Self

import numpy as np

from submin._typing import FloatArray

MOST_UNITS = 2**53
"""Every whole number up to this one is a float64."""

LEAST_FALL = 16.0
"""A bound that falls by at least this factor is worth another round in finer units."""


class Scale(NamedTuple):
    """The unit 2^exponent, and the units from which on capacities are cut off.

    ``limit`` is one unit more than the bound, so that what is cut off stays out of minimum cuts.
    """

    exponent: int
    limit: float

    @classmethod
    def of(cls, bound: float) -> Self:
        """Return the finest unit of which a finite bound has at most 2^53 - 1."""
        exponent = max(frexp(bound)[1] - 53, -1074)
        return cls(exponent, ldexp(bound, -exponent) + 1.0)

    def units(self, capacities: FloatArray) -> tuple[FloatArray, bool]:
        """Return capacities in units, rounded down, and whether that changed none of them.

        >>> Scale.of(5.0).units(np.array([0.5, 100.0, 1e-300]))
        (array([5.62949953e+14, 5.62949953e+15, 0.00000000e+00]), False)
        """
        if self.limit == 1.0:  # all that matters is which capacities are not 0
            return (capacities > 0.0).astype(np.float64), True
        kept = np.minimum(capacities, ldexp(self.limit, self.exponent))
        units = np.floor(np.ldexp(kept, -self.exponent))
        return units, bool(np.array_equal(self.values(units), kept))

    def finer(self, bound: float, cut: float, *capacities: FloatArray) -> Self | None:
        """Return the scale of a cut below the bound of this one, if that is worth another round.

        It is where the cut is far below, or where capacities are whole in the finer unit.
        """
        fine = self.of(cut)
        if cut * LEAST_FALL <= bound:
            return fine
        whole = fine.exponent < self.exponent and all(fine.units(c)[1] for c in capacities)
        return fine if whole else None

    def values(self, units: FloatArray) -> FloatArray:
        """Return numbers of units as they are; exact."""
        return np.ldexp(units, self.exponent)

    def value(self, units: float) -> float:
        """Return one number of units as it is; exact."""
        return ldexp(units, self.exponent)


def sum_above(values: FloatArray) -> float:
    """Return the sum of numbers, rounded up."""
    total = fsum(values)
    if total == inf or fsum([*values.tolist(), -total]) <= 0.0:
        return total
    return nextafter(total, inf)
