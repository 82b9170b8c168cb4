"""What the reader of a format says of a file before any of its voxels are decoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Spacing = tuple[float, ...]


class Content(NamedTuple):
    """A volume in a file.

    ``load`` decodes the voxels, ``write`` writes others of that shape with the same metadata, to a
    file whose name has one of `endings`.
    ``quarter_turns`` makes a slice upright, counter-clockwise.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    spacing: Spacing | None
    quarter_turns: int
    endings: tuple[str, ...]
    load: Callable[[], Array]
    write: Callable[[BinaryIO, Array, str], None]


def known_spacing(sizes: list[float]) -> Spacing | None:
    """Return the sizes of a voxel, or None where the file has no sensible ones."""
    known = all(np.isfinite(size) and size > 0 for size in sizes)
    return tuple(float(size) for size in sizes) if known else None
