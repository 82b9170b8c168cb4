"""Photographs: image files of any kind, and the samples that come inside scikit-image."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from submin._typing import BoolArray
from submin.vision.image_files import Image, read_image
from submin.vision.masks import object_mask
from submin.vision.optional import require

Box = tuple[int, int, int, int]


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
    """Read an image file, upright: a photograph, a mask, or scribbles (a picture, or grey labels).

    Parameters
    ----------
    path : str or path
        Any format that Pillow reads, and TIFF of any depth.

    Returns
    -------
    array, shape (H, W) or (H, W, 2 to 4)
        Grey, grey with alpha, RGB or RGBA: ``bool``, ``uint8``, or the type of the file where it
        is deeper, such as ``uint16``, ``int32`` and ``float32``.

    Raises
    ------
    OSError
        If the file can not be opened (``FileNotFoundError`` if it does not exist).
    ValueError
        If it is damaged or not an image, has more pixels than Pillow allows
        (``PIL.Image.MAX_IMAGE_PIXELS``, doubled), holds several pictures (pages of a TIFF, frames
        of a GIF), or is one of 16 bits a channel in colour that Pillow would read as 8 (PNG, PPM).
    """
    return read_image(path)


def read_mask(path: str | PathLike[str]) -> BoolArray:
    """Read a mask: a picture in black and white, ``True`` where it is white.

    Raises
    ------
    OSError, ValueError
        As ``read_photograph``; and ``ValueError`` for what is no mask: see ``object_mask``, which
        decides.
    """
    return object_mask(read_photograph(path))
