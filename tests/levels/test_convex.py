"""Convex costs: against enumeration of values, against squares, and by their own proof."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.levels import Absolute, Fidelity, Huber, Poisson, Quantile, Sampled, Squares

from ..exact_proximal import lovasz
from ..problems import models
from .test_points import solvable, some_families

seeds = st.integers(0, 2**32)


def objective(problem: sm.Problem, fidelity: Fidelity, x: np.ndarray) -> float:
    """f(x) + phi(x), from the definitions."""
    from fractions import Fraction

    point = [Fraction(float(value)) for value in x.ravel()]
    terms = sum((lovasz(term, point) for term in problem.terms), Fraction(0))
    modular = float(problem.unary.ravel() @ x.ravel())
    return float(terms) + modular + problem.constant + fidelity.value(x)


def fidelities(rng: np.random.Generator, shape: tuple[int, ...]) -> list[Fidelity]:
    data = rng.integers(0, 4, shape).astype(float)
    weights = rng.integers(0, 3, shape).astype(float)
    weights.flat[0] = 1.0
    values = np.array([0.0, 0.5, 2.0, 3.0])
    costs = np.abs(values.reshape(-1, *[1] * len(shape)) - data) ** rng.choice([1.0, 1.5, 2.0])
    return [
        Absolute(data, weights), Quantile(data, 0.3, weights), Huber(data, 0.7, weights),
        Poisson(data, weights), Squares(data, weights), Sampled(values, costs),
    ]  # fmt: skip


@given(
    some_families.flatmap(
        lambda names: models(names, whole=True, shapes=[(1,), (3,), (5,), (2, 3)])
    ),
    seeds,
)
@settings(max_examples=60)
def test_no_other_point_is_better(model, seed):
    """The gap is closed, and the values agree with the definitions; other points cost more."""
    rng = np.random.default_rng(seed)
    if not solvable(model.problem):
        return
    for fidelity in fidelities(rng, model.problem.shape):
        result = sm.minimize_convex(model.problem, fidelity)
        scale = 1e-11 * (model.scale + abs(result.value))
        assert result.finished
        assert result.gap <= 100 * scale
        assert (result.x >= fidelity.lowest).all()
        assert (result.x <= fidelity.highest).all()
        value = objective(model.problem, fidelity, result.x)
        assert result.value == pytest.approx(value, abs=scale)
        for _ in range(5):
            other = rng.uniform(fidelity.lowest, fidelity.highest, model.problem.shape)
            assert objective(model.problem, fidelity, other) >= result.lower_bound - scale


@given(seeds)
@settings(max_examples=40)
def test_labels_against_enumeration(seed):
    """Of all x whose values are kinks, none is better, where slopes are constant between them."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    tails, heads = rng.integers(0, count, (2, 5))
    heads = np.where(tails == heads, (heads + 1) % count, heads)
    cut = sm.Cut(tails, heads, rng.integers(0, 3, 5), rng.integers(0, 3, 5))
    problem = sm.Problem(np.zeros(count), [cut])
    for fidelity in fidelities(rng, (count,)):
        if not isinstance(fidelity, Quantile | Sampled):
            continue
        result = sm.minimize_convex(problem, fidelity)
        assert np.isin(result.x, fidelity.kinks).all()
        every = product(fidelity.kinks, repeat=count)
        least = min(objective(problem, fidelity, np.array(x)) for x in every)
        assert result.value == pytest.approx(least, abs=1e-11)


@given(seeds)
@settings(max_examples=20)
def test_squares_are_proximal_points(seed):
    rng = np.random.default_rng(seed)
    data, weights = rng.normal(size=(5, 6)), rng.integers(1, 3, (5, 6)).astype(float)
    grid = sm.GridCut((5, 6), rng.random(), connectivity=8)
    near = sm.minimize_convex(sm.Problem(np.zeros((5, 6)), [grid]), Squares(data, weights))
    exact = sm.prox(sm.Problem(-weights * data, [grid]), weights=weights)
    np.testing.assert_allclose(near.x, exact.x, rtol=0, atol=1e-12)


