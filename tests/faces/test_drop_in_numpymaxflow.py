"""``submin.drop_in.numpymaxflow``: the energy that its documentation states, by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from submin.drop_in import numpymaxflow

from ..problems import all_sets

EPSILON = float(np.finfo(np.float32).eps)


def neighbours(shape, connectivity):
    """Pairs of pixels that differ by 1 in as many axes as the connectivity allows."""
    most = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}[connectivity]
    pixels = list(np.ndindex(shape))
    for p, q in itertools.combinations(pixels, 2):
        steps = np.abs(np.subtract(p, q))
        if steps.max() == 1 and steps.sum() <= most:
            yield p, q


def energy(label, image, prob, lamda, sigma, connectivity):
    total = -np.sum(np.log(np.maximum(np.where(label, prob[1], prob[0]), EPSILON)))
    for p, q in neighbours(label.shape, connectivity):
        if label[p] != label[q]:
            distance = np.sum((image[(slice(None), *p)] - image[(slice(None), *q)]) ** 2)
            total += lamda * np.exp(-distance / (2 * sigma**2))
    return total


def least(image, prob, lamda, sigma, connectivity):
    shape = image.shape[1:]
    labels = [members.reshape(shape) for members in all_sets(int(np.prod(shape)))]
    return min(labels, key=lambda label: energy(label, image, prob, lamda, sigma, connectivity))


CASES = [((3, 3), 4), ((3, 3), 8), ((2, 2, 2), 6), ((2, 2, 2), 18), ((2, 2, 2), 26), ((1, 5), 4)]


@pytest.mark.parametrize(("shape", "connectivity"), CASES)
@pytest.mark.parametrize("channels", [1, 3])
def test_the_least_energy(shape, connectivity, channels):
    rng = np.random.default_rng(channels)
    for kind in (np.float32, np.float64):
        image = rng.random((channels, *shape)).astype(kind)
        inside = rng.random(shape).astype(kind)
        inside.ravel()[0] = 0.0
        prob = np.stack([1 - inside, inside])
        label = numpymaxflow.maxflow(image, prob, 0.7, 0.4, connectivity)
        assert label.dtype == np.float32
        assert np.array_equal(label, least(image, prob, 0.7, 0.4, connectivity))


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_default_is_the_least_connectivity(dimensions):
    rng = np.random.default_rng(0)
    image, inside = rng.random((2, 3, 4, 5)[: dimensions + 1]), rng.random((3, 4, 5)[:dimensions])
    prob = np.stack([1 - inside, inside])
    assert np.array_equal(
        numpymaxflow.maxflow(image, prob, lamda=0.5, sigma=0.5),
        numpymaxflow.maxflow(image, prob, lamda=0.5, sigma=0.5, connectivity=2 * dimensions),
    )


def test_seeds_set_probabilities():
    rng = np.random.default_rng(0)
    image, inside = rng.random((1, 3, 3)), rng.random((3, 3))
    prob, seed = np.stack([1 - inside, inside]), np.zeros((2, 3, 3))
    seed[0, 0, :2], seed[1, 0, 1:] = 1, 1  # the background's overrule
    given = prob.copy()
    given[0, 0], given[1, 0] = [1, 1, 0], [0, 0, 1]
    before = prob.copy()
    label = numpymaxflow.maxflow_interactive(image, prob, seed, 0.6, 0.5, 4)
    assert np.array_equal(label, least(image, given, 0.6, 0.5, 4))
    assert np.array_equal(prob, before)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"image": np.zeros((3, 3))}, "needs .channels, height, width"),
        ({"prob": np.zeros((3, 3, 3))}, r"prob has shape \(3, 3, 3\), and the image needs"),
        ({"connectivity": 6}, r"connectivity is 6: with 2 axes it is one of \(4, 8\)"),
        ({"sigma": 0.0}, "sigma is 0"),
        ({"lamda": -1.0}, "lamda is -1"),
        ({"image": np.full((1, 3, 3), np.nan)}, r"image\[0, 0, 0\] is nan"),
    ],
)
def test_refusals(change, words):
    valid = {"image": np.zeros((1, 3, 3)), "prob": np.full((2, 3, 3), 0.5), "lamda": 1, "sigma": 1}
    with pytest.raises(ValueError, match=words):
        numpymaxflow.maxflow(**{**valid, **change})
