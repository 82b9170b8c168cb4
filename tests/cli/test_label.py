"""``submin label``."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("sklearn")
pytest.importorskip("skimage")

from PIL import Image

from .conftest import assert_refused

COLOURS = [(200, 40, 40), (40, 190, 60), (40, 60, 200)]


@pytest.fixture
def picture(tmp_path):
    """Three upright stripes with noise, and a stroke on each."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 20)[None].repeat(40, axis=0)
    image = np.array(COLOURS)[truth] + rng.integers(-25, 26, (40, 60, 3))
    strokes = np.zeros((40, 60, 3), dtype=np.uint8)
    for k, colour in enumerate([(0, 0, 250), (0, 250, 0), (250, 0, 0)]):
        strokes[15:20, 20 * k + 8 : 20 * k + 12] = colour
    Image.fromarray(image.clip(0, 255).astype(np.uint8)).save(tmp_path / "photo.png")
    Image.fromarray(strokes).save(tmp_path / "strokes.png")
    return tmp_path, truth


def test_strokes_of_three_colours_make_three_objects(invoke, picture):
    folder, truth = picture
    run = invoke(
        "label", folder / "photo.png", "--scribbles", folder / "strokes.png",
        "-o", folder / "out", "--json", "-q",
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    fields = json.loads(run.stdout)
    labels = np.asarray(Image.open(folder / "out" / "labels.png"))
    assert (labels == truth + 1).mean() > 0.99
    assert fields["labels"] == [1, 2, 3]
    assert fields["pixels"] == np.bincount(labels.ravel(), minlength=4)[1:].tolist()
    assert fields["lower_bound"] <= fields["energy"]
    assert "Proved" in fields["proof"]
    assert np.asarray(Image.open(folder / "out" / "overlay.png")).shape == (40, 60, 3)


def test_numbers_of_a_grey_picture_are_labels(invoke, picture):
    folder, truth = picture
    strokes = np.zeros(truth.shape, dtype=np.uint8)
    strokes[15:20] = np.where(np.arange(60) % 20 == 10, truth[0] * 7 + 5, 0)
    Image.fromarray(strokes).save(folder / "numbers.png")
    run = invoke("label", folder / "photo.png", "--scribbles", folder / "numbers.png", "-o", folder)
    assert run.exit_code == 0, run.output
    labels = np.asarray(Image.open(folder / "labels.png"))
    assert set(np.unique(labels)) == {5, 12, 19}


def test_what_is_no_picture_of_strokes_is_refused(invoke, picture):
    folder, _ = picture
    photo = folder / "photo.png"
    out = ("-o", folder / "out")
    assert_refused(invoke("label", photo, "--scribbles", photo, *out), "colours", "PNG")
    Image.new("RGB", (60, 40)).save(folder / "black.png")
    black = folder / "black.png"
    assert_refused(invoke("label", photo, "--scribbles", black, *out), "at least two")
    Image.new("L", (6, 4)).save(folder / "small.png")
    small = folder / "small.png"
    assert_refused(invoke("label", photo, "--scribbles", small, *out), "shape")
