"""What docs/recipes.md says of PyMaxflow, beside PyMaxflow: the same minimum, the same segments."""

import numpy as np
import pytest

import submin as sm

maxflow = pytest.importorskip("maxflow")

SHAPE = (12, 17)
RIGHT = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]])
LOWER_LEFT = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]])
HALF_OF_EIGHT = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]])


@pytest.fixture(params=range(5))
def rng(request):
    return np.random.default_rng(request.param)


def capacities(rng, shape=SHAPE):
    """Integers, so that there are several minimum cuts and every sum is exact."""
    return rng.integers(0, 20, shape).astype(float)


def assert_same(edges, terms, rng):
    """Compare a grid whose edges `edges(graph, nodes)` adds with a sum of terms."""
    graph = maxflow.Graph[float]()
    nodes = graph.add_grid_nodes(SHAPE)
    edges(graph, nodes)
    source, sink = capacities(rng), capacities(rng)
    graph.add_grid_tedges(nodes, source, sink)
    flow = graph.maxflow()
    result = sm.minimize(sm.Problem.from_costs(cost_in=source, cost_out=sink, terms=terms))
    segments = graph.get_grid_segments(nodes)
    assert result.value == flow
    assert 0 < segments.sum() < segments.size
    assert np.array_equal(result.minimizer, segments)


def test_one_weight(rng):
    assert_same(
        lambda graph, nodes: graph.add_grid_edges(nodes, 3.0), [sm.GridCut(SHAPE, 3.0)], rng
    )


def test_eight_neighbours(rng):
    assert_same(
        lambda graph, nodes: graph.add_grid_edges(
            nodes, 2.0, structure=HALF_OF_EIGHT, symmetric=True
        ),
        [sm.GridCut(SHAPE, 2.0, connectivity=8)],
        rng,
    )


def test_weights_of_single_offsets(rng):
    """A weight at the centre of the structure is the weight at the tail of the edge."""
    right, diagonal = capacities(rng), capacities(rng)

    def edges(graph, nodes):
        graph.add_grid_edges(nodes, right, structure=RIGHT, symmetric=True)
        graph.add_grid_edges(nodes, diagonal, structure=LOWER_LEFT, symmetric=True)

    grid = sm.GridCut(SHAPE, 0.0, connectivity=8)
    assert grid.offsets[:2] == [(0, 1), (1, -1)]
    weights = [right[grid.ends(0)[0]], diagonal[grid.ends(1)[0]], 0.0, 0.0]
    assert_same(edges, [sm.GridCut(SHAPE, weights, connectivity=8)], rng)


def test_arcs_of_a_graph(rng):
    """S is the sink side: an arc with its tail on the source side enters S."""
    pixels = np.arange(SHAPE[0] * SHAPE[1], dtype=np.int32)
    tails = rng.permutation(np.repeat(pixels, 2))
    heads = (tails + rng.integers(1, pixels.size, tails.size)) % pixels.size
    forth, back = capacities(rng, tails.shape) // 4, capacities(rng, tails.shape) // 4

    def edges(graph, nodes):
        for tail, head, capacity, reverse in zip(tails, heads, forth, back, strict=True):
            graph.add_edge(tail, head, capacity, reverse)

    assert_same(edges, [sm.Cut(tails, heads, weights=back, reverse_weights=forth)], rng)
