"""Labels by seeds, in any number of dimensions: ``graph_cut``, beside the random walker.

Costs of a label: -log of its model's density, learned at its seeds; or -log of a probability
Weights of neighbours by their contrast and their distance (``contrast.py``)
Two labels: the exact minimum cut, with its proof.  More: a labelling with a proven bound

Boykov, Jolly 2001, doi:10.1109/ICCV.2001.937505; Boykov, Veksler, Zabih 2001,
doi:10.1109/34.969114.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._lazy import lazy
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.labels import LabelProblem, LabelResult, minimize_labels
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.solve.certificate import Status
from submin.solve.result import Result
from submin.terms import GridCut
from submin.vision.colour_models import ColourFitter, ColourModel
from submin.vision.colours import GREY_VOLUME, Pixels, stretched
from submin.vision.contrast import checked_spacing, contrast_weights, typical_contrast
from submin.vision.image_files import refuse_path
from submin.vision.labelling import EXCLUDED, checked_seeds, label_costs
from submin.vision.palette import Palette

RANGE = 100.0
"""Extent of the features, as that of L*, for which the models' floors are made."""
LEAST_PROBABILITY = 1e-6
"""A label that a network rules out costs 14 nats: only seeds are certain."""
ROUNDING = 1e-5
"""How far beyond 1 a probability of single precision may be."""

Models = tuple[ColourModel, ...]


@dataclass(frozen=True, eq=False, repr=False)
class GraphCut:
    """The answer of ``graph_cut``.

    Attributes
    ----------
    labels : int32 array, the shape of the seeds
        The labels of the seeds; -1 where pixels are excluded.
    values : tuple of int
        The labels, ascending.
    result : Result or LabelResult
        Of two labels the minimum cut, whose set has the second one; of more a labelling by
        numbers from 0, in the order of `values`.
    problem : Problem or LabelProblem
        What was solved: ``sm.verify(problem, result)`` or ``sm.labels.verify_labels(problem,
        result)`` checks the proof.
    models : tuple of ColourModel
        One for each label, as far as costs come from them.
    """

    labels: IndexArray
    values: tuple[int, ...]
    result: Result | LabelResult
    problem: Problem | LabelProblem
    models: Models

    @property
    def value(self) -> float:
        """The energy of the labels, in nats."""
        return self.result.value

    @property
    def lower_bound(self) -> float:
        """No labels have less energy than this."""
        return self.result.lower_bound

    @property
    def gap(self) -> float:
        """``value - lower_bound``."""
        return self.result.gap

    @property
    def status(self) -> Status:
        """What was proved."""
        return self.result.status

    def __repr__(self) -> str:
        return (
            f"<GraphCut of {len(self.values)} labels, {self.status.name}: value {self.value:.12g}, "
            f"gap {self.gap:.3g}>"
        )


