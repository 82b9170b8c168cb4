"""Superpixels: partitions, their term, and what it does to a mask."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.vision import superpixel_labels, superpixel_term


@pytest.mark.parametrize(
    ("shape", "count"),
    [((30, 40, 3), 12), ((30, 40, 1), 12), ((1, 20, 3), 4), ((1, 1, 3), 5), ((20, 20, 3), 1)],
)
def test_labels_are_a_partition(shape, count):
    features = 100.0 * np.random.default_rng(0).random(shape)
    labels = superpixel_labels(features, count)
    assert labels.shape == shape[:2]
    assert labels.min() == 0
    assert len(np.unique(labels)) == labels.max() + 1 <= 2 * count


def test_superpixels_follow_an_edge():
    features = np.zeros((24, 32, 3))
    features[:, 13:, 0] = 60.0
    labels = superpixel_labels(features, 8)
    assert not set(labels[:, :13].ravel()) & set(labels[:, 13:].ravel())


def test_constant_image():
    assert superpixel_labels(np.full((20, 20, 3), 50.0), 4).shape == (20, 20)


def test_term_is_a_cost_per_pixel():
    term = superpixel_term(np.array([[0, 0, 1], [0, 0, 1]]), 2.0)
    one = np.array([True, False, False, False, False, False])
    assert term.evaluate(one) == 2.0
    assert term.evaluate(np.ones(6, dtype=bool)) == 0.0


@pytest.mark.parametrize(
    ("size", "tolerance", "paying"),
    [(1, 0.1, 1), (4, 0.1, 1), (34, 0.1, 3), (36, 0.1, 4), (9, 2, 9)],
)
def test_term_by_its_formula(size, tolerance, paying):
    term = superpixel_term(np.zeros(size, dtype=int), 1.5, tolerance)
    for count in range(size + 1):
        expected = 1.5 * min(count, size - count, paying)
        assert term.evaluate(np.arange(size) < count) == pytest.approx(expected)


def test_term_changes_its_slope_twice():
    """So that its network is small, and the automatic solver takes a maximum flow."""
    labels = np.random.default_rng(0).integers(0, 5, (20, 20))
    size = superpixel_term(labels, 1.0).gadget_size()
    assert size.auxiliaries == 2 * 5
    assert size.edges == 2 * labels.size


def test_term_fills_a_hole():
    unary = np.full((3, 3), -1.0)
    unary[1, 1] = 1.5
    labels = np.zeros((3, 3), dtype=int)
    alone = sm.minimize(sm.Problem(unary))
    assert not alone.minimizer[1, 1]
    together = sm.minimize(sm.Problem(unary, [superpixel_term(labels, 2.0)]))
    assert together.minimizer.all()


def test_negative_weight():
    with pytest.raises(ValueError, match="superpixel_weight is -1"):
        superpixel_term([0, 0], -1.0)
    with pytest.raises(ValueError, match="tolerance is -1"):
        superpixel_term([0, 0], 1.0, -1.0)
