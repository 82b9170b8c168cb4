"""``submin denoise``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import submin as sm
from submin.solve import api

from .conftest import assert_refused

pytest.importorskip("skimage")
pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")
tifffile = pytest.importorskip("tifffile")

KEYS = {
    "command", "version", "objective", "gap", "status", "interrupted", "proof", "shape", "solver",
    "seconds", "files",
}  # fmt: skip


def pixels(*shape: int, kind: str = "uint8", most: int = 256) -> Any:
    return np.random.default_rng(0).integers(0, most, shape).astype(kind)


def write(path: Path, image: Any) -> Path:
    if image.dtype == np.uint8:
        Image.fromarray(image).save(path)
    else:
        tifffile.imwrite(path, image)
    return path


def read(path: Path) -> Any:
    if path.suffix == ".tif":
        return tifffile.imread(path)
    with Image.open(path) as picture:
        return np.array(picture)


@pytest.mark.parametrize("channels", [(), (3,)])
def test_a_photograph_becomes_that_of_denoise_tv(invoke, tmp_path, channels):
    image = pixels(20, 30, *channels)
    photo, folder = write(tmp_path / "photo.png", image), tmp_path / "new" / "folder"
    run = invoke(
        "denoise", photo, "--weight", 30, "--connectivity", 8, "-o", folder, "--json", "--quiet"
    )
    assert (run.exit_code, run.stderr) == (0, "")
    fields = json.loads(run.stdout)
    assert set(fields) == KEYS
    assert 0.0 <= fields["gap"] < 1e-6 * fields["objective"]
    axis = 2 if channels else None
    expected = sm.denoise_tv(image, 30.0, connectivity=8, channel_axis=axis)
    found = read(Path(fields["files"]["denoised"]))
    assert found.dtype == np.uint8
    assert np.array_equal(found, np.rint(expected))
    comparison = read(Path(fields["files"]["comparison"]))
    assert np.array_equal(comparison[:, :30], np.dstack([image] * 3) if not channels else image)
    assert comparison.shape == (20, 3 * 30 + 2, 3)
    assert np.ptp(comparison[:, 31:61].astype(int)) < np.ptp(image.astype(int))
    assert set(folder.iterdir()) == {folder / "denoised.png", folder / "comparison.png"}


def test_the_objective_is_that_of_the_picture(invoke, tmp_path):
    """Of the real numbers that are rounded to the picture; one of them can be computed by hand."""
    photo = write(tmp_path / "photo.png", np.array([[0, 100]], dtype=np.uint8))
    run = invoke("denoise", photo, "--weight", 10, "-o", tmp_path / "out", "--json", "-q")
    assert json.loads(run.stdout)["objective"] == pytest.approx(10**2 + 10 * 80, abs=1e-3)
    assert read(tmp_path / "out" / "denoised.png").tolist() == [[10, 90]]


def test_opacity_is_kept_and_transparent_pixels_say_nothing(invoke, tmp_path):
    image = pixels(12, 15, 4)
    image[:6, :, 3], image[6:, :, 3] = 0, 128
    photo = write(tmp_path / "photo.png", image)
    assert invoke("denoise", photo, "--weight", 50, "-o", tmp_path, "-q").exit_code == 0
    found = read(tmp_path / "denoised.png")
    assert np.array_equal(found[..., 3], image[..., 3])
    assert np.array_equal(found[:6], image[:6])
    expected = sm.denoise_tv(image[6:, :, :3], 50.0, channel_axis=2)
    assert np.abs(found[6:, :, :3] - expected).max() < 0.51


@pytest.mark.parametrize(
    "image",
    [
        pixels(8, 9, kind="uint16", most=4000),
        pixels(8, 9, 3, kind="uint16", most=65536),
        pixels(8, 9, kind="float32") / np.float32(255),
    ],
    ids=["grey16", "rgb16", "float"],
)
def test_deep_pictures_keep_their_type(invoke, tmp_path, image):
    photo = write(tmp_path / "photo.tif", image)
    weight = float(np.ptp(image)) / 10
    assert invoke("denoise", photo, "--weight", weight, "-o", tmp_path, "-q").exit_code == 0
    found = read(tmp_path / "denoised.tif")
    expected = sm.denoise_tv(image, weight, channel_axis=2 if image.ndim == 3 else None)
    assert found.dtype == image.dtype
    assert np.array_equal(
        found, (np.rint(expected) if image.dtype.kind == "u" else expected).astype(image.dtype)
    )


def test_black_and_white_becomes_grey(invoke, tmp_path):
    image = pixels(8, 9, most=2) * np.uint8(255)
    Image.fromarray(image).convert("1").save(tmp_path / "photo.png")
    run = invoke("denoise", tmp_path / "photo.png", "--weight", 40, "-o", tmp_path, "-q")
    assert run.exit_code == 0
    found = read(tmp_path / "denoised.png")
    assert np.array_equal(found, np.rint(sm.denoise_tv(image, 40.0)))


def test_table_and_progress(invoke, tmp_path):
    photo = write(tmp_path / "photo.png", pixels(20, 30, 3))
    run = invoke("denoise", photo, "--weight", 30, "-o", tmp_path / "out")
    for word in ("objective", "gap", "Proved: no picture", "seconds", "comparison.png"):
        assert word in run.stdout
    assert run.stderr.count("smooth gap") >= 3


def test_a_limit_leaves_a_gap(invoke, tmp_path):
    photo = write(tmp_path / "photo.png", pixels(60, 70))
    run = invoke(
        "denoise", photo, "--weight", 30, "-o", tmp_path, "--time-limit", 0, "--json", "-q"
    )
    fields = json.loads(run.stdout)
    assert (run.exit_code, fields["status"]) == (0, "STOPPED")
    assert fields["gap"] > 0.0
    assert fields["proof"].startswith("Not finished")


def test_an_interrupt_keeps_the_answer(invoke, tmp_path, monkeypatch):
    """Ctrl-C in the first colour leaves no time for the others, which have their gaps too."""
    solve, limits = api.prox, []

    def interrupted(problem, **settings):
        limits.append(settings["time_limit"])
        return replace(solve(problem, **settings), interrupted=len(limits) == 1)

    monkeypatch.setattr(api, "prox", interrupted)
    photo = write(tmp_path / "photo.png", pixels(20, 30, 3))
    run = invoke("denoise", photo, "--weight", 30, "-o", tmp_path / "out", "--json", "-q")
    assert run.exit_code == 130
    assert limits[1:] == [0.0, 0.0]
    assert json.loads(run.stdout)["interrupted"] is True
    assert (tmp_path / "out" / "denoised.png").is_file()
    assert "interrupted" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--weight", "-1"], ["weight is -1.0"]),
        (["--weight", "nan"], ["weight is nan"]),
        (["--weight", "1", "--connectivity", "6"], ["connectivity is 6", "4 or 8"]),
        (["--weight", "1", "--time-limit", "-2"], ["time_limit is -2.0"]),
    ],
)
def test_refused_settings(invoke, tmp_path, arguments, words):
    photo = write(tmp_path / "photo.png", pixels(4, 5))
    folder = tmp_path / "out"
    assert_refused(invoke("denoise", photo, *arguments, "-o", folder), *words)
    assert not folder.exists()


def test_refused_files(invoke, tmp_path):
    text = tmp_path / "text.png"
    text.write_text("no picture")
    nan = write(tmp_path / "nan.tif", np.full((3, 4), np.nan, dtype=np.float32))
    photo = write(tmp_path / "photo.png", pixels(4, 5))
    for path, word in ((tmp_path / "none.png", "none.png"), (text, "text.png"), (nan, "[0, 0]")):
        assert_refused(invoke("denoise", path, "--weight", 1, "-o", tmp_path / "out"), word)
    assert_refused(invoke("denoise", photo, "--weight", 1, "-o", text), "text.png is a file")
