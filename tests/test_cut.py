"""Cuts of general graphs: against brute force, max-flow codes, and refusals."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import maximum_flow

import submin as sm
from submin.terms.blocks.colouring import colour_classes

from .laws import assert_block_laws, assert_round_trip, assert_term_laws
from .problems import Part, all_sets, cuts, edge_values, model, vectors

FEW = settings(max_examples=25)


@FEW
@given(st.data())
def test_laws_of_terms(data):
    part = data.draw(cuts(5, False))
    x, dual = data.draw(vectors(False, 5)), data.draw(vectors(False, part.term.size))
    assert_term_laws(part.term, part.values, x, dual)
    assert_round_trip(part.term, 5)


@pytest.mark.parametrize("decomposition", ["auto", *sm.Cut([0], [1], 1.0).decompositions])
@FEW
@given(data=st.data())
def test_laws_of_blocks(decomposition, data):
    part = data.draw(cuts(6, False))
    s, dual = data.draw(vectors(False, 6)), data.draw(vectors(False, part.term.size))
    assert_block_laws(part.term, decomposition, s, dual)


@FEW
@given(st.data())
def test_violation_is_that_of_each_edge(data):
    part = data.draw(cuts(5, False))
    flow = data.draw(vectors(False, part.term.size, -16.0, 16.0))
    excess = np.maximum(flow - part.term.forward, -part.term.backward - flow)
    violation = part.term.violation(flow)
    assert abs(violation.total - np.maximum(excess, 0.0).sum()) <= 1e-12 * (1 + np.abs(flow).sum())


@FEW
@given(st.data())
def test_edges_may_be_turned_round_with_their_weights(data):
    part = data.draw(cuts(5, False))
    term = part.term
    turned = sm.Cut(term.heads, term.tails, term.backward, term.forward)
    assert [turned.evaluate(s) for s in all_sets(5)] == [term.evaluate(s) for s in all_sets(5)]


def test_one_weight_holds_for_all_edges():
    tails, heads = [0, 1, 2], [1, 2, 3]
    uniform, listed = sm.Cut(tails, heads, 2.5), sm.Cut(tails, heads, [2.5] * 3)
    directed = sm.Cut(tails, heads, 2.5, 0)
    for mask in all_sets(4):
        assert uniform.evaluate(mask) == listed.evaluate(mask)
        assert directed.evaluate(mask) == sum(2.5 for i in range(3) if mask[i] and not mask[i + 1])
    assert_round_trip(directed, 4)
    s, dual = np.array([3.0, -1.0, 4.0, -1.0]), np.array([1.0, -2.0, 0.5])
    for decomposition in uniform.decompositions:
        assert_block_laws(uniform, decomposition, s, dual)
        assert_block_laws(directed, decomposition, s, dual)


def test_parallel_edges_add_up():
    double = sm.Cut([0, 0, 1], [1, 1, 0], [1.0, 2.0, 4.0], [0.0, 0.5, 8.0])
    single = sm.Cut([0], [1], [11.0], [4.5])
    assert [double.evaluate(s) for s in all_sets(2)] == [single.evaluate(s) for s in all_sets(2)]
    assert len(double.blocks("matchings", 1)) == 3
    for unary in ([-5.0, 1.0], [3.0, -4.0], [-20.0, 10.0]):
        first, second = (sm.minimize(sm.Problem(unary, [term])) for term in (double, single))
        values = [sm.Problem(unary, [single]).evaluate(s) for s in all_sets(2)]
        assert first.value == second.value == min(values)


@pytest.mark.parametrize("weights", [[], 1.0])
def test_no_edges(weights):
    term = sm.Cut([], [], weights)
    assert (term.size, term.elements, term.depth) == (0, 0, 0)
    assert term.evaluate(np.ones(3, dtype=bool)) == 0.0
    assert term.violation(np.zeros(0)).total == 0.0
    for decomposition in term.decompositions:
        assert len(term.blocks(decomposition, 1)) == 0
    assert sm.minimize(sm.Problem([-1.0, 2.0], [term])).value == -1.0
    assert_round_trip(term, 3)


def test_weights_of_zero():
    result = sm.minimize(sm.Problem([-1.0, 2.0], [sm.Cut([0], [1], 0.0)]))
    assert result.value == -1.0
    assert result.status is sm.Status.OPTIMAL


# Sparse matrices.


@FEW
@given(
    st.lists(st.integers(0, 9), min_size=16, max_size=16), st.sampled_from(["csr", "csc", "coo"])
)
def test_sparse_matrices(entries, kind):
    dense = np.array(entries, dtype=float).reshape(4, 4)
    dense[np.diag_indices(4)] = 0.0
    tails, heads = np.nonzero(dense)
    expected = edge_values(all_sets(4), tails, heads, dense[tails, heads], np.zeros(tails.size))
    matrix = scipy.sparse.coo_array(dense)
    term = sm.Cut.from_sparse(matrix.asformat(kind))
    assert [term.evaluate(s) for s in all_sets(4)] == expected.tolist()


def test_symmetric_sparse_matrices_count_each_edge_once():
    dense = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]])
    term = sm.Cut.from_sparse(scipy.sparse.csr_matrix(dense))
    assert term.size == 2
    assert term.backward is term.forward
    assert term.evaluate(np.array([False, True, False])) == 5.0


def test_duplicate_entries_of_sparse_matrices_add_up():
    matrix = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    term = sm.Cut.from_sparse(matrix)
    assert term.evaluate(np.array([True, False])) == 3.0
    assert term.evaluate(np.array([False, True])) == 4.0


def test_integer_sparse_matrices_without_entries():
    assert sm.Cut.from_sparse(scipy.sparse.csr_array((3, 3), dtype=int)).size == 0


@pytest.mark.parametrize("diagonal", [5.0, -5.0])
def test_the_diagonal_is_ignored(diagonal):
    """A graph Laplacian's neighbour has a diagonal of any sign."""
    dense = np.array([[diagonal, 1.0], [1.0, diagonal]])
    term = sm.Cut.from_sparse(scipy.sparse.csr_array(dense))
    assert term.evaluate(np.array([True, False])) == 1.0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (scipy.sparse.csr_array((2, 3)), r"shape \(2, 3\).*square"),
        (scipy.sparse.csr_array(np.array([[0.0, -1.0], [0.0, 0.0]])), "is -1.0: a negative"),
        (scipy.sparse.csr_array(np.array([[0.0, np.nan], [0.0, 0.0]])), "is nan"),
    ],
)
def test_sparse_matrices_that_are_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        sm.Cut.from_sparse(matrix)


