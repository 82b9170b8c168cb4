"""Several objects at once: from a photograph and strokes of several labels to a labelling.

Fit a colour model to the strokes of each label
Costs of a label: -log of its model's density, and of a stroke all others are forbidden
Weights of neighbours by their contrast, as for one object (``contrast.py``)
Minimise the energy with Potts distances, with a proven bound (``submin.labels``)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import IndexArray
from submin.labels import LabelProblem, LabelResult, minimize_labels
from submin.terms import GridCut
from submin.vision.colour_models import ColourFitter, ColourModel
from submin.vision.colours import Colours
from submin.vision.contrast import contrast_weights
from submin.vision.image_files import refuse_path

EXCLUDED = -1


@dataclass(frozen=True, eq=False, repr=False)
class LabelSegmentation:
    """The answer of ``segment_labels``.

    Attributes
    ----------
    labels : int32 array, shape (H, W)
        The labels of the seeds; -1 where pixels are excluded.
    result : LabelResult
        With labels numbered from 0 in the order of ``values``, their energy and its bound.
    problem : LabelProblem
        What was solved; ``labels.verify_labels(problem, result)`` checks the bound.
    values : tuple of int
        The labels of the seeds, ascending.
    models : tuple of ColourModel
        One for each.
    """

    labels: IndexArray
    result: LabelResult
    problem: LabelProblem
    values: tuple[int, ...]
    models: tuple[ColourModel, ...]

    def __repr__(self) -> str:
        return f"<LabelSegmentation of {len(self.values)} labels: {self.result!r}>"


def segment_labels(
    image: npt.ArrayLike,
    seeds: npt.ArrayLike,
    *,
    smoothness: float = 50.0,
    connectivity: int = 8,
    components: int = 5,
    relative_tol: float = 0.005,
    time_limit: float | None = None,
    threads: int = 0,
    progress: bool = False,
    seed: int = 0,
) -> LabelSegmentation:
    """Divide a photograph among several objects that strokes mark.

    Parameters
    ----------
    image : array_like, shape (H, W), (H, W, 3) or (H, W, 4)
        As ``segment`` takes it.
    seeds : array_like of int, shape (H, W)
        0: unknown; k > 0: a stroke on label k, which is kept; -1: a pixel that takes no part.  Two
        labels at least.
    smoothness, connectivity, components, seed
        As for ``segment``.
    relative_tol, time_limit, threads, progress
        As for ``minimize_labels``.

    Returns
    -------
    LabelSegmentation

    Raises
    ------
    ImportError
        If scikit-image or scikit-learn is missing: ``pip install "submin[vision]"``.
    TypeError, ValueError
        If an input does not fit; if there are fewer than two labels.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((12, 20))
    >>> image[:, 7:14], image[:, 14:] = 0.5, 1.0
    >>> seeds = np.zeros((12, 20), int)
    >>> seeds[5, [2, 10, 17]] = 1, 2, 3
    >>> found = segment_labels(image, seeds)
    >>> found.labels[0].tolist()
    [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3]
    """
    _checks.whole_number("components", components, 1)
    _checks.whole_number("seed", seed, 0)
    colours = Colours.of(image)
    marked = checked_seeds(seeds, colours.shape)
    values = tuple(np.unique(marked[marked > 0]).tolist())
    if len(values) < 2:
        raise ValueError(
            f"seeds have the labels {list(values)}: at least two, each with a stroke, are needed"
        )
    fitter = ColourFitter(colours.palette, colours.volume, components, seed)
    models = tuple(fitter.fit(marked == value) for value in values)
    cells = marked != EXCLUDED
    weights = contrast_weights(
        colours.palette.pixels, smoothness=smoothness, connectivity=connectivity, cells=cells
    )
    own = np.stack([model.costs_of(colours.palette).astype(np.float32) for model in models])
    problem = LabelProblem(
        label_costs(own, marked, values),
        [GridCut(colours.shape, weights, connectivity, cells=cells)],
    )
    result = minimize_labels(
        problem, relative_tol=relative_tol, time_limit=time_limit, threads=threads,
        progress=progress,
    )  # fmt: skip
    labels = np.array(values, dtype=np.int32)[result.labels]
    labels[marked == EXCLUDED] = EXCLUDED
    return LabelSegmentation(labels, result, problem, values, models)


def checked_seeds(seeds: npt.ArrayLike, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return strokes as integers of the shape of the image, or refuse them.

    Raises ``TypeError`` if they do not hold integers, and ``ValueError`` if the shape differs or a
    label is below -1.
    """
    refuse_path("seeds", seeds, "read_photograph")
    _checks.refuse_masked("seeds", seeds, "seeds.filled(0) leaves them unknown")
    array = np.asarray(seeds)
    if array.dtype.kind not in "iu":
        raise TypeError(f"seeds must hold integers, but their type is {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"seeds have shape {array.shape}, but the image has {shape}")
    _checks.refuse_where(
        "seeds", array, array < EXCLUDED, "labels are above 0; 0 is unknown, -1 takes no part"
    )
    _checks.refuse_where(
        "seeds", array, array > _checks.LARGEST_INDEX, "labels must fit into 32 bits"
    )
    return array.astype(np.int64)


def label_costs(
    own: npt.NDArray[Any], marked: npt.NDArray[np.int64], values: tuple[int, ...]
) -> npt.NDArray[Any]:
    """Change the costs of all labels in place, to those with seeds.

    A seed has no label but its own, and labels cost nothing where pixels take no part.
    """
    for costs, value in zip(own, values, strict=True):
        costs[(marked > 0) & (marked != value)] = np.inf
        costs[marked == EXCLUDED] = 0.0
    return own
