"""Least ratios against enumeration, and densest subgraphs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from ..problems import models, set_index
from .decomposition import mass
from .test_points import SMALL, some_families


@given(
    st.booleans().flatmap(
        lambda whole: some_families.flatmap(lambda names: models(names, whole=whole, shapes=SMALL))
    ),
    st.integers(0, 2**32),
)
@settings(max_examples=150)
def test_ratios_against_enumeration(model, seed):
    problem = sm.Problem(model.problem.unary, model.problem.terms)
    values = model.values - model.problem.constant
    masses = np.random.default_rng(seed).integers(1, 5, problem.shape).astype(float)
    exact = [Fraction(m) for m in masses.ravel()]
    least = min(Fraction(values[k]) / mass(k, exact) for k in range(1, len(values)))
    found = sm.minimize_ratio(problem, masses)
    near = Fraction(1e-12 * model.scale)
    assert found.lower_bound <= least + near
    assert least - near <= Fraction(found.value) <= least + near
    assert found.gap <= 1e-9 * model.scale
    assert found.minimizer.any()
    ratio = values[set_index(found.minimizer)] / float(masses[found.minimizer].sum())
    assert ratio == pytest.approx(found.value, abs=1e-12 * model.scale)


def test_the_bound_of_whole_numbers_is_rounded_down():
    """The ratio -2/3 is no float, and the nearest one is above it."""
    problem = sm.Problem([-1.0, -1.0, 0.0], [sm.Cut([0, 1], [1, 2], [3.0, 3.0])])
    found = sm.minimize_ratio(problem)
    assert Fraction(found.lower_bound) <= Fraction(-2, 3)
    assert found.value == -2.0 / 3.0


def densest(graph) -> tuple[sm.Problem, int]:
    """The edges inside are half of the degrees, less half of the edges that leave."""
    tails, heads = np.array(graph.edges).T
    degrees = np.array([degree for _, degree in sorted(graph.degree)], dtype=float)
    return sm.Problem(-0.5 * degrees, [sm.Cut(tails, heads, np.full(len(tails), 0.5))])


def test_densest_subgraph_against_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.gnp_random_graph(60, 0.08, seed=1)
    graph.add_edges_from((i, j) for i in range(9) for j in range(i) if (i + j) % 5)
    found = sm.minimize_ratio(densest(graph))
    density, _ = networkx.approximation.densest_subgraph(graph, iterations=400)
    assert -found.value >= density - 1e-12
    inside = graph.subgraph(np.flatnonzero(found.minimizer).tolist())
    assert -found.value == pytest.approx(inside.number_of_edges() / len(inside))
    path = sm.path(densest(graph))
    assert path.breakpoints[-1] == pytest.approx(-found.value)
    assert set(np.flatnonzero(found.minimizer)) <= set(np.flatnonzero(path[len(path) - 2]))


def test_refusals():
    with pytest.raises(ValueError, match=r"m\[1\] is 0.0"):
        sm.minimize_ratio(sm.Problem([1.0, 2.0]), [1.0, 0.0])
    with pytest.raises(ValueError, match="below 0"):
        sm.minimize_ratio(sm.Problem([1.0, 2.0], constant=-1.0))
    with pytest.raises(ValueError, match="forced out"):
        sm.minimize_ratio(sm.Problem([np.inf, np.inf]))


def test_what_precedences_keep_out_is_no_part_of_a_first_set():
    """0 only with 1, 1 only with 2, which is out: 3 alone is left."""
    chain = sm.Cut([0, 1], [1, 2], [np.inf, np.inf], [0.0, 0.0])
    found = sm.minimize_ratio(sm.Problem([-9.0, 2.0, np.inf, -3.0], [chain]))
    assert found.minimizer.tolist() == [False, False, False, True]
    assert found.value == found.lower_bound == -3.0
    with pytest.raises(ValueError, match="no set is left"):
        sm.minimize_ratio(sm.Problem([1.0, 2.0, np.inf], [chain]))


@pytest.mark.parametrize(
    ("m", "message"),
    [
        ([1e308] * 3, "m must sum to less than"),
        ([1.0, 1e-300, 1.0], r"m\[1\] is 1e-300: ratios would overflow"),
    ],
)
def test_masses_that_overflow_are_named(m, message):
    with pytest.raises(ValueError, match=message):
        sm.minimize_ratio(sm.Problem([1.0, -2.0, 1.0]), m)


def test_a_problem_is_asked_for():
    with pytest.raises(TypeError, match="problem must be a Problem, and not a list"):
        sm.minimize_ratio([1.0, 2.0])


def test_verify_says_what_proves_a_ratio():
    problem = sm.Problem([-1.0, 2.0, -3.0], [sm.GridCut(3, 1.0)])
    found = sm.minimize_ratio(problem)
    with pytest.raises(TypeError, match=r"ratio\.shifted"):
        sm.verify(problem, found)
    assert sm.verify(found.shifted, found.result).gap <= 1e-12
    with pytest.raises(TypeError, match="a Path is no result"):
        sm.verify(problem, sm.path(problem))
