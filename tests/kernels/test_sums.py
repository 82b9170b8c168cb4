"""Sums over whole arrays: against math.fsum and, for grids, against their NumPy twins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin import kernels
from submin.terms import grid_offsets

native = pytest.importorskip("submin.kernels.native")

SHAPES = [((1,), 2), ((7,), 2), ((5, 1), 8), ((1, 6), 8), ((40, 33), 8), ((3, 4, 5), 26)]


@pytest.mark.parametrize("size", [0, 1, 15, 16, 1000, 200_000])
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_are_those_of_exact_arithmetic(size, threads):
    generator = np.random.default_rng(size)
    values = generator.normal(size=size) * 10.0 ** generator.integers(-12, 12, size)
    rounding = 2.0**-52 * abs(math.fsum(values)) + 2.0**-90 * math.fsum(np.abs(values))
    assert abs(native.compensated_sum(values, threads) - math.fsum(values)) <= rounding
    magnitude = math.fsum(np.abs(values))
    assert native.absolute_sum(values, threads) == pytest.approx(magnitude, rel=2.0**-52)


def test_cancellation_loses_nothing():
    values = np.tile([1e16, 1.0, -1e16, 2.0**-30], 50_000)
    assert native.compensated_sum(values, 2) == 50_000 * (1.0 + 2.0**-30)


@given(seed=st.integers(0, 2**32), uniform=st.booleans())
def test_sums_over_lists_of_edges(seed, uniform):
    generator = np.random.default_rng(seed)
    nodes, size = int(generator.integers(1, 30)), int(generator.integers(0, 70))
    tails, heads = generator.integers(0, nodes, (2, size)).astype(np.int32)
    backward, forward = generator.random(1 if uniform else size), generator.random(size)
    flow, member = generator.normal(size=size), generator.integers(0, 2, nodes).astype(np.uint8)
    cut, out = [], [[] for _ in range(nodes)]
    for i, j, t, b, f in zip(
        tails, heads, flow, np.broadcast_to(backward, size), forward, strict=True
    ):
        out[i].append(0.5 * t)
        out[j].append(-0.5 * t)
        cut.append(f if member[i] > member[j] else b if member[i] < member[j] else 0.0)
    for kernel in (native, kernels.reference):
        value = kernel.edges_cut_value(tails, heads, backward, forward, member, 1)
        assert value == pytest.approx(math.fsum(cut), rel=1e-15)
        s = np.zeros(nodes)
        kernel.edges_accumulate(tails, heads, flow, s, 0.5)
        np.testing.assert_allclose(s, [math.fsum(part) for part in out], rtol=1e-12, atol=1e-13)


@given(seed=st.integers(0, 2**32), uniform=st.booleans())
def test_excess_is_what_flows_have_beyond_their_bounds(seed, uniform):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(0, 70))
    backward = generator.random(1 if uniform else size)
    forward = generator.random(size)
    flow = generator.normal(size=size) * generator.choice([0.1, 1.0])
    beyond = [
        max(0.0, t - a, -b - t)
        for t, a, b in zip(flow, forward, np.broadcast_to(backward, size), strict=True)
    ]
    assert native.edges_excess(backward, forward, flow, 1) == pytest.approx(
        math.fsum(beyond), rel=1e-15
    )


@pytest.mark.parametrize("size", [0, 1, 17, 200_000])
def test_extrapolation_has_the_bits_of_its_twin(size):
    before, now = np.random.default_rng(size).normal(size=(2, size))
    twin, found = before.copy(), [before.copy() for _ in range(2)]
    kernels.reference.extrapolate(twin, now, 0.7, 1)
    for threads, vector in zip((1, 3), found, strict=True):
        native.extrapolate(vector, now, 0.7, threads)
        np.testing.assert_array_equal(vector, twin)


def grid(shape, connectivity, generator):
    """Return the geometry, the sizes of the offsets, weights, flows and a set."""
    offsets = grid_offsets(len(shape), connectivity)
    sizes = [math.prod(max(0, a - abs(d)) for a, d in zip(shape, o, strict=True)) for o in offsets]
    weights = [
        [generator.random(1 if k == 1 else size) for k, size in enumerate(sizes)] for _ in range(2)
    ]
    flow = generator.normal(size=sum(sizes))
    member = generator.integers(0, 2, math.prod(shape)).astype(np.uint8)
    return (np.array(shape), np.array(offsets)), weights, flow, member


@pytest.mark.parametrize(("shape", "connectivity"), SHAPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_grid_sums_equal_their_twins(shape, connectivity, threads):
    generator = np.random.default_rng(connectivity)
    geometry, weights, flow, member = grid(shape, connectivity, generator)
    totals = np.zeros((2, member.size))
    native.grid_accumulate(*geometry, flow, totals[0], 0.5, threads)
    kernels.reference.grid_accumulate(*geometry, flow, totals[1], 0.5, threads)
    np.testing.assert_allclose(*totals, rtol=1e-14, atol=1e-14)
    value = native.grid_cut_value(*geometry, *weights, member, threads)
    twin = kernels.reference.grid_cut_value(*geometry, *weights, member, threads)
    assert value == pytest.approx(twin, rel=1e-15)


@pytest.mark.parametrize(("shape", "connectivity"), SHAPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_greedy_flows_equal_their_twins(shape, connectivity, threads):
    generator = np.random.default_rng(connectivity)
    geometry, weights, flow, member = grid(shape, connectivity, generator)
    rank = generator.permutation(member.size).astype(np.int32)
    found, twin = np.empty_like(flow), np.empty_like(flow)
    native.grid_greedy(*geometry, *weights, rank, found, threads)
    kernels.reference.grid_greedy(*geometry, *weights, rank, twin, threads)
    np.testing.assert_array_equal(found, twin)


@pytest.mark.parametrize("kernel", [native, kernels.reference], ids=["native", "reference"])
@given(gains=st.lists(st.integers(-3, 3), max_size=12), seed=st.integers(0, 2**32))
def test_the_best_prefix_is_the_smallest_of_the_best(kernel, gains, seed):
    rank = np.random.default_rng(seed).permutation(len(gains)).astype(np.int32)
    sums = [
        sum(g for g, r in zip(gains, rank, strict=True) if r < k) for k in range(len(gains) + 1)
    ]
    assert kernel.best_prefix(rank, np.array(gains, dtype=float)) == sums.index(min(sums))


def test_the_best_prefix_sees_what_plain_sums_lose():
    gains = np.array([1e16, 1.0, -1e16, -0.5, -1.0])
    assert native.best_prefix(np.arange(5, dtype=np.int32), gains) == 5


def test_threads_do_not_change_a_bit():
    generator = np.random.default_rng(0)
    geometry, weights, flow, member = grid((700, 300), 8, generator)
    one, two = np.zeros(member.size), np.zeros(member.size)
    native.grid_accumulate(*geometry, flow, one, 1.0, 1)
    native.grid_accumulate(*geometry, flow, two, 1.0, 2)
    assert np.array_equal(one, two)
    rank = generator.permutation(member.size).astype(np.int32)
    greedy = np.empty((2, flow.size))
    native.grid_greedy(*geometry, *weights, rank, greedy[0], 1)
    native.grid_greedy(*geometry, *weights, rank, greedy[1], 2)
    assert np.array_equal(*greedy)
    assert native.compensated_sum(flow, 1) == native.compensated_sum(flow, 2)
    assert native.grid_cut_value(*geometry, *weights, member, 1) == native.grid_cut_value(
        *geometry, *weights, member, 2
    )


def test_sizes_that_do_not_fit_are_refused():
    geometry, weights, flow, member = grid((4, 5), 8, np.random.default_rng(1))
    with pytest.raises(ValueError, match="flow has size"):
        native.grid_accumulate(*geometry, flow[1:], np.zeros(20), 1.0, 1)
    with pytest.raises(ValueError, match="s has size"):
        native.grid_accumulate(*geometry, flow, np.zeros(19), 1.0, 1)
    with pytest.raises(ValueError, match="now has size"):
        native.extrapolate(np.zeros(2), np.zeros(3), 1.0, 1)
    rank = np.zeros(20, dtype=np.int32)
    with pytest.raises(ValueError, match="out has size"):
        native.grid_greedy(*geometry, *weights, rank, flow[1:], 1)
    with pytest.raises(ValueError, match="rank has size"):
        native.grid_greedy(*geometry, *weights, rank[1:], flow, 1)
    with pytest.raises(ValueError, match="backward has size"):
        native.grid_greedy(*geometry, weights[0][1:], weights[1], rank, flow, 1)
    with pytest.raises(ValueError, match="rank has size"):
        native.best_prefix(rank, flow)
    with pytest.raises(ValueError, match=r"rank\[0\] = 20"):
        native.best_prefix(rank + 20, np.zeros(20))
    with pytest.raises(ValueError, match="member has size"):
        native.grid_cut_value(*geometry, *weights, member[1:], 1)
    with pytest.raises(ValueError, match="forward"):
        native.grid_cut_value(*geometry, weights[0], weights[1][1:], member, 1)
    tails, heads = np.array([0, 1], dtype=np.int32), np.array([1, 3], dtype=np.int32)
    with pytest.raises(ValueError, match=r"heads\[1\] = 3"):
        native.edges_accumulate(tails, heads, np.zeros(2), np.zeros(3), 1.0)
    with pytest.raises(ValueError, match="heads has size"):
        native.edges_cut_value(tails, heads[1:], np.ones(1), np.ones(1), member[:4], 1)
    with pytest.raises(ValueError, match="backward"):
        native.edges_excess(np.zeros(2), np.zeros(3), np.zeros(3), 1)


@pytest.mark.parametrize("kernel", [native, kernels.reference], ids=["native", "reference"])
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1.5e308])
@pytest.mark.parametrize("name", ["absolute_sum", "compensated_sum", "sum_of_squares"])
def test_sums_of_numbers_that_are_not_finite_say_so(kernel, number, name):
    """Without a warning, and also where finite numbers overflow."""
    assert not np.isfinite(getattr(kernel, name)(np.array([1.0, number, number]), 1))
