"""Formats of files: known values, round trips, and refusals that name file and line."""

from __future__ import annotations

import gzip
import itertools
import math
import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import submin as sm
from submin.files import Graph, format_of, read, read_matlab, read_sparse, read_uai, write

from ..problems import all_sets

HYPERGRAPH = "% comment\n3 4 11\n\n2 1 2\n7 1 3 4\n% more\n0.5 2 3\n\n5\n6\n0\n8.5\n"
GRAPH = "% c\n4 3 011\n1 2 5 3 1.5\n2 1 5\n3 1 1.5 4 2\n9 3 2\n"
FIELD = "MARKOV\n3\n2 2 2\n4\n1 0\n2 0 1\n2 2 1\n0\n\n2 0.2 0.8\n4 1 .5 .25 1\n4\n 3 1\n 1 3\n1 2\n"
NETWORK = "p max 4 5\nn 1 s\nn 4 t\na 1 2 3\na 2 3 2\na 3 4 9\na 1 3 1\na 2 4 1\n"
TEXTS = {"hmetis": HYPERGRAPH, "metis": GRAPH, "uai": FIELD, "dimacs": NETWORK}


@pytest.fixture
def file(tmp_path):
    def call(content, name="some.file"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return call


def same(a: sm.Problem | Graph, b: sm.Problem | Graph) -> bool:
    """Whether two files say the same, in the same order."""
    if isinstance(a, Graph):
        weights = [None if g.node_weights is None else g.node_weights.tolist() for g in (a, b)]
        if a.nodes != b.nodes or weights[0] != weights[1]:
            return False
        pairs = [(a.term, b.term)]
    else:
        if a.unary.tolist() != b.unary.tolist() or len(a.terms) != len(b.terms):
            return False
        pairs = list(zip(a.terms, b.terms, strict=True))
    return all(
        type(s) is type(t)
        and all(np.array_equal(array, t.arrays()[name]) for name, array in s.arrays().items())
        for s, t in pairs
    )


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("name", ["a.npz", "a", "a.max", "a.gz"])
def test_the_content_tells_the_format(file, form, name):
    expected = read(file(TEXTS[form]), form)
    for content in (TEXTS[form].encode(), gzip.compress(TEXTS[form].encode())):
        for begin in (b"", b"\xef\xbb\xbf"):
            if begin and content.startswith(b"\x1f"):
                continue
            path = file(begin + content, name)
            assert format_of(path) == form
            assert same(read(path), expected)
    assert same(read(file(TEXTS[form].replace("\n", "\r\n"))), expected)


def test_hypergraph(file):
    graph = read(file(HYPERGRAPH))
    assert graph.nodes == 4
    assert graph.term.pointers.tolist() == [0, 2, 5, 7]
    assert graph.term.members.tolist() == [0, 1, 0, 2, 3, 1, 2]
    assert graph.term.weights.tolist() == [2, 7, 0.5]
    assert graph.node_weights.tolist() == [5, 6, 0, 8.5]
    bare = read(file("2 5\n1 2\n5 3\n"))
    assert (bare.nodes, bare.node_weights, bare.term.weights.tolist()) == (5, None, [1, 1])


def test_graph(file):
    graph = read(file(GRAPH))
    assert (graph.nodes, graph.node_weights.tolist()) == (4, [1, 2, 3, 9])
    assert graph.term.tails.tolist() == [0, 0, 2]
    assert graph.term.heads.tolist() == [1, 2, 3]
    assert graph.term.forward.tolist() == [5, 1.5, 2]


def test_a_graph_with_a_lonely_node(file):
    graph = read(file("3 1\n3\n\n1\n"))
    assert (graph.nodes, graph.term.tails.tolist(), graph.term.heads.tolist()) == (3, [0], [2])
    sizes = read(file("3 1 111 2\n7 1 5 3 4\n7 2 6\n7 3 6 1 4\n"), "metis")
    assert sizes.node_weights.tolist() == [1, 2, 3]
    assert sizes.term.forward.tolist() == [4]


def test_a_triangle_is_a_graph_and_a_hypergraph(file):
    triangle = file("3 3\n2 3\n1 3\n1 2\n")
    with pytest.raises(ValueError, match="may be a hypergraph of hMETIS and a graph of METIS"):
        read(triangle)
    graphs = read(triangle, "metis"), read(triangle, "hmetis")
    for members in all_sets(3):
        assert graphs[0].term.evaluate(members) == graphs[1].term.evaluate(members)


@pytest.mark.parametrize("name", ["zoo", "mushroom"])
def test_published_hypergraphs(data_folder, name):
    path = data_folder / "hypergraph" / f"{name}.hmetis"
    graph = read(path)
    lines = path.read_text().splitlines()
    edges, nodes = map(int, lines[0].split()[:2])
    assert (graph.nodes, graph.term.weights.size) == (nodes, edges)
    lists = [[int(word) - 1 for word in line.split()] for line in lines[1 : 1 + edges]]
    pointers, members = sm.list_groups(lists)
    assert np.array_equal(graph.term.pointers, pointers)
    assert np.array_equal(graph.term.members, members)
    assert graph.node_weights.tolist() == [float(line) for line in lines[1 + edges :]]


def potential(tables, members) -> float:
    """The product of the potentials of an assignment, from tables by scope."""
    return math.prod(table[tuple(int(members[k]) for k in scope)] for scope, table in tables)


@given(n=st.integers(1, 4), data=st.data())
def test_every_assignment_has_the_cost_of_its_potential(n, data):
    """Zeros anywhere: what is read has the same domain and the same values, or is refused."""
    values = st.sampled_from(["0", "1", "2", "0.25", "3e-5", ".5", "1e10"])
    pairs = list(itertools.permutations(range(n), 2))
    scope = st.one_of(
        st.just(()), st.tuples(st.integers(0, n - 1)), *[st.sampled_from(pairs)] * 2 * (n > 1)
    )
    scopes = data.draw(st.lists(scope, max_size=6))
    words = [
        data.draw(st.lists(values, min_size=2 ** len(s), max_size=2 ** len(s))) for s in scopes
    ]
    tables = [
        (scope, np.array([float(word) for word in table]).reshape((2,) * len(scope)))
        for scope, table in zip(scopes, words, strict=True)
    ]
    text = f"MARKOV {n} {'2 ' * n} {len(scopes)}\n"
    text += "\n".join(" ".join(map(str, (len(scope), *scope))) for scope in scopes)
    text += "\n" + "\n".join(f"{len(table)} {' '.join(table)}" for table in words)
    bad = [
        len(scope) == 2 and table[0, 0] * table[1, 1] < table[0, 1] * table[1, 0]
        for scope, table in tables
    ]
    sums = [potential(tables, members) for members in all_sets(n)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_text(text)
        empty = any(not table.any() for _, table in tables)
        if any(bad) or empty or not any(sums):
            number = f"factor {bad.index(True)} is not" if any(bad) and not empty else ""
            with pytest.raises(ValueError, match=f"^{path}.*{number}"):
                read_uai(path)
            return
        problem = read_uai(path)
    for members, product in zip(all_sets(n), sums, strict=True):
        cost = problem.evaluate(members)
        assert (cost == np.inf) == (product == 0.0)
        if product:
            assert cost == pytest.approx(-math.log(product), rel=1e-9, abs=1e-9)


def test_products_that_are_equal_as_decimals_are_modular(file):
    head = "MARKOV 2 2 2 1 2 0 1 4 "
    assert float("0.7") * float("0.1") < float("0.07")
    read(file(head + "0.7 0.07 1 0.1"))
    with pytest.raises(ValueError, match="line 1: factor 0 is not submodular"):
        read(file(head + "0.7 0.0700000000000000001 1 0.1"))
    with pytest.raises(ValueError, match="not submodular"):
        read(file(head + "1e-200 1e-200 1e-199 1e-200"))
    read(file(head + "1e-200 1e-199 1e-200 1e-199"))


FINITE = st.one_of(st.integers(0, 9).map(float), st.floats(0, 1e6))


@st.composite
def cut_problems(draw):
    n = draw(st.integers(2, 5))
    pairs = list(itertools.combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), max_size=6))
    weights = [[draw(FINITE) for _ in edges] for _ in range(2)]
    unary = draw(
        st.lists(
            st.one_of(FINITE, FINITE.map(lambda u: -u), st.sampled_from([np.inf, -np.inf])),
            min_size=n, max_size=n,
        )
    )  # fmt: skip
    tails, heads = [a for a, _ in edges], [b for _, b in edges]
    terms = [sm.Cut(tails, heads, *weights)] if edges else []
    return sm.Problem(unary, terms, draw(st.integers(-5, 5)))


