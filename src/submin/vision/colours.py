"""From an image of any kind to numbers: values in [0, 1], and features for the colour models.

What counts is the contrast within an image, and not the type that holds it: twelve bits of a
camera in sixteen bits of a file look like eight bits in eight.  So features are taken from values
that are stretched to [0, 1], by one affine map for all colour channels.  They are CIE Lab
coordinates: there, equal distances are about equally visible, so one Gaussian mixture and one
contrast scale suit dark and bright regions alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._lazy import lazy
from submin._typing import BoolArray, FloatArray
from submin.vision.image_files import refuse_path
from submin.vision.optional import require
from submin.vision.palette import Palette

LAB_RANGES = (100.0, 185.0, 203.0)
"""Extent of the sRGB gamut along L*, a* and b*."""
ALPHA_RANGE = 100.0
GREY_VOLUME = 1e9
"""Makes a shade that no model explains cost 28 nats, as one number must tell pixels apart; an
unexplained colour costs 22."""
CHANNELS = {1: "grey", 2: "grey with alpha", 3: "RGB", 4: "RGBA"}
TAIL = 100
"""One value in so many, at either end, may be an outlier: a hot pixel, a mark of missing data."""
REACH = 3
"""Outliers are clipped to so many ranges of the other values beyond them: ordinary photographs
end long before."""
ROUNDING = 4.0
"""Floats that differ by so many units in their last place count as equal."""

Pixels = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Colours:
    """An image as numbers.

    Attributes
    ----------
    pixels : array, shape (H, W, channels)
        Finite real numbers of any type, with 1 to 4 channels.
    """

    pixels: Pixels

    @classmethod
    def of(cls, image: npt.ArrayLike) -> Colours:
        """Read an image: see ``segment`` for what is accepted.

        Raises
        ------
        TypeError
            If the values are not real numbers, or the image is a path or a masked array.
        ValueError
            If the shape is not that of an image, a value is not finite, an opacity is negative,
            or every pixel is transparent.
        """
        _checks.refuse_masked(
            "image", image, "give image.filled(value), and mark the missing pixels as background"
        )
        refuse_path("image", image, "read_photograph")
        array = _checked(np.asarray(image))
        if array.ndim == 3 and array.shape[2] in (2, 4):
            _check_opacity(array)
        return cls(array if array.ndim == 3 else array[:, :, None])

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return int(self.pixels.shape[0]), int(self.pixels.shape[1])

    @property
    def grey(self) -> bool:
        """Whether the image has no colour channels."""
        return int(self.pixels.shape[2]) < 3

    @lazy
    def rgb(self) -> FloatArray:
        """Colours to look at, shape (H, W, 3), in [0, 1]; the channels of a grey image are equal.

        8-bit values, booleans and floats in [0, 1] are shown as they are, others stretched.
        """
        shown = _displayed(self.pixels)
        if shown is None:
            return self._stretched
        return _three_channels(shown[:, :, : 1 if self.grey else 3])

    @lazy
    def alpha(self) -> FloatArray:
        """Opacity to look at, shape (H, W), in [0, 1]; 1 if the image has none."""
        shown = _displayed(self.pixels)
        return self._opacity if shown is None or not self._has_alpha else shown[:, :, -1]

    @lazy
    def palette(self) -> Palette:
        """Features for colour models: Lab coordinates of the distinct colours.

        A grey image keeps L* alone.  Where opacity varies it joins as a channel from 0 to 100, and
        colours are weighted with it, since the colour of a transparent pixel means nothing.
        """
        opacity = self._opacity[:, :, None]
        weighted = self._stretched * opacity
        if self._varies:
            weighted = np.concatenate([weighted, opacity], axis=2)
        return Palette.of(weighted, self._features)

    def _features(self, weighted: FloatArray) -> FloatArray:
        lab = require("skimage.color").rgb2lab(weighted[:, :3])[:, : 1 if self.grey else 3]
        features: FloatArray = np.hstack([lab, ALPHA_RANGE * weighted[:, 3:]])
        return features

    @property
    def volume(self) -> float:
        """Volume of the space of features, over which the uniform share of a model is spread."""
        volume = GREY_VOLUME if self.grey else float(np.prod(LAB_RANGES))
        return volume * ALPHA_RANGE if self._varies else volume

    @lazy
    def _varies(self) -> bool:
        return bool(np.ptp(self._opacity) > 0)

    @property
    def _has_alpha(self) -> bool:
        return self.pixels.shape[2] in (2, 4)

    @lazy
    def _opacity(self) -> FloatArray:
        """Opacity relative to the most opaque pixel, shape (H, W)."""
        if not self._has_alpha:
            return np.ones(self.shape)
        alpha = self.pixels[:, :, -1].astype(np.float64)
        opacity: FloatArray = alpha / alpha.max()
        return opacity

    @lazy
    def _stretched(self) -> FloatArray:
        """Colours of which the visible ones fill [0, 1], shape (H, W, 3)."""
        colour = self.pixels[:, :, : 1 if self.grey else 3]
        return _three_channels(stretched(colour, self._opacity > 0))


def stretched(values: Pixels, visible: BoolArray) -> FloatArray:
    """Map values to [0, 1] by the affine map that takes the visible ones there.

    Parameters
    ----------
    values : array of real numbers, shape (H, W, channels)
    visible : bool array, shape (H, W)
        Pixels that count; at least one.

    Returns
    -------
    float array, shape (H, W, channels)
        The same for any type, scale and offset of the values, up to rounding; 0 where they are
        all equal.  Values that lie three ranges beyond all but a hundredth are clipped.
    """
    if values.dtype.kind == "f":
        return _stretched_floats(values, visible)
    low, high = _extent(values[visible])
    if low == high:
        return np.zeros(values.shape)
    # Modulo 2**64 the difference of any two integers is exact.
    above = np.clip(values, low, high).astype(np.uint64) - np.uint64(low % 2**64)
    return above.astype(np.float64) / float(high - low)


def _stretched_floats(values: Pixels, visible: BoolArray) -> FloatArray:
    wide = values.astype(np.float64)
    low, high = _extent(wide[visible])
    clipped = np.clip(wide, low, high)
    largest = max(abs(low), abs(high))
    # A power of two keeps the range of the largest floats finite, and that of the least ones exact.
    scaled, least, most = (np.ldexp(x, -int(np.frexp(largest)[1])) for x in (clipped, low, high))
    if most - least <= _noise(values.dtype):
        return np.zeros(values.shape)
    fractions: FloatArray = (scaled - least) / (most - least)
    return fractions


def _extent(values: Pixels) -> tuple[Any, Any]:
    """Return where [0, 1] begins and ends: at the least and the largest value but for outliers.

    The numbers are those of Python, with integers of any length.
    """
    flat = values.ravel()
    tail = flat.size // TAIL
    ordered = np.partition(flat, (0, tail, flat.size - 1 - tail, flat.size - 1))
    low, first, last, high = (ordered[i].item() for i in (0, tail, -1 - tail, -1))
    reach = REACH * (last - first)
    return (max(low, first - reach), min(high, last + reach)) if reach > 0 else (low, high)


def _noise(kind: np.dtype[Any]) -> float:
    """Return the difference that rounding makes between numbers of about 1.

    Half precision is so coarse that its steps are meant.
    """
    precision = np.finfo(kind).eps if kind.itemsize >= 4 else 0.0
    return ROUNDING * max(float(precision), float(np.finfo(np.float64).eps))


def _displayed(pixels: Pixels) -> FloatArray | None:
    """Return pixels of types whose values say how bright they are; ``None`` for other types."""
    if pixels.dtype == np.uint8:
        return pixels / 255.0
    if pixels.dtype.kind == "b":
        return pixels.astype(np.float64)
    if pixels.dtype.kind == "f" and pixels.min() >= 0.0 and pixels.max() <= 1.0:
        return pixels.astype(np.float64)
    return None


def _three_channels(colour: FloatArray) -> FloatArray:
    return np.ascontiguousarray(np.repeat(colour, 3, axis=2) if colour.shape[2] == 1 else colour)


def _checked(array: Pixels) -> Pixels:
    """Return an array that holds an image, or refuse it."""
    if array.dtype.kind not in "biuf":
        raise TypeError(f"image must hold real numbers, but its type is {array.dtype}")
    if array.ndim != 2 and (array.ndim != 3 or array.shape[2] not in CHANNELS):
        raise ValueError(
            f"image has shape {array.shape}: it must be (H, W) or (H, W, channels) with "
            f"1 channel (grey), 2 (grey with alpha), 3 (RGB) or 4 (RGBA){_remedy(array.shape)}"
        )
    if array.size == 0:
        axis = array.shape.index(0)
        raise ValueError(
            f"image is empty (shape {array.shape}): axis {axis} has length 0, and needs 1 or more"
        )
    if array.dtype.kind == "b":
        return np.not_equal(array.view(np.uint8), 0)  # whatever byte stands for True
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            wrong = ~np.isfinite(array.astype(np.float64))
        _checks.refuse_where(
            "image", array, wrong, "pixels must be finite numbers; np.nan_to_num(image) fills gaps"
        )
    return array


def _remedy(shape: tuple[int, ...]) -> str:
    """Say what to do with channels that come first, and with a stack of one image."""
    if len(shape) == 3 and shape[0] in CHANNELS:
        return "; channels that come first go last by np.moveaxis(image, 0, -1)"
    if len(shape) == 4 and shape[0] == 1:
        return "; image[0] is the only image of this stack"
    return ""


def _check_opacity(array: Pixels) -> None:
    """Refuse opacities that mean nothing; the last channel of two or four is the opacity."""
    last = array.shape[2] - 1
    wrong = np.zeros(array.shape, dtype=np.bool_)
    wrong[:, :, last] = array[:, :, last] < 0
    _checks.refuse_where(
        "image", array, wrong, f"channel {last} is the opacity, which must be 0 or more"
    )
    if not array[:, :, last].any():
        raise ValueError(
            f"every pixel of image is transparent: channel {last}, the opacity, is 0; "
            f"image[:, :, :{last}] goes without it"
        )
