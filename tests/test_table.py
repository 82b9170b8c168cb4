"""Tables of values: what is accepted, what is refused, and answers against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.terms.table import Table
from submin.terms.value_tables import (
    find_non_submodular,
    greedy_vertices,
    mean_vertices,
    subset_masks,
    subset_sums,
)
from submin.testing import brute_force, check_term

from .strategies import costs, submodular_values, tables

PAIR = [0.0, 1.0, 1.0, 2.0]


def test_a_pair_table_is_accepted_up_to_the_sum_of_its_single_values() -> None:
    pair = Table([[0, 1]], PAIR)
    assert pair.evaluate(np.array([True, True])) == 2.0
    with pytest.raises(ValueError, match=r"not submodular: F\(\{0\}\) \+ F\(\{1\}\) = 1 \+ 1 must"):
        Table([[0, 1]], [0.0, 1.0, 1.0, 3.0])


def test_a_refusal_names_the_table_the_sets_and_the_values() -> None:
    values = np.array([PAIR, [0.0, 0.5, -2.0, 0.0]])
    message = (
        r"values\[1\] is not submodular: F\(\{7\}\) \+ F\(\{5\}\) = 0.5 \+ -2 must be at least "
        r"F\(\{\}\) \+ F\(\{7, 5\}\) = 0 \+ 0"
    )
    with pytest.raises(ValueError, match=message):
        Table([[0, 1], [7, 5]], values)


def test_a_refusal_finds_the_last_of_many_tables() -> None:
    values = np.zeros((3000, 256))
    values[-1, 0b10100101] = -1.0
    members = np.tile(np.arange(8), (3000, 1))
    with pytest.raises(ValueError, match=r"values\[2999\] is not submodular"):
        Table(members, values)


def test_rounding_is_not_taken_for_a_violation() -> None:
    modular = subset_sums(np.array([[0.1, 0.2, 0.3, 0.7, 1e3]]))
    Table([[0, 1, 2, 3, 4]], modular[0])
    assert find_non_submodular(modular, 0.0) is not None


@pytest.mark.parametrize(
    ("members", "values", "error", "message"),
    [
        ([[0, 1]], [0.0, np.nan, 1.0, 1.0], ValueError, r"values\[1\] is nan"),
        ([[0, 1]], [[0.0, 1.0, np.inf, 1.0]], ValueError, r"values\[0, 2\] is inf"),
        ([[0, 1]], [0.0, 1e301, 1.0, 1.0], ValueError, r"values\[1\] is 1e\+301"),
        ([[0, 1]], [2.0, 1.0, 1.0, 1.0], ValueError, r"values\[0\] is 2.0: .* subtract it"),
        ([[0, 1]], [[2.0, 1.0, 1.0, 1.0]], ValueError, r"values\[0, 0\] is 2.0: .*subtract"),
        ([[0, 1], [3, 3]], PAIR, ValueError, r"members\[1, 1\] is 3: .* once"),
        ([[0, -1]], PAIR, ValueError, r"members\[0, 1\] is -1"),
        ([[0.0, 1.0]], PAIR, TypeError, "members must hold integers"),
        ([[0, 1]], ["a"] * 4, TypeError, "values must hold real numbers"),
        ([[0, 1]], [0.0, 1.0, 1.0], ValueError, r"values has shape \(3,\): 1 tables of 2"),
        ([[0, 1]], np.zeros((2, 4)), ValueError, r"values has shape \(2, 4\)"),
        ([0, 1], PAIR, ValueError, r"members has shape \(2,\)"),
        ([list(range(13))], np.zeros(2**13), ValueError, r"members has shape \(1, 13\)"),
        (np.zeros((1, 0), dtype=int), [0.0], ValueError, r"members has shape \(1, 0\)"),
    ],
)
def test_bad_input_is_refused(members, values, error, message) -> None:
    with pytest.raises(error, match=message):
        Table(members, values)


def test_integers_are_taken_exactly_and_narrow_types_do_not_wrap() -> None:
    narrow = Table([[0, 1]], np.array([0, 200, 200, 255], dtype=np.uint8))
    assert narrow.evaluate(np.array([True, True])) == 255.0
    with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
        Table([[0]], np.array([0, 2**53 + 1]))


def test_no_table_is_a_term_without_cost() -> None:
    for values in (np.zeros((0, 4)), PAIR):
        empty = Table(np.zeros((0, 2), dtype=np.int64), values)
        check_term(empty, n=3)
        assert sm.minimize(sm.Problem([1.0, -1.0], [empty])).value == -1.0


@given(submodular_values(4), st.permutations(range(4)))
def test_vertices_against_their_definition(values, order) -> None:
    rank = np.argsort(order)
    vertex = greedy_vertices(values[None], rank[None])[0]
    for count in range(1, 5):
        first = np.array(order[:count])
        assert vertex[first].sum() == pytest.approx(values[np.sum(1 << first)], abs=1e-12)


@given(submodular_values(3))
def test_mean_vertex_is_the_mean_over_all_orders(values) -> None:
    orders = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    every = greedy_vertices(np.tile(values, (6, 1)), orders)
    np.testing.assert_allclose(mean_vertices(values[None])[0], every.mean(axis=0), atol=1e-12)


@given(submodular_values(4), st.lists(costs, min_size=4, max_size=4))
def test_submodular_values_are_submodular_and_sums_are_sums(values, y) -> None:
    assert find_non_submodular(values[None]) is None
    np.testing.assert_allclose(subset_sums(np.array([y]))[0], subset_masks(4) @ np.array(y))


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("k", [2, 3, 5])
def test_every_broken_second_difference_is_found(k, row) -> None:
    random = np.random.default_rng(10 * k + row)
    values = np.zeros((4, 1 << k))
    values[row, random.integers(1, 1 << k)] = -1.0
    witness = find_non_submodular(values)
    if witness is None:
        lowered = int(np.argmin(values[row]))
        assert lowered == (1 << k) - 1 or lowered.bit_count() == k
        return
    _, base, with_i, with_j, both = witness
    assert witness.row == row
    assert base == with_i & with_j
    assert both == with_i | with_j
    apart = values[row, with_i] + values[row, with_j]
    assert apart < values[row, base] + values[row, both]


@given(tables(6), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_random_tables_conform(term, seed) -> None:
    check_term(term, n=6, seed=seed)


@given(tables(6), st.lists(costs, min_size=6, max_size=6))
def test_minimum_against_enumeration(term, unary) -> None:
    problem = sm.Problem(unary, [term])
    result, known = sm.minimize(problem), brute_force(problem)
    assert result.value == pytest.approx(known.minimum, abs=1e-9)
    assert result.lower_bound <= known.minimum + 1e-12
    assert result.gap <= 1e-9


def test_pair_tables_are_a_cut() -> None:
    random = np.random.default_rng(3)
    ends = random.permuted(np.tile(np.arange(8), (12, 1)), axis=1)[:, :2]
    forward, backward = random.random((2, 12))
    zero = np.zeros(12)
    table = Table(ends, np.stack([zero, forward, backward, zero], axis=1))
    unary = random.normal(size=8)
    cut = sm.Cut(ends[:, 0], ends[:, 1], forward, backward)
    by_table, by_cut = (sm.minimize(sm.Problem(unary, [term])) for term in (table, cut))
    assert by_table.value == pytest.approx(by_cut.value, abs=1e-12)
    np.testing.assert_array_equal(by_table.minimizer, by_cut.minimizer)


def test_blocks_are_colour_classes_or_single_tables() -> None:
    path = Table([[i, i + 1] for i in range(9)], PAIR)
    assert len(path.blocks("auto", 1)) == 2
    assert len(path.blocks("functions", 1)) == 9
    assert len(Table([[0, 1], [2, 3]], PAIR).blocks("matchings", 1)) == 1
    with pytest.raises(ValueError, match=r"blocks='rows' is not a decomposition of Table"):
        path.blocks("rows", 1)


def test_violation_in_chunks_is_the_sum_over_tables() -> None:
    random = np.random.default_rng(0)
    k, count = 10, 700
    members = np.tile(np.arange(k), (count, 1))
    size = subset_masks(k).sum(axis=1)
    term = Table(members, (size * (k - size)).astype(float))
    dual = 20.0 * random.normal(size=term.size)
    found = term.violation(dual)
    sums = dual.reshape(count, k) @ subset_masks(k).T
    expected = np.max(sums - term.values, axis=1).sum()
    assert found.total == pytest.approx(expected, rel=1e-12)
    assert 0.0 < found.error < 1e-9 * expected


def test_saved_and_loaded(tmp_path) -> None:
    shared = Table([[0, 1], [1, 2]], PAIR)
    problem = sm.Problem([1.0, -1.0, 0.5], [shared])
    problem.save(tmp_path / "problem.npz")
    loaded = sm.Problem.load(tmp_path / "problem.npz")
    np.testing.assert_array_equal(loaded.terms[0].values, shared.values)
    np.testing.assert_array_equal(loaded.terms[0].members, shared.members)
