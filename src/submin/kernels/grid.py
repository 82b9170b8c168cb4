"""Matchings of grid edges: the arithmetic of ``edges``, on strided views."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from submin._typing import FloatArray, PointerArray, WeightArray
from submin.kernels.edges import clipped_step

__all__ = ["grid_project", "grid_sweep"]


def _view(
    array: npt.NDArray[Any], extents: PointerArray, strides: PointerArray, start: int
) -> npt.NDArray[Any]:
    """Return the view ``array[start + k . strides]`` for the multi-indices ``0 <= k < extents``."""
    reach = (extents - 1) * strides
    low, high = start + reach[reach < 0].sum(), start + reach[reach > 0].sum()
    if not 0 <= low <= high < array.size:
        raise ValueError(f"geometry reaches from {low} to {high}, outside of size {array.size}")
    return as_strided(array[start:], tuple(extents), tuple(strides * array.itemsize))


def _grid_views(
    geometry: PointerArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
) -> tuple[npt.NDArray[Any], ...]:
    """Return views of the block's backward and forward weights, flows, tails' and heads' sums."""
    extents, edge_strides, node_strides = geometry[1:-3].reshape(3, -1)
    edge_start, tail_start, head_start = (int(start) for start in geometry[-3:])

    def weights(array: WeightArray) -> WeightArray:
        return array if array.size == 1 else _view(array, extents, edge_strides, edge_start)

    return (
        weights(backward),
        weights(forward),
        _view(flow, extents, edge_strides, edge_start),
        _view(s, extents, node_strides, tail_start),
        _view(s, extents, node_strides, head_start),
    )


def grid_project(
    geometry: PointerArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Project a matching of grid edges given as strided views; ``out`` is in C order.

    ``geometry`` is ``[ndim, *extents, *edge_strides, *node_strides, edge_start, tail_start,
    head_start]`` (strides in elements, ndim from 1 to 8): the edge with multi-index k is number
    ``edge_start + k . edge_strides``, from node ``tail_start + k . node_strides`` to node
    ``head_start + k . node_strides``. O(number of edges). Refused out of range: geometry.
    """
    if out.size > 0:
        lower, upper, old, tail, head = _grid_views(geometry, backward, forward, flow, s)
        out[:] = clipped_step(old, tail - head, c, lower, upper).ravel()


def grid_sweep(
    geometry: PointerArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project a matching of grid edges with c = 1 in place and update ``s``. O(edges).

    Refused out of range: geometry.
    """
    if np.any(geometry[1 : geometry[0] + 1] == 0):
        return
    lower, upper, old, tail, head = _grid_views(geometry, backward, forward, flow, s)
    updated = clipped_step(old, tail - head, 1.0, lower, upper)
    change = updated - old
    old[...] = updated
    tail += change
    head -= change
