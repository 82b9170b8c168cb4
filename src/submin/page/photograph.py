"""One photograph that is open: checked before it is decoded, and scaled to be worked on."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from submin._lazy import lazy
from submin._typing import FloatArray
from submin.vision.colour_models import ColourFitter
from submin.vision.colours import Colours
from submin.vision.image_files import TIFF_STARTS, Upload, read_image
from submin.vision.optional import require

Pixels = npt.NDArray[Any]

MOST_BYTES = 64 << 20
"""Of a file."""
MOST_PIXELS = 120_000_000
"""Of a file, by its header."""
WORK_PIXELS = 2_000_000
"""Beyond these a photograph is scaled down before work begins."""
LONGEST_NAME = 80


@dataclass(frozen=True, eq=False)
class Photograph:
    """Pixels with their features.

    Attributes
    ----------
    name : str
        To be shown; it is no path.
    pixels : array, shape (H, W) or (H, W, 2 to 4)
        What is worked on.
    factor : int
        By how much each side was divided.
    """

    name: str
    pixels: Pixels
    factor: int = 1

    @classmethod
    def of(cls, name: str, pixels: Pixels, most: int = WORK_PIXELS) -> Photograph:
        """Scale pixels down by a whole factor, so that there are at most `most`."""
        count = pixels.shape[0] * pixels.shape[1]
        factor = int(np.ceil(np.sqrt(max(1.0, count / most))))
        return cls(shown_name(name), reduced(pixels, factor), factor)

    @classmethod
    def decoded(cls, name: str, data: bytes, most: int = WORK_PIXELS) -> Photograph:
        """Read the bytes of an image file that anyone may have sent.

        Raises
        ------
        ValueError
            If it is too large, in bytes or by the size in its header, or can not be read.
        """
        name = shown_name(name)
        if len(data) > MOST_BYTES:
            raise ValueError(
                f"{name} has {len(data) >> 20} MB, and {MOST_BYTES >> 20} are the most"
            )
        refuse_many_pixels(name, data)
        return cls.of(name, read_image(Upload(name, data)), most)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return self.colours.shape

    @lazy
    def colours(self) -> Colours:
        """The pixels as numbers."""
        return Colours.of(self.pixels)

    @lazy
    def features(self) -> FloatArray:
        """Lab coordinates, shape (H, W, channels)."""
        return self.colours.palette.pixels

    def fitter(self, components: int) -> ColourFitter:
        """Return what fits colour models of the photograph."""
        return ColourFitter(self.colours.palette, self.colours.volume, components, seed=0)

    def rgba(self) -> bytes:
        """Return what a canvas shows: four bytes a pixel."""
        colours = self.colours
        picture = np.dstack([colours.rgb, colours.alpha])
        return np.rint(255.0 * picture).astype(np.uint8).tobytes()


def shown_name(name: str) -> str:
    """Return the last part of a name, printable and short."""
    last = name.replace("\\", "/").rpartition("/")[2]
    clean = "".join(c if c.isprintable() else " " for c in last).strip()
    return clean[:LONGEST_NAME] or "photograph"


def refuse_many_pixels(name: str, data: bytes) -> None:
    """Look at the size in the header, which costs nothing, before anything is decoded."""
    width, height = header_size(data)
    if width * height > MOST_PIXELS:
        raise ValueError(
            f"{name} has {width} x {height} pixels, and {MOST_PIXELS // 10**6} million are the most"
        )


def header_size(data: bytes) -> tuple[int, int]:
    """Return width and height as the header says; (0, 0) if it says nothing.

    Raises
    ------
    ValueError
        If Pillow takes the file for a decompression bomb.
    """
    if data[:4] in TIFF_STARTS:
        try:
            with require("tifffile").TiffFile(io.BytesIO(data)) as file:
                page = file.pages.first
                return int(page.imagewidth), int(page.imagelength)
        except Exception:  # damaged bytes may raise anything; the reader says what is wrong
            return 0, 0
    pillow = require("PIL.Image")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pillow.open(io.BytesIO(data)) as picture:
                width, height = picture.size
                return int(width), int(height)
    except pillow.DecompressionBombError as error:
        raise ValueError(f"the picture is too large ({error})") from None
    except Exception:
        return 0, 0


def reduced(pixels: Pixels, factor: int) -> Pixels:
    """Return the means of squares of `factor` pixels, in the type of the pixels."""
    if factor == 1:
        return pixels
    height, width = (side // factor for side in pixels.shape[:2])
    whole = pixels[: height * factor, : width * factor]
    parts = whole.reshape(height, factor, width, factor, *pixels.shape[2:])
    means: Pixels = parts.mean(axis=(1, 3))
    if pixels.dtype.kind == "b":
        light: Pixels = means >= 0.5
        return light
    rounded: Pixels = np.rint(means) if pixels.dtype.kind in "iu" else means
    return rounded.astype(pixels.dtype)
