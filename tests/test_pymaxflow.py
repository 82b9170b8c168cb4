"""What docs/recipes.md says of PyMaxflow, beside PyMaxflow: the same minimum, the same segments."""

import numpy as np
import pytest

import submin as sm

maxflow = pytest.importorskip("maxflow")

SHAPE = (12, 17)
RIGHT = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]])
LOWER_LEFT = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]])
OPPOSITE = [
    np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0]]),
    np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]]),
    np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]),
    np.array([[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
]
"""Left, upper right, up, upper left: the other ends of the four offsets of a grid."""
HALF_OF_EIGHT = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]])
ALL_EIGHT = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])


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


@pytest.mark.parametrize("k", range(4))
def test_a_weight_of_the_opposite_direction_is_at_the_head(k, rng):
    grid = sm.GridCut(SHAPE, 0.0, connectivity=8)
    structure = OPPOSITE[k]
    array = capacities(rng)
    weights = [0.0] * 4
    weights[k] = array[grid.ends(k)[1]]
    assert_same(
        lambda graph, nodes: graph.add_grid_edges(
            nodes, array, structure=structure, symmetric=True
        ),
        [sm.GridCut(SHAPE, weights, connectivity=8)],
        rng,
    )


@pytest.mark.parametrize(("k", "structure"), [(0, RIGHT), (1, LOWER_LEFT)])
def test_arcs_of_one_direction(k, structure, rng):
    array = capacities(rng)
    reverse = [0.0] * 4
    reverse[k] = array[sm.GridCut(SHAPE, 0.0, connectivity=8).ends(k)[0]]
    assert_same(
        lambda graph, nodes: graph.add_grid_edges(nodes, array, structure=structure),
        [sm.GridCut(SHAPE, 0.0, connectivity=8, reverse_weights=reverse)],
        rng,
    )


@pytest.mark.parametrize(("structure", "connectivity"), [(None, 4), (ALL_EIGHT, 8)])
def test_an_array_of_weights_of_both_directions(structure, connectivity, rng):
    """The default, ``symmetric=False``: an arc has the weight of the pixel that it leaves."""
    array = capacities(rng) // 4
    grid = sm.GridCut(SHAPE, 0.0, connectivity)
    ends = [grid.ends(k) for k in range(len(grid.offsets))]
    weights = [array[head] for _, head in ends]
    reverse = [array[tail] for tail, _ in ends]
    assert_same(
        lambda graph, nodes: graph.add_grid_edges(nodes, array, structure=structure),
        [sm.GridCut(SHAPE, weights, connectivity, reverse_weights=reverse)],
        rng,
    )


def test_contrast_weights_of_eight_neighbours(rng):
    """The full example: PyMaxflow's arrays are as large as the picture, submin's as the edges."""
    image = rng.random(SHAPE)
    grid = sm.GridCut(SHAPE, 0.0, connectivity=8)
    ends = [grid.ends(k) for k in range(4)]
    weights = [np.rint(5.0 * np.exp(-5.0 * (image[t] - image[h]) ** 2)) for t, h in ends]
    full = [np.full(SHAPE, 99.0) for _ in ends]
    for array, weight, (tails, _) in zip(full, weights, ends, strict=True):
        array[tails] = weight

    def edges(graph, nodes):
        for array, entry in zip(full, [(1, 2), (2, 0), (2, 1), (2, 2)], strict=True):
            structure = np.zeros((3, 3))
            structure[entry] = 1
            graph.add_grid_edges(nodes, array, structure=structure, symmetric=True)

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
