"""The max-flow finish: against enumeration, SciPy and its own laws."""

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
    long_instance,
    native,
    random_instance,
    scipy_minimum,
    small_grids,
)


@given(small_grids, st.integers(0, 2**32), st.booleans())
def test_small_grids(case, seed, uniform):
    shape, neighbours = case
    offsets = OFFSETS[len(shape), neighbours]
    edges = [grid_edges(shape, offset) for offset in offsets]
    instance = random_instance(seed, int(np.prod(shape)), edges, uniform=uniform)
    smallest, largest, _ = finish(grid_solver(instance, shape, offsets), instance.unary.size)
    check_against_enumeration(instance, smallest, largest)


def random_graph(rng, nodes, edges):
    return [tuple(rng.integers(0, nodes, (2, edges)).astype(np.int32))]


@given(st.integers(1, 9), st.integers(0, 40), st.integers(0, 2**32), st.booleans())
def test_small_graphs(nodes, count, seed, warm):
    """Parallel edges, loops and lonely nodes are all allowed; small numbers make ties."""
    edges = random_graph(np.random.default_rng(seed), nodes, count)
    instance = random_instance(seed, nodes, edges, scale=2 + seed % 5)
    smallest, largest, _ = finish(graph_solver(instance, warm=warm), nodes)
    check_against_enumeration(instance, smallest, largest)


FLAT = [((40, 31), 4), ((31, 40), 8), ((1, 300), 4), ((300, 1), 8), ((150, 130), 8)]
SOLID = [((9, 7, 8), 6), ((6, 9, 7), 18), ((7, 6, 8), 26), ((26, 30, 28), 6)]


@pytest.mark.parametrize(("shape", "neighbours"), FLAT + SOLID)
@pytest.mark.parametrize("tilt", [-8, 0, 8])
@pytest.mark.parametrize("seed", range(2))
def test_grids_against_scipy(shape, neighbours, tilt, seed):
    """The larger ones are solved in strips first, those of much excess from the other side."""
    offsets = OFFSETS[len(shape), neighbours]
    edges = [grid_edges(shape, offset) for offset in offsets]
    instance = random_instance(seed, int(np.prod(shape)), edges, scale=20)
    instance.unary = instance.unary * neighbours + tilt
    instance.s = instance.unary + instance.pushed()
    smallest, largest, _ = finish(grid_solver(instance, shape, offsets), instance.unary.size)
    check_optimal(instance, smallest, largest)
    assert np.minimum(instance.s, 0).sum() == scipy_minimum(instance)


@pytest.mark.parametrize("seed", range(10))
def test_graphs_against_scipy(seed):
    rng = np.random.default_rng(seed)
    nodes, count = int(rng.integers(50, 2000)), int(rng.integers(50, 6000))
    instance = random_instance(seed, nodes, random_graph(rng, nodes, count), scale=30)
    smallest, largest, _ = finish(graph_solver(instance), nodes)
    check_optimal(instance, smallest, largest)
    assert np.minimum(instance.s, 0).sum() == scipy_minimum(instance)


def hub_edges(rng, hubs, leaves, count):
    """Return edges between a few hubs and many leaves, in either direction, some in parallel."""
    ends = np.stack([rng.integers(0, hubs, count), hubs + rng.integers(0, leaves, count)])
    return [tuple(rng.permuted(ends, axis=0).astype(np.int32))]


def path_edges(nodes):
    return [(np.arange(nodes - 1, dtype=np.int32), np.arange(1, nodes, dtype=np.int32))]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["hubs", "path", "parallel"])
def test_odd_graphs_against_scipy(kind, seed):
    rng = np.random.default_rng(seed)
    nodes, edges = {
        "hubs": lambda: (1205, hub_edges(rng, 5, 1200, 6000)),
        "path": lambda: (3000, path_edges(3000)),
        "parallel": lambda: (40, random_graph(rng, 40, 4000)),
    }[kind]()
    instance = random_instance(seed, nodes, edges, scale=25)
    solver = graph_solver(instance, warm=bool(seed % 2))
    smallest, largest, _ = finish(solver, nodes)
    check_optimal(instance, smallest, largest)
    assert np.minimum(instance.s, 0).sum() == scipy_minimum(instance)


