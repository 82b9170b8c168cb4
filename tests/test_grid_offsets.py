"""Grids of any offsets, with periodic axes and missing cells: against their definition."""

from __future__ import annotations

import tempfile
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from .laws import assert_block_laws, assert_round_trip, assert_term_laws
from .problems import all_sets, vectors
from .test_grid_cut import explicit

FEW = settings(max_examples=40)
SOLVERS = ["auto", "accelerated_sweeps", "rcdm", "cyclic_sweeps", "submodular_flow"]


def edges_of(shape, offsets, periodic, cells):
    """Yield the number of each offset, places in its array, tails and heads, by definition."""
    for k, offset in enumerate(offsets):
        for tail in np.ndindex(shape):
            head = [p + d for p, d in zip(tail, offset, strict=True)]
            head = tuple(
                p % n if ring else p for p, n, ring in zip(head, shape, periodic, strict=True)
            )
            if any(not 0 <= p < n for p, n in zip(head, shape, strict=True)):
                continue
            place = tuple(
                p if ring else min(p, q) for p, q, ring in zip(tail, head, periodic, strict=True)
            )
            if cells is None or (cells[tail] and cells[head]):
                yield k, place, tail, head


def cut_of(shape, offsets, periodic, cells, forward, backward) -> sm.Cut:
    """The general graph of the same edges; weights are arrays by offset."""
    numbers = np.arange(np.prod(shape)).reshape(shape)
    listed = list(edges_of(shape, offsets, periodic, cells))
    return sm.Cut(
        [numbers[tail] for *_, tail, _ in listed], [numbers[head] for *_, head in listed],
        [forward[k][place] for k, place, *_ in listed],
        [backward[k][place] for k, place, *_ in listed],
    )  # fmt: skip


