"""NumPy twins of the native kernels for groups with one dual value for each member.

Like :mod:`submin.kernels.reference`, of which this is a part: the executable specification.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from submin._sums import LONG_ROUNDOFF
from submin._typing import FloatArray, IndexArray, PointerArray
from submin.kernels.diagonal_metric import HEAD, TAIL, project_hyperedge, project_slice

__all__ = [
    "cardinality_excess",
    "group_counts",
    "groups_accumulate",
    "hyperedge_excess",
    "hyperedge_project",
    "hyperedge_sweep",
    "truncation_excess",
    "truncation_project",
    "truncation_sweep",
]


def groups_accumulate(members: IndexArray, y: FloatArray, s: FloatArray, scale: float) -> None:
    """Add each value to its member."""
    np.add.at(s, members, scale * y)


def group_counts(
    indptr: PointerArray,
    members: IndexArray,
    member: npt.NDArray[np.uint8],
    out: PointerArray,
    threads: int,
) -> None:
    """Count the members of each group that are in the set."""
    running = np.concatenate([[0], np.cumsum(member[members] != 0, dtype=np.int64)])
    out[:] = running[indptr[1:]] - running[indptr[:-1]]


def _parts(indptr: PointerArray) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(indptr.tolist())]


def _excess(largest: list[np.longdouble], magnitudes: list[float]) -> tuple[float, float]:
    """Sum what the groups exceed by; each takes up to a few sums of that magnitude."""
    total = float(np.sum(np.array(largest, dtype=np.longdouble)))
    return total, LONG_ROUNDOFF * float(sum(magnitudes)) + 2.0**-52 * total


def cardinality_excess(
    indptr: PointerArray, costs: FloatArray, y: FloatArray, threads: int
) -> tuple[float, float]:
    """Compare the sums of the largest values with the costs of their number."""
    largest, magnitudes = [], []
    for group, part in enumerate(_parts(indptr)):
        sums = np.cumsum(np.concatenate([[0.0], -np.sort(-y[part])]), dtype=np.longdouble)
        start = part.start + group
        largest.append(np.max(sums - costs[start : start + sums.size]))
        magnitudes.append((sums.size + 1) * float(np.sum(np.abs(y[part]))))
    return _excess(largest, magnitudes)


def hyperedge_excess(
    indptr: PointerArray,
    roles: npt.NDArray[np.uint8],
    weights: FloatArray,
    y: FloatArray,
    threads: int,
) -> tuple[float, float]:
    """Compare the best sets without a tail, those with all heads, and any other."""
    role_of = np.broadcast_to(roles, y.shape)
    largest, magnitudes = [], []
    for part, weight in zip(_parts(indptr), weights, strict=True):
        values, role = y[part].astype(np.longdouble), role_of[part]
        positive = np.maximum(values, 0.0)
        without_tails = np.sum(positive[(role & TAIL) == 0])
        with_heads = np.sum(np.where(role & HEAD, values, positive))
        largest.append(max(without_tails, with_heads, np.sum(positive) - weight))
        magnitudes.append((values.size + 1) * float(np.sum(np.abs(values))))
    return _excess(largest, magnitudes)


def truncation_excess(
    indptr: PointerArray,
    modular: FloatArray,
    masses: FloatArray,
    caps: FloatArray,
    y: FloatArray,
    threads: int,
) -> tuple[float, float]:
    """Compare the best sets for the masses with those for the cap."""
    largest, magnitudes = [], []
    for part, cap in zip(_parts(indptr), caps, strict=True):
        values = y[part].astype(np.longdouble) - modular[part]
        above = np.sum(np.maximum(values - masses[part], 0.0))
        largest.append(max(above, np.sum(np.maximum(values, 0.0)) - cap))
        magnitudes.append((values.size + 3) * float(np.sum(np.abs(values))))
    return _excess(largest, magnitudes)


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
