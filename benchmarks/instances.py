"""The public instances that the benchmarks run on, loaded in place from a data folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.io

import submin as sm


def data_folder() -> Path:
    """Return the folder ``SUBMIN_DATA``, or ``shared/data`` beside the project."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("SUBMIN_DATA", default))


class SuperpixelInstance(NamedTuple):
    """A grid cut with superpixels, its published minimum and exact time (max-flow, seconds)."""

    name: str
    photograph: str
    superpixels: str
    cut_weight: float
    superpixel_weight: float
    minimum: float
    published_seconds: float


SUPERPIXEL_INSTANCES = {
    instance.name: instance
    for instance in (
        SuperpixelInstance("oct500", "001_oct", "p500", 0.01, 0.008, -4644857.732315713, 187.2),
        SuperpixelInstance(
            "plant200", "020_smallplant", "p200", 0.3, 0.002, -3004377.0839169645, 1885.8
        ),
        SuperpixelInstance(
            "plant500", "020_smallplant", "p500", 0.08, 0.008, -3015702.7204441344, 401.0
        ),
    )
}


def superpixel_problem(name: str, largest_label: int | None = None) -> sm.Problem:
    """Build unary + cut + sum over superpixels of |S and R| |R without S|.

    `largest_label` leaves out the superpixels with larger labels.
    """
    instance = SUPERPIXEL_INSTANCES[name]
    folder = data_folder() / "coopcut"
    weights = scipy.io.loadmat(folder / f"{instance.photograph}_wts.mat")
    labels = scipy.io.loadmat(folder / f"{instance.photograph}_{instance.superpixels}.mat")
    labels = np.ascontiguousarray(labels["sup_img"], dtype=np.int64)
    if largest_label is not None:
        labels = np.where(labels <= largest_label, labels, -1)
    unary = np.ascontiguousarray(weights["unary"].reshape(labels.shape, order="F"), dtype=float)
    horizontal, vertical = (np.asarray(weights[k], dtype=float) for k in ("W2", "W1"))
    cut = sm.GridCut(
        labels.shape, [instance.cut_weight * horizontal, instance.cut_weight * vertical], 4
    )
    weight = instance.superpixel_weight
    regions = sm.Cardinality.from_labels(labels, lambda k, m: weight * k * (m - k))
    return sm.Problem(unary, [cut, regions])
