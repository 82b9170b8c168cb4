"""The layout: blocks of all terms together, in natural coordinates of the dual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm

from .laws import assert_in_base_polytope
from .problems import Model, models, vectors

FEW = settings(max_examples=25)
SHAPES = [(1,), (4,), (2, 3), (2, 1, 2)]


def mixture() -> sm.Problem:
    """A plane with edges, an explicit graph and two superpixels."""
    return sm.Problem(
        np.arange(12.0).reshape(3, 4) - 6,
        [
            sm.GridCut((3, 4), 1.0),
            sm.Cut([0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0]),
            sm.Cardinality.from_labels(np.arange(12).reshape(3, 4) // 6, lambda k, m: k * (m - k)),
        ],
    )


def test_blocks_of_every_term_in_order():
    layout = sm.Layout(mixture(), "matchings")
    assert layout.r == 4 + 2 + 1
    assert layout.owners == [0, 0, 0, 0, 1, 1, 2]
    assert layout.n == 12


def test_one_name_for_each_term():
    layout = sm.Layout(mixture(), ("lines", "functions", "functions"))
    assert layout.r == (2 + 3) + 3 + 2


def test_no_terms_are_no_blocks():
    layout = sm.Layout(sm.Problem([1.0, 2.0]))
    assert layout.r == 0
    assert layout.feasible_start() == []
    assert layout.total([]).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ("chessboard", "blocks='chessboard'"),
        (("lines", "lines", "functions"), "blocks='lines' is not a decomposition of Cut"),
        (("lines", "functions"), "blocks has 2 names for 3 terms"),
        ((), "blocks has 0 names for 3 terms"),
        ("", "blocks=''"),
    ],
)
def test_decompositions_that_are_refused(blocks, message):
    with pytest.raises(ValueError, match=message):
        sm.Layout(mixture(), blocks)


@pytest.mark.parametrize("blocks", [None, 3])
def test_decompositions_are_names(blocks):
    with pytest.raises(TypeError, match="blocks"):
        sm.Layout(mixture(), blocks)


@FEW
@given(models(shapes=SHAPES), st.data())
def test_total_is_unary_plus_all_duals(case: Model, data):
    layout = sm.Layout(case.problem)
    dual = [data.draw(vectors(False, part.term.size)) for part in case.parts]
    expected = case.problem.unary.ravel().copy()
    for part, y in zip(case.parts, dual, strict=True):
        part.term.accumulate(y, expected)
    assert np.array_equal(layout.total(dual), expected)


@pytest.mark.parametrize("blocks", ["auto", "functions"])
@FEW
@given(data=st.data())
def test_restored_duals_are_feasible(blocks, data):
    """Any finite numbers become a point of the base polytopes; feasible ones stay."""
    case = data.draw(models(shapes=SHAPES))
    layout = sm.Layout(case.problem, blocks)
    wild = [data.draw(vectors(False, part.term.size, -100.0, 100.0)) for part in case.parts]
    before = [y.copy() for y in wild]
    dual = layout.restored(wild)
    tolerance = 1e-9 * (case.scale + sum(np.abs(y).sum() for y in wild))
    for part, y, given_y, kept in zip(case.parts, dual, wild, before, strict=True):
        assert np.array_equal(given_y, kept)
        total = np.zeros(layout.n)
        part.term.accumulate(y, total)
        assert_in_base_polytope(total, part.values, tolerance)
    again = layout.restored(dual)
    for first, second in zip(dual, again, strict=True):
        assert np.abs(first - second).max(initial=0.0) <= tolerance


@FEW
@given(st.data())
def test_a_sweep_over_a_block_never_raises_the_norm(data):
    case = data.draw(models(shapes=SHAPES))
    layout = sm.Layout(case.problem)
    dual = layout.feasible_start()
    s = layout.total(dual)
    for i in range(layout.r):
        before = s @ s
        layout.sweep(i, dual, s)
        assert s @ s <= before * (1 + 1e-12)
        assert np.abs(s - layout.total(dual)).max() <= 1e-12 * case.scale


@FEW
@given(st.data())
def test_take_put_and_accumulate_agree(data):
    case = data.draw(models(shapes=SHAPES))
    layout = sm.Layout(case.problem)
    dual = [data.draw(vectors(False, part.term.size)) for part in case.parts]
    s, copy = np.zeros(layout.n), [np.zeros_like(y) for y in dual]
    for i in range(layout.r):
        part = layout.take(i, dual)
        layout.put(i, copy, part)
        layout.accumulate(i, part, s)
        part[:] = np.nan
    assert all(np.array_equal(a, b) for a, b in zip(dual, copy, strict=True))
    expected = layout.total(dual) - layout.unary
    assert np.abs(s - expected).max() <= 1e-12 * (1 + sum(np.abs(y).sum() for y in dual))


@pytest.mark.parametrize(
    ("dual", "message"),
    [
        ([], r"dual sizes \[\].*\[17, 3, 12\]"),
        ([np.zeros(17), np.zeros(3)], r"dual sizes \[17, 3\]"),
        ([np.zeros(17), np.zeros(12), np.zeros(3)], r"dual sizes \[17, 12, 3\]"),
        ([np.zeros(17), np.zeros(3), np.full(12, np.nan)], "not finite"),
        ([np.full(17, np.inf), np.zeros(3), np.zeros(12)], "not finite"),
    ],
)
def test_warm_starts_that_are_refused(dual, message):
    with pytest.raises(ValueError, match=message):
        sm.Layout(mixture()).restored(dual)


@pytest.mark.parametrize("part", [np.array(["a"] * 12), np.zeros(12, dtype=complex)])
def test_warm_starts_are_real_numbers(part):
    with pytest.raises(TypeError, match="real numbers"):
        sm.Layout(mixture()).restored([np.zeros(17), np.zeros(3), part])


def test_a_maximum_flow_makes_no_blocks(monkeypatch):
    def refuse(*_):
        raise AssertionError("blocks were made")

    monkeypatch.setattr(sm.Cut, "blocks", refuse)
    problem = sm.Problem([2.0, -3.0, 0.5], [sm.Cut([0, 1], [1, 2], 1.0)])
    assert sm.minimize(problem, "max_flow").value == -1.5
    with pytest.raises(AssertionError, match="blocks were made"):
        sm.minimize(problem, "accelerated_sweeps")
