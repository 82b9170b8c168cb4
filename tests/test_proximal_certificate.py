"""Certificates of proximal points, against rational arithmetic and independent packages."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solve.proximal_driver import merged
from submin.solve.verification import faults_of_point
from submin.solvers import REGISTRY

from . import exact_proximal as exact
from .driver_problems import PROXIMAL, hard_problem
from .problems import no_family

FEW = settings(max_examples=40, deadline=None)
SCALES = (1e-30, 1e-3, 1.0, 1.0, 1e8, 1e30)
FAMILIES = ("cut", "directed", "grid", "count", "hyperedge", "truncation", "table", "function")


def term_of(family: str, n: int, weight: float, random: np.random.Generator) -> sm.Term:
    """A random term on n elements, with costs of the size of `weight`."""
    tails = random.integers(0, n, 2 * n)
    heads = (tails + random.integers(1, n, 2 * n)) % n
    order = random.permutation(n)
    pointers, members = [0, n // 2, n], order
    match family:
        case "cut":
            return sm.Cut(tails, heads, weight * random.random(2 * n))
        case "directed":
            return sm.Cut(tails, heads, weight * random.random(2 * n), 0.0)
        case "grid":
            return sm.GridCut(n, [weight * random.random(n - 1)])
        case "count":
            return sm.Cardinality(pointers, members, lambda k, m: weight * 0.3 * k * (m - 0.9 * k))
        case "hyperedge":
            return sm.Hyperedge(pointers, members, weight * random.random(2))
        case "truncation":
            masses = weight * random.random(n)
            return sm.Truncation(pointers, members, masses, 0.5 * weight, -0.3 * masses)
        case "table":
            values = np.array([0, 1, 1, 1.5, 1, 1.5, 1.5, 0.5]) * weight
            return sm.Table([order[:3], order[1:4]], values * random.random((2, 1)))
    root = weight * np.sqrt(np.arange(n + 1))
    return sm.Function(order, lambda mask: float(root[int(mask.sum())]))


@st.composite
def problems(draw: st.DrawFn, families: tuple[str, ...] = FAMILIES) -> sm.Problem:
    """Random problems of up to three terms, whose costs differ in size; some have ties."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, scale = draw(st.integers(4, 6)), draw(st.sampled_from(SCALES))
    unary = scale * (random.normal(size=n) + draw(st.sampled_from((0.0, 100.0))))
    if draw(st.booleans()):
        unary = scale * np.rint(unary / scale)
    chosen = draw(st.lists(st.sampled_from(families), min_size=1, max_size=3))
    strength = draw(st.sampled_from((0.3, 1.0, 1e5)))
    return sm.Problem(unary, [term_of(family, n, strength * scale, random) for family in chosen])


def random_dual(problem: sm.Problem, size: float, random: np.random.Generator) -> list[np.ndarray]:
    return [size * random.normal(size=term.size) for term in problem.terms]


def assert_proved(problem: sm.Problem, x: np.ndarray, dual: list[np.ndarray]) -> None:
    """The gap is above P(x) - P(x') for the best x' that is known, and above the formula."""
    certificate = sm.certify_point(problem, x, dual)
    near = sm.prox(problem, tol=0.0, max_passes=200).x
    least, own = exact.objective(problem, near), exact.objective(problem, x)
    assert own - least <= Fraction(certificate.gap)
    assert exact.smooth_gap(problem, x, dual) <= Fraction(certificate.gap)
    assert Fraction(certificate.lower_bound) <= min(least, own)
    assert certificate.gap >= certificate.rounding >= 0.0
    assert Fraction(certificate.distance) ** 2 >= 2 * Fraction(certificate.gap)
    assert certificate.value == pytest.approx(
        float(own), abs=1e-9 * abs(certificate.lower_bound) + certificate.rounding
    )


@FEW
@given(problems(), st.sampled_from((0.0, 1e-9, 1.0, 1e3)), st.integers(0, 2**32 - 1))
def test_the_gap_of_any_point_and_any_dual_is_proved(problem, size, seed):
    """Feasible or not, converged or not."""
    random = np.random.default_rng(seed)
    scale = np.abs(problem.unary).max() or 1.0
    dual, x = random_dual(problem, size * scale, random), scale * random.normal(size=problem.n)
    assert_proved(problem, x, dual)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=15, deadline=None)
@given(data=st.data(), size=st.sampled_from((0.0, 1e-12, 1e-3)))
def test_the_gap_near_the_solution_is_proved(family, data, size):
    """Near it a wrong digit of the bound would show: duals a little outside, x a little off."""
    problem = data.draw(problems((family,)))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    result = sm.prox(problem, max_passes=100)
    scale = np.abs(problem.unary).max() or 1.0
    noise = random_dual(problem, size * scale, random)
    dual = [part + more for part, more in zip(result.dual, noise, strict=True)]
    assert_proved(problem, result.x + size * scale * random.normal(size=problem.n), dual)


