"""``submin.drop_in.maxflow`` beside PyMaxflow: the same calls, values and segments."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from submin.drop_in import maxflow as ours

theirs = pytest.importorskip("maxflow")


def both(build, number=float):
    """Make the same graph with both packages, and compare what they say of it."""
    answers = []
    for package in (theirs, ours):
        graph = package.Graph[number]()
        nodes = build(graph, np.random.default_rng(0))
        value = graph.maxflow()
        answers.append((value, graph.get_grid_segments(nodes), type(value)))
        flat = [graph.get_segment(int(node)) for node in nodes.ravel()]
        assert np.array_equal(flat, graph.get_grid_segments(nodes).ravel())
        counts = graph.get_node_count(), graph.get_edge_count()
        assert counts == (graph.get_node_num(), graph.get_edge_num())
        answers[-1] += (counts,)
    assert answers[0][0] == answers[1][0]
    assert np.array_equal(answers[0][1], answers[1][1])
    assert answers[0][2:] == answers[1][2:]
    return answers[1]


@pytest.mark.parametrize("number", [int, float])
@pytest.mark.parametrize("seed", range(10))
def test_general_graphs(number, seed):
    def build(graph, _):
        rng = np.random.default_rng(seed)
        nodes = graph.add_nodes(8)
        more = graph.add_nodes(2)
        for node in range(10):
            graph.add_tedge(node, *rng.integers(-3, 9, 2).tolist())
        for _ in range(15):
            i, j = rng.choice(10, 2, replace=False).tolist()
            graph.add_edge(i, j, *rng.integers(0, 6, 2).tolist())
        ends = np.array([rng.choice(10, 2, replace=False) for _ in range(7)])
        graph.add_edges(ends[:, 0], ends[:, 1], *rng.integers(0, 6, (2, 7)))
        return np.concatenate([nodes, more])

    both(build, number)


STRUCTURES = {
    "default": None,
    "eight": np.array([[1, 2, 1], [2, 0, 2], [1, 2, 1]]),
    "half": np.array([[0, 0, 0], [0, 0, 3], [1, 2, 1]]),
    "knight": np.array([[0, 1, 0, 0, 0], [0] * 5, [0, 0, 0, 0, 2], [0] * 5, [1, 0, 0, 0, 0]]),
}


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("periodic", [False, True, [False, True]])
@pytest.mark.parametrize("weights", ["one", "each", "row"])
def test_grids(structure, symmetric, periodic, weights):
    def build(graph, rng):
        nodes = graph.add_grid_nodes((6, 7))
        factors = {"one": 2, "each": rng.integers(0, 4, (6, 7)), "row": rng.integers(0, 4, 7)}
        graph.add_grid_edges(
            nodes, factors[weights], structure=STRUCTURES[structure], symmetric=symmetric,
            periodic=periodic,
        )  # fmt: skip
        graph.add_grid_tedges(nodes, *rng.integers(0, 90, (2, 6, 7)))
        return nodes

    segments = both(build)[1]
    assert segments.any()


def test_a_volume_and_a_line():
    def volume(graph, rng):
        nodes = graph.add_grid_nodes((3, 4, 5))
        graph.add_grid_edges(nodes, 1.5, symmetric=True)
        graph.add_grid_tedges(nodes, *rng.integers(0, 9, (2, 3, 4, 5)))
        return nodes

    def line(graph, rng):
        nodes = graph.add_grid_nodes(9)
        graph.add_grid_edges(nodes, rng.integers(0, 5, 9), structure=[0, 0, 1])
        graph.add_grid_tedges(nodes, *rng.integers(0, 9, (2, 9)))
        return nodes

    both(volume)
    both(line)


def test_edges_after_a_flow():
    def build(graph, _):
        nodes = graph.add_nodes(3)
        graph.add_tedge(0, 5, 1)
        graph.add_edge(0, 1, 2, 0)
        graph.add_tedge(1, 0, 4)
        graph.maxflow()
        graph.add_edge(0, 2, 3, 0)
        graph.add_tedge(2, 0, 4)
        graph.add_tedge(2, 1, 0)
        return nodes

    assert both(build)[0] == 6


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_structures(dimensions):
    for directed in (False, True):
        expected = theirs.vonNeumann_structure(ndim=dimensions, directed=directed)
        assert np.array_equal(ours.vonNeumann_structure(dimensions, directed), expected)
    moore = ours.moore_structure(ndim=dimensions)
    around = theirs.moore_structure(ndim=dimensions)
    around[(1,) * dimensions] = 0  # a loop, which no cut counts
    assert np.array_equal(moore, around)
    half = ours.moore_structure(ndim=dimensions, directed=True)
    assert np.array_equal(half + np.flip(half), moore)


def test_copies_and_resets():
    graph = ours.Graph[float](10, 20)
    graph.add_nodes(2)
    graph.add_tedge(0, 3, 0)
    other = graph.copy()
    other.add_tedge(0, 0, 2)
    assert (graph.maxflow(), other.maxflow()) == (0.0, 2.0)
    graph.reset()
    assert (graph.get_node_count(), graph.maxflow()) == (0, 0.0)


def test_refusals():
    graph = ours.Graph[int]()
    nodes = graph.add_grid_nodes((2, 2))
    with pytest.raises(ValueError, match="before maxflow"):
        graph.get_grid_segments(nodes)
    with pytest.raises(ValueError, match=r"i\[0\] is 4: there are 4 nodes"):
        graph.add_edge(4, 0, 1, 1)
    with pytest.raises(ValueError, match=r"rcapacity\[0\] is -1\.0: a capacity is 0 or more"):
        graph.add_edge(1, 0, 1, -1)
    with pytest.raises(ValueError, match=r"Graph\[int\] has whole numbers"):
        graph.add_edge(1, 0, 0.5, 1)
    with pytest.raises(ValueError, match="2 axes of odd length"):
        graph.add_grid_edges(nodes, structure=np.ones((2, 2)))


def test_every_method_is_there():
    missing = {"get_nx_graph", "_add_edges"}
    names = {name for name in dir(theirs.GraphFloat) if not name.startswith("__")} - missing
    assert names <= set(dir(ours.GraphFloat))
    assert [*inspect.signature(ours.GraphFloat.add_grid_edges).parameters][1:] == [
        "nodeids", "weights", "structure", "symmetric", "periodic",
    ]  # fmt: skip
