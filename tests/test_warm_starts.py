"""Warm starts: any solver goes on from any dual, and ends where a cold solve does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from .driver_problems import SOLVERS, hard_problem
from .problems import Model, all_sets, parts, vectors

SHAPES = [(5,), (2, 3), (3, 3), (2, 2, 2)]


@st.composite
def changed_cuts(draw: st.DrawFn) -> tuple[sm.Problem, Model]:
    """A problem of one cut with whole numbers, and the model of another: new unary, new weights."""
    family, shape = draw(st.sampled_from(["cut", "grid_cut"])), draw(st.sampled_from(SHAPES))
    n = int(np.prod(shape))
    part = draw(parts(family, shape, True))
    before, after = draw(vectors(True, n)), draw(vectors(True, n))
    hard = np.array(
        draw(st.lists(st.sampled_from([0, 0, 0, -np.inf, np.inf]), min_size=n, max_size=n))
    )
    unary = np.where(np.isinf(hard), hard, after)
    factor = draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    values = factor * part.values + all_sets(n) @ np.where(np.isinf(hard), 0.0, after)
    allowed = ~np.any(all_sets(n) & (hard == np.inf) | ~all_sets(n) & (hard == -np.inf), axis=1)
    problem = sm.Problem(unary.reshape(shape), [scaled(part.term, factor)])
    return sm.Problem(before.reshape(shape), [part.term]), Model(
        problem, np.where(allowed, values, np.inf)
    )


def scaled(term: sm.Cut | sm.GridCut, factor: float) -> sm.Term:
    """The cut with its weights times a factor."""
    arrays = dict(term.arrays())
    for name, array in arrays.items():
        if "weights" in name:
            arrays[name] = factor * array
    return type(term).from_arrays(arrays)


@given(pair=changed_cuts())
@settings(max_examples=150)
def test_changed_cuts_against_brute_force(pair):
    """Value, status and the smallest minimiser: the intersection of all minimisers."""
    problem, changed = pair
    result = sm.minimize(changed.problem, warm_start=sm.minimize(problem))
    assert result.value == changed.minimum
    assert result.status is sm.Status.OPTIMAL
    smallest = all_sets(changed.problem.n)[changed.values == changed.minimum].all(axis=0)
    assert np.array_equal(result.minimizer.ravel(), smallest)


Make = Callable[[np.random.Generator, float], list[sm.Term]]


def image(rng: np.random.Generator, scale: float) -> list[sm.Term]:
    frame = sm.GridCut((24, 25), 0.0, 8)
    return [sm.GridCut((24, 25), [scale * rng.random(o) for o in frame.overlaps], 8)]


def volume(rng: np.random.Generator, scale: float) -> list[sm.Term]:
    frame = sm.GridCut((10, 6, 10), 0.0, 26)
    weights = [0.3 * scale * rng.random(o) for o in frame.overlaps]
    back = [0.3 * scale * rng.random(o) for o in frame.overlaps]
    return [sm.GridCut((10, 6, 10), weights, 26, back)]


def graph(rng: np.random.Generator, scale: float) -> list[sm.Term]:
    ends = np.random.default_rng(5)
    tails = ends.integers(0, 600, 2400)
    heads = (tails + ends.integers(1, 600, 2400)) % 600
    return [sm.Cut(tails, heads, scale * rng.random(2400), scale * rng.random(2400))]


def two_cuts(rng: np.random.Generator, scale: float) -> list[sm.Term]:
    return [*image(rng, scale), *graph(rng, 0.3 * scale)]


def groups(rng: np.random.Generator, scale: float) -> list[sm.Term]:
    rows, columns = np.indices((24, 25))
    squares = sm.Cardinality.from_labels(
        rows // 5 * 5 + columns // 5, lambda k, m: 0.1 * scale * k * (m - k)
    )
    return [*image(rng, scale), squares]


@pytest.mark.parametrize("terms", [image, volume, graph, two_cuts, groups])
@pytest.mark.parametrize("change", ["unary", "weights", "seeds", "all"])
def test_warm_ends_where_cold_does(terms: Make, change: str):
    """With random real data, the minimiser is unique, so the sets are equal."""
    rng = np.random.default_rng(2)
    shape = (10, 6, 10) if terms is volume else (600,) if terms is graph else (24, 25)
    unary = 2.0 * rng.normal(size=shape)
    first = sm.minimize(sm.Problem(unary, terms(np.random.default_rng(3), 1.0)))
    if change in ("unary", "all"):
        unary = unary + rng.normal(size=shape)
    if change in ("seeds", "all"):
        unary.flat[::50], unary.flat[7::50] = np.inf, -np.inf
    weaker = change in ("weights", "all")
    later = terms(np.random.default_rng(4 if weaker else 3), 0.6 if weaker else 1.0)
    changed = sm.Problem(unary, later)
    cold, warm = sm.minimize(changed), sm.minimize(changed, warm_start=first)
    assert warm.status is cold.status is sm.Status.OPTIMAL
    assert warm.value == pytest.approx(cold.value, rel=1e-12)
    assert np.array_equal(warm.minimizer, cold.minimizer)
    assert not np.array_equal(warm.minimizer, first.minimizer)
    assert sm.verify(changed, warm) == warm.certificate


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("blocks", ["auto", "functions"])
def test_a_result_starts_any_solver_on_any_blocks_at_its_end(solver, blocks):
    problem = hard_problem()
    result = sm.minimize(problem, "accelerated_sweeps")
    again = sm.minimize(problem, solver, blocks=blocks, warm_start=result)
    assert again.passes <= 1
    assert again.status is sm.Status.OPTIMAL
    assert again.value == pytest.approx(result.value, abs=1e-12)
    assert sm.minimize(problem, solver, warm_start=result.dual).status is sm.Status.OPTIMAL


def test_a_warm_start_is_not_written_to():
    problem = hard_problem()
    result = sm.minimize(problem, max_passes=3)
    before = [part.copy() for part in result.dual]
    for solver in SOLVERS:
        sm.minimize(problem, solver, warm_start=result, max_passes=3)
    assert all(np.array_equal(a, b) for a, b in zip(before, result.dual, strict=True))


def test_warm_starts_after_changed_unaries_and_weights():
    problem = hard_problem()
    result = sm.minimize(problem)
    random = np.random.default_rng(1)
    moved = problem.unary + 0.05 * random.normal(size=problem.shape)
    weaker = [sm.GridCut(problem.shape, 0.2), problem.terms[1]]
    seeds = problem.unary.copy()
    seeds[0, 0], seeds[3, 4] = np.inf, -np.inf
    for changed in (
        sm.Problem(moved, problem.terms), sm.Problem(problem.unary, weaker),
        sm.Problem(seeds, problem.terms),
    ):  # fmt: skip
        cold, warm = sm.minimize(changed), sm.minimize(changed, warm_start=result)
        assert warm.status is sm.Status.OPTIMAL
        assert warm.value == pytest.approx(cold.value, abs=1e-10)
        assert warm.certificate.violation <= 1e-9


def test_a_small_change_takes_fewer_passes_warm():
    problem, solver = hard_problem(shape=(30, 31)), "accelerated_sweeps"
    result = sm.minimize(problem, solver)
    unary = problem.unary.copy()
    unary[3, 3] += 0.1
    changed = sm.Problem(unary, problem.terms)
    warm = sm.minimize(changed, solver, warm_start=result)
    assert warm.passes < sm.minimize(changed, solver).passes


@pytest.mark.parametrize(
    ("warm_start", "error", "message"),
    [
        ([], ValueError, "dual sizes"),
        ([np.zeros(3), np.zeros(3)], ValueError, "dual sizes"),
        ([np.full(287, np.nan), np.zeros(156)], ValueError, "not finite"),
        (5, TypeError, "warm_start"),
        ("result", (TypeError, ValueError), "warm"),
    ],
)
def test_warm_starts_that_are_refused(warm_start, error, message):
    with pytest.raises(error, match=message):
        sm.minimize(hard_problem(), warm_start=warm_start)


def test_a_result_of_another_problem_is_refused():
    result = sm.minimize(hard_problem(shape=(3, 4)))
    with pytest.raises(ValueError, match="warm start has dual sizes"):
        sm.minimize(hard_problem(), warm_start=result)
