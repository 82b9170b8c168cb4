"""Cuts of grids in any dimension: against brute force, explicit graphs, and refusals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from .laws import assert_block_laws, assert_round_trip, assert_term_laws
from .problems import SHAPES, all_sets, grid_choices, grid_cuts, grid_values, vectors

FEW = settings(max_examples=25)
SMALL_SHAPES = [shape for shape in SHAPES if np.prod(shape) <= 9]


def explicit(grid: sm.GridCut) -> sm.Cut:
    """The same function as a general graph, its edges in the order of the grid's dual."""
    pixels = np.arange(grid.elements).reshape(grid.shape)
    tails, heads, forward, backward = [], [], [], []
    for k, offset in enumerate(grid.offsets):
        overlap = [max(0, a - abs(d)) for a, d in zip(grid.shape, offset, strict=True)]
        for place, position in enumerate(product(*map(range, overlap))):
            tail = tuple(p + max(0, -d) for p, d in zip(position, offset, strict=True))
            head = tuple(p + max(0, d) for p, d in zip(position, offset, strict=True))
            tails.append(pixels[tail])
            heads.append(pixels[head])
            _, out, back = grid.segments[k]
            forward.append(out[place if out.size > 1 else 0])
            backward.append(back[place if back.size > 1 else 0])
    return sm.Cut(tails, heads, forward, backward)


@pytest.mark.parametrize(
    ("dimensions", "connectivity", "count"),
    [(1, 2, 1), (2, 4, 2), (2, 8, 4), (3, 6, 3), (3, 18, 9), (3, 26, 13), (4, 8, 4), (4, 80, 40)],
)
def test_neighbourhoods(dimensions, connectivity, count):
    offsets = sm.grid_offsets(dimensions, connectivity)
    assert len(offsets) == len(set(offsets)) == count
    zero = (0,) * dimensions
    assert all(offset > zero for offset in offsets)
    assert not set(offsets) & {tuple(-d for d in offset) for offset in offsets}


def test_neighbourhoods_are_in_lexicographic_order():
    assert sm.grid_offsets(2, 8) == [(0, 1), (1, -1), (1, 0), (1, 1)]
    for dimensions in (1, 2, 3, 4):
        for connectivity in grid_choices(dimensions):
            offsets = sm.grid_offsets(dimensions, connectivity)
            assert offsets == sorted(offsets)


@pytest.mark.parametrize(
    ("dimensions", "connectivity", "message"),
    [
        (2, 6, "connectivity is 6: a 2-D grid has 4 or 8"),
        (3, 8, "connectivity is 8: a 3-D grid has 6 or 18 or 26"),
        (1, 4, "connectivity is 4: a 1-D grid has 2"),
        (2, 0, "connectivity is 0"),
        (0, 4, "dimensions is 0"),
    ],
)
def test_neighbourhoods_that_do_not_exist(dimensions, connectivity, message):
    with pytest.raises(ValueError, match=message):
        sm.grid_offsets(dimensions, connectivity)


@pytest.mark.parametrize("shape", SMALL_SHAPES, ids=str)
@settings(max_examples=5)
@given(data=st.data())
def test_laws_of_terms(shape, data):
    part = data.draw(grid_cuts(shape, False))
    n = int(np.prod(shape))
    x, dual = data.draw(vectors(False, n)), data.draw(vectors(False, part.term.size))
    assert_term_laws(part.term, part.values, x, dual)
    assert_round_trip(part.term, n)


@pytest.mark.parametrize("decomposition", ["auto", *sm.GridCut(2, 1.0).decompositions])
@FEW
@given(data=st.data())
def test_laws_of_blocks(decomposition, data):
    shape = data.draw(st.sampled_from(SHAPES))
    part = data.draw(grid_cuts(shape, False))
    n = int(np.prod(shape))
    s, dual = data.draw(vectors(False, n)), data.draw(vectors(False, part.term.size))
    assert_block_laws(part.term, decomposition, s, dual)


@FEW
@given(st.data())
def test_a_grid_is_a_graph(data):
    """Values, vertices, sums of flows and violations are those of the explicit graph."""
    shape = data.draw(st.sampled_from(SHAPES))
    grid = data.draw(grid_cuts(shape, False)).term
    graph, n = explicit(grid), int(np.prod(shape))
    assert grid.size == graph.size
    for mask in all_sets(n)[:: max(1, 2**n // 64)]:
        assert grid.evaluate(mask) == pytest.approx(graph.evaluate(mask), rel=1e-12, abs=1e-12)
    order = np.array(data.draw(st.permutations(range(n))), dtype=np.int32)
    assert np.array_equal(grid.greedy(order), graph.greedy(order))
    dual = data.draw(vectors(False, grid.size))
    first, second = np.zeros(n), np.zeros(n)
    grid.accumulate(dual, first, 0.5)
    graph.accumulate(dual, second, 0.5)
    assert np.abs(first - second).max() <= 1e-12 * (1 + np.abs(dual).sum())
    assert grid.violation(dual).total == pytest.approx(graph.violation(dual).total, abs=1e-10)


@pytest.mark.parametrize("shape", [(1,), (1, 7), (7, 1), (1, 1, 1), (3, 1, 2), (2, 1, 2, 2)])
def test_one_weight_holds_for_all_edges(shape):
    for connectivity in grid_choices(len(shape)):
        grid = sm.GridCut(shape, 2.5, connectivity)
        axes = grid_choices(len(shape)).index(connectivity) + 1
        ones = [np.full([max(0, a - abs(d)) for a, d in zip(shape, o, strict=True)], 2.5)
                for o in grid.offsets]  # fmt: skip
        n = int(np.prod(shape))
        if n <= 12:
            expected = grid_values(shape, axes, grid.offsets, ones, ones)
            assert [grid.evaluate(mask) for mask in all_sets(n)] == expected.tolist()
        assert_round_trip(grid, n)
        s = np.random.default_rng(0).normal(size=n)
        for decomposition in grid.decompositions:
            assert_block_laws(grid, decomposition, s, np.zeros(grid.size))


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1), (1, 1, 1, 1)])
def test_grids_of_one_pixel_have_no_edges(shape):
    for connectivity in grid_choices(len(shape)):
        grid = sm.GridCut(shape, 3.0, connectivity)
        assert grid.size == 0
        assert grid.evaluate(np.array([True])) == 0.0
        result = sm.minimize(sm.Problem(np.full(shape, -2.0), [grid]))
        assert result.value == -2.0
        assert result.minimizer.shape == shape
        assert result.status is sm.Status.OPTIMAL