def graph_cut(
    image: npt.ArrayLike,
    seeds: npt.ArrayLike,
    *,
    probabilities: npt.ArrayLike | None = None,
    smoothness: float = 10.0,
    contrast: float | None = None,
    connectivity: int | None = None,
    spacing: Sequence[float] | None = None,
    channel_axis: int | None = None,
    components: int = 5,
    relative_tol: float = 0.005,
    time_limit: float | None = None,
    threads: int = 0,
    progress: bool = False,
    seed: int = 0,
) -> GraphCut:
    """Divide an image or a volume among labels that seeds mark: exactly, if they are two.

    It takes what ``skimage.segmentation.random_walker`` takes: ``graph_cut(image, seeds).labels``
    is in place of ``random_walker(image, seeds)``.

    Parameters
    ----------
    image : array_like of any shape
        One axis may hold channels (``channel_axis``).
        Real numbers of any type in any number of dimensions.  They are stretched from
        minimum..maximum to the same range, with one map for all channels.
    seeds : array_like of int, the shape of the image without channels
        0: unknown; k > 0: a seed of label k, which is kept; -1: a pixel that takes no part, whose
        value may be anything.
    probabilities : array_like, the shape of the seeds after an axis of labels, optional
        Those of a network, say, for the labels 1, 2, ...: costs are ``-log`` of them, and seeds may
        be few, or none.  By default a mixture of Gaussians is learned from the seeds of each label.
    smoothness : float, optional
        Cost of cutting an edge between nearest neighbours without contrast, in nats.
    contrast : float, optional
        Difference of neighbours, in units of the image, at which an edge costs exp(-1/2) of that;
        by default the root of the mean square over the image.
    connectivity : int, optional
        4, 8 (the default), 16 or 32 neighbours in two dimensions; 6 (the default), 18 or 26 in
        three; 2 per axis in more.
    spacing : sequence of float, optional
        Size of a pixel along each axis, in any unit; 1 by default.  An edge weighs in inverse
        proportion to its length, as the area between the two pixels does.
    channel_axis : int, optional
        The axis of the image that holds channels; None, the default, for an image without.
    components : int, optional
        Gaussians in each model; 0 leaves the models out, so that seeds and edges alone decide.
    relative_tol : float, optional
        The gap at which to stop with more than two labels, as a part of the energy.
    time_limit, threads, progress
        As for ``minimize`` and ``minimize_labels``.
    seed : int, optional
        Fixes all random choices of the models.

    Returns
    -------
    GraphCut
        ``labels``, with their energy and its proof.

    Raises
    ------
    ImportError
        If scikit-learn is missing, which learns the models: ``pip install "submin[vision]"``.
    TypeError, ValueError
        If an input does not fit; if there are fewer than two labels.

    Notes
    -----
    The energy is sum_v -log p(x_v) + sum over edges of weight [x_v != x_w].  With two labels the
    answer is proved optimal, as a rule; of equally good cuts it is the one with the fewest pixels
    of the larger label.  With more the problem is NP-hard, and the answer has a proven bound.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((3, 12, 20))
    >>> image[:, :, 9:] = 1.0
    >>> seeds = np.zeros(image.shape, int)
    >>> seeds[1, 5, [2, 17]] = 1, 2
    >>> found = graph_cut(image, seeds, spacing=(3.0, 1.0, 1.0))
    >>> found.labels[0, 0].tolist(), found.status.name
    ([1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2], 'OPTIMAL')
    """
    marked = SeededImage.of(image, seeds, channel_axis)
    if probabilities is None:
        models = marked.learned(components, seed)
        values, costs = marked.values, marked.costs_of(models)
    else:
        models, costs = (), marked.costs_given(probabilities)
        values = tuple(range(1, len(costs) + 1))
    cut = marked.cut(smoothness, contrast, connectivity, spacing)
    if len(values) == 2:
        problem = binary_problem(costs, cut)
        result = minimize(problem, time_limit=time_limit, threads=threads, progress=progress)
        return GraphCut(marked.labels(result.minimizer, values), values, result, problem, models)
    energy = LabelProblem(costs, [cut])
    labelling = minimize_labels(
        energy, relative_tol=relative_tol, threads=threads, progress=progress,
        time_limit=time_limit,
    )  # fmt: skip
    labels = marked.labels(labelling.labels, values)
    return GraphCut(labels, values, labelling, energy, models)


def binary_problem(costs: npt.NDArray[Any], cut: GridCut) -> Problem:
    """Return the problem of two labels: S has the second one."""
    return Problem.from_costs(costs[1], costs[0], [cut])