@pytest.mark.parametrize("family", FAMILIES)
def test_scaling_the_violation_makes_the_bound_weaker_and_never_wrong(family):
    """Duals that are far outside on one side: all entries up, or all down."""
    random = np.random.default_rng(5)
    problem = sm.Problem(random.normal(size=6), [term_of(family, 6, 1.0, random)])
    result = sm.prox(problem, tol=0.0)
    for shift in (-1e3, -1.0, -1e-3, 1e-3, 1.0, 1e3):
        dual = [part + shift for part in result.dual]
        certificate = sm.certify_point(problem, result.x, dual)
        assert exact.objective(problem, result.x) >= Fraction(certificate.lower_bound)
        assert certificate.gap > 0.0
        for moved in (result.x + shift, result.x - shift):
            assert exact.objective(problem, moved) >= Fraction(certificate.lower_bound)


# What ``prox`` returns.


@pytest.mark.parametrize("solver", PROXIMAL)
@settings(max_examples=12, deadline=None)
@given(problem=problems(), exponent=st.floats(-16.0, 0.0), passes=st.integers(0, 60))
def test_the_gap_of_the_returned_point_is_proved(solver, problem, exponent, passes):
    tol = 10.0**exponent * float(problem.unary @ problem.unary)
    result = sm.prox(problem, solver, tol=tol, max_passes=passes)
    assert exact.smooth_gap(problem, result.x, result.dual) <= Fraction(result.smooth_gap)
    assert (result.status is sm.Status.CONVERGED) == (result.smooth_gap <= tol)
    assert sm.verify(problem, result) == result.point
    assert faults_of_point(problem, result) == []
    s = sm.Layout(problem).total(result.dual)
    size = max(np.abs(part).max() for part in (problem.unary, s, *result.dual))
    assert np.abs(result.x + s).max() <= 1e-12 * size


SEEDED = [
    (name, seed)
    for name in PROXIMAL
    for seed in range(3 if "seed" in REGISTRY[name].__dataclass_fields__ else 1)
]


@pytest.mark.parametrize(("solver", "seed"), SEEDED)
def test_case_15_a_proximal_point_that_is_what_it_says(solver, seed):
    rng = np.random.default_rng(3)
    problem = sm.Problem(rng.normal(size=(20, 30)), [sm.GridCut((20, 30), 0.4, connectivity=8)])
    chosen = REGISTRY[solver]
    made = chosen(seed=seed) if "seed" in chosen.__dataclass_fields__ else chosen()
    result = sm.prox(problem, made, max_passes=30 if solver == "minimum_norm_point" else 200)
    gap = float(exact.smooth_gap(problem, result.x, result.dual))
    outside = 2.0 * result.point.violation * np.abs(result.x).max()
    assert gap <= result.smooth_gap <= gap + 2.01 * result.point.rounding + 1.01 * outside
    assert (result.status is sm.Status.CONVERGED) == (result.smooth_gap <= result.tol)
    assert sm.verify(problem, result) == result.point


def test_the_point_with_the_least_gap_is_returned():
    """The dual of least norm may be another's."""
    problem = hard_problem()
    for passes in range(6):
        result = sm.prox(problem, "restarted_acdm", tol=0.0, max_passes=passes)
        assert result.smooth_gap == pytest.approx(min(result.history.smooth_gap), rel=1e-6)


# Where rounding rules.


def isotonic_problem(n: int, weight: float) -> tuple[np.ndarray, sm.Problem]:
    """Values that increase but for noise, and a cost of `weight` for each step down."""
    values = 0.01 * np.arange(n) + np.random.default_rng(1).normal(size=n)
    chain = sm.Cut(np.arange(n - 1), np.arange(1, n), weight, 0.0)
    return values, sm.Problem(-values, [chain])


@pytest.mark.parametrize(("n", "weight"), [(50, 1e6), (2000, 1e9), (300, 1e12), (50, 1e30)])
def test_case_16_an_isotonic_chain(n, weight):
    isotonic = pytest.importorskip("sklearn.isotonic")
    values, problem = isotonic_problem(n, weight)
    expected = isotonic.IsotonicRegression().fit_transform(np.arange(n), values)
    result = sm.prox(problem)
    assert result.status is sm.Status.CONVERGED
    assert result.passes <= 5
    assert np.abs(result.x - expected).max() <= 1e-12 * np.abs(values).max()


@pytest.mark.parametrize("solver", ["auto", "cyclic_sweeps", "rcdm", "ap", "fista"])
def test_case_16_a_stiff_grid(solver):
    values = np.random.default_rng(1).normal(size=(12, 12))
    result = sm.prox(sm.Problem(-values, [sm.GridCut((12, 12), 1e8)]), solver)
    assert result.status is sm.Status.CONVERGED
    assert np.abs(result.x - values.mean()).max() <= 1e-14


