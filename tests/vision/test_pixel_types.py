"""An image counts by its contrast: any type, scale, offset and byte order gives the same answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.vision.colours import Colours

TRUTH = np.zeros((20, 30), dtype=bool)
TRUTH[5:12, 8:20] = True
BOX = (4, 3, 24, 15)
INTEGERS = ["u1", "<u2", ">u2", "<i2", ">i2", "<u4", ">u4", "<i4", ">i4", "<i8", ">i8", "<u8"]
CORNERS = 2
"""Wrong pixels where noise makes corners cost more boundary than their shade tells."""
FLOATS = ["<f4", ">f4", "<f8", ">f8", "<g"]


def picture(inside, outside, dtype):
    return np.where(TRUTH, inside, outside).astype(dtype)


def wrong(image):
    return int(np.count_nonzero(sm.segment(image, box=BOX).mask != TRUTH))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "<f2", ">f2"])
def test_a_faint_object_in_any_type(dtype):
    assert wrong(picture(130, 100, dtype)) == 0


@pytest.mark.parametrize("dtype", ["?", *INTEGERS, *FLOATS])
def test_ones_on_zeros(dtype):
    assert wrong(picture(1, 0, dtype)) == 0


@pytest.mark.parametrize(
    ("inside", "outside", "dtype"),
    [
        (255, 254, "u1"),
        (40001, 40000, "u2"),
        (2**31 - 1, 2**31 - 2, "i4"),
        (-(2**63) + 1, -(2**63), "i8"),
        (2**64 - 1, 2**64 - 2, "u8"),
        (0.5001, 0.5, "f4"),
        (2e-300, 1e-300, "f8"),
        (5e-324, 0.0, "f8"),
        (1.7e308, -1.7e308, "f8"),
        (1001, 1000, "f2"),
    ],
)
def test_least_contrasts_and_largest_numbers(inside, outside, dtype):
    image = np.full(TRUTH.shape, outside, dtype=dtype)
    image[TRUTH] = inside
    assert wrong(image) == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factor", [1, 16, 257])
def test_dim_and_noisy_pictures(seed, factor):
    noise = np.random.default_rng(seed).integers(-2, 3, TRUTH.shape)
    grey = factor * (np.where(TRUTH, 26, 20) + noise)
    dtype = np.uint8 if factor == 1 else np.uint16
    assert wrong(grey.astype(dtype)) <= CORNERS
    assert wrong(np.repeat(grey[..., None], 3, axis=2).astype(dtype)) <= CORNERS


@pytest.mark.parametrize("pixels", [[(1, 2)], [(8, 12)], [(1, 2), (18, 25), (8, 12)]])
@pytest.mark.parametrize("value", [4095, 65535])
def test_twelve_bits_with_hot_pixels(pixels, value):
    image = np.where(TRUTH, 1300, 1000) + np.random.default_rng(0).integers(-20, 21, TRUTH.shape)
    hot = np.zeros(TRUTH.shape, dtype=bool)
    hot[tuple(np.transpose(pixels))] = True
    image[hot] = value
    found = sm.segment(image.astype(">u2"), box=BOX)
    assert np.array_equal(found.mask[~hot], TRUTH[~hot])


@pytest.mark.parametrize("mark", [-9999.0, -1e30, 1e30])
def test_marks_of_missing_data(mark):
    image = picture(130.0, 100.0, np.float64)
    image += np.random.default_rng(0).normal(0.0, 1.0, image.shape)
    image[0, :3] = mark
    assert wrong(image) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_no_contrast(dtype):
    image = np.full(TRUTH.shape, 0.3, dtype=dtype)
    image[TRUTH] = np.nextafter(dtype(0.3), dtype(1))
    assert not sm.segment(image, box=BOX).mask.any()


@pytest.mark.parametrize("opaque", [1, 255, 4095, 65535])
@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float64])
def test_opacity_in_any_type(dtype, opaque):
    grey = np.full(TRUTH.shape, 7, dtype=dtype)
    alpha = np.where(TRUTH, opaque, 0).astype(dtype)
    assert wrong(np.dstack([grey, alpha])) == 0
    assert wrong(np.dstack([grey, grey, grey, alpha])) == 0


def test_colours_of_transparent_pixels_do_not_count():
    image = np.zeros((*TRUTH.shape, 4), dtype=np.uint16)
    image[..., :3] = picture(130, 100, np.uint16)[..., None]
    image[..., 3] = 65535
    image[0, :5, :3], image[0, :5, 3] = 65535, 0
    colours = Colours.of(image).palette.pixels
    assert np.ptp(colours[..., 0]) == pytest.approx(100.0)


@st.composite
def equal_pictures(draw):
    """Draw one picture twice: in small integers, and scaled and shifted exactly."""
    channels = draw(st.sampled_from([(), (1,), (3,)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lowest, levels = draw(st.integers(0, 200)), draw(st.integers(2, 50))
    values = rng.integers(lowest, lowest + levels, size=(6, 7, *channels))
    dtype = np.dtype(draw(st.sampled_from([*INTEGERS, *FLOATS])))
    if dtype.kind == "f":
        factor, shift = 2.0 ** draw(st.integers(-20, 20)), 0
    else:
        largest = int(np.iinfo(dtype).max)
        factor = draw(st.integers(1, largest // (lowest + levels)))
        shift = draw(st.integers(0, largest - factor * (lowest + levels)))
    changed = np.array([factor * int(v) + shift for v in values.flat], dtype=dtype)
    return values, changed.reshape(values.shape)


@given(equal_pictures())
@settings(max_examples=150, deadline=None)
def test_features_do_not_depend_on_type_scale_and_offset(pictures):
    first, second = (Colours.of(image).palette.pixels for image in pictures)
    np.testing.assert_allclose(second, first, rtol=1e-12, atol=1e-12)


@given(
    st.floats(1e-6, 1e6), st.floats(-1e3, 1e3), st.sampled_from(["<f8", ">f8"]),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_features_of_floats_do_not_depend_on_scale_and_offset(scale, offset, dtype, seed):
    values = np.random.default_rng(seed).random((6, 7, 3))
    first, second = (
        Colours.of(image).palette.pixels
        for image in (values, (scale * (values + offset)).astype(dtype))
    )
    np.testing.assert_allclose(second, first, atol=1e-6 * (1.0 + abs(offset)))


@given(
    st.integers(0, 2000), st.integers(20, 2000), st.integers(0, 3),
    st.sampled_from(["u2", ">u2", "i2", ">i4", "f4", ">f8"]), st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=15, deadline=None)
def test_an_object_is_found_at_any_level(level, contrast, shade, dtype, seed):
    """With noise of a tenth of the contrast, object and background are never confused."""
    noise = np.random.default_rng(seed).integers(-(contrast // 20), contrast // 20 + 1, TRUTH.shape)
    grey = np.where(TRUTH, level + contrast, level) + noise + 100
    image = grey if shade == 3 else np.dstack([grey if i == shade else 0 * grey for i in range(3)])
    assert wrong(image.astype(dtype)) <= CORNERS
