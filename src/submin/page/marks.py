"""What a person has marked: strokes and a box, with undo and redo."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from submin._typing import IndexArray
from submin.vision.seeds import BACKGROUND, OBJECT, UNMARKED

Labels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]

LEAST_RADIUS, LARGEST_RADIUS = 0.5, 500.0
MOST_POINTS = 20_000
MOST_STEPS = 300
"""Steps that can be undone."""
BAND = 0.04
"""Part of the shorter side of a frame that counts as background until some is painted."""


@dataclass
class Step:
    """What one stroke, box or refit has changed: parts in the order in which they were painted."""

    key: object
    parts: list[tuple[IndexArray, Labels, int]] = field(default_factory=list)
    box: tuple[Box | None, Box | None] | None = None
    learned: tuple[bytes | None, bytes | None] | None = None


class Patch(NamedTuple):
    """A rectangle of labels that have changed."""

    x: int
    y: int
    width: int
    height: int


class Marks:
    """Labels of the pixels of one photograph.

    Attributes
    ----------
    labels : uint8 array, shape (H, W)
        0 unmarked, 1 background, 2 object, as in ``submin.vision.scribble_labels``.
    box : (x1, y1, x2, y2) or None
        All outside of it is background.
    learned : bytes or None
        The lesson of the models in use, as ``packed_lesson`` makes it.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape
        self.labels: Labels = np.zeros(shape, np.uint8)
        self.box: Box | None = None
        self.learned: bytes | None = None
        self.done: list[Step] = []
        self.undone: list[Step] = []

    @property
    def painted(self) -> tuple[bool, bool, Box | None]:
        """Whether object and background are painted, and the box: what the first models need."""
        return (
            bool((self.labels == OBJECT).any()),
            bool((self.labels == BACKGROUND).any()),
            self.box,
        )

    def seeds(self) -> Labels:
        """Return labels with all outside of the box as background."""
        seeds = self.labels.copy()
        if self.box is not None:
            seeds[~self.inside() & (seeds == UNMARKED)] = BACKGROUND
        return seeds

    def inside(self) -> npt.NDArray[np.bool_]:
        """Return the pixels within the box; all, if there is none."""
        inside = np.ones(self.shape, np.bool_)
        if self.box is not None:
            x1, y1, x2, y2 = self.box
            inside[:] = False
            inside[y1:y2, x1:x2] = True
        return inside

    def paint(self, key: object, label: int, points: Sequence[Any], radius: float) -> Patch:
        """Label the pixels within `radius` of a line; the same `key` goes on with a stroke.

        An object that is painted beyond the box makes the box larger.

        Raises
        ------
        ValueError
            If a number does not fit.
        """
        line = _checked_line(points)
        if label not in (UNMARKED, BACKGROUND, OBJECT):
            raise ValueError(f"label is {label!r}: it must be 0, 1 or 2")
        if not radius > 0.0:
            raise ValueError(f"radius is {radius}: it must be above 0")
        thickness = min(max(radius, LEAST_RADIUS), LARGEST_RADIUS)
        cells = stroke_cells(self.shape, line, thickness)
        cells = cells[self.labels.ravel()[cells] != label]
        if not cells.size:
            return self._around(cells)
        step = self._step(key)
        step.parts.append((cells, self.labels.ravel()[cells].copy(), label))
        self.labels.ravel()[cells] = label
        if self.box is not None and label == OBJECT:
            grown = self._grown(self.box)
            if grown != self.box:
                step.box = (step.box[0] if step.box else self.box, grown)
                self.box = grown
        return self._around(cells)

    def set_box(self, box: Sequence[Any] | None) -> None:
        """Replace the box; object strokes outside make it larger.

        Raises
        ------
        ValueError
            If it is no box of the photograph.
        """
        new = None if box is None else self._grown(_checked_box(box, self.shape))
        if new != self.box:
            self._step(object()).box = (self.box, new)
            self.box = new

    def learn(self, learned: bytes, own_step: bool = False) -> None:
        """Note the lesson of new models: undo goes back to the one before the last step.

        With `own_step` it is a step by itself.
        """
        if own_step:
            self._step(object())
        if self.done:
            step = self.done[-1]
            step.learned = (step.learned[0] if step.learned else self.learned, learned)
        self.learned = learned

    def clear(self) -> Patch:
        """Take all strokes and the box away."""
        cells = np.flatnonzero(self.labels).astype(np.int32)
        step = self._step(object())
        step.parts.append((cells, self.labels.ravel()[cells].copy(), UNMARKED))
        step.box = (self.box, None)
        self.labels[:] = UNMARKED
        self.box = None
        return self._around(cells)

    def undo(self) -> Patch:
        """Take the last step back."""
        if not self.done:
            return Patch(0, 0, 0, 0)
        step = self.done.pop()
        self.undone.append(step)
        for cells, before, _ in reversed(step.parts):
            self.labels.ravel()[cells] = before
        return self._moved(step, 0)

    def redo(self) -> Patch:
        """Do again what was taken back last."""
        if not self.undone:
            return Patch(0, 0, 0, 0)
        step = self.undone.pop()
        self.done.append(step)
        for cells, _, label in step.parts:
            self.labels.ravel()[cells] = label
        return self._moved(step, 1)

    def _moved(self, step: Step, end: int) -> Patch:
        if step.box is not None:
            self.box = step.box[end]
        if step.learned is not None:
            self.learned = step.learned[end]
        cells = [cells for cells, _, _ in step.parts]
        return self._around(np.concatenate(cells) if cells else np.zeros(0, np.int32))

    def _step(self, key: object) -> Step:
        """Return the step with a key, if it is the last one, or a new one."""
        self.undone.clear()
        if not self.done or self.done[-1].key != key:
            self.done.append(Step(key))
            del self.done[:-MOST_STEPS]
        return self.done[-1]

    def _around(self, cells: IndexArray) -> Patch:
        if not cells.size:
            return Patch(0, 0, 0, 0)
        rows, columns = np.divmod(cells, self.shape[1])
        x, y = int(columns.min()), int(rows.min())
        return Patch(x, y, int(columns.max()) - x + 1, int(rows.max()) - y + 1)

    def _grown(self, box: Box) -> Box:
        rows, columns = np.nonzero(self.labels == OBJECT)
        if not rows.size:
            return box
        x1, y1, x2, y2 = box
        return (
            min(x1, int(columns.min())), min(y1, int(rows.min())),
            max(x2, int(columns.max()) + 1), max(y2, int(rows.max()) + 1),
        )  # fmt: skip

    def lesson(self, mask: npt.NDArray[np.bool_] | None = None) -> Labels | None:
        """Return the labels that models should learn from; None if nothing is marked.

        Strokes teach.  With a mask or a box, so does everything on either side of it.  A side of
        which nothing is painted is guessed: a frame for the background, the middle for the object.
        """
        some_object, some_background, box = self.painted
        if not (some_object or some_background or box):
            return None
        if mask is not None or box is not None:
            inside = self.inside() if mask is None else mask & self.inside()
            guess = np.where(inside, OBJECT, BACKGROUND).astype(np.uint8)
            lesson = np.where(self.labels, self.labels, guess)
        else:
            lesson = self.labels.copy()
            if not some_object:
                lesson[self._middle() & (lesson == UNMARKED)] = OBJECT
            if not some_background:
                lesson[self._frame() & (lesson == UNMARKED)] = BACKGROUND
        return lesson if (lesson == OBJECT).any() and (lesson == BACKGROUND).any() else None

    def _frame(self) -> npt.NDArray[np.bool_]:
        width = max(1, round(BAND * min(self.shape)))
        frame = np.ones(self.shape, np.bool_)
        frame[width:-width, width:-width] = False
        return frame

    def _middle(self) -> npt.NDArray[np.bool_]:
        height, width = self.shape
        middle = np.zeros(self.shape, np.bool_)
        middle[height // 4 : height - height // 4, width // 4 : width - width // 4] = True
        return middle


def packed_lesson(labels: Labels) -> bytes:
    """Return labels in few bytes."""
    return zlib.compress(labels.tobytes(), 1)


def unpacked_lesson(data: bytes, shape: tuple[int, int]) -> Labels:
    """Return the labels of a lesson.

    Raises
    ------
    ValueError
        If it is none of this shape.
    """
    size = shape[0] * shape[1]
    try:
        labels = np.frombuffer(zlib.decompressobj().decompress(data, size + 1), np.uint8)
    except zlib.error as error:
        raise ValueError(f"the lesson is damaged: {error}") from None
    if labels.size != size or not {BACKGROUND, OBJECT} <= set(np.unique(labels)) <= {0, 1, 2}:
        raise ValueError("the lesson is of another photograph")
    return labels.reshape(shape).copy()


def stroke_cells(
    shape: tuple[int, int], line: npt.NDArray[np.float64], radius: float
) -> IndexArray:
    """Return the flat numbers of the pixels whose centres are within `radius` of a line.

    Parameters
    ----------
    shape : (H, W)
    line : float array, shape (k, 2)
        x and y; the centre of the pixel in row r and column c is (c + 0.5, r + 0.5).
    radius : float
    """
    starts, ends = (line, line) if len(line) == 1 else (line[:-1], line[1:])
    found = [_near(shape, start, end, radius) for start, end in zip(starts, ends, strict=True)]
    return np.unique(np.concatenate(found)).astype(np.int32)


def _near(
    shape: tuple[int, int],
    start: npt.NDArray[np.float64],
    end: npt.NDArray[np.float64],
    radius: float,
) -> IndexArray:
    """Return the pixels near one piece of a line; a thin one has those that it runs through."""
    height, width = shape
    low, high = np.minimum(start, end) - radius, np.maximum(start, end) + radius
    x1, y1 = np.maximum(np.floor(low), 0).astype(int)
    x2, y2 = np.minimum(np.floor(high) + 1, (width, height)).astype(int)
    if x1 >= x2 or y1 >= y2:
        return np.zeros(0, np.int32)
    y, x = np.ogrid[y1:y2, x1:x2]
    along = end - start
    length = float(along @ along)
    dx, dy = x + 0.5 - start[0], y + 0.5 - start[1]
    t = np.clip((dx * along[0] + dy * along[1]) / length, 0.0, 1.0) if length else 0.0
    away = (dx - t * along[0]) ** 2 + (dy - t * along[1]) ** 2
    rows, columns = np.nonzero(away <= max(radius, 0.7072) ** 2)
    cells: IndexArray = ((rows + y1) * width + columns + x1).astype(np.int32)
    return cells


def _checked_line(points: Sequence[Any]) -> npt.NDArray[np.float64]:
    try:
        line = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("points must be pairs of numbers") from None
    if line.ndim != 2 or line.shape[1] != 2 or not 1 <= len(line) <= MOST_POINTS:
        raise ValueError(f"points have shape {line.shape}: they must be pairs of numbers")
    if not (np.isfinite(line).all() and np.abs(line).max() < 1e6):
        raise ValueError("points must be finite, and near the photograph")
    return line


def _checked_box(box: Sequence[Any], shape: tuple[int, int]) -> Box:
    try:
        corners = np.asarray(box, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("a box has four numbers") from None
    if corners.shape != (4,) or not np.isfinite(corners).all():
        raise ValueError("a box has four numbers")
    xs = np.clip(np.sort(corners[[0, 2]]), 0, shape[1])
    ys = np.clip(np.sort(corners[[1, 3]]), 0, shape[0])
    x1, y1 = (int(np.floor(side[0])) for side in (xs, ys))
    x2, y2 = (int(np.ceil(side[1])) for side in (xs, ys))
    if x1 >= x2 or y1 >= y2:
        raise ValueError("the box is empty")
    if (x1, y1, x2, y2) == (0, 0, shape[1], shape[0]):
        raise ValueError("the box holds the whole photograph: leave a margin around the object")
    return x1, y1, x2, y2
