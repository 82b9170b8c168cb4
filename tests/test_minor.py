"""Minors: the same costs on every set, feasible duals both ways, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.model.minor import Minor
from submin.solve.layout import Layout

from .group_terms import concave_families, hyperedges, truncations
from .problems import FAMILIES, Model, Part, all_sets, model, models, parts, vectors
from .strategies import functions

GROUPS = {"hyperedge": hyperedges, "truncation": truncations, "concave": concave_families}
SMALL = [(1,), (2,), (5,), (2, 3), (7,), (2, 2, 2)]


@st.composite
def sides(draw: st.DrawFn, n: int, free: int = 1) -> np.ndarray:
    """1 inside, -1 outside, 0 free; at least so many free."""
    side = np.array(draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n)))
    side[draw(st.permutations(range(n)))[:free]] = 0
    return side


def minor_of(problem: sm.Problem, side: np.ndarray) -> Minor:
    shaped = side.reshape(problem.shape)
    return problem.minor(shaped == 1, shaped == -1)


def assert_same_costs(case: Model, side: np.ndarray) -> Minor:
    """F' of every set is F of the lifted set, which the plain loops know."""
    minor = minor_of(case.problem, side)
    assert minor.elements.tolist() == np.flatnonzero(side == 0).tolist()
    assert minor.problem.shape == minor.elements.shape
    for members in all_sets(minor.problem.n):
        lifted = minor.lift(members)
        assert lifted.shape == case.problem.shape
        flat = lifted.ravel()
        assert flat[minor.elements].tolist() == members.tolist()
        assert flat[side == 1].all()
        assert not flat[side == -1].any()
        expected = case.values[int(flat @ (1 << np.arange(flat.size)))]
        found = minor.problem.evaluate(members)
        assert found == expected or abs(found - expected) <= 1e-12 * case.scale
    return minor


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=40)
@given(data=st.data())
def test_minors_of_each_family(family, data):
    shape = data.draw(st.sampled_from(SMALL))
    n = int(np.prod(shape))
    part = data.draw(parts(family, shape, False))
    case = model(data.draw(vectors(False, n)).reshape(shape), [part])
    assert_same_costs(case, data.draw(sides(n)))


@pytest.mark.parametrize("family", list(GROUPS))
@settings(max_examples=60)
@given(data=st.data())
def test_minors_of_each_family_on_groups(family, data):
    part: Part = data.draw(GROUPS[family](5))
    case = model(data.draw(vectors(False, 5)), [part])
    assert_same_costs(case, data.draw(sides(5)))


@settings(max_examples=60)
@given(models(hard=True, shapes=SMALL), st.data())
def test_minors_of_mixtures_keep_the_hard_constraints_of_free_elements(case: Model, data):
    unary = case.problem.unary.ravel()
    side = data.draw(sides(unary.size))
    side[((side == 1) & (unary == np.inf)) | ((side == -1) & (unary == -np.inf))] = 0
    minor = assert_same_costs(case, side)
    hard = ~np.isfinite(unary[minor.elements])
    assert minor.problem.unary[hard].tolist() == unary[minor.elements][hard].tolist()


@settings(max_examples=15)
@given(st.data())
def test_minors_of_functions_by_values_and_by_vertices(data):
    """Of up to 11 elements, so that minors of some are tabulated and of some are not."""
    term = data.draw(functions(11))
    problem = sm.Problem(np.zeros(11), [term])
    side = data.draw(sides(11, free=9)) if data.draw(st.booleans()) else data.draw(sides(11))
    minor = minor_of(problem, side)
    for _ in range(20):
        members = data.draw(vectors(True, minor.problem.n)) > 0
        expected = problem.evaluate(minor.lift(members))
        assert minor.problem.evaluate(members) == pytest.approx(expected, abs=1e-9)
    for part in minor.problem.terms:
        sm.testing.check_term(part)


@settings(max_examples=40)
@given(models(shapes=SMALL), st.data())
def test_a_minor_of_a_minor_is_a_minor(case: Model, data):
    n = case.problem.n
    first = data.draw(sides(n, free=min(n, 2)))
    minor = minor_of(case.problem, first)
    second = data.draw(sides(minor.problem.n))
    nested = minor_of(minor.problem, second)
    both = first.copy()
    both[minor.elements] = second
    once = minor_of(case.problem, both)
    for members in all_sets(once.problem.n):
        assert np.array_equal(minor.lift(nested.lift(members)), once.lift(members))
        assert nested.problem.evaluate(members) == pytest.approx(
            once.problem.evaluate(members), abs=1e-12 * case.scale
        )


