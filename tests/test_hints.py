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


@pytest.mark.parametrize(
    "lists",
    [
        [{2, 0, 1}, frozenset([3, 2])],
        {"a": [0, 1, 2], "b": {3, 2}},
        (iter(group) for group in LISTS),
        [range(3), (2, 3)],
        {7: [0, 1, 2], 5: [2, 3]}.values(),
        [{0: "x", 1: "y", 2: "z"}.keys(), np.array([2, 3])],
    ],
)
def test_groups_of_sets_generators_and_mappings(lists):
    pointers, members = sm.list_groups(lists)
    assert (pointers.tolist(), members.tolist()) == ([0, 3, 5], [0, 1, 2, 2, 3])


def test_errors_name_the_group():
    with pytest.raises(ValueError, match=r"lists\[1\] has element 3 twice"):
        sm.list_groups([[0, 1], [3, 2, 3]])
    with pytest.raises(ValueError, match=r"lists\['b'\] has element 2 twice"):
        sm.list_groups({"a": [0], "b": (2, 2)})
    with pytest.raises(ValueError, match=r"lists\['b'\]\[1\] is -2"):
        sm.list_groups({"a": [0], "b": (2, -2)})
    with pytest.raises(TypeError, match=r"lists\[0\] must hold integers"):
        sm.list_groups([{"a", "b"}])
    with pytest.raises(ValueError, match=r"members\[4\] is 2 \(group 1\): an element may be once"):
        sm.Hyperedge([0, 3, 5], [0, 1, 2, 2, 2], 1.0)
    with pytest.raises(ValueError, match=r"members\[3\] is -1 \(group 1\): element numbers start"):
        sm.Truncation([0, 3, 5], [0, 1, 2, -1, 2], 1.0, 1.0)
    with pytest.raises(ValueError, match=r"tails\[1\] is 0 \(group 0\): an element may be once"):
        sm.Hyperedge.directed([0, 2], [0, 0], [0, 1], [1], 1.0)
    with pytest.raises(
        ValueError, match=r"pointers\[2\] is 2: pointers must not .* group 1 begins at 3"
    ):
        sm.Hyperedge([0, 3, 2], [0, 1], 1.0)


PRECEDENCES = [
    lambda w: sm.Cut([0, 1], [1, 2], w),
    lambda w: sm.Cut([0, 1], [1, 2], [1.0, 1.0], w),
    lambda w: sm.GridCut(3, [w]),
    lambda w: sm.GridCut((3,), [[1.0, 1.0]], reverse_weights=[w]),
    lambda w: sm.Hyperedge([0, 1, 2], [0, 1], w),
    lambda w: sm.potts_pn([0, 1, 2], [0, 1], w),
]
OTHERS = [
    lambda w: sm.Truncation([0, 1, 2], [0, 1], w, 1.0),
    lambda w: sm.Truncation([0, 1, 2], [0, 1], 1.0, w),
    lambda w: sm.ConcaveOfModular([0, 1, 2], [0, 1], w, [0, 1], [0, 1]),
    lambda w: sm.robust_pn([0, 1, 2], [0, 1], 1.0, w),
    lambda w: sm.coverage([0, 1, 2], [0, 1], w),
    lambda w: sm.negative_hinge([0, 1, 2], [0, 1], w, 1.0),
    lambda w: sm.facility_location([w]),
]


@pytest.mark.parametrize("weight", [np.nan, -1.0, -np.inf])
@pytest.mark.parametrize("make", PRECEDENCES + OTHERS)
def test_weights_of_all_families_are_numbers_and_not_negative(make, weight):
    make([1.0, 1.0])
    with pytest.raises(ValueError, match=rf"1\)?\] is {weight}: "):
        make([1.0, weight])


@pytest.mark.parametrize("make", OTHERS)
def test_weights_of_functions_that_are_no_cuts_are_finite(make):
    with pytest.raises(ValueError, match=r"1\)?\] is inf: it must be finite; "):
        make([1.0, np.inf])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sm.GridCut((0, 3), 1.0),
            r"shape\[0\] is 0: every axis needs a length of 1 or more",
        ),
        (lambda: sm.GridCut((2, 0), 1.0), r"shape\[1\] is 0: every axis needs"),
        (lambda: sm.GridCut((), 1.0), "shape is empty: at least one axis"),
        (lambda: sm.Problem(np.zeros((3, 0))), r"unary\[1\] is 0: every axis needs"),
        (lambda: sm.Cardinality.from_labels([], lambda k, m: k), r"labels is empty \(shape \(0,\)"),
        (lambda: sm.Function([], lambda mask: 0.0), "support is empty"),
        (lambda: sm.Table(np.zeros((2, 0), int), [0.0]), r"members has shape \(2, 0\): .* columns"),
        (lambda: sm.facility_location([]), r"benefits has shape \(0,\): it needs a row"),
        (lambda: sm.Hyperedge([0, 2], [0, 1], []), r"weights has shape \(0,\)"),
        (lambda: sm.Truncation([0, 2], [0, 1], [], 1.0), r"masses has shape \(0,\)"),
        (lambda: sm.ConcaveOfModular([0, 1], [0], 1.0, [], []), r"breakpoints has shape \(0,\)"),
        (
            lambda: sm.GridCut((2, 3), [np.ones((2, 3)), 1.0]),
            r"weights\[0\] has shape .* needs \(2, 2\)",
        ),
    ],
)
def test_empty_arrays_and_axes_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", ["max_iter", "max_seconds", "timeout", "n_iter"])
def test_other_names_of_the_limits(name):
    with pytest.raises(TypeError, match=rf"no argument '{name}': max_passes and time_limit"):
        sm.minimize(PROBLEM, **{name: 3})
    assert sm.minimize(PROBLEM, max_passes=3, time_limit=1.0).value == 0.0
