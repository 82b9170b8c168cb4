"""Distances between labels: what an edge of weight 1 costs when its ends have two of them.

A distance here is a semimetric: 0 between a label and itself, symmetric, and not negative.  It is a
metric if d(p, q) <= d(p, r) + d(r, q) for all labels, and then an expansion move is a minimum cut
(Boykov, Veksler and Zabih 2001, doi:10.1109/34.969114).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import FloatArray

ROUNDING = 1e-12
"""What a triangle may lack of its inequality, as a part of its sides."""

LARGEST = 1e30
"""Costs and prices are below it: messages are sums of them in single precision."""


@dataclass(frozen=True)
class Potts:
    """1 between any two labels that differ (Potts).

    Examples
    --------
    >>> Potts().matrix(2)
    array([[0., 1.],
           [1., 0.]])
    """

    def matrix(self, labels: int) -> FloatArray:
        """Return the distances of all pairs."""
        return 1.0 - np.eye(labels)


POTTS = Potts()


@dataclass(frozen=True)
class Linear:
    """``min(|p - q|, cap)``: steps of labels in their order, as in stereo.

    Examples
    --------
    >>> Linear(cap=2).matrix(4)[0]
    array([0., 1., 2., 2.])
    """

    cap: float = inf

    def __post_init__(self) -> None:
        _positive_cap(self.cap)

    def matrix(self, labels: int) -> FloatArray:
        """Return the distances of all pairs."""
        return np.minimum(_steps(labels), self.cap)


@dataclass(frozen=True)
class Quadratic:
    """``min((p - q)^2, cap)``.

    Examples
    --------
    >>> Quadratic(cap=5).matrix(4)[0]
    array([0., 1., 4., 5.])
    """

    cap: float = inf

    def __post_init__(self) -> None:
        _positive_cap(self.cap)

    def matrix(self, labels: int) -> FloatArray:
        """Return the distances of all pairs."""
        return np.minimum(_steps(labels) ** 2, self.cap)


Distance = Potts | Linear | Quadratic


def _positive_cap(cap: float) -> None:
    if isinstance(cap, bool) or not isinstance(cap, int | float | np.integer | np.floating):
        raise TypeError(f"cap is {cap!r}: it must be a number")
    if not cap > 0.0:
        raise ValueError(f"cap is {cap}: it must be above 0")


def _steps(labels: int) -> FloatArray:
    numbers = np.arange(labels, dtype=np.float64)
    return np.abs(numbers[:, None] - numbers)


def distance_matrix(name: str, given: Distance | npt.ArrayLike, labels: int) -> FloatArray:
    """Return the distances of all pairs, which must be a semimetric.

    Raises
    ------
    TypeError
        If they are no numbers.
    ValueError
        If the shape is wrong, or an entry is negative or not finite, or the matrix is not symmetric
        or has a diagonal entry other than 0; the message names it.
    """
    if isinstance(given, Potts | Linear | Quadratic):
        return given.matrix(labels)
    matrix = _checks.float_array(name, given)
    if matrix.shape != (labels, labels):
        raise ValueError(
            f"{name} has shape {matrix.shape}, but there are {labels} labels, the first axis of "
            f"costs: it must be {(labels, labels)}"
        )
    wrong = ~(np.isfinite(matrix) & (matrix >= 0.0))
    _checks.refuse_where(name, matrix, wrong, "a distance must be finite, and not below 0")
    own = np.eye(labels, dtype=np.bool_) & (matrix != 0.0)
    _checks.refuse_where(name, matrix, own, "the distance of a label to itself must be 0")
    uneven = matrix != matrix.T
    if uneven.any():
        p, q = _checks.first_index(uneven)
        raise ValueError(
            f"{name}[{p}, {q}] is {matrix[p, q]} and {name}[{q}, {p}] is {matrix[q, p]}: distances "
            "must be the same both ways"
        )
    return matrix


def broken_triangle(matrix: FloatArray) -> tuple[int, int, int] | None:
    """Return p, q, r with d(p, q) > d(p, r) + d(r, q), or None for a metric; O(labels^3).

    Examples
    --------
    >>> broken_triangle(Quadratic().matrix(3))
    (0, 2, 1)
    >>> broken_triangle(Linear(cap=2).matrix(5)) is None
    True
    """
    for r in range(len(matrix)):
        around = matrix[:, r, None] + matrix[r]
        broken = matrix > around * (1.0 + ROUNDING)
        if broken.any():
            p, q = _checks.first_index(broken)
            return p, q, r
    return None
