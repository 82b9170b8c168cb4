"""Images of any type become the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from submin.vision.colours import Colours

RAMP = np.linspace(0.0, 1.0, 24).reshape(4, 6)


@pytest.mark.parametrize(
    ("image", "tolerance"),
    [
        ((255 * RAMP).round().astype(np.uint8), 1 / 500),
        ((65535 * RAMP).round().astype(np.uint16), 1e-5),
        (RAMP, 0.0),
        (RAMP.astype(np.float32), 1e-7),
        (RAMP.astype(np.float16), 1e-3),
        ((1000 * RAMP).round().astype(np.int32) - 300, 1e-3),
        ((1e6 * RAMP).round().astype(np.int64), 1e-6),
        (255.0 * RAMP, 1e-15),
        (-7.0 + 3.0 * RAMP, 1e-15),
        (1e308 * (2.0 * RAMP - 1.0), 1e-15),
        (RAMP.tolist(), 0.0),
    ],
)
def test_types(image, tolerance):
    colours = Colours.of(image)
    assert colours.grey
    assert colours.shape == (4, 6)
    np.testing.assert_allclose(colours.rgb, np.repeat(RAMP[..., None], 3, 2), atol=tolerance)


def test_bool_image():
    assert Colours.of(RAMP > 0.5).rgb.tolist() == np.repeat((RAMP > 0.5)[..., None], 3, 2).tolist()


@pytest.mark.parametrize(
    ("channels", "grey", "features"), [(1, True, 1), (2, True, 2), (3, False, 3), (4, False, 4)]
)
def test_channels(channels, grey, features):
    image = np.random.default_rng(0).integers(0, 256, size=(5, 3, channels)).astype(np.uint8)
    colours = Colours.of(image)
    assert colours.grey is grey
    values, volume = colours.palette.pixels, colours.volume
    assert values.shape == (5, 3, features)
    assert volume > 0
    if channels in (2, 4):
        np.testing.assert_allclose(colours.alpha, image[..., -1] / 255)


def test_opaque_alpha_is_no_feature():
    image = np.full((2, 2, 4), 255, dtype=np.uint8)
    assert Colours.of(image).palette.pixels.shape == (2, 2, 3)


def test_constant_image_beyond_the_unit_range():
    assert Colours.of(np.full((2, 2), 7.0)).rgb.tolist() == np.zeros((2, 2, 3)).tolist()


def test_lab_of_known_colours():
    image = np.array([[[255, 255, 255], [0, 0, 0], [255, 0, 0]]], dtype=np.uint8)
    values = Colours.of(image).palette.pixels
    known = [[[100.0, 0.0, 0.0], [0.0, 0.0, 0.0], [53.24, 80.09, 67.20]]]
    np.testing.assert_allclose(values, known, atol=0.02)


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        (np.zeros((2, 2, 5)), ValueError, r"image has shape \(2, 2, 5\)"),
        (np.zeros(4), ValueError, "image has shape"),
        (np.zeros((0, 4)), ValueError, "image is empty"),
        (np.zeros((2, 2), dtype=complex), TypeError, "real numbers"),
        (np.array([["a"]]), TypeError, "real numbers"),
        ("cup.jpg", TypeError, r"pass submin\.vision\.read_photograph\('cup\.jpg'\)"),
        (Path("in") / "cup.jpg", TypeError, r"submin\.vision\.read_photograph\('in/cup\.jpg'\)"),
        (np.array([[0.0, np.nan]]), ValueError, r"image\[0, 1\] is nan"),
        (np.array([[0.0, np.inf]]), ValueError, r"image\[0, 1\] is inf"),
    ],
)
def test_refusals(image, error, message):
    with pytest.raises(error, match=message):
        Colours.of(image)
