r"""Superpixels (SLIC) and the term that keeps them together.

    F_R(S) = weight · min(|S ∩ R|, |R \ S|, tolerance · |R|)    for each superpixel R

The weight is a cost per pixel that leaves its superpixel, until they are a share of it, the
tolerance, which is rounded to whole pixels.  This is the robust P^n potential of Kohli, Ladický,
Torr 2009 (doi:10.1007/s11263-008-0202-0).  It changes its slope twice, so that a maximum flow takes
it; with a tolerance of a quarter it begins and ends as |S ∩ R| |R \ S| / |R| does and is as high,
which has as many slopes as pixels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray
from submin.terms import Term, label_groups, robust_pn
from submin.vision.contrast import check_number
from submin.vision.optional import require

COMPACTNESS = 10.0
TOLERANCE = 0.25


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


def superpixel_term(labels: npt.ArrayLike, weight: float, tolerance: float = TOLERANCE) -> Term:
    """Build the consistency term of a partition.

    Parameters
    ----------
    labels : array_like of int, any shape
    weight : float
        Cost per pixel, in units of cost.
    tolerance : float, optional
        Part of a superpixel that pays; the others are free, once so many have left it.

    Raises
    ------
    ValueError
        If the weight or the tolerance is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> term = superpixel_term(np.zeros(20, dtype=int), 1.5)
    >>> [term.evaluate(np.arange(20) < k) for k in (0, 1, 2, 5, 10, 15, 19, 20)]
    [0.0, 1.5, 3.0, 7.5, 7.5, 7.5, 1.5, 0.0]
    """
    strength = check_number("superpixel_weight", weight)
    share = check_number("tolerance", tolerance)
    pointers, members = label_groups(labels)
    paying = np.maximum(1.0, np.rint(share * np.diff(pointers)))
    return robust_pn(pointers, members, strength * paying, paying)
