"""The parametric flow of both kernel sets: its x and its flow prove each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from submin.kernels import reference

from .flow_instances import native

each_kernel_set = pytest.mark.parametrize("kernels", [reference, native], ids=["numpy", "native"])


def solved(kernels, seed, nodes, edges, whole=True):
    """Solve a random graph from a random flow within its bounds."""
    rng = np.random.default_rng(seed)
    draw = rng.integers if whole else rng.uniform
    tails, heads = rng.integers(0, nodes, (2, edges)).astype(np.int32)
    backward, forward = (draw(0, 4, edges).astype(float) for _ in range(2))
    flow = -backward + rng.random(edges) * (backward + forward) if seed % 3 else np.zeros(edges)
    costs = draw(-6, 7, nodes).astype(float)
    masses = rng.integers(1, 4, nodes).astype(float)
    x, plateau = np.zeros(nodes), np.zeros(nodes, dtype=np.int32)
    solver = kernels.ParametricFlow(
        tails, heads, backward, forward, flow, costs, masses, x, plateau
    )
    while not solver.advance(50):
        continue
    s = costs.copy()
    np.add.at(s, tails, flow)
    np.subtract.at(s, heads, flow)
    return tails, heads, backward, forward, flow, masses, x, plateau, s, solver


@each_kernel_set
@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(0, 30), st.booleans())
@settings(max_examples=80)
def test_x_and_the_flow_prove_each_other(kernels, seed, nodes, edges, whole):
    """The flow makes s = -m x, and is full from each node to those of less x."""
    tails, heads, backward, forward, flow, masses, x, plateau, s, solver = solved(
        kernels, seed, nodes, edges, whole
    )
    scale = 1e-13 * (1 + edges)
    assert ((-backward <= flow) & (flow <= forward)).all()
    np.testing.assert_allclose(s, -masses * x, rtol=0, atol=10 * scale)
    np.testing.assert_array_equal(flow[x[tails] > x[heads]], forward[x[tails] > x[heads]])
    np.testing.assert_array_equal(flow[x[tails] < x[heads]], -backward[x[tails] < x[heads]])
    np.testing.assert_array_equal(x, x[plateau])
    assert (plateau <= np.arange(nodes)).all()
    assert solver.counts()["rounds"] >= 1


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(0, 30))
@settings(max_examples=40)
def test_twins_agree(seed, nodes, edges):
    one, other = (solved(kernels, seed, nodes, edges)[6] for kernels in (reference, native))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@each_kernel_set
def test_nodes_without_mass_follow_their_neighbours(kernels):
    """A chain of three with nothing in the middle, and a node that wants in at all costs."""
    tails, heads = np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    x, plateau = np.zeros(4), np.zeros(4, dtype=np.int32)
    costs, masses = np.array([-4.0, 0.0, 2.0, -1.0]), np.array([1.0, 0.0, 1.0, 0.0])
    solver = kernels.ParametricFlow(
        tails, heads, np.ones(2), np.ones(2), np.zeros(2), costs, masses, x, plateau
    )
    while not solver.advance(100):
        continue
    assert x[0] == 3.0
    assert x[2] == -1.0
    assert -1.0 <= x[1] <= 3.0
    assert x[3] == np.inf


@each_kernel_set
def test_a_part_without_mass_is_divided_too(kernels):
    """Node 0 wants in by more than its arc to node 1, which wants out, weighs; 2 and 3 are tied."""
    tails, heads = np.array([0, 2], dtype=np.int32), np.array([1, 3], dtype=np.int32)
    x, plateau = np.zeros(5), np.zeros(5, dtype=np.int32)
    costs, masses = np.array([-2.0, 2.0, -0.5, 0.5, 1.0]), np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    solver = kernels.ParametricFlow(
        tails, heads, np.ones(2), np.ones(2), np.zeros(2), costs, masses, x, plateau
    )
    while not solver.advance(100):
        continue
    assert x[[0, 1, 4]].tolist() == [np.inf, -np.inf, -1.0]
    assert np.isfinite(x[2:4]).all() or kernels is reference


def test_numbers_that_are_none_end():
    """NaN and infinite costs are refused at the door of a problem; a kernel must only end."""
    tails, heads = np.array([0, 1, 2], dtype=np.int32), np.array([1, 2, 0], dtype=np.int32)
    for bad in (np.nan, np.inf, -np.inf):
        x, plateau = np.zeros(3), np.zeros(3, dtype=np.int32)
        solver = native.ParametricFlow(
            tails, heads, np.ones(3), np.ones(3), np.zeros(3), np.array([bad, 1.0, -1.0]),
            np.ones(3), x, plateau,
        )  # fmt: skip
        assert any(solver.advance(1000) for _ in range(100))


def test_large_parts_are_cut_in_slices():
    """One plateau of 10,000 nodes, cut with the budget of a few."""
    rng = np.random.default_rng(0)
    count = 10_000
    tails = np.concatenate([np.arange(count - 1), np.arange(count - 100)]).astype(np.int32)
    heads = np.concatenate([np.arange(1, count), np.arange(100, count)]).astype(np.int32)
    weights, flow = np.full(tails.size, 0.6), np.zeros(tails.size)
    costs, x, plateau = rng.normal(size=count), np.zeros(count), np.zeros(count, dtype=np.int32)
    solver = native.ParametricFlow(
        tails, heads, weights, weights, flow, costs, np.ones(count), x, plateau
    )
    slices = 1
    while not solver.advance(1000, 2):
        slices += 1
    s = costs.copy()
    np.add.at(s, tails, flow)
    np.subtract.at(s, heads, flow)
    assert slices > 10
    np.testing.assert_allclose(s, -x, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(flow[x[tails] > x[heads]], 0.6)
    np.testing.assert_array_equal(flow[x[tails] < x[heads]], -0.6)
