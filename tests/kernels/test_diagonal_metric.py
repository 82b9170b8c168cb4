"""Projections in a diagonal metric against enumeration of all sets and all orders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import diagonal_metric, reference
from submin.kernels.chains_reference import solve_chain

from .group_blocks import floats, halves, positive_halves, subsets
from .projections import assert_projection, random_submodular

SIZES = st.integers(1, 5)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def targets(draw):
    """A target a and the metric d: whole or half numbers with ties, or of very different sizes."""
    size = draw(SIZES)
    d = np.array(draw(st.lists(st.integers(1, 4), min_size=size, max_size=size)), dtype=float)
    if draw(st.booleans()):
        d = 10.0 ** (d - 2.0)
    return floats(draw, halves, size), d


def assert_nearest(a, d, y, values):
    assert_projection(a, y, values, weights=1.0 / d)


@given(targets(), st.data())
def test_cardinality(target, data):
    a, d = target
    gains = np.sort(floats(data.draw, halves, a.size))[::-1]
    y = diagonal_metric.project_cardinality(a, d, gains)
    values = np.append(0.0, np.cumsum(gains))[subsets(a.size).sum(axis=1)]
    assert_nearest(a, d, y, values)


@given(targets(), st.data())
def test_hyperedge(target, data):
    a, d = target
    role = st.lists(st.integers(1, 3), min_size=a.size, max_size=a.size)
    roles = np.array(data.draw(role | st.just([3] * a.size)))
    tails, heads, weight = roles & 1 != 0, roles & 2 != 0, data.draw(positive_halves)
    y = diagonal_metric.project_hyperedge(a, d, tails, heads, weight)
    inside = subsets(a.size)
    cut = (inside & tails).any(axis=1) & (~inside & heads).any(axis=1)
    assert_nearest(a, d, y, weight * cut)


@given(targets(), st.data())
def test_slice(target, data):
    """The slice of a box is the base polytope of a truncated modular function."""
    a, d = target
    masses, lower = floats(data.draw, positive_halves, a.size), floats(data.draw, halves, a.size)
    cap = data.draw(positive_halves)
    total = lower.sum() + min(cap, masses.sum())
    y = diagonal_metric.project_slice(a, d, lower, lower + masses, total)
    inside = subsets(a.size)
    assert_nearest(a, d, y, np.minimum(inside @ masses, cap) + inside @ lower)


@given(targets(), seeds)
def test_table(target, seed):
    a, d = target
    values = random_submodular(np.random.default_rng(seed), a.size)
    assert_nearest(a, d, diagonal_metric.project_table(a, d, values), values)


@given(targets(), st.data())
def test_chain(target, data):
    """Flows, and the vector that they add to the nodes of a path."""
    a, d = target
    k = a.size - 1
    forward, backward = (floats(data.draw, positive_halves, k) for _ in range(2))
    flow = np.clip(floats(data.draw, halves, k), -backward, forward)
    y = np.append(flow, 0.0) - np.append(0.0, flow)
    values, moved = solve_chain(y - a, flow, backward, forward, d)
    assert np.all((moved <= forward) & (moved >= -backward))
    inside = subsets(a.size)
    out, into = inside[:, :-1] & ~inside[:, 1:], ~inside[:, :-1] & inside[:, 1:]
    new = np.append(moved, 0.0) - np.append(0.0, moved)
    assert_nearest(a, d, new, out @ forward + into @ backward)
    np.testing.assert_allclose(values, new - a, atol=1e-12 * (1 + np.abs(a).max()))


@pytest.mark.parametrize("size", [1, 2, 50, 2_000])
@given(seed=seeds)
def test_constant_metric_is_the_sorted_regression(size, seed):
    rng = np.random.default_rng(seed)
    a, gains = rng.normal(size=size), np.sort(rng.normal(size=size))[::-1]
    y = diagonal_metric.project_cardinality(a, np.full(size, 3.0), gains)
    expected, order = np.empty(size), np.arange(size, dtype=np.int32)
    pointers, members = np.array([0, size]), np.arange(size, dtype=np.int32)
    reference.cardinality_project(
        pointers, members, gains, np.zeros(1, dtype=np.int32), a, np.zeros(size), 1.0, order,
        expected, 1,
    )  # fmt: skip
    np.testing.assert_allclose(y, expected, atol=1e-11)


def test_sorting_alone_does_not_project_in_a_metric():
    """A group on which the order of the answer is not that of the target over the metric."""
    rng = np.random.default_rng(0)
    crossings = 0
    for _ in range(50):
        a, d = rng.normal(size=6), rng.uniform(0.2, 3.0, 6)
        gains = np.sort(rng.normal(size=6))[::-1]
        x = (a - diagonal_metric.project_cardinality(a, d, gains)) / d
        crossings += bool(np.any(np.diff(x[np.argsort(-a / d)]) > 1e-12))
    assert crossings > 0


@pytest.mark.parametrize("size", [200, 3_000])
def test_large_groups_split_deeply(size):
    """Targets of very different sizes peel one member after the other; no recursion limit."""
    a, d = 1.5 ** -np.arange(size, dtype=float), np.ones(size)
    d[::2] = 2.0
    gains = np.zeros(size)
    y = diagonal_metric.project_cardinality(a * 1e6, d, gains)
    np.testing.assert_allclose(y, 0.0, atol=1e-9)
