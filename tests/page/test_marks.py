"""Strokes, boxes, undo and redo."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.page.marks import Marks, stroke_cells

SHAPE = (20, 30)


def test_a_stroke_labels_the_pixels_near_its_line():
    marks = Marks(SHAPE)
    patch = marks.paint(1, 2, [[5.5, 5.5], [14.5, 5.5]], 2.0)
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    away = np.hypot(columns - np.clip(columns, 5, 14), rows - 5)
    assert np.array_equal(marks.labels == 2, away <= 2.0)
    assert patch == (3, 3, 14, 5)


@given(
    st.lists(st.tuples(st.floats(-9, 40), st.floats(-9, 30)), min_size=1, max_size=4),
    st.floats(0.5, 9.0),
)
def test_cells_are_those_within_the_radius(points, radius):
    line = np.array(points)
    found = np.zeros(SHAPE, bool)
    found.ravel()[stroke_cells(SHAPE, line, radius)] = True
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    centres = np.stack([columns + 0.5, rows + 0.5], axis=-1)
    samples = [a + t * (b - a) for a, b in pairwise(line) for t in np.linspace(0, 1, 50)]
    least = np.full(SHAPE, np.inf)
    for place in [*line, *samples]:
        least = np.minimum(least, np.linalg.norm(centres - place, axis=-1))
    limit = max(radius, 0.7072)
    assert found[least <= limit - 1e-9].all()
    assert not found[least > limit + 1.0].any()


def moves():
    points = st.lists(st.tuples(st.floats(0, 30), st.floats(0, 20)), min_size=1, max_size=3)
    stroke = st.tuples(st.just("paint"), st.integers(0, 2), points, st.floats(0.5, 6))
    box = st.tuples(
        st.just("box"),
        st.integers(0, 9),
        st.integers(0, 9),
        st.integers(11, 29),
        st.integers(11, 19),
    )
    return st.lists(st.one_of(stroke, box, st.tuples(st.just("clear"))), max_size=6)


def perform(marks, move, key):
    kind, *values = move
    if kind == "paint":
        marks.paint(key, *values)
    elif kind == "box":
        marks.set_box(values)
    else:
        marks.clear()


def state(marks):
    return marks.labels.copy(), marks.box


def same(one, other):
    return np.array_equal(one[0], other[0]) and one[1] == other[1]


@given(moves())
def test_undo_goes_back_through_every_state_and_redo_forward(steps):
    marks = Marks(SHAPE)
    states = [state(marks)]
    for key, step in enumerate(steps):
        before = len(marks.done)
        perform(marks, step, key)
        if len(marks.done) > before:
            states.append(state(marks))
    for expected in states[-2::-1]:
        marks.undo()
        assert same(state(marks), expected)
    for expected in states[1:]:
        marks.redo()
        assert same(state(marks), expected)


def test_pieces_of_one_stroke_are_one_step():
    marks = Marks(SHAPE)
    marks.paint("a", 2, [[3, 3]], 2)
    marks.paint("a", 2, [[3, 3], [9, 9]], 2)
    marks.undo()
    assert not marks.labels.any()
    assert not marks.done


def test_nothing_is_left_to_undo_at_the_beginning():
    marks = Marks(SHAPE)
    assert marks.undo() == marks.redo() == (0, 0, 0, 0)
    marks.paint(1, 0, [[5, 5]], 3)
    assert not marks.done, "erasing nothing is no step"


def test_an_object_outside_makes_the_box_larger():
    marks = Marks(SHAPE)
    marks.set_box([12, 12, 5, 4])
    assert marks.box == (5, 4, 12, 12)
    marks.paint(1, 2, [[20.5, 8.5]], 0.5)
    assert marks.box == (5, 4, 21, 12)
    assert not (marks.seeds() == 2)[~marks.inside()].any()
    marks.undo()
    assert marks.box == (5, 4, 12, 12)


def test_seeds_outside_the_box_are_background():
    marks = Marks(SHAPE)
    marks.set_box([5, 5, 10, 10])
    assert np.array_equal(marks.seeds() == 1, ~marks.inside())


@pytest.mark.parametrize("label", [1, 2])
def test_one_side_alone_is_enough_to_learn(label):
    marks = Marks(SHAPE)
    assert marks.lesson() is None
    marks.paint(1, label, [[15, 10]], 3)
    lesson = marks.lesson()
    assert {1, 2} <= set(np.unique(lesson))
    assert (lesson[marks.labels == label] == label).all()


@pytest.mark.parametrize(
    "points", [[], [[1]], [[1, 2, 3]], "ab", [[np.nan, 1]], [[1e9, 1]], [[0, 0]] * 30_000, None]
)
def test_lines_that_are_none_are_refused(points):
    with pytest.raises(ValueError, match="points"):
        Marks(SHAPE).paint(1, 2, points, 3)


@pytest.mark.parametrize(
    ("box", "message"),
    [([1, 2, 3], "four"), ("abcd", "four"), ([1, 1, 1, 9], "empty"), ([40, 1, 50, 9], "empty"),
     ([0, 0, 30, 20], "whole"), ([np.nan] * 4, "four")],
)  # fmt: skip
def test_boxes_that_are_none_are_refused(box, message):
    with pytest.raises(ValueError, match=message):
        Marks(SHAPE).set_box(box)
