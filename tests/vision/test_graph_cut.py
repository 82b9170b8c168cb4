"""Labels by seeds in any dimension: brute force, the random walker's conventions, refusals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import submin as sm
from submin.vision import contrast_weights, graph_cut, segment_labels, typical_contrast


@pytest.fixture
def steps(rng):
    """A noisy volume of two halves, and a seed in each."""
    image = rng.normal(scale=0.05, size=(5, 8, 12))
    image[:, :, 5:] += 1.0
    seeds = np.zeros(image.shape, dtype=np.int64)
    seeds[2, 4, 1:3], seeds[2, 4, 9:11] = 3, 7
    return image, seeds


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def energy(labels, costs, image, spacing, smoothness, contrast):
    """The documented energy, edge by edge, with 2 neighbours an axis."""
    total = sum(costs[(k, *p)] for p, k in np.ndenumerate(labels))
    unit = np.array(spacing) / min(spacing)
    for p in np.ndindex(labels.shape):
        for axis in range(labels.ndim):
            q = tuple(np.add(p, np.eye(labels.ndim, dtype=int)[axis]))
            if q[axis] < labels.shape[axis] and labels[p] != labels[q]:
                fall = np.exp(-((image[p] - image[q]) ** 2) / (2.0 * contrast**2))
                total += smoothness * fall / unit[axis]
    return total


@pytest.mark.parametrize("count", [2, 3])
def test_no_labelling_has_less_energy(rng, count):
    shape, spacing = (2, 2, 2), (3.0, 1.5, 2.0)
    image = rng.normal(size=shape)
    chances = rng.dirichlet(np.ones(count), size=shape)
    chances = np.moveaxis(chances, -1, 0)
    seeds = np.zeros(shape, dtype=np.int64)
    seeds[0, 0, 0], seeds[1, 1, 1] = 1, 2
    found = graph_cut(
        image, seeds, probabilities=chances, spacing=spacing, smoothness=0.8, contrast=1.3,
        relative_tol=0.0,
    )  # fmt: skip
    energies = {}
    for labelling in product(range(count), repeat=8):
        labels = np.array(labelling).reshape(shape)
        if labels[0, 0, 0] == 0 and labels[1, 1, 1] == 1:
            energies[labelling] = energy(labels, -np.log(chances), image, spacing, 0.8, 1.3)
    least = min(energies.values())
    assert found.value == pytest.approx(least, rel=1e-6)
    assert found.lower_bound <= least * (1 + 1e-6)
    assert energies[tuple((found.labels - 1).ravel())] == pytest.approx(least, rel=1e-6)


def test_takes_the_place_of_the_random_walker(steps):
    image, seeds = steps
    walker = pytest.importorskip("skimage.segmentation").random_walker(image, seeds)
    found = graph_cut(image, seeds)
    assert found.labels.shape == image.shape
    assert found.values == (3, 7)
    assert np.array_equal(np.unique(found.labels), [3, 7])
    assert np.array_equal(found.labels == 3, np.broadcast_to(np.arange(12) < 5, image.shape))
    assert np.array_equal(walker == walker[2, 4, 1], found.labels == 3)
    assert found.status is sm.Status.OPTIMAL
    assert sm.verify(found.problem, found.result).optimal


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_channels_stand_on_any_axis(steps, axis):
    image, seeds = steps
    channels = np.stack([image, 0.5 * image, np.zeros_like(image)], axis=axis)
    found = graph_cut(channels, seeds, channel_axis=axis)
    assert np.array_equal(found.labels, graph_cut(image, seeds).labels)


def test_excluded_pixels_do_not_exist(steps, rng):
    """Whatever they hold, even no number, the others have the answer of a smaller image."""
    image, seeds = steps
    alone = graph_cut(image[:, :, 1:], seeds[:, :, 1:])
    seeds[:, :, 0] = -1
    for value in (np.nan, np.inf, 1e6, rng.normal(size=image.shape[:2])):
        image[:, :, 0] = value
        found = graph_cut(image, seeds)
        assert (found.labels[:, :, 0] == -1).all()
        assert np.array_equal(found.labels[:, :, 1:], alone.labels)
        assert found.value == pytest.approx(alone.value, rel=1e-9)


def test_excluded_pixels_do_not_exist_among_three_labels(rng):
    image = np.repeat([0.0, 0.5, 1.0], 6)[None] + rng.normal(scale=0.02, size=(9, 18))
    seeds = np.zeros(image.shape, dtype=np.int64)
    seeds[4, [2, 8, 15]] = 1, 2, 5
    alone = graph_cut(image, seeds)
    framed = np.pad(image, 1, constant_values=np.nan)
    found = graph_cut(framed, np.pad(seeds, 1, constant_values=-1))
    assert np.array_equal(found.labels[1:-1, 1:-1], alone.labels)
    assert np.array_equal(alone.labels[0], np.repeat([1, 2, 5], 6))
    assert sm.labels.verify_labels(alone.problem, alone.result).gap <= alone.gap + 1e-9


def test_excluded_pixels_of_a_photograph_leave_the_weights_alone(rng):
    image = np.repeat([0.0, 1.0], 8)[None] + rng.normal(scale=0.02, size=(8, 16)).clip(-0.1, 0.1)
    seeds = np.zeros(image.shape, dtype=np.int64)
    seeds[4, [2, 12]], seeds[:2] = (1, 2), -1
    totals = []
    for value in (0.0, rng.random(image[:2].shape)):
        image[:2] = value
        totals.append(segment_labels(image, seeds, components=1).problem.edges.weights.sum())
    assert totals[0] == pytest.approx(totals[1], rel=0.05)


def test_the_unit_of_the_spacing_does_not_matter(steps):
    image, seeds = steps
    first = graph_cut(image, seeds, spacing=(1.0, 1.0, 2.0))
    second = graph_cut(image, seeds, spacing=(1e-3, 1e-3, 2e-3))
    assert first.value == pytest.approx(second.value, rel=1e-12)
    assert first.value != pytest.approx(graph_cut(image, seeds).value, rel=1e-9)


def test_seeds_alone_decide_without_models():
    """On a chain with one weak edge, the cut is there; of no use are the colours of the seeds."""
    image = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    image[5:] = 1.1
    found = graph_cut(image, [1, 0, 0, 0, 0, 0, 0, 2], components=0)
    assert found.labels.tolist() == [1, 1, 1, 2, 2, 2, 2, 2]
    assert found.models == ()


def test_probabilities_need_no_seeds(rng):
    chances = np.full((2, 6, 6), 0.5)
    chances[1, 2:4, 2:4] = 1.0  # certain, of a network: no constraint
    chances[0] = 1.0 - chances[1]
    found = graph_cut(np.zeros((6, 6)), np.zeros((6, 6), int), probabilities=chances, smoothness=0)
    assert np.array_equal(found.labels == 2, chances[1] > 0.5)
    flat = graph_cut(np.zeros((6, 6)), np.zeros((6, 6), int), probabilities=chances, smoothness=100)
    assert np.isfinite(flat.value)


def test_a_contrast_is_in_units_of_the_image():
    weights = contrast_weights([[0.0], [30.0]], smoothness=1.0, contrast=15.0)
    assert weights[0][0] == pytest.approx(np.exp(-2.0))
    features = np.random.default_rng(1).normal(size=(6, 7, 2))
    known = typical_contrast(features, connectivity=4)
    for first, second in zip(
        contrast_weights(features, connectivity=4),
        contrast_weights(features, connectivity=4, contrast=known),
        strict=True,
    ):
        assert first == pytest.approx(second, rel=1e-12)
    with pytest.raises(ValueError, match="contrast is 0"):
        contrast_weights(features, contrast=0)


def test_cells_that_do_not_exist_have_no_part_in_the_mean():
    features = np.array([[0.0], [1.0], [1000.0]])
    inner = contrast_weights(features[:2])
    outer = contrast_weights(features, cells=[True, True, False])
    assert outer[0].tolist() == [*inner[0].tolist(), 0.0]
    with pytest.raises(ValueError, match=r"cells has shape \(2,\)"):
        contrast_weights(features, cells=[True, False])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": np.zeros((4, 5), int)}, r"labels \[\]: at least two"),
        ({"seeds": np.full((4, 5), -1)}, "-1 everywhere"),
        ({"seeds": np.full((4, 5), -2)}, "is -2"),
        ({"seeds": np.zeros((4, 6), int)}, "shape"),
        ({"image": np.full((4, 5), np.nan)}, "or have a seed of -1"),
        ({"image": np.zeros((4, 0)), "seeds": np.zeros((4, 0), int)}, "no pixels"),
        ({"channel_axis": 2}, "channel_axis is 2"),
        ({"spacing": (1, 0)}, r"spacing\[1\]"),
        ({"connectivity": 5}, "connectivity"),
        ({"probabilities": np.zeros((4, 5))}, r"np.stack\(\[1 - p, p\]\)"),
        ({"probabilities": np.full((2, 4, 5), 1.5)}, r"probabilities\[0, 0, 0\] is 1.5"),
        ({"probabilities": np.ones((2, 4, 5)), "seeds": np.full((4, 5), 3)}, "labels 1 to 2"),
    ],
)
def test_refusals(change, message):
    seeds = np.zeros((4, 5), dtype=np.int64)
    seeds[0, 0], seeds[3, 4] = 1, 2
    given = {"image": np.arange(20.0).reshape(4, 5), "seeds": seeds, **change}
    with pytest.raises(ValueError, match=message):
        graph_cut(**given)


@pytest.mark.parametrize("image", [np.zeros((4, 5), complex), "brain.nii", np.ma.ones((4, 5))])
def test_refused_types(image):
    with pytest.raises(TypeError, match="image"):
        graph_cut(image, np.eye(4, 5, dtype=int))
