"""The four instances of Section 4, and what stands in for them where the data are not at hand.

The paper names its photographs (octopus, penguin, plane, small plant) and describes its problem, a
cut on an 8-neighbour grid with unaries from Gaussian mixtures and weights that are a function of
exp(-||v_i - v_j||^2), but publishes neither colour models nor the factor lambda of the weights.
Octopus and small plant come as arrays with the public data of Jegelka, Bach, Sra 2013; those are
4-neighbour grids.  Both get the factor 0.3 of the public superpixel problem with the small plant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from submin._typing import FloatArray, IndexArray
from submin.model.problem import Problem
from submin.terms import Cardinality, GridCut
from submin.vision import contrast_weights, read_photograph, sample
from submin.vision.colour_models import ColourFitter
from submin.vision.colours import Colours
from submin.vision.image_files import Image
from submin.vision.optional import require
from submin.vision.seeds import Seeds

GAUSSIANS = 5
LAMBDA = 50.0
PUBLIC, SAMPLES = "the paper's instances", "photographs of scikit-image"
QUICK_STEP = 4
"""A quick run keeps every fourth pixel along each axis, and divides lambda by four: areas have a
sixteenth of the pixels, boundaries a quarter of the edges."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A segmentation problem, with its name in the paper and what it was built from.

    Attributes
    ----------
    key, title : str
    problem : Problem
        A cut on a grid, and nothing else.
    smoothing : float
        lambda, the factor of the weights.
    source : str
        What the problem was built from, for the reader.
    image : array or None
        The photograph, where there is one.
    """

    key: str
    title: str
    problem: Problem
    smoothing: float
    source: str
    image: Image | None = None

    @property
    def connectivity(self) -> int:
        """Neighbours of an inner pixel."""
        (grid,) = self.problem.terms
        return grid.depth

    def changed(self, title: str, unary: FloatArray, factor: float) -> Instance:
        """Return the instance with another unary, and weights `factor` times as large."""
        (grid,) = self.problem.terms
        arrays = grid.arrays()
        weights = [factor * arrays[f"weights_{k}"] for k in range(self.connectivity // 2)]
        problem = Problem(unary, [GridCut(self.problem.shape, weights, self.connectivity)])
        smoothing = factor * self.smoothing
        return replace(self, title=title, problem=problem, smoothing=smoothing)


class Arrays(NamedTuple):
    """An instance of the public data: its file, and lambda."""

    key: str
    title: str
    file: str
    smoothing: float


class Picture(NamedTuple):
    """A photograph, what marks its object (as for ``segment``), and its ground truth, if known.

    The ground truth is 255 on the object and 0 on the background; other pixels are undecided.
    """

    image: Image
    marks: Mapping[str, Any]
    source: str
    truth: Image | None = None


class Photograph(NamedTuple):
    """An instance that is built from a photograph of the GrabCut set."""

    key: str
    title: str
    file: str

    def files(self, data: Path) -> tuple[Path, Path, Path]:
        """Return the paths of image, scribbles and ground truth."""
        folder = data / "grabcut"
        return (
            folder / "images" / f"{self.file}.jpg",
            folder / "scribbles" / f"{self.file}.png",
            folder / "ground_truth" / f"{self.file}.png",
        )

    def picture(self, data: Path) -> Picture:
        """Read the photograph with its scribbles and its ground truth."""
        image, scribbles, truth = (read_photograph(existing(path)) for path in self.files(data))
        source = f"photograph {self.file} of the GrabCut set, mixtures fitted to its scribbles"
        return Picture(image, {"scribbles": scribbles}, source, truth)


class Stand(NamedTuple):
    """A photograph of scikit-image, by the sample's name, in place of one of the paper's."""

    key: str
    title: str
    sample: str

    def picture(self) -> Picture:
        """Read the photograph with a box around its object."""
        chosen = sample(self.sample)
        source = (
            f"photograph {chosen.file} of scikit-image, mixtures fitted inside and outside a box"
        )
        return Picture(chosen.image(), {"box": chosen.box}, source)


ARRAYS = (
    Arrays("octopus", "Octopus", "001_oct", 0.3),
    Arrays("small_plant", "Small plant", "020_smallplant", 0.3),
)
PHOTOGRAPHS = (
    Photograph("penguin", "Penguin", "106024"),
    Photograph("plane", "Plane", "37073"),
)
STANDS = (
    Stand("octopus", "Coffee (for octopus)", "coffee"),
    Stand("penguin", "Cat (for penguin)", "cat"),
    Stand("plane", "Rocket (for plane)", "rocket"),
    Stand("small_plant", "Astronaut (for small plant)", "astronaut"),
)
ORDER = ("octopus", "penguin", "plane", "small_plant")
"""The order of the paper's panels."""


