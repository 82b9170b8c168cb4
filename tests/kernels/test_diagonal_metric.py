"""Projections in a diagonal metric: both kernel sets against enumeration, and one another."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import metric, reference

from .group_blocks import floats, halves, positive_halves, subsets
from .projections import assert_projection, random_submodular

native = pytest.importorskip("submin.kernels.native")

BEYOND_FLOWS = 300.0
"""A limit that no flow comes to, in place of an infinite one."""

seeds = st.integers(0, 2**32 - 1)
each_kernel_set = pytest.mark.parametrize("kernels", [reference, native], ids=["numpy", "native"])


@st.composite
def targets(draw, least=0):
    """(pointers, a, d) of up to 3 groups: d of whole numbers with ties, or of different sizes."""
    sizes = draw(st.lists(st.integers(least, 5), min_size=1, max_size=3))
    count = sum(sizes)
    d = np.array(draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)), dtype=float)
    if draw(st.booleans()):
        d = 10.0 ** (d - 2.0)
    return np.append(0, np.cumsum(sizes)).astype(np.int64), floats(draw, halves, count), d


def parts(pointers):
    return [slice(*pair) for pair in pairwise(pointers)]


def assert_nearest(a, d, y, values):
    if a.size:
        assert_projection(a, y, values, weights=1.0 / d)


@each_kernel_set
@given(target=targets(), data=st.data())
def test_cardinality(kernels, target, data):
    pointers, a, d = target
    gains, out = floats(data.draw, halves, a.size), np.empty(a.size)
    for own in parts(pointers):
        gains[own] = np.sort(gains[own])[::-1]
    kernels.weighted_cardinality(pointers, a, d, gains, out, 1)
    for own in parts(pointers):
        values = np.append(0.0, np.cumsum(gains[own]))[subsets(a[own].size).sum(axis=1)]
        assert_nearest(a[own], d[own], out[own], values)


@each_kernel_set
@given(target=targets(), data=st.data())
def test_hyperedge(kernels, target, data):
    pointers, a, d = target
    role = st.lists(st.integers(1, 3), min_size=a.size, max_size=a.size)
    roles = np.array(data.draw(role | st.just([3] * a.size)), dtype=np.uint8)
    limits = positive_halves | st.just(np.inf)
    weights, out = floats(data.draw, limits, pointers.size - 1), np.empty(a.size)
    kernels.weighted_hyperedge(pointers, a, d, roles, weights, out, 1)
    for own, weight in zip(parts(pointers), weights, strict=True):
        inside, tails, heads = subsets(a[own].size), roles[own] & 1 != 0, roles[own] & 2 != 0
        cut = (inside & tails).any(axis=1) & (~inside & heads).any(axis=1)
        assert_nearest(a[own], d[own], out[own], min(weight, BEYOND_FLOWS) * cut)


@each_kernel_set
@given(target=targets(), data=st.data())
def test_truncation(kernels, target, data):
    pointers, a, d = target
    masses, lower = floats(data.draw, positive_halves, a.size), floats(data.draw, halves, a.size)
    caps, out = floats(data.draw, positive_halves, pointers.size - 1), np.empty(a.size)
    totals = [
        lower[own].sum() + min(cap, masses[own].sum())
        for own, cap in zip(parts(pointers), caps, strict=True)
    ]
    kernels.weighted_truncation(
        pointers, a, d, lower, lower + masses, np.array(totals, dtype=float), out, 1
    )
    for own, cap in zip(parts(pointers), caps, strict=True):
        inside = subsets(a[own].size)
        values = np.minimum(inside @ masses[own], cap) + inside @ lower[own]
        assert_nearest(a[own], d[own], out[own], values)


@each_kernel_set
@given(target=targets(least=1), data=st.data())
def test_chains(kernels, target, data):
    """Flows, and the vector that they add to the nodes of each path."""
    pointers, step, d = target
    count = step.size - pointers.size + 1
    limits = positive_halves | st.just(np.inf)
    forward, backward = (floats(data.draw, limits, count) for _ in range(2))
    flow = np.clip(floats(data.draw, halves, count), -backward, forward)
    out = np.empty(count)
    kernels.weighted_chains(pointers, step, d, backward, forward, flow, out, 1)
    assert np.all((out <= forward) & (out >= -backward))
    for chain, own in enumerate(parts(pointers)):
        edges = slice(own.start - chain, own.stop - chain - 1)
        inside = subsets(step[own].size)
        leaves, enters = inside[:, :-1] & ~inside[:, 1:], ~inside[:, :-1] & inside[:, 1:]
        out_of, into = (np.minimum(limits[edges], BEYOND_FLOWS) for limits in (forward, backward))
        values = leaves @ out_of + enters @ into
        before, after = (np.diff(t[edges], prepend=0.0, append=0.0) for t in (flow, out))
        assert_nearest(before - step[own], d[own], after, values)


@each_kernel_set
@given(count=st.integers(1, 3), size=st.integers(1, 5), shared=st.booleans(), seed=seeds)
def test_table(kernels, count, size, shared, seed):
    rng = np.random.default_rng(seed)
    a, d = rng.integers(-8, 9, (count, size)) / 2, 10.0 ** rng.integers(-1, 2, (count, size))
    values = np.array([random_submodular(rng, size) for _ in range(1 if shared else count)])
    out = np.empty(a.shape)
    kernels.weighted_table(a, d, values, out, 1)
    for row, table in zip(range(count), np.broadcast_to(values, (count, 1 << size)), strict=True):
        assert_nearest(a[row], d[row], out[row], table)


def long_arguments(rng):
    """Arguments of each kernel for groups of up to 400 members, more than one thread takes."""
    sizes = rng.integers(1, 400, size=100)
    pointers = np.append(0, np.cumsum(sizes)).astype(np.int64)
    count, edges = pointers[-1], pointers[-1] - sizes.size
    a, d = rng.normal(size=count), rng.uniform(0.2, 3.0, count)
    gains = np.concatenate([np.sort(rng.normal(size=size))[::-1] for size in sizes])
    roles = rng.integers(1, 4, count).astype(np.uint8)
    upper = rng.random(count)
    totals = np.add.reduceat(upper, pointers[:-1]) * rng.random(sizes.size)
    flow, limits = rng.uniform(-0.2, 0.2, edges), rng.uniform(0.2, 1.0, (2, edges))
    groups = (pointers, a, d)
    return {
        "weighted_cardinality": ((*groups, gains), a.shape),
        "weighted_hyperedge": ((*groups, roles, rng.uniform(0, 9, sizes.size)), a.shape),
        "weighted_truncation": ((*groups, np.zeros(count), upper, totals), a.shape),
        "weighted_chains": ((*groups, *limits, flow), flow.shape),
    }


@pytest.mark.parametrize("name", list(long_arguments(np.random.default_rng(0))))
def test_native_kernels_agree_with_their_twins_and_for_any_threads(name):
    arguments, shape = long_arguments(np.random.default_rng(1))[name]
    expected, alone, together = (np.empty(shape) for _ in range(3))
    getattr(reference, name)(*arguments, expected, 1)
    getattr(native, name)(*arguments, alone, 1)
    getattr(native, name)(*arguments, together, 3)
    np.testing.assert_allclose(alone, expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("name", list(long_arguments(np.random.default_rng(0))))
def test_sizes_that_do_not_fit_are_refused(name):
    arguments, shape = long_arguments(np.random.default_rng(2))[name]
    for position, array in enumerate(arguments):
        short = [*arguments[:position], array[:-1].copy(), *arguments[position + 1 :]]
        with pytest.raises(ValueError, match=r"has size|pointers"):
            getattr(native, name)(*short, np.empty(shape), 1)
    with pytest.raises(ValueError, match="has size"):
        getattr(native, name)(*arguments, np.empty(shape[0] + 1), 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", list(long_arguments(np.random.default_rng(0))))
def test_numbers_that_are_not_finite_come_out_and_nothing_crashes(name, bad):
    rng = np.random.default_rng(3)
    (pointers, a, *others), shape = long_arguments(rng)[name]
    a[rng.integers(0, a.size, size=a.size // 10)] = bad
    out = np.zeros(shape)
    getattr(native, name)(pointers, a, *others, out, 1)
    if name == "weighted_cardinality":
        assert not np.all(np.isfinite(out))


@pytest.mark.parametrize("size", [1, 2, 50, 2_000])
@given(seed=seeds)
def test_constant_metric_is_the_sorted_regression(size, seed):
    rng = np.random.default_rng(seed)
    a, gains = rng.normal(size=size), np.sort(rng.normal(size=size))[::-1]
    y = metric.project_cardinality(a, np.full(size, 3.0), gains)
    expected, order = np.empty(size), np.arange(size, dtype=np.int32)
    pointers, members = np.array([0, size]), np.arange(size, dtype=np.int32)
    reference.cardinality_project(
        pointers, members, gains, np.zeros(1, dtype=np.int32), a, np.zeros(size), 1.0, order,
        expected, 1,
    )  # fmt: skip
    np.testing.assert_allclose(y, expected, atol=1e-11)


def test_sorting_alone_does_not_project_in_a_metric():
    """There are groups in which the order of the answer is not that of the target over d."""
    rng = np.random.default_rng(0)
    crossings = 0
    for _ in range(50):
        a, d = rng.normal(size=6), rng.uniform(0.2, 3.0, 6)
        gains = np.sort(rng.normal(size=6))[::-1]
        x = (a - metric.project_cardinality(a, d, gains)) / d
        crossings += bool(np.any(np.diff(x[np.argsort(-a / d)]) > 1e-12))
    assert crossings > 0


@each_kernel_set
def test_large_groups_split_deeply(kernels):
    """Targets of very different sizes peel one member after the other; no recursion limit."""
    size = 3_000
    a, d = 1e6 * 1.5 ** -np.arange(size, dtype=float), np.ones(size)
    d[::2] = 2.0
    out = np.ones(size)
    kernels.weighted_cardinality(np.array([0, size]), a, d, np.zeros(size), out, 1)
    np.testing.assert_allclose(out, 0.0, atol=1e-9)
