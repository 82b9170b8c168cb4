r"""Superpixels (SLIC) and the term that keeps them together.

    F_R(S) = weight · |S ∩ R| · |R \ S| / |R|    for each superpixel R

Divided by |R|, the weight is a cost per pixel, whatever the size of the superpixels: the first
pixel that leaves its superpixel pays `weight` (less a share that vanishes for large R).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray
from submin.terms import Cardinality
from submin.vision.contrast import check_number
from submin.vision.optional import require

COMPACTNESS = 10.0


def superpixel_labels(features: FloatArray, count: int) -> npt.NDArray[np.int32]:
    """Partition an image into about `count` regions of similar colour.

    Parameters
    ----------
    features : float array, shape (H, W, channels)
        Lab coordinates.
    count : int

    Returns
    -------
    int32 array, shape (H, W)
        Labels from 0.

    Raises
    ------
    ImportError
        If scikit-image is not installed.

    Notes
    -----
    SLIC of scikit-image (Achanta et al. 2012, doi:10.1109/TPAMI.2012.120).
    """
    slic = require("skimage.segmentation").slic
    # slic stretches its input to [0, 1], and the compactness is relative to that.
    extent = float(np.ptp(features)) or 1.0
    labels = slic(
        features,
        n_segments=min(count, features[..., 0].size),
        compactness=COMPACTNESS / extent,
        convert2lab=False,
        start_label=0,
        channel_axis=-1,
    )
    return np.asarray(labels, dtype=np.int32)


def superpixel_term(labels: npt.ArrayLike, weight: float) -> Cardinality:
    """Build the consistency term of a partition.

    Parameters
    ----------
    labels : array_like of int, any shape
    weight : float
        Cost per pixel, in units of cost.

    Examples
    --------
    >>> import numpy as np
    >>> term = superpixel_term([0, 0, 0, 0], 1.0)
    >>> [term.evaluate(np.arange(4) < k) for k in range(5)]
    [0.0, 0.75, 1.0, 0.75, 0.0]
    """
    strength = check_number("superpixel_weight", weight)
    return Cardinality.from_labels(labels, lambda k, m: strength * k * (m - k) / m)
