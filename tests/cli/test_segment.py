"""``submin segment``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import submin as sm

from .conftest import assert_refused
from .test_solve import KEYS

pytest.importorskip("skimage")
pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")

from ..vision.test_masks import REFUSED_MASKS, REFUSED_SCRIBBLES, SHAPE  # noqa: E402

FILES = {"mask", "cutout", "overlay", "convergence", "result"}
BOX = "4,3,24,15"


def write(path: Path, pixels: Any) -> Path:
    Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(path)
    return path


def read(path: Path) -> Any:
    with Image.open(path) as picture:
        return np.array(picture)


@pytest.fixture(scope="session")
def object_mask():
    mask = np.zeros((20, 30), dtype=bool)
    mask[5:12, 8:20] = True
    return mask


@pytest.fixture
def photo(tmp_path, object_mask):
    """Write a bright rectangle on a dark ground."""
    return write(tmp_path / "photo.png", np.where(object_mask, 240, 20))


@pytest.fixture
def strokes(tmp_path, object_mask):
    picture = np.zeros((20, 30, 3))
    picture[8, 10:18] = (255, 255, 255)
    picture[1, 2:28] = (219, 0, 0)
    return write(tmp_path / "strokes.png", picture)


def test_box(invoke, photo, object_mask, tmp_path):
    folder = tmp_path / "new" / "folder"
    run = invoke("segment", photo, "--box", BOX, "-o", folder, "--json")
    assert run.exit_code == 0
    fields = json.loads(run.stdout)
    assert set(fields) == KEYS | {"rounds", "energies", "settled"}
    assert fields["status"] == "OPTIMAL"
    assert fields["elements_in_set"] == object_mask.sum()
    assert fields["rounds"] == len(fields["energies"])
    assert set(fields["files"]) == FILES
    assert all(Path(file).is_file() for file in fields["files"].values())
    np.testing.assert_array_equal(read(folder / "mask.png") > 0, object_mask)
    np.testing.assert_array_equal(read(folder / "cutout.png")[..., 3] > 0, object_mask)
    assert invoke("verify", folder / "result.npz").exit_code == 0


def test_scribbles_and_mask(invoke, photo, strokes, object_mask, tmp_path):
    guess = write(tmp_path / "guess.png", np.where(np.roll(object_mask, 2, axis=1), 255, 0))
    for name, file in (("--scribbles", strokes), ("--mask", guess)):
        run = invoke("segment", photo, name, file, "-o", tmp_path / "out", "--quiet")
        assert (run.exit_code, run.output) == (0, "")
        np.testing.assert_array_equal(read(tmp_path / "out" / "mask.png") > 0, object_mask)


def test_table(invoke, photo, tmp_path):
    run = invoke("segment", photo, "--box", BOX, "-o", tmp_path / "out")
    assert run.exit_code == 0
    for word in ("value", "lower bound", "Proved", "84 of 600", "rounds", "overlay.png"):
        assert word in run.stdout


def rows_of(run):
    """Return the closing table as a dictionary."""
    return {line[:14].strip(): line[14:].strip() for line in run.stdout.splitlines()}


@pytest.mark.parametrize("solver", ["auto", "accelerated_sweeps"])
def test_progress_has_a_line_for_each_round_and_ends_with_the_table(
    invoke, photo, tmp_path, solver
):
    run = invoke(
        "segment", photo, "--box", BOX, "-o", tmp_path / "out", "--components", 2,
        "--solver", solver,
    )  # fmt: skip
    rows, lines = rows_of(run), run.stderr.splitlines()
    passes, rounds = rows["passes"], int(rows["rounds"].split(",")[0])
    assert rounds > 1
    assert [int(line.split()[1]) for line in lines] == list(range(1, rounds + 1))
    words = lines[-1].split()
    shown = dict(zip(words[0:8:2], words[1:8:2], strict=True))
    assert shown["pass"] == passes
    assert shown["value"] == f"{float(rows['value']):.9g}"
    assert shown["gap"] == f"{float(rows['gap']):.2e}"
    assert float(words[-2]) == pytest.approx(float(rows["seconds"]), abs=0.1)


def test_options_reach_the_segmentation(invoke, photo, tmp_path, monkeypatch):
    seen = {}
    real = sm.segment

    def spy(image, **settings):
        seen.update(settings)
        return real(image, **settings)

    monkeypatch.setattr("submin.vision.segment", spy)
    run = invoke(
        "segment", photo, "--box", BOX, "-o", tmp_path / "out", "--smoothness", 3, "--rounds", 1,
        "--components", 2, "--superpixels", 6, "--superpixel-weight", 0.5, "--connectivity", 4,
        "--tol", 0.5, "--time-limit", 60, "--threads", 1, "--seed", 5,
        "--solver", "rcdm", "--max-passes", 50, "-q",
    )  # fmt: skip
    assert run.exit_code == 0
    seen.pop("callback")
    assert seen.pop("progress") is False
    assert seen == {
        "box": (4, 3, 24, 15), "smoothness": 3.0, "max_rounds": 1, "components": 2,
        "superpixels": 6, "superpixel_weight": 0.5, "connectivity": 4, "tol": 0.5,
        "time_limit": 60.0, "threads": 1, "seed": 5, "solver": sm.RCDM(seed=5), "max_passes": 50,
    }  # fmt: skip


def test_sample_comes_with_its_box(invoke, tmp_path, monkeypatch):
    from submin import vision

    seen = {}

    def stop(image, **settings):
        seen.update(settings, shape=image.shape)
        raise ValueError("enough")

    monkeypatch.setattr("submin.vision.segment", stop)
    assert_refused(invoke("segment", "--sample", "coffee", "-o", tmp_path / "out"), "enough")
    assert seen["box"] == vision.SAMPLES["coffee"].box
    assert seen["shape"][2] == 3
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "int32", "float32", "float64"])
def test_a_faint_object_in_a_file_of_any_depth(invoke, object_mask, tmp_path, dtype):
    path = tmp_path / "faint.tif"
    faint = np.where(object_mask, 130, 100).astype(dtype)
    pytest.importorskip("tifffile").imwrite(path, faint)
    run = invoke("segment", path, "--box", BOX, "-o", tmp_path / "out", "--json")
    assert json.loads(run.stdout)["elements_in_set"] == object_mask.sum()
    cutout = read(tmp_path / "out" / "cutout.png")
    np.testing.assert_array_equal(cutout[..., 3] > 0, object_mask)
    assert cutout[object_mask].max() >= 130


def assert_same_refusal(invoke, tmp_path, name, marks):
    """Check that a file and its array are refused in the same words."""
    image = np.random.default_rng(0).integers(0, 256, size=SHAPE, dtype=np.uint8)
    photo, file = write(tmp_path / "image.png", image), write(tmp_path / "marks.png", marks)
    with pytest.raises(ValueError, match=name) as caught:
        sm.segment(image, **{name: marks})
    assert_refused(invoke("segment", photo, f"--{name}", file), str(caught.value))


class TestRefusals:
    def test_missing_photo(self, invoke, tmp_path):
        assert_refused(invoke("segment", tmp_path / "none.jpg", "--box", BOX), "none.jpg")

    def test_no_photo(self, invoke):
        assert_refused(invoke("segment", "--box", BOX), "no photograph", "astronaut")

    def test_photo_and_sample(self, invoke, photo):
        assert_refused(invoke("segment", photo, "--sample", "cat"), "take one")

    def test_unknown_sample(self, invoke):
        assert_refused(invoke("segment", "--sample", "unicorn"), "unicorn", "astronaut")

    def test_not_an_image(self, invoke, tmp_path):
        path = tmp_path / "text.png"
        path.write_text("not an image")
        assert_refused(invoke("segment", path, "--box", BOX), "text.png", "not an image")

    def test_truncated_image(self, invoke, photo, tmp_path):
        path = tmp_path / "half.png"
        noise = np.random.default_rng(0).integers(0, 255, (60, 60))
        whole = write(path, noise).read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        assert_refused(invoke("segment", path, "--box", BOX), "half.png")

    def test_too_many_pixels(self, invoke, tmp_path):
        path = tmp_path / "large.png"
        Image.new("1", (14000, 14000)).save(path)
        assert_refused(invoke("segment", path, "--box", BOX), "large.png", "scale it down")

    def test_several_pictures(self, invoke, tmp_path):
        path = tmp_path / "stack.tif"
        pages = [Image.new("L", (30, 20)) for _ in range(3)]
        pages[0].save(path, save_all=True, append_images=pages[1:])
        assert_refused(
            invoke("segment", path, "--box", BOX), "stack.tif is a volume", "--scribbles"
        )

    def test_out_of_memory(self, invoke, photo, tmp_path, monkeypatch):
        def exhausted(*_, **__):
            raise MemoryError

        monkeypatch.setattr("submin.vision.segment", exhausted)
        run = invoke("segment", photo, "--box", BOX, "-o", tmp_path / "out")
        assert_refused(run, "30 x 20 pixels", "does not fit into memory", "scale")

    @pytest.mark.parametrize("name", REFUSED_MASKS)
    def test_what_is_no_mask_is_refused_as_in_python(self, invoke, tmp_path, name):
        mask, _ = REFUSED_MASKS[name]
        assert_same_refusal(invoke, tmp_path, "mask", mask)

    @pytest.mark.parametrize("name", REFUSED_SCRIBBLES)
    def test_what_are_no_scribbles_is_refused_as_in_python(self, invoke, tmp_path, name):
        scribbles, _ = REFUSED_SCRIBBLES[name]
        assert_same_refusal(invoke, tmp_path, "scribbles", scribbles)

    def test_nothing_marked(self, invoke, photo):
        assert_refused(invoke("segment", photo), "box, scribbles or a mask")

    @pytest.mark.parametrize("box", ["1,2,3", "a,b,c,d", "1.5,2,3,4", ""])
    def test_box_that_is_not_four_numbers(self, invoke, photo, box):
        assert_refused(invoke("segment", photo, "--box", box), "four whole numbers")

    @pytest.mark.parametrize("box", ["5,5,5,9", "0,0,31,20", "-1,0,9,9", "0,0,30,20"])
    def test_box_that_does_not_fit(self, invoke, photo, box):
        assert_refused(invoke("segment", photo, f"--box={box}"), "box")

    def test_contradicting_seeds(self, invoke, photo, strokes):
        assert_refused(
            invoke("segment", photo, "--scribbles", strokes, "--box", "20,12,25,18"), "outside"
        )

    def test_scribbles_of_another_size(self, invoke, photo, tmp_path):
        other = write(tmp_path / "other.png", np.zeros((5, 5, 3)))
        assert_refused(invoke("segment", photo, "--scribbles", other), "shape")

    def test_unknown_solver(self, invoke, photo):
        assert_refused(invoke("segment", photo, "--box", BOX, "--solver", "magic"), "magic")

    @pytest.mark.parametrize(
        ("option", "value"),
        [("--components", 0), ("--rounds", 0), ("--smoothness", -1), ("--tol", -1),
         ("--time-limit", -1), ("--superpixels", -1), ("--superpixel-weight", -1),
         ("--connectivity", 6)],
    )  # fmt: skip
    def test_setting_out_of_range(self, invoke, photo, tmp_path, option, value):
        run = invoke("segment", photo, "--box", BOX, option, value, "-o", tmp_path / "out")
        assert_refused(run, str(value))

    def test_output_below_a_file(self, invoke, photo):
        assert_refused(invoke("segment", photo, "--box", BOX, "-o", photo / "out"), "photo.png")

    @pytest.mark.parametrize("name", ["n" * 300, "deep/" * 1500])
    def test_output_of_an_impossible_name(self, invoke, photo, tmp_path, name):
        run = invoke("segment", photo, "--box", BOX, "-o", tmp_path / name)
        assert_refused(run, "can not write in", "too long")

    def test_photo_of_an_impossible_name(self, invoke, tmp_path):
        assert_refused(invoke("segment", tmp_path / ("n" * 300), "--box", BOX), "too long")

    @pytest.mark.parametrize("name", ["mask.png", "convergence.png", "result.npz"])
    def test_a_folder_in_the_place_of_a_file(self, invoke, photo, tmp_path, name):
        (tmp_path / "out" / name).mkdir(parents=True)
        run = invoke("segment", photo, "--box", BOX, "-o", tmp_path / "out")
        assert_refused(run, name, "is a folder")

    def test_missing_package(self, invoke, photo, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        run = invoke("segment", photo, "--box", BOX)
        assert_refused(run, "matplotlib", "pip install")
