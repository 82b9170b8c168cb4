"""What the user marks: meaning, combinations, contradictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from submin.vision import Seeds, scribble_labels

SHAPE = (6, 8)


def labels(*marks):
    array = np.zeros(SHAPE, dtype=np.uint8)
    for row, column, label in marks:
        array[row, column] = label
    return array


def test_box_is_half_open_and_hard_outside():
    seeds = Seeds.of(SHAPE, box=(2, 1, 7, 5))
    inside = np.zeros(SHAPE, dtype=bool)
    inside[1:5, 2:7] = True
    assert not seeds.foreground.any()
    assert np.array_equal(seeds.background, ~inside)
    assert np.array_equal(seeds.first_foreground, inside)
    assert np.array_equal(seeds.first_background, ~inside)


@pytest.mark.parametrize("kind", [float, np.float32, np.int16])
def test_box_of_any_whole_numbers(kind):
    box = np.array([2, 1, 7, 5], dtype=kind)
    expected = Seeds.of(SHAPE, box=(2, 1, 7, 5)).background
    for given in (box, tuple(box), box.tolist()):
        assert np.array_equal(Seeds.of(SHAPE, box=given).background, expected)


def test_box_may_touch_the_border():
    assert Seeds.of(SHAPE, box=(1, 0, 8, 6)).first_background.sum() == 6


def test_scribbles_are_hard_and_teach_the_models():
    seeds = Seeds.of(SHAPE, scribbles=labels((1, 1, 2), (4, 4, 1)))
    assert np.argwhere(seeds.foreground).tolist() == [[1, 1]]
    assert np.argwhere(seeds.background).tolist() == [[4, 4]]
    assert np.array_equal(seeds.first_foreground, seeds.foreground)
    assert np.array_equal(seeds.first_background, seeds.background)


def test_mask_is_soft():
    guess = np.zeros(SHAPE, dtype=np.int64)
    guess[2:4, 2:4] = 255
    seeds = Seeds.of(SHAPE, mask=guess)
    assert not seeds.foreground.any()
    assert not seeds.background.any()
    assert np.array_equal(seeds.first_foreground, guess > 0)


def test_everything_together():
    guess = np.zeros(SHAPE, dtype=bool)
    guess[:, 3:] = True
    marks = labels((2, 2, 2), (2, 4, 1))
    seeds = Seeds.of(SHAPE, box=(1, 1, 7, 5), scribbles=marks, mask=guess)
    first = np.zeros(SHAPE, dtype=bool)
    first[1:5, 3:7] = True
    first[2, 2], first[2, 4] = True, False
    assert np.array_equal(seeds.first_foreground, first)
    assert seeds.background[2, 4]
    assert seeds.background[0, 3]


def test_full_box_with_background_scribbles():
    seeds = Seeds.of(SHAPE, box=(0, 0, 8, 6), scribbles=labels((0, 0, 1)))
    assert np.argwhere(seeds.first_background).tolist() == [[0, 0]]


@pytest.mark.parametrize(
    "picture",
    [
        [[[0, 0, 0], [219, 0, 0], [255, 255, 207]]],
        [[[5, 5, 5], [255, 0, 0], [255, 255, 255]]],
        [[[200, 9, 90, 0], [255, 0, 0, 255], [255, 255, 255, 255]]],
    ],
)
def test_scribble_pictures(picture):
    assert scribble_labels(np.array(picture, dtype=np.uint8), (1, 3)).tolist() == [[0, 1, 2]]


def test_unknown_stroke_colour_is_named():
    picture = np.zeros((*SHAPE, 3), dtype=np.uint8)
    picture[3, 4] = (0, 0, 200)
    with pytest.raises(ValueError, match=r"scribbles\[3, 4\] has the colour \(0, 0, 200\)"):
        scribble_labels(picture, SHAPE)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({}, "nothing marks the object"),
        ({"box": (3, 2, 3, 5)}, r"box \(3, 2, 3, 5\) is empty: x2"),
        ({"box": (3, 5, 6, 2)}, "is empty: y2"),
        ({"box": (8, 0, 9, 6)}, "x1=8, outside of the image of 8 x 6"),
        ({"box": (-1, 0, 4, 4)}, "x1=-1, outside"),
        ({"box": (1, 0, 9, 6)}, "x2=9, outside"),
        ({"box": (1, 0, 8, 7)}, "y2=7, outside"),
        ({"box": (1, 2, 3)}, "box has 3 numbers"),
        ({"box": (0.5, 0, 4, 4)}, r"box has x1=0\.5: it must be a whole number"),
        ({"box": (1, 0, 4, np.float32(3.5))}, r"box has y2=3\.5: it must be a whole number"),
        ({"box": (1, np.nan, 4, 4)}, "box has y1=nan: it must be a whole number"),
        ({"box": (1, 0, np.inf, 4)}, "box has x2=inf: it must be a whole number"),
        ({"box": (0, 0, 8, 6)}, "no pixel is marked or left as background"),
        ({"scribbles": labels((1, 2, 3))}, r"scribbles\[1, 2\] is 3"),
        ({"scribbles": np.zeros((6, 7), int)}, "scribbles have shape"),
        ({"scribbles": labels((1, 2, 2))}, "no pixel is marked or left as background"),
        ({"scribbles": labels((1, 2, 1))}, "no pixel is marked or left as object"),
        ({"scribbles": labels()}, "no pixel is marked or left as object"),
        ({"mask": np.zeros(SHAPE, bool)}, "left as object"),
        ({"mask": np.ones(SHAPE, bool)}, "left as background"),
        ({"mask": np.ones((6, 6), bool)}, "mask has shape"),
        (
            {"box": (2, 2, 6, 5), "scribbles": labels((1, 3, 2))},
            r"pixel \[1, 3\] \(x=3, y=1\) as object, but it is outside of the box \(2, 2, 6, 5\)",
        ),
    ],
)
def test_refusals(marks, message):
    with pytest.raises(ValueError, match=message):
        Seeds.of(SHAPE, **marks)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({"box": ("1", 0, 4, 4)}, "box has x1='1': it must be a whole number"),
        ({"box": (1, 0, 4j, 4)}, "box has x2=4j: it must be a whole number"),
        ({"box": "1,0,4,4"}, r"box is '1,0,4,4': it must be four numbers \(x1, y1, x2, y2\)"),
        ({"box": 5}, "box is 5: it must be four numbers"),
        ({"scribbles": "s.png"}, r"pass submin\.vision\.read_photograph\('s\.png'\)"),
        ({"mask": Path("m.png")}, r"pass submin\.vision\.read_mask\('m\.png'\)"),
        ({"scribbles": np.zeros(SHAPE)}, "scribbles must hold integers"),
        ({"mask": np.zeros(SHAPE)}, "mask must hold booleans or integers"),
    ],
)
def test_wrong_types(marks, message):
    with pytest.raises(TypeError, match=message):
        Seeds.of(SHAPE, **marks)