@given(problem=cut_problems())
def test_dimacs_round_trips_keep_the_least_value(problem):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.max")
        write(path, problem)
        again = read(path)
        first = path.read_text().split("\n")[0]
    shift = float("".join(first.split()[-2:])) if first.startswith("c") else 0.0
    flow = min(again.evaluate(members) for members in all_sets(again.n))
    least = min(problem.evaluate(members) for members in all_sets(problem.n))
    assert flow + shift == pytest.approx(least, rel=1e-12, abs=1e-6)


def test_a_dimacs_file_is_written_as_it_was_read(file, tmp_path):
    problem = read(file(NETWORK))
    write(tmp_path / "again.max", problem)
    assert same(read(tmp_path / "again.max"), problem)
    assert "c value" not in (tmp_path / "again.max").read_text()


@given(problem=cut_problems())
def test_uai_round_trips_keep_the_costs(problem):
    small = sm.Problem(
        np.clip(problem.unary, -9, 9), [
            sm.Cut(t.tails, t.heads, np.minimum(t.forward, 9), np.minimum(t.backward, 9))
            for t in problem.terms
        ],
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.uai")
        write(path, small)
        again = read(path)
    nothing = np.zeros(small.n, dtype=bool)
    for members in all_sets(small.n):
        cost = small.evaluate(members) - small.evaluate(nothing)
        read_cost = again.evaluate(members) - again.evaluate(nothing)
        assert read_cost == pytest.approx(cost, abs=1e-9)


@given(data=st.data(), n=st.integers(1, 6))
def test_hypergraph_round_trips(data, n):
    groups = data.draw(
        st.lists(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True), max_size=5)
    )
    weights = [data.draw(FINITE) for _ in groups]
    sizes = data.draw(st.one_of(st.none(), st.lists(FINITE, min_size=n, max_size=n)))
    graph = Graph(
        sm.Hyperedge(*sm.list_groups(groups), weights),
        n,
        None if sizes is None else np.array(sizes),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.hgr")
        write(path, graph)
        assert same(read(path, "hmetis"), graph)


@given(data=st.data(), n=st.integers(2, 6))
def test_graph_round_trips(data, n):
    pairs = list(itertools.combinations(range(n), 2))
    edges = sorted(data.draw(st.lists(st.sampled_from(pairs), unique=True)))
    weights = [data.draw(FINITE) for _ in edges]
    sizes = data.draw(st.one_of(st.none(), st.lists(FINITE, min_size=n, max_size=n)))
    term = sm.Cut([a for a, _ in edges], [b for _, b in edges], weights)
    graph = Graph(term, n, None if sizes is None else np.array(sizes))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.graph")
        write(path, graph)
        assert same(read(path, "metis"), graph)


def test_arrays_and_sparse_matrices(tmp_path):
    matrix = scipy.sparse.random_array((6, 6), density=0.5, rng=np.random.default_rng(0))
    scipy.sparse.save_npz(tmp_path / "matrix.npz", matrix)
    assert format_of(tmp_path / "matrix.npz") == "sparse"
    assert same(read(tmp_path / "matrix.npz"), Graph(sm.Cut.from_sparse(matrix), 6))
    edges = {"tails": [0, 1], "heads": [1, 2], "weights": [1.5, 2.0]}
    np.savez(tmp_path / "graph.npz", **edges)
    assert same(read(tmp_path / "graph.npz"), Graph(sm.Cut([0, 1], [1, 2], [1.5, 2.0]), 3))
    np.savez(tmp_path / "x", **edges, reverse_weights=[0.0, 1.0], unary=[1.0, -2.0, 0], constant=3)
    problem = read(tmp_path / "x.npz")
    assert problem.evaluate([True, False, False]) == 3 + 1 + 1.5
    assert problem.evaluate([False, True, False]) == 3 - 2 + 0.0 + 2.0
    np.savez(tmp_path / "y", **edges, colour=1)
    with pytest.raises(ValueError, match=r"y\.npz can not be read: it has the arrays colour"):
        read(tmp_path / "y.npz")
    saved = sm.Problem([1.0, -1.0], [sm.GridCut(2, 1.0)])
    write(tmp_path / "z.npz", saved)
    assert same(read(tmp_path / "z.npz"), saved)


def test_a_published_instance(data_folder):
    folder = data_folder / "coopcut"
    problem = read_matlab(
        folder / "001_oct_wts.mat", folder / "001_oct_p500.mat", cut=0.01, consistency=0.008
    )
    assert sm.minimize(problem).value == pytest.approx(-4644857.732315713, rel=1e-12)
    assert format_of(folder / "001_oct_wts.mat") == "matlab"
    assert read(folder / "001_oct_wts.mat").shape == (427, 640)
    with pytest.raises(ValueError, match=r"p500\.mat can not be read: it lacks W1, W2, unary"):
        read(folder / "001_oct_p500.mat")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("2 3\n1 2\n", "line 2: the header announces 2 hyperedges, so 2 lines, and there are 1"),
        ("1 3\n1 4\n", "line 2: 4 is not a node between 1 and 3"),
        ("1 3\n\n\n0 1\n", "line 4: 0 is not a node"),
        ("1 3\n1 2.5\n", "line 2: 2.5 is not a node"),
        ("1 3\n1 x\n", "line 2: 'x' is no decimal number"),
        ("1 3\n1 nan\n", "line 2: 'nan' is no decimal number"),
        ("1 3 1\n1e400 1\n", "line 2: '1e400' is no decimal number, or too large"),
        ("1 3 1\n9007199254740993 1\n", "line 2: '9007199254740993' is no"),
        ("1 3 1\n-1 1 2\n", r"line 2: -1\.0 is no weight"),
        ("1 3\n1 2 1\n", "line 2: node 1 is twice in the hyperedge"),
        ("1 3 5\n1 2\n", "line 1: the format is 5, and hMETIS has 0, 1, 10, 11"),
        ("1\n1 2\n", "line 1: a header has 2 to 3 whole numbers"),
        ("", "is not a submin file, nor one of DIMACS"),
        ("%\n", "no line with its numbers"),
        ("1 2 10\n1 2\n3 4\n1\n", "line 3: the weight of a node is one number, and here are 2"),
        ("1 1 10\n1\n-3\n", r"line 3: -3\.0 is no weight of a node"),
        ("1 99999999999\n1\n", "line 1: 99999999999 nodes are more than 2147483647"),
        ("1 2000000000\n1\n", "line 1: 2000000000 nodes are far more than"),
        ("1 1 1\n1e308 1\n", "the weights sum to 1e150 or more"),
    ],
)
def test_refused_hypergraphs(file, content, words):
    with pytest.raises(ValueError, match=rf"some\.file.*{words}"):
        read(file(content))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("2 1\n2\n", "line 2: the header announces 2 nodes, so as many lines, and there are 1"),
        ("2 1\n2\n1\n1\n", "line 4: the header announces 2 nodes, so as many lines, .* are 3"),
        ("2 1\n2\n\n", "line 2: node 2 is a neighbour here, but its line lacks node 1"),
        ("2 1\n\n1\n", "line 3: node 1 is a neighbour here, but its line lacks node 2"),
        ("2 1\n2 2\n1\n", "line 2: node 2 is twice in the line"),
        ("2 1\n2\n2\n", "line 3: 2 is the node of the line itself"),
        ("2 1\n3\n1\n", "line 2: 3 is not a node between 1 and 2"),
        ("2 2\n2\n1\n", "line 1: the header announces 2 edges, and there are 1"),
        ("2 1 1\n2 5\n1 6\n", "line 2: the edge to node 2 has another weight there"),
        ("2 1 1\n2 5\n1\n", "line 3: a neighbour without the weight of its edge"),
        ("2 1 1\n2 -5\n1 -5\n", r"line 2: -5\.0 is no weight of an edge"),
        ("2 1 10\n-1 2\n1 1\n", r"line 2: -1\.0 is no weight of a node"),
        ("2 1 11 2\n1\n1 2\n", "line 2: the sizes or weights of the node are missing"),
        ("2 1 2\n2\n1\n", "line 1: the format is 2, and METIS has 000, 001, 010, 011"),
    ],
)
def test_refused_graphs(file, content, words):
    with pytest.raises(ValueError, match=rf"some\.file, {words}"):
        read(file(content), "metis")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("BAYES\n1\n2\n0\n", "line 1: 'BAYES' stands where MARKOV must"),
        ("MARKOV\n1\n3\n0\n", "line 3: variable 0 has 3 states; only binary ones are read"),
        ("MARKOV\n2\n2\n", "line 3: 2 variables, and 1 numbers of states"),
        ("MARKOV\n1\n2\n1\n3 0 0 0\n", "line 5: factor 0 has 3 variables; 2 are the most"),
        ("MARKOV\n1\n2\n1\n1 1\n2 1 1\n", "line 5: factor 0 has '1', and variables are 0 to 0"),
        ("MARKOV\n2\n2 2\n1\n2 1 1\n4 1 1 1 1\n", "line 5: factor 0 has variable 1 twice"),
        (
            "MARKOV\n1\n2\n1\n1 0\n3 1 1\n",
            "line 6: factor 0 has 2 values, and the file announces '3'",
        ),
        ("MARKOV\n1\n2\n1\n1 0\n2 1\n", "line 6: the file ends within the values"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 1 1\n", "line 6: something follows the values"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 -1\n", "line 6: '-1' is no finite number of 0 or more"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 1e-400\n", "line 6: '1e-400' is below the least positive"),
        ("MARKOV\n1\n2\n1\n1 0\n2 0 0.0\n", "line 6: factor 0 is 0 everywhere"),
        ("MARKOV\n1\n2\n2\n1 0\n1 0\n2 0 1\n2 1 0\n", "cost_out is infinite there too"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n\n4\n1 2\n1 1\n", "line 8: factor 0 is not submodular: 1 x 1"),
        ("MARKOV\n1\n2\n9\n", "line 4: 9 factors are more than the file has words"),
        ("MARKOV\n", "line 1: the file ends where the number of variables must be"),
    ],
)
def test_refused_models(file, content, words):
    with pytest.raises(ValueError, match=rf"some\.file.*{words}"):
        read(file(content))


