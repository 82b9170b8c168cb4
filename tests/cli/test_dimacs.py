"""DIMACS max-flow files: known values, and SciPy on random networks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import maximum_flow

import submin as sm
from submin.dimacs import read_dimacs


def text(nodes, source, sink, arcs):
    lines = [f"p max {nodes} {len(arcs)}", f"n {source} s", f"n {sink} t"]
    return "\n".join(lines + [f"a {tail} {head} {capacity}" for tail, head, capacity in arcs])


@pytest.fixture
def read(tmp_path):
    def call(content):
        path = tmp_path / "network.max"
        path.write_text(content)
        return read_dimacs(path)

    return call


def test_reverse_arcs_count(read):
    arcs = [(1, 2, 2), (1, 3, 2), (2, 4, 4), (2, 5, 4), (3, 5, 4), (3, 6, 4), (4, 7, 1), (5, 7, 1),
            (6, 7, 1)]  # fmt: skip
    result = sm.minimize(read(text(7, 1, 7, arcs)))
    assert result.value == 3.0
    assert result.minimizer.tolist() == [True] * 6 + [False]


def test_float_capacities(read):
    arcs = [(1, 2, 2), (1, 3, 2), (2, 3, 1), (3, 2, 0.1), (2, 4, 2), (2, 5, 1), (3, 5, 1),
            (4, 5, 2)]  # fmt: skip
    result = sm.minimize(read(text(5, 1, 5, arcs)))
    assert result.value == pytest.approx(3.1, abs=1e-12)
    assert result.minimizer.tolist() == [True, False, True, False, False]


def test_arcs_that_no_cut_counts(read):
    arcs = [(1, 1, 7), (2, 1, 7), (3, 2, 7), (1, 3, 2), (1, 2, 1), (1, 2, 1), (2, 3, 5)]
    assert sm.minimize(read(text(3, 1, 3, arcs))).value == 4.0


def test_comments_and_blank_lines(read):
    assert sm.minimize(read("c a comment\n\n" + text(2, 1, 2, [(1, 2, 3)]))).value == 3.0


@given(
    nodes=st.integers(2, 7),
    data=st.data(),
)
def test_same_value_as_scipy(nodes, data):
    node = st.integers(1, nodes)
    arcs = data.draw(st.lists(st.tuples(node, node, st.integers(0, 9)), max_size=20))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.max")
        path.write_text(text(nodes, 1, nodes, arcs))
        problem = read_dimacs(path)
    matrix = np.zeros((nodes, nodes), dtype=np.int32)
    for tail, head, capacity in arcs:
        matrix[tail - 1, head - 1] += capacity * (tail != head)
    flow = maximum_flow(scipy.sparse.csr_array(matrix), 0, nodes - 1).flow_value
    assert sm.minimize(problem).value == flow


def test_a_published_network(data_folder):
    path = data_folder / "maxflow" / "igraph_ak-4102.max"
    problem = read_dimacs(path)
    arcs = np.array(
        [line.split()[1:] for line in path.read_text().splitlines() if line.startswith("a")], int
    )
    shape = (problem.n, problem.n)
    matrix = scipy.sparse.coo_array((arcs[:, 2], (arcs[:, 0] - 1, arcs[:, 1] - 1)), shape)
    flow = maximum_flow(matrix.tocsr().astype(np.int32), 0, 1)
    assert flow.flow_value == 8207
    rest = matrix.tocsr() - flow.flow
    rest.data = np.where(rest.data > 0, 1, 0)
    rest.eliminate_zeros()
    reached = scipy.sparse.csgraph.breadth_first_order(rest, 0, return_predecessors=False)
    members = np.zeros(problem.n, dtype=bool)
    members[reached] = True
    assert problem.evaluate(members) == 8207
    result = sm.minimize(problem, max_passes=2)
    assert result.lower_bound <= 8207 <= result.value


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("n 1 s\n", "line 1.*number of nodes, 0"),
        ("p max 3 1\nn 1 s\n", "sink"),
        ("p max 3 1\nn 3 t\n", "source"),
        ("p max 3 1\na 1 2 -4\n", "line 2.*-4"),
        ("p max 3 1\na 1 2 nan\n", "line 2.*nan"),
        ("p max 3 1\na 1 2\n", "line 2.*'a 1 2' is not a line"),
        ("p max 3 1\na 0 2 4\n", "line 2: node 0"),
        ("p max 3 1\na x 2 4\n", "line 2"),
        ("p min 3 1\n", "line 1"),
        ("\x00\x01binary", "line 1"),
    ],
)
def test_refusals(read, content, words):
    with pytest.raises(ValueError, match=words):
        read(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("p max 4 5\nn 1 s\nn 4 t\na 1 2 3\n", "announces 5 arcs and has 1"),
        ("p max 4 1\nn 1 s\nn 1 t\na 1 2 3\n", "node 1 for source and sink"),
        ("p max 4 1\nn 1 s\nn 2 s\nn 4 t\na 1 2 3\n", "line 3"),
        ("p max 99999999999 1\nn 1 s\nn 4 t\na 1 2 3\n", "99999999999 nodes are more than"),
        ("p max 4 1\nn 1 s\nn 4 t\na 1 4 99999999999999999999\n", "would be rounded"),
    ],
)
def test_files_that_contradict_themselves_are_refused(read, content, message):
    with pytest.raises(ValueError, match=message):
        read(content)
