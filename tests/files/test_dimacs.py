"""DIMACS max-flow files: known values, and SciPy on random networks."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import maximum_flow

import submin as sm
from submin.files import read_dimacs
from submin.files import text as blocks

from ..problems import all_sets


def text(nodes, source, sink, arcs):
    lines = [f"p max {nodes} {len(arcs)}", f"n {source} s", f"n {sink} t"]
    return "\n".join(lines + [f"a {tail} {head} {capacity}" for tail, head, capacity in arcs])


@pytest.fixture
def read(tmp_path):
    def call(content, name="network.max"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_dimacs(path)

    return call


def same_problem(first: sm.Problem, second: sm.Problem) -> bool:
    parts = [(p.unary.tobytes(), p.constant, [(t.tails.tobytes(), t.heads.tobytes(),
             t.forward.tobytes()) for t in p.terms]) for p in (first, second)]  # fmt: skip
    return parts[0] == parts[1]


SMALL = text(4, 1, 4, [(1, 2, 3), (2, 3, 2), (3, 4, 9), (1, 3, 1), (2, 4, 1)])
SPELLINGS = {
    "comments": "c\nc---\ncn 5\ncomment a 1 2 3\n" + SMALL.replace("\n", "\nc x\n  c y\n") + "\nc",
    "blank lines": "\n\n \n" + SMALL.replace("\n", "\n\t\n\n"),
    "spaces": SMALL.replace(" ", " \t  ").replace("\n", "  \n   "),
    "CRLF": SMALL.replace("\n", "\r\n") + "\r\n",
    "CR": SMALL.replace("\n", "\r"),
    "byte-order mark": "\ufeff" + SMALL,
    "Latin-1 comment": b"c Gr\xf6\xdfe\n" + SMALL.encode(),
    "zeros and signs": SMALL.replace("a 1 2 3", "a 001 02 +3.0e0"),
    "gzip": gzip.compress(SMALL.encode()),
    "gzip in two parts": gzip.compress(SMALL[:20].encode()) + gzip.compress(SMALL[20:].encode()),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings(read, spelling):
    assert same_problem(read(SPELLINGS[spelling]), read(SMALL))


@pytest.mark.parametrize("name", ["x.inp", "x.dat", "x", "x.MAX", "x.max.gz", "x.npy", "x.txt"])
@pytest.mark.parametrize("pack", [str.encode, lambda content: gzip.compress(content.encode())])
def test_the_name_does_not_matter(read, invoke, tmp_path, name, pack):
    assert same_problem(read(pack(SMALL), name), read(SMALL))
    assert "OPTIMAL" in invoke("solve", tmp_path / name).stdout


def test_a_saved_problem_of_any_name(invoke, problem, tmp_path):
    sm.minimize(problem).save(tmp_path / "saved.max", problem)
    assert invoke("solve", tmp_path / "saved.max").exit_code == 0
    assert invoke("verify", tmp_path / "saved.max").exit_code == 0


def test_a_pipe(tmp_path):
    code = "import sys; from submin.files import read_dimacs; print(read_dimacs(sys.argv[1]).n)"
    run = subprocess.run([sys.executable, "-c", code, "/dev/stdin"], input=SMALL.encode(),
                         capture_output=True)  # fmt: skip
    assert run.stdout == b"4\n"


@pytest.mark.parametrize("size", [1, 7, 16, 64])
def test_blocks_of_any_size(read, monkeypatch, size):
    expected = read(SPELLINGS["CRLF"])
    monkeypatch.setattr(blocks, "BLOCK", size)
    assert same_problem(read(SPELLINGS["CRLF"]), expected)
    assert same_problem(read(SPELLINGS["comments"]), expected)
    with pytest.raises(ValueError, match=r"line 10: the capacity x"):
        read(SMALL + "\n\na 1 2 x")


def test_a_line_without_an_end(read, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 10)
    monkeypatch.setattr(blocks, "LONGEST_LINE", 100)
    with pytest.raises(ValueError, match="a line of more than 100 bytes"):
        read(gzip.compress(bytes(10**6)))


def capacity_of_cut(arcs, members):
    """Add up the arcs from S to its complement, exactly."""
    return sum(Fraction(capacity) for tail, head, capacity in arcs
               if members[tail - 1] and not members[head - 1])  # fmt: skip


CAPACITIES = st.one_of(
    st.integers(0, 9).map(str),
    st.sampled_from(["0", "0.5", "1e2", ".25", "3.", "+7", "1099511627776"]),
)


@given(nodes=st.integers(2, 6), data=st.data())
def test_every_cut_has_its_capacity(nodes, data):
    """Loops, parallel arcs, arcs into the source and out of the sink; noise between lines."""
    node = st.integers(1, nodes)
    source, sink = data.draw(st.lists(node, min_size=2, max_size=2, unique=True))
    arcs = data.draw(st.lists(st.tuples(node, node, CAPACITIES), max_size=20))
    noise = st.sampled_from(["\n", "\r\n", "\n\n", "\ncn x\n", "\n \t\n", "\nc\n  "])
    lines = text(nodes, source, sink, arcs).split("\n")
    content = "".join(line + data.draw(noise) for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network")
        path.write_bytes(content.encode())
        problem = read_dimacs(path)
    for members in all_sets(nodes):
        valid = members[source - 1] and not members[sink - 1]
        expected = capacity_of_cut(arcs, members) if valid else np.inf
        assert problem.evaluate(members) == expected


@pytest.mark.parametrize(
    "word",
    ["9007199254740992", "9007199254740994", "18014398509481984", "1e20", "1e30",
     "9007199254740992.0", "0.1", "1e-300"],
)  # fmt: skip
def test_capacities_that_are_read(read, word):
    problem = read(text(4, 1, 4, [(2, 3, word)]))
    assert problem.evaluate([True, True, False, False]) == float(word)


@pytest.mark.parametrize(
    "word",
    ["9007199254740993", "9007199254740993.0",
     "99999999999999999999", "1e400", "1e-400", "inf", "nan", "-1", "-0.0", "0x10", "1_0", "1,5",
     "1e", "", "\u0663", "\u00bd", "1" * 5000, "a"],
)  # fmt: skip
def test_capacities_that_are_refused(read, word):
    with pytest.raises(ValueError, match=r"network\.max, line 5: ") as refusal:
        read(text(4, 1, 4, [(1, 2, 1), (2, 3, word), (2, 3, "x")]))
    assert len(str(refusal.value)) < 400


def test_sums_at_the_terminals_are_exact(read):
    large = 2**53
    arcs = [(1, 2, large), (1, 2, large), (2, 4, large), (2, 4, 6), (3, 4, 1)]
    problem = read(text(4, 1, 4, arcs))
    assert problem.unary[1] == float(6 - large)
    for members in all_sets(4):
        if members[0] and not members[3]:
            assert problem.evaluate(members) == float(capacity_of_cut(arcs, members))


@pytest.mark.parametrize(
    ("arcs", "place"),
    [
        ([(1, 2, 2**53), (1, 2, 1)], "terminals at node 2 sum to 9007199254740993"),
        ([(2, 4, 2**53), (2, 4, 1)], "terminals at node 2 sum to 9007199254740993"),
        ([(1, 2, 2**53), (1, 3, 1)], "the arcs of the source sum to 9007199254740993"),
        ([(1, 2, "1e308"), (1, 2, "1e308")], "too large"),
    ],
)
def test_sums_that_would_be_rounded_are_refused(read, arcs, place):
    with pytest.raises(ValueError, match=place):
        read(text(4, 1, 4, arcs))


def test_a_header_of_two_thousand_million_nodes(tmp_path):
    """Refused within a gigabyte of address space, in one sentence, with exit code 2."""
    path = tmp_path / "large.max"
    path.write_text("p max 2000000000 1\nn 1 s\nn 2 t\na 1 2 3\n")
    code = ("import resource; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); "
            "from submin.cli import main; main()")  # fmt: skip
    run = subprocess.run([sys.executable, "-c", code, "solve", path], capture_output=True,
                         text=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})  # fmt: skip
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert "line 1: 2000000000 nodes" in run.stderr


def test_damaged_gzip(read):
    packed = gzip.compress(SMALL.encode() * 50)
    for damaged in (packed[:30], packed[:-1], packed[:40] + b"x" + packed[41:], packed + b"x"):
        with pytest.raises(ValueError, match=r"network\.max is damaged, so gzip can not unpack it"):
            read(damaged)


def test_random_bytes_are_refused_by_name(tmp_path):
    rng, path = random.Random(0), tmp_path / "network.max"
    for _ in range(500):
        content = bytearray(SMALL.encode())
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content)
        try:
            outcome = f"{path}: {read_dimacs(path).n} nodes"
        except ValueError as error:
            outcome = str(error)
        assert outcome.startswith(str(path))


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
        ("n 1 s\n", "line 1: the line 'p max NODES ARCS' must come first"),
        ("c only\n", "has no line 'p max NODES ARCS'"),
        ("", "has no line 'p max NODES ARCS'"),
        ("a 1 2 3\np max 3 1\n", "line 1: .*must come first"),
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
        ("p max 4 1\nn 1 s\nn 2 s\nn 4 t\na 1 2 3\n", "line 3: a second source"),
        ("p max 4 1\nn 4 t\nn 1 s\nn 4 t\na 1 2 3\n", "line 4: a second sink"),
        ("p max 4 1\nn 1 s\nn 4 t\na 1 2 3\np max 4 1\n", "line 5: a second line 'p max"),
        ("p max 4 1\nn 1 s\nn 9 t\n", "line 3: node 9 is not between 1 and .* 4"),
        ("p max 4 1\nn 1 s\nn 4 t\na 1 99999999999999999999 3\n", "line 4: node 99999"),
        ("p max 4 1\nn 1 s\nn 4 t\na 1 2 3 4\n", "line 4: 'a 1 2 3 4' is not a line"),
        ("p max 4 1 1\n", "line 1"),
        ("p max 4\n", "line 1"),
        ("p max -4 1\n", "line 1"),
        ("p max 4 1_0\n", "line 1"),
        ("p max " + "9" * 5000 + " 1\n", "line 1"),
        ("p max 4 2\nn 1 s\nn 4 t\na 1 2 3\n", "announces 2 arcs and has 1"),
        ("p max 99999999999 1\nn 1 s\nn 4 t\na 1 2 3\n", "99999999999 nodes are more than"),
        ("p max 4 1\nn 1 s\nn 4 t\na 1 4 99999999999999999999\n", "would be rounded"),
    ],
)
def test_files_that_contradict_themselves_are_refused(read, content, message):
    with pytest.raises(ValueError, match=message):
        read(content)