def test_the_median_of_a_plateau():
    """Absolute values end at a median, whatever the outlier; quantiles at theirs."""
    problem = sm.Problem(np.zeros(5), [sm.GridCut(5, 100.0)])
    data = [1.0, 2.0, 3.0, 4.0, 1e6]
    assert sm.minimize_convex(problem, Absolute(data)).x.tolist() == [3.0] * 5
    assert sm.minimize_convex(problem, Quantile(data, 0.1)).x.tolist() == [1.0] * 5


def test_poisson_is_the_mean_where_all_belong_together():
    problem = sm.Problem(np.zeros(4), [sm.GridCut(4, 100.0)])
    x = sm.minimize_convex(problem, Poisson([0.0, 0.0, 5.0, 3.0])).x
    np.testing.assert_allclose(x, 2.0, rtol=1e-14)


def test_a_limit_leaves_a_point_with_its_gap():
    rng = np.random.default_rng(0)
    problem = sm.Problem(np.zeros((20, 20)), [sm.GridCut((20, 20), 0.5)])
    fidelity = Absolute(rng.normal(size=(20, 20)))
    stopped = sm.minimize_convex(problem, fidelity, time_limit=0.0)
    exact = sm.minimize_convex(problem, fidelity)
    assert not stopped.finished
    assert stopped.lower_bound <= exact.value <= stopped.value
    assert exact.gap <= 1e-10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Absolute([1.0, np.nan]), r"data\[1\] is nan"),
        (lambda: Absolute([1.0, 2.0], [1.0, -1.0]), r"weights\[1\] is -1.0"),
        (lambda: Absolute([]), "empty"),
        (lambda: Huber([1.0], 0.0), "delta is 0.0"),
        (lambda: Quantile([1.0], 1.0), "quantile is 1.0"),
        (lambda: Poisson([1.0, -1.0]), r"data\[1\] is -1.0"),
        (lambda: Sampled([0.0, 0.0], np.zeros((2, 3))), "ascend"),
        (lambda: Sampled([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]]), r"costs\[0, 0\].*convex"),
        (lambda: Sampled([0.0, 1.0], np.zeros((3, 3))), "3 rows for 2 values"),
    ],
)
def test_fidelities_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_problems_are_checked():
    with pytest.raises(ValueError, match="shape"):
        sm.minimize_convex(sm.Problem(np.zeros(3)), Absolute([1.0, 2.0]))
    with pytest.raises(ValueError, match="hard constraints"):
        sm.minimize_convex(sm.Problem([0.0, np.inf]), Absolute([1.0, 2.0]))
    function = sm.Function([0, 1], lambda mask: float(mask.any()))
    with pytest.raises(TypeError, match="minimize_convex needs"):
        sm.minimize_convex(sm.Problem([0.0, 1.0], [function]), Absolute([1.0, 2.0]))


def test_a_part_that_runs_out_of_time_is_not_final(monkeypatch):
    """Whenever the clock stops, only what is proved is called finished."""
    from submin.levels import convex

    rng = np.random.default_rng(0)
    problem = sm.Problem(np.zeros((12, 12)), [sm.GridCut((12, 12), 0.5)])
    for fidelity in (Absolute(rng.normal(size=(12, 12))), Huber(rng.normal(size=(12, 12)), 0.3)):
        exact = sm.minimize_convex(problem, fidelity)
        looks = 0
        while True:
            clock = iter([0.0] * (looks + 1))
            with monkeypatch.context() as context:
                context.setattr(convex.time, "perf_counter", lambda clock=clock: next(clock, 9.0))
                stopped = sm.minimize_convex(problem, fidelity, time_limit=1.0)
            assert stopped.lower_bound <= exact.value <= stopped.value + 1e-9
            assert exact.value <= stopped.value + 1e-9
            if stopped.finished:
                assert stopped.gap <= 1e-9
                break
            looks += 1
        assert looks >= 2


