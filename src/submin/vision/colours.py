"""From an image of any kind to numbers: values in [0, 1], and features for the colour models.

Features are CIE Lab coordinates: there, equal distances are about equally visible, so one Gaussian
mixture and one contrast scale suit dark and bright regions alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._checks import refuse_masked
from submin._typing import FloatArray
from submin.vision.optional import require
from submin.vision.photographs import refuse_path

LAB_RANGES = (100.0, 185.0, 203.0)
"""Extent of the sRGB gamut along L*, a* and b*."""
ALPHA_RANGE = 100.0
CHANNELS = {1: "grey", 2: "grey with alpha", 3: "RGB", 4: "RGBA"}


@dataclass(frozen=True, eq=False)
class Colours:
    """An image as numbers.

    Attributes
    ----------
    rgb : float array, shape (H, W, 3)
        Values in [0, 1]; the channels of a grey image are equal.
    alpha : float array, shape (H, W)
        Opacity in [0, 1]; 1 if the image has none.
    grey : bool
        Whether the image has no colour channels.
    """

    rgb: FloatArray
    alpha: FloatArray
    grey: bool

    @classmethod
    def of(cls, image: npt.ArrayLike) -> Colours:
        """Read an image: see ``segment`` for what is accepted.

        Raises
        ------
        TypeError
            If the values are not real numbers, or the image is a path.
        ValueError
            If the shape is not that of an image, or a value is not finite.
        """
        refuse_masked("image", image)
        refuse_path("image", image, "read_photograph")
        array = _checked(np.asarray(image))
        values = _unit_range(array)
        channels = values.shape[2]
        alpha = values[:, :, -1] if channels in (2, 4) else np.ones(values.shape[:2])
        colour = values[:, :, : channels - 1 if channels in (2, 4) else channels]
        rgb = np.repeat(colour, 3, axis=2) if colour.shape[2] == 1 else colour
        return cls(np.ascontiguousarray(rgb), np.ascontiguousarray(alpha), colour.shape[2] == 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return int(self.alpha.shape[0]), int(self.alpha.shape[1])

    def features(self) -> tuple[FloatArray, float]:
        """Return Lab coordinates, shape (H, W, channels), and the volume of their range.

        A grey image keeps L* alone.  Where opacity varies it joins as a channel from 0 to 100, and
        colours are weighted with it, since the colour of a transparent pixel means nothing.
        """
        lab = require("skimage.color").rgb2lab(self.rgb * self.alpha[:, :, None])
        channels, ranges = list(np.moveaxis(lab, 2, 0)), list(LAB_RANGES)
        if self.grey:
            channels, ranges = channels[:1], ranges[:1]
        if np.ptp(self.alpha) > 0:
            channels.append(ALPHA_RANGE * self.alpha)
            ranges.append(ALPHA_RANGE)
        return np.stack(channels, axis=-1).astype(np.float64), float(np.prod(ranges))


def _checked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the image with a channel axis, or refuse it."""
    if array.dtype.kind not in "biuf":
        raise TypeError(f"image must hold real numbers, but its type is {array.dtype}")
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in CHANNELS:
        raise ValueError(
            f"image has shape {array.shape}: it must be (H, W) or (H, W, channels) with "
            "1 channel (grey), 2 (grey with alpha), 3 (RGB) or 4 (RGBA)"
        )
    if array.size == 0:
        raise ValueError(f"image is empty (shape {array.shape}): it needs a pixel or more")
    if array.dtype.kind == "f":
        _checks.refuse_where("image", array, ~np.isfinite(array), "pixels must be finite numbers")
    return array


def _unit_range(array: npt.NDArray[Any]) -> FloatArray:
    """Map to [0, 1]: by the type's range where it tells, else by the image's own."""
    if array.dtype.kind == "b":
        return array.astype(np.float64)
    if array.dtype in (np.uint8, np.uint16):
        return array / np.float64(np.iinfo(array.dtype).max)
    values = array.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    if array.dtype.kind == "f" and low >= 0.0 and high <= 1.0:
        return values
    return _stretched(values, low, high)


def _stretched(values: FloatArray, low: float, high: float) -> FloatArray:
    # Halves keep the range of the largest floats finite.
    scale = high / 2 - low / 2
    if scale == 0.0:
        return np.zeros_like(values)
    return np.clip((values / 2 - low / 2) / scale, 0.0, 1.0)
