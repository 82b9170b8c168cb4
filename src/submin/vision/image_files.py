"""Image files of any kind to arrays, without loss; what would be lost or left out is refused.

Pillow reads all formats but those TIFFs that it would reduce to 8 bits, reinterpret or not read at
all; tifffile, which comes with scikit-image, reads these.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from submin.vision.optional import require

Image = npt.NDArray[Any]


class Upload(io.BytesIO):
    """The bytes of an image file that is not on the disk, with the name that messages call it."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        self.name = name


Path = str | PathLike[str]
Source = Path | Upload

GREY_MODES = ("1", "L", "F")
TRANSPARENT_MODES = ("RGBA", "RGBa", "LA", "La", "PA")
ONE_PHOTOGRAPH = ("MPO", "PSD")
"""Formats whose first picture is the photograph, and the others previews, depths or layers."""
DEEP = re.compile(r";16[BLN]$")
"""Ends Pillow's names of layouts with 16 bits in a channel."""
TIFF_STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
TIFF_ORIENTATION = 274
FLAT = 4
"""Pictures of higher orientations lie on their side."""
PLAIN_COLOURS = ("RGB", "MINISBLACK")
OPACITY = (1, 2)
"""Kinds of extra samples of a TIFF that are an opacity."""
TURNS: dict[int, Callable[[Image], Image]] = {
    2: np.fliplr,
    3: lambda array: np.rot90(array, 2),
    4: np.flipud,
    5: lambda array: array.swapaxes(0, 1),
    6: lambda array: np.rot90(array, -1),
    7: lambda array: np.rot90(array, 2).swapaxes(0, 1),
    8: np.rot90,
}
"""What turns a picture upright, by the orientation that its file names."""


class Decoded(NamedTuple):
    """A picture as Pillow has it, and what is known of its file."""

    picture: Any
    format: str
    pictures: int
    cut_short: bool


def read_image(path: Source) -> Image:
    """Read an image file, upright, as grey, RGB or RGBA (of a deep TIFF also grey with alpha).

    Parameters
    ----------
    path : str or path, or Upload

    Returns
    -------
    array, shape (H, W) or (H, W, 2 to 4)
        ``bool``, ``uint8``, or the type of the file where it is deeper; in native byte order.

    Raises
    ------
    OSError
        If the file can not be opened.
    ValueError
        If it is damaged, not an image, too large, holds several pictures, or holds more than
        Pillow would keep.
    """
    start = _start(path)
    array = _tiff(path) if start in TIFF_STARTS else None
    if array is None:
        array = _by_pillow(path, counted=start in TIFF_STARTS)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def _start(path: Source) -> bytes:
    """Return the first bytes of a file."""
    if isinstance(path, Upload):
        return path.getvalue()[:4]
    with open(path, "rb") as file:
        return file.read(4)


def _named(path: Source) -> str:
    return path.name if isinstance(path, Upload) else fspath(path)


def _opened(path: Source) -> Path | io.BytesIO:
    """Return what a decoder may open and close."""
    return io.BytesIO(path.getvalue()) if isinstance(path, Upload) else path


@contextmanager
def _decoding(path: Source) -> Iterator[None]:
    """Turn whatever a decoder raises into one sentence: damaged bytes take it anywhere."""
    pillow = require("PIL.Image")
    name = _named(path)
    try:
        with warnings.catch_warnings(), _no_log("tifffile"):
            # They are about what is not read, or about half of a size that is refused.
            warnings.simplefilter("ignore")
            yield
    except pillow.UnidentifiedImageError:
        raise ValueError(f"{name} is not an image that Pillow can read") from None
    except pillow.DecompressionBombError as error:
        raise ValueError(f"{name} is too large; scale it down ({error})") from None
    except MemoryError:
        raise ValueError(f"{name} does not fit into memory; scale it down") from None
    except Exception as error:
        raise ValueError(f"{name} can not be read as an image: {error}") from error


@contextmanager
def _no_log(name: str) -> Iterator[None]:
    """Keep a logger from writing beside the one sentence."""
    logger = logging.getLogger(name)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _by_pillow(path: Source, counted: bool) -> Image:
    """Read a file whose pictures were counted, or are to be."""
    with _decoding(path):
        decoded = _decoded(path)
        array = _array(decoded.picture, decoded.format)
    if decoded.pictures > 1 and not counted:
        raise ValueError(f"{_named(path)} {_several(decoded.pictures)}")
    if decoded.cut_short:
        raise ValueError(
            f"{_named(path)} has more than 8 bits a channel in colour, of which Pillow keeps 8: "
            "save it as TIFF, or with 8 bits"
        )
    return array


