"""Matchings of edges: native against twin bit for bit, both against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import reference

from .projections import assert_projection

native = pytest.importorskip("submin.kernels.native")

halves = st.integers(-8, 8).map(lambda value: value / 2)


@st.composite
def edge_blocks(draw):
    """Arguments of edges_sweep for a matching among the first of a graph's edges, and a c."""
    nodes = draw(st.integers(2, 24))
    matched = draw(st.integers(0, nodes // 2))
    others = draw(st.integers(1, 3))
    permutation = np.array(draw(st.permutations(range(nodes))), dtype=np.int32)
    tails = np.append(permutation[:matched], np.zeros(others, np.int32))
    heads = np.append(permutation[matched : 2 * matched], np.ones(others, np.int32))
    edges = np.array(draw(st.permutations(range(matched))), dtype=np.int32)
    edges = edges[: draw(st.integers(0, matched))].copy()

    def floats(size, elements=halves):
        return np.array(draw(st.lists(elements, min_size=size, max_size=size)), dtype=float)

    weights = [
        np.abs(floats(draw(st.sampled_from([1, matched + others]))))
        for _ in ("backward", "forward")
    ]
    arguments = (tails, heads, *weights, edges, floats(matched + others), floats(nodes))
    return arguments, draw(st.sampled_from([1.0, 0.3, 4.0]))


@given(edge_blocks())
def test_project_agrees_with_twin(block):
    arguments, c = block
    expected, result = np.empty((2, arguments[4].size))
    reference.edges_project(*arguments, c, expected, 1)
    native.edges_project(*arguments, c, result, 1)
    np.testing.assert_array_equal(result, expected)


@given(edge_blocks())
def test_sweep_agrees_with_twin(block):
    *fixed, flow, s = block[0]
    other_flow, other_s = flow.copy(), s.copy()
    reference.edges_sweep(*fixed, flow, s, 1)
    native.edges_sweep(*fixed, other_flow, other_s, 1)
    np.testing.assert_array_equal(other_flow, flow)
    np.testing.assert_array_equal(other_s, s)


@pytest.mark.parametrize("kernels", [reference, native])
@given(block=edge_blocks())
def test_project_is_the_projection(kernels, block):
    arguments, c = block
    tails, heads, backward, forward, edges, flow, s = arguments
    out = np.empty(edges.size)
    kernels.edges_project(*arguments, c, out, 1)
    lower = np.broadcast_to(backward, flow.shape)
    upper = np.broadcast_to(forward, flow.shape)
    for e, t in zip(edges, out, strict=True):
        a = np.array([flow[e] - s[tails[e]] / c, -flow[e] - s[heads[e]] / c])
        assert_projection(a, np.array([t, -t]), np.array([0.0, upper[e], lower[e], 0.0]))


@pytest.mark.parametrize("kernels", [reference, native])
@given(block=edge_blocks())
def test_sweep_is_project_and_keeps_s(kernels, block):
    arguments = block[0]
    tails, heads, _, _, edges, flow, s = arguments
    out = np.empty(edges.size)
    kernels.edges_project(*arguments, 1.0, out, 1)
    before = flow.copy()
    expected = s.copy()
    kernels.edges_sweep(*arguments, 1)
    np.testing.assert_array_equal(flow[edges], out)
    np.add.at(expected, tails, flow - before)
    np.add.at(expected, heads, before - flow)
    np.testing.assert_allclose(s, expected, rtol=0, atol=1e-12)
