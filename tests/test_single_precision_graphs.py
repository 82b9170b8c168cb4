"""Cuts of graphs with float32 weights: held in place; the same bits as from the same float64."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.testing import check_term

from .laws import assert_round_trip
from .test_single_precision import SOLVERS as OF_GRIDS
from .test_single_precision import (
    WAYS,
    assert_looks_alike,
    assert_minors_alike,
    assert_same_bits,
    assert_solved_alike,
    choose_kernels,
)

SOLVERS = {name: chosen for name, chosen in OF_GRIDS.items() if name != "lines"} | {
    "edges": (sm.RCDM(seed=1), "functions"),
    "averaged": (sm.AP(), "chains"),
}


def edges_of(n, edges, seed=0):
    """Ends in int32, and float32 weights of either way, some of them zero."""
    rng = np.random.default_rng(seed)
    tails = rng.integers(0, n, edges).astype(np.int32)
    heads = ((tails + rng.integers(1, n, edges)) % n).astype(np.int32)
    weights = rng.random((2, edges)) * (rng.random((2, edges)) < 0.9)
    return tails, heads, *weights.astype(np.float32)


def both(n, edges, way, seed=0):
    """The same graph with weights in single and in double precision."""
    tails, heads, weights, back = edges_of(n, edges, seed)
    reverse = {"undirected": None, "directed": back, "one way uniform": 0.3}[way]
    wide = back.astype(np.float64) if way == "directed" else reverse
    return (
        sm.Cut(tails, heads, weights, reverse),
        sm.Cut(tails, heads, weights.astype(np.float64), wide),
    )


@pytest.mark.parametrize("writeable", [True, False])
def test_arrays_stay_where_they_are(writeable):
    arrays = edges_of(9, 20)
    for array in arrays:
        array.flags.writeable = writeable
    cut = sm.Cut(*arrays)
    sm.minimize(sm.Problem(np.ones(9), [cut]))
    for held, given in zip((cut.tails, cut.heads, cut.forward, cut.backward), arrays, strict=True):
        assert np.shares_memory(held, given)
    undirected = sm.Cut(*arrays[:3])
    assert undirected.backward is undirected.forward


def test_what_is_converted():
    """Other types and orders, single numbers, and ways that differ in type."""
    tails, heads, single, back = edges_of(9, 20)
    for weights in (single.astype(">f4"), np.repeat(single, 2)[::2], single.astype(np.float16)):
        assert sm.Cut(tails, heads, weights).forward.dtype == np.float64
    assert sm.Cut(tails, heads, np.float32(0.5)).forward.dtype == np.float64
    mixed = sm.Cut(tails, heads, single, back.astype(np.float64))
    assert mixed.forward.dtype == mixed.backward.dtype == np.float64
    uniform = sm.Cut(tails, heads, single, 0.5)
    assert (uniform.forward.dtype, uniform.backward.dtype) == (np.float32, np.float64)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("n", "edges"), [(5, 9), (6, 2), (2, 1)])
def test_laws(n, edges, way):
    cut, _ = both(n, edges, way)
    check_term(cut)
    assert_round_trip(cut, n)


@pytest.mark.parametrize(
    ("kernel_set", "threads"), [("native", 1), ("native", 2), ("reference", 1)]
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_the_same_bits(solver, kernel_set, threads, monkeypatch):
    choose_kernels(kernel_set, monkeypatch)
    for way in WAYS:
        unary = np.random.default_rng(2).normal(size=40)
        assert_solved_alike(unary, both(40, 130, way), SOLVERS[solver], threads)


@pytest.mark.parametrize("kernel_set", ["native", "reference"])
@pytest.mark.parametrize("way", WAYS)
def test_the_proximal_problem_has_the_same_bits(way, kernel_set, monkeypatch):
    choose_kernels(kernel_set, monkeypatch)
    unary = np.random.default_rng(2).normal(size=40)
    problems = [sm.Problem(unary, [term]) for term in both(40, 130, way)]
    assert_same_bits(*(sm.prox(problem, max_passes=20) for problem in problems))


@pytest.mark.parametrize("way", WAYS)
def test_a_warm_maximum_flow_has_the_same_bits(way):
    unary = np.random.default_rng(2).normal(size=300)
    for seed in range(3):
        problems = [sm.Problem(unary, [term]) for term in both(300, 2_000, way, seed)]
        starts = [sm.minimize(problem, sm.CyclicSweeps(), max_passes=2) for problem in problems]
        assert_same_bits(
            *(
                sm.minimize(problem, sm.MaxFlow(), warm_start=start)
                for problem, start in zip(problems, starts, strict=True)
            )
        )


def test_mixed_terms_have_the_same_bits():
    """In one network with a gadget and a grid, whose edges are float64 there."""
    edge, grid = sm.Hyperedge([0, 3], [0, 7, 30], 0.7), sm.GridCut((5, 8), 0.25)
    unary = np.random.default_rng(2).normal(size=40)
    problems = [sm.Problem(unary, [term, grid, edge]) for term in both(40, 130, "directed")]
    assert_same_bits(*(sm.minimize(problem, sm.MaxFlow()) for problem in problems))


@pytest.mark.parametrize("kernel_set", ["native", "reference"])
@pytest.mark.parametrize("way", WAYS)
def test_every_look_at_the_weights_gives_the_same_bits(way, kernel_set, monkeypatch):
    choose_kernels(kernel_set, monkeypatch)
    assert_looks_alike(*both(200, 900, way))


def test_minors_are_the_same():
    assert_minors_alike(40, both(40, 130, "directed"))


def test_large_weights_do_not_overflow():
    cut = sm.Cut([0, 0], [1, 2], np.full(2, 3e38, np.float32))
    assert cut.evaluate(np.array([True, False, False])) == 2.0 * float(np.float32(3e38))
    assert np.isfinite(cut.marginal_range(3)).all()


@pytest.mark.parametrize("kernel_set", ["native", "reference"])
@pytest.mark.parametrize("value", [np.nan, -np.inf, -0.5])
def test_weights_that_are_refused(value, kernel_set, monkeypatch):
    choose_kernels(kernel_set, monkeypatch)
    tails, heads, weights, _ = edges_of(9, 20)
    cut = sm.Cut(tails, heads, weights)
    weights[6] = value
    with pytest.raises(ValueError, match=rf"weights\[6\] is {value}"):
        sm.Cut(tails, heads, weights)
    with pytest.raises(ValueError, match=rf"weights\[6\] is {value}.*changed after construction"):
        sm.minimize(sm.Problem(np.ones(9), [cut]))


@pytest.mark.parametrize(("name", "number"), [("tails", -1), ("heads", 9)])
def test_ends_that_were_changed_are_refused(name, number):
    arrays = edges_of(9, 20)
    cut = sm.Cut(*arrays)
    getattr(cut, name)[4] = number
    with pytest.raises(ValueError, match=rf"{name}\[4\] is {number}.*changed after construction"):
        sm.minimize(sm.Problem(np.ones(9), [cut]))


def test_files_hold_single_precision(tmp_path):
    for way in ("undirected", "directed"):
        cut, _ = both(9, 20, way)
        sm.Problem(np.ones(9), [cut]).save(tmp_path / "problem.npz")
        (loaded,) = sm.Problem.load(tmp_path / "problem.npz").terms
        assert loaded.forward.dtype == loaded.backward.dtype == np.float32
        assert loaded.forward.tobytes() == cut.forward.tobytes()
        assert loaded.backward.tobytes() == cut.backward.tobytes()
        assert (loaded.forward is loaded.backward) == (cut.forward is cut.backward)