@pytest.mark.parametrize("family", [*FAMILIES, *GROUPS])
@settings(max_examples=25)
@given(data=st.data())
def test_duals_are_feasible_both_ways(family, data):
    part = data.draw(GROUPS[family](5) if family in GROUPS else parts(family, (5,), False))
    case = model(data.draw(vectors(False, 5)), [part])
    minor = minor_of(case.problem, data.draw(sides(5)))
    full = sm.minimize(case.problem, "accelerated_sweeps", max_passes=3).dual
    small = sm.minimize(minor.problem, "accelerated_sweeps", max_passes=3).dual
    for problem, dual in (
        (minor.problem, minor.restrict_dual(full)),
        (case.problem, minor.lift_dual(small, full)),
    ):
        assert [part.size for part in dual] == [term.size for term in problem.terms]
        for term, y in zip(problem.terms, dual, strict=True):
            total = np.zeros(problem.n)
            term.accumulate(y, total)
            assert term.violation(y).total <= 1e-10 * case.scale
            whole = term.evaluate(np.ones(problem.n, dtype=bool))
            assert total.sum() == pytest.approx(whole, abs=1e-10 * case.scale)
    back = minor.lift_dual(minor.restrict(full), full)
    for a, b in zip(back, full, strict=True):
        assert np.allclose(a, b, rtol=0.0, atol=1e-10 * case.scale)


def segmentation() -> sm.Problem:
    """Noise around a square, with edges of both kinds and groups."""
    random = np.random.default_rng(5)
    unary = random.normal(size=(24, 24)) + 1.0
    unary[6:18, 6:18] -= 2.0
    labels = np.arange(24)[:, None] // 4 * 6 + np.arange(24) // 4
    return sm.Problem(
        unary,
        [
            sm.GridCut((24, 24), 0.4, connectivity=8),
            sm.Cut(random.integers(0, 288, 200), random.integers(288, 576, 200), 0.2),
            sm.Cardinality.from_labels(labels, lambda k, m: 0.3 * np.minimum(k, m - k)),
        ],
    )


def test_a_restricted_dual_warm_starts_the_minor():
    """Fixed as in the minimiser, the rest has the same minimum, and is close to it at once."""
    problem, solver = segmentation(), "accelerated_sweeps"
    result = sm.minimize(problem, solver)
    fixed = np.random.default_rng(0).random(problem.shape) < 0.5
    minor = problem.minor(result.minimizer & fixed, ~result.minimizer & fixed)
    near = minor.restrict_dual(result.dual)
    cold = sm.minimize(minor.problem, solver)
    warm = sm.minimize(minor.problem, solver, warm_start=near)
    assert warm.value == pytest.approx(result.value, abs=1e-9)
    assert warm.history[0].discrete_gap < 0.1 * cold.history[0].discrete_gap
    assert warm.passes <= cold.passes
    lifted = minor.lift_dual(warm.dual, result.dual)
    again = sm.minimize(problem, solver, warm_start=lifted)
    assert again.history[0].discrete_gap < 0.1 * result.history[0].discrete_gap


def test_nothing_fixed_leaves_the_terms_as_they_are():
    problem = segmentation()
    nothing = np.zeros(problem.shape, dtype=bool)
    minor = problem.minor(nothing, nothing)
    assert all(a is b for a, b in zip(minor.problem.terms, problem.terms, strict=True))
    assert minor.problem.n == problem.n
    assert minor.lift(nothing.ravel()).shape == problem.shape


def test_families_of_a_minor():
    """Cuts stay cuts, undirected ones undirected, and functions without free elements are gone."""
    problem = segmentation()
    inside, outside = np.zeros((2, *problem.shape), dtype=bool)
    inside[:12], outside[12:20] = True, True
    terms = problem.minor(inside, outside).problem.terms
    assert [type(term).__name__ for term in terms] == ["Cut", "Cardinality"]
    assert terms[0].forward is terms[0].backward
    assert terms[0].size == 4 * 23 + 3 * 24 + 2 * 3 * 23  # rows, columns, both diagonals
    assert np.diff(terms[-1].pointers).tolist() == [16] * 6


