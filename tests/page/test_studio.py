"""The answer on the page is the minimiser of a problem that can be stated beside it."""

from __future__ import annotations

import io
import runpy
import zipfile
import zlib

import numpy as np
import pytest

import submin as sm
from submin import vision
from submin.page import aside, files
from submin.page.marks import Marks
from submin.page.photograph import Photograph
from submin.page.studio import (
    SMOOTHNESS,
    CancelledError,
    Settings,
    Studio,
    entries,
    level_of,
    refitted,
)
from tests.page.conftest import scene


def never() -> bool:
    return False


@pytest.fixture
def marks(photograph):
    marks = Marks(photograph.shape)
    marks.paint(1, 2, [[30, 20], [33, 22]], 2)
    marks.paint(2, 1, [[5, 5], [5, 30]], 2)
    return marks


@pytest.fixture
def studio(photograph, marks):
    studio = Studio(photograph, Settings(), marks.lesson())
    studio.follow(marks.seeds(), Settings())
    studio.solve_whole(never)
    return studio


def fresh(studio):
    """The same problem, stated anew and solved from nothing."""
    problem = studio.session.problem
    return sm.minimize(sm.Problem(problem.unary, problem.terms, problem.constant))


def test_the_first_strokes_find_the_object(studio, photograph):
    disc = photograph.pixels[:, :, 0] > 135
    assert (studio.last.result.minimizer != disc).mean() < 0.01
    assert studio.last.proved


@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings(more=35), Settings(more=-60), Settings(smoothness=2.0),
     Settings(smoothness=200.0, more=20)],
    ids=str,
)  # fmt: skip
def test_every_stroke_and_slider_is_answered_exactly(studio, marks, settings):
    rng = np.random.default_rng(1)
    for step in range(6):
        x, y = rng.uniform(0, 60), rng.uniform(0, 40)
        marks.paint(step + 10, int(rng.integers(0, 3)), [[x, y], [x + 5, y + 5]], 2)
        studio.follow(marks.seeds(), settings)
        answer = studio.solve_whole(never)
        expected = fresh(studio)
        assert np.array_equal(answer.result.minimizer, expected.minimizer)
        assert answer.proved
        seeds = marks.seeds()
        assert answer.result.minimizer[seeds == 2].all()
        assert not answer.result.minimizer[seeds == 1].any()


def test_sliders_have_the_masks_that_solves_give(studio, photograph, marks):
    order = aside.Order(studio.base_problem(), 0.0, photograph.features, 8, SMOOTHNESS)
    found = list(aside.answers(order))
    assert [what for what, _, _ in found] == ["levels"] + ["smoothness"] * len(SMOOTHNESS)
    first = found[0][2]
    for position in (-100, -40, -3, 0, 7, 50, 100):
        studio.follow(marks.seeds(), Settings(more=position))
        mask = studio.solve_whole(never).result.minimizer
        assert np.array_equal(first <= position + 100, mask), position
    for _, smoothness, bits in found[1:]:
        studio.follow(marks.seeds(), Settings(smoothness=smoothness))
        mask = studio.solve_whole(never).result.minimizer
        assert np.array_equal(np.unpackbits(bits)[: mask.size].reshape(mask.shape), mask)


def test_more_is_more_and_entries_are_bytes():
    problem = sm.Problem([[-20.0, -1.0, 0.5, 1.0, 20.0]], [sm.GridCut((1, 5), 0.0)])
    first = entries(sm.path(problem))
    assert first.dtype == np.uint8
    for position in range(-100, 101):
        expected = problem.unary - level_of(position) < 0.0
        assert np.array_equal(first <= position + 100, expected), position


def test_superpixels_and_four_neighbours(photograph, marks):
    settings = Settings(superpixels=50, connectivity=4, components=2)
    studio = Studio(photograph, settings, marks.lesson())
    studio.follow(marks.seeds(), settings)
    answer = studio.solve_whole(never)
    assert answer.proved
    assert np.isclose(answer.certificate.value, fresh(studio).value, rtol=1e-12)


def test_a_refit_settles_and_says_how_often(photograph, marks, studio):
    mask = studio.last.result.minimizer
    again, rounds = refitted(photograph, Settings(), marks.seeds(), mask, never)
    assert rounds >= 1
    assert (again.last.result.minimizer != (photograph.pixels[:, :, 0] > 135)).mean() < 0.01


def test_work_that_nobody_waits_for_ends(photograph, marks, studio):
    with pytest.raises(CancelledError):
        studio.solve_whole(lambda: True)
    with pytest.raises(CancelledError):
        refitted(photograph, Settings(), marks.seeds(), studio.base < 0, lambda: True)


def test_an_empty_mask_teaches_nothing(photograph):
    empty = np.zeros(photograph.shape, bool)
    with pytest.raises(ValueError, match="paint"):
        refitted(photograph, Settings(), np.zeros(photograph.shape, np.uint8), empty, never)


@pytest.mark.parametrize(
    "wanted",
    [{"smoothness": 51.0}, {"more": 101}, {"connectivity": 6}, {"components": 0}, {"learn": 1},
     {"superpixels": True}, {"superpixels": 10**9}, {"colour": 1}, {"more": "1"}, {"more": [1]}],
    ids=str,
)  # fmt: skip
def test_settings_that_the_page_does_not_offer_are_refused(wanted):
    with pytest.raises(ValueError, match=r"can not be|there is no setting"):
        Settings().changed(wanted)


# Files.


