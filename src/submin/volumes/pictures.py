"""A picture of an object in a volume: its three middle slices, with an outline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray
from submin.vision.colours import stretched
from submin.vision.contrast import checked_spacing
from submin.vision.pictures import Picture, overlay_picture

SIDE = 480
"""Pixels of the longest side of the volume."""
GAP = 12


def slices_picture(
    volume: npt.ArrayLike,
    mask: npt.ArrayLike,
    spacing: Sequence[float] | None = None,
    quarter_turns: int = 0,
) -> Picture:
    """Return slices along the three axes through the middle of the object, side by side.

    Parameters
    ----------
    volume : array_like, three axes
        Finite real numbers, shown from minimum to maximum.
    mask : array_like of bool, the same shape
        The object; without one, slices are those of the middle of the volume.
    spacing : sequence of float, optional
        Size of a voxel along each axis; 1 by default.
    quarter_turns : int, optional
        How often to turn each slice, counter-clockwise.

    Returns
    -------
    uint8 array, shape (H, W, 3)

    Raises
    ------
    ValueError
        If shapes do not fit.
    """
    voxels, inside = np.asarray(volume), np.asarray(mask, dtype=np.bool_)
    if voxels.ndim != 3 or inside.shape != voxels.shape:
        raise ValueError(f"volume has shape {voxels.shape} and mask {inside.shape}")
    shades = np.nan_to_num(voxels.astype(np.float64), posinf=0.0, neginf=0.0)
    shades = stretched(shades[..., None], np.ones(voxels.shape, dtype=np.bool_))[..., 0]
    sizes = checked_spacing(spacing, 3) * voxels.shape
    pixels = np.maximum(1, np.rint(SIDE * sizes / sizes.max())).astype(int)
    parts = [
        _slice(shades, inside, axis, place, np.delete(pixels, axis).tolist(), quarter_turns)
        for axis, place in enumerate(_middle(inside))
    ]
    return _beside(parts)


def _middle(inside: BoolArray) -> list[int]:
    """Return the slice along each axis that has most of the object."""
    counts = [
        inside.sum(axis=tuple(other for other in range(3) if other != axis)) for axis in range(3)
    ]
    return [int(own.argmax()) if own.any() else own.size // 2 for own in counts]


def _slice(
    shades: npt.NDArray[np.float64],
    inside: BoolArray,
    axis: int,
    place: int,
    pixels: list[int],
    quarter_turns: int,
) -> Picture:
    rows, columns = (
        np.arange(count) * length // count
        for count, length in zip(pixels, np.delete(inside.shape, axis).tolist(), strict=True)
    )
    cell = np.ix_(rows, columns)
    picture = overlay_picture(
        np.take(shades, place, axis)[cell], np.take(inside, place, axis)[cell]
    )
    return np.rot90(picture, quarter_turns)


def _beside(parts: list[Picture]) -> Picture:
    """Place pictures in a row, from the top, on white."""
    height = max(len(part) for part in parts)
    row: list[Picture] = []
    for part in parts:
        padded = np.full((height, part.shape[1], 3), 255, dtype=np.uint8)
        padded[: len(part)] = part
        row += [padded, np.full((height, GAP, 3), 255, dtype=np.uint8)]
    return np.concatenate(row[:-1], axis=1)