def archives(tmp_path) -> dict[str, bytes]:
    """Valid binary files of each kind."""
    edges = {"tails": [0, 1], "heads": [1, 2], "weights": [1.5, 2.0], "unary": [1.0, 2.0, -1.0]}
    np.savez(tmp_path / "arrays.npz", **edges)
    scipy.sparse.save_npz(tmp_path / "sparse.npz", scipy.sparse.csr_array(np.eye(3) + 1))
    scipy.io.savemat(
        tmp_path / "a.mat",
        {"W1": np.ones((2, 4)), "W2": np.ones((3, 3)), "unary": np.ones(12)},
        do_compression=True,
    )
    names = {"arrays": "arrays.npz", "sparse": "sparse.npz", "matlab": "a.mat"}
    return {form: (tmp_path / name).read_bytes() for form, name in names.items()}


@pytest.mark.parametrize("form", [*TEXTS, "arrays", "sparse", "matlab"])
@pytest.mark.filterwarnings("ignore")  # of the libraries that read damaged archives
def test_damaged_files_are_refused_by_name(tmp_path, form):
    whole = TEXTS[form].encode() if form in TEXTS else archives(tmp_path)[form]
    rng, path = random.Random(0), tmp_path / "spoiled.file"
    outcomes = set()
    for case in range(400):
        content = bytearray(whole)
        if case % 4 == 0:
            content = content[: rng.randrange(len(content))]
        for _ in range(rng.randint(0 if case % 4 == 0 else 1, 4)):
            if content:
                content[rng.randrange(len(content))] = rng.choice([rng.randrange(256), 0x30, 0x20])
        path.write_bytes(content)
        for chosen in (None, form):
            try:
                outcome = f"{path}: {type(read(path, chosen)).__name__}"
            except ValueError as error:
                outcome = str(error)
            assert outcome.startswith(str(path)), content
            outcomes.add(outcome)
    assert len(outcomes) > 3


