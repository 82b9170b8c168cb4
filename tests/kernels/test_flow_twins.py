"""The searches of both kernel sets against one another and enumeration, and what surrounds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from submin.kernels import reference

from .flow_instances import (
    OFFSETS,
    Instance,
    check_against_enumeration,
    check_optimal,
    finish,
    graph_solver,
    grid_edges,
    grid_solver,
    native,
    random_instance,
    small_grids,
    tree_solver,
)

each_kernel_set = pytest.mark.parametrize("kernels", [reference, native], ids=["numpy", "native"])
seeds = st.integers(0, 2**32)


def random_edges(rng, nodes, count):
    """Loops and parallel edges among them."""
    return [tuple(rng.integers(0, nodes, (2, count)).astype(np.int32))]


def graph(seed, nodes, count, scale=6):
    edges = random_edges(np.random.default_rng(seed), nodes, count)
    return random_instance(seed, nodes, edges, scale=scale)


def grid(seed, shape, neighbours, uniform=False):
    offsets = OFFSETS[len(shape), neighbours]
    edges = [grid_edges(shape, offset) for offset in offsets]
    instance = random_instance(seed, int(np.prod(shape)), edges, uniform=uniform)
    return instance, shape, offsets


@given(st.integers(1, 9), st.integers(0, 30), seeds, st.booleans())
@settings(max_examples=60)
def test_graphs_against_enumeration(nodes, count, seed, warm):
    instance = graph(seed, nodes, count, scale=2 + seed % 5)
    solver = graph_solver(instance, warm=warm, kernels=reference)
    check_against_enumeration(instance, *finish(solver, nodes)[:2])


@pytest.mark.parametrize("make", [grid_solver, tree_solver])
@given(small_grids, seeds, st.booleans())
@settings(max_examples=40)
def test_grids_against_enumeration(make, case, seed, uniform):
    instance, *lattice = grid(seed, *case, uniform)
    solver = make(instance, *lattice, kernels=reference)
    check_against_enumeration(instance, *finish(solver, instance.unary.size)[:2])


def solved(make, instance, *arguments):
    """Members of both minimisers, and the minimum, by each kernel set from the same start."""
    answers = []
    for kernels in (reference, native):
        own = Instance(
            instance.unary, instance.edges, instance.backward, instance.forward, instance.flows
        )
        smallest, largest, _ = finish(make(own, *arguments, kernels=kernels), own.unary.size)
        check_optimal(own, smallest, largest)
        answers.append((smallest.tolist(), largest.tolist(), np.minimum(own.s, 0).sum()))
    return answers


@given(st.integers(10, 60), st.integers(0, 200), seeds)
@settings(max_examples=30)
def test_graphs_of_integers_have_the_answers_of_the_twin(nodes, count, seed):
    one, two = solved(graph_solver, graph(seed, nodes, count, scale=3 + seed % 20))
    assert one == two


@pytest.mark.parametrize("make", [grid_solver, tree_solver])
@pytest.mark.parametrize(
    ("shape", "neighbours"), [((12, 13), 4), ((9, 11), 8), ((4, 5, 6), 6), ((3, 4, 5), 26)]
)
@pytest.mark.parametrize("seed", range(3))
def test_grids_of_integers_have_the_answers_of_the_twin(make, shape, neighbours, seed):
    one, two = solved(make, *grid(seed, shape, neighbours))
    assert one == two


@pytest.mark.parametrize("seed", range(4))
def test_real_graphs_have_the_value_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, 60, 240)
    weights = [[10.0 ** rng.uniform(-9, 3, 240)] for _ in range(2)]
    unary = rng.normal(size=60) * 10.0 ** rng.uniform(-9, 3, 60)
    one, two = solved(graph_solver, Instance(unary, edges, *weights, [np.zeros(240)]))
    assert one[2] == pytest.approx(two[2], rel=1e-12)


@given(st.integers(2, 12), st.integers(0, 40), seeds)
@settings(max_examples=40)
def test_twin_is_a_pseudoflow_at_every_pause(nodes, count, seed):
    """Integers stay integers, and the bound never falls."""
    instance = graph(seed, nodes, count)
    solver, bounds, visits = graph_solver(instance, kernels=reference), [-np.inf], [0]
    while not solver.advance(1):
        instance.check_dual()
        np.testing.assert_array_equal(instance.s, instance.unary + instance.pushed())
        bounds.append(np.minimum(instance.s, 0).sum())
        visits.append(solver.visits())
    assert bounds == sorted(bounds)
    assert len(set(visits)) == len(visits)
    assert not solver.gave_up()


def test_twin_takes_single_precision_and_infinite_weights():
    nodes = 5
    edges = [(np.arange(4, dtype=np.int32), np.arange(1, 5, dtype=np.int32))]
    weights = [np.array([np.inf, 2, np.inf, np.inf], dtype=np.float32)]
    unary = np.array([-3.0, 0.0, 1.0, 0.0, 1.0])
    instance = Instance(unary, edges, weights, weights, [np.zeros(4)])
    solver = reference.GraphFlow(*edges[0], *weights, *weights, *instance.flows, instance.s)
    check_against_enumeration(instance, *finish(solver, nodes)[:2])


@each_kernel_set
def test_nothing_to_do_pushes_nothing(kernels):
    instance, *lattice = grid(3, (6, 7), 8)
    finish(grid_solver(instance, *lattice, kernels=kernels), instance.unary.size)
    again = grid_solver(instance, *lattice, kernels=kernels)
    finish(again, instance.unary.size)
    assert again.counts()["pushes"] == 0


@each_kernel_set
def test_members_are_refused_before_the_end(kernels):
    instance = graph(0, 6, 20)
    solver = graph_solver(instance, kernels=kernels)
    with pytest.raises(ValueError, match="advance"):
        solver.members(np.empty(6, dtype=np.uint8))
    assert solver.advance(10_000)
    with pytest.raises(ValueError, match="member"):
        solver.members(np.empty(5, dtype=np.uint8))


# The sweep of all edges, net flows, and what auxiliaries leave.


def arrays(seed, nodes, count):
    rng = np.random.default_rng(seed)
    tails, heads = random_edges(rng, nodes, count)[0]
    backward, forward = rng.integers(0, 9, (2, count)) / 2
    flow = np.clip(rng.integers(-9, 10, count) / 2, -backward, forward)
    return tails, heads, backward, forward, flow, rng.integers(-20, 21, nodes) / 4


@given(st.integers(1, 8), st.integers(0, 30), seeds, st.booleans())
def test_sweeps_in_turn_are_sweeps_of_single_edges(nodes, count, seed, uniform):
    """Edges share nodes; both sets bit for bit the same as one matching of an edge at a time."""
    tails, heads, backward, forward, flow, s = arrays(seed, nodes, count)
    if uniform:
        backward = np.full(1, 9.0)
    ends = tails, heads, backward, forward
    results = []
    for kernels in (reference, native):
        own = flow.copy(), s.copy()
        kernels.edges_sweep_in_turn(*ends, *own)
        results.append(own)
        own = flow.copy(), s.copy()
        for edge in range(count):
            kernels.edges_sweep(*ends, np.array([edge], dtype=np.int32), *own, 1)
        results.append(own)
    for other in results[1:]:
        for one, two in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(one, two)


@given(st.integers(1, 8), st.integers(0, 30), seeds)
def test_net_flows(nodes, count, seed):
    tails, heads, _, _, flow, s = arrays(seed, nodes, count)
    expected = s + np.bincount(tails, flow, nodes) - np.bincount(heads, flow, nodes)
    for kernels in (reference, native):
        own = s.copy()
        kernels.add_net_flow(tails, heads, flow, own)
        np.testing.assert_array_equal(own, expected)


@each_kernel_set
def test_net_flows_of_a_hub_are_compensated(kernels):
    """2^53 and many ones, which plain additions lose."""
    count = 1000
    tails, heads = np.zeros(count, dtype=np.int32), np.ones(count, dtype=np.int32)
    s = np.array([2.0**53, 0.0])
    kernels.add_net_flow(tails, heads, np.ones(count), s)
    assert s.tolist() == [2.0**53 + count, -count]


@given(st.integers(2, 8), st.integers(0, 30), seeds, st.integers(0, 9))
def test_settling(nodes, count, seed, first):
    *fixed, flow, s = arrays(seed, nodes, count)
    results = []
    for kernels in (reference, native):
        own = flow.copy(), s.copy()
        kernels.settle(*fixed, *own, first)
        results.append(own)
        tails, heads, backward, forward = fixed
        assert np.all((-backward <= own[0]) & (own[0] <= forward))
        moved = own[0] - flow
        net = np.bincount(tails, moved, nodes) - np.bincount(heads, moved, nodes)
        np.testing.assert_array_equal(own[1], s + net)
        assert np.all(np.abs(own[1][first:]) <= np.abs(s[first:]))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
