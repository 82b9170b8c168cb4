"""Sums over whole arrays, whose rounding errors are known; they do not depend on ``threads``.

They are infinite or NaN where a number is, or where they overflow.

A grid is given by its ``shape`` and by ``offsets``, one row per offset; the edges of an offset are
numbered in C order of the overlap of the grid with its shifted copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from submin import _sums
from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray
from submin.kernels.refusals import refuse_outside

__all__ = [
    "absolute_sum",
    "best_prefix",
    "compensated_sum",
    "descending_ranks",
    "edges_accumulate",
    "edges_cut_value",
    "edges_excess",
    "extrapolate",
    "grid_accumulate",
    "grid_cut_value",
    "grid_greedy",
    "grid_inspect",
    "negative_sum",
    "nonnegative_sum",
    "sum_of_squares",
    "sum_within",
]

OffsetArray = npt.NDArray[np.int64]
Slices = tuple[slice, ...]


def _total(values: WeightArray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return _sums.compensated_sum(values)


def compensated_sum(values: FloatArray, threads: int) -> float:
    """Return the sum of a flat array, its error at most ``_sums.sum_error``. O(n)."""
    return _total(values)


def absolute_sum(values: FloatArray, threads: int) -> float:
    """Return the sum of magnitudes, to the same accuracy. O(n)."""
    return _total(np.abs(values))


def sum_of_squares(values: FloatArray, threads: int) -> float:
    """Return ||values||^2, to the same accuracy but for the rounding of the squares. O(n)."""
    with np.errstate(over="ignore"):
        return _total(np.square(values))


def negative_sum(values: FloatArray, threads: int) -> float:
    """Return the sum of min(0, value), to the same accuracy. O(n)."""
    return _total(np.minimum(0.0, values))


def nonnegative_sum(values: WeightArray, threads: int) -> float:
    """Return the sum, to the same accuracy, or NaN if a value is negative or NaN. O(n)."""
    return _total(values) if np.all(values >= 0.0) else np.nan


def sum_within(values: FloatArray, member: npt.NDArray[np.uint8], threads: int) -> float:
    """Return the sum over the entries whose ``member`` is not 0, likewise. O(n)."""
    return _total(values[member != 0])


def extrapolate(before: FloatArray, now: FloatArray, beta: float, threads: int) -> None:
    """Replace ``before`` by ``now + beta (now - before)``. O(n)."""
    before[:] = now + beta * (now - before)


def edges_excess(
    backward: WeightArray, forward: WeightArray, flow: FloatArray, threads: int
) -> float:
    """Return sum_e max(0, t - forward) + max(0, -backward - t). O(edges).

    Weights of size 1 hold for all edges.
    """
    above, below = np.maximum(flow - forward, 0.0), np.maximum(-backward - flow, 0.0)
    return _total(above + below)


def edges_accumulate(
    tails: IndexArray, heads: IndexArray, flow: FloatArray, s: FloatArray, scale: float
) -> None:
    """Add ``scale`` times the flow out of each node to ``s``, in place. O(edges).

    Refused out of range: tails, heads.
    """
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, s.size, name)
    s += scale * _sums.scatter_sum(tails, flow, s.size)
    s -= scale * _sums.scatter_sum(heads, flow, s.size)


def edges_cut_value(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    member: npt.NDArray[np.uint8],
    threads: int,
) -> float:
    """Return the weight of the edges that a set cuts, a compensated sum. O(edges).

    As ``grid_cut_value``, for one list of edges. Refused out of range: tails, heads.
    """
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, member.size, name)
    inside = member.astype(np.bool_)
    tail, head = inside[tails], inside[heads]
    out = np.broadcast_to(forward, tail.shape)[tail & ~head]
    back = np.broadcast_to(backward, tail.shape)[head & ~tail]
    return _total(np.concatenate([out, back]))


def grid_ends(shape: PointerArray, offsets: OffsetArray) -> Iterator[tuple[Slices, Slices]]:
    """Yield the slices of a grid at the tails and at the heads of each offset."""
    if not shape.size or np.any(shape <= 0):
        raise ValueError(f"shape must be positive, and not {tuple(shape.tolist())}")
    for offset in offsets.tolist():
        pairs = [
            (step, max(0, extent - abs(step)))
            for step, extent in zip(offset, shape.tolist(), strict=True)
        ]
        yield (
            tuple(slice(max(0, -step), max(0, -step) + length) for step, length in pairs),
            tuple(slice(max(0, step), max(0, step) + length) for step, length in pairs),
        )


def grid_accumulate(
    shape: PointerArray,
    offsets: OffsetArray,
    flow: FloatArray,
    s: FloatArray,
    scale: float,
    threads: int,
) -> None:
    """Add ``scale`` times the flow out of each node to ``s``, in place. O(edges).

    ``flow`` has the edges of all offsets, one offset after the other. Refused out of range: shape.
    """
    total, start = s.reshape(shape), 0
    for tails, heads in grid_ends(shape, offsets):
        target = total[tails]
        change = scale * flow[start : start + target.size].reshape(target.shape)
        total[tails] += change
        total[heads] -= change
        start += change.size


def grid_greedy(
    shape: PointerArray,
    offsets: OffsetArray,
    backward: Sequence[WeightArray],
    forward: Sequence[WeightArray],
    rank: IndexArray,
    out: FloatArray,
    threads: int,
) -> None:
    """Write the flows of the greedy vertex: all ``forward``, or all of minus ``backward``.

    Forward where the tail has the smaller rank; weights as for ``grid_cut_value``. O(edges).
    Refused out of range: shape.
    """
    position, start = rank.reshape(shape), 0
    for (tails, heads), back, forth in zip(
        grid_ends(shape, offsets), backward, forward, strict=True
    ):
        tail_first = (position[tails] < position[heads]).ravel()
        out[start : start + tail_first.size] = np.where(tail_first, forth, -back)
        start += tail_first.size


def grid_inspect(
    shape: PointerArray,
    offsets: OffsetArray,
    backward: Sequence[WeightArray],
    forward: Sequence[WeightArray],
    flow: FloatArray,
    s: FloatArray,
    threads: int,
) -> tuple[float, float]:
    """Add the flow out of each node to ``s``; return the excess and sum_e |t|. O(edges).

    The excess is that of ``edges_excess``, over all offsets; the weights are given as to
    ``grid_cut_value``. Refused out of range: shape.
    """
    grid_accumulate(shape, offsets, flow, s, 1.0, threads)
    sizes = [s.reshape(shape)[tails].size for tails, _ in grid_ends(shape, offsets)]
    parts = np.split(flow, np.cumsum(sizes)[:-1])
    excess = sum(
        edges_excess(back, out, part, threads)
        for back, out, part in zip(backward, forward, parts, strict=True)
    )
    return excess, absolute_sum(flow, threads)


def grid_cut_value(
    shape: PointerArray,
    offsets: OffsetArray,
    backward: Sequence[WeightArray],
    forward: Sequence[WeightArray],
    member: npt.NDArray[np.uint8],
    threads: int,
) -> float:
    """Return the weight of the edges that a set cuts, a compensated sum. O(edges).

    ``forward`` counts where the tail is in the set and the head is not, ``backward`` the other way
    round; one array per offset, of size 1 where one weight holds for all its edges. Refused out of
    range: shape.
    """
    inside = member.reshape(shape).astype(np.bool_)
    cut: list[WeightArray] = [np.zeros(0)]
    for (tails, heads), back, out in zip(grid_ends(shape, offsets), backward, forward, strict=True):
        tail, head = inside[tails].ravel(), inside[heads].ravel()
        cut.append(np.broadcast_to(out, tail.shape)[tail & ~head])
        cut.append(np.broadcast_to(back, tail.shape)[head & ~tail])
    return _total(np.concatenate(cut))


def descending_ranks(values: FloatArray, out: IndexArray) -> None:
    """Write the place of each number when they descend; equal ones keep their order. O(n)."""
    out[np.argsort(-values, kind="stable")] = np.arange(values.size, dtype=np.int32)


def best_prefix(rank: IndexArray, gains: FloatArray) -> int:
    """Return how many elements, added by their ranks, have the least sum of gains. O(n).

    The fewest such, and 0 if no sum is below 0; the sums are compensated. Refused out of range:
    rank.
    """
    refuse_outside(rank, gains.size, "rank")
    ordered = np.empty_like(gains)
    ordered[rank] = gains
    sums = np.concatenate([[0.0], np.cumsum(ordered, dtype=np.longdouble)])
    return int(np.argmin(sums))