# Refusals.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [1], [1.0, 1.0]), "tails has 2 entries and heads has 1"),
        (([0, 1], [1, 1], [1.0, 1.0]), r"tails\[1\] is 1: an edge needs two different ends"),
        (([0, 1], [1, 2], [1.0]), "weights has 1 entries for 2 edges"),
        (([0], [1], [1.0], [1.0, 2.0]), "reverse_weights has 2 entries for 1 edges"),
        (([0], [1], [-1.0]), r"weights\[0\] is -1.0: a negative weight"),
        (([0, 0], [1, 2], [1.0, 1.0], [0.0, np.nan]), r"reverse_weights\[1\] is nan"),
        (([0], [1], [-np.inf]), r"weights\[0\] is -inf"),
        (([0, 0], [1, 2], [np.inf, np.nan]), r"weights\[1\] is nan"),
        (([0, 0], [1, 2], [1.7e308, np.inf]), "weights overflows"),
        (([0], [-1], [1.0]), r"heads\[0\] is -1"),
        (([2**31], [1], [1.0]), r"tails\[0\] is 2147483648"),
        (([0, 0], [1, 2], [1.7e308, 1.7e308]), "weights overflows"),
        (([0, 0], [1, 2], 1.7e308), "weights overflow"),
    ],
)
def test_edges_that_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sm.Cut(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0], [1], [1.0]), "tails must hold integers"),
        (([0], [True], [1.0]), "heads must hold integers"),
        (([0], [1], ["a"]), "weights must hold real numbers"),
        (([0], [1], [1j]), "weights must hold real numbers"),
    ],
)
def test_types_that_are_refused(arguments, message):
    with pytest.raises(TypeError, match=message):
        sm.Cut(*arguments)


def test_unknown_decompositions_are_refused():
    with pytest.raises(ValueError, match=r"blocks='lines'.*'auto', 'chains', 'matchings'"):
        sm.Cut([0], [1], 1.0).blocks("lines", 1)


# Colouring.


def assert_colouring(pointers: np.ndarray, members: np.ndarray, classes: list[np.ndarray]) -> None:
    functions = pointers.size - 1
    together = np.concatenate([np.zeros(0, dtype=np.int32), *classes])
    assert np.array_equal(np.sort(together), np.arange(functions))
    for some in classes:
        touched = np.concatenate([members[pointers[i] : pointers[i + 1]] for i in some])
        assert np.unique(touched).size == touched.size


@FEW
@given(st.lists(st.lists(st.integers(0, 7), unique=True, max_size=4), max_size=12))
def test_classes_are_disjoint(supports):
    pointers = np.cumsum([0, *map(len, supports)], dtype=np.int64)
    members = np.array([e for support in supports for e in support], dtype=np.int32)
    assert_colouring(pointers, members, colour_classes(pointers, members))


@pytest.mark.parametrize("edges", [1, 2, 100_000])
def test_a_star_needs_a_class_for_each_edge(edges):
    ends = np.stack([np.zeros(edges, int), np.arange(1, edges + 1)], axis=1).ravel()
    pointers = np.arange(0, 2 * edges + 1, 2, dtype=np.int64)
    classes = colour_classes(pointers, ends.astype(np.int32))
    assert sorted(int(some[0]) for some in classes) == list(range(edges))


