"""Distinct colours, and samples that represent them."""

from __future__ import annotations

import numpy as np
import pytest

from submin.vision.palette import Palette


@pytest.mark.parametrize("channels", [1, 3, 4, 70])
def test_every_pixel_finds_its_colour(channels):
    rng = np.random.default_rng(1)
    image = rng.integers(0, 5, (4, 5, 6, channels)) / 4.0
    palette = Palette.of(image)
    assert np.array_equal(palette.pixels, image)
    distinct = np.unique(image.reshape(-1, channels), axis=0)
    assert sorted(map(tuple, palette.colours)) == sorted(map(tuple, distinct))
    squares = Palette.of(image, np.square)
    assert np.array_equal(squares.pixels, image**2)


def test_colours_whose_sums_are_rounded_alike_stay_apart():
    image = np.zeros((1, 2, 3))
    image[0, 0] = 1e20, 0.0, 0.0
    image[0, 1] = 1e20, 1.0, 0.0
    assert np.array_equal(Palette.of(image).pixels, image)


def test_one_colour():
    palette = Palette.of(np.full((3, 4, 2), 7.0))
    assert len(palette.colours) == 1
    assert palette.sample(np.ones((3, 4), bool), 5).tolist() == [[7.0, 7.0]] * 5


def test_samples_represent_each_region_of_colours():
    rng = np.random.default_rng(2)
    share, clusters = rng.random((100, 100)) < 0.3, rng.normal(size=(100, 100, 3))
    image = np.where(share[:, :, None], 0.0, 100.0) + clusters
    mask = np.zeros((100, 100), bool)
    mask[:50] = True
    sample = Palette.of(image).sample(mask, 200)
    assert sample.shape == (200, 3)
    dark, expected = (sample[:, 0] < 50).sum(), 200 * share[mask].mean()
    assert abs(dark - expected) <= 1, "within one pixel; chance alone strays by six"
    assert {tuple(colour) for colour in sample} <= {tuple(colour) for colour in image[mask]}


def test_a_small_mask_is_taken_whole():
    image = np.random.default_rng(3).normal(size=(6, 7, 3))
    mask = np.zeros((6, 7), bool)
    mask[2:4, 1:6] = True
    sample = Palette.of(image).sample(mask, 1000)
    assert sorted(map(tuple, sample)) == sorted(map(tuple, image[mask]))
