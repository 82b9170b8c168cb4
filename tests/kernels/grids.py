"""Matchings of grid edges, as the geometry of the grid kernels and as lists of edges."""

import numpy as np


def _corner(shape, offset, shifted):
    """Slices of the tails, or of the heads (shifted by the offset), of the edges of an offset."""
    return tuple(
        slice(
            max(0, -step) + (step if shifted else 0),
            extent - max(0, step) + (step if shifted else 0),
        )
        for extent, step in zip(shape, offset, strict=True)
    )


def grid_matching(shape, offset, axis, parity):
    """Return (geometry, edges, tails, heads, edge count) of every other edge along ``axis``.

    The edges of an offset are numbered in C order of the overlap of the grid with its shift.
    """
    nodes = np.arange(np.prod(shape)).reshape(shape)
    tails, heads = nodes[_corner(shape, offset, False)], nodes[_corner(shape, offset, True)]
    edges = np.arange(tails.size).reshape(tails.shape)
    alternate = (slice(None),) * axis + (slice(parity, None, 2),)
    views = [edges[alternate], tails[alternate], heads[alternate]]
    starts = [int(view.flat[0]) if view.size else 0 for view in views]
    strides = [[stride // 8 for stride in view.strides] for view in views[:2]]
    geometry = [len(shape), *views[0].shape, *strides[0], *strides[1], *starts]
    lists = [view.ravel().astype(np.int32) for view in views]
    return np.array(geometry, dtype=np.int64), *lists, edges.size