@dataclass(frozen=True, eq=False)
class SeededImage:
    """An image with its seeds.

    Attributes
    ----------
    pixels : array, shape (*shape, channels)
        Finite real numbers.
    features : float array, shape (*shape, channels)
        The same, stretched to 0..100.
    seeds : int array, shape (*shape,)
    contrast : float or None
        The typical contrast of the features, of a part that of the whole; None: still unknown.
    """

    pixels: Pixels
    features: FloatArray
    seeds: npt.NDArray[np.int64]
    contrast: float | None = None

    @classmethod
    def of(
        cls, image: npt.ArrayLike, seeds: npt.ArrayLike, channel_axis: int | None = None
    ) -> SeededImage:
        """Check an image and its seeds; errors are those of ``graph_cut``."""
        pixels = _channels_last(image, channel_axis)
        marked = checked_seeds(seeds, pixels.shape[:-1])
        cells = marked != EXCLUDED
        if not cells.any():
            raise ValueError("seeds are -1 everywhere, so that no pixel takes part")
        pixels = _filled(pixels, cells)
        return cls(pixels, RANGE * stretched(pixels, cells), marked)

    def with_contrast(self, connectivity: int) -> SeededImage:
        """Return the same with its typical contrast, that of the weights of its parts, too."""
        contrast = typical_contrast(self.features, connectivity=connectivity, cells=self.cells)
        return replace(self, contrast=contrast)

    def part(self, box: tuple[slice, ...]) -> SeededImage:
        """Return a part, with the features that it has in the whole."""
        return replace(
            self, pixels=self.pixels[box], features=self.features[box], seeds=self.seeds[box]
        )

    @lazy
    def cells(self) -> BoolArray | None:
        """The pixels that take part; None if all do."""
        takes_part = self.seeds != EXCLUDED
        return None if takes_part.all() else takes_part

    @lazy
    def palette(self) -> Palette:
        """The distinct features."""
        return Palette.of(self.features)

    @lazy
    def values(self) -> tuple[int, ...]:
        """The labels of the seeds, ascending."""
        return tuple(np.unique(self.seeds[self.seeds > 0]).tolist())

    def learned(self, components: int, seed: int = 0) -> Models:
        """Learn a model for each label from its seeds; none if there are to be no components."""
        _checks.whole_number("components", components, 0)
        _checks.whole_number("seed", seed, 0)
        if len(self.values) < 2:
            raise ValueError(
                f"seeds have the labels {list(self.values)}: at least two, each with a seed, are "
                "needed, or probabilities"
            )
        if not components:
            return ()
        volume = max(GREY_VOLUME, RANGE ** self.features.shape[-1])
        fitter = ColourFitter(self.palette, volume, components, seed)
        return tuple(fitter.fit(self.seeds == value) for value in self.values)

    def costs_of(self, models: Models) -> npt.NDArray[Any]:
        """Return what each label costs each pixel, shape (labels, *shape), by its model."""
        if not models:
            own = np.zeros((len(self.values), *self.seeds.shape))
            return label_costs(own, self.seeds, self.values)
        own = np.stack([model.costs_of(self.palette) for model in models])
        return label_costs(own, self.seeds, self.values)

    def costs_given(self, probabilities: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return what each label costs each pixel, by its probability."""
        given = _checks.float_array("probabilities", probabilities)
        shape = self.seeds.shape
        if given.shape[1:] != shape or len(given) < 2:
            raise ValueError(
                f"probabilities has shape {given.shape}, but it must be (labels, "
                f"{', '.join(map(str, shape))}) with two labels or more; of one map p of the "
                "second label give np.stack([1 - p, p])"
            )
        wrong = ~((given >= 0.0) & (given <= 1.0 + ROUNDING)) & (self.seeds != EXCLUDED)
        _checks.refuse_where("probabilities", given, wrong, "it must be from 0 to 1")
        _checks.refuse_where(
            "seeds", self.seeds, self.seeds > len(given),
            f"probabilities are those of the labels 1 to {len(given)}",
        )  # fmt: skip
        own = -np.log(np.clip(np.nan_to_num(given), LEAST_PROBABILITY, 1.0))
        return label_costs(own, self.seeds, tuple(range(1, len(given) + 1)))

    def cut(
        self,
        smoothness: float,
        contrast: float | None,
        connectivity: int | None,
        spacing: Sequence[float] | None,
    ) -> GridCut:
        """Return the cut of the grid, with weights by contrast and distance."""
        dimensions = self.seeds.ndim
        neighbours = connectivity or (8 if dimensions == 2 else 2 * dimensions)
        sizes = checked_spacing(spacing, dimensions)
        weights = contrast_weights(
            self.features if contrast is None else self.pixels,
            contrast=self.contrast if contrast is None else contrast,
            smoothness=smoothness, connectivity=neighbours, cells=self.cells,
            spacing=sizes / sizes.min(),
        )  # fmt: skip
        return GridCut(self.seeds.shape, weights, neighbours, cells=self.cells)

    def labels(self, numbers: npt.NDArray[Any], values: Sequence[int]) -> IndexArray:
        """Return the labels of a labelling by numbers from 0 (or a mask)."""
        labels = np.array(values, dtype=np.int32)[numbers.astype(np.int32)]
        labels[self.seeds == EXCLUDED] = EXCLUDED
        return labels


def _channels_last(image: npt.ArrayLike, channel_axis: int | None) -> Pixels:
    """Return an image as an array with channels last, or refuse it."""
    refuse_path("image", image, "read_photograph")
    _checks.refuse_masked(
        "image", image, "give image.filled(0), and seeds of -1 where it is masked"
    )
    array = np.asarray(image)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"image must hold real numbers, but its type is {array.dtype}")
    if not array.size or not array.ndim:
        raise ValueError(f"image has shape {array.shape}: it has no pixels")
    if channel_axis is None:
        return array[..., None]
    if not -array.ndim <= channel_axis < array.ndim or array.ndim < 2:
        raise ValueError(
            f"channel_axis is {channel_axis}, but the image has shape {array.shape}: it must be "
            "one of its axes, and not the only one"
        )
    return np.moveaxis(array, channel_axis, -1)


def _filled(pixels: Pixels, cells: BoolArray) -> Pixels:
    """Return pixels that are all finite: those that take no part have the value of one that does.

    Raises ``ValueError`` for one that takes part and is not finite.
    """
    if not cells.all():
        pixels = np.where(cells[..., None], pixels, pixels[_checks.first_index(cells)])
    if pixels.dtype.kind == "f":
        shown = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
        _checks.refuse_where(
            "image", shown, ~np.isfinite(shown), "it must be finite, or have a seed of -1"
        )
    return pixels
