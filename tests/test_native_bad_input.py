"""Kernels, called directly with what does not fit: refused, and nothing crashes.

The twins refuse the numbers and pointers that the contracts say, the compiled ones all that would
lead astray.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from submin.kernels import reference

from .native_calls import CALLS, arguments, contract

native = pytest.importorskip("submin._native")

LARGEST = 2**31 - 1
each_kernel_set = pytest.mark.parametrize("kernels", [native, reference], ids=["native", "numpy"])

# Below what the numbers of an argument must be.
BOUNDS = {
    "best_prefix": {"rank": 3},
    "edges_accumulate": {"tails": 4, "heads": 4},
    "edges_cut_value": {"tails": 4, "heads": 4},
    "edges_project": {"tails": 4, "heads": 4, "edges": 3},
    "edges_sweep": {"tails": 4, "heads": 4, "edges": 3},
    "edges_sweep_in_turn": {"tails": 4, "heads": 4},
    "edges_close_sides": {"tails": 4, "heads": 4},
    "path_chains_project": {"nodes": 5, "edges": 3},
    "path_chains_sweep": {"nodes": 5, "edges": 3},
    "groups_accumulate": {"members": 3},
    "group_counts": {"members": 5},
    "cardinality_project": {"members": 5, "groups": 2, "order": 3},
    "cardinality_sweep": {"members": 5, "groups": 2, "order": 3},
    "cardinality_greedy": {"members": 5},
    "hyperedge_project": {"members": 5, "groups": 2},
    "hyperedge_sweep": {"members": 5, "groups": 2},
    "truncation_project": {"members": 5, "groups": 2},
    "truncation_sweep": {"members": 5, "groups": 2},
    "table_project": {"members": 4, "tables": 2},
    "table_sweep": {"members": 4, "tables": 2},
    "colour": {"members": LARGEST},
    "linear_forests": {"tails": LARGEST, "heads": LARGEST},
    "add_net_flow": {"tails": 4, "heads": 4},
    "conserve": {"tails": 4, "heads": 4},
    "adjacency_order": {"neighbours": 3},
    "close_sides": {"tails": 3, "heads": 3},
    "raise_along": {"tails": 3, "heads": 3},
    "settle": {"tails": 4, "heads": 4},
    "GraphFlow": {"tails": 4, "heads": 4},
    "ParametricFlow": {"tails": 4, "heads": 4},
    "LabelMessages": {"tails": 4, "heads": 4},
    "LabelExpansions": {"tails": 4, "heads": 4, "current": 3},
    "label_fusion": {"tails": 4, "heads": 4, "first": 8, "second": 8},
    "label_bound": {"tails": 4, "heads": 4},
    "label_distances": {"tails": 4, "heads": 4, "chosen": 8},
}
NUMBERS = [
    (name, argument, number)
    for name, bounds in BOUNDS.items()
    for argument, bound in bounds.items()
    for number in (-1, -(2**31), bound, LARGEST)
]

# Not every member, node or edge needs to be in use, and a list of what to do may be any list.
FREE = {"values", "groups", "tables", "edges"}
FITTING = {
    ("LabelMessages", "costs"): {"longer"},
    ("LabelExpansions", "costs"): {"longer"},
    ("label_bound", "costs"): {"longer", "shorter"},
    ("label_distances", "chosen"): {"longer"},
    ("label_fusion", "at_tail"): {"empty"},
    ("label_fusion", "at_head"): {"empty"},
} | {(name, "distances"): {"longer"} for name in CALLS if name.lower().startswith("label")}
"""More nodes without edges, fewer labels, no dual, distances that no edge has."""
USED_IN_PART = {"s", "rank", "member", "members", "indptr", "side"}


def run(name: str, given: dict[str, Any], kernels: Any = native) -> None:
    """Call a function, or make a flow or the like and follow it for a while."""
    result = getattr(kernels, name)(**given)
    if name == "LabelMessages":
        result.forward(np.zeros(len(given["costs"]), np.int32))
        result.dual(*np.zeros((2, *given["messages"].shape), np.float32))
    elif name == "LabelExpansions":
        for _ in range(2):
            for alpha in range(len(given["costs"])):
                result.expand(alpha)
    if not name.endswith("Flow"):
        return
    if any(result.advance(100) for _ in range(50)) and "s" in given:
        result.members(np.zeros(given["s"].size, np.uint8))
    result.counts()


def refusal(name: str, given: dict[str, Any], kernels: Any = native) -> str:
    """Return why a call is refused, which must name an argument, or nothing."""
    try:
        run(name, given, kernels)
    except ValueError as error:
        message = str(error)
    else:
        return ""
    assert any(argument in message for argument in given), message
    return message


def integer_arrays() -> list[tuple[str, str]]:
    return [
        (name, argument)
        for name, given in CALLS.items()
        for argument, value in given.items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    ]


def test_every_function_has_a_call():
    assert {name for name in dir(native) if not name.startswith("_")} == set(CALLS)


@each_kernel_set
@pytest.mark.parametrize("name", CALLS)
def test_lawful_calls_are_accepted(name, kernels):
    run(name, arguments(name), kernels)


@each_kernel_set
@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize(("name", "argument", "number"), NUMBERS)
def test_numbers_out_of_range(name, argument, number, place, kernels):
    given = arguments(name)
    given[argument].flat[place] = number
    where = f"{given[argument].size - 1 if place else 0}"
    with pytest.raises(ValueError, match=rf"{argument}(\.ravel\(\))?\[{where}\] = {number} is"):
        run(name, given, kernels)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("number", [-1, 100_000])
@pytest.mark.parametrize("argument", ["edges", "tails", "heads"])
def test_edges_of_large_matchings(argument, number, threads):
    """In pieces of work, perhaps on other threads; edges before the wrong one may be done."""
    edges = np.arange(50_000, dtype=np.int32)
    arrays = {"tails": 2 * edges, "heads": 2 * edges + 1, "edges": edges.copy()}
    arrays[argument][40_000] = number
    flow, s, weights = np.zeros(50_000), np.ones(100_000), np.ones(1)
    with pytest.raises(ValueError, match=rf"{argument}\[40000\] = {number} is outside"):
        native.edges_sweep(
            arrays["tails"], arrays["heads"], weights, weights, arrays["edges"], flow, s, threads
        )


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("argument", "number"), [("members", -1), ("members", 60_000), ("order", -1), ("order", 3)]
)
def test_members_of_many_groups(argument, number, threads):
    """A group is swept as a whole or not at all: s stays u plus the sum of y."""
    members = np.arange(60_000, dtype=np.int32)
    arrays = {"members": members, "order": members % 3}
    arrays[argument][50_000] = number
    unary = np.random.default_rng(0).normal(size=60_000)
    y, s = np.zeros(60_000), unary.copy()
    pointers, groups = np.arange(0, 60_001, 3), np.arange(20_000, dtype=np.int32)
    gains = np.tile([1.0, 0.0, -1.0], 20_000)
    with pytest.raises(ValueError, match=rf"{argument}\[50000\] = {number} is outside"):
        native.cardinality_sweep(
            pointers, arrays["members"], gains, groups, y, s, arrays["order"], threads
        )
    assert np.abs(s - unary - y).max() <= 1e-15 * 60_000
    assert y.any()


@pytest.mark.parametrize("change", ["longer", "shorter", "empty"])
@pytest.mark.parametrize(
    ("name", "argument"),
    [
        (name, argument)
        for name, given in CALLS.items()
        for argument, value in given.items()
        if isinstance(value, np.ndarray)
    ],
)
def test_lengths_that_do_not_fit(name, argument, change):
    given = arguments(name)
    array = given[argument]
    given[argument] = {
        "longer": np.concatenate([array, array[:1]]),
        "shorter": array[:-1].copy(),
        "empty": array[:0].copy(),
    }[change]
    may_fit = argument in FREE or (argument in USED_IN_PART and change != "empty")
    may_fit = may_fit or change in FITTING.get((name, argument), set())
    assert refusal(name, given) or may_fit


@pytest.mark.parametrize("argument", ["backward", "forward", "flows"])
@pytest.mark.parametrize("name", ["GridFlow", "grid_greedy", "grid_inspect", "grid_cut_value"])
def test_lists_that_do_not_fit(name, argument):
    for change in (
        lambda arrays: arrays[:1],
        lambda arrays: [],
        lambda arrays: [*arrays, arrays[0]],
        lambda arrays: [arrays[0], np.ones(2)],
    ):
        given = arguments(name)
        if argument not in given:
            continue
        given[argument] = change(given[argument])
        with pytest.raises(ValueError, match=r"size|must"):
            run(name, given)


@pytest.mark.parametrize("pointers", [[], [-1, 2, 5], [0, 3, 2], [0, 2, 2**62], [0, -5, 5]])
@pytest.mark.parametrize("name", [n for n, c in CALLS.items() if {"indptr", "pointers"} & set(c)])
@each_kernel_set
def test_pointers_that_do_not_ascend_within_the_members(name, pointers, kernels):
    given = arguments(name)
    argument = "indptr" if "indptr" in given else "pointers"
    given[argument] = np.array(pointers, dtype=np.int64)
    assert refusal(name, given, kernels)


@pytest.mark.parametrize("number", [-(2**63), -1, 7, 2**31 + 3, 2**63 - 1])
@pytest.mark.parametrize(("name", "argument"), integer_arrays())
def test_wild_integers_do_not_crash(name, argument, number):
    """Wherever they are: refused, or without a meaning that could lead astray."""
    given = arguments(name)
    kind = np.iinfo(given[argument].dtype)
    if name in {"colour", "linear_forests"} and number > 7:
        return  # memory grows with the largest number
    for place in range(given[argument].size):
        spoilt = arguments(name)
        spoilt[argument].flat[place] = min(max(number, kind.min), kind.max)
        refusal(name, spoilt)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e308, -1e308])
@pytest.mark.parametrize("name", CALLS)
def test_numbers_that_are_not_finite_do_not_crash(name, number):
    """In one place of an array, or everywhere in it; the driver refuses what comes out."""
    arrays = [
        argument
        for argument, value in CALLS[name].items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    ]
    for argument in arrays:
        for place in (0, -1, slice(None)):
            given = arguments(name)
            with np.errstate(over="ignore"):  # of single precision
                given[argument].reshape(-1)[place] = number
            run(name, given)


def test_chains_of_more_pieces_than_nodes():
    """Sums that are not numbers once made the funnel write beyond its room; sanitizers see it."""
    given = arguments("grid_chains_sweep")
    given["backward"][:3] = -0.0, -1e308, np.inf
    given["s"][-1] = -np.inf
    run("grid_chains_sweep", given)


@pytest.mark.parametrize("name", [name for name, given in CALLS.items() if "threads" in given])
@pytest.mark.parametrize("threads", [-(2**31), -1, 0, 2**31 - 1])
def test_any_number_of_threads(name, threads):
    run(name, arguments(name) | {"threads": threads})


REACHING_OUTSIDE = {
    "shape": [[0, 3], [-1, 6], [-2, -3], [2, 4]],
    "node_start": [[0, -1], [0, 4]],
    "edge_start": [[3, 0]],
    "length": [[-1, 3]],
    "geometry": [[2, 2, 2, 2, 1, 2, 1, 0, 0, 3], [2, 2, 2, 2, 1, 2, 1, 1, 0, 2]],
}
REACHES = [
    (name, argument, numbers)
    for name, given in CALLS.items()
    for argument in sorted(REACHING_OUTSIDE.keys() & given.keys())
    for numbers in REACHING_OUTSIDE[argument]
]


@each_kernel_set
@pytest.mark.parametrize(("name", "argument", "numbers"), REACHES)
def test_grids_and_views_that_reach_outside(name, argument, numbers, kernels):
    given = arguments(name) | {argument: np.array(numbers, dtype=np.int64)}
    with pytest.raises(ValueError, match=r"\w"):
        run(name, given, kernels)


@pytest.mark.parametrize("name", CALLS)
def test_every_refusal_of_a_contract_is_tested(name):
    spoilt = {"indptr", "pointers", "source", "sink"} | set(REACHING_OUTSIDE)
    assert contract(name)[0] == BOUNDS.get(name, {}).keys() | (CALLS[name].keys() & spoilt)


@each_kernel_set
@pytest.mark.parametrize("number", [-1, 4])
@pytest.mark.parametrize("argument", ["source", "sink"])
def test_terminals_that_are_no_nodes(argument, number, kernels):
    with pytest.raises(ValueError, match=argument):
        run("conserve", arguments("conserve") | {argument: number}, kernels)
