"""What the user knows: a box, scribbles, a first mask; and whether they contradict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray
from submin.vision.image_files import refuse_path
from submin.vision.masks import object_mask

UNMARKED, BACKGROUND, OBJECT = 0, 1, 2
NOT_A_STROKE = 3
STROKE_COLOURS = "red (background), white or cream (object) and black (unmarked)"

Shape = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Seeds:
    """Hard constraints, and where the colour models are first fitted.

    Attributes
    ----------
    foreground, background : bool array, shape (H, W)
        Pixels that must be object, or must not.
    first_foreground, first_background : bool array, shape (H, W)
        Pixels whose colours the first models learn; neither is empty.
    """

    foreground: BoolArray
    background: BoolArray
    first_foreground: BoolArray
    first_background: BoolArray

    @classmethod
    def of(
        cls,
        shape: Shape,
        box: Sequence[float] | None = None,
        scribbles: npt.ArrayLike | None = None,
        mask: npt.ArrayLike | None = None,
    ) -> Seeds:
        """Combine the inputs of ``segment``, or say what is missing or contradicts.

        Raises
        ------
        TypeError
            If an input is of a wrong type.
        ValueError
            If no input is given, one does not fit the image, two contradict each other at a pixel,
            or nothing is left to learn one of the two models from.
        """
        if box is None and scribbles is None and mask is None:
            raise ValueError("nothing marks the object: pass a box, scribbles or a mask")
        foreground, background = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        guess = None
        if mask is not None:
            guess = _mask(mask, shape)
        if scribbles is not None:
            labels = scribble_labels(scribbles, shape)
            foreground, background = labels == OBJECT, labels == BACKGROUND
            _refuse_nothing_left(labels)
        if box is not None:
            inside = _inside(box, shape)
            _refuse_objects_outside(foreground, inside, box)
            background = background | ~inside
            guess = inside if guess is None else guess & inside
        return cls(foreground, background, *_first(foreground, background, guess))


def scribble_labels(scribbles: npt.ArrayLike, shape: Shape) -> npt.NDArray[np.int64]:
    """Return labels 0 (unmarked), 1 (background), 2 (object) from labels or a picture.

    Parameters
    ----------
    scribbles : array_like, shape (H, W), or (H, W, 3) or (H, W, 4)
        Integer labels, or a picture of 8 bits a channel with red strokes on the background, white
        or cream ones on the object, and black (or transparent) elsewhere.
    shape : (H, W)
        Shape of the image.

    Raises
    ------
    TypeError
        If the values are not integers, or the scribbles are a path or a masked array.
    ValueError
        If the shape does not fit, a label or colour has no meaning, or a picture has no stroke.

    Examples
    --------
    >>> picture = [[[0, 0, 0], [219, 0, 0], [255, 255, 207]]]
    >>> scribble_labels(np.array(picture), (1, 3))
    array([[0, 1, 2]])
    """
    refuse_path("scribbles", scribbles, "read_photograph")
    _checks.refuse_masked("scribbles", scribbles, "scribbles.filled(0) leaves them unmarked")
    array = np.asarray(scribbles)
    if array.dtype.kind == "b":
        raise TypeError(
            "scribbles hold booleans, which do not tell the object from the background: "
            "np.where(scribbles, 2, 0) marks the object, np.where(scribbles, 1, 0) the background"
        )
    if array.dtype.kind not in "iu":
        raise TypeError(f"scribbles must hold integers, but their type is {array.dtype}")
    picture = array.ndim == 3 and array.shape[2] in (3, 4)
    if array.shape[:2] != shape or not (picture or array.ndim == 2):
        raise ValueError(
            f"scribbles have shape {array.shape}, but the image needs {shape}, or {(*shape, 3)} "
            "for a picture"
        )
    return _picture_labels(array) if picture else _checked_labels(array)


def _checked_labels(array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    _checks.refuse_where(
        "scribbles",
        array,
        (array < UNMARKED) | (array > OBJECT),
        "labels are 0 (unmarked), 1 (background) and 2 (object); np.select([m == 0, m == 1], "
        "[1, 2]) converts a mask m of OpenCV, and np.select([m == 0, m == 255], [1, 2]) a trimap",
    )
    return array.astype(np.int64)


def _picture_labels(array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    _checks.refuse_where(
        "scribbles", array, (array < 0) | (array > 255), "a scribble picture has values to 255"
    )
    red, green, blue = np.moveaxis(array[:, :, :3].astype(np.int64), 2, 0)
    least, most = np.minimum(green, blue), np.maximum(green, blue)
    labels = np.full(array.shape[:2], NOT_A_STROKE, dtype=np.int64)
    labels[np.maximum(red, most) < 64] = UNMARKED
    labels[(red >= 128) & (most < 96)] = BACKGROUND
    labels[(red >= 192) & (least >= 128) & (green >= 192)] = OBJECT
    if array.shape[2] == 4:
        labels[array[:, :, 3] < 255] = NOT_A_STROKE
        labels[array[:, :, 3] == 0] = UNMARKED
    wrong = labels == NOT_A_STROKE
    if wrong.any():
        row, column = _checks.first_index(wrong)
        colour = tuple(array[row, column].tolist())
        raise ValueError(
            f"scribbles[{row}, {column}] has the colour {colour}: a scribble picture has "
            f"{STROKE_COLOURS} only, or transparent pixels; save it without smoothing, as PNG"
        )
    if array.any() and not labels.any():
        raise ValueError(
            f"scribbles have no stroke, since no value is above {array[:, :, :3].max()}: a "
            f"scribble picture has 8 bits a channel, in {STROKE_COLOURS}"
        )
    return labels


def _refuse_nothing_left(labels: npt.NDArray[np.int64]) -> None:
    """Refuse marks on every pixel, which labels of another meaning have."""
    if labels.all():
        raise ValueError(
            "scribbles mark every pixel, which leaves nothing to decide: labels are 0 (unmarked), "
            "1 (background) and 2 (object); a first guess is a mask"
        )


def _mask(mask: npt.ArrayLike, shape: Shape) -> BoolArray:
    guess = object_mask(mask)
    if guess.shape != shape:
        raise ValueError(f"mask has shape {guess.shape}, but the image has {shape}")
    return guess


def _inside(box: Sequence[float], shape: Shape) -> BoolArray:
    x1, y1, x2, y2 = _corners(box)
    height, width = shape
    for name, value, limit in (("x1", x1, width), ("y1", y1, height)):
        if not 0 <= value < limit:
            raise ValueError(
                f"box has {name}={value}, outside of the image of {width} x {height} pixels: "
                f"{name} must be from 0 to {limit - 1}"
            )
    for name, value, start, limit in (("x2", x2, x1, width), ("y2", y2, y1, height)):
        if value <= start:
            raise ValueError(
                f"box {(x1, y1, x2, y2)} is empty: {name} must be above {start}; a box has two "
                "corners, (x1, y1, x2, y2), and no width and height"
            )
        if value > limit:
            raise ValueError(
                f"box has {name}={value}, outside of the image of {width} x {height} pixels: "
                f"{name} must be at most {limit}"
            )
    inside = np.zeros(shape, np.bool_)
    inside[y1:y2, x1:x2] = True
    return inside


def _corners(box: Sequence[float]) -> tuple[int, int, int, int]:
    if isinstance(box, str) or not isinstance(box, Iterable):
        raise TypeError(f"box is {box!r}: it must be four numbers (x1, y1, x2, y2)")
    values = list(box)
    if len(values) != 4:
        raise ValueError(f"box has {len(values)} numbers: it must be (x1, y1, x2, y2)")
    x1, y1, x2, y2 = map(_whole_pixels, ("x1", "y1", "x2", "y2"), values)
    return x1, y1, x2, y2


def _whole_pixels(name: str, value: Any) -> int:
    """Convert an integer, or a float without a fraction."""
    if isinstance(value, float | np.floating):
        if not float(value).is_integer():
            raise ValueError(f"box has {name}={value}: it must be a whole number of pixels")
        return int(value)
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"box has {name}={value!r}: it must be a whole number of pixels") from None


def _refuse_objects_outside(foreground: BoolArray, inside: BoolArray, box: Sequence[float]) -> None:
    conflict = foreground & ~inside
    if conflict.any():
        row, column = _checks.first_index(conflict)
        raise ValueError(
            f"scribbles mark pixel [{row}, {column}] (x={column}, y={row}) as object, but it is "
            f"outside of the box {tuple(int(v) for v in box)}; enlarge the box or move the stroke"
        )


def _first(
    foreground: BoolArray, background: BoolArray, guess: BoolArray | None
) -> tuple[BoolArray, BoolArray]:
    """Return the pixels of the first models: the strokes, or both sides of the guess."""
    if guess is None:
        first_foreground, first_background = foreground, background
    else:
        first_foreground = (guess | foreground) & ~background
        first_background = ~first_foreground
    if not first_foreground.any():
        raise ValueError(
            "no pixel is marked or left as object: draw an object scribble, or leave part of the "
            "box or mask free of background"
        )
    if not first_background.any():
        raise ValueError(
            "no pixel is marked or left as background: draw a background scribble, or leave a "
            "margin around the box or mask"
        )
    return first_foreground, first_background