def test_weights_may_mix_scalars_and_arrays():
    grid = sm.GridCut((2, 3), [1.0, [[1.0, 2.0, 3.0]]])
    mask = np.array([[True, False, False], [False, False, False]]).ravel()
    assert grid.evaluate(mask) == 2.0
    mask = np.array([[False, False, True], [False, False, False]]).ravel()
    assert grid.evaluate(mask) == 4.0
    assert_round_trip(grid, 6)


def test_directed_weights():
    grid = sm.GridCut(2, [[3.0]], reverse_weights=0.0)
    assert grid.evaluate(np.array([True, False])) == 3.0
    assert grid.evaluate(np.array([False, True])) == 0.0


@pytest.mark.parametrize("scalar", [1, True, np.float32(1), np.uint8(1), np.array(1.0)])
def test_scalars_of_any_type(scalar):
    grid = sm.GridCut((2, 2), scalar)
    assert grid.evaluate(np.array([True, False, False, False])) == 2.0


@pytest.mark.parametrize("dtype", ["?", "u1", ">i4", "f2", ">f8", "f4"])
def test_weights_of_any_type_and_layout(dtype):
    horizontal = np.asfortranarray(np.ones((3, 3)).astype(dtype))
    vertical = np.ones((4, 8)).astype(dtype)[::2, ::2]
    grid = sm.GridCut((3, 4), [horizontal, vertical])
    mask = np.zeros((3, 4), dtype=bool)
    mask[1, 1] = True
    assert grid.evaluate(mask.ravel()) == 4.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((0, 3), 1.0), r"shape\[0\] is 0"),
        (((2, 2), -1.0), "is -1.0: a negative weight"),
        (((2, 2), np.nan), "is nan"),
        (((2, 2), [1.0]), "weights has 1 entries, but connectivity 4 has 2 offsets"),
        (((2, 2), [np.ones((2, 2)), 1.0]), r"weights\[0\] has shape \(2, 2\).*needs \(2, 1\)"),
        (((2, 2), [1.0, [[1.0, -2.0]]]), r"weights\[1\]\[0, 1\] is -2.0"),
        (((2, 2), 1.0, 5), "connectivity is 5"),
        (((2, 2), 1.0, 4, [1.0]), "reverse_weights has 1 entries"),
        (((2, 2), 1.0, 4, -1.0), r"reverse_weights\S* is -1.0"),
        (((10, 10), 1.7e308), r"weights\S* overflow"),
        (((2, 3), [[[1e308, 0], [0, 1e308]], np.full((1, 3), 3e307)]), r"weights\S* overflow"),
    ],
)
def test_grids_that_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sm.GridCut(*arguments)


@pytest.mark.parametrize("weights", ["ab", [1j, 1j], [None, None], 1j, None])
def test_types_that_are_refused(weights):
    with pytest.raises(TypeError, match="weights"):
        sm.GridCut((2, 2), weights)


def test_blocks_of_a_plane():
    grid = sm.GridCut((4, 5), 1.0)
    assert len(grid.blocks("matchings", 1)) == 4
    assert len(grid.blocks("lines", 1)) == 3 + 4
    assert len(grid.blocks("functions", 1)) == grid.size == 4 * 4 + 3 * 5
    assert len(sm.GridCut((4, 5), 1.0, 8).blocks("matchings", 1)) == 8
    assert len(sm.GridCut((4, 5, 3), 1.0, 26).blocks("matchings", 1)) == 26


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_threads_do_not_change_a_bit(threads):
    random = np.random.default_rng(0)
    grid = sm.GridCut((260, 270), 2.0, 8)  # large enough for several threads
    s, dual = random.normal(size=grid.elements) * 5, random.normal(size=grid.size)
    expected_s, expected_dual = s.copy(), dual.copy()
    for block in grid.blocks("auto", 1):
        block.sweep(expected_dual, expected_s)
    for block in grid.blocks("auto", threads):
        block.sweep(dual, s)
    assert np.array_equal(s, expected_s)
    assert np.array_equal(dual, expected_dual)