@st.composite
def grids(draw, most=9):
    """A grid of any kind, and the same edges as a general graph."""
    shapes = [(7,), (2, 4), (3, 3), (4, 2), (1, 5), (5, 1), (2, 2, 2), (3, 1, 3), (1, 8)]
    shape = draw(st.sampled_from([shape for shape in shapes if np.prod(shape) <= most]))
    periodic = tuple(draw(st.booleans()) and n > 2 for n in shape)
    reach = [(n - 1) // 2 if ring else n for n, ring in zip(shape, periodic, strict=True)]
    half = [d for d in product(*(range(-r, r + 1) for r in reach)) if d > (0,) * len(shape)]
    chosen = draw(st.lists(st.sampled_from(half), min_size=1, max_size=5, unique=True))
    offsets = [tuple(-x for x in d) if draw(st.booleans()) else d for d in chosen]
    cells = None
    if draw(st.booleans()):
        n = prod(shape)
        flags = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        cells = np.array(flags).reshape(shape)
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    extents = [
        tuple(
            n if ring else max(0, n - abs(d)) for n, d, ring in zip(shape, o, periodic, strict=True)
        )
        for o in offsets
    ]
    both = [[rng.integers(0, 9, extent).astype(float) for extent in extents] for _ in range(2)]
    if draw(st.booleans()):
        both[1] = both[0]
    if draw(st.booleans()):
        for part in both:
            part[0] = np.full(extents[0], 2.0)
    kind = draw(st.sampled_from([np.float64, np.float32]))
    weights, reverse = ([part.astype(kind) for part in parts] for parts in both)
    grid = sm.GridCut(
        shape, weights, None, reverse if both[1] is not both[0] else None,
        offsets=offsets, periodic=periodic, cells=cells,
    )  # fmt: skip
    return grid, cut_of(shape, offsets, periodic, cells, *both)


@FEW
@given(grids())
def test_values_are_those_of_the_definition(pair):
    grid, cut = pair
    for members in all_sets(grid.elements):
        assert grid.evaluate(members) == cut.evaluate(members)


@FEW
@given(grids(), st.data())
def test_laws_of_terms(pair, data):
    grid, cut = pair
    n = grid.elements
    values = np.array([cut.evaluate(members) for members in all_sets(n)])
    assert_term_laws(
        grid, values, data.draw(vectors(False, n)), data.draw(vectors(False, grid.size))
    )
    assert_round_trip(grid, n)
    graph = explicit(grid)
    for members in all_sets(n)[:: max(1, 2**n // 32)]:
        assert graph.evaluate(members) == grid.evaluate(members)


@pytest.mark.parametrize("decomposition", sm.GridCut(2, 1.0).decompositions)
@FEW
@given(pair=grids(), data=st.data())
def test_laws_of_blocks(decomposition, pair, data):
    grid, _ = pair
    s, dual = data.draw(vectors(False, grid.elements)), data.draw(vectors(False, grid.size))
    assert_block_laws(grid, decomposition, s, dual)


@FEW
@given(pair=grids(), seed=st.integers(0, 2**32 - 1))
def test_all_that_is_done_with_a_problem(pair, seed):
    grid, cut = pair
    rng = np.random.default_rng(seed)
    unary = rng.integers(-9, 9, grid.shape).astype(float)
    problem, same = sm.Problem(unary, [grid]), sm.Problem(unary.ravel(), [cut] if cut.size else [])
    values = [same.evaluate(members) for members in all_sets(grid.elements)]
    least = min(values)
    smallest = np.logical_and.reduce(all_sets(grid.elements)[np.array(values) == least])
    for solver in SOLVERS:
        result = sm.minimize(problem, solver)
        assert result.value == least
        assert result.certificate.closed
        assert sm.verify(problem, result) == result.certificate
    assert np.array_equal(sm.minimize(problem).minimizer.ravel(), smallest)
    point, expected = sm.prox(problem, tol=1e-9), sm.prox(same, tol=1e-9)
    assert np.abs(point.x.ravel() - expected.x).max() <= 1e-4
    assert sm.verify(problem, point).gap <= 1e-9
    path = sm.path(problem)
    for level in (-2.5, 0.0, 1.25):
        changed = sm.Problem(unary.ravel() + level, same.terms)
        assert path.value(level) == pytest.approx(sm.minimize(changed).value, abs=1e-9)
    with tempfile.TemporaryDirectory() as folder:
        problem.save(Path(folder, "p.npz"))
        again = sm.Problem.load(Path(folder, "p.npz"))
    assert sm.minimize(again).value == least
    loaded = again.terms[0]
    kept = (loaded.neighbours, loaded.periodic, loaded.offsets, loaded.connectivity)
    assert kept == (grid.neighbours, grid.periodic, grid.offsets, grid.connectivity)
    inside = np.zeros(grid.shape, dtype=bool)
    inside.ravel()[0] = True
    minor = problem.minor(inside=inside)
    lifted = minor.lift(sm.minimize(minor.problem).minimizer)
    forced = [
        value for value, members in zip(values, all_sets(grid.elements), strict=True) if members[0]
    ]
    assert problem.evaluate(lifted) == min(forced)


@FEW
@given(pair=grids(), seed=st.integers(0, 2**32 - 1))
def test_sessions_keep_the_grid(pair, seed):
    grid, _ = pair
    rng = np.random.default_rng(seed)
    unary = rng.integers(-9, 9, grid.shape).astype(float)
    with tempfile.TemporaryDirectory() as folder:
        sm.Problem(unary, [grid]).save(Path(folder, "p.npz"))
        loaded = sm.Problem.load(Path(folder, "p.npz"))
    for problem in (sm.Problem(unary, [grid]), loaded):
        session = sm.Session(problem)
        session.solve()
        session.change_weights(2.0, 1.0)
        extents = [grid.extent(k) for k in range(len(grid.neighbours))]
        both = [[np.full(extent, cost) for extent in extents] for cost in (2.0, 1.0)]
        cut = cut_of(grid.shape, grid.neighbours, grid.periodic, grid.cells, *both)
        least = min(
            sm.Problem(unary.ravel(), [cut] if cut.size else []).evaluate(members)
            for members in all_sets(grid.elements)
        )
        assert session.solve().value == least


@FEW
@given(pair=grids(), seed=st.integers(0, 2**32 - 1))
def test_precedences(pair, seed):
    """Infinite weights: the same sets are allowed, and the same is least."""
    grid, _ = pair
    rng = np.random.default_rng(seed)
    weights = [
        np.where(rng.random(grid.extent(k)) < 0.3, np.inf, 1.0) for k in range(len(grid.neighbours))
    ]
    ones = [np.ones(grid.extent(k)) for k in range(len(grid.neighbours))]
    hard = grid.reweighted(weights, ones)
    same = cut_of(grid.shape, grid.neighbours, grid.periodic, grid.cells, weights, ones)
    unary = rng.integers(-9, 9, grid.shape).astype(float)
    problem = sm.Problem(unary, [hard])
    values = [
        sm.Problem(unary.ravel(), [same] if same.size else []).evaluate(members)
        for members in all_sets(grid.elements)
    ]
    assert [problem.evaluate(members) for members in all_sets(grid.elements)] == values
    assert sm.minimize(problem).value == min(values)


LARGE = {
    "sixteen": ((170, 150), {"connectivity": 16}),
    "thirty-two": ((170, 150), {"connectivity": 32}),
    "torus": ((170, 150), {"connectivity": 8, "periodic": True}),
    "cylinder": ((170, 150), {"connectivity": 4, "periodic": (False, True)}),
    "ring of slices": ((170, 150), {"connectivity": 4, "periodic": (True, False)}),
    "long steps": ((400, 60), {"offsets": [(7, -11), (0, 13), (25, 1)]}),
    "holes": ((170, 150), {"connectivity": 8, "cells": True}),
    "volume": ((30, 28, 31), {"connectivity": 6, "periodic": True}),
    "thirty-four": ((120, 90), {"connectivity": 32, "periodic": True}),
    "one row": ((1, 30000), {"offsets": [(0, 1), (0, 17)], "periodic": (False, True)}),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("threads", [1, 4])
def test_large_grids_have_the_minimum_of_their_graph(name, threads):
    """In strips, on threads, by the kernel with implicit neighbours and beyond its offsets."""
    shape, arguments = LARGE[name]
    rng = np.random.default_rng(0)
    if "cells" in arguments:
        arguments = arguments | {"cells": rng.random(shape) < 0.8}
    smooth = rng.integers(-30, 31, tuple(-(-n // 8) for n in shape))
    for axis, n in enumerate(shape):
        smooth = np.repeat(smooth, 8, axis=axis).take(range(n), axis=axis)
    unary = (smooth + rng.integers(-40, 41, shape)).astype(float)
    empty = sm.GridCut(shape, 0.0, **arguments)
    weights = [rng.integers(0, 9, empty.extent(k)) for k in range(len(empty.neighbours))]
    grid = empty.reweighted(weights)
    result = sm.minimize(sm.Problem(unary, [grid]), threads=threads)
    tails, heads = grid.edge_list()
    forward, _ = grid.weights_by_edge()
    same = sm.minimize(sm.Problem(unary.ravel(), [sm.Cut(tails, heads, forward)]))
    assert result.value == same.value
    assert np.array_equal(result.minimizer.ravel(), same.minimizer)
    assert 0 < np.count_nonzero(result.minimizer) < unary.size


def test_rows_of_a_torus():
    grid = sm.GridCut((3, 5), 1.0, periodic=True)
    members = np.zeros((3, 5), dtype=bool)
    members[0, 0] = True
    assert grid.evaluate(members.ravel()) == 4.0
    members[0] = True
    assert grid.evaluate(members.ravel()) == 10.0
    assert grid.offsets == [(0, 1), (0, -4), (1, 0), (-2, 0)]
    assert grid.size == 30


def test_float32_weights_stay():
    weights = [np.ones((4, 6), np.float32), np.ones((3, 5), np.float32)]
    grid = sm.GridCut((4, 7), weights, offsets=[(0, 1), (1, -2)])
    assert all(
        np.shares_memory(part, given)
        for part, given in zip(grid.weight_arrays(), weights, strict=True)
    )
    rings = sm.GridCut((4, 7), [np.ones((4, 7), np.float32)], offsets=[(0, 1)], periodic=True)
    assert {part.dtype for part in rings.weight_arrays()} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"offsets": [(0, 0)]}, ValueError, r"offsets\[0\] is \(0, 0\): a pixel is no neighbour"),
        (
            {"offsets": [(0, 1), (0, -1)]},
            ValueError,
            r"offsets\[1\] is \(0, -1\): offsets\[0\] has",
        ),
        ({"offsets": [(1, 0), (1, 0)]}, ValueError, r"offsets\[1\] is \(1, 0\): offsets\[0\] has"),
        ({"offsets": [(1, 0), (1,)]}, ValueError, r"offsets\[1\] is \(1,\): it needs 2 numbers"),
        (
            {"offsets": [(1, 0.5)]},
            ValueError,
            r"offsets\[0, 1\] is 0\.5: it must be a whole number",
        ),
        ({"offsets": [(1, 2**40)]}, ValueError, "no grid is so large"),
        ({"offsets": [(1, 0)], "connectivity": 4}, ValueError, "connectivity and offsets both"),
        ({"periodic": (True,)}, ValueError, "periodic has 1 entries for 2 axes"),
        ({"periodic": 1}, TypeError, "periodic is 1: it must be a boolean"),
        ({"offsets": [(2, 0)], "periodic": True}, ValueError, "axis 0 has length 4: a step of 2"),
        ({"cells": np.ones((5, 4), bool)}, ValueError, r"cells has shape \(5, 4\)"),
        ({"cells": np.ones((4, 5))}, TypeError, "cells must be a boolean mask of the grid"),
    ],
)
def test_refusals(arguments, error, words):
    with pytest.raises(error, match=words):
        sm.GridCut((4, 5), 1.0, **arguments)


def test_refused_weights():
    with pytest.raises(ValueError, match=r"weights has 1 entries, but there are 2 offsets"):
        sm.GridCut((4, 5), [1.0], offsets=[(0, 1), (0, 2)])
    with pytest.raises(
        ValueError, match=r"weights\[0\] has shape \(4, 4\), but offset \(0, 1\) needs \(4, 5\)"
    ):
        sm.GridCut((4, 5), [np.ones((4, 4))], offsets=[(0, 1)], periodic=True)


SPOILED = [np.array(value) for value in (
    0, -1, 2**40, 1.5, np.nan, True, "x", [], [0], [[0, 0]], [[1.0, 0.5]], [[2**40, 1]], [[1], [2]],
    [True], [[True]], [2, 2], [np.inf, 1.0], np.ones((2, 3), bool), np.ones((2, 3)), [[[1]]],
)]  # fmt: skip


@pytest.mark.parametrize("name", ["shape", "neighbours", "periodic", "cells", "weights_0", "other"])
def test_spoiled_arrays_are_refused_or_read(name):
    cells = np.array([[True, True, False], [True, True, True]])
    grid = sm.GridCut((2, 3), 0.5, offsets=[(1, -1), (0, 1)], periodic=(False, True), cells=cells)
    for value in SPOILED:
        try:
            read = sm.GridCut.from_arrays({**grid.arrays(), name: value})
        except (ValueError, TypeError, OverflowError):
            continue
        assert name != "other"
        assert np.isfinite(read.evaluate(np.zeros(read.elements, dtype=bool)))
