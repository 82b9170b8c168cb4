"""Linear forests: native against twin, and what the lists of edges must be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import reference
from submin.terms.blocks.linear_forests import linear_forests

native = pytest.importorskip("submin.kernels.native")

edge_lists = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda edge: edge[0] != edge[1]),
    max_size=40,
)


def split(kernels, tails, heads):
    forest, edge = np.full((2, tails.size), -1, dtype=np.int32)
    orientation, first = np.zeros(tails.size, dtype=np.int8), np.full(tails.size, 7, dtype=np.uint8)
    kernels.linear_forests(tails, heads, forest, edge, orientation, first)
    return forest, edge, orientation, first


def ends_of(edges):
    return np.array(edges, dtype=np.int32).reshape(-1, 2).T.copy()


@given(edge_lists)
def test_native_against_twin(edges):
    tails, heads = ends_of(edges)
    for one, two in zip(split(native, tails, heads), split(reference, tails, heads), strict=True):
        np.testing.assert_array_equal(one, two)


def assert_paths(tails, heads, forests):
    """Each edge is once in a path, in its place, and no forest has a node twice."""
    together = np.concatenate([np.zeros(0, dtype=np.int32), *(paths.edges for paths in forests)])
    assert np.array_equal(np.sort(together), np.arange(tails.size))
    for indptr, nodes, edges, orientation in forests:
        assert np.unique(nodes).size == nodes.size
        assert indptr[0] == 0
        assert indptr[-1] == nodes.size == edges.size + indptr.size - 1
        assert np.all(np.diff(indptr) >= 2)
        for k in range(indptr.size - 1):
            for step, node in enumerate(nodes[indptr[k] : indptr[k + 1] - 1]):
                at = indptr[k] - k + step
                ends = [tails[edges[at]], heads[edges[at]]]
                assert ends[:: orientation[at]] == [node, nodes[indptr[k] + step + 1]]


@given(edge_lists)
def test_the_parts_are_linear_forests(edges):
    tails, heads = ends_of(edges)
    forests = linear_forests(tails, heads)
    assert_paths(tails, heads, forests)
    for k, paths in enumerate(forests[1:], 1):
        for edge in paths.edges:
            for earlier in forests[:k]:
                assert not extended(tails, heads, [*earlier.edges, edge])


def extended(tails, heads, edges):
    """Say whether edges form a linear forest: few per node, and fewer than nodes in every part."""
    parts: list[set[int]] = []
    for edge in edges:
        ends = {int(tails[edge]), int(heads[edge])}
        touched = [part for part in parts if part & ends]
        if any(ends <= part for part in touched):
            return False
        parts = [part for part in parts if not part & ends] + [ends.union(*touched)]
    degrees = np.bincount(np.concatenate([tails[edges], heads[edges]]))
    return bool(degrees.max() <= 2)


@pytest.mark.parametrize("leaves", [1, 2, 7, 30_000])
def test_a_star_needs_half_as_many_forests_as_leaves(leaves):
    tails, heads = np.zeros(leaves, np.int32), np.arange(1, leaves + 1, dtype=np.int32)
    assert len(linear_forests(tails, heads)) == (leaves + 1) // 2


def test_parallel_edges_need_a_forest_each():
    assert len(linear_forests(*ends_of([(0, 1), (1, 0), (0, 1)]))) == 3


def test_a_grid_is_two_forests_of_long_paths():
    from submin import GridCut

    tails, heads = GridCut((20, 30), 1.0).edge_list()
    forests = linear_forests(tails, heads)
    assert_paths(tails, heads, forests)
    assert forests[0].indptr.size - 1 <= 20
    assert len(forests) <= 3


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (-1, r"tails\[0\] = -1 is outside of 0, ..., 2147483646"),
        (1, r"heads\[0\] = 1 is the edge's tail: an edge needs two different ends"),
        (2**31 - 1, r"tails\[0\] = 2147483647 is outside of 0, ..., 2147483646"),
    ],
)
def test_ends_that_are_refused(tail, message):
    arrays = [np.zeros(1, dtype=kind) for kind in ("i4", "i4", "i1", "u1")]
    ends = np.array([tail], dtype=np.int32), np.ones(1, dtype=np.int32)
    with pytest.raises(ValueError, match=message):
        native.linear_forests(*ends, *arrays)
