"""Image files: nothing is lost without a word, and damage is one sentence."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from submin.vision import read_photograph

tifffile = pytest.importorskip("tifffile")

GREY = np.random.default_rng(0).integers(0, 4000, size=(5, 7))
COLOUR = np.random.default_rng(1).integers(0, 4000, size=(5, 7, 3)).astype(np.uint16)


def frames():
    return [Image.fromarray((GREY * k % 256).astype(np.uint8)) for k in (1, 2, 3)]


def png(width, height, depth, kind, rows=b""):
    """Write a PNG of any depth; without enough rows it is truncated."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    chunks = (header, b"IDAT" + zlib.compress(rows), b"IEND")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for chunk in chunks
    )


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "u4", "i4", "u8", "f2", "f4", "f8"])
def test_tiffs_of_every_depth(dtype, order, tmp_path):
    values = (GREY % 256 if dtype == "u1" else GREY).astype(dtype)
    if dtype == "u4":
        values += np.uint32(3_000_000_000)
    tifffile.imwrite(tmp_path / "grey.tif", values, byteorder=order)
    back = read_photograph(tmp_path / "grey.tif")
    assert np.array_equal(back, values)
    assert back.dtype.isnative
    assert back.dtype.itemsize >= values.dtype.itemsize


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_deep_colours_of_a_tiff(dtype, tmp_path):
    path = tmp_path / "colour.tif"
    values = COLOUR.astype(dtype)
    tifffile.imwrite(path, values, photometric="rgb")
    assert np.array_equal(read_photograph(path), values)
    tifffile.imwrite(path, np.moveaxis(values, 2, 0), photometric="rgb", planarconfig="separate")
    assert np.array_equal(read_photograph(path), values)
    deeper = np.dstack([values, values[..., :1]])
    tifffile.imwrite(path, deeper, photometric="rgb", extrasamples=["unassalpha"])
    assert np.array_equal(read_photograph(path), deeper)
    tifffile.imwrite(path, deeper, photometric="rgb", extrasamples=["unspecified"])
    assert np.array_equal(read_photograph(path), values)


TURNS = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.swapaxes(0, 1),
    6: lambda a: a[::-1].swapaxes(0, 1),
    7: lambda a: a[::-1, ::-1].swapaxes(0, 1),
    8: lambda a: a[:, ::-1].swapaxes(0, 1),
}