def test_one_sided_hyperedges():
    """With a tail inside, w [S misses a head]; with a head outside, w [S has a tail]."""
    problem = sm.Problem(np.zeros(4), [sm.Hyperedge([0, 4], range(4), 2.0)])
    first, nothing = np.arange(4) == 0, np.zeros(4, dtype=bool)
    for inside, outside, costs in (
        (first, nothing, [2.0, 2.0, 2.0, 0.0]),
        (nothing, first, [0.0, 2.0, 2.0, 2.0]),
    ):
        minor = problem.minor(inside, outside)
        assert [minor.problem.evaluate(np.arange(3) < k) for k in range(4)] == costs


@pytest.mark.parametrize(
    "term",
    [
        sm.Function(range(10), lambda mask: 1e9 * float(np.sqrt(mask.sum()))),
        sm.Function(range(12), lambda mask: 1e9 * float(np.sqrt(mask.sum()))),
        sm.Cardinality([0, 10], range(10), lambda k, m: 1e9 * np.sqrt(k)),
        sm.Table([range(10)], 1e9 * np.sqrt(all_sets(10).sum(axis=1))),
    ],
)
def test_a_slice_of_large_numbers_is_not_refused_for_its_rounding(term):
    """Gains of 1e8 are left of values of 3e9, with rounding errors of those."""
    n = term.elements
    side = np.where(np.arange(n) < n - 3, 1, 0)
    minor = minor_of(sm.Problem(np.zeros(n), [term]), side)
    expected = 1e9 * (np.sqrt(n) - np.sqrt(n - 3))
    assert minor.problem.evaluate(np.ones(3, bool)) - minor.problem.constant == pytest.approx(
        expected, abs=1e-5
    )
    assert sm.minimize(minor.problem).status is sm.Status.OPTIMAL


# Refusals.

PAIR = sm.Problem([[1.0, np.inf], [-np.inf, 0.0]], [sm.GridCut((2, 2), 1.0)])


@pytest.mark.parametrize(
    ("inside", "outside", "message"),
    [
        ([[1, 0], [0, 0]], [[1, 0], [0, 0]], r"inside\[0\] is True: .*it is outside too"),
        ([[0, 1], [0, 0]], [[0, 0], [0, 0]], r"inside\[1\] .* unary.flat\[1\] is inf"),
        ([[0, 0], [0, 0]], [[0, 0], [1, 0]], r"outside\[2\] .* unary.flat\[2\] is -inf"),
        ([[1, 0], [1, 0]], [[0, 1], [0, 1]], "fix all elements"),
        ([1, 0, 0], [[0, 0], [0, 0]], r"inside has shape \(3,\)"),
    ],
)
def test_fixings_that_are_refused(inside, outside, message):
    with pytest.raises(ValueError, match=message):
        PAIR.minor(np.array(inside, dtype=bool), np.array(outside, dtype=bool))


def test_masks_are_masks():
    with pytest.raises(TypeError, match=r"inside must be a boolean mask .*mask > 0 makes one"):
        PAIR.minor(np.zeros(PAIR.shape), np.zeros(PAIR.shape, dtype=bool))


def test_a_family_without_minors_is_named():
    class Own(sm.Table):
        minor = sm.Term.minor

    problem = sm.Problem([1.0, 2.0], [Own([[0, 1]], [0.0, 1.0, 1.0, 1.0])])
    with pytest.raises(TypeError, match=r"kind 'table' .* Own needs a method minor\(fixing\)"):
        problem.minor(np.array([True, False]), np.zeros(2, bool))
    nothing = np.zeros(2, dtype=bool)
    assert problem.minor(nothing, nothing).problem.terms == problem.terms
    assert sm.screen(problem).outside.all()


def test_a_minor_s_layout_is_that_of_its_problem():
    problem = segmentation()
    inside, nothing = np.zeros((2, *problem.shape), dtype=bool)
    inside[8:12, 8:12] = True
    minor = problem.minor(inside, nothing)
    assert Layout(minor.problem).n == minor.elements.size == 576 - 16


def test_duals_of_another_problem_are_refused():
    problem = segmentation()
    inside, nothing = np.zeros((2, *problem.shape), dtype=bool)
    inside[:3] = True
    minor = problem.minor(inside, nothing)
    full = sm.minimize(problem, max_passes=1).dual
    with pytest.raises(ValueError, match=r"dual has sizes .* the terms of Problem"):
        minor.restrict_dual(full[:1])
    with pytest.raises(ValueError, match="dual has sizes"):
        minor.lift_dual(full, full)
    with pytest.raises(ValueError, match="full has sizes"):
        minor.lift_dual(minor.restrict_dual(full), full[:2])
