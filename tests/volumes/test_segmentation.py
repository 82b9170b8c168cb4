"""Objects cut out of volumes: the box that scribbles reach, and what it proves of the whole."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.vision import graph_cut
from submin.volumes import read_volume, segment_volume, slices_picture

pytest.importorskip("sklearn", reason='pip install "submin[vision]"')


@pytest.fixture(scope="module")
def scan():
    """A bright ball in noise, far from the end of a volume, and strokes in one slice."""
    rng = np.random.default_rng(3)
    axes = np.ogrid[:26, :30, :60]
    truth = sum((a - c) ** 2 for a, c in zip(axes, (12, 14, 16), strict=True)) < 81
    volume = truth + rng.normal(scale=0.1, size=truth.shape).clip(-0.3, 0.3)
    scribbles = np.zeros(truth.shape, dtype=np.int64)
    scribbles[12, 14, 12:20], scribbles[12, 2, 12:20] = 2, 1
    return volume, scribbles, truth


def test_the_box_grows_to_the_object_and_no_further(scan):
    volume, scribbles, truth = scan
    found = segment_volume(volume, scribbles)
    assert np.array_equal(found.mask, truth)
    assert not found.whole
    assert sm.verify(found.problem, found.result).optimal
    outside = np.ones(truth.shape, dtype=bool)
    outside[found.box] = False
    assert outside[:, :, 50:].all()
    assert (
        found.beyond == 0.0
    )  # no voxel out there looks like the object: the answer is the whole's
    whole = segment_volume(volume, scribbles, whole=True)
    assert whole.whole
    assert whole.beyond == 0.0
    assert np.array_equal(whole.mask, found.mask)


def test_what_lies_beyond_is_bounded(scan):
    """A twin of the ball far away lowers the cost on the whole, by no more than is said."""
    volume, scribbles, truth = scan
    volume = volume.copy()
    volume[10:14, 12:16, 48:52] += 1.0
    found = segment_volume(volume, scribbles)
    whole = segment_volume(volume, scribbles, whole=True)
    assert np.array_equal(found.mask, truth)
    assert np.count_nonzero(whole.mask) == np.count_nonzero(truth) + 64
    gain = whole.problem.evaluate(found.mask) - whole.result.value
    assert 0.0 < gain <= found.beyond + 1e-9 * abs(whole.result.value)


def test_the_box_has_the_weights_of_the_whole(scan):
    volume, scribbles, _ = scan
    found = segment_volume(volume, scribbles, spacing=(2.0, 1.0, 1.0), connectivity=26)
    whole = segment_volume(volume, scribbles, spacing=(2.0, 1.0, 1.0), connectivity=26, whole=True)
    first, second = found.problem.terms[0], whole.problem.terms[0]
    for k, offset in enumerate(first.offsets):
        inner = tuple(
            slice(own.start, own.stop - abs(step))
            for own, step in zip(found.box, offset, strict=True)
        )
        own, all_ = (t.segments[k][1].reshape(t.overlaps[k]) for t in (first, second))
        assert own == pytest.approx(all_[inner], rel=1e-12)


def test_the_same_as_graph_cut(scan):
    volume, scribbles, _ = scan
    first = segment_volume(volume, scribbles, spacing=(3, 1, 1), whole=True)
    second = graph_cut(volume, scribbles, spacing=(3, 1, 1))
    assert np.array_equal(first.mask, second.labels == 2)
    assert first.result.value == pytest.approx(second.value, rel=1e-12)


def test_a_stopped_solve_promises_nothing_of_the_whole(scan):
    volume, scribbles, _ = scan
    found = segment_volume(volume, scribbles, callback=lambda *_: True)
    assert found.result.interrupted
    assert found.mask.shape == volume.shape
    assert found.mask[scribbles == 2].all()


@pytest.mark.parametrize(
    ("labels", "message"), [((2, 2), "both 1"), ((1, 3), "graph_cut takes"), ((1, -2), "is -2")]
)
def test_refused_scribbles(scan, labels, message):
    volume, scribbles, _ = scan
    given = np.where(scribbles > 0, np.where(scribbles == 1, *labels), 0)
    with pytest.raises(ValueError, match=message):
        segment_volume(volume, given)
    with pytest.raises(ValueError, match="three axes"):
        segment_volume(volume[12], scribbles[12])


def test_a_picture_of_three_slices(scan):
    volume, _, truth = scan
    picture = slices_picture(volume, truth, spacing=(2.0, 1.0, 1.0), quarter_turns=1)
    assert picture.dtype == np.uint8
    assert picture.shape == (480, 240 + 416 + 416 + 2 * 12, 3)
    yellow = (picture[..., 0] > 200) & (picture[..., 2] < 60)
    assert yellow.sum() > 300
    empty = slices_picture(volume, np.zeros_like(truth))
    assert not ((empty[..., 0] > 200) & (empty[..., 2] < 60)).any()
    with pytest.raises(ValueError, match="shape"):
        slices_picture(volume, truth[1:])


def test_the_magnetic_resonance_volume(data_folder):
    """The stored answer of another code costs 297344.8170: it is the optimum, now with proof."""
    folder = data_folder / "volume"
    pytest.importorskip("nibabel")
    image, initial, stored = (
        read_volume(folder / f"simplecrf_{name}.nii.gz").voxels
        for name in ("2013_12_1_img", "2013_12_1_init", "seg_auto")
    )
    chance = 0.5 + 0.8 * (initial - 0.5)
    found = graph_cut(
        image, np.zeros(image.shape, dtype=int), probabilities=np.stack([1.0 - chance, chance]),
        smoothness=10.0, contrast=15.0, connectivity=6,
    )  # fmt: skip
    assert found.status is sm.Status.OPTIMAL
    assert found.value == pytest.approx(297344.8170, abs=1e-3)
    assert found.problem.evaluate(stored > 0) == pytest.approx(found.value, abs=1e-3)
