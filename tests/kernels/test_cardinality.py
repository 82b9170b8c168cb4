"""Concave functions of the cardinality: native against twin, both against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import reference

from .projections import assert_projection

native = pytest.importorskip("submin.kernels.native")

halves = st.integers(-8, 8).map(lambda value: value / 2)
constants = st.sampled_from([1.0, 0.3, 4.0])


@st.composite
def cardinality_blocks(draw, largest=16, elements=halves):
    """(indptr, members, gains, groups, y, s, order) of groups with disjoint members."""
    sizes = draw(st.lists(st.integers(0, largest), min_size=1, max_size=4))
    indptr = np.append(0, np.cumsum(sizes)).astype(np.int64)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    members = rng.permutation(indptr[-1] + 3)[: indptr[-1]].astype(np.int32)

    def floats(size):
        return np.array(draw(st.lists(elements, min_size=size, max_size=size)), dtype=float)

    gains = [np.sort(floats(size))[::-1] for size in sizes]
    order = [rng.permutation(size) for size in sizes]
    chosen = rng.permutation(len(sizes))[: draw(st.integers(0, len(sizes)))].astype(np.int32)
    y, s = floats(members.size), floats(members.size + 3)
    return indptr, members, np.concatenate(gains), chosen, y, s, np.concatenate(order).astype("i4")


def assert_same_sweeps(block):
    """Three sweeps of both kernel sets, the second and third with a warm order."""
    *fixed, y, s, order = block
    other_y, other_s, other_order = y.copy(), s.copy(), order.copy()
    for _ in range(3):
        reference.cardinality_sweep(*fixed, y, s, order, 1)
        native.cardinality_sweep(*fixed, other_y, other_s, other_order, 1)
        np.testing.assert_array_equal(other_order, order)
        tolerance = 1e-13 * (1 + np.abs(y).max(initial=0) + np.abs(s).max())
        np.testing.assert_allclose(other_y, y, rtol=0, atol=tolerance)
        np.testing.assert_allclose(other_s, s, rtol=0, atol=tolerance)
        noise = np.random.default_rng(0).integers(-1, 2, size=s.size) / 8
        s += noise
        other_s[:] = s
        other_y[:] = y


@given(cardinality_blocks())
def test_sweep_agrees_with_twin(block):
    assert_same_sweeps(block)


@given(cardinality_blocks(), constants)
def test_project_agrees_with_twin(block, c):
    *fixed, order = block
    indptr, _, _, groups, *_ = fixed
    expected, result = np.empty((2, int(np.diff(indptr)[groups].sum())))
    other_order = order.copy()
    reference.cardinality_project(*fixed, c, order, expected, 1)
    native.cardinality_project(*fixed, c, other_order, result, 1)
    np.testing.assert_array_equal(other_order, order)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kernels", [reference, native])
@given(block=cardinality_blocks(largest=5), c=constants)
def test_project_is_the_projection(kernels, block, c):
    indptr, members, gains, groups, y, s, order = block
    out = np.empty(int(np.diff(indptr)[groups].sum()))
    kernels.cardinality_project(indptr, members, gains, groups, y, s, c, order, out, 1)
    end = 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        size = part.stop - part.start
        begin, end = end, end + size
        by_count = np.append(0.0, np.cumsum(gains[part]))
        values = by_count[[mask.bit_count() for mask in range(1 << size)]]
        if size:
            assert_projection(y[part] - s[members[part]] / c, out[begin:end], values)


def one_group(values, gains=None, seed=0):
    """A block of one group whose a = y - s is ``values``, in random starting order."""
    size = values.size
    gains = np.linspace(1, -1, size) if gains is None else gains
    pointers, numbers = np.array([0, size]), np.arange(size, dtype=np.int32)
    order = np.random.default_rng(seed).permutation(size).astype(np.int32)
    first = np.zeros(1, dtype=np.int32)
    return pointers, numbers, gains, first, values.copy(), np.zeros(size), order


rng = np.random.default_rng(1)
hard_to_sort = {
    "normal": rng.normal(size=3000),
    "large": rng.normal(size=30000),
    "ties": rng.integers(0, 5, size=3000) / 4,
    "constant": np.zeros(500),
    "signed zeros": np.where(rng.random(500) < 0.5, 0.0, -0.0),
    "outlier": np.append(rng.normal(size=2000), 1e14),
    "two scales": np.append(rng.normal(size=2000), 1e9 * rng.normal(size=2000)),
    "subnormal": rng.normal(size=500) * 1e-310,
    "huge": rng.choice([-1.7e308, 1.7e308], size=500),
    "reversed": np.arange(2000.0),
    "sorted": -np.arange(2000.0),
    "nearly sorted": -np.arange(2000.0) + 4 * rng.random(2000),
}


@pytest.mark.parametrize("name", hard_to_sort)
@pytest.mark.parametrize("start", ["random", "given"])
def test_sorting(name, start):
    """Every path of the native sort orders like a stable sort of the starting order."""
    *fixed, order = one_group(hard_to_sort[name])
    if start == "given":
        order = np.arange(order.size, dtype=np.int32)
    expected = order[np.argsort(-hard_to_sort[name][order], kind="stable")]
    with np.errstate(over="ignore", invalid="ignore"):
        native.cardinality_project(*fixed, 1.0, order, np.empty(order.size), 1)
    np.testing.assert_array_equal(order, expected)


@pytest.mark.parametrize("name", [name for name in hard_to_sort if name != "huge"])
def test_hard_sweeps_agree_with_twin(name):
    assert_same_sweeps(one_group(hard_to_sort[name]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_values_keep_the_order_a_permutation(bad):
    values = np.random.default_rng(0).normal(size=1000)
    values[::7] = bad
    *fixed, order = one_group(values)
    native.cardinality_project(*fixed, 1.0, order, np.empty(1000), 1)
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))


def test_hinges_pool_into_plateaus():
    """g(k) = min(k, 2) on 4 members, by hand: y = (1, 1, 0, 0) is a vertex, a beyond it."""
    block = one_group(np.array([9.0, 8.0, -7.0, -7.5]), np.array([1.0, 1.0, 0.0, 0.0]))
    *fixed, order = block
    out = np.empty(4)
    native.cardinality_project(*fixed, 1.0, order, out, 1)
    np.testing.assert_array_equal(out, [1, 1, 0, 0])


@given(cardinality_blocks())
def test_greedy_agrees_with_twin(block):
    indptr, members, gains, *_ = block
    rank = np.random.default_rng(0).permutation(members.size + 3).astype(np.int32)
    expected, result = np.empty((2, members.size))
    reference.cardinality_greedy(indptr, members, gains, rank, expected, 1)
    native.cardinality_greedy(indptr, members, gains, rank, result, 1)
    np.testing.assert_array_equal(result, expected)


def test_greedy_of_a_large_group():
    size = 70000
    rank = np.random.default_rng(0).permutation(size).astype(np.int32)
    gains = -np.arange(float(size))
    out = np.empty(size)
    indptr, members = np.array([0, size]), np.arange(size, dtype=np.int32)
    native.cardinality_greedy(indptr, members, gains, rank, out, 1)
    np.testing.assert_array_equal(out, -rank.astype(float))
