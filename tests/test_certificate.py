"""Certificates: for any dual whatever the bound is one, and statuses say what was proved."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import submin as sm
from submin._sums import (
    common_granularity,
    compensated_sum,
    scatter_sum,
    sum_error,
    summable_granularity,
)
from submin.solve.certificate import lower_bound

from .problems import FAMILIES, Model, models, set_index, vectors

FEW = settings(max_examples=30)
SHAPES = [(1,), (4,), (2, 3), (2, 1, 2)]


def any_mask(data: st.DataObject, n: int) -> np.ndarray:
    return np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))


def any_dual(data: st.DataObject, case: Model, size: float = 8.0) -> list[np.ndarray]:
    return [data.draw(vectors(False, part.term.size, -size, size)) for part in case.parts]


# The bound.


@pytest.mark.parametrize("hard", [False, True])
@FEW
@given(data=st.data())
def test_the_bound_of_any_dual_is_a_bound(hard, data):
    """Feasible or not: here the duals are random numbers."""
    case = data.draw(models(hard=hard, shapes=SHAPES))
    mask = any_mask(data, case.problem.n)
    certificate = sm.certify(case.problem, mask, any_dual(data, case))
    assert certificate.lower_bound <= case.minimum + 1e-15 * case.scale
    assert certificate.violation >= 0.0
    value = case.values[set_index(mask)]
    if np.isfinite(value):
        assert certificate.value == pytest.approx(value, abs=1e-12 * case.scale)
        difference = certificate.value - certificate.lower_bound
        assert 0.0 <= certificate.gap <= difference <= certificate.gap + 1e-14 * case.scale
    else:
        assert certificate.value == certificate.gap == np.inf
        assert not certificate.optimal


@pytest.mark.parametrize("family", FAMILIES)
@FEW
@given(data=st.data())
def test_the_bound_of_each_family(family, data):
    case = data.draw(models([family, family], shapes=SHAPES))
    certificate = sm.certify(case.problem, any_mask(data, case.problem.n), any_dual(data, case))
    assert certificate.lower_bound <= case.minimum + 1e-15 * case.scale


@FEW
@given(models(whole=True, hard=True, shapes=SHAPES), st.data())
def test_optimal_is_never_claimed_of_another_set(case: Model, data):
    mask = any_mask(data, case.problem.n)
    certificate = sm.certify(case.problem, mask, any_dual(data, case))
    assert certificate.lower_bound <= case.minimum
    if certificate.optimal:
        assert case.values[set_index(mask)] == case.minimum


@FEW
@given(models(whole=True, shapes=SHAPES), st.data())
def test_bounds_of_whole_numbers_are_values_that_f_can_take(case: Model, data):
    certificate = sm.certify(case.problem, any_mask(data, case.problem.n), any_dual(data, case))
    g = certificate.granularity
    assert g > 0
    steps = (certificate.lower_bound - case.problem.constant) / g
    assert steps == np.rint(steps)


@FEW
@given(models(shapes=SHAPES), st.data())
def test_the_certificate_is_its_formula_in_exact_arithmetic(case: Model, data):
    """sum min(0, s) - violation, with s summed in fractions, is within the stated rounding."""
    dual = any_dual(data, case)
    core, violation, rounding, _ = lower_bound(case.problem, dual)
    s = [Fraction(float(u)) for u in case.problem.unary.ravel()]
    for part, y in zip(case.parts, dual, strict=True):
        for column, value in enumerate(y):
            one = np.zeros(y.size)
            one[column] = 1.0
            place = np.zeros(case.problem.n)
            part.term.accumulate(one, place)
            for v in np.flatnonzero(place):
                s[v] += Fraction(float(place[v])) * Fraction(float(value))
    exact = sum(min(Fraction(0), value) for value in s) - Fraction(violation)
    assert abs(exact - Fraction(core)) <= Fraction(rounding) + Fraction(2.0**-53 * abs(core))


@FEW
@given(st.data())
def test_violations_are_within_their_error_in_exact_arithmetic(data):
    """Edges: the excess over both bounds.  Groups: max over k of the k largest values less g(k)."""
    case = data.draw(models(["cut", "cardinality"], shapes=SHAPES))
    cut, groups = (part.term for part in case.parts)
    flow, y = any_dual(data, case)
    exact = Fraction(0)
    for t, out, back in zip(flow, cut.forward, cut.backward, strict=True):
        exact += max(Fraction(0), Fraction(t) - Fraction(out), -Fraction(back) - Fraction(t))
    found = cut.violation(flow)
    assert abs(Fraction(found.total) - exact) <= Fraction(found.error)
    exact = Fraction(0)
    for start, stop, first in zip(
        groups.pointers, groups.pointers[1:], groups.value_pointers, strict=False
    ):
        largest, best = Fraction(0), Fraction(0)
        for k, value in enumerate(sorted(y[start:stop], reverse=True), 1):
            largest += Fraction(value)
            best = max(best, largest - Fraction(groups.values[first + k]))
        exact += best
    found = groups.violation(y)
    assert abs(Fraction(found.total) - exact) <= Fraction(found.error)


def test_hard_constraints_are_counted_as_what_they_must_be():
    problem = sm.Problem([-np.inf, np.inf, 1.0], [sm.Cut([0, 0], [1, 2], [2.0, 3.0])])
    certificate = sm.certify(problem, np.array([True, False, True]), [np.array([2.0, 1.0])])
    assert certificate.value == 3.0
    assert certificate.lower_bound == 3.0
    assert certificate.optimal


# Results, tampered with.


def solved() -> tuple[sm.Problem, sm.Result]:
    random = np.random.default_rng(0)
    problem = sm.Problem(
        random.normal(size=(4, 5)),
        [
            sm.GridCut((4, 5), 0.4, 8),
            sm.Cardinality.from_labels(
                np.arange(20).reshape(4, 5) // 6, lambda k, m: 0.1 * k * (m - k)
            ),
        ],
    )
    return problem, sm.minimize(problem)


def test_verification_finds_what_the_solver_found():
    problem, result = solved()
    assert sm.verify(problem, result) == result.certificate
    assert sm.verify(problem, result.minimizer, result.dual) == result.certificate
    assert result.status is sm.Status.OPTIMAL


@pytest.mark.parametrize("element", [0, 7, 19])
def test_a_changed_set_is_not_optimal(element):
    problem, result = solved()
    mask = result.minimizer.copy()
    mask.flat[element] ^= True
    certificate = sm.verify(problem, replace(result, minimizer=mask))
    assert not certificate.optimal
    assert certificate.value == problem.evaluate(mask) > result.value
    assert certificate.status() is sm.Status.STOPPED


@pytest.mark.parametrize("amount", [1e-3, -1e-3, 10.0, 1e6, -1e6])
@pytest.mark.parametrize("term", [0, 1])
def test_a_changed_dual_still_proves_a_bound(term, amount):
    problem, result = solved()
    dual = [part.copy() for part in result.dual]
    dual[term] += amount
    certificate = sm.verify(problem, replace(result, dual=tuple(dual)))
    assert certificate.lower_bound <= result.value
    assert certificate.value == result.value


def test_a_forged_certificate_is_not_believed():
    problem, result = solved()
    forged = replace(result.certificate, value=-1e6, lower_bound=-1e6, gap=0.0)
    wrong = replace(result, certificate=forged, minimizer=~result.minimizer)
    certificate = sm.verify(problem, wrong)
    assert certificate.value == problem.evaluate(~result.minimizer)
    assert not certificate.optimal


def test_the_dual_of_another_problem_proves_a_bound():
    problem, result = solved()
    other = sm.Problem(problem.unary + 0.3, problem.terms)
    certificate = sm.verify(other, result)
    best = sm.minimize(other)
    assert certificate.lower_bound <= best.value
    assert certificate.value == other.evaluate(result.minimizer)


def test_a_set_alone_is_checked_against_zero():
    problem = sm.Problem([1.0, 2.0], [sm.GridCut(2, 1.0)])
    certificate = sm.verify(problem, [False, False])
    assert certificate.optimal
    assert not sm.verify(problem, [True, True]).optimal


@pytest.mark.parametrize(
    ("mask", "dual", "error", "message"),
    [
        ([0, 1, 1], None, TypeError, "boolean"),
        ([True, False], None, ValueError, r"has shape \(2,\)"),
        ([True, False, True], [], ValueError, r"sizes \[\], but the terms have \[2\]"),
        ([True, False, True], [np.zeros(3)], ValueError, r"sizes \[3\]"),
        ([True, False, True], [[np.nan, 0.0]], ValueError, "not finite"),
        ([True, False, True], [[np.inf, 0.0]], ValueError, "not finite"),
        ([True, False, True], [[1j, 0.0]], TypeError, "real numbers"),
        ([True, False, True], [["a", "b"]], TypeError, "real numbers"),
    ],
)
def test_verification_refuses(mask, dual, error, message):
    problem = sm.Problem(np.zeros(3), [sm.GridCut(3, 1.0)])
    with pytest.raises(error, match=message):
        sm.verify(problem, mask, dual)


def test_duals_of_any_real_type_are_verified():
    problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    expected = sm.verify(problem, [False] * 3, [np.array([-1.0, 1.0])])
    assert expected.optimal
    for dual in ([[-1, 1]], [np.array([-1, 1], dtype=">f4")], (np.array([[-1], [1]]),)):
        assert sm.verify(problem, [False] * 3, dual) == expected


# Statuses.


def certificate(gap: float, optimal: bool) -> sm.Certificate:
    return sm.Certificate(1.0, 1.0 - gap, gap, 0.0, 1e-15, 0.0, optimal)


@pytest.mark.parametrize(
    ("gap", "optimal", "tol", "expected"),
    [
        (0.0, True, 0.0, sm.Status.OPTIMAL),
        (0.5, False, 0.0, sm.Status.STOPPED),
        (0.5, False, 0.5, sm.Status.CONVERGED),
        (0.5, False, 0.49, sm.Status.STOPPED),
        (0.0, True, 1.0, sm.Status.OPTIMAL),
        (np.inf, False, 1e300, sm.Status.STOPPED),
    ],
)
def test_status(gap, optimal, tol, expected):
    assert certificate(gap, optimal).status(tol) is expected


def test_a_certificate_reads_as_a_sentence():
    assert "proved to be a minimiser" in str(certificate(0.0, True))
    assert "within 0.5 of the minimum" in str(certificate(0.5, False))


def test_whole_numbers_close_the_gap_exactly():
    random = np.random.default_rng(1)
    problem = sm.Problem(random.integers(-9, 10, (6, 7)), [sm.GridCut((6, 7), 2, 8)])
    result = sm.minimize(problem)
    assert result.gap == 0.0
    assert result.value == result.lower_bound == np.rint(result.value)
    assert result.certificate.granularity == 1.0


def test_a_large_constant_hides_no_difference():
    """Beside 2^60 a difference of 0.55 is lost in the value, and not in the gap."""
    problem = sm.Problem([0.25, 0.3], constant=2.0**60)
    first = sm.verify(problem, [True, True])
    assert first.lower_bound <= 2.0**60 <= first.value
    assert first.gap == pytest.approx(0.55)
    assert not first.closed
    assert sm.verify(problem, [False, False]).optimal


# Sums.


@given(st.lists(st.floats(-1e300, 1e300), max_size=60))
def test_compensated_sums_are_within_their_error(values):
    array = np.array(values)
    exact = sum(map(Fraction, values), Fraction(0))
    assume(abs(exact) < Fraction(10) ** 300 and np.abs(array).sum() < 1e300)
    assert abs(Fraction(compensated_sum(array)) - exact) <= Fraction(sum_error(array))


@given(st.lists(st.floats(-1e10, 1e10), min_size=1, max_size=30), st.integers(0, 30))
def test_sums_that_cancel(values, position):
    """Huge numbers that cancel leave the sum of the others."""
    array = np.insert(np.array([*values, 1e25]), min(position, len(values)), -1e25)
    exact = sum(map(Fraction, values), Fraction(0))
    assert abs(Fraction(compensated_sum(array)) - exact) <= Fraction(sum_error(array))


def test_sums_of_nothing_and_of_one():
    assert compensated_sum(np.zeros(0)) == 0.0
    assert compensated_sum(np.array([2.5])) == 2.5
    assert compensated_sum(np.array([[1.0, 2.0], [3.0, 4.0]])) == 10.0


def test_sums_by_position():
    positions = np.array([2, 0, 2], dtype=np.int32)
    assert scatter_sum(positions, np.array([1.0, 2.0, 4.0]), 4).tolist() == [2.0, 0.0, 5.0, 0.0]
    assert scatter_sum(positions[:0], np.zeros(0), 2).tolist() == [0.0, 0.0]
    assert scatter_sum(positions, np.array([True, False, True]), 3).tolist() == [0.0, 0.0, 2.0]


@given(
    st.lists(st.integers(-(2**30), 2**30), min_size=1, max_size=20),
    st.sampled_from([1.0, 0.5, 2.0**-10, 2.0**-20]),
)
def test_granularity_is_the_greatest_common_divisor(numbers, unit):
    divisor = int(np.gcd.reduce(np.abs(numbers)))
    expected = divisor * unit
    found = common_granularity(np.array(numbers) * unit)
    assert found == (expected or found)
    assert found > 0


@pytest.mark.parametrize("values", [[0.1], [2.0**-21], [1.0, np.pi]])
def test_granularity_that_is_not_known(values):
    assert common_granularity(np.array(values)) == 0.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [([2.0**53, 1.0], 1.0), ([2.0**60, 3 * 2.0**55], 16.0), ([1e300, 6.0], 2.0)],
)
def test_large_floats_are_multiples_of_their_last_place(values, expected):
    assert common_granularity(np.array(values)) == expected
    assert summable_granularity(np.array(values)) in (0.0, expected)
    assert summable_granularity(np.array([2.0**53, 1.0])) == 0.0


def test_granularity_of_nothing_is_harmless():
    assert common_granularity() > 0
    assert common_granularity(np.zeros(0), np.array([4.0])) == 4.0


def test_the_constant_counts_in_the_rounding_of_a_set_that_is_not_allowed():
    """Exact fractions say how far a bound may be."""
    random = np.random.default_rng(0)
    for _ in range(200):
        unary, constant = float(-random.random()), float(1000.0 * random.random())
        problem = sm.Problem([np.inf, unary], constant=constant)
        certificate = sm.verify(problem, np.array([True, False]))
        assert certificate.value == np.inf
        assert Fraction(certificate.lower_bound) <= Fraction(unary) + Fraction(constant)


def test_a_set_below_the_bound_refutes_submodularity():
    """Samples miss one deep pit among 2**16 sets; its value contradicts the bound."""
    pit = np.zeros(16, dtype=bool)
    pit[[3, 7, 11, 13]] = True

    def values(members):
        return 3.0 * np.sqrt(members.sum()) - (20.0 if (members == pit).all() else 0.0)

    problem = sm.Problem(np.full(16, 0.1), [sm.Function(np.arange(16), evaluate=values)])
    result = sm.minimize(problem)
    with pytest.raises(ValueError, match="a term is not submodular"):
        sm.verify(problem, pit, result.dual)


@pytest.mark.parametrize("dual", [[1.7e308, 0.0, 0.0], [1.7e308, 1.7e308, -1.7e308]])
@pytest.mark.parametrize(
    "term",
    [
        sm.Cut([0, 1, 2], [1, 2, 3], 1.0),
        sm.Cardinality([0, 3], [0, 1, 2], lambda k, m: k * (m - k)),
    ],
    ids=["edges", "group"],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_dual_whose_sums_overflow_proves_nothing(dual, term):
    certificate = sm.verify(sm.Problem(np.ones(4), [term]), np.ones(4, dtype=bool), [dual])
    assert not certificate.optimal
    if certificate.rounding == np.inf:
        assert (certificate.lower_bound, certificate.gap) == (-np.inf, np.inf)
    assert not certificate.gap < 3.0


@pytest.mark.parametrize(("mass", "share", "cost"), [(1e17, 0.3, -0.2997), (1e20, 1.0, -0.5)])
def test_sums_that_cancel_prove_no_false_minimiser(mass, share, cost):
    """Masses as large as this leave nothing of the rest of F(S) in long double."""
    term = sm.Truncation([0, 2], [0, 1], [mass, share], 2.0 * mass, [-mass, 0.0])
    problem = sm.Problem([-1e6, cost], [term])
    claim = sm.verify(problem, np.array([True, True]), [np.array([0.0, share])])
    true_value, minimum = -1e6 + cost + share, -1e6
    assert abs(claim.value - true_value) <= claim.rounding
    assert claim.lower_bound <= minimum


def test_strong_counts_are_closed_up_to_the_digits_of_their_values():
    """The last digit of a value of 1e6 is 1e-10, whatever the costs beside it are."""
    for seed in range(5):
        costs = np.random.default_rng(seed).normal(size=60)
        groups = np.arange(0, 61, 6), np.arange(60)
        for strength in (1e2, 1e6):
            term = sm.Cardinality(*groups, lambda k, m, w=strength: w * np.minimum(k, m - k))
            result = sm.minimize(sm.Problem(costs, [sm.GridCut(60, 0.3), term]), "max_flow")
            assert result.certificate.closed
            assert result.certificate.rounding < 1e-13 * strength


def test_verify_knows_nothing_of_the_values_that_costs_had_before():
    costs = np.array([1.0, -2.0])
    problem = sm.Problem(costs, [])
    assert problem.granularity == 1.0
    costs[1] = -0.25
    assert not sm.verify(problem, np.array([False, False]), []).optimal
    costs = np.array([np.inf, -1.0])
    problem = sm.Problem(costs, [])
    assert sm.minimize(problem).value == -1.0
    costs[0] = -5.0
    assert not sm.verify(problem, np.array([False, True]), []).optimal
    assert sm.minimize(problem).value == -6.0
