"""An object cut out of a volume by scribbles, in the part of it that the scribbles can reach.

Learn a model of object and background from their scribbles, and the contrast of the whole volume
box <- the scribbles, and a margin
Repeat: minimise in the box; while the mask touches a face inside the volume, grow the box there

A mask that touches no such face costs the same in the box and in the volume, but for a constant,
and every other mask within the box costs no less in the volume than in the box: so it is optimal
among all masks within the box.  Voxels beyond it that look like the object could lower the cost, by
no more than what they gain alone: the sum of their negative costs bounds that.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.solve.driver import Callback
from submin.solve.result import Result
from submin.vision.contrast import checked_spacing
from submin.vision.graph_cut import Models, SeededImage, binary_problem

BACKGROUND, OBJECT = 1, 2
MARGIN = 8
"""Voxels of the least size around the scribbles."""
GROWTH = 0.5
"""A box grows by this part of its length where the mask touches a face."""

Box = tuple[slice, ...]


@dataclass(frozen=True, eq=False, repr=False)
class VolumeSegmentation:
    """The answer of ``segment_volume``.

    Attributes
    ----------
    mask : bool array, the shape of the volume
        ``True`` on the object.
    box : tuple of slice
        The part of the volume that was solved; the mask lies in it.
    result : Result
        Of the problem in the box.
    problem : Problem
        ``sm.verify(problem, result)`` checks the certificate.
    models : tuple of ColourModel
        Of background and object.
    beyond : float
        What a mask of the whole volume, beyond the box, may cost less, at most, in nats; 0 proves
        that the mask is as good on the whole volume.  Infinite if the solve was stopped.
    """

    mask: BoolArray
    box: Box
    result: Result
    problem: Problem
    models: Models
    beyond: float

    @property
    def whole(self) -> bool:
        """Whether the box is the whole volume."""
        return self.result.minimizer.shape == self.mask.shape

    def __repr__(self) -> str:
        extent = " x ".join(map(str, self.result.minimizer.shape))
        return (
            f"<VolumeSegmentation of {int(self.mask.sum())} voxels in a box of {extent}, "
            f"{self.result.status.name}: {self.result.certificate}>"
        )


def segment_volume(
    volume: npt.ArrayLike,
    scribbles: npt.ArrayLike,
    *,
    spacing: Sequence[float] | None = None,
    smoothness: float = 10.0,
    contrast: float | None = None,
    connectivity: int = 6,
    components: int = 5,
    whole: bool = False,
    time_limit: float | None = None,
    threads: int = 0,
    progress: bool = False,
    callback: Callback | None = None,
    seed: int = 0,
) -> VolumeSegmentation:
    """Cut an object out of a volume.

    Parameters
    ----------
    volume : array_like, three axes
        Real numbers.
    scribbles : array_like of int, the same shape
        0: unmarked; 1: background; 2: object; -1: takes no part.  Both sides need a scribble.
    spacing, smoothness, contrast, components, seed
        As for ``submin.vision.graph_cut``.
    connectivity : int, optional
        6, 18 or 26 neighbours.
    whole : bool, optional
        Solve the whole volume at once, and not the part that the scribbles can reach.
    time_limit, threads, progress, callback
        As for ``minimize``; the limit is on all solves together.

    Returns
    -------
    VolumeSegmentation

    Raises
    ------
    ImportError
        If scikit-learn is missing: ``pip install "submin[vision]"``.
    TypeError, ValueError
        If an input does not fit, or a side has no scribble.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.zeros((30, 40, 50))
    >>> volume[10:14, 10:16, 10:18] = 1.0
    >>> scribbles = np.zeros(volume.shape, int)
    >>> scribbles[12, 12, 12], scribbles[12, 5, 12] = 2, 1
    >>> found = segment_volume(volume, scribbles)
    >>> bool((found.mask == (volume > 0)).all()), found.result.minimizer.shape, found.beyond
    (True, (17, 21, 17), 0.0)
    """
    started = time.perf_counter()
    given = _checked(volume, scribbles).with_contrast(connectivity)
    models = given.learned(components, seed)
    costs = given.costs_of(models)
    box = _every(given) if whole else _around(given, spacing)
    while True:
        cut = given.part(box).cut(smoothness, contrast, connectivity, spacing)
        problem = binary_problem(costs[(slice(None), *box)], cut)
        left = None if time_limit is None else time_limit - (time.perf_counter() - started)
        result = minimize(
            problem, threads=threads, progress=progress, callback=callback,
            time_limit=None if left is None else max(0.0, left),
        )  # fmt: skip
        grown = _grown(box, result.minimizer, given.seeds.shape)
        stopped = result.interrupted or (left is not None and left <= 0.0)
        if grown == box or stopped:
            break
        box = grown
    mask = np.zeros(given.seeds.shape, dtype=np.bool_)
    mask[box] = result.minimizer
    beyond = _gain_beyond(costs, box) if grown == box else np.inf
    return VolumeSegmentation(mask, box, result, problem, models, beyond)


def _checked(volume: npt.ArrayLike, scribbles: npt.ArrayLike) -> SeededImage:
    """Check a volume and its scribbles."""
    given = SeededImage.of(volume, scribbles)
    if given.seeds.ndim != 3:
        raise ValueError(f"volume has shape {given.seeds.shape}: it must have three axes")
    if given.values != (BACKGROUND, OBJECT):
        raise ValueError(
            f"scribbles have the labels {list(given.values)}: both 1, on the background, and 2, on "
            "the object, are needed; submin.vision.graph_cut takes any labels"
        )
    return given


def _every(given: SeededImage) -> Box:
    return tuple(slice(0, length) for length in given.seeds.shape)


def _around(given: SeededImage, spacing: Sequence[float] | None) -> Box:
    """Return the box of all scribbles, and a margin."""
    sizes = checked_spacing(spacing, 3)
    margins = np.ceil(MARGIN * sizes.min() / sizes).astype(int)
    marked = given.seeds > 0
    box = []
    for axis, (margin, length) in enumerate(zip(margins.tolist(), marked.shape, strict=True)):
        others = tuple(other for other in range(3) if other != axis)
        places = np.flatnonzero(marked.any(axis=others))
        first, last = int(places[0]), int(places[-1])
        box.append(slice(max(0, first - margin), min(length, last + 1 + margin)))
    return tuple(box)


def _grown(box: Box, mask: BoolArray, shape: tuple[int, ...]) -> Box:
    """Return the box, larger where the mask touches a face that is not one of the volume."""
    grown = []
    for axis, (part, length) in enumerate(zip(box, shape, strict=True)):
        step = max(MARGIN, round(GROWTH * (part.stop - part.start)))
        start, stop = part.start, part.stop
        if start > 0 and mask.take(0, axis).any():
            start = max(0, start - step)
        if stop < length and mask.take(-1, axis).any():
            stop = min(length, stop + step)
        grown.append(slice(start, stop))
    return tuple(grown)


def _gain_beyond(costs: npt.NDArray[np.float64], box: Box) -> float:
    """Return the sum of what voxels beyond the box cost less as object than as background."""
    gains = costs[0] - costs[1]
    gains[box] = 0.0
    return float(np.maximum(gains, 0.0).sum())
