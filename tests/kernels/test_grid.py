"""Matchings on grids: native against twin, both against the same edges as a list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import reference

from .grids import grid_matching

native = pytest.importorskip("submin.kernels.native")


@st.composite
def grid_blocks(draw):
    """(arguments of grid_sweep, the same block for edges_sweep, c)."""
    dimensions = draw(st.integers(1, 4))
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=dimensions, max_size=dimensions)))
    if draw(st.booleans()):
        shape = (*shape[:-1], draw(st.integers(8, 40)))
    offset = draw(
        st.lists(st.integers(-1, 1), min_size=dimensions, max_size=dimensions).filter(any)
    )
    offset = tuple(0 if extent == 1 else step for extent, step in zip(shape, offset, strict=True))
    if not any(offset):
        shape, offset = (*shape[:-1], 9), (*offset[:-1], 1)
    axis = draw(st.sampled_from([k for k, step in enumerate(offset) if step]))
    geometry, edges, tails, heads, count = grid_matching(
        shape, offset, axis, draw(st.integers(0, 1))
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = [draw(st.sampled_from([1, count])) for _ in ("backward", "forward")]
    weights = [rng.integers(0, 6, size=size) / 2 for size in sizes]
    flow, s = rng.integers(-6, 7, size=count) / 4, rng.normal(size=np.prod(shape))
    all_tails, all_heads = np.zeros((2, count), dtype=np.int32)
    all_tails[edges], all_heads[edges] = tails, heads
    arguments = (geometry, *weights, flow, s)
    return arguments, (all_tails, all_heads, *weights, edges), draw(st.sampled_from([1.0, 0.3, 4]))


@pytest.mark.parametrize("kernels", [reference, native])
@given(block=grid_blocks())
def test_project_agrees_with_edge_list(kernels, block):
    arguments, edge_list, c = block
    expected, result = np.empty((2, edge_list[-1].size))
    reference.edges_project(*edge_list, *arguments[-2:], c, expected, 1)
    kernels.grid_project(*arguments, c, result, 1)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("kernels", [reference, native])
@given(block=grid_blocks())
def test_sweep_agrees_with_edge_list(kernels, block):
    (*fixed, flow, s), edge_list, _ = block
    other_flow, other_s = flow.copy(), s.copy()
    reference.edges_sweep(*edge_list, flow, s, 1)
    kernels.grid_sweep(*fixed, other_flow, other_s, 1)
    np.testing.assert_array_equal(other_flow, flow)
    np.testing.assert_array_equal(other_s, s)


@pytest.mark.parametrize("kernels", [reference, native])
def test_negative_strides(kernels):
    """A line of edges walked backwards gives the same as forwards."""
    rng = np.random.default_rng(0)
    weights, flow, s = np.ones(1), rng.normal(size=11), rng.normal(size=12)
    forwards = np.array([1, 6, 2, 2, 0, 0, 1], dtype=np.int64)
    backwards = np.array([1, 6, -2, -2, 10, 10, 11], dtype=np.int64)
    results = np.empty((2, 6))
    kernels.grid_project(forwards, weights, weights, flow, s, 1.0, results[0], 1)
    kernels.grid_project(backwards, weights, weights, flow, s, 1.0, results[1], 1)
    np.testing.assert_array_equal(results[0], results[1, ::-1])
