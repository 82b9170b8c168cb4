"""Exchange capacities of each family against plain loops over the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.testing import check_term

from .group_terms import concave_families, csr, groups, values_of
from .problems import all_sets, concave_tables, submodular_tables, vectors
from .strategies import functions, tables

FEW = settings(max_examples=40)
N = 6


def assert_capacities(
    term: sm.Term, support: list[int], values: np.ndarray, dual: np.ndarray
) -> None:
    """c(u, v) = min {F(S) - y(S) : u in S, v not in S} for a term of one function."""
    sets, y = all_sets(N), np.zeros(N)
    term.accumulate(dual, y)
    exchanges = term.exchanges(dual.copy())
    for u in range(N):
        arcs = exchanges.arcs(u)
        assert u not in arcs.heads.tolist()
        assert sorted(arcs.heads.tolist()) == [
            v for v in sorted(support) if v != u and u in support
        ]
        for v, room in zip(arcs.heads.tolist(), arcs.capacities, strict=True):
            least = min(
                F - sum(y[w] for w in range(N) if S[w])
                for S, F in zip(sets, values, strict=True)
                if S[u] and not S[v]
            )
            assert room == pytest.approx(least, abs=1e-9)


def feasible(draw, term: sm.Term) -> np.ndarray:
    """A convex combination of three greedy vertices."""
    orders = [np.array(draw(st.permutations(range(N))), dtype=np.int32) for _ in range(3)]
    weights = np.array(draw(st.sampled_from([(1, 0, 0), (0.5, 0.5, 0), (0.25, 0.25, 0.5)])))
    return weights @ np.array([term.greedy(order) for order in orders])


@FEW
@given(st.data())
def test_an_edge(data):
    u, v = data.draw(st.permutations(range(N)))[:2]
    forward, backward = data.draw(vectors(False, 2, 0.0))
    term = sm.Cut([u], [v], [forward], [backward])
    cost = lambda S: forward * (S[u] and not S[v]) + backward * (S[v] and not S[u])  # noqa: E731
    assert_capacities(term, [u, v], values_of(N, cost), feasible(data.draw, term))


@FEW
@given(st.data())
def test_a_hyperedge(data):
    tails, heads = data.draw(groups(N, 1, 1)), data.draw(groups(N, 1, 1))
    if data.draw(st.booleans()):
        heads = tails
    weight = float(data.draw(vectors(False, 1, 0.0))[0])
    undirected = heads == tails and data.draw(st.booleans())
    term = (
        sm.Hyperedge(*csr(tails), weight)
        if undirected
        else sm.Hyperedge.directed(*csr(tails), *csr(heads), weight)
    )
    cost = lambda S: weight * (S[tails[0]].any() and not S[heads[0]].all())  # noqa: E731
    assert_capacities(
        term, sorted({*tails[0], *heads[0]}), values_of(N, cost), feasible(data.draw, term)
    )


@FEW
@given(st.data())
def test_a_truncation(data):
    given_groups = data.draw(groups(N, 1, 1))
    pointers, members = csr(given_groups)
    masses, modular = (data.draw(vectors(False, members.size, low)) for low in (0.0, -8.0))
    cap = float(data.draw(vectors(False, 1, 0.0))[0])
    term = sm.Truncation(pointers, members, masses, cap, modular)
    cost = lambda S: min(masses @ S[members], cap) + modular @ S[members]  # noqa: E731
    assert_capacities(term, given_groups[0], values_of(N, cost), feasible(data.draw, term))


@FEW
@given(st.data())
def test_a_cardinality(data):
    (group,) = data.draw(groups(N, 1, 1))
    table = data.draw(concave_tables(len(group), False))
    term = sm.Cardinality(*csr([group]), lambda k, m: table)
    assert_capacities(
        term, group, values_of(N, lambda S: table[S[group].sum()]), feasible(data.draw, term)
    )


@FEW
@given(st.data())
@pytest.mark.parametrize("family", ["table", "function"])
def test_a_table_and_a_function(family, data):
    members = data.draw(st.permutations(range(N)))[: data.draw(st.integers(1, 4))]
    values = data.draw(submodular_tables(len(members), False))
    bits = 1 << np.arange(len(members))
    term = (
        sm.Table([members], values)
        if family == "table"
        else sm.Function(members, evaluate=lambda mask: float(values[mask @ bits]))
    )
    cost = lambda S: values[S[members] @ bits]  # noqa: E731
    assert_capacities(term, members, values_of(N, cost), feasible(data.draw, term))


@pytest.mark.parametrize("family", [tables, functions, concave_families])
@settings(max_examples=10)
@given(data=st.data())
def test_the_public_law(family, data):
    term = data.draw(family(5))
    check_term(getattr(term, "term", term), 5)


def test_functions_up_to_twelve_elements_are_enumerated_once():
    calls = []

    def root(mask):
        calls.append(1)
        return float(np.sqrt(mask.sum()))

    term = sm.Function(range(10), evaluate=root)
    before = len(calls)
    dual = term.greedy(np.arange(10, dtype=np.int32))
    room = term.exchanges(dual).arcs(9).capacities
    assert len(calls) <= before + 10 + 2**10
    made = len(calls)
    assert np.array_equal(term.exchanges(dual).arcs(9).capacities, room)
    assert len(calls) == made
    assert np.all(room > 0.0)


def test_functions_of_more_elements_are_refused():
    term = sm.Function(range(13), evaluate=lambda mask: float(np.sqrt(mask.sum())))
    with pytest.raises(TypeError, match=r"13 elements .* at most 12; MinimumNormPoint"):
        term.exchanges(term.feasible_start())
    with pytest.raises(TypeError, match=r"SubmodularFlow does not take terms\[0\]: .*13 elements"):
        sm.minimize(sm.Problem(np.zeros(13), [term]), "submodular_flow")


def test_an_element_beyond_the_term_has_no_arcs():
    for term in (sm.Cut([0], [1], 1.0), sm.Hyperedge([0, 2], [0, 1], 1.0), sm.Cut([], [], [])):
        assert term.exchanges(term.feasible_start()).arcs(5).heads.size == 0