@pytest.mark.parametrize("orientation", TURNS)
@pytest.mark.parametrize("compression", [None, "tiff_lzw"])
@pytest.mark.parametrize("kind", ["png", "tif"])
def test_pictures_are_upright(kind, compression, orientation, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = orientation
    for values in ((GREY % 256).astype(np.uint8), (COLOUR % 256).astype(np.uint8)):
        path = tmp_path / f"turned.{kind}"
        Image.fromarray(values).save(path, exif=exif, compression=compression)
        assert np.array_equal(read_photograph(path), TURNS[orientation](values))


@pytest.mark.parametrize("orientation", TURNS)
def test_deep_pictures_are_upright(orientation, tmp_path):
    path = tmp_path / "turned.tif"
    tags = [(274, "H", 1, orientation, True)]
    for values in (GREY.astype(np.uint16), GREY.astype(np.uint32)):
        tifffile.imwrite(path, values, extratags=tags, photometric="minisblack")
        assert np.array_equal(read_photograph(path), TURNS[orientation](values))


@pytest.mark.parametrize("kind", ["tif", "gif", "png", "webp"])
def test_several_pictures_are_refused(kind, tmp_path):
    path = tmp_path / f"three.{kind}"
    first, *others = frames()
    first.save(path, save_all=True, append_images=others)
    with pytest.raises(ValueError, match=rf"three\.{kind} holds 3 pictures: save the one"):
        read_photograph(path)


def test_a_stack_without_headers_is_refused(tmp_path):
    tifffile.imwrite(tmp_path / "stack.tif", np.zeros((4, 5, 7), np.uint16), imagej=True)
    with pytest.raises(ValueError, match="holds 4 pictures"):
        read_photograph(tmp_path / "stack.tif")


def test_smaller_copies_are_no_pictures(tmp_path):
    path = tmp_path / "pyramid.tif"
    with tifffile.TiffWriter(path) as writer:
        writer.write(GREY.astype(np.uint16))
        writer.write(GREY[::2, ::2].astype(np.uint16), subfiletype=1)
    assert np.array_equal(read_photograph(path), GREY)


def test_a_preview_is_not_taken_for_the_photograph(tmp_path):
    path = tmp_path / "raw.tif"
    tifffile.imwrite(path, GREY.astype(np.uint16), subfiletype=1)
    with pytest.raises(ValueError, match=r"raw\.tif begins with a preview"):
        read_photograph(path)


def test_the_first_picture_of_a_camera_is_the_photograph(tmp_path):
    first, *others = frames()
    first.save(tmp_path / "phone.jpg", format="MPO", save_all=True, append_images=others)
    assert read_photograph(tmp_path / "phone.jpg").shape == GREY.shape


def test_deep_colours_that_pillow_would_cut_are_refused(tmp_path):
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in COLOUR)
    (tmp_path / "deep.png").write_bytes(png(7, 5, 16, 2, rows))
    (tmp_path / "deep.ppm").write_bytes(b"P6 7 5 4095\n" + COLOUR.astype(">u2").tobytes())
    for name in ("deep.png", "deep.ppm"):
        with pytest.raises(ValueError, match=f"{name} has more than 8 bits a channel"):
            read_photograph(tmp_path / name)


def test_too_many_pixels(tmp_path):
    (tmp_path / "large.png").write_bytes(png(14000, 14000, 1, 0))
    with pytest.raises(ValueError, match=r"large\.png is too large; scale it down"):
        read_photograph(tmp_path / "large.png")


def test_negatives_of_16_bits_are_refused(tmp_path):
    tifffile.imwrite(tmp_path / "film.tif", GREY.astype(np.uint16), photometric="miniswhite")
    with pytest.raises(ValueError, match="holds MINISWHITE colours"):
        read_photograph(tmp_path / "film.tif")


def encoded(kind):
    """Return the bytes of a small picture, and its pixels as they are read."""
    stream = io.BytesIO()
    if kind.startswith("deep"):
        compression = "zlib" if kind == "deep zlib" else None
        tifffile.imwrite(stream, COLOUR, photometric="rgb", compression=compression)
    else:
        Image.fromarray((COLOUR % 256).astype(np.uint8)).save(stream, kind)
    return stream.getvalue()


def refusal(path):
    """Return the sentence that refuses a file, if one does."""
    try:
        read_photograph(path)
    except ValueError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged") / "picture"


KINDS = ["png", "gif", "jpeg", "bmp", "webp", "tiff", "deep", "deep zlib"]


@given(
    kind=st.sampled_from(KINDS),
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=4),
    kept=st.one_of(st.just(1.0), st.floats(0, 1)),
)
@settings(max_examples=200, deadline=None)
def test_damage_is_one_sentence(damaged, kind, changes, kept):
    data = bytearray(encoded(kind))
    for place, byte in changes:
        data[int(place * (len(data) - 1))] = byte
    damaged.write_bytes(data[: int(kept * len(data))])
    sentence = refusal(damaged)
    assert sentence is None or str(damaged) in sentence
    assert "\n" not in (sentence or "")


@given(kind=st.sampled_from(KINDS), kept=st.floats(0, 1, exclude_max=True))
@settings(max_examples=100, deadline=None)
def test_truncated_pictures_are_never_read_in_part(damaged, kind, kept):
    data = encoded(kind)
    damaged.write_bytes(data)
    whole = read_photograph(damaged)
    damaged.write_bytes(data[: int(kept * len(data))])
    assert refusal(damaged) or np.array_equal(read_photograph(damaged), whole)
