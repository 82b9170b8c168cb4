"""Convex distances against all labellings, and against other ways to the same answer."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.labels import ordered
from submin.solve.certificate import Status

from .energies import definition, matrix, small

EXACT = (Status.OPTIMAL, Status.CLOSED)


@pytest.mark.parametrize("seed", range(90))
def test_convex_distances_are_solved_exactly(seed):
    given = small(np.random.default_rng(7000 + seed), 5)
    terms = [term for term in given.terms if not hasattr(term, "caps")]
    labels = len(given.costs)
    numbers = np.arange(labels)
    bent = np.abs(numbers[:, None] - numbers) ** 1.5
    distance = [sm.labels.Linear(), sm.labels.Quadratic(), bent, 0.1 * bent ** (2 / 3)][seed % 4]
    problem = sm.LabelProblem(given.costs, terms, distance)
    if labels < 2:
        with pytest.raises(ValueError, match="two labels or more"):
            sm.labels.minimize_ordered(problem)
        return
    result = sm.labels.minimize_ordered(problem)
    least = min(map(definition(given.costs, terms, matrix(distance, labels)), given.labellings))
    assert result.value == pytest.approx(least, rel=1e-11, abs=1e-11)
    assert result.lower_bound <= least + 1e-13 * abs(least)
    assert result.status in EXACT
    assert sm.labels.verify_labels(problem, result) == result.certificate
    assert sm.minimize_labels(problem).value == result.value


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("whole", [True, False])
def test_grids_and_their_edges_have_one_answer(whole, connectivity):
    """One has a grid of labels, the other a graph."""
    rng = np.random.default_rng(connectivity)
    costs, shape = rng.normal(size=(4, 6, 7)), (6, 7)
    grid = sm.GridCut(shape, 0.4, connectivity)
    if not whole:
        grid = sm.GridCut(shape, [rng.random(cut) for cut in grid.overlaps], connectivity)
    graph = sm.Cut(*grid.edge_list(), grid.weights_by_edge()[0])
    for distance in (sm.labels.Linear(), sm.labels.Quadratic()):
        found = [
            sm.labels.minimize_ordered(sm.LabelProblem(costs, [term], distance))
            for term in (grid, graph)
        ]
        assert found[0].value == pytest.approx(found[1].value, rel=1e-12)
        assert {result.status for result in found} <= {*EXACT}


@pytest.mark.parametrize("seed", range(5))
def test_total_variation_by_levels_is_that_of_the_graph(seed):
    rng = np.random.default_rng(seed)
    data = 6.0 * rng.random((8, 9))
    costs = (data - np.arange(6)[:, None, None]) ** 2
    problem = sm.LabelProblem(costs, [sm.GridCut((8, 9), 1.3)], sm.labels.Linear())
    steps = ordered.ordered_steps(problem)
    assert ordered.is_total_variation(problem, steps)
    levels = sm.labels.minimize_ordered(problem)
    cut = ordered._by_cut(problem, steps, np.inf, 1)
    assert levels.value == pytest.approx(problem.value(cut.labels), rel=1e-12)
    assert levels.status in EXACT


def test_rings_and_holes():
    rng = np.random.default_rng(1)
    costs = rng.integers(0, 9, (3, 6)).astype(float)
    ring = sm.GridCut(6, 2.0, periodic=True)
    problem = sm.LabelProblem(costs, [ring], sm.labels.Quadratic())
    energies = [problem.evaluate(np.array(x)) for x in np.ndindex((3,) * 6)]
    result = sm.labels.minimize_ordered(problem)
    assert (result.value, result.status) == (min(energies), Status.OPTIMAL)


def test_graphs_that_are_too_large_are_refused_and_not_made():
    costs = np.random.default_rng(0).random((40, 50, 50))
    problem = sm.LabelProblem(costs, [sm.GridCut((50, 50), 1.0)], sm.labels.Quadratic())
    assert not ordered.is_small(problem)
    with pytest.raises(ValueError, match=r"would take about \S+ GB, and memory is 0\.1 GB"):
        sm.labels.minimize_ordered(problem, memory=1e8)
    few = sm.minimize_labels(problem, max_passes=5)
    assert few.gap >= 0.0
    for distance in (sm.labels.Linear(cap=2), sm.labels.Potts(), sm.labels.Quadratic(cap=3)):
        capped = sm.LabelProblem(costs, [sm.GridCut((50, 50), 1.0)], distance)
        with pytest.raises(ValueError, match="convex functions of the label difference"):
            sm.labels.minimize_ordered(capped)


def test_a_limit_leaves_labels_with_a_bound():
    rng = np.random.default_rng(3)
    costs = rng.random((6, 40, 40))
    problem = sm.LabelProblem(costs, [sm.GridCut((40, 40), 0.2)], sm.labels.Linear())
    result = sm.labels.minimize_ordered(problem, time_limit=0.0)
    assert result.value == problem.evaluate(result.labels)
    assert result.lower_bound <= sm.labels.minimize_ordered(problem).value
