"""Truncated modular functions: native against twin, both against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import reference

from .group_blocks import (
    assert_same_sweeps,
    block_size,
    constants,
    floats,
    groups_of_members,
    halves,
    hard_values,
    positive_halves,
    subsets,
    table_projection,
)
from .projections import assert_projection

native = pytest.importorskip("submin.kernels.native")


@st.composite
def truncation_blocks(draw, largest=40):
    """(fixed arguments, groups, y, s)."""
    indptr, members, groups, y, s = draw(groups_of_members(largest))
    lower = floats(draw, halves, members.size)
    upper = lower + floats(draw, positive_halves, members.size)
    caps = floats(draw, positive_halves, indptr.size - 1)
    totals = np.zeros(caps.size)
    for group in range(caps.size):
        part = slice(indptr[group], indptr[group + 1])
        whole = (upper - lower)[part].sum()
        totals[group] = lower[part].sum() + min(whole, draw(st.sampled_from([caps[group], whole])))
    return (indptr, members, lower, upper, totals), groups, y, s


def truncated_values(lower, upper, total):
    """F(S) = lower(S) + min((upper - lower)(S), total - lower(R)) for all subsets."""
    inside = subsets(lower.size)
    return inside @ lower + np.minimum(inside @ (upper - lower), total - lower.sum())


@given(truncation_blocks())
def test_sweep_agrees_with_twin(block):
    fixed, groups, y, s = block
    assert_same_sweeps(native.truncation_sweep, reference.truncation_sweep, fixed, groups, y, s)


@given(truncation_blocks(), constants)
def test_project_agrees_with_twin(block, c):
    fixed, groups, y, s = block
    expected, result = np.empty((2, block_size(fixed[0], groups)))
    reference.truncation_project(*fixed, groups, y, s, c, expected, 1)
    native.truncation_project(*fixed, groups, y, s, c, result, 1)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernels", [reference, native])
@given(block=truncation_blocks(largest=5), c=constants)
def test_project_is_the_projection(kernels, block, c):
    (indptr, members, lower, upper, totals), groups, y, s = block
    out = np.empty(block_size(indptr, groups))
    kernels.truncation_project(indptr, members, lower, upper, totals, groups, y, s, c, out, 1)
    end = 0
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        begin, end = end, end + part.stop - part.start
        if end > begin:
            values = truncated_values(lower[part], upper[part], totals[group])
            a = y[part] - s[members[part]] / c
            assert_projection(a, out[begin:end], values)
            np.testing.assert_allclose(out[begin:end], table_projection(a, values), atol=1e-11)


def one_group(values, masses, cap):
    """The arguments of one group whose a = y - s is ``values``."""
    size, first = values.size, np.zeros(1, dtype=np.int32)
    pointers, members = np.array([0, size]), np.arange(size, dtype=np.int32)
    fixed = pointers, members, np.zeros(size), masses, np.array([cap])
    return fixed, first, np.zeros(size), -values


@pytest.mark.parametrize("fraction", [0.0, 1e-6, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("name", hard_values)
def test_hard_sweeps_agree_with_twin(name, equal, fraction):
    values = hard_values[name].copy()
    masses = np.ones(values.size) if equal else np.random.default_rng(0).random(values.size)
    masses *= np.max(np.abs(values)) if name in ("tiny", "cubic") else 1.0
    block = one_group(values, masses, fraction * masses.sum())
    assert_same_sweeps(native.truncation_sweep, reference.truncation_sweep, *block)


@pytest.mark.parametrize("kernels", [reference, native])
def test_flat_pieces_are_crossed(kernels):
    """Where the clipped sum is flat above the cap, a Newton step has nowhere to go."""
    a = np.array([100.0, 99.9, 0.0, -50.0])
    fixed, groups, y, s = one_group(a, np.ones(4), 2.5)
    out = np.empty(4)
    kernels.truncation_project(*fixed, groups, y, s, 1.0, out, 1)
    np.testing.assert_allclose(out, [1, 1, 0.5, 0], atol=1e-13)


def test_sums_and_bounds_hold_to_rounding():
    rng = np.random.default_rng(0)
    for _ in range(200):
        masses, a = rng.random(50), 10.0 ** rng.integers(-3, 4) * rng.normal(size=50)
        cap = rng.random() * masses.sum()
        fixed, groups, y, s = one_group(a, masses, cap)
        out = np.empty(50)
        native.truncation_project(*fixed, groups, y, s, 1.0, out, 1)
        assert np.all(out >= 0)
        assert np.all(out <= masses)
        assert abs(out.sum() - cap) <= 1e-14 * (1 + np.abs(a).max())


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_values_return(bad):
    values = np.random.default_rng(0).normal(size=1000)
    values[::7] = bad
    fixed, groups, y, s = one_group(values, np.ones(1000), 20.0)
    native.truncation_project(*fixed, groups, y, s, 1.0, np.empty(1000), 1)


def test_threads_do_not_change_bits():
    rng = np.random.default_rng(0)
    masses = rng.random(60000)
    pointers, members = np.arange(0, 60001, 30), rng.permutation(60000).astype(np.int32)
    fixed = pointers, members, np.zeros(60000), masses, 5 * rng.random(2000)
    groups, start = np.arange(2000, dtype=np.int32), rng.normal(size=60000)
    states = []
    for threads in (1, 2, 3):
        y, s = np.zeros(60000), start.copy()
        native.truncation_sweep(*fixed, groups, y, s, threads)
        native.truncation_sweep(*fixed, groups, y, s, threads)
        states.append((y, s))
    for y, s in states[1:]:
        np.testing.assert_array_equal(y, states[0][0])
        np.testing.assert_array_equal(s, states[0][1])


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (0, np.array([0, 9]), "indptr does not point into members at group 0"),
        (2, np.ones(2), "lower has size 2, expected 3"),
        (3, np.ones(2), "upper has size 2, expected 3"),
        (4, np.ones(2), "totals has size 2, expected 1"),
        (5, np.ones(1, dtype=np.int32), r"groups\[0\] = 1 is outside"),
        (6, np.ones(2), "y has size 2, expected 3"),
    ],
)
def test_sizes_are_checked(position, value, message):
    fixed, groups, y, s = one_group(np.ones(3), np.ones(3), 1.0)
    arguments = [*fixed, groups, y, s]
    arguments[position] = value
    with pytest.raises(ValueError, match=message):
        native.truncation_sweep(*arguments, 1)
    with pytest.raises(ValueError, match=message):
        native.truncation_project(*arguments, 1.0, np.empty(3), 1)
