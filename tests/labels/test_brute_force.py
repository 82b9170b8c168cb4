"""Labellings and bounds against all labellings of small problems."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.labels import moves
from submin.labels.problem import Dual
from submin.solve.certificate import Status

from .energies import Small, definition, matrix, small


def near(value: float) -> float:
    return 1e-9 * (1.0 + abs(value))


@pytest.mark.parametrize("with_prices", [False, True])
@pytest.mark.parametrize("seed", range(80))
def test_bound_least_energy_and_energy_are_in_order(seed, with_prices):
    given = small(np.random.default_rng(seed), 5 if with_prices else 7, with_prices)
    problem = sm.LabelProblem(*given[:3])
    result = sm.minimize_labels(problem)
    assert sm.labels.verify_labels(problem, result) == result.certificate
    least, own = given.least(), given.energy(result.labels)
    assert result.value == pytest.approx(own, rel=1e-12, abs=1e-12)
    assert result.lower_bound <= least + 1e-13 * abs(least)
    assert least - near(least) <= result.value
    if result.status is Status.OPTIMAL:
        assert result.value <= least + near(least)


@pytest.mark.parametrize("seed", range(60))
def test_any_dual_proves_a_bound(seed):
    rng = np.random.default_rng(1000 + seed)
    given = small(rng, with_prices=seed % 2 == 0)
    problem = sm.LabelProblem(*given[:3])
    shape = (problem.edges.tails.size, problem.width)
    at_tail, at_head = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    shares = rng.normal(size=(len(problem.prices), problem.n)).astype(np.float32)
    found = sm.labels.verify_labels(problem, given.labellings[0], Dual(at_tail, at_head, shares))
    least = given.least()
    assert found.lower_bound <= least + 1e-13 * abs(least)
    assert found.value == pytest.approx(given.energy(given.labellings[0]), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_expansions_of_metrics_reach_the_factor_that_they_promise(seed):
    """2 max d / min d, on energies of costs that are not negative."""
    rng = np.random.default_rng(2000 + seed)
    costs, prices = 3.0 * rng.random((4, 7)), rng.uniform(1.0, 2.0, (4, 4))
    distance = np.triu(prices, 1) + np.triu(prices, 1).T  # a metric, as 1 + 1 >= 2
    ends = np.triu_indices(7, 1)
    graph = sm.Cut(*ends, rng.random(21))
    problem = sm.LabelProblem(costs, [graph], distance)
    given = Small(costs, [graph], distance, definition(costs, [graph], distance))
    labels = np.zeros(7, dtype=np.int32)
    none = np.zeros((21, problem.width), dtype=np.float32)
    for _ in moves.improve(problem, Dual(none, none), labels, 1):
        pass
    assert given.energy(labels) <= 2.0 * distance.max() * given.least() + 1e-9
    single = [
        np.where(mask, alpha, labels)
        for alpha in range(4)
        for mask in np.indices((2,) * 7).reshape(7, -1).T.astype(bool)
    ]
    best = min(map(given.energy, single))
    assert given.energy(labels) <= best + 1e-5  # no expansion helps


@pytest.mark.parametrize("seed", range(40))
def test_a_swap_is_the_best_of_its_labellings(seed):
    rng = np.random.default_rng(3000 + seed)
    given = small(rng)
    problem = sm.LabelProblem(*given[:3])
    if problem.labels < 2:
        return
    labels = problem.with_groups(problem.checked_labels("x", given.labellings[-1]))
    either = [v for v in range(problem.n) if labels[v] < 2]
    candidates = [
        x for x in given.labellings
        if all(x[v] < 2 for v in either)
        and all(x[v] == labels[v] for v in range(problem.n) if v not in either)
    ]  # fmt: skip
    moves.swap(problem, labels, 0, 1)
    best = min(map(given.energy, candidates))
    after = given.energy(labels[: problem.n])
    assert after >= best - near(best)
    if not problem.groups:  # whose labels a swap of two others leaves alone
        assert after <= best + near(best)


@pytest.mark.parametrize("seed", range(60))
def test_an_expansion_with_prices_is_the_best_of_all(seed):
    rng = np.random.default_rng(6000 + seed)
    given = small(rng, 5, True)._replace(distance=sm.labels.Potts())
    energy = definition(given.costs, given.terms, matrix(given.distance, len(given.costs)))
    problem = sm.LabelProblem(*given[:3])
    alpha = int(rng.integers(problem.labels))
    start = given.labellings[rng.integers(len(given.labellings))]
    labels = problem.with_groups(problem.checked_labels("x", start))
    shape = (problem.edges.tails.size, problem.width)
    shares = rng.random((len(problem.prices), problem.n)).astype(np.float32)
    none = np.zeros(shape, np.float32)
    moves.expand_whole(problem, Dual(none, none, shares), labels, alpha)
    candidates = [
        x for x in given.labellings
        if all(p in (alpha, old) for p, old in zip(x, start, strict=True))
    ]  # fmt: skip
    best, after = min(map(energy, candidates)), energy(labels[: problem.n])
    assert after >= best - near(best)
    if not problem.groups:
        assert after <= best + near(best)


@pytest.mark.parametrize("price", [0.3, 3.0, 15.0])
def test_the_bound_of_prices_is_near_that_of_the_linear_program(price):
    """Which is exact on points and centres, as a rule."""
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(7)
    points, centres = rng.random((60, 2)), rng.random((8, 2))
    costs = np.linalg.norm(points - centres[:, None], axis=-1)
    result = sm.minimize_labels(costs, [sm.labels.LabelCosts(price)], relative_tol=0.0)
    chosen = np.kron(np.ones(8), np.eye(60))
    uses = np.hstack([np.eye(480), -np.kron(np.eye(8), np.ones((60, 1)))])
    program = optimize.linprog(
        np.concatenate([costs.ravel(), np.full(8, price)]), uses, np.zeros(480),
        np.hstack([chosen, np.zeros((60, 8))]), np.ones(60),
    )  # fmt: skip
    assert result.lower_bound <= program.fun + 1e-9
    assert result.lower_bound >= 0.95 * program.fun
    assert result.value <= 1.02 * program.fun


@pytest.mark.parametrize("seed", range(20))
def test_chains_are_solved_to_the_end(seed):
    """Dynamic programming is the other package here."""
    rng = np.random.default_rng(4000 + seed)
    labels, size = int(rng.integers(2, 9)), int(rng.integers(2, 60))
    costs, weights = rng.normal(size=(labels, size)), rng.random(size - 1)
    distance = [sm.labels.Potts(), sm.labels.Linear(cap=2), sm.labels.Quadratic()][seed % 3]
    prices = matrix(distance, labels)
    best = costs[:, 0]
    for v in range(1, size):
        best = costs[:, v] + np.min(best[:, None] + weights[v - 1] * prices, axis=0)
    result = sm.minimize_labels(costs, [sm.GridCut(size, [weights])], distance, relative_tol=0.0)
    assert result.value == pytest.approx(best.min(), rel=1e-9, abs=1e-9)
    assert result.lower_bound <= best.min() + 1e-12 * size
    assert result.lower_bound >= best.min() - 1e-4 * (1.0 + abs(best.min()))


@pytest.mark.parametrize("seed", range(10))
def test_two_labels_are_a_minimum_cut(seed):
    rng = np.random.default_rng(5000 + seed)
    costs = rng.normal(size=(2, 30, 40))
    grid = sm.GridCut((30, 40), 0.7, connectivity=8)
    result = sm.minimize_labels(costs, [grid], relative_tol=0.0)
    exact = sm.minimize(sm.Problem.from_costs(costs[1], costs[0], [grid]))
    assert result.value == pytest.approx(exact.value, rel=1e-6)
    assert result.lower_bound <= exact.value + 1e-9
