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


def photograph_problem(
    name: str = "camera", smoothness: float = 5.0, connectivity: int = 8, scale: int = 1
) -> sm.Problem:
    """Build the contrast-weighted grid cut of a photograph that comes with scikit-image.

    Unaries are the log odds of two Gaussian mixtures, fitted to a centred box and to the rest;
    weights are smoothness * exp(-beta ||difference||^2) / distance.  `scale` enlarges the
    photograph by a whole factor first.
    """
    import skimage.data

    return image_problem(getattr(skimage.data, name)(), smoothness, connectivity, scale)


def image_problem(
    image: np.ndarray, smoothness: float = 5.0, connectivity: int = 8, scale: int = 1
) -> sm.Problem:
    """Build the same problem for any grey or colour image."""
    from sklearn.mixture import GaussianMixture

    colours = np.atleast_3d(image).astype(float) / 255.0
    colours = np.kron(colours, np.ones((scale, scale, 1))) if scale > 1 else colours
    shape, pixels = colours.shape[:2], colours.reshape(-1, colours.shape[2])
    inside = np.zeros(shape, dtype=bool)
    inside[shape[0] // 4 : -(shape[0] // 4), shape[1] // 4 : -(shape[1] // 4)] = True
    sample = np.random.default_rng(0).permutation(pixels.shape[0])[:20_000]
    models = [
        GaussianMixture(5, random_state=0, reg_covar=1e-4).fit(pixels[sample][chosen])
        for chosen in (inside.ravel()[sample], ~inside.ravel()[sample])
    ]
    unary = models[1].score_samples(pixels) - models[0].score_samples(pixels)
    return sm.Problem(
        unary.reshape(shape),
        [sm.GridCut(shape, _contrast_weights(colours, smoothness, connectivity), connectivity)],
    )


def _contrast_weights(
    colours: np.ndarray, smoothness: float, connectivity: int
) -> list[np.ndarray]:
    offsets = sm.grid_offsets(2, connectivity)
    differences = []
    for dy, dx in offsets:
        height, width = colours.shape[:2]
        tail = colours[: height - dy, max(0, -dx) : width - max(0, dx)]
        head = colours[dy:, max(0, dx) : width - max(0, -dx)]
        differences.append(((head - tail) ** 2).sum(axis=2))
    beta = 1.0 / (2.0 * np.mean(np.concatenate([d.ravel() for d in differences])))
    return [
        smoothness * np.exp(-beta * difference) / np.hypot(*offset)
        for difference, offset in zip(differences, offsets, strict=True)
    ]