def star_work(leaves):
    """Solve a star of integers; return how many arcs were gone through and pushed along."""
    rng = np.random.default_rng(leaves)
    edges = [(np.zeros(leaves, dtype=np.int32), np.arange(1, leaves + 1, dtype=np.int32))]
    weights = [rng.integers(1, 9, leaves).astype(float)]
    unary = np.concatenate([[0.0], rng.integers(-9, 10, leaves)])
    instance = Instance(unary, edges, weights, weights, [np.zeros(leaves)])
    solver = graph_solver(instance)
    finish(solver, leaves + 1)
    return sum(solver.counts().values())


def test_work_on_a_star_grows_with_its_edges():
    assert star_work(32_000) < 10 * star_work(4000)
    assert star_work(32_000) < 15 * 32_000


def test_an_excess_crosses_a_path_once():
    """It passes each edge once, and no node gets more than a few labels."""
    nodes = 20_000
    unary = np.zeros(nodes)
    unary[0], unary[-1] = -7, 7
    weights = [np.full(nodes - 1, 9.0)]
    instance = Instance(unary, path_edges(nodes), weights, weights, [np.zeros(nodes - 1)])
    solver = graph_solver(instance)
    smallest, largest, _ = finish(solver, nodes)
    assert not smallest.any()
    assert largest.all()
    assert np.all(instance.flows[0] == 7)
    assert sum(solver.counts().values()) < 15 * nodes


@pytest.mark.parametrize("seed", range(5))
def test_rounding_of_flows_leaves_no_endless_work(seed):
    """Weights and costs of all magnitudes, so that pushes vanish beside the flows they join."""
    rng = np.random.default_rng(seed)
    nodes, count = 300, 2000
    edges = random_graph(rng, nodes, count)
    weights = [10.0 ** rng.uniform(-14, 4, count) for _ in range(2)]
    unary = rng.normal(size=nodes) * 10.0 ** rng.uniform(-14, 3, nodes)
    instance = Instance(unary, edges, [weights[0]], [weights[1]], [np.zeros(count)])
    solver = graph_solver(instance)
    smallest, largest, _ = finish(solver, nodes)
    instance.check_dual()
    bound = np.minimum(instance.s, 0).sum()
    for members in (smallest, largest):
        assert instance.value(members) == pytest.approx(bound, rel=1e-12)
    assert sum(solver.counts().values()) < 1000 * count


@pytest.mark.parametrize("budget", [1, 7, 1000])
def test_interruption_of_graphs_does_not_change_a_bit(budget):
    def solved(budget):
        rng = np.random.default_rng(7)
        edges = random_graph(rng, 400, 1500)
        weights = [rng.random(1500) for _ in range(2)]
        flows = [np.zeros(1500)]
        instance = Instance(rng.normal(size=400), edges, weights[:1], weights[1:], flows)
        solver, calls, bound = graph_solver(instance), 1, -np.inf
        while not solver.advance(budget):
            calls += 1
            instance.check_dual()
            new_bound = np.minimum(instance.s, 0).sum()
            assert new_bound >= bound - 1e-9
            bound = new_bound
        return instance, calls

    (whole, _), (slices, calls) = solved(1 << 40), solved(budget)
    assert calls > 2
    np.testing.assert_array_equal(slices.s, whole.s)
    np.testing.assert_array_equal(slices.flows[0], whole.flows[0])


@given(small_grids, st.integers(0, 2**32))
def test_grid_and_graph_agree(case, seed):
    shape, neighbours = case
    offsets = OFFSETS[len(shape), neighbours]
    edges = [grid_edges(shape, offset) for offset in offsets]
    first, second = (random_instance(seed, int(np.prod(shape)), edges) for _ in range(2))
    on_grid = finish(grid_solver(first, shape, offsets), first.unary.size)
    on_graph = finish(graph_solver(second), second.unary.size)
    np.testing.assert_array_equal(on_grid[:2], on_graph[:2])


@pytest.mark.parametrize("seed", range(3))
def test_real_data(seed):
    instance, shape, offsets = long_instance(seed)
    smallest, largest, _ = finish(grid_solver(instance, shape, offsets), instance.unary.size)
    check_optimal(instance, smallest, largest)


