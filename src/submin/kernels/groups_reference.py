"""NumPy twins of the native kernels for hyperedges and truncations.

Like :mod:`submin.kernels.reference`, of which this is a part: the executable specification.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray
from submin.kernels.diagonal_metric import HEAD, TAIL, project_hyperedge, project_slice

__all__ = ["hyperedge_project", "hyperedge_sweep", "truncation_project", "truncation_sweep"]


def hyperedge_project(
    indptr: PointerArray,
    members: IndexArray,
    roles: npt.NDArray[np.uint8],
    weights: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Project each group's ``a = y - s[members] / c``; ``out`` concatenates the results."""
    role_of, end = np.broadcast_to(roles, members.shape), 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        a = y[part] - s[members[part]] / c
        tails, heads = (role_of[part] & TAIL) != 0, (role_of[part] & HEAD) != 0
        begin, end = end, end + a.size
        weight = float(weights[group])
        out[begin:end] = project_hyperedge(a, np.ones(a.size), tails, heads, weight)


def hyperedge_sweep(
    indptr: PointerArray,
    members: IndexArray,
    roles: npt.NDArray[np.uint8],
    weights: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project with c = 1 and add the change of y to ``s``; the groups share no member."""
    where = _incidences(indptr, groups)
    updated = np.empty(where.size)
    hyperedge_project(indptr, members, roles, weights, groups, y, s, 1.0, updated, threads)
    s[members[where]] += updated - y[where]
    y[where] = updated


def truncation_project(
    indptr: PointerArray,
    members: IndexArray,
    lower: FloatArray,
    upper: FloatArray,
    totals: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Project each group's ``a = y - s[members] / c``; ``out`` concatenates the results."""
    end = 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        a = y[part] - s[members[part]] / c
        begin, end = end, end + a.size
        bounds, total = (lower[part], upper[part]), float(totals[group])
        out[begin:end] = project_slice(a, np.ones(a.size), *bounds, total)


def truncation_sweep(
    indptr: PointerArray,
    members: IndexArray,
    lower: FloatArray,
    upper: FloatArray,
    totals: FloatArray,
    groups: IndexArray,
    y: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project with c = 1 and add the change of y to ``s``; the groups share no member."""
    where = _incidences(indptr, groups)
    updated = np.empty(where.size)
    truncation_project(indptr, members, lower, upper, totals, groups, y, s, 1.0, updated, threads)
    s[members[where]] += updated - y[where]
    y[where] = updated


def _incidences(indptr: PointerArray, groups: IndexArray) -> PointerArray:
    """Return the positions of the members of some groups."""
    parts = [np.arange(indptr[group], indptr[group + 1]) for group in groups]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
