"""Faces of other packages: what does not fit is refused in words that name it."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.drop_in import maxflow, numpymaxflow


def grid():
    graph = maxflow.Graph[float]()
    return graph, graph.add_grid_nodes((2, 3))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda g, n: g.add_edges([0, 1], [1, 2], [1.0] * 3, 1.0), r"capacity has shape \(3,\)"),
        (lambda g, n: g.add_grid_tedges(n, np.ones(4), 0.0), r"sourcecaps has shape \(4,\)"),
        (lambda g, n: g.add_grid_edges(n, np.ones(4)), r"weights has shape \(4,\)"),
        (lambda g, n: g.add_grid_edges(n, periodic=[True] * 3), r"periodic has shape \(3,\)"),
        (lambda g, n: g.add_grid_edges(n, structure=np.full((3, 3), np.inf)), r"structure\[0, 0\]"),
        (lambda g, n: g.add_nodes(10**12), "at most 2147483647 nodes"),
    ],
)
def test_graphs_name_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call(*grid())


def test_a_graph_without_nodes_has_segments_after_a_flow():
    graph = maxflow.Graph[int]()
    assert graph.maxflow() == 0
    assert graph.get_grid_segments(np.zeros(0, int)).size == 0


@pytest.mark.parametrize("sigma", [1e200, 1e-200, np.nan])
def test_sigma_has_a_square(sigma):
    image, half = np.zeros((1, 1, 3)), np.full((2, 1, 3), 0.5)
    with pytest.raises(ValueError, match="sigma is"):
        numpymaxflow.maxflow(image, half, 1.0, sigma)


def test_colours_far_apart_do_not_join():
    image = np.array([[[0.0, 1e200, 1e200]]])
    inside = np.array([[0.2, 0.9, 0.4]])
    found = numpymaxflow.maxflow(image, np.stack([1 - inside, inside]), 9.0, 1.0)
    assert found.tolist() == [[0.0, 1.0, 1.0]]


@pytest.mark.parametrize("smoothness", [1e-320, 1e-300, 1e300])
def test_any_smoothness_is_taken(smoothness):
    learn = pytest.importorskip("submin.learn")
    samples = np.array([[0.0], [0.1], [3.0], [3.1]])
    labels = np.array([0, -1, 1, -1])
    model = learn.TotalVariationClassifier(smoothness, n_neighbors=1).fit(samples, labels)
    assert model.transduction_.shape == (4,)


def test_incidences_are_not_negative():
    learn = pytest.importorskip("submin.learn")
    model = learn.TotalVariationClassifier(structure="hypergraph")
    with pytest.raises(ValueError, match="negative"):
        model.fit(np.array([[1.0, 0.0], [-1.0, 1.0]]), np.array([0, 1]))


def test_other_kinds_of_arguments():
    assert sm.GridCut((3, 4), 1.0, periodic=np.array([True, False])).periodic == (True, False)
    with pytest.raises(TypeError, match="numbers names"):
        sm.list_groups([["beer", "tea"]])
    with pytest.raises(TypeError, match="unary is a mapping"):
        sm.Problem({"Ada": 1.0})
    with pytest.raises(TypeError):
        sm.files.read(5)


def test_another_attribute_of_a_graph_is_named():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge("a", "b", capacity=2.0)
    with pytest.raises(ValueError, match="give weight='capacity' to take another"):
        sm.Cut.from_networkx(graph)


def test_supports_have_one_axis():
    with pytest.raises(ValueError, match="ravel_multi_index"):
        sm.Function([(0, 1), (2, 3)], lambda mask: float(mask.any()))
