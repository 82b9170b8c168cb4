"""Paths against separate solves, at breakpoints and between them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from ..problems import all_sets, models
from .test_points import SMALL, solvable, some_families


def levels_of(path: sm.Path) -> np.ndarray:
    """Breakpoints, the middle between two, and beyond the ends."""
    ends = path.breakpoints
    if not ends.size:
        return np.array([-1.0, 0.0, 2.0])
    return np.concatenate([ends, 0.5 * (ends[1:] + ends[:-1]), [ends[0] - 1.0, ends[-1] + 1.0]])


@given(
    some_families.flatmap(lambda names: models(names, whole=True, hard=True, shapes=SMALL)),
    st.integers(0, 2**32),
)
@settings(max_examples=200)
def test_paths_against_enumeration(model, seed):
    problem, sets = model.problem, all_sets(model.problem.n)
    if not solvable(problem) or not np.isfinite(model.minimum):
        return
    direction = np.random.default_rng(seed).integers(0, 3, problem.shape).astype(float)
    direction *= 1 if seed % 3 else -1
    if not direction.any():
        return
    path = sm.path(problem, direction)
    for lam in levels_of(path):
        values = model.values + lam * (sets @ direction.ravel())
        assert path.value(lam) == pytest.approx(values.min(), abs=1e-9)
    between = 0.5 * (path.breakpoints[1:] + path.breakpoints[:-1])
    for lam in between[np.diff(path.breakpoints) > 1e-9]:
        values = model.values + lam * (sets @ direction.ravel())
        minimal = sets[values <= values.min() + 1e-9]
        moved = direction.ravel() != 0.0
        smallest, largest = path.minimizer(lam), path.minimizer(lam, largest=True)
        np.testing.assert_array_equal(smallest.ravel()[moved], minimal.all(axis=0)[moved])
        np.testing.assert_array_equal(largest.ravel()[moved], minimal.any(axis=0)[moved])


def test_sets_are_nested_and_counted():
    rng = np.random.default_rng(0)
    path = sm.path(sm.Problem(rng.normal(size=(7, 8)), [sm.GridCut((7, 8), 0.3)]))
    sets = list(path)
    assert len(sets) == len(path) == path.breakpoints.size + 1
    assert sets[0].all()
    assert not sets[-1].any()
    for larger, smaller in pairwise(sets):
        assert (larger >= smaller).all()
        assert (larger != smaller).any()
    np.testing.assert_array_equal(path[-1], sets[-1])
    with pytest.raises(IndexError, match=f"the path has {len(path)} sets"):
        path[len(path)]


def test_case_8_capacities_that_move_on_both_sides():
    path = sm.path(sm.Problem([8.0]), direction=[-8.0])
    assert path.breakpoints.tolist() == [1.0]
    assert [bool(path.minimizer(lam)[0]) for lam in (0.0, 0.5, 1.5, 2.0)] == [
        False,
        False,
        True,
        True,
    ]
    assert path.value(1.0) + 1.0 + 5.0 * 1.0 == 6.0
    assert [bool(members[0]) for members in path] == [True, False]


def test_hard_constraints_hold_on_the_whole_path():
    problem = sm.Problem([np.inf, -1.0, 2.0, -np.inf], [sm.GridCut(4, 1.0)])
    path = sm.path(problem)
    assert path.x[0] == -np.inf
    assert path.x[3] == np.inf
    for lam in (-100.0, 0.0, 100.0):
        assert path.minimizer(lam).tolist()[::3] == [False, True]
        assert np.isfinite(path.value(lam))
    assert len(sm.path(sm.Problem([np.inf, -np.inf]))) == 1


def test_elements_without_direction_are_decided_where_nothing_moves_them():
    path = sm.path(sm.Problem([-1.0, 2.0, 0.5], [sm.GridCut(3, 0.25)]), direction=[0.0, 0.0, 1.0])
    assert path.x[:2].tolist() == [np.inf, -np.inf]
    assert path.x[2] == -0.75


@given(st.integers(0, 2**32))
@settings(max_examples=60)
def test_pits_with_blocks_that_must_or_must_not_be_mined(seed):
    """Forced blocks decide those above and below; a price moves some of the costs."""
    rng = np.random.default_rng(seed)
    blocks = np.arange(9).reshape(3, 3)
    pairs = [
        (blocks[i, j], blocks[i - 1, k])
        for i in (1, 2)
        for j in range(3)
        for k in range(max(0, j - 1), min(3, j + 2))
    ]
    cut = sm.Cut(*np.array(pairs).T, np.full(len(pairs), np.inf), np.zeros(len(pairs)))
    costs, direction = rng.integers(-5, 6, 9).astype(float), -rng.integers(0, 3, 9).astype(float)
    direction[0] = -1.0
    costs[rng.integers(9)] = [np.inf, -np.inf, 1.0][seed % 3]
    problem = sm.Problem(costs, [cut])
    path, forced = sm.path(problem, direction), float(direction[np.isneginf(costs)].sum())
    for lam in (-1.25, 0.0, 0.75, 2.125):
        least = sm.minimize(sm.Problem(costs + lam * direction, [cut])).value
        assert path.value(lam) == pytest.approx(least + lam * forced, abs=1e-9)


def test_an_element_without_direction_is_in_where_it_gains_beside_another():
    """Element 1 joins the group of element 0, which is forced in, for 1, and gains 2."""
    group = sm.Cardinality([0, 3], [0, 1, 2], lambda count, _: np.minimum(count, 2.0))
    path = sm.path(sm.Problem([-np.inf, -2.0, 0.0], [group]), direction=[0.0, 0.0, 1.0])
    assert path.x.tolist() == [np.inf, np.inf, 0.0]
    assert path.value(0.0) == 0.0


@pytest.mark.parametrize(
    ("direction", "message"),
    [
        ([1.0, -1.0, 1.0], "one sign"),
        ([0.0, 0.0, 0.0], "0 everywhere"),
        ([1.0, np.nan, 1.0], r"direction\[1\] is nan"),
        ([1.0, 1.0], "shape"),
    ],
)
def test_directions_are_checked(direction, message):
    with pytest.raises(ValueError, match=message):
        sm.path(sm.Problem([1.0, 2.0, 3.0]), direction)
    with pytest.raises(ValueError, match="NaN"):
        sm.path(sm.Problem([1.0, 2.0, 3.0])).minimizer(float("nan"))


def test_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(1)
    problem = sm.Problem(rng.normal(size=(4, 5)), [sm.GridCut((4, 5), 0.5)])
    path = sm.path(problem, direction=rng.random((4, 5)))
    path.save(tmp_path / "path.npz")
    loaded = sm.Path.load(tmp_path / "path.npz")
    np.testing.assert_array_equal(loaded.x, path.x)
    assert loaded.certificate == path.certificate
    assert loaded.value(0.1) == path.value(0.1)
    problem.save(tmp_path / "problem.npz")
    with pytest.raises(ValueError, match="holds no path"):
        sm.Path.load(tmp_path / "problem.npz")


def test_arguments_are_named():
    with pytest.raises(TypeError, match="problem must be a Problem, and not a list"):
        sm.path([1.0, 2.0])
    with pytest.raises(ValueError, match=r"direction.flat\[0\] is 1e-300: x overflows"):
        sm.path(sm.Problem([1e10, -1.0]), [1e-300, 1.0])
    path = sm.path(sm.Problem([1.0, 2.0]))
    with pytest.raises(ValueError, match="lam is inf: it must be finite"):
        path.value(np.inf)
    with pytest.raises(TypeError):
        path[1.0]


def test_a_path_with_precedences_and_elements_without_weight():
    """An element that does not change leaves together with one that it is held to."""
    together = sm.Cut([0], [1], [np.inf])
    path = sm.path(sm.Problem([0.6, 0.8], [together]), [1.0, 0.0])
    np.testing.assert_allclose(path.breakpoints, [-1.4], rtol=1e-15)
    assert path.certificate.gap <= 1e-14
