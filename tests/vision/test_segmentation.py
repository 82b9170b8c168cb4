"""Segmentation: known answers, types, seeds, energies, limits, degenerate images."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import submin as sm
from submin.vision import Seeds, segmentation_problem


def wrong(mask, scene):
    """Share of wrong pixels."""
    return float(np.mean(mask != scene.truth))


def marks_of(scene, kind):
    rough = np.zeros(scene.truth.shape, dtype=bool)
    rough[12:27, 18:40] = True
    return {
        "box": {"box": scene.box},
        "scribbles": {"scribbles": scene.scribbles},
        "mask": {"mask": rough},
        "all": {"box": scene.box, "scribbles": scene.scribbles, "mask": rough},
    }[kind]


@pytest.mark.parametrize("kind", ["box", "scribbles", "mask", "all"])
def test_finds_the_object_with_proof(scene, kind):
    found = sm.segment(scene.image, **marks_of(scene, kind))
    assert wrong(found.mask, scene) == 0.0
    assert found.status is sm.Status.OPTIMAL
    assert found.settled
    assert found.changed[-1] == 0 < found.changed[0]
    assert sm.verify(found.problem, found.result).optimal
    assert found.problem.evaluate(found.mask) == found.energies[-1] == found.certificate.value


@pytest.mark.parametrize(
    "convert",
    [
        lambda image: image / 255.0,
        lambda image: (image / 255.0).astype(np.float32),
        lambda image: image.astype(np.float64),
        lambda image: image.astype(np.uint16) * 257,
        lambda image: image.astype(np.int64),
        lambda image: image.tolist(),
        lambda image: image[..., 0],
        lambda image: image[..., 0] > 130,
        lambda image: np.dstack([image, np.full(image.shape[:2], 255, np.uint8)]),
    ],
)
def test_types(scene, convert):
    found = sm.segment(convert(scene.image), box=scene.box)
    assert wrong(found.mask, scene) < 0.01


def test_transparent_background(scene):
    grey = np.full((*scene.truth.shape, 3), 128, dtype=np.uint8)
    image = np.dstack([grey, np.where(scene.truth, 255, 0).astype(np.uint8)])
    assert wrong(sm.segment(image, box=scene.box).mask, scene) == 0.0


def test_scribble_picture(scene):
    picture = np.zeros((*scene.truth.shape, 3), dtype=np.uint8)
    picture[scene.scribbles == 1] = (219, 0, 0)
    picture[scene.scribbles == 2] = (255, 255, 207)
    by_picture = sm.segment(scene.image, scribbles=picture)
    by_labels = sm.segment(scene.image, scribbles=scene.scribbles)
    assert np.array_equal(by_picture.mask, by_labels.mask)


def test_seeds_are_kept_against_all_evidence(scene):
    scribbles = scene.scribbles
    scribbles[18, 28:31] = 1
    scribbles[3, 3] = 2
    found = sm.segment(scene.image, scribbles=scribbles)
    assert not found.mask[scribbles == 1].any()
    assert found.mask[scribbles == 2].all()


def test_nothing_outside_of_the_box(scene):
    x1, y1, x2, y2 = 25, 10, 50, 34
    found = sm.segment(scene.image, box=(x1, y1, x2, y2))
    outside = found.mask.copy()
    outside[y1:y2, x1:x2] = False
    assert not outside.any()


@pytest.mark.parametrize("superpixels", [0, 40])
@pytest.mark.parametrize("kind", ["box", "scribbles", "mask"])
def test_energies_never_go_up(kind, superpixels):
    rng = np.random.default_rng(11)
    image = np.clip(rng.normal(0.5, 0.2, size=(30, 30, 3)), 0, 1)
    image[8:22, 8:22, 0] *= 0.7
    scribbles = np.zeros((30, 30), dtype=int)
    scribbles[15, 10:20], scribbles[2, :] = 2, 1
    guess = np.zeros((30, 30), dtype=bool)
    guess[5:20, 5:20] = True
    marks = {"box": {"box": (5, 5, 26, 26)}, "scribbles": {"scribbles": scribbles}}
    found = sm.segment(
        image, **marks.get(kind, {"mask": guess}), smoothness=2.0, superpixels=superpixels
    )
    assert np.all(np.diff(found.energies) <= 0)
    assert len(found.histories) == found.rounds == len(found.energies)


def test_cut_off_rounds_never_go_up_either(scene):
    found = sm.segment(
        scene.image, scribbles=scene.scribbles, solver=sm.RCDM(seed=0), max_passes=1, max_rounds=6
    )
    assert np.all(np.diff(found.energies) <= 0)
    assert found.result.gap >= 0
    assert found.problem.evaluate(found.mask) == found.energies[-1]


def test_same_call_same_answer(scene):
    noisy = np.random.default_rng(2).random((24, 24, 3))
    first, second = (sm.segment(noisy, box=(4, 4, 20, 20), smoothness=1.0) for _ in range(2))
    assert np.array_equal(first.mask, second.mask)
    assert first.energies == second.energies
    threaded = sm.segment(noisy, box=(4, 4, 20, 20), smoothness=1.0, threads=2)
    assert first.energies == threaded.energies


def test_superpixels_join_the_problem(scene):
    found = sm.segment(scene.image, box=scene.box, superpixels=60)
    assert [type(term).__name__ for term in found.problem.terms] == ["GridCut", "Cardinality"]
    assert wrong(found.mask, scene) < 0.01
    assert found.status is sm.Status.OPTIMAL


def test_problem_of_known_costs():
    cost_in, cost_out = np.array([[0.9, 0.0]]), np.array([[0.0, 0.9]])
    seeds = Seeds.of((1, 2), scribbles=np.array([[0, 2]]), mask=np.array([[False, True]]))
    free = Seeds.of((1, 2), mask=np.array([[True, False]]))
    cut = [sm.GridCut((1, 2), 0.5)]
    result = sm.minimize(segmentation_problem(cost_in, cost_out, free, cut))
    assert result.value == pytest.approx(0.5)
    assert result.minimizer.tolist() == [[False, True]]
    forced = sm.minimize(segmentation_problem(cost_in + 5.0, cost_out, seeds, cut))
    assert forced.minimizer.tolist() == [[False, True]]
    assert forced.value == pytest.approx(5.5)


def test_one_round_keeps_the_first_models(scene):
    found = sm.segment(scene.image, box=scene.box, max_rounds=1)
    assert found.rounds == 1
    assert not found.settled
    assert found.status is sm.Status.OPTIMAL


def test_time_limit(scene):
    found = sm.segment(scene.image, box=scene.box, time_limit=0)
    assert found.rounds == 1
    assert not found.settled
    assert np.isfinite(found.result.gap)


def test_callback_ends_the_rounds(scene):
    found = sm.segment(scene.image, box=scene.box, callback=lambda record, mask: True)
    assert found.rounds == 1
    assert found.result.interrupted
    assert not found.settled


def test_each_round_is_reported(scene):
    seen, records = [], []
    found = sm.segment(
        scene.image, box=scene.box, on_round=seen.append,
        callback=lambda record, _: records.append((len(seen), record)),
    )  # fmt: skip
    assert [done.number for done in seen] == list(range(1, found.rounds + 1))
    assert [done.result.value for done in seen] == list(found.energies)
    assert [done.changed for done in seen] == list(found.changed)
    assert [done.settled for done in seen] == [False] * (found.rounds - 1) + [True]
    assert seen[-1].result is found.result
    assert seen[-1].models is found.models
    for number, history in enumerate(found.histories):
        assert [record for done, record in records if done == number] == list(history)
    assert found.passes == sum(done.result.passes for done in seen)
    assert found.projections == sum(done.result.projections for done in seen)


def test_who_is_told_of_a_round_can_end_them(scene):
    found = sm.segment(scene.image, box=scene.box, on_round=lambda done: done.number == 1)
    assert found.rounds == 1
    assert not found.settled
    assert not found.result.interrupted


@pytest.mark.parametrize("solver", ["auto", "accelerated_sweeps"])
def test_progress_agrees_with_the_rounds(scene, solver, capsys):
    """Rounds that end at their first check have a line too, and passes add up."""
    seen = []
    found = sm.segment(
        scene.image, box=scene.box, progress=True, on_round=seen.append, solver=solver
    )
    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    kept = {int(words[1]): words for words in lines}
    assert sorted(kept) == [done.number for done in seen]
    passes = np.cumsum([done.result.passes for done in seen])
    for done, total in zip(seen, passes, strict=True):
        words = kept[done.number]
        assert words[:8] == [
            "round", str(done.number), "pass", f"{total:.4g}",
            "value", f"{done.result.value:.9g}", "gap", f"{done.result.gap:.2e}",
        ]  # fmt: skip
    assert float(kept[found.rounds][-2]) == pytest.approx(found.seconds, abs=0.1)


@pytest.mark.parametrize("solver", ["auto", "accelerated_sweeps"])
def test_progress_shows_the_rounds_in_order(scene, solver, capsys, monkeypatch):
    """With a log that writes every line it is shown."""
    monkeypatch.setattr("submin.solve.progress.SECONDS", 0.0)
    monkeypatch.setattr("submin.solve.progress.GROWTH", 0.0)
    seen, checks = [], []
    sm.segment(
        scene.image, box=scene.box, progress=True, on_round=seen.append, solver=solver,
        smoothness=5.0, callback=lambda *_: checks.append(len(seen) + 1),
    )  # fmt: skip
    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    numbers = [int(words[1]) for words in lines]
    assert len(seen) > 1
    assert numbers == sorted(numbers)
    for done in seen:
        closed = [words for words in lines if int(words[1]) == done.number][-1]
        assert closed[5] == f"{done.result.value:.9g}"
        assert closed[7] == f"{done.result.gap:.2e}"
        assert numbers.count(done.number) <= checks.count(done.number) + 1


def test_text(scene):
    text = str(sm.segment(scene.image, box=scene.box))
    assert "OPTIMAL" in text
    assert "until nothing changed" in text


@pytest.mark.parametrize(
    ("image", "marks"),
    [
        (np.full((8, 9), 0.3), {"box": (2, 2, 6, 6)}),
        (np.zeros((8, 9, 3), np.uint8), {"box": (2, 2, 6, 6)}),
        (np.zeros((1, 9)), {"box": (2, 0, 6, 1)}),
        (np.zeros((9, 1)), {"box": (0, 2, 1, 6)}),
        (np.zeros((1, 3)), {"scribbles": np.array([[1, 0, 2]])}),
        (np.array([[0.0, 1.0]]), {"mask": np.array([[False, True]])}),
    ],
)
def test_degenerate_images_give_a_clean_answer(image, marks):
    found = sm.segment(image, **marks)
    assert found.mask.shape == image.shape[:2]
    assert found.status is sm.Status.OPTIMAL
    if "box" in marks:
        assert not found.mask.any()


def test_lines_of_pixels():
    image = np.array([[0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.1, 0.1]])
    for picture, box in ((image, (2, 0, 7, 1)), (image.T, (0, 2, 1, 7))):
        found = sm.segment(picture, box=box, smoothness=1.0)
        assert np.array_equal(found.mask, picture > 0.5)


def test_one_pixel_has_no_background():
    with pytest.raises(ValueError, match="left as background"):
        sm.segment(np.zeros((1, 1)), box=(0, 0, 1, 1))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"components": 0}, ValueError, "components is 0"),
        ({"components": 2.5}, TypeError, "components is 2.5"),
        ({"superpixels": -1}, ValueError, "superpixels is -1"),
        ({"superpixel_weight": -1.0}, ValueError, "superpixel_weight is -1"),
        ({"max_rounds": 0}, ValueError, "max_rounds is 0"),
        ({"smoothness": np.nan}, ValueError, "smoothness is nan"),
        ({"connectivity": 6}, ValueError, "connectivity is 6"),
        ({"tol": -1.0}, ValueError, "tol is -1"),
        ({"time_limit": -1.0}, ValueError, "time_limit is -1"),
        ({"solver": "magic"}, ValueError, "magic"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"seed": 1.5}, TypeError, "seed is 1.5"),
        ({"on_round": 3}, TypeError, "on_round is 3"),
    ],
)
def test_settings_are_checked(scene, settings, error, message):
    with pytest.raises(error, match=message):
        sm.segment(scene.image, box=scene.box, **settings)


def test_missing_package_is_named(scene, monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.color", None)
    with pytest.raises(ImportError, match=r'pip install "submin\[vision\]"'):
        sm.segment(scene.image, box=scene.box)
