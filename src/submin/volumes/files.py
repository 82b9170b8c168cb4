"""Files of volumes to arrays and back: NIfTI by nibabel, TIFF stacks by tifffile."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from os import PathLike, fspath

import numpy as np
import numpy.typing as npt

from submin._files import whole_file
from submin.volumes import nifti, tiff
from submin.volumes.content import Array, Content, Spacing

MOST_VOXELS = 2**28
"""Larger volumes are refused before they are decoded; 512³ is half of it."""
LOGGERS = ("nibabel", "nibabel.global", "tifffile")

Path = str | PathLike[str]


@dataclass(frozen=True, eq=False, repr=False)
class Volume:
    """A volume of a file.

    Attributes
    ----------
    voxels : array, three axes
        Real numbers of the file's type, in native byte order; scaled as the header says.
    spacing : tuple of float, or None
        Size of a voxel along each axis, in the unit of the file; None where it says nothing.
    quarter_turns : int
        How often a slice, a matrix of the other two axes, is to be turned to stand upright.
    """

    voxels: Array
    spacing: Spacing | None
    quarter_turns: int
    _content: Content

    def __repr__(self) -> str:
        return f"<Volume of {self.voxels.shape} {self.voxels.dtype}, spacing {self.spacing}>"

    def save(self, path: Path, voxels: npt.ArrayLike) -> None:
        """Write other voxels, such as a mask or labels, with the metadata of this volume.

        Parameters
        ----------
        path : str or path
            It ends in ``.nii`` or ``.nii.gz`` where the volume was read from NIfTI, of which header
            and affine are kept, and in ``.tif`` or ``.tiff`` for a TIFF, whose spacing is.
        voxels : array_like of bool or int, the shape of the volume
            At least 0.

        Raises
        ------
        TypeError, ValueError
            If they do not fit.
        """
        array = np.asarray(voxels)
        if array.dtype.kind not in "biu":
            raise TypeError(f"voxels must be booleans or integers, but their type is {array.dtype}")
        if array.shape != self.voxels.shape:
            raise ValueError(
                f"voxels have shape {array.shape}, but the volume has {self.voxels.shape}"
            )
        if array.size and not 0 <= int(array.min()) <= int(array.max()) < 2**16:
            raise ValueError("voxels must be from 0 to 65535")
        name = fspath(path)
        if not name.lower().endswith(self._content.endings):
            endings = " or ".join(self._content.endings)
            raise ValueError(
                f"{name} must end in {endings}, as the volume was read from such a file"
            )
        narrow = np.uint8 if int(array.max(initial=0)) < 2**8 else np.uint16
        with whole_file(path) as file:
            self._content.write(file, array.astype(narrow), name)


def read_volume(path: Path, *, most_voxels: int = MOST_VOXELS) -> Volume:
    """Read a volume of one number a voxel: a NIfTI file (.nii, .nii.gz), or a TIFF stack.

    Parameters
    ----------
    path : str or path
    most_voxels : int, optional
        What is larger, by its header, is refused before it is decoded.

    Raises
    ------
    ImportError
        If nibabel or tifffile is missing: ``pip install "submin[volumes]"``.
    OSError
        If the file can not be opened.
    ValueError
        If it is damaged, no volume, too large, or holds several times, channels or colours.
    """
    name = fspath(path)
    with open(path, "rb") as file:
        start = file.read(4)
    with _decoding(name):
        content = _content(name, start)
        if prod(content.shape) > most_voxels:
            raise ValueError(f"its {prod(content.shape)} voxels are more than {most_voxels}")
        if content.dtype.kind not in "biuf":
            raise ValueError(f"its voxels are {content.dtype}, and not one real number each")
        voxels = content.load()
    own = np.ascontiguousarray(voxels, dtype=voxels.dtype.newbyteorder("="))
    return Volume(own, content.spacing, content.quarter_turns, content)


def holds_volume(path: Path) -> bool:
    """Say whether a file is to be read as a volume: NIfTI by its ending, a TIFF by its pages."""
    name = fspath(path)
    if name.lower().endswith(nifti.ENDINGS):
        return True
    with open(path, "rb") as file:
        return file.read(4) in tiff.STARTS and tiff.is_stack(name)


def _content(name: str, start: bytes) -> Content:
    if name.lower().endswith(nifti.ENDINGS):
        return nifti.content(name)
    if start in tiff.STARTS:
        return tiff.content(name)
    raise ValueError("it is no TIFF, and its name does not end in .nii or .nii.gz")


@contextmanager
def _decoding(name: str) -> Iterator[None]:
    """Turn whatever a decoder raises into one sentence: damaged bytes take it anywhere."""
    loggers = [logging.getLogger(own) for own in LOGGERS]
    before = [logger.disabled for logger in loggers]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what is not read
            for logger in loggers:
                logger.disabled = True
            yield
    except ImportError:
        raise
    except MemoryError:
        raise ValueError(f"{name} does not fit into memory") from None
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"{name} can not be read as a volume: {reason}") from error
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