def load(data: Path | None = None, quick: bool = False) -> list[Instance]:
    """Return the four instances in the paper's order.

    Parameters
    ----------
    data : path, optional
        Folder with ``coopcut/*.mat`` and ``grabcut/{images,scribbles,ground_truth}``; by default
        four photographs of scikit-image take the places of the paper's.
    quick : bool, optional
        Keep every fourth pixel along each axis.

    Raises
    ------
    FileNotFoundError
        If a file of the folder is missing.
    ImportError
        If scikit-image, scikit-learn, Pillow or SciPy is not installed.
    """
    step = QUICK_STEP if quick else 1
    if data is None:
        found = [_photographed(entry.key, entry.title, entry.picture(), step) for entry in STANDS]
    else:
        found = [_from_arrays(data, entry, step) for entry in ARRAYS]
        found += [
            _photographed(entry.key, entry.title, entry.picture(data), step)
            for entry in PHOTOGRAPHS
        ]
    return sorted(found, key=lambda instance: ORDER.index(instance.key))


def _from_arrays(data: Path, entry: Arrays, step: int) -> Instance:
    unary, vertical, horizontal = read_arrays(data, entry.file)
    thinned = unary[::step, ::step]
    horizontal = horizontal[::step, ::step][:, : thinned.shape[1] - 1]
    vertical = vertical[::step, ::step][: thinned.shape[0] - 1]
    smoothing = entry.smoothing / step
    weights = [smoothing * horizontal, smoothing * vertical]
    problem = Problem(thinned, [GridCut(thinned.shape, weights, 4)])
    source = f"unary and 4-neighbour weights of {entry.file}_wts.mat, without superpixels"
    return Instance(entry.key, entry.title, problem, smoothing, source)


