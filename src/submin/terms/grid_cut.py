"""Cut functions of n-dimensional grids, with implicit neighbours: no index arrays.

    F(S) = sum over offsets d, pixels p of  forward_d[p] [p in S, p + d not in S] + backward ...

The edges of one offset are held over the *overlap* of the grid with its shifted copy, so a matching
(one offset, every second position along the offset's first axis) is a strided view of the flows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.terms.edges import EdgeTerm, Segment
from submin.terms.term import Block, check_decomposition

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
    if dimensions < 1:
        raise ValueError(f"dimensions is {dimensions}: a grid needs 1 axis or more")
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


def _strides(shape: tuple[int, ...]) -> PointerArray:
    """Return the number of elements between neighbours along each axis, in C order."""
    return np.cumprod([1, *shape[:0:-1]], dtype=np.int64)[::-1]


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
        self.connectivity = 2 * ndim if connectivity is None else int(connectivity)
        self.offsets = grid_offsets(ndim, self.connectivity)
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
        self.size = self.segments[-1].slots.stop
        self.elements = int(np.prod(self.shape))
        self.depth = self.connectivity

    def _weights(self, name: str, weights: float | Sequence[npt.ArrayLike]) -> list[FloatArray]:
        """Check one cost for all edges, or one scalar or array per offset."""
        if isinstance(weights, int | float | np.number):
            return [_checks.weights(name, weights).ravel()] * len(self.offsets)
        arrays = list(weights)
        if len(arrays) != len(self.offsets):
            raise ValueError(
                f"{name} has {len(arrays)} entries, but connectivity {self.connectivity} has "
                f"{len(self.offsets)} offsets: {self.offsets}"
            )
        checked = []
        for k, (array, overlap) in enumerate(zip(arrays, self.overlaps, strict=True)):
            if np.ndim(array) and np.shape(array) != overlap:
                raise ValueError(
                    f"{name}[{k}] has shape {np.shape(array)}, but offset {self.offsets[k]} needs "
                    f"{overlap}, or a scalar"
                )
            checked.append(_checks.weights(f"{name}[{k}]", array).ravel())
        return checked

    def _segments(
        self, forward: list[FloatArray], backward: list[FloatArray]
    ) -> tuple[Segment, ...]:
        sizes = [int(np.prod(overlap, dtype=np.int64)) for overlap in self.overlaps]
        stops = np.cumsum(sizes).tolist()
        return tuple(
            Segment(slice(stop - size, stop), a, b)
            for stop, size, a, b in zip(stops, sizes, forward, backward, strict=True)
        )

    def ends(self, k: int) -> tuple[Slices, Slices]:
        """Return the slices of a grid-shaped array at the tails and heads of offset `k`."""
        pairs = list(zip(self.offsets[k], self.overlaps[k], strict=True))
        tails = tuple(slice(max(0, -d), max(0, -d) + length) for d, length in pairs)
        heads = tuple(slice(max(0, d), max(0, d) + length) for d, length in pairs)
        return tails, heads

    def crossing(self, members: BoolArray) -> list[FloatArray]:
        """Return the weights of the edges that S cuts, O(edges)."""
        inside = members.reshape(self.shape)
        weights = []
        for k, (_, forward, backward) in enumerate(self.segments):
            tails, heads = self.ends(k)
            tail, head = inside[tails].ravel(), inside[heads].ravel()
            weights.append(np.broadcast_to(forward, tail.shape)[tail & ~head])
            weights.append(np.broadcast_to(backward, tail.shape)[head & ~tail])
        return weights

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Return flow ``forward`` on an edge whose tail comes first, else ``-backward``."""
        position, dual = rank.reshape(self.shape), np.empty(self.size)
        for k, (slots, forward, backward) in enumerate(self.segments):
            tails, heads = self.ends(k)
            tail_first = (position[tails] < position[heads]).ravel()
            dual[slots] = np.where(tail_first, forward, -backward)
        return dual

    def accumulate(self, dual: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the flow out of each pixel, O(edges)."""
        total = s.reshape(self.shape)
        for k, (slots, _, _) in enumerate(self.segments):
            tails, heads = self.ends(k)
            flow = dual[slots].reshape(self.overlaps[k])
            if scale != 1.0:
                flow = scale * flow
            total[tails] += flow
            total[heads] -= flow

    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return minus the weights of arcs into each pixel, and those of arcs out, O(edges)."""
        low, high = np.zeros(n), np.zeros(n)
        for k, (_, forward, backward) in enumerate(self.segments):
            tails, heads = self.ends(k)
            overlap = self.overlaps[k]
            if 0 in overlap:
                continue
            out = np.broadcast_to(forward, int(np.prod(overlap))).reshape(overlap)
            back = np.broadcast_to(backward, int(np.prod(overlap))).reshape(overlap)
            high.reshape(self.shape)[tails] += out
            high.reshape(self.shape)[heads] += back
            low.reshape(self.shape)[tails] -= back
            low.reshape(self.shape)[heads] -= out
        return low, high

    @property
    def decompositions(self) -> tuple[str, ...]:
        """Matchings by direction and parity (the default), by grid line, or one block per edge."""
        return ("matchings", "lines", "functions")

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Split the edges of each offset along the offset's first axis.

        ``"matchings"``: every second position, so 2 blocks per offset.  ``"lines"``: each position
        on its own, the edges between two neighbouring lines of the grid.  ``"functions"``: each
        edge.
        """
        decomposition = check_decomposition(self, decomposition)
        blocks: list[Block] = []
        for k, overlap in enumerate(self.overlaps):
            if 0 in overlap:
                continue
            if decomposition == "functions":
                selections: list[Slices] = [
                    tuple(slice(i, i + 1) for i in index) for index in np.ndindex(overlap)
                ]
            else:
                axis = next(a for a, d in enumerate(self.offsets[k]) if d)
                length = overlap[axis]
                steps = 2 if decomposition == "matchings" else length
                selections = [
                    (slice(None),) * axis + (slice(start, length, steps),)
                    for start in range(min(steps, length))
                ]
            blocks.extend(GridMatching(self, k, selection, threads) for selection in selections)
        return blocks

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return shape, connectivity, and the weights of each offset."""
        arrays = {"shape": np.array(self.shape), "connectivity": np.array(self.connectivity)}
        for k, (_, forward, backward) in enumerate(self.segments):
            arrays[f"weights_{k}"] = self._shaped(k, forward)
            arrays[f"reverse_weights_{k}"] = self._shaped(k, backward)
        return arrays

    def _shaped(self, k: int, weights: FloatArray) -> FloatArray:
        whole = int(np.prod(self.overlaps[k]))
        if weights.size == 1 and whole != 1:
            return weights.reshape(())
        return weights.reshape(self.overlaps[k])

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a grid cut."""
        shape, connectivity = tuple(arrays["shape"].tolist()), int(arrays["connectivity"])
        count = len(grid_offsets(len(shape), connectivity))
        weights = [arrays[f"weights_{k}"] for k in range(count)]
        reverse = [arrays[f"reverse_weights_{k}"] for k in range(count)]
        same = all(np.array_equal(a, b) for a, b in zip(weights, reverse, strict=True))
        return cls(shape, weights, connectivity, None if same else reverse)


class GridMatching(Block):
    """Edges of one offset at a regular selection of positions, without common ends."""

    def __init__(self, grid: GridCut, offset: int, selection: Slices, threads: int) -> None:
        self.grid, self.offset, self.selection, self.threads = grid, offset, selection, threads
        self.segment = grid.segments[offset]
        whole = (slice(None),) * (len(grid.shape) - len(selection))
        self.positions = [
            range(*part.indices(length))
            for length, part in zip(grid.overlaps[offset], selection + whole, strict=True)
        ]
        self.extents = tuple(len(positions) for positions in self.positions)
        self.geometry = self._geometry()
        self.size = int(np.prod(self.extents))

    def _geometry(self) -> PointerArray:
        """Describe the selected edges as strided views, for the kernels (see ``grid_project``)."""
        overlap, offset = self.grid.overlaps[self.offset], np.array(self.grid.offsets[self.offset])
        starts = np.array([positions.start for positions in self.positions])
        steps = np.array([positions.step for positions in self.positions])
        extents = np.array([len(positions) for positions in self.positions])
        edge_strides, node_strides = _strides(overlap), _strides(self.grid.shape)
        tail = (starts + np.maximum(0, -offset)) @ node_strides
        head = (starts + np.maximum(0, offset)) @ node_strides
        # Axes of length 1 would make the kernel's innermost loop short.
        axes = np.flatnonzero(extents > 1) if extents.max() > 1 else np.zeros(1, dtype=np.int64)
        return np.concatenate(
            [
                [axes.size], extents[axes], (edge_strides * steps)[axes],
                (node_strides * steps)[axes], [starts @ edge_strides, tail, head],
            ]
        ).astype(np.int64)  # fmt: skip

    def _view(self, dual: FloatArray) -> FloatArray:
        flow = dual[self.segment.slots].reshape(self.grid.overlaps[self.offset])
        return flow[self.selection]

    def take(self, dual: FloatArray) -> FloatArray:
        """Copy the block's flows, in C order."""
        return self._view(dual).flatten()

    def put(self, dual: FloatArray, part: FloatArray) -> None:
        """Write the block's flows back."""
        self._view(dual)[...] = part.reshape(self.extents)

    def _ends(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = s.reshape(self.grid.shape)
        tails, heads = self.grid.ends(self.offset)
        return total[tails][self.selection], total[heads][self.selection]

    def support(self) -> IndexArray:
        """Return the pixels at both ends of the edges."""
        pixels = np.arange(self.grid.elements, dtype=np.float64)
        tails, heads = self._ends(pixels)
        return np.concatenate([tails.ravel(), heads.ravel()]).astype(np.int32)

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Clip every flow, O(edges)."""
        out = np.empty(self.size)
        slots, forward, backward = self.segment
        kernels.active.grid_project(
            self.geometry, backward, forward, dual[slots], s, c, out, self.threads
        )
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Clip every flow in place, O(edges)."""
        slots, forward, backward = self.segment
        kernels.active.grid_sweep(self.geometry, backward, forward, dual[slots], s, self.threads)

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the flows to their tails and take them from their heads, O(edges)."""
        flow = part.reshape(self.extents)
        if scale != 1.0:
            flow = scale * flow
        tails, heads = self._ends(s)
        tails += flow
        heads -= flow
