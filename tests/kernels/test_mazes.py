"""Maximum flows on thin structures: mazes, snakes, combs. Work is counted, not timed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import submin as sm
from submin.solvers import max_flow

from .flow_instances import (
    OFFSETS,
    check_against_enumeration,
    check_optimal,
    finish,
    grid_edges,
    grid_solver,
    long_instance,
    random_instance,
    scipy_minimum,
    small_grids,
    tree_solver,
)
from .mazes import comb, instance, maze, snake

KINDS = {"snake": snake, "comb": comb, "maze": maze}
SHAPES = [(61, 61), (21, 181), (181, 21)]


@given(small_grids, st.integers(0, 2**32), st.booleans())
def test_trees_on_small_grids(case, seed, uniform):
    shape, neighbours = case
    offsets = OFFSETS[len(shape), neighbours]
    edges = [grid_edges(shape, offset) for offset in offsets]
    problem = random_instance(seed, int(np.prod(shape)), edges, uniform=uniform)
    smallest, largest, _ = finish(tree_solver(problem, shape, offsets), problem.unary.size)
    check_against_enumeration(problem, smallest, largest)


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_against_scipy(kind, shape, neighbours):
    problem, offsets = instance(KINDS[kind], shape, neighbours)
    smallest, largest, _ = finish(tree_solver(problem, shape, offsets), problem.unary.size)
    check_optimal(problem, smallest, largest)
    assert np.minimum(problem.s, 0).sum() == scipy_minimum(problem)


@pytest.mark.parametrize("seed", range(3))
def test_trees_on_real_data(seed):
    problem, shape, offsets = long_instance(seed)
    smallest, largest, _ = finish(tree_solver(problem, shape, offsets), problem.unary.size)
    check_optimal(problem, smallest, largest)


@pytest.mark.parametrize("budget", [1, 7, 1000])
def test_interruption_of_trees_does_not_change_a_bit(budget):
    expected, shape, offsets = long_instance(0, (35, 36))
    finish(tree_solver(expected, shape, offsets), expected.unary.size)
    problem, shape, offsets = long_instance(0, (35, 36))
    *_, calls = finish(tree_solver(problem, shape, offsets), problem.unary.size, budget=budget)
    assert calls > 2
    np.testing.assert_array_equal(problem.s, expected.s)
    for flow, other in zip(problem.flows, expected.flows, strict=True):
        np.testing.assert_array_equal(flow, other)


def visits_until_given_up(budget, threads):
    problem, offsets = instance(snake, (161, 161), 4)
    solver = grid_solver(problem, (161, 161), offsets, patience=4)
    while not (solver.advance(budget, threads) or solver.gave_up()):
        problem.check_dual()
    return solver.visits(), problem


@pytest.mark.parametrize(("budget", "threads"), [(1 << 40, 2), (777, 1), (5000, 3)])
def test_the_search_gives_up_at_the_same_place(budget, threads):
    visits, problem = visits_until_given_up(1 << 40, 1)
    other_visits, other = visits_until_given_up(budget, threads)
    assert visits == other_visits
    np.testing.assert_array_equal(problem.s, other.s)
    for flow, same in zip(problem.flows, other.flows, strict=True):
        np.testing.assert_array_equal(flow, same)


def test_who_gave_up_does_nothing_more():
    problem, offsets = instance(snake, (61, 61), 4)
    solver = grid_solver(problem, (61, 61), offsets, patience=3)
    for _ in range(3):
        assert not solver.advance(1 << 40)
        assert solver.gave_up()
        assert solver.visits() < 5 * problem.unary.size
    with pytest.raises(ValueError, match="members are known when"):
        solver.members(np.zeros(problem.unary.size, dtype=np.uint8))


def test_patience_must_not_be_negative():
    problem, offsets = instance(snake, (5, 5), 4)
    with pytest.raises(ValueError, match="patience"):
        grid_solver(problem, (5, 5), offsets, patience=-1)


def solved(kind, side, neighbours=4, **settings):
    """Minimise as a grid; return the result and the node visits of all kernels for each node."""
    shape = (side, side)
    problem, _ = instance(KINDS[kind], shape, neighbours)
    weights = [
        w.reshape(np.subtract(shape, np.abs(o)))
        for w, o in zip(problem.forward, OFFSETS[2, neighbours], strict=True)
    ]
    cut = sm.GridCut(shape, weights, neighbours)
    result = sm.minimize(sm.Problem(problem.unary.reshape(shape), [cut]), "max_flow", **settings)
    return result, result.history[-1].passes, problem


@pytest.mark.parametrize("kind", KINDS)
def test_work_grows_with_the_nodes(kind):
    """Passes count node visits: a grid of sixteen times as many nodes takes little more of them."""
    small, large = (solved(kind, side)[1] for side in (61, 241))
    assert large < 3 * small + 40
    assert large < 150


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_a_start_over_ends_with_the_minimum(kind, neighbours, monkeypatch):
    monkeypatch.setattr(max_flow, "PATIENCE", 1)
    result, _, problem = solved(kind, 61, neighbours)
    assert result.certificate.optimal
    assert result.value == scipy_minimum(problem)


def test_threads_do_not_change_a_bit_of_a_start_over(monkeypatch):
    monkeypatch.setattr(max_flow, "PATIENCE", 2)
    first, second = (solved("maze", 161, threads=threads)[0] for threads in (1, 2))
    np.testing.assert_array_equal(first.minimizer, second.minimizer)
    for part, other in zip(first.dual, second.dual, strict=True):
        np.testing.assert_array_equal(part, other)


def test_passes_limit_the_search():
    """Without a limit the search takes more passes than the sweeps."""
    whole, passes, problem = solved("maze", 121)
    assert passes > 10
    stopped, few, _ = solved("maze", 121, max_passes=6)
    assert few <= 6 + max_flow.SLICE / problem.unary.size
    assert stopped.lower_bound <= whole.value <= stopped.value
