"""Graphs of other packages: every cut costs what their own edges say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import submin as sm

from ..problems import all_sets

nx = pytest.importorskip("networkx")

NAMES = ["d", "a", ("b", 1), 7]
KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def random_graph(kind, rng):
    graph = kind()
    graph.add_nodes_from(NAMES)
    for u, v in itertools.product(NAMES, NAMES):
        for _ in range(rng.integers(0, 3)):
            graph.add_edge(u, v, cost=int(rng.integers(0, 5)))
    return graph


def cost(edges, inside, directed):
    """Add up the edges that a set of nodes cuts."""
    return sum(w for u, v, w in edges if (u in inside and v not in inside)
               or (not directed and v in inside and u not in inside))  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_networkx(kind, seed):
    graph = random_graph(kind, np.random.default_rng(seed))
    cut = sm.Cut.from_networkx(graph, weight="cost")
    for members in all_sets(4):
        inside = sm.nodes_of(graph, members)
        assert inside == {name for name, chosen in zip(NAMES, members, strict=True) if chosen}
        edges = list(graph.edges(data="cost"))
        assert cut.evaluate(members) == cost(edges, inside, graph.is_directed())


@pytest.mark.parametrize("kind", KINDS)
def test_networkx_without_weights(kind):
    graph = random_graph(kind, np.random.default_rng(0))
    cut = sm.Cut.from_networkx(graph, weight=None)
    for members in all_sets(4):
        edges = [(u, v, 1) for u, v, _ in graph.edges(data="cost")]
        assert cut.evaluate(members) == cost(
            edges, sm.nodes_of(graph, members), graph.is_directed()
        )


def test_minimum_cuts_are_those_of_networkx():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        graph = nx.gnm_random_graph(12, 40, seed=seed, directed=True)
        for _, _, data in graph.edges(data=True):
            data["weight"] = int(rng.integers(1, 9))
        value, _ = nx.minimum_cut(graph, 0, 11, capacity="weight")
        unary = np.zeros(12)
        unary[0], unary[11] = -np.inf, np.inf
        result = sm.minimize(sm.Problem(unary, [sm.Cut.from_networkx(graph)]))
        assert result.value == value
        assert 0 in sm.nodes_of(graph, result.minimizer)


def test_lonely_nodes_and_empty_graphs():
    graph = nx.Graph()
    graph.add_nodes_from("xyz")
    cut = sm.Cut.from_networkx(graph)
    assert (cut.size, cut.shape) == (0, (3,))
    assert sm.minimize(sm.Problem([1.0, -1.0, 0.0], [cut])).value == -1.0
    assert sm.Cut.from_networkx(nx.Graph()).size == 0


def test_refusals():
    graph = nx.Graph([("a", "b"), ("b", "c")])
    with pytest.raises(ValueError, match=r"edge \('a', 'b'\) has no attribute 'weight'"):
        sm.Cut.from_networkx(graph)
    graph["a"]["b"]["weight"], graph["b"]["c"]["weight"] = 1.0, -2.0
    with pytest.raises(ValueError, match=r"edge \('b', 'c'\) has weight -2\.0"):
        sm.Cut.from_networkx(graph)
    graph["b"]["c"]["weight"] = "much"
    with pytest.raises(TypeError, match="real numbers"):
        sm.Cut.from_networkx(graph)
    with pytest.raises(TypeError, match="ndarray: give a NetworkX graph"):
        sm.Cut.from_networkx(np.eye(3))
    with pytest.raises(TypeError, match="give a graph of igraph"):
        sm.Cut.from_igraph(graph)
    with pytest.raises(ValueError, match="members has 2 entries for 3 nodes"):
        sm.nodes_of(graph, [True, False])
    with pytest.raises(TypeError, match="boolean mask"):
        sm.nodes_of(graph, [1, 0, 1])


@pytest.mark.parametrize("directed", [False, True])
def test_igraph(directed):
    igraph = pytest.importorskip("igraph")
    rng = np.random.default_rng(0)
    ends = [(int(a), int(b)) for a, b in rng.integers(0, 5, (12, 2))]
    weights = rng.integers(0, 9, 12).tolist()
    graph = igraph.Graph(5, ends, directed=directed, edge_attrs={"weight": weights})
    cut = sm.Cut.from_igraph(graph)
    for members in all_sets(5):
        edges = [(u, v, w) for (u, v), w in zip(ends, weights, strict=True)]
        assert cut.evaluate(members) == cost(edges, set(np.flatnonzero(members)), directed)
    assert sm.Cut.from_igraph(graph, weight=None).size == sum(u != v for u, v in ends)
    with pytest.raises(ValueError, match="no attribute 'length'"):
        sm.Cut.from_igraph(graph, weight="length")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["mapping", "frame"])
def test_tables(directed, kind):
    rows = {"from": ["b", "a", "b", "c"], "to": ["a", "c", "a", "c"], "cost": [1.0, 2.0, 4.0, 9.0]}
    frame = pytest.importorskip("pandas").DataFrame(rows) if kind == "frame" else rows
    cut, nodes = sm.Cut.from_pandas(frame, "from", "to", "cost", directed=directed)
    assert nodes == ["b", "a", "c"]
    edges = list(zip(*rows.values(), strict=True))
    for members in all_sets(3):
        assert cut.evaluate(members) == cost(edges, sm.nodes_of(nodes, members), directed)
    assert sm.Cut.from_pandas(frame, "from", "to", None)[0].evaluate([True, False, False]) == 2.0


def test_refused_tables():
    rows = {"source": [1, 2.0], "target": [2, float("nan")], "weight": [1, 1]}
    with pytest.raises(ValueError, match=r"frame\['target'\] names no node in row 1: it is nan"):
        sm.Cut.from_pandas(rows)
    with pytest.raises(ValueError, match="no column 'length'"):
        sm.Cut.from_pandas(rows, weight="length")
    with pytest.raises(ValueError, match=r"edge \(1, 2\) has weight -1"):
        sm.Cut.from_pandas({"source": [1], "target": [2], "weight": [-1]})
