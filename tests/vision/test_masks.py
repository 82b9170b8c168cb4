"""Masks and scribbles: one rule for arrays and files, and no guesses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from submin.vision import Seeds, object_mask, read_mask, read_photograph, scribble_labels

SHAPE = (4, 6)
OBJECT = np.zeros(SHAPE, dtype=bool)
OBJECT[1:3, 2:5] = True
OPENCV = np.where(OBJECT, 3, 2).astype(np.uint8)
OPENCV[0], OPENCV[1, 3] = 0, 1
TRIMAP = np.where(OBJECT, 255, 0).astype(np.uint8)
TRIMAP[2] = 128
CUTOUT = np.dstack([np.full((*SHAPE, 3), 90, np.uint8), np.where(OBJECT, 255, 0).astype(np.uint8)])


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "<u2", ">u2", "i4", ">i8"])
@pytest.mark.parametrize("white", [1, 255, 65535])
def test_masks_of_every_type(dtype, white):
    mask = np.where(OBJECT, white, 0).astype(dtype)
    if dtype == "i1" and white > 1:
        with pytest.raises(ValueError, match="is -1: a mask is 0"):
            object_mask(mask)
    elif mask.astype(np.int64).max() in (1, white):
        assert np.array_equal(object_mask(mask), OBJECT)


@pytest.mark.parametrize("byte", [1, 3, 200, 255])
def test_booleans_of_any_byte(byte):
    mask = (OBJECT.astype(np.uint8) * np.uint8(byte)).view(np.bool_)
    assert np.array_equal(object_mask(mask).view(np.uint8), OBJECT.view(np.uint8))


def test_grey_pictures_with_several_channels():
    grey = np.where(OBJECT, 255, 0).astype(np.uint8)[..., None]
    opaque = np.full((*SHAPE, 1), 255, np.uint8)
    for channels in ([grey], [grey] * 3, [grey] * 3 + [opaque], [grey, opaque]):
        assert np.array_equal(object_mask(np.concatenate(channels, axis=2)), OBJECT)


REFUSED_MASKS = {
    "OpenCV": (OPENCV, r"mask\[0, 0\] is |mask\[1, 0\] is 2: .*np\.isin\(mask, \(1, 3\)\)"),
    "OpenCV's rectangle": (np.where(OBJECT, 3, 0).astype(np.uint8), r"mask\[1, 2\] is 3: "),
    "regions": (np.where(OBJECT, 1, 2).astype(np.uint8), r"mask\[0, 0\] is 2: .* mask == k"),
    "trimap": (TRIMAP, r"mask\[2, 0\] is 128: .* mask > 127"),
    "two values": (np.where(OBJECT, 1, 255).astype(np.uint8), r"mask\[1, 2\] is 1: other .* 255"),
    "shades": (np.where(OBJECT, 254, 3).astype(np.uint8), r"mask\[0, 0\] is 3: "),
    "cut-out": (CUTOUT, r"an opacity that varies: .* mask\[:, :, 3\] > 0"),
    "colours": (
        np.where(OBJECT[..., None], (128, 0, 0), 0).astype(np.uint8),
        r"mask\[1, 2\] has the colour \(128, 0, 0\)",
    ),
}
REFUSED_SCRIBBLES = {
    "OpenCV": (OPENCV, r"scribbles\[1, 2\] is 3: labels .* np\.select\(\[m == 0, m == 1\]"),
    "strokes of OpenCV": (np.where(OBJECT, 1, 2).astype(np.uint8), "mark every pixel"),
    "trimap": (TRIMAP, r"scribbles\[1, 2\] is 255: .* m == 255"),
    "mask": (np.where(OBJECT, 255, 0).astype(np.uint8), r"scribbles\[1, 2\] is 255"),
    "smoothed": (
        np.where(OBJECT[..., None], (255, 255, 255, 128), 0).astype(np.uint8),
        r"scribbles\[1, 2\] has the colour \(255, 255, 255, 128\)",
    ),
    "cut-out": (CUTOUT, r"scribbles\[1, 2\] has the colour \(90, 90, 90, 255\)"),
    "no stroke": (
        np.where(OBJECT[..., None], (1, 0, 0), 0).astype(np.uint8),
        "scribbles have no stroke, since no value is above 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED_MASKS)
def test_what_is_no_mask_is_refused(name):
    mask, message = REFUSED_MASKS[name]
    with pytest.raises(ValueError, match=message):
        Seeds.of(SHAPE, mask=mask)


@pytest.mark.parametrize("name", REFUSED_SCRIBBLES)
def test_what_are_no_scribbles_is_refused(name):
    scribbles, message = REFUSED_SCRIBBLES[name]
    with pytest.raises(ValueError, match=message):
        Seeds.of(SHAPE, scribbles=scribbles)


@pytest.mark.parametrize(
    ("values", "scribbles", "message"),
    [
        (OBJECT, True, r"scribbles hold booleans.*np\.where\(scribbles, 2, 0\)"),
        (OBJECT * 1.0, True, "scribbles must hold integers"),
        (OBJECT * 1.0, False, r"mask must hold booleans or integers.*mask > 0\.5"),
        (np.ma.masked_array(OBJECT, OBJECT), False, r"mask is a masked array.*filled\(False\)"),
        (np.ma.masked_array(OPENCV, OBJECT), True, r"scribbles is a masked array.*filled\(0\)"),
    ],
)
def test_types_that_say_nothing(values, scribbles, message):
    with pytest.raises(TypeError, match=message):
        Seeds.of(SHAPE, **{"scribbles" if scribbles else "mask": values})


def test_what_the_messages_offer_works():
    """The conversions that refusals name give what OpenCV and a trimap mean."""
    seeds = Seeds.of(
        SHAPE,
        mask=np.isin(OPENCV, (1, 3)),
        scribbles=np.select([OPENCV == 0, OPENCV == 1], [1, 2]),
    )
    assert np.array_equal(seeds.background, OPENCV == 0)
    assert np.array_equal(seeds.foreground, OPENCV == 1)
    assert np.array_equal(seeds.first_foreground, (OPENCV == 1) | (OPENCV == 3))
    trimap = Seeds.of(SHAPE, scribbles=np.select([TRIMAP == 0, TRIMAP == 255], [1, 2]))
    assert np.array_equal(trimap.foreground, TRIMAP == 255)
    assert np.array_equal(trimap.background, TRIMAP == 0)
    assert np.array_equal(object_mask(CUTOUT[:, :, 3] > 0), OBJECT)


def outcome(function, *arguments):
    """Return the answer of a function as a list, or the sentence that refuses."""
    try:
        return function(*arguments).tolist()
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@st.composite
def pictures(draw):
    """Draw what a PNG can hold, of values that masks and scribbles of all kinds have."""
    channels, dtype = draw(
        st.sampled_from([((), "?"), ((), "u1"), ((), "u2"), ((3,), "u1"), ((4,), "u1")])
    )
    values = draw(
        st.sampled_from([(0, 1), (0, 255), (0, 1, 2), (0, 1, 2, 3), (0, 128, 255), (0, 255, 65535)])
    )
    if dtype == "u1":
        values = [min(v, 255) for v in values]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    grey = rng.choice(values, size=SHAPE)
    if not channels:
        return grey.astype(dtype)
    coloured = draw(st.booleans())
    picture = rng.choice(values, size=(*SHAPE, *channels)) if coloured else np.dstack([grey] * 3)
    if channels == (4,):
        opacity = rng.choice(values, size=SHAPE) if draw(st.booleans()) else np.full(SHAPE, 255)
        picture = np.dstack([picture[..., :3], opacity])
    return picture.astype(dtype)


@pytest.fixture(scope="module")
def png(tmp_path_factory):
    return tmp_path_factory.mktemp("masks") / "picture.png"


@given(picture=pictures())
@settings(max_examples=200, deadline=None)
def test_files_mean_what_arrays_mean(png, picture):
    Image.fromarray(picture).save(png)
    assert outcome(read_mask, png) == outcome(object_mask, picture)
    read = read_photograph(png)
    assert outcome(scribble_labels, read, SHAPE) == outcome(scribble_labels, picture, SHAPE)


@given(picture=pictures())
@settings(max_examples=200, deadline=None)
def test_masks_are_read_by_the_rule_or_refused(picture):
    """The rule, once more and pixel by pixel: no alpha, equal channels, 0 and one white."""
    colours = {tuple(pixel) for pixel in np.atleast_3d(picture)[..., :3].reshape(-1, min(
        3, np.atleast_3d(picture).shape[2])).tolist()}  # fmt: skip
    varies = picture.shape[-1] == 4 and np.ptp(picture[..., 3]) > 0
    whites = {colour[0] for colour in colours} - {0}
    is_mask = all(len(set(colour)) == 1 for colour in colours) and not varies
    if is_mask and len(whites) <= 1 and whites <= {1, 255, 65535}:
        first = picture if picture.ndim == 2 else picture[..., 0]
        assert np.array_equal(object_mask(picture), first > 0)
    else:
        with pytest.raises(ValueError, match="mask"):
            object_mask(picture)
