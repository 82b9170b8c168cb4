"""Checks of user input: each refusal names the argument, the index and the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray, FloatArray, IndexArray, WeightArray

LARGEST_EXACT_INTEGER = 2**53
MOST_THREADS = 256
LARGEST_INDEX = 2**31 - 1
LARGEST_SUM = 1e150  # squares of sums must fit


def first_index(mask: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the first index at which `mask` holds."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def refuse_where(name: str, values: npt.NDArray[Any], mask: BoolArray, remedy: str) -> None:
    """Raise `ValueError` for the first entry of `values` at which `mask` holds."""
    if mask.any():
        index = first_index(mask)
        place = f"{name}[{', '.join(map(str, index))}]" if mask.ndim else name
        raise ValueError(f"{place} is {values[index]!s}: {remedy}")


def flat_mask(
    name: str,
    members: npt.ArrayLike,
    kind: str = "of the ground set",
    remedy: str = "mask > 0 makes one, and of element numbers np.isin(np.arange(n), numbers)",
) -> BoolArray:
    """Flatten a set that is given as a boolean mask, or refuse it.

    Raises
    ------
    TypeError
        If the values are not booleans; the message says what kind of mask, and what makes one.
    """
    refuse_masked(name, members)
    mask = np.asarray(members)
    if mask.dtype != np.bool_:
        raise TypeError(
            f"{name} must be a boolean mask {kind}, but its type is {mask.dtype}; {remedy}"
        )
    return normal_booleans(np.ascontiguousarray(mask).ravel())


def normal_booleans(mask: BoolArray) -> BoolArray:
    """Return booleans whose bytes are 0 and 1, the same array where they are already.

    Other bytes come from views and files, and count as true in NumPy, but not as 1 in sums.

    Examples
    --------
    >>> normal_booleans(np.array([3, 0], np.uint8).view(np.bool_)).view(np.uint8).tolist()
    [1, 0]
    """
    bytes_ = np.ascontiguousarray(mask).view(np.uint8)
    normal: BoolArray = mask if bytes_.max(initial=0) <= 1 else bytes_ != 0
    return normal.reshape(mask.shape)


def float_array(name: str, values: npt.ArrayLike) -> FloatArray:
    """Convert numbers of any real type to float64 exactly, or refuse them.

    An array that has the type and order already is used as it is, without a copy.

    Raises
    ------
    TypeError
        If the values are not real numbers.
    ValueError
        If an integer is beyond 2**53 and would be rounded.
    """
    refuse_masked(name, values)
    array = np.asarray(values)
    if isinstance(values, Mapping):
        raise TypeError(f"{name} is a mapping: give a list, in the order of the elements")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, but its type is {array.dtype}")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        too_large = (array > LARGEST_EXACT_INTEGER) | (array < -LARGEST_EXACT_INTEGER)
        refuse_where(
            name, array, too_large, "integers beyond 2**53 would be rounded; scale the data down"
        )
    if array.dtype == np.float64:
        return np.ascontiguousarray(array).reshape(array.shape)
    with np.errstate(over="ignore"):
        converted = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    lost = np.isinf(converted) & np.isfinite(array)
    refuse_where(name, array, lost, "it is beyond the largest float; scale the data down")
    return converted


def weight_array(name: str, values: npt.ArrayLike) -> WeightArray:
    """Convert numbers as ``float_array`` does, but leave a float32 array in C order as it is.

    Every float32 is a float64: who reads the values widens them.  A single number is converted.
    """
    refuse_masked(name, values)
    array = np.asarray(values)
    if array.dtype == np.float32 and array.size != 1 and array.flags.c_contiguous:
        return array
    return float_array(name, array)


def refuse_other(name: str, value: object, kind: type) -> None:
    """Raise `TypeError` for what is not of a class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, and not a {type(value).__name__}")


def total(sizes: FloatArray) -> float:
    """Return the sum of what is at least 0; infinite, without a warning, where it overflows."""
    with np.errstate(over="ignore"):
        return float(np.sum(sizes))


def number(name: str, value: Any) -> float:
    """Convert one finite real number.

    Raises
    ------
    TypeError
        If it is not a number.
    ValueError
        If it is not finite.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} is {value!r}: it must be a number")
    if not np.isfinite(value):
        raise ValueError(f"{name} is {value}: it must be finite")
    return float(value)


def whole_number(name: str, value: Any, least: int) -> int:
    """Convert one whole number that has a lower limit.

    Raises
    ------
    TypeError
        If it is not a whole number.
    ValueError
        If it is below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {value!r}: it must be a whole number")
    if value < least:
        raise ValueError(f"{name} is {value}: it must be {least} or more")
    return int(value)


def costs(name: str, values: npt.ArrayLike) -> FloatArray:
    """Convert costs that may be infinite (hard constraints) but not NaN."""
    array = float_array(name, values)
    refuse_where(name, array, np.isnan(array), "costs must be numbers, and not NaN")
    return array


CONSTRAINT = (
    "what must never be cut costs enough with a weight above the sum of all other weights and of "
    "the magnitudes of the unary"
)


