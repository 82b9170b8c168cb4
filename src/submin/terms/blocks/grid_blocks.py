"""Blocks of a grid cut: the edges of one offset as chains, matchings, lines or single edges.

A chain is a maximal sequence p, p + d, p + 2d, ...; all chains of an offset have disjoint supports
and are projected together, exactly, by the taut string (``kernels.chains``).  A matching
takes every second position along the offset's first axis, and is a strided view of the dual.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from submin import kernels
from submin._lazy import lazy
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.terms.base.edges import clip_flow
from submin.terms.base.grid import GridTerm, Slices
from submin.terms.base.groups import ranges
from submin.terms.base.term import Block

MOST_EDGES = 2**31
"""More than a chain has."""


def _strides(shape: tuple[int, ...]) -> PointerArray:
    """Return the number of elements between neighbours along each axis, in C order."""
    return np.array([*accumulate(shape[:0:-1], mul, initial=1)][::-1])


def chains(grid: GridTerm, offset: int, threads: int) -> Sequence[Block]:
    """Return all chains of an offset as one block."""
    return [GridChains(grid, offset, threads)]


def matchings(grid: GridTerm, offset: int, threads: int) -> Sequence[Block]:
    """Return the edges at even and at odd positions along the axis of the offset's least step.

    A step of k leaves 2 k classes of positions, equal modulo 2 k.
    """
    return _along_an_axis(grid, offset, 2, threads)


def lines(grid: GridTerm, offset: int, threads: int) -> Sequence[Block]:
    """Return the edges of each position along the axis of the offset's least step."""
    return _along_an_axis(grid, offset, grid.elements, threads)


def functions(grid: GridTerm, offset: int, threads: int) -> Sequence[Block]:
    """Return each edge as a block."""
    return [
        GridMatching(grid, offset, tuple(slice(i, i + 1) for i in index), threads)
        for index in np.ndindex(grid.overlaps[offset])
    ]


def _along_an_axis(grid: GridTerm, offset: int, steps: int, threads: int) -> Sequence[Block]:
    reach, axis = min((abs(d), a) for a, d in enumerate(grid.offsets[offset]) if d)
    length, steps = grid.overlaps[offset][axis], reach * steps
    before = (slice(None),) * axis
    return [
        GridMatching(grid, offset, (*before, slice(start, length, steps)), threads)
        for start in range(min(steps, length))
    ]


