"""Contrast weights: against a double loop, in several dimensions, and refusals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import submin as sm
from submin.vision import contrast_weights


def naive_weights(features, smoothness, connectivity, spacing):
    """The definition, pixel by pixel."""
    shape = features.shape[:-1]
    edges = []
    for offset in sm.grid_offsets(len(shape), connectivity):
        for pixel in product(*map(range, shape)):
            other = tuple(p + d for p, d in zip(pixel, offset, strict=True))
            if all(0 <= q < size for q, size in zip(other, shape, strict=True)):
                difference = float(np.sum((features[pixel] - features[other]) ** 2))
                steps = [d * h for d, h in zip(offset, spacing, strict=True)]
                edges.append((offset, pixel, other, difference, float(np.hypot.reduce(steps))))
    mean = sum(edge[3] for edge in edges) / len(edges)
    return [
        (pixel, other, smoothness * np.exp(-difference / (2 * mean)) / length)
        for _, pixel, other, difference, length in edges
    ]


@pytest.mark.parametrize(
    ("shape", "connectivity", "spacing"),
    [
        ((7,), 2, (1.0,)),
        ((4, 5), 4, (1.0, 1.0)),
        ((4, 5), 8, (1.0, 1.0)),
        ((1, 6), 8, (1.0, 1.0)),
        ((5, 1), 8, (2.0, 0.5)),
        ((3, 4, 2), 6, (1.0, 1.0, 3.0)),
        ((3, 4, 2), 26, (1.0, 1.0, 3.0)),
    ],
)
def test_agrees_with_a_double_loop(shape, connectivity, spacing):
    features = np.random.default_rng(1).normal(size=(*shape, 3))
    weights = contrast_weights(
        features, smoothness=20.0, connectivity=connectivity, spacing=spacing
    )
    edges = naive_weights(features, 20.0, connectivity, spacing)
    grid = sm.GridCut(shape, weights, connectivity)
    assert sum(array.size for array in weights) == len(edges)
    for pixel, other, weight in edges:
        pair = np.zeros(shape, dtype=bool)
        pair[pixel] = True
        alone = grid.evaluate(pair.ravel())
        pair[other] = True
        together = grid.evaluate(pair.ravel())
        pair[pixel] = False
        assert alone + grid.evaluate(pair.ravel()) - together == pytest.approx(2 * weight)


def test_scale_and_offset_of_the_colours_do_not_matter():
    features = np.random.default_rng(2).normal(size=(6, 7, 3))
    first, second = contrast_weights(features), contrast_weights(255.0 * features + 3.0)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("power", [-1000, -600, -100, 100, 600, 1000])
def test_a_scale_by_a_power_of_two_changes_no_bit(power):
    features = np.random.default_rng(3).normal(size=(6, 7, 3))
    for a, b in zip(
        contrast_weights(features), contrast_weights(np.ldexp(features, power)), strict=True
    ):
        assert np.array_equal(a, b)


def test_the_largest_floats():
    weights = contrast_weights([[[-1.7e308], [1.7e308]]], connectivity=4)
    assert weights[0].tolist() == [[pytest.approx(50.0 * np.exp(-0.5))]]


def test_without_contrast_only_distance_counts():
    weights = contrast_weights(np.full((3, 3, 1), 0.7), smoothness=50.0)
    expected = [50.0, 50.0 / np.sqrt(2.0), 50.0, 50.0 / np.sqrt(2.0)]
    assert [float(w.min()) for w in weights] == pytest.approx(expected)
    assert [float(w.max()) for w in weights] == pytest.approx(expected)


def test_one_pixel_has_no_edges():
    assert [w.size for w in contrast_weights(np.zeros((1, 1, 3)))] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("features", "settings", "message"),
    [
        ([[[0.0], [np.nan]]], {}, r"features\[0, 1, 0\] is nan"),
        ([0.0, 1.0], {}, r"shape \(2,\).*image\[\.\.\., None\]"),
        (np.eye(4), {"connectivity": 4}, r"connectivity is 4.*1-D grid.*image\[\.\.\., None\]"),
        (np.eye(4), {"connectivity": 8}, r"connectivity is 8.*1-D grid.*image\[\.\.\., None\]"),
        (np.ones((3, 3, 3)), {"connectivity": 26}, r"2-D grid.*3-D image.*image\[\.\.\., None\]"),
        (np.eye(4), {"spacing": (1.0, 2.0)}, r"spacing has 2 dist.*image\[\.\.\., None\]"),
        ([[[0.0], [1.0]]], {"smoothness": -1.0}, "smoothness is -1"),
        ([[[0.0], [1.0]]], {"smoothness": np.inf}, "smoothness is inf"),
        ([[[0.0], [1.0]]], {"connectivity": 6}, "connectivity is 6"),
        ([[[0.0], [1.0]]], {"spacing": (1.0, 0.0)}, r"spacing\[1\] is 0"),
        ([[[0.0], [1.0]]], {"spacing": (1.0,)}, "spacing has shape"),
    ],
)
def test_refusals(features, settings, message):
    with pytest.raises(ValueError, match=message):
        contrast_weights(features, **settings)
