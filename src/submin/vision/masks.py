"""What counts as a mask: one rule for arrays and files, in Python and on the command line.

A mask says of each pixel whether it is object.  Labels that say more (four kinds of pixels in
OpenCV, regions, trimaps) and pictures that say it in another way (shades, opacity) are refused,
since either reading of them would be a guess.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray
from submin.vision.image_files import refuse_path

OBJECT_VALUES = (1, 255, 65535)
"""White, in pictures of 1, 8 and 16 bits."""


def object_mask(mask: npt.ArrayLike) -> BoolArray:
    """Return the object of a mask, or refuse what is no mask.

    Parameters
    ----------
    mask : array_like of bool or int, shape (H, W), or (H, W, channels) of a grey picture
        Booleans; or integers that are 0 outside of the object and one value on it, 1, 255 or
        65535.  Colour channels must be equal, and an alpha channel constant.

    Returns
    -------
    bool array, shape (H, W)

    Raises
    ------
    TypeError
        If the values are neither booleans nor integers, or the mask is a path or a masked array.
    ValueError
        If a value is another one; the message names it, and what would convert the mask.

    Examples
    --------
    >>> object_mask([[0, 255]])
    array([[False,  True]])
    >>> opencv = np.array([[0, 1, 2, 3]])  # sure background and object, probable ones
    >>> object_mask(np.isin(opencv, (1, 3)))
    array([[False,  True, False,  True]])
    """
    refuse_path("mask", mask, "read_mask")
    _checks.refuse_masked("mask", mask, "mask.filled(False) leaves them to the background")
    array = np.asarray(mask)
    if array.dtype.kind not in "biu":
        raise TypeError(
            f"mask must hold booleans or integers, but its type is {array.dtype}: a comparison "
            "such as mask > 0.5 says what is object"
        )
    grey = _grey(array) if array.ndim == 3 else array
    if grey.ndim != 2:
        raise ValueError(f"mask has shape {grey.shape}: it must be (H, W)")
    if grey.dtype.kind == "b":
        grey = grey.view(np.uint8)  # whatever byte stands for True
    else:
        _refuse_other_values(grey)
    inside: BoolArray = grey != 0
    return inside


def _refuse_other_values(grey: npt.NDArray[Any]) -> None:
    inside = grey != 0
    _checks.refuse_where(
        "mask",
        grey,
        inside & ~np.isin(grey, OBJECT_VALUES),
        "a mask is 0 outside of the object and 1, 255 or 65535 on it; of OpenCV's labels "
        "np.isin(mask, (1, 3)) is the object, of regions mask == k, of shades mask > 127; a file "
        "must be black and white, and not smoothed or compressed with loss",
    )
    if inside.any():
        first = grey.flat[int(np.argmax(inside))]
        _checks.refuse_where(
            "mask",
            grey,
            inside & (grey != first),
            f"other pixels are {first}, and a mask has one value on the object; mask == {first} "
            "takes the pixels of one value, mask > 0 those of both",
        )


def _grey(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the grey channel of a picture, or refuse one that has more to say."""
    channels = array.shape[2]
    if channels not in (1, 2, 3, 4):
        raise ValueError(f"mask has shape {array.shape}: it must be (H, W)")
    if channels in (2, 4) and array.size and np.any(array[:, :, -1] != array[0, 0, -1]):
        raise ValueError(
            f"mask has shape {array.shape} with an opacity that varies: if a cut-out shows the "
            f"object, mask[:, :, {channels - 1}] > 0 is its mask; a file must be black and white, "
            "without transparency"
        )
    coloured = np.any(array[:, :, :1] != array[:, :, : 1 if channels < 3 else 3], axis=2)
    if coloured.any():
        row, column = _checks.first_index(coloured)
        raise ValueError(
            f"mask[{row}, {column}] has the colour {tuple(array[row, column, :3].tolist())}: a "
            "mask is black and white; np.all(mask == colour, axis=2) takes the pixels of a colour"
        )
    return array[:, :, 0]
