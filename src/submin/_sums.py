"""Sums whose rounding error is known, and the granularity of exact data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import frexp, isinf, ldexp

import numpy as np

from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray, WeightArray

UNIT_ROUNDOFF = 2.0**-53
SMALLEST = 2.0**-1074  # twice the error of a product that underflows
LONG_ROUNDOFF = float(np.finfo(np.longdouble).eps)  # bounds that of one addition in long double
EXACT_STEPS = 0.99 * 2.0**53  # units to which sums are exact, though they are rounded themselves
SLICE = 2**16  # numbers that stay in the cache


def compensated_sum(values: WeightArray) -> float:
    """Return the sum of an array in float64, almost always correctly rounded.

    A tree of error-free additions (Knuth's TwoSum, doi:10.1137/030601818): the rounding error of
    every addition is computed exactly and the errors are summed beside.  The error is at most
    ``sum_error(values)``.  Complexity O(n).

    Examples
    --------
    >>> compensated_sum(np.array([1e16, 1.0, -1e16]))
    1.0
    """
    rest, error = np.asarray(values, dtype=np.float64).ravel(), 0.0
    while rest.size > SLICE:
        folds = [_folded(rest[k : k + SLICE], SLICE // 64) for k in range(0, rest.size, SLICE)]
        rest = np.concatenate([part for part, _ in folds])
        error += sum(lost for _, lost in folds)
    rest, lost = _folded(rest, 1)
    total = float(rest[0]) if rest.size else 0.0
    return total if isinf(total) else total + (error + lost)


def _folded(values: FloatArray, size: int) -> tuple[FloatArray, float]:
    """Add halves until at most `size` numbers are left; return them and the rounding errors."""
    error = 0.0
    while values.size > size:
        half = values.size // 2
        left, right, rest = values[:half], values[half : 2 * half], values[2 * half :]
        added = left + right
        virtual = added - left
        error += float(np.sum((left - (added - virtual)) + (right - virtual)))
        values = np.concatenate([added, rest])
    return values, error


def sum_error(values: FloatArray) -> float:
    """Bound the error of ``compensated_sum``: one rounding of the result, second-order terms."""
    magnitude = float(np.sum(np.abs(values)))
    rounding = UNIT_ROUNDOFF * abs(float(np.sum(values)))
    return rounding + second_order_error(values.size, magnitude)


def second_order_error(count: int, magnitude: float) -> float:
    """Bound the error of ``compensated_sum`` beyond one rounding of its result.

    For `count` numbers whose magnitudes sum to `magnitude`: the rounding errors of the rounding
    errors.  It is what is left of the error where large numbers cancel.
    """
    depth = 2.0 * np.log2(max(count, 1)) + 2.0
    return 2.0 * float((depth * UNIT_ROUNDOFF) ** 2 * max(count, 1) ** 0.5 * magnitude)


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rounded sum and its rounding error, exactly (Knuth).

    Examples
    --------
    >>> total, error = two_sum(np.array([1e16]), np.array([1.0]))
    >>> total.tolist(), error.tolist()
    ([1e+16], [1.0])
    """
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


def product_error(a: FloatArray, b: FloatArray) -> FloatArray:
    """Bound |a b - fl(a b)|: 0 where the product is a float (Dekker 1971, doi:10.1007/BF01397083).

    Examples
    --------
    >>> product_error(np.array([3.0, 0.1]), np.array([5.0, 3.0])).tolist()
    [0.0, 2.7755575615628914e-17]
    """
    (x, i), (y, j) = np.frexp(a), np.frexp(b)
    product, (high, low), (above, below) = x * y, _halves(x), _halves(y)
    lost = ((high * above - product) + high * below + low * above) + low * below
    error: FloatArray = np.ldexp(np.abs(lost), i + j)
    small = (np.ldexp(np.abs(product), i + j) < 2.0**-960) & (product != 0.0)
    return error + np.where(small, SMALLEST, 0.0)


def _halves(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split numbers below 1 into two of half the digits (Veltkamp)."""
    wide = (2.0**27 + 1.0) * values
    high = wide - (wide - values)
    return high, values - high


def scatter_sum(positions: IndexArray, values: WeightArray | BoolArray, size: int) -> FloatArray:
    """Return the vector of `size` entries in which each value is added at its position."""
    if not positions.size:
        return np.zeros(size)
    return np.bincount(positions, values, size).astype(np.float64, copy=False)


def largest_multiplicity(indices: IndexArray) -> int:
    """Return how often the most frequent index occurs; memory O(size), whatever the indices are."""
    if not indices.size:
        return 0
    if int(indices.max()) <= 8 * indices.size:
        return int(np.bincount(indices).max())
    return int(np.unique(indices, return_counts=True)[1].max())


def common_granularity(*arrays: WeightArray) -> float:
    """Return the largest g such that every number is a multiple of g, or 0 if none is found.

    Looks for integers after scaling by a power of two up to 2**20, which covers integer data and
    data that was rounded to a binary fraction.  Arithmetic is in float64, also on float32 arrays.

    Examples
    --------
    >>> common_granularity(np.array([2.0, -6.0]), np.array([0.5]))
    0.5
    >>> common_granularity(np.array([0.1]))
    0.0
    """
    if not all(_begins_integral(array, 2.0**20) for array in arrays):
        return 0.0
    for scale in (1.0, 2.0**4, 2.0**10, 2.0**20):
        if all(_is_integral(array, scale) for array in arrays):
            divisor = 0
            for piece in chain.from_iterable(map(_pieces, arrays)):
                divisor = int(np.gcd.reduce(_whole_divisors(piece, scale), initial=divisor))
            return (divisor or 1) / scale
    return 0.0


def summable_granularity(*arrays: WeightArray) -> float:
    """Return the common granularity of numbers if float64 adds up all of them exactly, else 0."""
    granularity = common_granularity(*arrays)
    total = sum(float(np.sum(np.abs(array), dtype=np.float64)) for array in arrays)
    return granularity if total < EXACT_STEPS * binary_unit(granularity) else 0.0


def adds_exactly(total: float, *arrays: WeightArray) -> bool:
    """Say whether float64 adds up any of the numbers exactly; no partial sum is beyond `total`.

    Examples
    --------
    >>> adds_exactly(8.0, np.array([0.25, -3.0]), np.array([4.0]))
    True
    >>> adds_exactly(2.0**53, np.array([0.25, -3.0]))
    False
    """
    return total < EXACT_STEPS * binary_unit(common_granularity(*arrays))


def binary_unit(granularity: float) -> float:
    """Return the largest power of two that divides a number, and 0 for 0.

    Multiples of a number g are floats up to 2^53 of these units, not up to 2^53 g: 3 (2^52 + 1) has
    a digit too many.

    Examples
    --------
    >>> [binary_unit(number) for number in (3.0, 12.0, 0.75)]
    [1.0, 4.0, 0.25]
    """
    mantissa, exponent = frexp(granularity)
    whole = int(mantissa * 2.0**53)
    return ldexp(float(whole & -whole), exponent - 53)


def is_exact(*arrays: FloatArray) -> bool:
    """Say whether all numbers are multiples of one number, and few enough: no rounding is in them.

    Sums and differences of two of them are floats.

    Examples
    --------
    >>> is_exact(np.array([0.5, 3.0])), is_exact(np.array([0.1])), is_exact(np.array([2.0**53]))
    (True, False, False)
    """
    unit = binary_unit(common_granularity(*arrays))
    return all(float(np.max(np.abs(array), initial=0.0)) < 2.0**52 * unit for array in arrays)


def _begins_integral(array: WeightArray, scale: float) -> bool:
    """Say whether the first of the scaled numbers are integers."""
    head = _scaled(array.ravel()[:1024], scale)
    return bool(np.all(head == np.rint(head)))


def _is_integral(array: WeightArray, scale: float) -> bool:
    """Say whether the scaled numbers are integers, and none of them overflows."""
    if not _begins_integral(array, scale):
        return False
    pieces = (_scaled(piece, scale) for piece in _pieces(array))
    return all(bool(np.all(piece == np.rint(piece)) & np.isfinite(piece).all()) for piece in pieces)


def _pieces(array: WeightArray) -> Iterator[WeightArray]:
    """Yield the numbers in pieces that stay in the cache."""
    flat = array.ravel()
    return (flat[start : start + SLICE] for start in range(0, flat.size, SLICE))


def _scaled(array: WeightArray, scale: float) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled: FloatArray = np.multiply(array, scale, dtype=np.float64)
    return scaled


def _whole_divisors(array: WeightArray, scale: float) -> PointerArray:
    """Return a divisor of each scaled number: beyond 2**53 its unit in the last place."""
    scaled = np.abs(_scaled(array, scale))
    unit = np.minimum(np.spacing(scaled), 2.0**53)
    return np.where(scaled < 2.0**53, scaled, unit).astype(np.int64)
