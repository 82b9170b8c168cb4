"""Hyperedges: native against twin, both against enumeration."""

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
    hard_values,
    positive_halves,
    subsets,
    table_projection,
)
from .projections import assert_projection

native = pytest.importorskip("submin.kernels.native")

both = np.full(1, 3, dtype=np.uint8)


@st.composite
def hyperedge_blocks(draw, largest=40):
    """(fixed arguments, groups, y, s): undirected, or with random tails and heads."""
    indptr, members, groups, y, s = draw(groups_of_members(largest))
    roles = both
    if draw(st.booleans()):
        role = st.lists(st.integers(1, 3), min_size=members.size, max_size=members.size)
        roles = np.array(draw(role), dtype=np.uint8)
    weights = floats(draw, positive_halves, indptr.size - 1)
    return (indptr, members, roles, weights), groups, y, s


def cut_values(roles, weight):
    """F(S) = w [S has a tail and misses a head] for all subsets."""
    inside = subsets(roles.size)
    tail = (inside & (roles & 1 != 0)).any(axis=1)
    missed = (~inside & (roles & 2 != 0)).any(axis=1)
    return weight * (tail & missed)


@given(hyperedge_blocks())
def test_sweep_agrees_with_twin(block):
    fixed, groups, y, s = block
    assert_same_sweeps(native.hyperedge_sweep, reference.hyperedge_sweep, fixed, groups, y, s)


@given(hyperedge_blocks(), constants)
def test_project_agrees_with_twin(block, c):
    fixed, groups, y, s = block
    expected, result = np.empty((2, block_size(fixed[0], groups)))
    reference.hyperedge_project(*fixed, groups, y, s, c, expected, 1)
    native.hyperedge_project(*fixed, groups, y, s, c, result, 1)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernels", [reference, native])
@given(block=hyperedge_blocks(largest=5), c=constants)
def test_project_is_the_projection(kernels, block, c):
    (indptr, members, roles, weights), groups, y, s = block
    out = np.empty(block_size(indptr, groups))
    kernels.hyperedge_project(indptr, members, roles, weights, groups, y, s, c, out, 1)
    end, role_of = 0, np.broadcast_to(roles, members.shape)
    for group in groups:
        part = slice(indptr[group], indptr[group + 1])
        begin, end = end, end + part.stop - part.start
        if end > begin:
            values = cut_values(role_of[part], weights[group])
            a = y[part] - s[members[part]] / c
            assert_projection(a, out[begin:end], values)
            np.testing.assert_allclose(out[begin:end], table_projection(a, values), atol=1e-11)


def one_group(values, weight, roles=both):
    """The arguments of one group whose a = y - s is ``values``."""
    size, first = values.size, np.zeros(1, dtype=np.int32)
    pointers, members = np.array([0, size]), np.arange(size, dtype=np.int32)
    return (pointers, members, roles, np.array([weight])), first, np.zeros(size), -values


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weight", [0.0, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", hard_values)
def test_hard_sweeps_agree_with_twin(name, weight, directed):
    values = hard_values[name].copy()
    size = np.max(np.abs(values)) if name == "tiny" else 1.0
    roles = np.random.default_rng(0).integers(1, 4, values.size).astype(np.uint8)
    block = one_group(values, weight * size, roles if directed else both)
    assert_same_sweeps(native.hyperedge_sweep, reference.hyperedge_sweep, *block)


@pytest.mark.parametrize(
    ("weight", "expected"), [(1.0, [1, 0, -1]), (3.0, [3, 0, -3]), (9.0, [4, 0, -4])]
)
def test_by_hand(weight, expected):
    """a = (4, 0, -4): flow w from the largest to the smallest, until all are level."""
    fixed, groups, y, s = one_group(np.array([4.0, 0.0, -4.0]), weight)
    out = np.empty(3)
    native.hyperedge_project(*fixed, groups, y, s, 1.0, out, 1)
    np.testing.assert_array_equal(out, expected)


def test_an_arc_is_an_edge():
    """One tail and one head: t = clip((a_i - a_j) / 2, 0, w)."""
    for difference, flow in ((-3.0, 0.0), (1.0, 0.5), (8.0, 2.0)):
        roles = np.array([1, 2], dtype=np.uint8)
        fixed, groups, y, s = one_group(np.array([difference, 0.0]), 2.0, roles)
        out = np.empty(2)
        native.hyperedge_project(*fixed, groups, y, s, 1.0, out, 1)
        np.testing.assert_array_equal(out, [flow, -flow])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_values_return(bad):
    values = np.random.default_rng(0).normal(size=1000)
    values[::7] = bad
    for roles in (both, np.random.default_rng(0).integers(1, 4, 1000).astype(np.uint8)):
        fixed, groups, y, s = one_group(values, 1.0, roles)
        native.hyperedge_project(*fixed, groups, y, s, 1.0, np.empty(1000), 1)


def test_threads_do_not_change_bits():
    rng = np.random.default_rng(0)
    pointers = np.arange(0, 60001, 30)
    fixed = pointers, rng.permutation(60000).astype(np.int32), both, rng.random(2000)
    groups = np.arange(2000, dtype=np.int32)
    start = rng.normal(size=60000)
    states = []
    for threads in (1, 2, 3):
        y, s = np.zeros(60000), start.copy()
        native.hyperedge_sweep(*fixed, groups, y, s, threads)
        native.hyperedge_sweep(*fixed, groups, y, s, threads)
        states.append((y, s))
    for y, s in states[1:]:
        np.testing.assert_array_equal(y, states[0][0])
        np.testing.assert_array_equal(s, states[0][1])


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (0, np.array([0, 9]), "indptr does not point into members at group 0"),
        (2, np.ones(2, dtype=np.uint8), "roles has size 2, expected 3"),
        (3, np.ones(2), "weights has size 2, expected 1"),
        (4, np.ones(1, dtype=np.int32), r"groups\[0\] = 1 is outside"),
        (5, np.ones(2), "y has size 2, expected 3"),
    ],
)
def test_sizes_are_checked(position, value, message):
    fixed, groups, y, s = one_group(np.ones(3), 1.0)
    arguments = [*fixed, groups, y, s]
    arguments[position] = value
    with pytest.raises(ValueError, match=message):
        native.hyperedge_sweep(*arguments, 1)
    with pytest.raises(ValueError, match=message):
        native.hyperedge_project(*arguments, 1.0, np.empty(3), 1)


def test_type_of_roles_is_checked():
    fixed, groups, y, s = one_group(np.ones(3), 1.0, np.ones(3))
    with pytest.raises(TypeError):
        native.hyperedge_sweep(*fixed, groups, y, s, 1)