def test_matrices_that_are_no_graphs(tmp_path):
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, scipy.sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(ValueError, match=r"a\.npz can not be read: .*needs a square matrix"):
        read_sparse(path)


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("a.xyz", sm.Problem([1.0]), ValueError, "neither ending nor form"),
        ("a.hgr", sm.Problem([1.0]), TypeError, "costs of elements, which hmetis does not hold"),
        ("a.max", Graph(sm.Cut([0], [1], 1.0), 2), TypeError, "no costs of nodes, so dimacs"),
        ("a.hgr", Graph(sm.Cut([0], [1], 1.0), 2), TypeError, "undirected hyperedges"),
        ("a.graph", Graph(sm.Cut([0], [1], 1.0, 0.0), 2), TypeError, "undirected Cut"),
        ("a.graph", Graph(sm.Cut([0], [1], np.inf), 2), ValueError, r"weights\[0\] is inf"),
        (
            "a.hgr",
            Graph(sm.Hyperedge([0, 0], [], 1.0), 2),
            ValueError,
            "hyperedge 0 has no members",
        ),
        ("a.uai", sm.Problem([1e4]), ValueError, "its potential"),
        ("a.max", sm.Problem([1.0], [sm.Hyperedge([0, 1], [0], 1.0)]), TypeError, "Hyperedge"),
    ],
)
def test_what_a_format_does_not_hold(tmp_path, name, content, error, words):
    (tmp_path / name).write_text("old")
    with pytest.raises(error, match=words):
        write(tmp_path / name, content)
    assert (tmp_path / name).read_text() == "old"
