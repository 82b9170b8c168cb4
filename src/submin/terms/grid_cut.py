"""Cut functions of n-dimensional grids, with implicit neighbours: no index arrays.

    F(S) = sum over offsets d, pixels p of  forward_d[p] [p in S, p + d not in S] + backward ...

The edges of one offset are held over the *overlap* of the grid with its shifted copy, so a matching
(one offset, every second position along the offset's first axis) is a strided view of the dual.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, product
from math import prod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._sums import UNIT_ROUNDOFF
from submin._typing import BoolArray, FloatArray, IndexArray, WeightArray
from submin.terms.cut import contracted
from submin.terms.edges import (
    EdgeTerm,
    Segment,
    edge_weights,
    of_one_type,
    saved_weights,
)
from submin.terms.fixing import Fixing, TermMinor
from submin.terms.term import Block, Inspection, Violation, check_decomposition

MOST_AXES = 8
"""Axes of a grid, at most; the kernels keep them in fixed arrays."""

Offset = tuple[int, ...]
Slices = tuple[slice, ...]


def grid_offsets(dimensions: int, connectivity: int) -> list[Offset]:
    """Return the forward half of a grid's neighbourhood, in lexicographic order.

    Parameters
    ----------
    dimensions : int
        Number of axes of the grid.
    connectivity : int
        Number of neighbours of an inner pixel: 4 or 8 in two dimensions; 6, 18 or 26 in three; in
        general those that differ by 1 in at most k axes, for k = 1, 2, ....

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
    raise ValueError(
        f"connectivity is {connectivity}: a {dimensions}-D grid has {' or '.join(choices)}"
    )