@pytest.mark.parametrize("weight", [1e3, np.inf])
def test_elements_that_are_held_together(weight):
    """Weighted median and mean; infinite weights leave slopes their sizes, and the proof."""
    problem = sm.Problem(np.zeros(3), [sm.Cut([0, 2], [1, 0], [weight, weight])])
    data, weights = [100.0, 0.0, 0.1], [5.0, 7.0, 3.7]
    for fidelity, x in ((Absolute(data, weights), 0.1), (Squares(data, weights), 500.37 / 15.7)):
        result = sm.minimize_convex(problem, fidelity)
        np.testing.assert_allclose(result.x, x, rtol=1e-14)
        assert result.gap <= 1e-8


@given(seeds)
@settings(max_examples=40)
def test_isotonic_regression_of_all_quantiles_by_the_min_max_formula(seed):
    """On a partial order: x_v is the max over upper sets U with v of the min over lower sets L."""
    rng = np.random.default_rng(seed)
    shape, nodes = (2, 3), np.arange(6).reshape(2, 3)
    tails = np.concatenate([nodes[:-1].ravel(), nodes[:, :-1].ravel()])
    heads = np.concatenate([nodes[1:].ravel(), nodes[:, 1:].ravel()])
    rising = sm.Cut(tails, heads, np.full(7, np.inf), np.zeros(7))
    data, weights = rng.integers(0, 9, shape).astype(float), rng.integers(1, 4, shape) * 1e3
    result = sm.minimize_convex(sm.Problem(np.zeros(shape), [rising]), Squares(data, weights))
    sets = np.array(list(product([False, True], repeat=6))).reshape(-1, *shape)
    upper = [s for s in sets if (s[:-1] <= s[1:]).all() and (s[:, :-1] <= s[:, 1:]).all()]
    expected = np.empty(shape)
    for v in np.ndindex(shape):
        expected[v] = max(
            min(
                np.average(data[up & ~other], weights=weights[up & ~other])
                for other in upper if not other[v]
            )
            for up in upper if up[v]
        )  # fmt: skip
    np.testing.assert_allclose(result.x, expected, rtol=0, atol=1e-12)
    assert result.gap <= 1e-6
    medians = sm.minimize_convex(sm.Problem(np.zeros(shape), [rising]), Absolute(data, weights))
    assert (np.diff(medians.x, axis=0) >= 0.0).all()
    assert (np.diff(medians.x, axis=1) >= 0.0).all()
    assert medians.gap <= 1e-6


def test_bounds_count_the_rounding_of_large_constants():
    """1e30 and -1e30 cancel: the value is 1."""
    problem = sm.Problem([1e30, 1.0], [sm.Cut([0], [1], [1.0])], 1e30)
    result = sm.minimize_convex(problem, Absolute([1.0, -1.0]))
    assert result.value == 1.0
    assert result.lower_bound <= 1.0


def test_small_costs_are_convex_beside_large_ones():
    with pytest.raises(ValueError, match=r"costs\[0, 1\] is 5.0.*convex"):
        Sampled([0.0, 1.0, 2.0], [[0.0, 0.0], [1e30, 5.0], [2e30, 0.0]])


def test_arguments_are_named():
    problem, fidelity = sm.Problem(np.zeros(2)), Absolute([1.0, -1.0])
    with pytest.raises(TypeError, match="problem must be a Problem"):
        sm.minimize_convex([1.0, 2.0], fidelity)
    with pytest.raises(TypeError, match="fidelity must be one of"):
        sm.minimize_convex(problem, [1.0, 2.0])
    for limit in (-1.0, np.nan):
        with pytest.raises(ValueError, match="time_limit is"):
            sm.minimize_convex(problem, fidelity, time_limit=limit)
    with pytest.raises(ValueError, match=r"x has shape \(3,\)"):
        fidelity.value([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"weights.flat\[1\] is of size 1e\+308"):
        Squares([1.0, -1.0], [1.0, 1e308])
    with pytest.raises(ValueError, match=r"data.flat\[0\] is of size 1e\+200"):
        Squares([1e200, -1.0])
    with pytest.raises(TypeError, match="delta is 'a'"):
        Huber([1.0], "a")
    with pytest.raises(TypeError, match="quantile is None"):
        Quantile([1.0], None)
    with pytest.raises(ValueError, match="costs is empty"):
        Sampled([0.0, 1.0], [[], []])