def test_a_long_path_needs_two_classes_or_one_chain():
    n = 200_001
    path = sm.Cut(np.arange(n - 1), np.arange(1, n), 1.0)
    assert [block.size for block in path.blocks("chains", 1)] == [n - 1]
    assert [block.size for block in path.blocks("matchings", 1)] == [(n - 1) // 2] * 2


def test_classes_of_a_dense_graph():
    tails, heads = np.triu_indices(60, 1)
    pointers = np.arange(0, 2 * tails.size + 1, 2, dtype=np.int64)
    members = np.stack([tails, heads], axis=1).ravel().astype(np.int32)
    classes = colour_classes(pointers, members)
    assert_colouring(pointers, members, classes)
    assert len(classes) <= 2 * 59 - 1


@pytest.mark.parametrize(
    ("solver", "edges"), [("auto", 2_000), ("accelerated_sweeps", 150), ("rcdm", 2_000)]
)
def test_stars_are_solved(solver, edges):
    random = np.random.default_rng(0)
    weights, unary = random.integers(0, 5, edges), random.integers(-4, 5, edges + 1)
    star = sm.Cut(np.zeros(edges, int), np.arange(1, edges + 1), weights)
    out, inside = unary[1:], weights
    expected = min(
        np.minimum(0, out + inside).sum(),
        unary[0] + np.minimum(out, inside).sum(),
    )
    result = sm.minimize(sm.Problem(unary, [star]), solver, max_passes=1_000)
    assert result.value == result.lower_bound == expected


# Max-flow codes.


def random_network(seed: int, n: int, whole: bool) -> tuple[np.ndarray, Part]:
    random = np.random.default_rng(seed)
    m = 4 * n
    tails = random.integers(0, n, m)
    heads = (tails + random.integers(1, n, m)) % n
    numbers = (lambda k: random.integers(0, 10, k)) if whole else (lambda k: 10 * random.random(k))
    unary = random.integers(-15, 16, n) if whole else random.normal(size=n) * 15
    return unary.astype(float), sm.Cut(tails, heads, numbers(m), numbers(m))


def network_capacities(unary: np.ndarray, cut: sm.Cut) -> dict[tuple[int, int], float]:
    """Capacities of a network with source n and sink n + 1; S is on the source side."""
    n = unary.size
    capacities: dict[tuple[int, int], float] = {}
    arcs = [
        *zip(cut.tails.tolist(), cut.heads.tolist(), cut.forward.tolist(), strict=True),
        *zip(cut.heads.tolist(), cut.tails.tolist(), cut.backward.tolist(), strict=True),
        *((n, v, float(max(-unary[v], 0.0))) for v in range(n)),
        *((v, n + 1, float(max(unary[v], 0.0))) for v in range(n)),
    ]
    for tail, head, capacity in arcs:
        capacities[tail, head] = capacities.get((tail, head), 0.0) + capacity
    return capacities


@pytest.mark.parametrize("solver", ["auto", "accelerated_sweeps"])
@pytest.mark.parametrize("seed", range(4))
def test_integer_networks_against_scipy(seed, solver):
    unary, cut = random_network(seed, 60, whole=True)
    capacities = network_capacities(unary, cut)
    rows, columns = zip(*capacities, strict=True)
    matrix = scipy.sparse.csr_array(
        (np.array(list(capacities.values()), dtype=np.int32), (rows, columns)), shape=(62, 62)
    )
    flow = maximum_flow(matrix, 60, 61).flow_value
    result = sm.minimize(sm.Problem(unary, [cut]), solver)
    assert result.value == flow + np.minimum(unary, 0.0).sum()
    assert result.lower_bound == result.value
    assert result.gap == 0.0
    assert result.status is sm.Status.OPTIMAL


@pytest.mark.parametrize("solver", ["auto", "accelerated_sweeps"])
@pytest.mark.parametrize("seed", range(3))
def test_float_networks_against_networkx(seed, solver):
    unary, cut = random_network(seed, 40, whole=False)
    graph = networkx.DiGraph()
    for (tail, head), capacity in network_capacities(unary, cut).items():
        graph.add_edge(tail, head, capacity=capacity)
    expected = networkx.minimum_cut_value(graph, 40, 41) + np.minimum(unary, 0.0).sum()
    result = sm.minimize(sm.Problem(unary, [cut]), solver)
    assert abs(result.value - expected) <= 1e-9 * np.abs(unary).sum()
    assert result.status is sm.Status.OPTIMAL


@FEW
@given(st.data(), st.permutations(range(6)))
def test_the_order_of_elements_does_not_matter(data, order):
    part = data.draw(cuts(6, True))
    unary = data.draw(vectors(True, 6))
    names = np.array(order)
    moved = np.empty(6)
    moved[names] = unary
    term = part.term
    renamed = sm.Cut(names[term.tails], names[term.heads], term.forward, term.backward)
    result = sm.minimize(sm.Problem(moved, [renamed]))
    assert result.value == model(unary, [part]).minimum