class GridCut(EdgeTerm):
    """The cut function of an n-dimensional grid.

    Parameters
    ----------
    shape : tuple of int
        Shape of the grid.
    weights : float or sequence of array_like
        One cost for all edges, or one entry per offset of ``grid_offsets(len(shape),
        connectivity)``: a scalar, or an array of the overlap shape (``shape - |offset|``), whose
        position p is the edge from pixel ``p + max(0, -offset)`` to pixel ``p + max(0, offset)``.
    connectivity : int, optional
        4 or 8 in two dimensions, 6, 18 or 26 in three; 2 per axis by default.
    reverse_weights : like `weights`, optional
        Costs of edges whose head is in S and whose tail is not; by default the same as `weights`.

    Arrays of float64 or float32 in C order are used in place, without a copy, 8 or 4 bytes an edge;
    of any other type or order, and where the two ways of an offset differ in type, they are
    converted to float64.  Every float32 is a float64, and all arithmetic is in float64.

    Raises
    ------
    ValueError
        If a shape is wrong, or a weight is negative, NaN or infinite.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> sm.GridCut((2, 2), 1.0).evaluate(np.array([True, False, False, False]))
    2.0
    """

    kind = "grid_cut"

    def __init__(
        self,
        shape: int | Sequence[int],
        weights: float | Sequence[npt.ArrayLike],
        connectivity: int | None = None,
        reverse_weights: float | Sequence[npt.ArrayLike] | None = None,
    ) -> None:
        self.shape: tuple[int, ...] = _checks.shape("shape", shape)
        ndim = len(self.shape)
        self.connectivity = 2 * ndim if connectivity is None else connectivity
        self.offsets = grid_offsets(ndim, self.connectivity)
        self.geometry = np.array(self.shape), np.array(self.offsets)
        self.overlaps = [
            tuple(max(0, a - abs(b)) for a, b in zip(self.shape, offset, strict=True))
            for offset in self.offsets
        ]
        forward = self._weights("weights", weights)
        backward = (
            forward
            if reverse_weights is None
            else self._weights("reverse_weights", reverse_weights)
        )
        self.segments = self._segments(forward, backward)
        self._check_overflow()
        self.size = self.segments[-1].slots.stop
        self.elements = prod(self.shape)
        self.depth = self.connectivity

    def _weights(self, name: str, weights: float | Sequence[npt.ArrayLike]) -> list[WeightArray]:
        """Check one cost for all edges, or one scalar or array per offset."""
        if not isinstance(weights, Sequence) and np.ndim(weights) == 0:
            return [edge_weights(name, _checks.float_array(name, weights))] * len(self.offsets)
        arrays = list(weights if isinstance(weights, Sequence) else np.asarray(weights))
        if len(arrays) != len(self.offsets):
            raise ValueError(
                f"{name} has {len(arrays)} entries, but connectivity {self.connectivity} has "
                f"{len(self.offsets)} offsets: {self.offsets}"
            )
        checked: list[WeightArray] = []
        for k, (array, overlap) in enumerate(zip(arrays, self.overlaps, strict=True)):
            if np.ndim(array) and np.shape(array) != overlap:
                raise ValueError(
                    f"{name}[{k}] has shape {np.shape(array)}, but offset {self.offsets[k]} needs "
                    f"{overlap}, or a scalar"
                )
            entry = f"{name}[{k}]"
            checked.append(edge_weights(entry, _checks.weight_array(entry, array)))
        return checked

    def _check_overflow(self) -> None:
        with np.errstate(over="ignore"):
            total = sum(
                float(np.sum(part)) * ((slots.stop - slots.start) / part.size)
                for slots, *pair in self.segments
                for part in pair
                if part.size == 1  # sums over arrays are bounded already
            )
        if not total < 1e150:
            raise ValueError(f"weights overflow: they sum to {total}; scale them down")

    def _segments(
        self, forward: list[WeightArray], backward: list[WeightArray]
    ) -> tuple[Segment, ...]:
        sizes = [prod(overlap) for overlap in self.overlaps]
        stops = accumulate(sizes)
        return tuple(
            Segment(slice(stop - size, stop), *of_one_type(a, b))
            for stop, size, a, b in zip(stops, sizes, forward, backward, strict=True)
        )

    def sizes(self) -> dict[str, object]:
        """Return the grid, and count its edges."""
        return {"shape": self.shape, "connectivity": self.connectivity, "edges": self.size}

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

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return a ``Cut`` of the free pixels, and a modular part, O(edges)."""
        return contracted(self, fixing)

    @property
    def decompositions(self) -> tuple[str, ...]:
        """Chains by direction (the default), matchings by parity, grid lines, or single edges."""
        return ("chains", "matchings", "lines", "functions")

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Split the edges of each offset.

        ``"chains"``: all rows, all columns, all diagonals, ...: 1 block per offset.
        ``"matchings"``: every second position along the offset's first axis, so 2 blocks per
        offset.  ``"lines"``: each position along that axis on its own, the edges between two
        neighbouring lines of the grid.  ``"functions"``: each edge.
        """
        from submin.terms import grid_blocks

        split = {
            "chains": grid_blocks.chains,
            "matchings": grid_blocks.matchings,
            "lines": grid_blocks.lines,
            "functions": grid_blocks.functions,
        }[check_decomposition(self, decomposition)]
        offsets = [k for k, overlap in enumerate(self.overlaps) if 0 not in overlap]
        return [block for k in offsets for block in split(self, k, threads)]

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return shape, connectivity, and the weights of each offset, one way if both are one."""
        arrays = {"shape": np.array(self.shape), "connectivity": np.array(self.connectivity)}
        for k, (_, forward, backward) in enumerate(self.segments):
            arrays[f"weights_{k}"] = saved_weights(forward, self.overlaps[k])
            if backward is not forward:
                arrays[f"reverse_weights_{k}"] = saved_weights(backward, self.overlaps[k])
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a grid cut."""
        shape, connectivity = tuple(arrays["shape"].tolist()), int(arrays["connectivity"])
        count = len(grid_offsets(len(shape), connectivity))
        weights = [arrays[f"weights_{k}"] for k in range(count)]
        reverse = [arrays.get(f"reverse_weights_{k}", weights[k]) for k in range(count)]
        same = all(np.array_equal(a, b) for a, b in zip(weights, reverse, strict=True))
        return cls(shape, weights, connectivity, None if same else reverse)