@pytest.mark.parametrize("budget", [1, 7, 1000, 30_000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_interruption_and_threads_do_not_change_a_bit(budget, threads):
    shape = (140, 150) if budget >= 1000 else (35, 36)
    expected, shape, offsets = long_instance(0, shape)
    finish(grid_solver(expected, shape, offsets), expected.unary.size)
    instance, shape, offsets = long_instance(0, shape)
    solver = grid_solver(instance, shape, offsets)
    *_, calls = finish(solver, instance.unary.size, budget=budget, threads=threads)
    assert calls > 2
    np.testing.assert_array_equal(instance.s, expected.s)
    for flow, other in zip(instance.flows, expected.flows, strict=True):
        np.testing.assert_array_equal(flow, other)


@pytest.mark.parametrize("tilt", [-0.3, 0.3])
@pytest.mark.parametrize("make", ["grid", "graph"])
def test_bound_rises_and_dual_is_consistent_at_every_pause(make, tilt):
    instance, shape, offsets = long_instance(1)
    instance.unary, instance.s = instance.unary + tilt, instance.s + tilt
    is_grid = make == "grid"
    solver = grid_solver(instance, shape, offsets) if is_grid else graph_solver(instance)
    bound = -np.inf
    for _ in range(20):
        solver.advance(10_000)
        instance.check_dual()
        new_bound = np.minimum(instance.s, 0).sum()
        assert new_bound >= bound - 1e-9
        bound = new_bound
    finish(solver, instance.unary.size)
    solver.advance(1)  # nothing left to do
    assert sum(solver.counts().values()) > 0


def test_warm_start_from_its_own_answer_does_nothing():
    instance, shape, offsets = long_instance(2)
    finish(grid_solver(instance, shape, offsets), instance.unary.size)
    again = grid_solver(instance, shape, offsets)
    finish(again, instance.unary.size)
    assert again.counts()["pushes"] == 0


def test_warm_start_of_a_graph_from_its_own_answer_does_nothing():
    instance, _, _ = long_instance(2)
    finish(graph_solver(instance), instance.unary.size)
    again = graph_solver(instance, warm=True)
    finish(again, instance.unary.size)
    assert sum(again.counts().values()) == 0


def test_infinite_weights_and_tiny_leftovers():
    """A chain of hard links with excess at one end and unequal powers of two at the other."""
    nodes = 60
    edges = [(np.arange(nodes - 1, dtype=np.int32), np.arange(1, nodes, dtype=np.int32))]
    hard = [np.full(nodes - 1, np.inf)]
    unary = np.concatenate([[-1.0], 0.5 ** np.arange(1, nodes)])
    instance = Instance(unary, edges, hard, hard, [np.zeros(nodes - 1)])
    smallest, largest, _ = finish(grid_solver(instance, (nodes,), [(1,)]), nodes)
    assert instance.s.min() >= -1e-15
    assert smallest.all() == smallest.any()
    assert largest.all()


def test_serpentine():
    """The only way from the excess to the deficit passes every node of the grid."""
    shape = (9, 41)
    offsets = OFFSETS[2, 4]
    along, across = (grid_edges(shape, offset) for offset in offsets)
    open_ends = np.zeros((8, 41))
    open_ends[::2, -1] = open_ends[1::2, 0] = 5
    weights = [np.full(along[0].size, 5.0), open_ends.ravel()]
    unary = np.zeros(9 * 41)
    unary[0], unary[-1] = -3, 4
    flows = [np.zeros(w.size) for w in weights]
    instance = Instance(unary, [along, across], weights, weights, flows)
    smallest, largest, _ = finish(grid_solver(instance, shape, offsets), unary.size)
    assert not smallest.any()
    assert not largest.any()
    assert np.count_nonzero(instance.flows[0]) == along[0].size


def test_no_edges():
    s = np.array([-1.0, 0.0, 2.0])
    empty, none = np.empty(0), np.empty(0, dtype=np.int32)
    solver = native.GraphFlow(none, none, empty, empty, empty, s)
    smallest, largest, _ = finish(solver, 3)
    assert smallest.tolist() == [True, False, False]
    assert largest.tolist() == [True, True, False]
    solver = native.GridFlow(np.array([3]), np.empty((0, 1), dtype=np.int64), [], [], [], s)
    assert finish(solver, 3)[0].tolist() == [True, False, False]


def grid_arguments():
    weights = [np.ones(6), np.ones(4)]
    flows = [np.zeros(6), np.zeros(4)]
    offsets = np.array([[0, 1], [1, 0]])
    return {
        "shape": np.array([2, 4]),
        "offsets": offsets,
        "backward": weights,
        "forward": weights,
        "flows": flows,
        "s": np.zeros(8),
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shape", np.array([2, 3])),
        ("shape", np.array([2, -4])),
        ("shape", np.array([1 << 40, 1 << 40])),
        ("shape", np.array([], dtype=np.int64)),
        ("offsets", np.array([[0, 1]])),
        ("offsets", np.array([[0], [1]])),
        ("offsets", np.array([[0, 1], [0, 0]])),
        ("backward", [np.ones(6)]),
        ("forward", [np.ones(6), np.ones(3)]),
        ("flows", [np.zeros(6), np.zeros(5)]),
        ("s", np.zeros(7)),
    ],
)
@pytest.mark.parametrize("kernels", [native, reference], ids=["native", "numpy"])
def test_wrong_sizes_of_grids_are_refused(name, value, kernels):
    for flow in (kernels.GridFlow, kernels.GridTreeFlow):
        flow(**grid_arguments())
        with pytest.raises(ValueError, match=r"\w"):
            flow(**(grid_arguments() | {name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tails", np.array([0, 3], dtype=np.int32)),
        ("heads", np.array([-1, 2], dtype=np.int32)),
        ("heads", np.array([1], dtype=np.int32)),
        ("backward", np.ones(3)),
        ("flow", np.zeros(3)),
    ],
)
@pytest.mark.parametrize("kernels", [native, reference], ids=["native", "numpy"])
def test_wrong_sizes_of_graphs_are_refused(name, value, kernels):
    arguments = {
        "tails": np.array([0, 1], dtype=np.int32),
        "heads": np.array([1, 2], dtype=np.int32),
        "backward": np.ones(2),
        "forward": np.ones(2),
        "flow": np.zeros(2),
        "s": np.zeros(3),
    }
    kernels.GraphFlow(**arguments)
    with pytest.raises(ValueError, match=name):
        kernels.GraphFlow(**(arguments | {name: value}))


def test_members_only_at_the_end():
    solver = native.GridFlow(**grid_arguments())
    with pytest.raises(ValueError, match="advance"):
        solver.members(np.empty(8, dtype=np.uint8))
    assert solver.advance(1000)
    with pytest.raises(ValueError, match="member"):
        solver.members(np.empty(7, dtype=np.uint8))


def changed_costs(rng, instance, solver):
    """Set the costs of a few nodes, some twice, or of all of them."""
    size = instance.unary.size
    nodes = rng.integers(0, size, rng.choice([1, 3, 2 * size])).astype(np.int32)
    costs = rng.integers(-9, 10, nodes.size).astype(float)
    instance.unary[nodes] = costs
    solver.set_costs(nodes, costs)


@pytest.mark.parametrize("kernels", [native, reference], ids=["native", "numpy"])
@given(small_grids, st.integers(0, 2**32))
@settings(max_examples=60)
def test_searches_go_on_after_changed_costs(kernels, case, seed):
    """Enumeration knows the smallest and the largest minimiser after each change."""
    shape, neighbours = case
    offsets, rng = OFFSETS[len(shape), neighbours], np.random.default_rng(seed)
    edges = [grid_edges(shape, offset) for offset in offsets]
    instance = random_instance(seed, int(np.prod(shape)), edges)
    solver = grid_solver(instance, shape, offsets, kernels=kernels)
    for _ in range(6):
        smallest, largest, _ = finish(solver, instance.unary.size)
        check_against_enumeration(instance, smallest, largest)
        instance.check_dual()
        changed_costs(rng, instance, solver)


def test_labels_do_not_grow_forever():
    """Each change deepens the forests, which are grown anew before labels are too large."""
    instance = Instance(np.array([1.0, -1.0, 1.0]), [grid_edges((3,), (1,))], *[[np.ones(2)]] * 3)
    solver = grid_solver(instance, (3,), [(1,)])
    middle = np.array([1], dtype=np.int32)
    for k in range(140_000):
        assert solver.advance(1000)
        solver.set_costs(middle, np.array([3.0 if k % 2 else -3.0]))
    assert solver.advance(1000)
    assert solver.counts()["grown"] > 0


@pytest.mark.parametrize("kernels", [native, reference], ids=["native", "numpy"])
def test_costs_that_can_not_be_set(kernels):
    solver, one = kernels.GridFlow(**grid_arguments()), np.ones(1)
    with pytest.raises(ValueError, match="advance"):
        solver.set_costs(np.zeros(1, dtype=np.int32), one)
    assert solver.advance(1000)
    for node in (-1, 8):
        with pytest.raises(ValueError, match="nodes"):
            solver.set_costs(np.array([node], dtype=np.int32), one)
    with pytest.raises(ValueError, match="costs"):
        solver.set_costs(np.zeros(2, dtype=np.int32), one)
