"""Cut-outs to be laid over another picture: soft edges, in the colours of the object alone.

The pixels at the edge of an object mix its colour with the background's, which shows as a halo on
any other background.  They take the colour of the nearest pixel that lies deeper in the object.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray, FloatArray
from submin.vision.colours import Colours
from submin.vision.optional import require
from submin.vision.pictures import Picture

RIM = 1.5
"""Pixels nearer than this to the background are mixed."""
REACH = 4.0
"""Pixels farther than this from the deeper object keep their colour: it is thin there."""
SOFTNESS = 0.6
"""Standard deviation of the edge's blur, in pixels."""


def clean_cutout(image: npt.ArrayLike, mask: BoolArray) -> Picture:
    """Return the object on a transparent background, with a clean edge, shape (H, W, 4).

    Parameters
    ----------
    image : array_like
        As for ``segment``.
    mask : bool array, shape (H, W)

    Examples
    --------
    >>> image = np.zeros((9, 9, 3), np.uint8)
    >>> image[2:7, 2:7], image[2:7, 2] = 200, 90  # a column that the background darkens
    >>> picture = clean_cutout(image, image[:, :, 0] > 0)
    >>> picture[4, 2, :3].tolist(), picture[4, 4].tolist(), picture[0, 8].tolist()
    ([200, 200, 200], [200, 200, 200, 255], [0, 0, 0, 0])
    """
    colours = Colours.of(image)
    rgb = _decontaminated(colours.rgb, mask)
    soft = require("scipy.ndimage").gaussian_filter(mask.astype(np.float64), SOFTNESS)
    alpha = colours.alpha * np.where(soft < 0.02, 0.0, np.where(soft > 0.98, 1.0, soft))
    rgb[alpha == 0.0] = 0.0
    return np.rint(255.0 * np.dstack([rgb, alpha])).astype(np.uint8)


def _decontaminated(rgb: FloatArray, mask: BoolArray) -> FloatArray:
    """Give the rim of the object, and what is just outside, the colours of the deeper object."""
    edt = require("scipy.ndimage").distance_transform_edt
    if mask.all() or not mask.any():
        return rgb.copy()
    deep = edt(mask) > RIM
    clean = rgb.copy()
    for inside, changed in ((mask, ~mask), (deep, ~deep)):
        if inside.any():
            away, nearest = edt(~inside, return_indices=True)
            near = changed & (away <= REACH)
            clean[near] = rgb[nearest[0][near], nearest[1][near]]
    return clean
