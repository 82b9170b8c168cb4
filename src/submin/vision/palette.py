"""The distinct colours of an image: a function of colour is evaluated once for each of them.

They are kept in the order of a space-filling curve, Morton's: colours that are near each other in
it look alike.  So a few pixels at even distances along it represent all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from submin._lazy import lazy
from submin._typing import BoolArray, FloatArray, IndexArray

BITS = 8
"""Of each channel, in the curve, where 63 in all are enough."""

Features = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Palette:
    """The distinct colours of an image, and which of them each pixel has.

    A photograph of 8 bits has a tenth to a third as many as pixels.

    Attributes
    ----------
    colours : float array, shape (m, D)
    index : int array, shape (*shape,)
        The row of each pixel's colour.
    """

    colours: FloatArray
    index: IndexArray

    @classmethod
    def of(cls, image: FloatArray, features: Features = np.asarray) -> Palette:
        """Find the distinct colours of an image, in O(pixels log pixels).

        Parameters
        ----------
        image : float array, shape (*shape, C)
        features : callable, optional
            Takes colours, shape (m, C), to what the palette keeps of them, shape (m, D).
        """
        *shape, channels = image.shape
        distinct, index = _distinct(image.reshape(-1, channels))
        colours = features(distinct)
        order = np.argsort(_places(colours), kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return cls(colours[order], rank[index].reshape(shape))

    @lazy
    def pixels(self) -> FloatArray:
        """The colour of each pixel, shape (*shape, D)."""
        return self.colours[self.index]

    def sample(self, mask: BoolArray, count: int) -> FloatArray:
        """Return the colours of `count` pixels of a mask, or of all if there are no more.

        They lie at even distances along the curve, so that each region of colours has its share.
        """
        ends = np.cumsum(np.bincount(self.index[mask], minlength=len(self.colours)))
        total = int(ends[-1])
        count = min(count, total)
        ranks = (2 * np.arange(count) + 1) * total // (2 * count)
        return self.colours[np.searchsorted(ends, ranks, side="right")]


def _distinct(pixels: FloatArray) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Return colours, each once, and the row of each pixel's.

    Sums of the channels times random numbers tell colours apart, but for rare accidents of
    rounding; then every pixel has a row of its own.
    """
    sums = pixels @ np.random.default_rng(0).uniform(1.0, 2.0, pixels.shape[1])
    order = np.argsort(sums)
    ordered = sums[order]
    begins = np.ones(len(sums), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    index = np.empty(len(sums), dtype=np.intp)
    index[order] = np.cumsum(begins) - 1
    colours = pixels[order[begins]]
    if np.array_equal(colours[index], pixels):
        return colours, index
    return pixels, np.arange(len(pixels))


def _places(colours: FloatArray) -> npt.NDArray[np.int64]:
    """Return where colours lie on the curve: the bits of their channels, taken in turns."""
    channels = min(colours.shape[1], 63)
    bits = min(BITS, 63 // channels)
    low, extent = colours.min(axis=0), np.ptp(colours, axis=0).max()
    steps = (colours - low) * ((2**bits - 1) / extent if extent > 0 else 0.0)
    cells = steps[:, :channels].astype(np.int64)
    place = np.zeros(len(colours), dtype=np.int64)
    for bit in range(bits):
        for channel, cell in enumerate(cells.T):
            place |= ((cell >> bit) & 1) << (bit * channels + channel)
    return place
