"""Pictures of an answer: mask, cut-out, overlay with a boundary line.

The boundary line has a light core and a dark rim, which any colour vision tells from the image.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from submin._files import whole_file
from submin._typing import BoolArray, FloatArray
from submin.vision.colours import Colours
from submin.vision.optional import require
from submin.vision.plots import rounds_picture
from submin.vision.segmentation import Segmentation

Picture = npt.NDArray[np.uint8]

PICTURES = ("mask", "cutout", "overlay", "convergence")
"""Names of the pictures of an answer."""
LINE_CORE = np.array([1.0, 0.9, 0.1])
LINE_RIM = np.array([0.0, 0.0, 0.0])
TINTS = np.array(
    [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0],
     [204, 121, 167]]
) / 255.0  # fmt: skip
"""Colours that the colour-blind tell apart (Wong 2011, doi:10.1038/nmeth.1618)."""
BACKGROUND_TONE = 0.35
LINE_PER_PIXELS = 400
GAP_PER_WIDTH = 50


def mask_picture(mask: npt.ArrayLike) -> Picture:
    """Return the mask as a grey picture, shape (H, W): 255 on the object, 0 elsewhere.

    Examples
    --------
    >>> mask_picture([[True, False]])
    array([[255,   0]], dtype=uint8)
    """
    return _mask(mask).astype(np.uint8) * np.uint8(255)


def cutout_picture(image: npt.ArrayLike, mask: npt.ArrayLike) -> Picture:
    """Return the object on a transparent background, shape (H, W, 4).

    Parameters
    ----------
    image : array_like
        As for ``segment``.
    mask : array_like of bool, shape (H, W)
    """
    colours, inside = _fitting(image, mask)
    return _bytes(np.dstack([colours.rgb, colours.alpha * inside]))


def overlay_picture(image: npt.ArrayLike, mask: npt.ArrayLike) -> Picture:
    """Return the image with a dimmed background and a line around the object, shape (H, W, 3)."""
    colours, inside = _fitting(image, mask)
    picture = colours.rgb.copy()
    grey = picture.mean(axis=2, keepdims=True)
    picture[~inside] = BACKGROUND_TONE * (0.5 * picture + 0.5 * grey)[~inside]
    width = max(1, round(max(inside.shape) / LINE_PER_PIXELS))
    border = boundary(inside)
    picture[_thickened(border, 2 * width)] = LINE_RIM
    picture[_thickened(border, width - 1)] = LINE_CORE
    return _bytes(picture)


def labels_picture(image: npt.ArrayLike, labels: npt.ArrayLike) -> Picture:
    """Return the image with a tint for each label and lines between them, shape (H, W, 3).

    Parameters
    ----------
    image : array_like
        As for ``segment``.
    labels : array_like of int, shape (H, W)
        Labels below 1 have no tint.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    colours, numbers = Colours.of(image), np.asarray(labels)
    if numbers.shape != colours.shape:
        raise ValueError(f"labels have shape {numbers.shape}, but the image has {colours.shape}")
    values = np.unique(numbers[numbers > 0])
    dense = np.where(numbers > 0, np.searchsorted(values, numbers) + 1, 0)
    tints = [TINTS[k % len(TINTS)] for k in range(len(values))]
    tinted = require("skimage.color").label2rgb(
        dense, colours.rgb, colors=tints, alpha=0.45, bg_label=0, kind="overlay", saturation=0.6
    )
    edges = require("skimage.segmentation").find_boundaries(dense, mode="inner")
    tinted[edges] = LINE_RIM
    return _bytes(tinted)


