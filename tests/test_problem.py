"""The problem: values against brute force, laws that values obey, and refusals."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from .problems import Model, Part, all_sets, model, models, parts, vectors

FEW = settings(max_examples=30)
LARGEST = sys.float_info.max


def assert_same_values(problem: sm.Problem, expected: np.ndarray, scale: float = 1.0) -> None:
    """Compare F of all sets."""
    for mask, value in zip(all_sets(problem.n), expected, strict=True):
        got = problem.evaluate(mask.reshape(problem.shape))
        assert got == value or abs(got - value) <= 1e-12 * scale


# Values.


@FEW
@given(models(hard=True, shapes=[(1,), (3,), (2, 3), (2, 1, 2)]))
def test_values_are_those_of_the_definition(case: Model):
    assert_same_values(case.problem, case.values, case.scale)


@FEW
@given(models(whole=True, shapes=[(1,), (3,), (2, 3), (2, 1, 2)]))
def test_values_of_whole_numbers_are_exact(case: Model):
    for mask, value in zip(all_sets(case.problem.n), case.values, strict=True):
        assert case.problem.evaluate(mask) == value


def test_values_are_summed_without_rounding():
    problem = sm.Problem([1e16, 1.0, -1e16, 1.0], constant=1.0)
    assert problem.evaluate(np.ones(4, dtype=bool)) == 3.0


def test_every_shape_of_mask_that_fits():
    problem = sm.Problem(np.arange(6.0).reshape(2, 3))
    mask = np.zeros((2, 3), dtype=bool)
    mask[1, 0] = True
    assert problem.evaluate(mask) == problem.evaluate(mask.ravel()) == 3.0
    assert problem.evaluate(np.asfortranarray(mask)) == 3.0


@pytest.mark.parametrize("mask", [[0, 1, 1], [0.0, 1.0, 0.0], ["a", "b", "c"]])
def test_masks_are_boolean(mask):
    with pytest.raises(TypeError, match="boolean mask"):
        sm.Problem(np.zeros(3)).evaluate(mask)


@pytest.mark.parametrize("shape", [(2,), (4,), (3, 1), (1, 3), ()])
def test_masks_have_the_shape_of_the_problem(shape):
    with pytest.raises(ValueError, match="has shape"):
        sm.Problem(np.zeros(3)).evaluate(np.zeros(shape, dtype=bool))


# Hard constraints.


def test_sets_that_break_hard_constraints_cost_infinity():
    problem = sm.Problem([np.inf, -np.inf, 1.0], constant=2.0)
    assert problem.evaluate([True, True, False]) == np.inf
    assert problem.evaluate([False, False, False]) == np.inf
    assert problem.evaluate([False, True, True]) == 3.0


@FEW
@given(models(hard=True, shapes=[(3,), (2, 3)]))
def test_stand_ins_keep_every_minimiser(case: Model):
    """With the finite costs in place of the infinite ones, no minimiser breaks a constraint."""
    problem = case.problem
    unary = sm.Layout(problem, pinned=True).unary.reshape(problem.shape)
    finite = model(unary, case.parts, problem.constant)
    best = finite.values <= finite.minimum
    assert np.all(np.isfinite(case.values[best]))


@FEW
@given(models(hard=True, shapes=[(3,), (2, 3)]), st.data())
def test_repair_imposes_hard_constraints_and_keeps_the_rest(case: Model, data):
    problem = case.problem
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=problem.n, max_size=problem.n)))
    repaired = problem.repaired(mask)
    assert np.isfinite(problem.evaluate(repaired))
    free = np.isfinite(problem.unary.ravel())
    assert np.array_equal(repaired[free], mask[free])


# Laws of values.


@FEW
@given(models(shapes=[(3,), (2, 3)]), st.floats(-100, 100))
def test_a_constant_is_added_to_every_value(case: Model, constant: float):
    problem = case.problem
    moved = sm.Problem(problem.unary, problem.terms, problem.constant + constant)
    assert_same_values(moved, case.values + constant, case.scale + abs(constant))


@FEW
@given(parts("cut", (5,), False), vectors(False, 5))
def test_a_term_may_be_given_in_two_halves(part: Part, unary: np.ndarray):
    whole = model(unary, [part])
    half = part.term.size // 2
    tails, heads = part.term.tails, part.term.heads
    forward, backward = part.term.forward, part.term.backward
    halves = [
        sm.Cut(tails[some], heads[some], forward[some], backward[some])
        for some in (slice(half), slice(half, None))
    ]
    assert_same_values(sm.Problem(unary, halves), whole.values, whole.scale)


@FEW
@given(st.lists(st.integers(-1, 3), min_size=6, max_size=6), st.permutations(range(4)))
def test_the_names_of_groups_do_not_matter(labels, names):
    renamed = [names[label] if label >= 0 else -1 for label in labels]
    first, second = (
        sm.Problem(np.zeros(6), [sm.Cardinality.from_labels(some, lambda k, m: k * (m - k))])
        for some in (labels, renamed)
    )
    assert [first.evaluate(s) for s in all_sets(6)] == [second.evaluate(s) for s in all_sets(6)]


# Refusals.


def test_nan_is_refused_by_index():
    with pytest.raises(ValueError, match=r"unary\[1\] is nan"):
        sm.Problem([1.0, np.nan, 0.0])
    with pytest.raises(ValueError, match=r"unary\[1, 0\] is nan"):
        sm.Problem([[1.0, 2.0], [np.nan, 0.0]])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 2)])
def test_empty_ground_sets_are_refused(shape):
    axis = shape.index(0)
    with pytest.raises(ValueError, match=rf"unary\[{axis}\] is 0"):
        sm.Problem(np.zeros(shape))


def test_a_scalar_is_a_problem_of_one_element():
    problem = sm.Problem(-3)
    assert (problem.n, problem.shape) == (1, (1,))
    assert problem.evaluate([True]) == -3.0


@pytest.mark.parametrize("unary", ["abc", [1j], [None], [object()]])
def test_unaries_of_other_types_are_refused(unary):
    with pytest.raises(TypeError, match="unary must hold real numbers"):
        sm.Problem(unary)


def test_unaries_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"unary overflows.*a hard constraint is inf or -inf"):
        sm.Problem([1e308, 1e308])


@pytest.mark.parametrize("constant", [np.nan, np.inf, -np.inf])
def test_constants_are_finite(constant):
    with pytest.raises(ValueError, match="constant is"):
        sm.Problem([1.0], constant=constant)


@pytest.mark.parametrize("term", ["cut", 3, None, np.zeros(3), sm.Cut])
def test_terms_are_terms(term):
    with pytest.raises(TypeError, match=r"terms\[1\]"):
        sm.Problem(np.zeros(3), [sm.GridCut(3, 1.0), term])


@pytest.mark.parametrize(
    ("unary_shape", "term", "message"),
    [
        ((3,), sm.Cut([0], [3], [1.0]), r"terms\[0\] \(Cut\) uses element 3"),
        ((2, 3), sm.GridCut((3, 2), 1.0), r"terms\[0\] \(GridCut\) has shape \(3, 2\)"),
        ((2, 3), sm.GridCut((2, 2), 1.0), r"terms\[0\] \(GridCut\) has shape \(2, 2\)"),
        ((4,), sm.GridCut((2, 3), 1.0), r"terms\[0\] \(GridCut\) has shape \(2, 3\)"),
        ((6,), sm.GridCut((2, 2), 1.0), r"terms\[0\] \(GridCut\) has shape \(2, 2\)"),
        (
            (3, 2),
            sm.Cardinality.from_labels(np.zeros((2, 3), dtype=int), lambda k, m: k * (m - k)),
            r"terms\[0\] \(Cardinality\) has shape \(2, 3\)",
        ),
    ],
)
def test_terms_fit_the_shape(unary_shape, term, message):
    with pytest.raises(ValueError, match=message):
        sm.Problem(np.zeros(unary_shape), [term])


def test_flat_unaries_take_terms_with_a_shape():
    grid = sm.GridCut((2, 3), 1.0)
    mask = np.array([True, False, False, False, False, False])
    assert sm.Problem(np.zeros(6), [grid]).evaluate(mask) == 2.0
    assert sm.Problem(np.zeros((2, 3)), [sm.GridCut(6, 1.0)]).evaluate(mask) == 1.0


def test_arrays_of_the_right_type_are_used_in_place():
    """No copy is made of what fits, and solving writes to none of it."""
    unary, tails, weights = np.array([1.0, -2.0]), np.array([0], dtype=np.int32), np.array([3.0])
    problem = sm.Problem(unary, [sm.Cut(tails, [1], weights)])
    assert np.shares_memory(problem.unary, unary)
    assert np.shares_memory(problem.terms[0].tails, tails)
    assert np.shares_memory(problem.terms[0].forward, weights)
    for name in ("auto", "rcdm"):
        assert sm.minimize(problem, name).value == -1.0
    np.testing.assert_array_equal(unary, [1.0, -2.0])
    np.testing.assert_array_equal(weights, [3.0])


def test_data_of_any_layout_gives_the_same_problem():
    unary = np.arange(12.0).reshape(3, 4) - 5
    wide = np.zeros((6, 8))
    wide[::2, ::2] = unary
    read_only = unary.copy()
    read_only.flags.writeable = False
    expected = sm.minimize(sm.Problem(unary, [sm.GridCut((3, 4), 1.0)]))
    for values in (
        np.asfortranarray(unary), wide[::2, ::2], read_only, unary.astype(">f8"),
        unary.astype(np.float16), unary.astype(">f4"), unary.astype(np.int8), unary.tolist(),
    ):  # fmt: skip
        result = sm.minimize(sm.Problem(values, [sm.GridCut((3, 4), 1.0)]))
        assert result.value == expected.value
        assert np.array_equal(result.minimizer, expected.minimizer)


def test_repr_names_shape_and_terms():
    assert repr(sm.Problem(np.zeros((2, 2)))) == "Problem(shape=(2, 2), no terms)"
    assert "GridCut" in repr(sm.Problem(np.zeros(2), [sm.GridCut(2, 1.0)]))


# Costs of both labels.


@FEW
@given(vectors(False, 4), vectors(False, 4), parts("cut", (4,), False))
def test_costs_of_both_labels(cost_in, cost_out, part: Part):
    problem = sm.Problem.from_costs(cost_in, cost_out, [part.term])
    expected = np.where(all_sets(4), cost_in, cost_out).sum(axis=1) + part.values
    assert_same_values(problem, expected, 100.0)


def test_infinite_costs_of_one_label_force_the_other():
    problem = sm.Problem.from_costs([np.inf, 1.0, 2.0], [3.0, np.inf, 5.0])
    assert problem.unary.tolist() == [np.inf, -np.inf, -3.0]
    assert problem.evaluate([False, True, True]) == 3.0 + 1.0 + 2.0
    assert problem.evaluate([True, True, True]) == np.inf


@pytest.mark.parametrize(
    ("cost_in", "cost_out", "message"),
    [
        ([np.inf, 0.0], [np.inf, 0.0], r"cost_in\[0\] is inf.*infeasible"),
        ([0.0, np.nan], [0.0, 0.0], r"cost_in\[1\] is nan"),
        ([0.0, 0.0], [0.0, np.nan], r"cost_out\[1\] is nan"),
        ([0.0, -np.inf], [0.0, 0.0], r"cost_in\[1\] is -inf"),
        ([0.0, 0.0], [-np.inf, 0.0], r"cost_out\[0\] is -inf"),
        ([0.0, 0.0], [0.0], "shape"),
        ([1e308], [-1e308], r"cost_in\[0\] is 1e\+308: inf forbids a label"),
        ([0.0, 1.0], [0.0, LARGEST], r"cost_out\[1\] is 1.79\S*e\+308: inf forbids a label"),
    ],
)
def test_costs_that_are_refused(cost_in, cost_out, message):
    with pytest.raises(ValueError, match=message):
        sm.Problem.from_costs(cost_in, cost_out)


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f4"])
def test_unsigned_costs_do_not_wrap_around(dtype):
    zero_one = np.array([0, 1], dtype=dtype)
    problem = sm.Problem.from_costs(zero_one, zero_one[::-1])
    assert problem.unary.tolist() == [-1.0, 1.0]


# Granularity.


@FEW
@given(models(whole=True, shapes=[(3,), (2, 3)]), st.sampled_from([1.0, 0.25, 2.0**-9]))
def test_granularity_divides_every_value(case: Model, unit: float):
    unary = case.problem.unary * unit
    cut = sm.Cut([0, 1], [1, 2], [2 * unit, 3 * unit])
    problem = sm.Problem(unary, [cut])
    g = problem.granularity
    assert g > 0
    values = np.array([problem.evaluate(mask) for mask in all_sets(problem.n)])
    assert np.array_equal(values / g, np.rint(values / g))


def test_granularity_is_unknown_for_ordinary_floats():
    assert sm.Problem([0.1, 2.0]).granularity == 0.0
    assert sm.Problem([1.0], constant=0.1).granularity == 1.0
    assert sm.Problem([1.0, 2.0], [sm.GridCut(2, 0.1)]).granularity == 0.0


def test_granularity_is_the_largest():
    assert sm.Problem([6.0, -9.0], [sm.GridCut(2, 12.0)]).granularity == 3.0
    assert sm.Problem([np.inf, -8.0], [sm.GridCut(2, 12.0)]).granularity == 4.0


def test_infinite_data_after_construction_are_refused():
    unary, weights = np.array([1.0, -2.0, 1.0]), np.ones(2)
    problem = sm.Problem(unary, [sm.GridCut(3, [weights])])
    unary[1] = np.inf
    with pytest.raises(ValueError, match=r"unary\[1\] is inf: it was changed"):
        sm.minimize(problem)
    unary[1], weights[0] = -2.0, -np.inf
    with pytest.raises(ValueError, match=r"weights\[0\] is -inf: they were changed"):
        sm.minimize(problem)
