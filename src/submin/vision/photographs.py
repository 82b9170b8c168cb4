"""Photographs: image files of any kind, and the samples that come inside scikit-image."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray
from submin.vision.optional import require

Image = npt.NDArray[Any]
Box = tuple[int, int, int, int]

LARGEST_UINT16 = 65535
GREY_MODES = ("1", "L", "F")


@dataclass(frozen=True)
class Sample:
    """A photograph that scikit-image brings along.

    Attributes
    ----------
    file : str
        Name of the file in ``skimage/data``.
    box : (x1, y1, x2, y2)
        A loose box around the object.
    object : str
        What the box holds.
    """

    file: str
    box: Box
    object: str

    def image(self) -> Image:
        """Read the photograph; nothing is ever downloaded.

        Raises
        ------
        FileNotFoundError
            If this version of scikit-image comes without it.
        """
        path = Path(fspath(require("skimage.data").__path__[0])) / self.file
        if not path.is_file():
            raise FileNotFoundError(
                f"this version of scikit-image comes without {self.file}; pass a photograph instead"
            )
        return read_photograph(path)


SAMPLES: dict[str, Sample] = {
    "astronaut": Sample("astronaut.png", (10, 5, 372, 512), "the astronaut"),
    "cat": Sample("chelsea.png", (15, 0, 404, 300), "the cat"),
    "coffee": Sample("coffee.png", (70, 8, 490, 390), "cup and saucer"),
    "rocket": Sample("rocket.jpg", (292, 105, 352, 410), "the rocket"),
}
"""Photographs by name, each free of copyright restrictions (public domain or CC0)."""


def sample(name: str) -> Sample:
    """Return a sample by its name.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> sample("coffee").object
    'cup and saucer'
    """
    if name not in SAMPLES:
        raise ValueError(f"no sample is named {name!r}: there are {', '.join(sorted(SAMPLES))}")
    return SAMPLES[name]


def read_photograph(path: str | PathLike[str]) -> Image:
    """Read an image file, upright: a photograph, or scribbles (a picture, or grey labels).

    Parameters
    ----------
    path : str or path
        Any format that Pillow reads; of several frames, the first.

    Returns
    -------
    array, shape (H, W), (H, W, 3) or (H, W, 4)
        Grey, RGB or RGBA; ``bool``, ``uint8``, ``uint16``, or ``float32`` for float images.

    Raises
    ------
    OSError
        If the file can not be opened (``FileNotFoundError`` if it does not exist).
    ValueError
        If it is not an image.
    """
    return _array(_open(path))


def read_mask(path: str | PathLike[str]) -> BoolArray:
    """Read a mask: ``True`` where the image is brighter than half of its brightest pixel.

    Raises
    ------
    OSError, ValueError
        As ``read_photograph``.
    """
    array = _array(_open(path))
    values = array.astype(np.float64)
    if values.ndim == 3:
        values = values[:, :, :3].mean(axis=2)
    mask: BoolArray = values > values.max() / 2.0
    return mask


def refuse_path(name: str, value: object, reader: str) -> None:
    """Refuse the path of a picture in place of its pixels, and name the function that reads it."""
    if isinstance(value, str | PathLike):
        path = fspath(value)
        raise TypeError(
            f"{name} must be an array of pixels, and not the path {path!r}: pass "
            f"submin.vision.{reader}({path!r})"
        )


def _open(path: str | PathLike[str]) -> Any:
    pillow = require("PIL.Image")
    try:
        with pillow.open(path) as picture:
            picture.load()
            return require("PIL.ImageOps").exif_transpose(picture)
    except (pillow.UnidentifiedImageError, SyntaxError):
        raise ValueError(f"{fspath(path)} is not an image that Pillow can read") from None


def _array(picture: Any) -> Image:
    """Return the pixels of any Pillow mode as grey, RGB or RGBA."""
    if picture.mode in GREY_MODES:
        return np.array(picture)
    if picture.mode.startswith("I"):
        return _integers(np.array(picture))
    transparent = "transparency" in picture.info or picture.mode in ("RGBA", "LA", "PA")
    return np.array(picture.convert("RGBA" if transparent else "RGB"))


def _integers(values: Image) -> Image:
    """Return 16-bit values as such: older versions of Pillow read them as 32-bit integers."""
    fits = values.min() >= 0 and values.max() <= LARGEST_UINT16
    return values.astype(np.uint16) if fits else values