def weights(name: str, values: npt.ArrayLike, infinite: str = CONSTRAINT) -> FloatArray:
    """Convert weights: finite and non-negative, with a sum that does not overflow.

    `infinite` says what to give in place of infinity.
    """
    array = float_array(name, values)
    with np.errstate(over="ignore"):
        if array.min(initial=0.0) >= 0.0 and array.sum() < LARGEST_SUM:
            return array
    refuse_where(name, array, np.isposinf(array), f"it must be finite; {infinite}")
    refuse_where(name, array, ~np.isfinite(array), "it must be a finite number, 0 or more")
    refuse_where(
        name, array, array < 0, "a negative weight is not submodular; weights must be 0 or more"
    )
    raise ValueError(
        f"{name} overflows: it sums to 1e150 or more, and squares must fit; scale it down"
    )


def precedence_weights(name: str, values: npt.ArrayLike) -> FloatArray:
    """Convert weights of which some may be infinite; the others are as ``weights`` has them."""
    array = float_array(name, values)
    wrong = np.isnan(array) | np.isneginf(array)
    refuse_where(name, array, wrong, "it must be a number, 0 or more, or inf for a precedence")
    weights(name, np.where(np.isposinf(array), 0.0, array))
    return array


def indices(name: str, values: npt.ArrayLike, upper: int | None = None) -> IndexArray:
    """Convert a 1-D array of element numbers from 0 to `upper` - 1."""
    refuse_masked(name, values)
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu":
        hints = {
            "b": "; np.flatnonzero(mask) gives those of a mask",
            "U": "; number = {name: k for k, name in enumerate(names)} numbers names",
        }
        hint = hints.get(array.dtype.kind, "")
        raise TypeError(f"{name} must hold integers, but its type is {array.dtype}{hint}")
    refuse_where(name, array, array < 0, "element numbers start at 0")
    limit = LARGEST_INDEX if upper is None else upper
    refuse_where(name, array, array >= limit, f"element numbers must be below {limit}")
    return np.ascontiguousarray(array, dtype=np.int32).reshape(array.shape)


def fitted(name: str, array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return a view of an array in a shape that it may be broadcast to, or refuse it."""
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"{name} has shape {array.shape}, and {shape} is needed") from None


def threads(value: Any) -> int:
    """Return a number of threads, no more than are of use; 0 means all cores."""
    return min(whole_number("threads", value, 0), MOST_THREADS)


def numbers_in_place(name: str, numbers: IndexArray, elements: int) -> None:
    """Refuse element numbers that were changed since the term was made and are out of range."""
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < elements:
        wrong = (numbers < 0) | (numbers >= elements)
        refuse_where(name, numbers, wrong, "they were changed after construction")


def refuse_masked(
    name: str,
    values: npt.ArrayLike,
    remedy: str = "fill it first (in a unary, inf keeps an element out of S)",
) -> None:
    """Refuse a masked array: its mask would be lost without a word."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be ignored: {remedy}")


def shape(name: str, values: int | Sequence[int]) -> tuple[int, ...]:
    """Convert a shape with at least one axis and no axis of length zero."""
    array = np.atleast_1d(np.asarray(values))
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, but it is {values}")
    axes = tuple(array.tolist())
    for axis, length in enumerate(axes):
        if length < 1:
            raise ValueError(f"{name}[{axis}] is {length}: every axis needs a length of 1 or more")
    if not axes:
        raise ValueError(f"{name} is empty: at least one axis is needed")
    if prod(axes) > LARGEST_INDEX:
        raise ValueError(f"{name} is {axes}: more than {LARGEST_INDEX} elements do not fit")
    return axes


def array_for(name: str, values: npt.ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Convert one number for each element of a problem, in its shape or flat, as they are given.

    Raises
    ------
    ValueError
        If they have another shape.
    """
    array = float_array(name, values)
    if array.shape not in (shape, (prod(shape),)):
        raise ValueError(f"{name} has shape {array.shape}, but the problem has {shape}")
    return array


def square_weights(given: npt.ArrayLike | None, shape: tuple[int, ...]) -> FloatArray | None:
    """Return the weights of the squares of a proximal problem as a flat array; None if all are 1.

    Raises
    ------
    ValueError
        If they have another shape than the problem, or one is negative, NaN or infinite, or all 0.
    """
    if given is None:
        return None
    masses = array_for("weights", given, shape)
    valid = np.isfinite(masses) & (masses >= 0.0)
    refuse_where("weights", masses, ~valid, "it must be finite, and not below 0")
    if not masses.any():
        raise ValueError("weights are all 0, so that nothing holds x; one must be above 0")
    return masses.ravel()


def refuse_far_weights(name: str, masses: FloatArray, costs: FloatArray) -> None:
    """Refuse weights of squares, at least 0, at which x, or the squares of slopes, may overflow."""
    heavy = masses > 0.0
    least, most = float(np.min(masses[heavy])), float(np.max(masses))
    size = total(np.abs(costs))
    if not (size < LARGEST_SUM * min(least, least**0.5) and least > 1.0 / LARGEST_SUM):
        index = int(np.flatnonzero(heavy & (masses == least))[0])
        raise ValueError(
            f"{name}.flat[{index}] is {least}: x overflows beside costs that sum to {size:.3g}; it "
            "must be larger, or 0"
        )
    if not total(masses) < LARGEST_SUM:
        raise ValueError(
            f"{name} must sum to less than {LARGEST_SUM:g}, and the largest is {most}, at flat "
            f"index {int(np.argmax(masses))}: scale them down"
        )
