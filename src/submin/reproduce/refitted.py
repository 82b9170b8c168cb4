"""How good the penguin's segmentations are: its own minimiser, and one with refitted colours.

The paper's problem is a cut for fixed colour models.  GrabCut (Rother, Kolmogorov, Blake 2004,
doi:10.1145/1015706.1015720) keeps the scribbled pixels and alternates between cut and models.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from submin._typing import BoolArray
from submin.reproduce.gaps import Progress
from submin.reproduce.instances import LAMBDA, Picture
from submin.vision.image_files import Image
from submin.vision.segmentation import segment

OBJECT, BACKGROUND = 255, 0


def overlap(mask: BoolArray, truth: Image) -> float:
    """Return the intersection of mask and object over their union, on the decided pixels."""
    decided = (truth == OBJECT) | (truth == BACKGROUND)
    inside, mask = truth == OBJECT, mask & decided
    return float(np.sum(mask & inside) / max(1, np.sum(mask | inside)))


def refitted(
    picture: Picture, exact: BoolArray, step: int, progress: Progress
) -> tuple[dict[str, Any], BoolArray]:
    """Segment the whole photograph with refitted models; return numbers and every step-th pixel.

    Parameters
    ----------
    picture : Picture
    exact : bool array
        The minimiser of the instance, which has every step-th pixel.
    """
    progress("penguin: refitted colour models")
    found = segment(picture.image, **picture.marks, smoothness=LAMBDA)
    numbers: dict[str, Any] = {
        "rounds": found.rounds, "overlap_exact": None, "overlap_refitted": None
    }  # fmt: skip
    if picture.truth is not None:
        numbers["overlap_exact"] = overlap(exact, picture.truth[::step, ::step])
        numbers["overlap_refitted"] = overlap(found.mask, picture.truth)
    return numbers, found.mask[::step, ::step]
