"""The best level set of a vector, over all thresholds, and the Lovász extension."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solve.level_sets import best_level_set

from .laws import lovasz
from .problems import Model, models, set_index, vectors

SHAPES = [(1,), (4,), (2, 3), (2, 1, 2)]


@settings(max_examples=40)
@given(models(shapes=SHAPES), st.data())
def test_no_level_set_is_better(case: Model, data):
    x = data.draw(vectors(False, case.problem.n))
    found = best_level_set(sm.Layout(case.problem), x)
    value = case.values[set_index(found.members)]
    thresholds = np.unique(x)
    for level in [x > a for a in thresholds] + [x >= a for a in thresholds]:
        assert value <= case.values[set_index(level)] + 1e-12 * case.scale
    expected = lovasz(case.values - case.problem.constant, x)
    assert found.lovasz == pytest.approx(expected, abs=1e-11 * case.scale * 10)


@settings(max_examples=40)
@given(models(whole=True, shapes=SHAPES), st.data())
def test_no_smaller_prefix_is_as_good(case: Model, data):
    """Of the best prefixes of the order the smallest is returned; ties are broken by index."""
    x = data.draw(vectors(True, case.problem.n))
    found = best_level_set(sm.Layout(case.problem), x)
    order = np.argsort(-x, kind="stable")
    prefixes = [np.isin(np.arange(x.size), order[:k]) for k in range(x.size + 1)]
    values = [case.values[set_index(prefix)] for prefix in prefixes]
    assert np.array_equal(found.members, prefixes[int(np.argmin(values))])


@settings(max_examples=40)
@given(models(shapes=SHAPES, whole=True))
def test_level_set_of_a_minimiser_is_a_minimiser(case: Model):
    best = int(np.argmin(case.values))
    mask = (best >> np.arange(case.problem.n)) & 1
    found = best_level_set(sm.Layout(case.problem), mask.astype(float))
    assert case.values[set_index(found.members)] == case.minimum


def test_equal_entries():
    problem = sm.Problem([-1.0, 3.0, -1.0], [sm.Cut([0, 1], [1, 2], 1.0)])
    found = best_level_set(sm.Layout(problem), np.zeros(3))
    assert found.lovasz == 0.0
    assert problem.evaluate(found.members) <= 0.0


def test_no_terms():
    found = best_level_set(sm.Layout(sm.Problem([1.0, -2.0])), np.array([-1.0, 2.0]))
    assert found.members.tolist() == [False, True]
    assert found.lovasz == -5.0
