"""Image files of many kinds, and the samples."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from submin.vision import SAMPLES, read_mask, read_photograph, sample

RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 256, size=(5, 7, 3)).astype(np.uint8)


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (RGB, "rgb.png"),
        (np.dstack([RGB, RGB[..., :1]]), "rgba.png"),
        (RGB[..., 0], "grey.png"),
        (RGB[..., 0] > 99, "bits.png"),
        (RGB[..., 0].astype(np.uint16) * 257, "deep.png"),
        (RGB[..., 0].astype(np.float32) / 255, "float.tif"),
        (RGB, "picture.bmp"),
    ],
)
def test_exact_formats(array, name, tmp_path):
    Image.fromarray(array).save(tmp_path / name)
    back = read_photograph(tmp_path / name)
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


@pytest.mark.parametrize(
    ("mode", "channels"), [("P", 3), ("CMYK", 3), ("YCbCr", 3), ("LA", 4), ("RGBA", 4)]
)
def test_other_modes_become_rgb(mode, channels, tmp_path):
    path = tmp_path / "picture.tif"
    Image.fromarray(RGB).convert("L" if mode == "LA" else "RGB").convert(mode).save(path)
    assert read_photograph(path).shape == (5, 7, channels)


def test_palette_with_transparency(tmp_path):
    Image.fromarray(RGB).convert("P").save(tmp_path / "palette.png", transparency=0)
    assert read_photograph(tmp_path / "palette.png").shape == (5, 7, 4)


def test_photographs_are_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by 90 degrees
    Image.fromarray(RGB).save(tmp_path / "turned.png", exif=exif)
    upright = read_photograph(tmp_path / "turned.png")
    assert np.array_equal(upright, np.rot90(RGB, -1))


@pytest.mark.parametrize(("values", "expected"), [((0, 255), [0, 1]), ((0, 1), [0, 1])])
def test_masks(values, expected, tmp_path):
    Image.fromarray(np.array([values], dtype=np.uint8)).save(tmp_path / "mask.png")
    assert read_mask(tmp_path / "mask.png").tolist() == [[bool(v) for v in expected]]


def test_not_an_image(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ValueError, match=r"notes\.txt is not an image"):
        read_photograph(tmp_path / "notes.txt")
    with pytest.raises(FileNotFoundError):
        read_photograph(tmp_path / "missing.png")


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_samples(name):
    chosen = sample(name)
    image = chosen.image()
    height, width = image.shape[:2]
    x1, y1, x2, y2 = chosen.box
    assert 0 <= x1 < x2 <= width
    assert 0 <= y1 < y2 <= height
    assert (x2 - x1) * (y2 - y1) < width * height


def test_unknown_sample():
    with pytest.raises(ValueError, match="no sample is named 'dog': there are astronaut, cat"):
        sample("dog")
