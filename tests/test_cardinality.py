"""Concave functions of the cardinality: against brute force, known values, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from .laws import assert_block_laws, assert_round_trip, assert_term_laws
from .problems import all_sets, cardinalities, concave_tables, group_values, vectors

FEW = settings(max_examples=30)


def spread(k, m):
    """|S and R| |R without S|."""
    return k * (m - k)


@FEW
@given(st.data())
def test_laws_of_terms(data):
    part = data.draw(cardinalities(5, False))
    x, dual = data.draw(vectors(False, 5)), data.draw(vectors(False, part.term.size))
    assert_term_laws(part.term, part.values, x, dual)
    assert_round_trip(part.term, 5)


@pytest.mark.parametrize("decomposition", ["auto", *sm.Cardinality([0], [], spread).decompositions])
@FEW
@given(data=st.data())
def test_laws_of_blocks(decomposition, data):
    part = data.draw(cardinalities(6, False))
    s, dual = data.draw(vectors(False, 6)), data.draw(vectors(False, part.term.size))
    assert_block_laws(part.term, decomposition, s, dual)


@FEW
@given(st.data())
def test_violation_is_that_of_each_group(data):
    sizes = data.draw(st.lists(st.integers(0, 4), max_size=4))
    tables = {m: data.draw(concave_tables(m, False)) for m in sorted(set(sizes))}
    pointers = np.cumsum([0, *sizes])
    term = sm.Cardinality(pointers, np.arange(pointers[-1]), lambda k, m: tables[m])
    dual = data.draw(vectors(False, term.size))
    expected = 0.0
    for start, m in zip(pointers, sizes, strict=False):
        sets = all_sets(m)
        expected += np.max(sets @ dual[start : start + m] - tables[m][sets.sum(axis=1)])
    assert term.violation(dual).total == pytest.approx(expected, rel=1e-12, abs=1e-12)


@FEW
@given(st.lists(st.integers(-2, 4), min_size=6, max_size=6))
def test_labels_are_groups(labels):
    term = sm.Cardinality.from_labels(labels, spread)
    groups = [[v for v in range(6) if labels[v] == name] for name in sorted({*labels}) if name >= 0]
    tables = {m: np.arange(m + 1.0) * (m - np.arange(m + 1.0)) for m in range(7)}
    expected = group_values(all_sets(6), groups, tables)
    assert [term.evaluate(mask) for mask in all_sets(6)] == expected.tolist()
    assert (term.shape, term.elements) == ((6,), 6)
    assert len(term.blocks("auto", 1)) == (1 if groups else 0)
    assert len(term.blocks("functions", 1)) == len(groups)
    assert_round_trip(term, 6)


@pytest.mark.parametrize("dtype", ["?", "u1", ">i2", "i8", "u8"])
def test_labels_of_any_integer_type(dtype):
    labels = np.array([[0, 1, 0], [1, 1, 0]]).astype(dtype)
    term = sm.Cardinality.from_labels(np.asfortranarray(labels), spread)
    mask = np.array([[True, False, False], [True, False, False]]).ravel()
    assert term.evaluate(mask) == 4.0


def test_huge_labels_are_only_names():
    labels = np.array([0, 2**63 + 5, 2**64 - 1, 2**63 + 5], dtype=np.uint64)
    assert sm.Cardinality.from_labels(labels, spread).evaluate(np.array([0, 1, 0, 0]) == 1) == 1.0


def test_only_negative_labels_are_no_groups():
    term = sm.Cardinality.from_labels([-1, -1], spread)
    assert term.size == 0
    assert sm.minimize(sm.Problem([-1.0, 1.0], [term])).value == -1.0


def test_no_groups():
    term = sm.Cardinality([0], [], spread)
    assert (term.size, term.elements, term.depth) == (0, 0, 0)
    assert len(term.blocks("auto", 1)) == len(term.blocks("functions", 1)) == 0
    assert term.evaluate(np.ones(2, dtype=bool)) == 0.0
    assert term.violation(np.zeros(0)).total == 0.0
    assert sm.minimize(sm.Problem([-1.0, 1.0], [term])).value == -1.0
    assert_round_trip(term, 2)


def test_empty_groups_cost_nothing():
    term = sm.Cardinality([0, 0, 2, 2], [0, 1], spread)
    assert term.evaluate(np.array([True, False])) == 1.0
    for decomposition in term.decompositions:
        result = sm.minimize(sm.Problem([-3.0, 1.0], [term]), blocks=decomposition)
        assert result.value == result.lower_bound == -2.0
    assert_round_trip(term, 2)


def test_only_empty_groups():
    term = sm.Cardinality([0, 0, 0], [], spread)
    for decomposition in term.decompositions:
        result = sm.minimize(sm.Problem([-3.0, 1.0], [term]), blocks=decomposition)
        assert result.value == result.lower_bound == -3.0


def test_functions_need_no_value_for_an_empty_group():
    """g of an empty group is g(0) = 0, and k (m - k) / m is not defined there."""
    term = sm.Cardinality([0, 0, 2], [0, 1], lambda k, m: k * (m - k) / m)
    assert term.evaluate(np.array([True, False])) == 0.5


def test_functions_are_tabulated_once_for_each_size():
    calls = []

    def function(k, m):
        calls.append((k.tolist(), m))
        return np.minimum(k, 2.0)

    sm.Cardinality([0, 2, 4, 7], np.arange(7), function)
    assert sorted(calls) == [([0.0, 1.0, 2.0], 2), ([0.0, 1.0, 2.0, 3.0], 3)]


def test_functions_may_return_whole_numbers():
    term = sm.Cardinality([0, 3], [0, 1, 2], lambda k, m: np.array([0, 2, 3, 3], dtype=np.uint8))
    assert term.evaluate(np.array([True, True, False])) == 3.0
    assert term.granularity() == 1.0


def test_a_group_of_many_members_starts_at_the_mean_vertex():
    m = 1000
    term = sm.Cardinality([0, m], np.arange(m), lambda k, m: np.sqrt(k))
    start = term.feasible_start()
    assert term.violation(start).total <= 1e-12
    assert start.sum() == pytest.approx(np.sqrt(m))


@pytest.mark.parametrize("threads", [0, 2, 5])
def test_threads_do_not_change_a_bit(threads):
    random = np.random.default_rng(0)
    labels = random.integers(0, 300, 40_000)  # large enough for several threads
    term = sm.Cardinality.from_labels(labels, lambda k, m: 0.1 * k * (m - k))
    s, dual = random.normal(size=40_000), random.normal(size=term.size)
    outcomes = []
    for count in (1, threads):
        swept_s, swept_dual = s.copy(), dual.copy()
        for block in term.blocks("auto", count):
            block.sweep(swept_dual, swept_s)
        outcomes.append((swept_s.tobytes(), swept_dual.tobytes()))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], [0, 1], lambda k, m: k**2), "not concave at k = 1: gains 1.0 then 3.0"),
        (([0, 2], [0, 1], lambda k, m: k + 1), r"\[0\] is 1.0: g\(0\) must be 0"),
        (([0, 2], [0, 1], lambda k, m: k * np.nan), r"function\(k, 2\)\[0\] is nan"),
        (([0, 2], [0, 1], lambda k, m: np.where(k > 1, np.inf, k)), r"\[2\] is inf"),
        (([0, 2], [0, 1], lambda k, m: 1.0), r"returned shape \(\)"),
        (([0, 2], [0, 1], lambda k, m: k[1:]), r"returned shape \(2,\)"),
        (
            ([0, 2], [0, 0], spread),
            r"members\[1\] is 0 \(group 0\): an element may be once in each group",
        ),
        (([0, 2], [0, -1], spread), r"members\[1\] is -1"),
        (([0, 3], [0, 1], spread), "pointers runs from 0 to 3"),
        (([1, 2], [0, 1], spread), "pointers runs from 1 to 2"),
        (([0, 2, 1, 2], [0, 1], spread), r"pointers\[2\] is 1"),
    ],
)
def test_groups_that_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sm.Cardinality(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 2.0], [0, 1], spread), "pointers"),
        (([[0, 2]], [0, 1], spread), "pointers"),
        (([], [], spread), "pointers"),
        (([0, 2], [0.0, 1.0], spread), "members must hold integers"),
        (([0, 2], [0, 1], lambda k, m: k * 1j), r"function\(k, 2\) must hold real numbers"),
        (([0, 2], [0, 1], lambda k, m: None), r"function\(k, 2\) must hold real numbers"),
    ],
)
def test_types_that_are_refused(arguments, message):
    with pytest.raises(TypeError, match=message):
        sm.Cardinality(*arguments)


def test_labels_that_are_refused():
    with pytest.raises(TypeError, match="labels must hold integers"):
        sm.Cardinality.from_labels([0.0, 1.0], spread)
    with pytest.raises(ValueError, match="labels is empty"):
        sm.Cardinality.from_labels(np.zeros((0, 3), dtype=int), spread)


def test_functions_with_rounding_are_accepted():
    term = sm.Cardinality([0, 50], np.arange(50), lambda k, m: 0.3 * k)
    assert term.evaluate(np.ones(50, dtype=bool)) == 0.3 * 50


def test_a_user_error_in_the_function_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        sm.Cardinality([0, 1], [0], lambda k, m: 1 // 0)


def test_functions_of_numbers_are_told_that_they_get_arrays():
    with pytest.raises(ValueError, match=r"function\(k, 3\) failed: .* use NumPy functions"):
        sm.Cardinality([0, 3], [0, 1, 2], lambda k, m: min(k, m - k))
    with pytest.raises(TypeError, match=r"function\(k, 3\) failed"):
        sm.Cardinality([0, 3], [0, 1, 2], np.sqrt)