def read_arrays(data: Path, name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Read unary, vertical and horizontal weights of the public data, each of an image's shape."""
    path = existing(data / "coopcut" / f"{name}_wts.mat")
    arrays = require("scipy.io").loadmat(path)
    vertical, horizontal = (np.asarray(arrays[key], dtype=np.float64) for key in ("W1", "W2"))
    shape = (horizontal.shape[0], vertical.shape[1])
    unary = np.asarray(arrays["unary"], dtype=np.float64).reshape(shape, order="F")
    return np.ascontiguousarray(unary), vertical, horizontal


def read_superpixels(data: Path, name: str) -> IndexArray:
    """Read a picture of superpixel labels, shape (H, W)."""
    path = existing(data / "coopcut" / f"{name}.mat")
    labels = require("scipy.io").loadmat(path)["sup_img"]
    return np.ascontiguousarray(labels, dtype=np.int32)


def require_files(data: Path) -> None:
    """Check that a data folder is complete, before any work is done.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    """
    for name in [f"{entry.file}_wts" for entry in ARRAYS]:
        existing(data / "coopcut" / f"{name}.mat")
    for instance in SUPERPIXELS:
        existing(data / "coopcut" / f"{instance.photograph}_{instance.superpixels}.mat")
    for photograph in PHOTOGRAPHS:
        for path in photograph.files(data):
            existing(path)


def existing(path: Path) -> Path:
    """Return a path that exists.

    Raises
    ------
    FileNotFoundError
        If it does not; the message says which layout the folder needs.
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist: the data folder needs coopcut/*.mat, grabcut/images, "
            "grabcut/scribbles and grabcut/ground_truth; without a data folder, photographs of "
            "scikit-image take their place"
        )
    return path


def penguin_picture(data: Path | None) -> Picture:
    """Return the photograph of the penguin, or the one that stands in for it."""
    if data is None:
        return next(entry for entry in STANDS if entry.key == "penguin").picture()
    return next(entry for entry in PHOTOGRAPHS if entry.key == "penguin").picture(data)


def _photographed(key: str, title: str, picture: Picture, step: int) -> Instance:
    """Build an instance as the paper describes: mixtures of colours, and weights of RGB vectors."""
    image = picture.image
    seeds = Seeds.of(image.shape[:2], **picture.marks)
    colours = Colours.of(image)
    fitter = ColourFitter(colours.palette, colours.volume, GAUSSIANS, seed=0)
    models = fitter.first(seeds.first_foreground, seeds.first_background)
    inside, outside = (costs[::step, ::step] for costs in models.costs_of(colours.palette))
    smoothing = LAMBDA / step
    rgb = colours.rgb[::step, ::step]
    weights = contrast_weights(rgb, smoothness=smoothing, connectivity=8)
    problem = Problem(inside - outside, [GridCut(inside.shape, weights, 8)])
    return Instance(key, title, problem, smoothing, picture.source, image[::step, ::step])


class SuperpixelInstance(NamedTuple):
    """A grid cut with superpixels: published minimum, exact time, and approximate solutions.

    ``approximate`` holds pairs (seconds, relative error) of SparseCard at precisions 1, 0.01 and
    0.0001 (Veldt, Benson, Kleinberg 2021, arXiv:2110.14859); ``exact_seconds`` is push-relabel on
    a graph of ``exact_arcs`` arcs, from the same source.  ``offset`` turns F into its convention.
    """

    key: str
    photograph: str
    superpixels: str
    smoothing: float
    consistency: float
    minimum: float
    exact_seconds: float
    exact_arcs: float
    approximate: Sequence[tuple[float, float]]

    def problem(self, data: Path, step: int = 1) -> Problem:
        """Build unary + lambda cut + consistency * sum over regions of |S and R| |R without S|."""
        unary, vertical, horizontal = read_arrays(data, self.photograph)
        labels = read_superpixels(data, f"{self.photograph}_{self.superpixels}")
        unary, labels = unary[::step, ::step], labels[::step, ::step]
        horizontal = horizontal[::step, ::step][:, : unary.shape[1] - 1]
        vertical = vertical[::step, ::step][: unary.shape[0] - 1]
        weights = [self.smoothing * horizontal, self.smoothing * vertical]
        factor = self.consistency
        regions = Cardinality.from_labels(labels, lambda k, m: factor * k * (m - k))
        return Problem(unary, [GridCut(unary.shape, weights, 4), regions])


SUPERPIXELS = (
    SuperpixelInstance(
        "oct500", "001_oct", "p500", 0.01, 0.008, -4644857.732315713, 187.2, 147.1e6,
        ((2.3, 2.8e-3), (6.5, 7e-5), (56.0, 1.8e-7)),
    ),
    SuperpixelInstance(
        "plant200", "020_smallplant", "p200", 0.3, 0.002, -3004377.0839169645, 1885.8, 358.6e6,
        ((8.0, 2.6e-3), (17.0, 5e-5), (167.0, 1.4e-7)),
    ),
    SuperpixelInstance(
        "plant500", "020_smallplant", "p500", 0.08, 0.008, -3015702.7204441344, 401.0, 147.1e6,
        ((4.1, 4.0e-3), (12.0, 6e-5), (90.0, 1.0e-6)),
    ),
)  # fmt: skip
