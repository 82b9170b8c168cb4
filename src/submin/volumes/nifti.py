"""NIfTI-1 and NIfTI-2 files, by nibabel: header and affine are kept for what is written."""

from __future__ import annotations

import gzip
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from submin.vision.optional import require
from submin.volumes.content import Array, Content, known_spacing

ENDINGS = (".nii", ".nii.gz")
AXES = 3


def content(path: str) -> Content:
    """Read the header of a file; ``ValueError`` says what is no volume of numbers."""
    nibabel = require("nibabel")
    image = nibabel.load(path, mmap=False)
    if not isinstance(image, nibabel.Nifti1Image):
        raise ValueError(f"it is a {type(image).__name__}, and no NIfTI volume")
    shape = tuple(int(length) for length in image.shape)
    if len(shape) < AXES or any(length != 1 for length in shape[AXES:]):
        raise ValueError(
            f"its shape is {shape}: a volume has three axes; save one time or channel of it alone"
        )
    spacing = known_spacing([float(size) for size in image.header.get_zooms()[:AXES]])
    return Content(
        shape[:AXES], image.get_data_dtype(), spacing, 1, ENDINGS,
        lambda: np.asarray(image.dataobj).reshape(shape[:AXES]),
        partial(_write, image),
    )  # fmt: skip


def _write(image: Any, file: BinaryIO, voxels: Array, name: str) -> None:
    """Write voxels of another type with the header of an image, compressed as the name says."""
    header = image.header.copy()
    header.set_data_dtype(voxels.dtype)
    header.set_slope_inter(1, 0)
    header["cal_min"] = header["cal_max"] = 0  # the range of brightness that viewers show
    written = type(image)(voxels.reshape(image.shape), image.affine, header)
    data = written.to_bytes()
    file.write(gzip.compress(data, mtime=0) if name.lower().endswith(".gz") else data)
