"""Convex costs of single elements: how far x_v may be from its datum, and what that costs.

    phi(x) = sum_v phi_v(x_v)

A fidelity knows the slopes of each phi_v to the left and to the right, the points where they jump
or bend, and the conjugate on its range, which proves a bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._sums import SMALLEST, UNIT_ROUNDOFF, compensated_sum
from submin._typing import FloatArray

Nodes = npt.NDArray[np.intp]


class Fidelity(ABC):
    """A sum of convex costs, one for each element, on the range from ``lowest`` to ``highest``.

    Attributes
    ----------
    shape : tuple of int
        That of the data.
    lowest, highest : float
        x is asked for in this range.
    kinks : float array
        Where a slope jumps or bends, ascending, at least the ends of the range.
    linear : bool
        Whether all slopes are linear between two kinks.
    """

    shape: tuple[int, ...]
    lowest: float
    highest: float
    kinks: FloatArray
    linear: bool = True

    @abstractmethod
    def costs(self, x: FloatArray) -> FloatArray:
        """Return phi_v(x_v), shape (n,)."""

    @abstractmethod
    def slopes(
        self, x: FloatArray, elements: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the left and right slopes of phi_v at x_v for some elements, of their shape."""

    @abstractmethod
    def best(self, slopes: FloatArray) -> FloatArray:
        """Return an x_v in the range that maximises slope * x_v - phi_v(x_v), shape (n,)."""

    def errors(self, x: FloatArray) -> FloatArray:
        """Return bounds on the rounding errors of ``costs(x)``: here for no cancellation."""
        return 16.0 * UNIT_ROUNDOFF * np.abs(self.costs(x)) + 8.0 * SMALLEST * (1.0 + self._reach)

    @property
    def _reach(self) -> float:
        """The largest |x_v|."""
        return max(abs(self.lowest), abs(self.highest))

    def value(self, x: npt.ArrayLike) -> float:
        """Return phi(x)."""
        point = _checks.float_array("x", x)
        if point.shape not in (self.shape, (prod(self.shape),)):
            raise ValueError(f"x has shape {point.shape}, but the fidelity has {self.shape}")
        return compensated_sum(self.costs(point.ravel()))

    def _set_range(self, *places: FloatArray) -> None:
        """Take the places as kinks, and their ends as the range."""
        self.kinks = np.unique(np.concatenate([part.ravel() for part in places]))
        self.lowest, self.highest = float(self.kinks[0]), float(self.kinks[-1])