def boundary(mask: BoolArray) -> BoolArray:
    """Return the pixels of the mask with a 4-neighbour outside of it.

    The frame of the image is not part of the boundary.

    Examples
    --------
    >>> boundary(np.array([[False, True, True, True]]))
    array([[False,  True, False, False]])
    """
    padded = np.pad(mask, 1, mode="edge")
    neighbours = [padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
    edge: BoolArray = mask & ~np.logical_and.reduce(neighbours)
    return edge


def comparison_picture(before: npt.ArrayLike, after: npt.ArrayLike) -> Picture:
    """Return two images and their difference side by side, shape (H, 3 W + 2 gaps, 3).

    The difference is that of the colours as they are shown: grey where nothing changed, brighter
    where `after` is, and white or black where it is largest.

    Parameters
    ----------
    before, after : array_like
        Of one shape and range, each as for ``segment``.

    Raises
    ------
    ValueError
        If their shapes differ.
    """
    if np.shape(before) != np.shape(after):
        raise ValueError(f"before has shape {np.shape(before)}, but after has {np.shape(after)}")
    both = Colours.of(np.concatenate([before, after])).rgb
    first, second = np.split(both, 2)
    change = second - first
    shown = 0.5 + 0.5 * change / (float(np.abs(change).max()) or 1.0)
    gap = np.ones((first.shape[0], max(1, first.shape[1] // GAP_PER_WIDTH), 3))
    return _bytes(np.concatenate([first, gap, second, gap, shown], axis=1))


def save_picture(picture: npt.NDArray[Any], path: str | PathLike[str]) -> None:
    """Write a picture; the ending of the name gives the format (``.png`` keeps transparency).

    Parameters
    ----------
    picture : array, shape (H, W) or (H, W, channels)
        Pixels of any other type than ``uint8`` go to ``.tif``, without loss.
    path : str or path

    Raises
    ------
    TypeError
        If the picture is no array.
    ValueError
        If the format can not hold the pixels, or the ending names none.
    OSError
        If the file can not be written.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> denoised = np.full((2, 3, 3), 99.7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_picture(np.rint(denoised).astype(np.uint8), pathlib.Path(folder, "denoised.png"))
    """
    if not isinstance(picture, np.ndarray):
        raise TypeError(
            f"picture is a {type(picture).__name__}: save_picture(picture, path) takes an array, "
            "and then the name of the file"
        )
    pillow = require("PIL.Image")
    ending = Path(path).suffix.lower()
    if picture.dtype != np.uint8:
        _save_deep(picture, path, ending)
        return
    kinds = pillow.registered_extensions()
    if ending not in kinds:
        raise ValueError(f"{path} has an ending that names no format of pictures; try .png")
    with whole_file(path) as file:
        pillow.fromarray(picture).save(file, format=kinds[ending])


def _save_deep(picture: npt.NDArray[Any], path: str | PathLike[str], ending: str) -> None:
    """Write pixels of any type as TIFF; two or four channels end with the opacity."""
    if ending not in (".tif", ".tiff"):
        raise ValueError(
            f"{path} can not hold pixels of {picture.dtype}: .tif can, and "
            "np.rint(picture).astype(np.uint8) makes bytes of values from 0 to 255"
        )
    channels = picture.shape[2] if picture.ndim == 3 else 1
    opacity = {"extrasamples": ["unassalpha"]} if channels in (2, 4) else {}
    colour = "rgb" if channels >= 3 else "minisblack"
    with whole_file(path) as file:
        require("tifffile").imwrite(
            file, picture, photometric=colour, planarconfig="contig", **opacity
        )


def write_pictures(
    folder: str | PathLike[str], image: npt.ArrayLike, segmentation: Segmentation
) -> dict[str, Path]:
    """Write ``mask.png``, ``cutout.png``, ``overlay.png``, and ``convergence.png`` of its rounds.

    Parameters
    ----------
    folder : str or path
        Made if it does not exist.
    image : array_like
        The image that was segmented.
    segmentation : Segmentation

    Returns
    -------
    dict
        The paths, by name (``"mask"``, ...); ``"convergence"`` where ``rounds_picture`` has
        something to show.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    mask = segmentation.mask
    paths = {name: target / f"{name}.png" for name in PICTURES}
    save_picture(mask_picture(mask), paths["mask"])
    save_picture(cutout_picture(image, mask), paths["cutout"])
    save_picture(overlay_picture(image, mask), paths["overlay"])
    title = f"{segmentation.status.name.lower()}, gap {segmentation.result.gap:.3g}"
    figure = rounds_picture(segmentation, title)
    if figure is None:
        del paths["convergence"]
    else:
        with whole_file(paths["convergence"]) as file:
            figure.savefig(file, format="png", dpi=150)
    return paths


def _mask(mask: npt.ArrayLike) -> BoolArray:
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.ndim != 2:
        raise TypeError(
            f"mask must be boolean of shape (H, W), but it is {array.dtype} of shape {array.shape}"
        )
    return array


def _fitting(image: npt.ArrayLike, mask: npt.ArrayLike) -> tuple[Colours, BoolArray]:
    colours, inside = Colours.of(image), _mask(mask)
    if inside.shape != colours.shape:
        raise ValueError(f"mask has shape {inside.shape}, but the image has {colours.shape}")
    return colours, inside


def _thickened(mask: BoolArray, radius: int) -> BoolArray:
    """Add the pixels within `radius` steps, each to a 4-neighbour."""
    for _ in range(radius):
        padded = np.pad(mask, 1)
        mask = mask | padded[:-2, 1:-1] | padded[2:, 1:-1] | padded[1:-1, :-2] | padded[1:-1, 2:]
    return mask


def _bytes(picture: FloatArray) -> Picture:
    return np.rint(255.0 * picture).astype(np.uint8)
