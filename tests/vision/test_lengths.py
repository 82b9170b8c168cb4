"""Weights that measure length and area: known values, and straight boundaries of all directions."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.vision import length_weights

LARGEST_ERRORS = {(2, 4): 0.215, (2, 8): 0.052, (2, 16): 0.0146, (2, 32): 0.0084,
                  (3, 6): 0.334, (3, 18): 0.14, (3, 26): 0.08}  # fmt: skip


def test_known_weights():
    assert length_weights(sm.grid_offsets(2, 4)) == pytest.approx([np.pi / 4] * 2)
    straight, diagonal = np.pi / 8, np.pi / (8 * np.sqrt(2))
    assert length_weights(sm.grid_offsets(2, 8)) == pytest.approx(
        [straight, diagonal, straight, diagonal]
    )
    assert length_weights(sm.grid_offsets(3, 6)) == pytest.approx([2 / 3] * 3)
    assert length_weights([(-1,)]) == [1.0]
    assert length_weights([(3,)]) == [1 / 3]


@pytest.mark.parametrize(("dimensions", "connectivity"), LARGEST_ERRORS)
def test_planes_of_all_directions(dimensions, connectivity):
    """A plane of normal n crosses |e . n| edges of offset e on each unit of area."""
    offsets = sm.grid_offsets(dimensions, connectivity)
    weights, steps = np.array(length_weights(offsets)), np.array(offsets)
    normals = np.random.default_rng(0).normal(size=(dimensions, 5000))
    normals /= np.linalg.norm(normals, axis=0)
    areas = weights @ np.abs(steps @ normals)
    assert np.abs(areas - 1).max() <= LARGEST_ERRORS[dimensions, connectivity]


@pytest.mark.parametrize("spacing", [(1, 1), (0.5, 2.0), (3.0, 1.0)])
def test_ellipses_on_any_grid(spacing):
    """A disk in space, whatever the pixels are."""
    offsets = sm.grid_offsets(2, 32)
    places = [np.arange(-60.0, 60.1, step) for step in spacing]
    disk = np.hypot(*np.meshgrid(*places, indexing="ij")) < 50
    weights = length_weights(offsets, spacing)
    length = sm.GridCut(disk.shape, weights, offsets=offsets).evaluate(disk)
    assert length == pytest.approx(2 * np.pi * 50, rel=0.03)


def test_a_sphere():
    offsets = sm.grid_offsets(3, 26)
    ball = np.sum(np.mgrid[-20:21, -20:21, -20:21] ** 2, axis=0) < 16.5**2
    area = sm.GridCut(ball.shape, length_weights(offsets), offsets=offsets).evaluate(ball)
    assert area == pytest.approx(4 * np.pi * 16.5**2, rel=0.03)


def test_units():
    offsets = sm.grid_offsets(3, 18)
    plain = np.array(length_weights(offsets))
    assert length_weights(offsets, (2, 2, 2)) == pytest.approx((4 * plain).tolist())
    offsets = sm.grid_offsets(2, 16)
    plain = np.array(length_weights(offsets))
    assert length_weights(offsets, (2, 2)) == pytest.approx((2 * plain).tolist())
    order = [3, 0, 2, 1, 7, 5, 4, 6]
    turned = [tuple(-d for d in offsets[k]) for k in order]
    assert length_weights(turned) == pytest.approx(plain[order].tolist())


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        ([], "offsets is empty"),
        ([(0, 1), (0, 2)], r"offsets \(0, 1\) and \(0, 2\) have one direction"),
        ([(0, 1), (1, 1), (-2, -2)], r"offsets \(1, 1\) and \(-2, -2\) have one direction"),
        ([(0, 1)], "offsets has one direction"),
        ([(0, 1, 0), (1, 0, 0)], "offsets lie in a plane"),
        ([(0, 0, 0, 1)], "offsets has 4 axes"),
        ([(0, 0), (1, 0)], "no neighbour of its own"),
    ],
)
def test_refusals(offsets, words):
    with pytest.raises(ValueError, match=words):
        length_weights(offsets)