def _decoded(path: Source) -> Decoded:
    with require("PIL.Image").open(_opened(path)) as picture:
        kind = str(picture.format)
        count = 1 if kind in ONE_PHOTOGRAPH else getattr(picture, "n_frames", 1)
        cut_short = _is_cut_short(picture)
        picture.load()
        return Decoded(require("PIL.ImageOps").exif_transpose(picture), kind, count, cut_short)


def _is_cut_short(picture: Any) -> bool:
    """Say whether Pillow keeps the upper 8 bits of deeper channels."""
    if picture.mode.startswith(("I", "F")):
        return False
    for tile in picture.tile:
        details = tile[3] if isinstance(tile[3], tuple) else (tile[3],)
        if any(isinstance(layout, str) and DEEP.search(layout) for layout in details):
            return True
        if picture.format == "PPM" and isinstance(details[-1], int) and details[-1] > 255:
            return True
    return False


def _array(picture: Any, kind: str) -> Image:
    """Return the pixels of any Pillow mode as grey, RGB or RGBA."""
    if picture.mode in GREY_MODES or picture.mode.startswith("I;"):
        return np.array(picture)
    if picture.mode == "I":
        # Pillow 10 has the 16 bits of a PNG in 32.
        return np.array(picture).astype(np.uint16 if kind == "PNG" else np.int32)
    transparent = "transparency" in picture.info or picture.mode in TRANSPARENT_MODES
    return np.array(picture.convert("RGBA" if transparent else "RGB"))


def _tiff(path: Source) -> Image | None:
    """Read a TIFF, or return ``None`` where Pillow reads all of it."""
    with _decoding(path), require("tifffile").TiffFile(_opened(path)) as file:
        page = file.pages.first
        fault = _fault(page, _pictures(file))
        array = None if fault or _pillow_is_exact(page) else _page(page)
    if fault:
        raise ValueError(f"{_named(path)} {fault}")
    return array


def _fault(page: Any, count: int) -> str:
    """Say why a page is not read; "" if it is."""
    if count > 1:
        return _several(count)
    if page.is_reduced:
        return "begins with a preview, as raw files of cameras do: save the photograph as a picture"
    limit = require("PIL.Image").MAX_IMAGE_PIXELS
    if limit and page.imagewidth * page.imagelength > 2 * limit:
        return f"is too large; scale it down ({page.imagewidth} x {page.imagelength} pixels)"
    if not _pillow_is_exact(page) and page.photometric.name not in PLAIN_COLOURS:
        return f"holds {page.photometric.name} colours in {page.dtype}: save it as RGB or grey"
    return ""


def _pictures(file: Any) -> int:
    """Count the pictures of a TIFF, without smaller copies of them."""
    pages = sum(not page.is_reduced for page in file.pages)
    # ImageJ keeps the pages of long stacks without headers of their own.
    first = file.series[0]
    return max(pages, int(np.prod(first.shape)) // max(1, int(np.prod(first.keyframe.shape))))


def _pillow_is_exact(page: Any) -> bool:
    """Say whether Pillow reads a page as it is.

    It garbles pages without compression that lie on their side, and shows negatives of 16 bits.
    """
    if _orientation(page) > FLAT and page.compression.name == "NONE":
        return False
    if page.dtype in (np.uint8, np.bool_):
        return True
    plain = page.samplesperpixel == 1 and page.photometric.name == "MINISBLACK"
    return plain and page.dtype in (np.uint16, np.int16, np.int32, np.float32)


def _page(page: Any) -> Image:
    """Read a page of deep pixels as grey, RGB or RGBA, upright."""
    array: Image = page.asarray()
    if page.axes.startswith("S"):
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 3:
        alpha = bool(page.extrasamples) and page.extrasamples[0] in OPACITY
        array = array[:, :, : (3 if page.photometric.name == "RGB" else 1) + alpha]
        array = array[:, :, 0] if array.shape[2] == 1 else array
    turn = TURNS.get(_orientation(page))
    return array if turn is None else turn(array)


def _orientation(page: Any) -> int:
    tag = page.tags.get(TIFF_ORIENTATION)
    return 1 if tag is None else int(tag.value)


def _several(count: int) -> str:
    return f"holds {count} pictures: save the one that you mean in a file of its own"


def refuse_path(name: str, value: object, reader: str) -> None:
    """Refuse the path of a picture in place of its pixels, and name the function that reads it."""
    if isinstance(value, str | PathLike):
        path = fspath(value)
        raise TypeError(
            f"{name} must be an array of pixels, and not the path {path!r}: pass "
            f"submin.vision.{reader}({path!r})"
        )