class GridChains(Block):
    """All chains of one offset."""

    def __init__(self, grid: GridTerm, offset: int, threads: int) -> None:
        self.grid, self.offset, self.threads = grid, offset, threads
        self.segment = grid.segments[offset]
        self.slots = self.segment.slots
        self.size = self.slots.stop - self.slots.start
        step, overlap = grid.offsets[offset], grid.overlaps[offset]
        node_strides, edge_strides = _strides(grid.shape), _strides(overlap)
        self.node_stride = int(step @ node_strides)
        self.edge_stride = int(step @ edge_strides)
        starts = [self._start(face, node_strides, edge_strides) for face in self._faces()]
        self.node_start, self.edge_start, self.length = (
            np.concatenate(parts) for parts in zip(*starts, strict=True)
        )

    def _start(
        self, face: Sequence[PointerArray], node_strides: PointerArray, edge_strides: PointerArray
    ) -> tuple[PointerArray, PointerArray, PointerArray]:
        """Return the first nodes and edges of the chains of a face, and their numbers of nodes."""
        step, overlap = self.grid.offsets[self.offset], self.grid.overlaps[self.offset]
        along = [
            ((length - 1 - first if d > 0 else first) // abs(d) + 1)
            if d
            else np.full(first.size, MOST_EDGES)
            for d, length, first in zip(step, overlap, face, strict=True)
        ]
        edges = [first * stride for first, stride in zip(face, edge_strides, strict=True)]
        nodes = [
            (first + max(0, -d)) * stride
            for d, first, stride in zip(step, face, node_strides, strict=True)
        ]
        return (
            reduce(np.add.outer, nodes).ravel(),
            reduce(np.add.outer, edges).ravel(),
            1 + reduce(np.minimum.outer, along).ravel(),
        )

    def _faces(self) -> Iterator[Sequence[PointerArray]]:
        """Yield the positions of the chains' first edges in the overlap, axis by axis of each face.

        A chain starts where one step back leaves the overlap along some axis; a corner that belongs
        to two faces is left to the first.
        """
        overlap, step = self.grid.overlaps[self.offset], self.grid.offsets[self.offset]
        ranges = [np.arange(length) for length in overlap]
        for axis, direction in enumerate(step):
            if direction == 0:
                continue
            near = (
                ranges[axis] < direction
                if direction > 0
                else (ranges[axis] >= overlap[axis] + direction)
            )
            yield [*ranges[:axis], ranges[axis][near], *ranges[axis + 1 :]]
            ranges[axis] = ranges[axis][~near]

    def support(self) -> IndexArray:
        """Return the pixels of all chains."""
        touched = np.zeros(self.grid.shape, dtype=np.bool_)
        for ends in self.grid.ends(self.offset):
            touched[ends] = True
        return np.flatnonzero(touched).astype(np.int32)

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Solve every chain, O(edges)."""
        slots, forward, backward = self.segment
        out = np.empty(slots.stop - slots.start)
        kernels.active.grid_chains_project(
            self.node_start, self.edge_start, self.length, self.node_stride, self.edge_stride,
            backward, forward, dual[slots], s, c, out, self.threads,
        )  # fmt: skip
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Solve every chain in place, O(edges)."""
        slots, forward, backward = self.segment
        kernels.active.grid_chains_sweep(
            self.node_start, self.edge_start, self.length, self.node_stride, self.edge_stride,
            backward, forward, dual[slots], s, self.threads,
        )  # fmt: skip

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Solve every chain, O(edges)."""
        nodes, edges, pointers = self._ends_to_end
        _, forward, backward = self.segment
        flow, out = dual[self.segment.slots], np.empty(edges.size)
        forward, backward = (
            np.broadcast_to(w, flow.shape)[edges].astype(np.float64, copy=False)
            for w in (forward, backward)
        )
        kernels.active.weighted_chains(
            pointers, step[nodes], 1.0 / weights[nodes], backward, forward, flow[edges], out,
            self.threads,
        )  # fmt: skip
        part = np.empty(flow.size)
        part[edges] = out
        return part

    @lazy
    def _ends_to_end(self) -> tuple[PointerArray, PointerArray, PointerArray]:
        """The nodes and edges of one chain after the other, and where the nodes of each begin."""
        pointers = np.concatenate([[0], np.cumsum(self.length)])
        along = np.arange(pointers[-1]) - np.repeat(pointers[:-1], self.length)
        nodes = np.repeat(self.node_start, self.length) + self.node_stride * along
        edges = np.repeat(self.edge_start, self.length) + self.edge_stride * along
        inner = along < np.repeat(self.length - 1, self.length)
        return nodes, edges[inner], pointers

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the values to their tails and take them from their heads, O(edges)."""
        flow = part.reshape(self.grid.overlaps[self.offset])
        if scale != 1.0:
            flow = scale * flow
        tails, heads = self.grid.ends(self.offset)
        total = s.reshape(self.grid.shape)
        total[tails] += flow
        total[heads] -= flow


class ChainRuns(GridChains):
    """Some edges of the chains of one offset, given as a mask of its flows: runs are chains too."""

    def __init__(self, chains: GridChains, chosen: BoolArray) -> None:
        vars(self).update(vars(chains))
        vars(self).pop("_ends_to_end", None)
        steps = chains.length - 1
        chain, place = np.repeat(np.arange(steps.size), steps), ranges(0 * steps, steps)
        edges = chains.edge_start[chain] + chains.edge_stride * place
        tails = chains.node_start[chain] + chains.node_stride * place
        inside = chosen[edges]
        follows = np.append(False, inside[:-1]) & (place > 0)
        first, count = np.flatnonzero(inside & ~follows), np.cumsum(inside)
        self.node_start, self.edge_start = tails[first], edges[first]
        self.length = 1 + np.diff(np.append(count[first] - 1, count[-1:]))
        self.tails, self.edges = tails[inside], edges[inside]
        self.slots, self.size = chains.segment.slots.start + self.edges, self.edges.size

    def support(self) -> IndexArray:
        """Return the pixels of all runs."""
        return np.union1d(self.tails, self.tails + self.node_stride).astype(np.int32)

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Solve every run, O(edges of the runs), into an array for all edges of the offset."""
        flows: FloatArray = super().project(dual, s, c)[self.edges]
        return flows

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Solve every run, O(edges of the runs), into an array for all edges of the offset."""
        flows: FloatArray = super().project_weighted(dual, step, weights)[self.edges]
        return flows

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the values to their tails and take them from their heads, O(edges of the runs)."""
        s[self.tails] += scale * part
        s[self.tails + self.node_stride] -= scale * part


class GridMatching(Block):
    """Edges of one offset at a regular selection of positions, without common ends."""

    def __init__(self, grid: GridTerm, offset: int, selection: Slices, threads: int) -> None:
        self.grid, self.offset, self.selection, self.threads = grid, offset, selection, threads
        self.segment = grid.segments[offset]
        whole = (slice(None),) * (len(grid.shape) - len(selection))
        self.positions = [
            range(*part.indices(length))
            for length, part in zip(grid.overlaps[offset], selection + whole, strict=True)
        ]
        self.extents = tuple(len(positions) for positions in self.positions)
        self.geometry = self._geometry()
        self.size = prod(self.extents)

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
        """Clip the value of every edge, O(edges)."""
        out = np.empty(self.size)
        slots, forward, backward = self.segment
        kernels.active.grid_project(
            self.geometry, backward, forward, dual[slots], s, c, out, self.threads
        )
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Clip the value of every edge in place, O(edges)."""
        slots, forward, backward = self.segment
        kernels.active.grid_sweep(self.geometry, backward, forward, dual[slots], s, self.threads)

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Clip the value of every edge, O(edges)."""
        overlap = self.grid.overlaps[self.offset]
        _, forward, backward = self.segment
        backward, forward = (
            np.broadcast_to(limit, prod(overlap)).reshape(overlap)[self.selection]
            for limit in (backward, forward)
        )
        flow = clip_flow(
            self._view(dual), (backward, forward), self._ends(step), self._ends(weights)
        )
        return flow.ravel()

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the values to their tails and take them from their heads, O(edges)."""
        flow = part.reshape(self.extents)
        if scale != 1.0:
            flow = scale * flow
        tails, heads = self._ends(s)
        tails += flow
        heads -= flow
