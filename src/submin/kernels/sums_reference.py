"""NumPy twins of the sums over whole arrays (see ``sums_protocol``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from submin import _sums
from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray
from submin.kernels.sums_protocol import OffsetArray

Slices = tuple[slice, ...]


def compensated_sum(values: FloatArray, threads: int) -> float:
    """Return the sum, by a tree of error-free additions."""
    return _sums.compensated_sum(values)


def absolute_sum(values: FloatArray, threads: int) -> float:
    """Return the sum of magnitudes."""
    return _sums.compensated_sum(np.abs(values))


def sum_of_squares(values: FloatArray, threads: int) -> float:
    """Return ||values||^2."""
    return _sums.compensated_sum(np.square(values))


def negative_sum(values: FloatArray, threads: int) -> float:
    """Return the sum of min(0, value)."""
    return _sums.compensated_sum(np.minimum(0.0, values))


def nonnegative_sum(values: WeightArray, threads: int) -> float:
    """Return the sum, or NaN if a value is not 0 or more; infinite or NaN if one is infinite."""
    with np.errstate(invalid="ignore"):
        return _sums.compensated_sum(values) if np.all(values >= 0.0) else np.nan


def sum_within(values: FloatArray, member: npt.NDArray[np.uint8], threads: int) -> float:
    """Return the sum over a set."""
    return _sums.compensated_sum(values[member != 0])


def extrapolate(before: FloatArray, now: FloatArray, beta: float, threads: int) -> None:
    """Go on from the latest vector."""
    before[:] = now + beta * (now - before)


def edges_excess(
    backward: WeightArray, forward: WeightArray, flow: FloatArray, threads: int
) -> float:
    """Return sum_e max(0, t - forward) + max(0, -backward - t)."""
    above, below = np.maximum(flow - forward, 0.0), np.maximum(-backward - flow, 0.0)
    return _sums.compensated_sum(above + below)


def edges_accumulate(
    tails: IndexArray, heads: IndexArray, flow: FloatArray, s: FloatArray, scale: float
) -> None:
    """Add the flow out of each node to ``s``."""
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
    """Return the weight of the edges with one end in the set."""
    inside = member.astype(np.bool_)
    tail, head = inside[tails], inside[heads]
    out = np.broadcast_to(forward, tail.shape)[tail & ~head]
    back = np.broadcast_to(backward, tail.shape)[head & ~tail]
    return _sums.compensated_sum(np.concatenate([out, back]))


def grid_ends(shape: PointerArray, offsets: OffsetArray) -> Iterator[tuple[Slices, Slices]]:
    """Yield the slices of a grid at the tails and at the heads of each offset."""
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
    """Add the flow out of each node to ``s``: t_e at the tail, -t_e at the head."""
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
    """Write ``forward`` on an edge whose tail comes first, else ``-backward``."""
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
    """Add the flow out of each node to ``s``; return the excess and sum_e |t|."""
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
    """Return the weight of the edges with one end in the set."""
    inside = member.reshape(shape).astype(np.bool_)
    cut: list[WeightArray] = [np.zeros(0)]
    for (tails, heads), back, out in zip(grid_ends(shape, offsets), backward, forward, strict=True):
        tail, head = inside[tails].ravel(), inside[heads].ravel()
        cut.append(np.broadcast_to(out, tail.shape)[tail & ~head])
        cut.append(np.broadcast_to(back, tail.shape)[head & ~tail])
    return _sums.compensated_sum(np.concatenate(cut))


def descending_ranks(values: FloatArray, out: IndexArray) -> None:
    """Invert the permutation that sorts."""
    out[np.argsort(-values, kind="stable")] = np.arange(values.size, dtype=np.int32)


def best_prefix(rank: IndexArray, gains: FloatArray) -> int:
    """Look at all running sums."""
    ordered = np.empty_like(gains)
    ordered[rank] = gains
    sums = np.concatenate([[0.0], np.cumsum(ordered, dtype=np.longdouble)])
    return int(np.argmin(sums))