@pytest.mark.parametrize("solver", [None, *PROXIMAL])
def test_a_tolerance_that_rounding_forbids_ends_soon_and_says_so(solver):
    """A tolerance of 0: all that is left is to come as near as float64 allows."""
    problem = hard_problem(shape=(5, 6), scale=1e8)
    exact_point = sm.prox(problem, tol=0.0).x
    result = sm.prox(problem, solver or "auto", tol=0.0, max_passes=1_000)
    assert result.status is (sm.Status.CLOSED if result.point.closed else sm.Status.STOPPED)
    distance = float(np.linalg.norm(result.x - exact_point))
    assert distance <= 2.0 * result.point.distance + 1e-7
    if result.point.closed:
        assert result.passes < 1_000
    elif result.stalled:
        assert result.passes < 1_000
        assert "no further progress" in str(result)
    else:
        assert result.passes >= 1_000
        assert result.smooth_gap > 1e-15 * float(np.sum(problem.unary**2))


def test_a_gap_of_zero_is_converged_for_any_tolerance():
    assert sm.prox(sm.Problem([1.0, -2.0]), tol=0.0).status is sm.Status.CONVERGED
    still = sm.prox(sm.Problem([0.0, 0.0], [sm.Cut([0], [1], 1.0)]), tol=0.0)
    assert (still.smooth_gap, still.status) == (0.0, sm.Status.CONVERGED)
    assert still.point.optimal


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=20), st.floats(0.0, 10.0))
def test_merging_keeps_the_order(values, width):
    x = np.array(values)
    out = merged(x, width)
    before, after = x[np.argsort(x, kind="stable")], out[np.argsort(x, kind="stable")]
    assert np.all(np.diff(after) >= -1e-13 * np.abs(x).max())
    apart = np.diff(before) > width
    assert np.all(after[1:][~apart] == after[:-1][~apart])
    assert out.sum() == pytest.approx(x.sum(), abs=1e-9)


# Verification.


def solved() -> tuple[sm.Problem, sm.Result]:
    problem = hard_problem(shape=(4, 5))
    return problem, sm.prox(problem)


def test_verify_is_about_the_point_and_the_set_is_within_reach():
    problem, result = solved()
    assert sm.verify(problem, result) == result.point
    assert sm.verify(problem, result.minimizer, result.dual) == result.certificate
    assert sm.screen(problem, result).inside.shape == problem.shape


def test_a_point_that_was_changed_is_found_out():
    problem, result = solved()
    moved = replace(result, x=result.x + 1.0)
    assert sm.verify(problem, moved).gap > result.tol
    faults = faults_of_point(problem, moved)
    assert "smooth gap" in faults[0]
    assert "tolerance" in faults[-1]
    tighter = replace(result, tol=0.0)
    assert "tolerance" in faults_of_point(problem, tighter)[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros(3)}, r"x has shape \(3,\)"),
        ({"x": np.full((4, 5), np.nan)}, "not finite"),
        ({"dual": ()}, r"sizes \[\], but the terms have"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    problem, result = solved()
    with pytest.raises(ValueError, match=message):
        sm.verify(problem, replace(result, **change))


def test_hard_constraints_have_no_proximal_point():
    problem, result = solved()
    hard = sm.Problem(np.where(np.arange(20).reshape(4, 5) == 3, np.inf, 0.0), problem.terms)
    with pytest.raises(ValueError, match="hard constraints"):
        sm.verify(hard, result)


def test_a_function_that_is_not_submodular_is_found_out():
    """Values that change after the solve: the objective falls below the bound."""
    cost = [1.0]
    term = sm.Function(range(10), evaluate=lambda mask: cost[0] * float(np.sqrt(mask.sum())))
    problem = sm.Problem(np.linspace(-1.0, -0.2, 10), [term])
    result = sm.prox(problem)
    cost[0] = -1.0
    with pytest.raises(ValueError, match="not submodular"):
        sm.verify(problem, result)


def test_duals_that_overflow_prove_nothing():
    problem = sm.Problem(np.ones(4), [sm.Cut([0, 1, 2], [1, 2, 3], 1.0)])
    certificate = sm.certify_point(problem, np.ones(4), [np.full(3, 1.7e308)])
    assert certificate.gap == np.inf
    assert certificate.lower_bound == -np.inf
    assert certificate.status(1e300) is sm.Status.STOPPED


def test_a_certificate_reads_as_a_sentence():
    _, result = solved()
    assert "of the proximal point" in str(result.point)
    assert str(result).startswith("CONVERGED: objective")


def test_a_result_of_minimize_has_no_smooth_gap():
    problem, _ = solved()
    result = sm.minimize(problem)
    assert np.isnan(result.smooth_gap)
    assert not result.proximal


def test_files_keep_the_certificate(tmp_path):
    problem, result = solved()
    result.save(tmp_path / "point.npz", problem)
    again = sm.Result.load(tmp_path / "point.npz")
    assert (again.point, again.stalled, again.status) == (
        result.point, result.stalled, result.status,
    )  # fmt: skip
    assert faults_of_point(problem, again) == []


def test_a_function_of_which_nothing_is_known():
    problem = sm.Problem([1.0, -2.0], [no_family()])
    result = sm.prox(problem)
    assert exact.smooth_gap(problem, result.x, result.dual) <= Fraction(result.smooth_gap)
