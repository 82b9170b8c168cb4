"""Set functions given by all their 2^k values: bit b of an index says whether b is in S.

Arrays of values have the shape (m, 2^k), one row for each function.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from submin import kernels
from submin._sums import is_exact
from submin._typing import BoolArray, FloatArray, IndexArray


class Witness(NamedTuple):
    """Sets that prove a table not submodular: F(A + i) + F(A + j) < F(A) + F(A + i + j).

    ``row`` is the number of the table, ``base`` the index of A, ``with_i``, ``with_j`` and
    ``with_both`` those of the other three sets.
    """

    row: int
    base: int
    with_i: int
    with_j: int
    with_both: int


def submodularity_tolerance(values: FloatArray) -> FloatArray:
    """Return the rounding error that a second difference may have, one for each row.

    Values that were computed from k numbers carry errors of about k units in the last place, and
    multiples of one number none.
    """
    if is_exact(values):
        return np.zeros(values.shape[0])
    members = values.shape[1].bit_length() - 1
    unit = 8.0 * members * float(np.finfo(np.float64).eps)
    tolerance: FloatArray = unit * np.max(np.abs(values), axis=1)
    return tolerance


def find_non_submodular(
    values: FloatArray, tolerance: FloatArray | float | None = None
) -> Witness | None:
    """Look for a negative second difference F(A + i) + F(A + j) - F(A) - F(A + i + j).

    F is submodular exactly if there is none, over all pairs i, j and all A without them (Lovász
    1983).  `tolerance` is what rounding may take from each row's second differences, by default
    ``submodularity_tolerance(values)``.  Complexity O(m k^2 2^k).

    Examples
    --------
    >>> find_non_submodular(np.array([[0.0, 1.0, 1.0, 2.0]]))
    >>> find_non_submodular(np.array([[0.0, 1.0, 1.0, 3.0]]))
    Witness(row=0, base=0, with_i=1, with_j=2, with_both=3)
    """
    allowed = submodularity_tolerance(values) if tolerance is None else tolerance
    least = np.empty(values.shape[0])
    kernels.active.table_second_differences(np.ascontiguousarray(values), least, 0)
    negative = np.flatnonzero(least < -np.broadcast_to(allowed, least.shape))
    return _worst_difference(int(negative[0]), values[negative[0]]) if negative.size else None


def _worst_difference(row: int, values: FloatArray) -> Witness:
    """Return the sets with the most negative second difference of one table."""
    found = []
    for i, j in combinations(1 << np.arange(values.size.bit_length() - 1), 2):
        base = np.arange(values.size)
        base = base[base & (i | j) == 0]
        differences = values[base + i] + values[base + j] - (values[base] + values[base + i + j])
        worst = int(np.argmin(differences))
        sets = (int(base[worst]), int(base[worst] + i), int(base[worst] + j))
        found.append((float(differences[worst]), *sets))
    _, neither, with_i, with_j = min(found)
    return Witness(row, neither, with_i, with_j, with_i | with_j)


def subset_masks(k: int) -> BoolArray:
    """Return all subsets of k elements as masks, shape (2^k, k)."""
    masks: BoolArray = (np.arange(1 << k)[:, None] >> np.arange(k)) & 1 == 1
    return masks


def subset_sums(y: FloatArray) -> FloatArray:
    """Return y(S) for all subsets S of each row, shape (m, 2^k), in k - 1 additions each.

    Examples
    --------
    >>> subset_sums(np.array([[1.0, 10.0]]))
    array([[ 0.,  1., 10., 11.]])
    """
    sums = np.zeros((y.shape[0], 1))
    for column in y.T:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums


def greedy_vertices(values: FloatArray, rank: IndexArray) -> FloatArray:
    """Return each row's marginal gains when its elements come in the order of `rank` (m, k)."""
    order = np.argsort(rank, axis=1, kind="stable")
    prefixes = np.cumsum(1 << order, axis=1)
    rows = np.arange(rank.shape[0])[:, None] if values.shape[0] > 1 else 0
    gains = np.diff(values[rows, prefixes], axis=1, prepend=0.0)
    vertices = np.empty(rank.shape)
    np.put_along_axis(vertices, order, gains, axis=1)
    return vertices


def mean_vertices(values: FloatArray) -> FloatArray:
    """Return the mean of each row's greedy vertices over all k! orders (the Shapley value).

    An element comes right after the set A in |A|! (k - |A| - 1)! of the orders.  O(m k 2^k).
    """
    rows, subsets = values.shape
    k = subsets.bit_length() - 1
    sizes = subset_masks(k - 1).sum(axis=1)
    share = np.ones(k)
    for size in range(1, k):
        share[size] = share[size - 1] * size / (k - size)
    weights = share[sizes] / k
    means = np.empty((rows, k))
    for b in range(k):
        halves = values.reshape(rows, subsets >> (b + 1), 2, 1 << b)
        gains = (halves[:, :, 1] - halves[:, :, 0]).reshape(rows, -1)
        means[:, b] = gains @ weights
    return means
