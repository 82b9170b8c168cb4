"""The base of cuts of grids: the geometry of offsets, and what follows from it.

The edges of an offset are held over the *overlap* of the grid with its shifted copy, so that their
tails and heads are slices of a grid-shaped array.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, product
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._sums import UNIT_ROUNDOFF
from submin._typing import BoolArray, FloatArray, IndexArray, WeightArray
from submin.terms.base.edges import EdgeTerm, Segment, of_one_type
from submin.terms.base.term import Inspection, Violation

MOST_AXES = 8
"""Axes of a grid, at most; the kernels keep them in fixed arrays."""

Offset = tuple[int, ...]
Slices = tuple[slice, ...]

KNIGHTS = [(1, -2), (1, 2), (2, -1), (2, 1)]
STENCILS = {
    16: KNIGHTS,
    32: [*KNIGHTS, (1, -3), (1, 3), (2, -3), (2, 3), (3, -2), (3, -1), (3, 1), (3, 2)],
}
"""What larger neighbourhoods in two dimensions have beside the eight nearest pixels."""


def grid_offsets(dimensions: int, connectivity: int) -> list[Offset]:
    """Return the forward half of a grid's neighbourhood, in lexicographic order.

    Parameters
    ----------
    dimensions : int
        Number of axes of the grid.
    connectivity : int
        Number of neighbours of an inner pixel: 4, 8, 16 or 32 in two dimensions; 6, 18 or 26 in
        three; in general those that differ by 1 in at most k axes, for k = 1, 2, ....  The
        neighbourhoods of 16 and 32 add the next directions, the steps of a knight first.

    Raises
    ------
    ValueError
        If no neighbourhood of that dimension has that many neighbours.

    Examples
    --------
    >>> grid_offsets(2, 8)
    [(0, 1), (1, -1), (1, 0), (1, 1)]
    """
    if not 1 <= dimensions <= MOST_AXES:
        raise ValueError(f"dimensions is {dimensions}: a grid has 1 to {MOST_AXES} axes")
    zero = (0,) * dimensions
    forward = [d for d in product((-1, 0, 1), repeat=dimensions) if d > zero]
    choices = []
    for axes in range(1, dimensions + 1):
        offsets = [d for d in forward if sum(map(abs, d)) <= axes]
        if 2 * len(offsets) == connectivity:
            return offsets
        choices.append(str(2 * len(offsets)))
    if dimensions == 2:
        if connectivity in STENCILS:
            return sorted([*forward, *STENCILS[connectivity]])
        choices.extend(map(str, STENCILS))
    raise ValueError(
        f"connectivity is {connectivity}: a {dimensions}-D grid has {' or '.join(choices)}"
    )


def overlap_of(shape: tuple[int, ...], offset: Offset) -> tuple[int, ...]:
    """Return the shape of the overlap of a grid with its shifted copy."""
    return tuple(max(0, a - abs(b)) for a, b in zip(shape, offset, strict=True))


class Part(NamedTuple):
    """The edges of a neighbour that do not lead around a periodic axis, or do so along some.

    Attributes
    ----------
    offset : tuple of int
        From the tails to the heads.
    slices : tuple of slice
        Their places among all edges of the neighbour.
    """

    offset: Offset
    slices: Slices


def checked_offsets(dimensions: int, offsets: Iterable[Iterable[int]]) -> list[Offset]:
    """Refuse offsets that are no neighbours of a grid, or have the same edges twice."""
    rows = [tuple(row) for row in offsets]
    if not rows:
        raise ValueError("offsets is empty: give one neighbour or more")
    for k, row in enumerate(rows):
        if len(row) != dimensions:
            raise ValueError(f"offsets[{k}] is {row}: it needs {dimensions} numbers, one per axis")
    array = _checks.float_array("offsets", np.array(rows).reshape(-1, dimensions))
    _checks.refuse_where("offsets", array, array != np.rint(array), "it must be a whole number")
    far = np.abs(array) > _checks.LARGEST_INDEX
    _checks.refuse_where("offsets", array, far, "no grid is so large")
    checked = [tuple(map(int, row)) for row in array.tolist()]
    known: dict[Offset, int] = {}
    for k, offset in enumerate(checked):
        if not any(offset):
            raise ValueError(f"offsets[{k}] is {offset}: a pixel is no neighbour of its own")
        for same in (offset, tuple(-step for step in offset)):
            if same in known:
                raise ValueError(
                    f"offsets[{k}] is {offset}: offsets[{known[same]}] has these edges already"
                )
        known[offset] = k
    return checked


def parts_of(shape: tuple[int, ...], offset: Offset, periodic: tuple[bool, ...]) -> list[Part]:
    """Split the edges of a neighbour by the axes along which they lead around.

    Along a periodic axis of length n a step d from one of the last d pixels leads to one of the
    first ones, by d - n: these are the edges of another offset.
    """
    choices: list[list[tuple[int, slice]]] = []
    for axis, (n, step, ring) in enumerate(zip(shape, offset, periodic, strict=True)):
        if not (ring and step):
            choices.append([(step, slice(None))])
            continue
        if n <= 2 * abs(step):
            raise ValueError(
                f"the periodic axis {axis} has length {n}: a step of {step} along it needs at "
                f"least {2 * abs(step) + 1}"
            )
        straight, around = (slice(n - step), slice(n - step, n)) if step > 0 else (
            slice(-step, n), slice(-step))  # fmt: skip
        choices.append([(step, straight), (step - n if step > 0 else step + n, around)])
    return [
        Part(tuple(step for step, _ in part), tuple(where for _, where in part))
        for part in product(*choices)
    ]


class GridTerm(EdgeTerm):
    """A grid with edges along offsets.

    Attributes
    ----------
    shape : tuple of int
        The grid.
    neighbours : list of tuple of int
        The offsets that the weights are given for.
    periodic : tuple of bool
        The axes whose last pixels are beside the first ones.
    offsets, overlaps : list of tuple of int
        The offsets of all edges, and the shape of the edges of each; those that lead around a
        periodic axis follow those that do not.
    segments : tuple of Segment
        The weights of each of `offsets`, and their places in the dual.
    """

    shape: tuple[int, ...]

    def __init__(
        self, shape: tuple[int, ...], neighbours: list[Offset], periodic: tuple[bool, ...]
    ) -> None:
        self.shape, self.neighbours, self.periodic = shape, neighbours, periodic
        self.parts = [parts_of(shape, offset, periodic) for offset in neighbours]
        self.offsets = [part.offset for parts in self.parts for part in parts]
        self.geometry = np.array(shape), np.array(self.offsets).reshape(-1, len(shape))
        self.overlaps = [overlap_of(shape, offset) for offset in self.offsets]
        self.elements, self.depth = prod(shape), 2 * len(neighbours)
        self.size = sum(prod(overlap) for overlap in self.overlaps)

    def extent(self, k: int) -> tuple[int, ...]:
        """Return the shape of the edges of neighbour `k`, along whatever axes they lead around."""
        overlap = overlap_of(self.shape, self.neighbours[k])
        return tuple(
            n if ring else length
            for n, length, ring in zip(self.shape, overlap, self.periodic, strict=True)
        )

    @property
    def used(self) -> list[int]:
        """The numbers of the offsets that have edges."""
        return [k for k, overlap in enumerate(self.overlaps) if 0 not in overlap]

    def _segments(
        self, forward: list[WeightArray], backward: list[WeightArray]
    ) -> tuple[Segment, ...]:
        sizes = [prod(overlap) for overlap in self.overlaps]
        stops = accumulate(sizes)
        return tuple(
            Segment(slice(stop - size, stop), *of_one_type(a, b))
            for stop, size, a, b in zip(stops, sizes, forward, backward, strict=True)
        )

    def ends(self, k: int) -> tuple[Slices, Slices]:
        """Return the slices of a grid-shaped array at the tails and heads of offset `k`."""
        pairs = list(zip(self.offsets[k], self.overlaps[k], strict=True))
        tails = tuple(slice(max(0, -d), max(0, -d) + length) for d, length in pairs)
        heads = tuple(slice(max(0, d), max(0, d) + length) for d, length in pairs)
        return tails, heads

    def edge_list(self) -> tuple[IndexArray, IndexArray]:
        """Return the tails and heads of all edges as explicit indices, O(edges) of memory."""
        pixels = np.arange(self.elements, dtype=np.int32).reshape(self.shape)
        ends = [self.ends(k) for k in range(len(self.offsets))]
        tails = np.concatenate([pixels[tail].ravel() for tail, _ in ends])
        return tails, np.concatenate([pixels[head].ravel() for _, head in ends])

    def differences(self, x: FloatArray) -> Iterable[FloatArray]:
        """Yield x at the tails less x at the heads of each offset, O(edges)."""
        pixels = x.reshape(self.shape)
        for k, overlap in enumerate(self.overlaps):
            tails, heads = self.ends(k)
            empty = 0 in overlap
            yield np.zeros(0) if empty else (pixels[tails] - pixels[heads]).ravel()

    def evaluate(self, members: BoolArray) -> float:
        """Return the weight of the edges that S cuts, O(edges)."""
        inside = _checks.flat_mask("members", members).view(np.uint8)
        return kernels.active.grid_cut_value(*self.geometry, *self._weights_by_offset(), inside, 0)

    def _weights_by_offset(self) -> tuple[list[WeightArray], list[WeightArray]]:
        """Return the backward and the forward weights, one array for each offset."""
        return [back for _, _, back in self.segments], [out for _, out, _ in self.segments]

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Return t = forward on an edge whose tail comes first, else -backward."""
        flow = np.empty(self.size)
        kernels.active.grid_greedy(*self.geometry, *self._weights_by_offset(), rank, flow, 0)
        return flow

    def accumulate(self, dual: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the net flow out of each pixel, O(edges)."""
        kernels.active.grid_accumulate(*self.geometry, dual, s, scale, 0)

    def inspect(self, dual: FloatArray, s: FloatArray) -> Inspection:
        """Add the net flow out of each pixel and look at all values, in one pass, O(edges)."""
        excess, total = kernels.active.grid_inspect(
            *self.geometry, *self._weights_by_offset(), dual, s, 0
        )
        return Inspection(Violation(excess, 2.0 * UNIT_ROUNDOFF * excess), 2.0 * total)

    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return minus the weights of arcs into each pixel, and those of arcs out, O(edges)."""
        low, high = np.zeros(n), np.zeros(n)
        for k, (_, forward, backward) in enumerate(self.segments):
            tails, heads = self.ends(k)
            overlap = self.overlaps[k]
            if 0 in overlap:
                continue
            out = np.broadcast_to(forward, prod(overlap)).reshape(overlap)
            back = np.broadcast_to(backward, prod(overlap)).reshape(overlap)
            high.reshape(self.shape)[tails] += out
            high.reshape(self.shape)[heads] += back
            low.reshape(self.shape)[tails] -= back
            low.reshape(self.shape)[heads] -= out
        return low, high

    def close_sides(self, dual: FloatArray, room: float, side: npt.NDArray[np.int8]) -> None:
        """Decide pixels by arcs of residual capacity above `room`, in place, O(edges)."""
        kernels.active.grid_close_sides(
            *self.geometry, *self._weights_by_offset(), dual, room, side
        )