class _OfData(Fidelity):
    """One with a datum and a weight for each element."""

    def __init__(self, data: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> None:
        values = _checks.float_array("data", data)
        _checks.refuse_where("data", values, ~np.isfinite(values), "it must be finite")
        if values.size == 0:
            raise ValueError("data is empty: it needs a datum for each element")
        self.shape, self.data = values.shape, values.ravel()
        masses = _checks.square_weights(weights, values.shape)
        self.weights = np.ones(values.size) if masses is None else masses
        for name, sizes in (("data", self.data), ("weights", self.weights)):
            _refuse_large(name, np.abs(sizes))
        with np.errstate(over="ignore"):
            products = self.weights * np.abs(self.data)
        _refuse_large("weights", products, " times the data")
        self._set_range(self.data)


def _refuse_large(name: str, sizes: FloatArray, of: str = "") -> None:
    """Refuse numbers whose squares may overflow."""
    if not _checks.total(sizes) < _checks.LARGEST_SUM:
        index = int(np.argmax(sizes))
        raise ValueError(
            f"{name}.flat[{index}]{of} is of size {sizes.flat[index]}: all must sum to less than "
            f"{_checks.LARGEST_SUM:g}, as squares of sums must fit; scale the data down"
        )


class Squares(_OfData):
    """``w_v (x_v - b_v)^2 / 2``.

    Parameters
    ----------
    data : array_like
    weights : array_like, optional
        w >= 0; 0 for a missing datum, 1 by default.
    """

    def costs(self, x: FloatArray) -> FloatArray:
        """Return the costs."""
        apart = x - self.data
        return 0.5 * (self.weights * apart) * apart

    def slopes(
        self, x: FloatArray, elements: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slope twice."""
        slope = self.weights[elements] * (x - self.data[elements])
        return slope, slope

    def best(self, slopes: FloatArray) -> FloatArray:
        """Return the maximisers."""
        ends = np.where(slopes > 0.0, self.highest, self.lowest)
        with np.errstate(over="ignore"):
            step = np.divide(slopes, self.weights, out=ends - self.data, where=self.weights > 0.0)
        return np.clip(self.data + step, self.lowest, self.highest)


class Quantile(_OfData):
    """``w_v max(q (b_v - x_v), (1 - q) (x_v - b_v))``: the check loss of quantile regression.

    Parameters
    ----------
    data : array_like
    quantile : float, optional
        q, strictly between 0 and 1; at 0.5 it is half the absolute value.
    weights : array_like, optional
        w >= 0, 1 by default.
    """

    def __init__(
        self, data: npt.ArrayLike, quantile: float = 0.5, weights: npt.ArrayLike | None = None
    ) -> None:
        super().__init__(data, weights)
        quantile = _checks.number("quantile", quantile)
        if not 0.0 < quantile < 1.0:
            raise ValueError(f"quantile is {quantile}: it must be strictly between 0 and 1")
        self.below, self.above = -quantile * self.weights, (1.0 - quantile) * self.weights

    def costs(self, x: FloatArray) -> FloatArray:
        """Return the costs."""
        apart = x - self.data
        return np.where(apart > 0.0, self.above, self.below) * apart

    def slopes(
        self, x: FloatArray, elements: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slopes."""
        data, below, above = self.data[elements], self.below[elements], self.above[elements]
        return np.where(x > data, above, below), np.where(x >= data, above, below)

    def best(self, slopes: FloatArray) -> FloatArray:
        """Return the maximisers."""
        low = np.where(slopes < self.below, self.lowest, self.data)
        return np.where(slopes > self.above, self.highest, low)


class Absolute(Quantile):
    """``w_v |x_v - b_v|``, which outliers do not bend (TV-L1, with total variation).

    Parameters
    ----------
    data : array_like
    weights : array_like, optional
        w >= 0, 1 by default.
    """

    def __init__(self, data: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> None:
        super().__init__(data, 0.5, weights)
        self.below, self.above = -self.weights, self.weights


class Huber(_OfData):
    """Half a square ``w_v (x_v - b_v)^2 / 2`` up to a distance delta, and linear beyond.

    Parameters
    ----------
    data : array_like
    delta : float
        Above 0, in units of the data.
    weights : array_like, optional
        w >= 0, 1 by default.
    """

    def __init__(
        self, data: npt.ArrayLike, delta: float, weights: npt.ArrayLike | None = None
    ) -> None:
        super().__init__(data, weights)
        self.delta = _checks.number("delta", delta)
        if not 0.0 < self.delta < _checks.LARGEST_SUM:
            raise ValueError(
                f"delta is {delta}: it must be above 0, and below {_checks.LARGEST_SUM:g}"
            )
        self.kinks = np.unique(
            np.concatenate([self.data - self.delta, self.data, self.data + self.delta])
        )

    def costs(self, x: FloatArray) -> FloatArray:
        """Return the costs."""
        apart = np.abs(x - self.data)
        near = np.minimum(apart, self.delta)
        return (self.weights * near) * (apart - 0.5 * near)

    def slopes(
        self, x: FloatArray, elements: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slope twice."""
        apart = np.clip(x - self.data[elements], -self.delta, self.delta)
        slope = self.weights[elements] * apart
        return slope, slope

    def best(self, slopes: FloatArray) -> FloatArray:
        """Return the maximisers."""
        ends = np.where(slopes > 0.0, self.highest, self.lowest)
        with np.errstate(over="ignore"):
            step = np.divide(slopes, self.weights, out=ends - self.data, where=self.weights > 0.0)
        inner = np.clip(self.data + step, self.lowest, self.highest)
        return np.where(np.abs(slopes) > self.delta * self.weights, ends, inner)


class Poisson(_OfData):
    """``w_v (x_v - b_v log x_v)``: minus the log-likelihood of counts b, up to a constant.

    Parameters
    ----------
    data : array_like
        Counts, at least 0.
    weights : array_like, optional
        w >= 0, 1 by default.
    """

    linear = False

    def __init__(self, data: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> None:
        super().__init__(data, weights)
        negative = self.data < 0.0
        _checks.refuse_where("data", self.data, negative, "counts are 0 or more")

    def costs(self, x: FloatArray) -> FloatArray:
        """Return the costs; a count above 0 costs infinitely much at 0."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(x, 0.0))
        logs = np.multiply(self.data, logs, out=np.zeros_like(x), where=self.data > 0.0)
        heavy = self.weights > 0.0
        return np.multiply(self.weights, x - logs, out=np.zeros_like(x), where=heavy)

    def errors(self, x: FloatArray) -> FloatArray:
        """Return bounds on the rounding errors; x and b log x may cancel."""
        sizes = np.abs(self.costs(x)) + 2.0 * self.weights * np.abs(x)
        return 16.0 * UNIT_ROUNDOFF * sizes + 8.0 * SMALLEST * (1.0 + self._reach)

    def slopes(
        self, x: FloatArray, elements: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slope twice."""
        data, weights = self.data[elements], self.weights[elements]
        with np.errstate(divide="ignore", over="ignore"):
            share = np.divide(x - data, x, out=np.ones_like(x), where=data > 0.0)
        slope = np.multiply(weights, share, out=np.zeros_like(x), where=weights > 0.0)
        return slope, slope

    def best(self, slopes: FloatArray) -> FloatArray:
        """Return the maximisers."""
        room = self.weights - slopes
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = self.weights * self.data / room
        return np.clip(np.where(room > 0.0, inner, self.highest), self.lowest, self.highest)


class Sampled(Fidelity):
    """Any convex costs at a few values, and linear between: labels in order, exactly.

    Parameters
    ----------
    values : array_like, shape (labels,)
        Ascending.
    costs : array_like, shape (labels, ...)
        phi_v at each of them, convex for each element.

    Raises
    ------
    ValueError
        If values do not ascend, or costs are not finite or not convex, by more than rounding makes;
        the first place is named.
    """

    def __init__(self, values: npt.ArrayLike, costs: npt.ArrayLike) -> None:
        self.values, table = (
            _checks.float_array("values", values),
            _checks.float_array("costs", costs),
        )
        if self.values.ndim != 1 or self.values.size < 2 or table.ndim < 2:
            raise ValueError("values need the shape (labels,), at least 2, and costs (labels, ...)")
        if table.shape[0] != self.values.size:
            raise ValueError(f"costs has {table.shape[0]} rows for {self.values.size} values")
        for name, part in (("values", self.values), ("costs", table)):
            _checks.refuse_where(name, part, ~np.isfinite(part), "it must be finite")
        if not table.size:
            raise ValueError(f"costs is empty (shape {table.shape}): it needs an element or more")
        for name, part in (("values", self.values), ("costs", table)):
            _refuse_large(name, np.abs(part))
        steps = np.diff(self.values)
        _checks.refuse_where("values", self.values[1:], ~(steps > 0.0), "values must ascend")
        self.shape = table.shape[1:]
        self.table = table.reshape(self.values.size, -1)
        with np.errstate(over="ignore"):
            self.rises = np.diff(self.table, axis=0) / steps[:, None]
        _refuse_large("costs", np.abs(self.rises), " over the steps of the values")
        self._bend(steps)
        self._set_range(self.values)

    def _bend(self, steps: FloatArray) -> None:
        """Make the rises ascend, as they do but for rounding; keep by how much costs move then."""
        sizes = np.abs(self.table)
        allowed = 16.0 * UNIT_ROUNDOFF * np.maximum(np.maximum(sizes[:-2], sizes[1:-1]), sizes[2:])
        bent = np.diff(self.rises, axis=0) * np.minimum(steps[:-1], steps[1:])[:, None]
        _checks.refuse_where(
            "costs",
            self.table[1:-1].reshape(-1, *self.shape),
            (bent < -allowed).reshape(-1, *self.shape),
            "it is above the line between those before and after: costs must be convex",
        )
        self.rises = np.maximum.accumulate(self.rises, axis=0)
        moved = self.table[0] + np.cumsum(self.rises * steps[:, None], axis=0) - self.table[1:]
        self.moved = 2.0 * np.max(np.abs(moved), axis=0)
        self.moved += 4.0 * len(sizes) * UNIT_ROUNDOFF * np.max(sizes, axis=0)

    def costs(self, x: FloatArray) -> FloatArray:
        """Return the costs."""
        below = np.clip(np.searchsorted(self.values, x, side="right") - 1, 0, len(self.rises) - 1)
        places = np.arange(x.size)
        share = (x - self.values[below]) / (self.values[below + 1] - self.values[below])
        low, high = self.table[below, places], self.table[below + 1, places]
        costs: FloatArray = (1.0 - share) * low + share * high
        return costs

    def errors(self, x: FloatArray) -> FloatArray:
        """Return bounds on the rounding errors, and on how far a convex function is."""
        sizes = np.max(np.abs(self.table), axis=0)
        errors: FloatArray = self.moved + 16.0 * UNIT_ROUNDOFF * sizes
        errors += 8.0 * SMALLEST * (1.0 + sizes)
        return errors

    def slopes(
        self, x: FloatArray, elements: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slopes."""
        last = len(self.rises) - 1
        left = np.clip(np.searchsorted(self.values, x, side="left") - 1, 0, last)
        right = np.clip(np.searchsorted(self.values, x, side="right") - 1, 0, last)
        return self.rises[left, elements], self.rises[right, elements]

    def best(self, slopes: FloatArray) -> FloatArray:
        """Return the maximisers."""
        best: FloatArray = self.values[np.sum(self.rises < slopes, axis=0)]
        return best