def saved(what, photograph, marks, studio):
    return files.written(what, photograph, marks, studio.settings, studio)


def test_a_file_needs_a_mask(photograph, marks):
    with pytest.raises(ValueError, match="no mask"):
        files.written("mask", photograph, marks, Settings(), None)
    assert files.written("strokes", photograph, marks, Settings(), None)[0] == "strokes.png"


def test_saved_strokes_are_what_segment_takes(photograph, marks, studio, tmp_path):
    name, _, data = saved("strokes", photograph, marks, studio)
    (tmp_path / name).write_bytes(data)
    labels = vision.scribble_labels(vision.read_photograph(tmp_path / name), photograph.shape)
    assert np.array_equal(labels, marks.labels)


def test_the_saved_mask_is_that_of_the_page(photograph, marks, studio, tmp_path):
    name, _, data = saved("mask", photograph, marks, studio)
    (tmp_path / name).write_bytes(data)
    assert np.array_equal(vision.read_mask(tmp_path / name), studio.last.result.minimizer)


def test_the_proof_holds_and_a_forged_one_does_not(photograph, marks, studio, tmp_path):
    name, _, data = saved("proof", photograph, marks, studio)
    (tmp_path / name).write_bytes(data)
    problem, result = sm.Problem.load(tmp_path / name), sm.Result.load(tmp_path / name)
    assert sm.verify(problem, result).gap <= 1e-6
    assert np.array_equal(result.minimizer, studio.last.result.minimizer)


@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings(more=30, smoothness=5.0, connectivity=4, superpixels=40)],
    ids=str,
)
def test_the_lines_reproduce_the_mask(photograph, marks, settings, tmp_path, monkeypatch):
    marks.set_box([10, 3, 55, 38])
    studio = Studio(photograph, settings, marks.lesson())
    studio.follow(marks.seeds(), settings)
    mask = studio.solve_whole(never).result.minimizer
    _, _, data = saved("all", photograph, marks, studio)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("reproduce.py")
    assert np.array_equal(vision.read_mask("reproduced.png"), mask)
    assert np.array_equal(vision.read_mask("mask.png"), mask)


@pytest.mark.parametrize("kind", [np.uint16, np.float32, np.bool_])
def test_deep_photographs_are_saved_whole(kind, tmp_path, monkeypatch):
    pixels = (np.add.outer(np.arange(12), np.arange(15)) > 12) * np.ones(1)
    pixels = (pixels * (1 if kind == np.bool_ else 999)).astype(kind)
    photograph = Photograph.of("deep", pixels)
    marks = Marks(photograph.shape)
    marks.paint(1, 2, [[13, 10]], 1)
    marks.paint(2, 1, [[1, 1]], 1)
    studio = Studio(photograph, Settings(), marks.lesson())
    studio.follow(marks.seeds(), Settings())
    mask = studio.solve_whole(never).result.minimizer
    _, _, data = saved("all", photograph, marks, studio)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("reproduce.py")
    assert np.array_equal(vision.read_mask("reproduced.png"), mask)


def test_a_cut_out_is_clear_outside_and_has_no_halo(photograph, marks, studio):
    from submin.vision.cutouts import clean_cutout

    mask = studio.last.result.minimizer
    picture = clean_cutout(photograph.pixels, mask)
    assert not picture[~mask & (picture[:, :, 3] == 0)].any()
    seen = picture[:, :, 3] > 0
    assert (picture[seen][:, 0] > 150).all(), "the blue of the ground shows nowhere"
    assert (picture[mask][:, 3] > 100).all()
    for whole in (np.ones_like(mask), np.zeros_like(mask)):
        assert np.array_equal(clean_cutout(photograph.pixels, whole)[:, :, 3] > 0, whole)


# Photographs.


def encoded(pixels, kind="PNG"):
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format=kind)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP"])
def test_uploads_are_read_as_files_are(photograph, kind):
    found = Photograph.decoded("../../etc/x.png", encoded(photograph.pixels, kind))
    assert found.name == "x.png"
    assert np.array_equal(found.pixels, photograph.pixels)


@pytest.mark.parametrize(
    "data",
    [b"", b"no picture", encoded(scene())[:2000], b"II*\0" + b"\xff" * 40, b"<svg/>"],
    ids=["empty", "text", "cut short", "TIFF", "SVG"],
)
def test_broken_uploads_are_refused_in_one_sentence(data):
    with pytest.raises(ValueError, match=r"x\.png"):
        Photograph.decoded("x.png", data)


def test_bombs_are_refused_by_their_header(monkeypatch):
    from submin.page import photograph as module

    bomb = bytearray(encoded(np.zeros((9, 9), np.uint8)))
    bomb[16:24] = (100_000).to_bytes(4, "big") * 2
    bomb[29:33] = zlib.crc32(bytes(bomb[12:29])).to_bytes(4, "big")
    monkeypatch.setattr(module, "read_image", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(ValueError, match="too large"):
        Photograph.decoded("bomb.png", bytes(bomb))
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="MB"):
        Photograph.decoded("x.png", b"x" * 11)


def test_large_photographs_are_scaled_down():
    pixels = np.arange(30 * 47 * 3, dtype=np.uint16).reshape(30, 47, 3)
    found = Photograph.of("x", pixels, most=200)
    assert found.factor == 3
    assert found.pixels.shape == (10, 15, 3)
    assert found.pixels.dtype == np.uint16
    assert np.array_equal(found.pixels[0, 0], np.rint(pixels[:3, :3].mean(axis=(0, 1))))
