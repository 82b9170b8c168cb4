"""What is tried first: a message says what works, and that does work."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm

PROBLEM = sm.Problem([1.0, -2.0, 0.5, 1.0], [sm.GridCut(4, 1.0)])
LISTS = [[0, 1, 2], [2, 3]]


def test_element_numbers_in_place_of_a_mask():
    with pytest.raises(TypeError, match=r"inside .* boolean mask .* np.isin\(np.arange\(4\), num"):
        PROBLEM.minor(inside=[1])
    minor = PROBLEM.minor(inside=np.isin(np.arange(4), [1]))
    assert minor.elements.tolist() == [0, 2, 3]


def test_a_mask_in_place_of_element_numbers():
    mask = np.array([True, False, True])
    with pytest.raises(TypeError, match=r"support .* bool; np.flatnonzero\(mask\)"):
        sm.Function(mask, lambda members: float(members.any()))
    term = sm.Function(np.flatnonzero(mask), lambda members: float(members.any()))
    assert term.support.tolist() == [0, 2]


@pytest.mark.parametrize("ask", [sm.minimize, sm.prox])
def test_settings_of_a_solver_go_to_the_solver(ask):
    with pytest.raises(TypeError, match=r"no argument 'seed': .* sm.RCDM\(seed=1\)"):
        ask(PROBLEM, seed=1)
    with pytest.raises(TypeError, match=r"no argument 'penalty'$"):
        ask(PROBLEM, penalty=1)
    assert ask(PROBLEM, sm.RCDM(seed=1)).solver == "RCDM(seed=1)"


def test_a_minor_in_place_of_its_problem():
    minor = PROBLEM.minor(outside=[True, False, False, False])
    with pytest.raises(TypeError, match=r"not a Minor; it has one, \.problem"):
        sm.minimize(minor)


def test_a_result_of_the_whole_starts_a_minor():
    problem = sm.Problem(np.arange(12.0).reshape(3, 4) - 6.0, [sm.GridCut((3, 4), 2.0)])
    result = sm.minimize(problem, "rcdm")
    minor = problem.minor(outside=np.isin(np.arange(12), [11]))
    with pytest.raises(ValueError, match=r"warm start has dual sizes .* Minor\.restrict_dual"):
        sm.minimize(minor.problem, warm_start=result)
    start = minor.restrict_dual(result)
    assert [part.tolist() for part in start] == [
        part.tolist() for part in minor.restrict_dual(result.dual)
    ]
    rest = sm.minimize(minor.problem, "rcdm", warm_start=start)
    assert rest.value == result.value
    whole = minor.lift_dual(rest, result)
    assert sm.minimize(problem, "rcdm", warm_start=whole).value == result.value


@pytest.mark.parametrize("lists", [LISTS, [[0, 1], [2, 3]]])
def test_lists_in_place_of_pointers(lists):
    with pytest.raises(TypeError, match=r"pointers .* \*list_groups\(lists\)"):
        sm.Hyperedge(lists, [0, 1], 1.0)
    with pytest.raises(TypeError, match=r"pointers .* \*list_groups\(lists\)"):
        sm.coverage(lists, [0, 1], 1.0)


def test_groups_of_lists():
    pointers, members = sm.list_groups(LISTS)
    assert (pointers.tolist(), members.tolist()) == ([0, 3, 5], [0, 1, 2, 2, 3])
    assert (pointers.dtype, members.dtype) == (np.int64, np.int32)
    assert [array.tolist() for array in sm.list_groups([])] == [[0], []]
    assert sm.list_groups([[], (3,), np.array([1, 0])])[0].tolist() == [0, 0, 1, 3]
    with pytest.raises(TypeError, match=r"lists\[1\] must hold integers"):
        sm.list_groups([[0], [0.5]])
    with pytest.raises(ValueError, match=r"lists\[0\]\[1\] is -1"):
        sm.list_groups([[0, -1]])


@pytest.mark.parametrize("name", ["max_iter", "max_seconds", "timeout", "n_iter"])
def test_other_names_of_the_limits(name):
    with pytest.raises(TypeError, match=rf"no argument '{name}': max_passes and time_limit"):
        sm.minimize(PROBLEM, **{name: 3})
    assert sm.minimize(PROBLEM, max_passes=3, time_limit=1.0).value == 0.0
