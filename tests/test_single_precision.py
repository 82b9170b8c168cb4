"""Grid cuts with float32 weights: held in place; the same bits as from the same float64 numbers."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import submin as sm
from submin import kernels
from submin.kernels import reference
from submin.solvers import comparison
from submin.testing import check_term

from .laws import assert_round_trip

GRIDS = [((9, 13), 4), ((12, 11), 8), ((4, 5, 3), 26), ((40,), 2)]
WAYS = ["undirected", "directed", "one way uniform"]
SOLVERS = {
    "chains": (sm.CyclicSweeps(), "chains"),
    "matchings": (sm.CyclicSweeps(), "matchings"),
    "lines": (sm.RCDM(seed=1), "lines"),
    "weighted": (comparison.ParallelACDM(), "chains"),
    "weighted matchings": (comparison.ParallelRCDM(seed=2), "matchings"),
    "accelerated": (sm.AcceleratedSweeps(), "auto"),
    "augmenting": (sm.SubmodularFlow(), "auto"),
    "vertices": (comparison.FrankWolfe(), "auto"),
    "maximum flow": (sm.MaxFlow(), "auto"),
    "maximum flow alone": (sm.MaxFlow(sweeps=0, largest=True), "auto"),
}


def weights_of(shape, connectivity, seed=0):
    """Random float32 weights, some of them zero, one array for each offset."""
    rng, frame = np.random.default_rng(seed), sm.GridCut(shape, 0.0, connectivity)
    parts = [rng.random(overlap) * (rng.random(overlap) < 0.9) for overlap in frame.overlaps]
    return [part.astype(np.float32) for part in parts]


def widened(weights):
    return [part.astype(np.float64) for part in weights]


def both(shape, connectivity, way):
    """The same grid cut with weights in single and in double precision."""
    weights, back = weights_of(shape, connectivity), weights_of(shape, connectivity, 1)
    reverse = {"undirected": None, "directed": back, "one way uniform": 0.3}[way]
    wide = widened(back) if way == "directed" else reverse
    return (
        sm.GridCut(shape, weights, connectivity, reverse),
        sm.GridCut(shape, widened(weights), connectivity, wide),
    )


def assert_same_bits(first, second):
    assert first.certificate == second.certificate
    assert first.minimizer.tobytes() == second.minimizer.tobytes()
    assert first.x.tobytes() == second.x.tobytes()
    assert [y.tobytes() for y in first.dual] == [y.tobytes() for y in second.dual]


def assert_solved_alike(unary, terms, solver, threads):
    """The same bits of a few passes, and one certificate for both."""
    method, blocks = solver
    problems = [sm.Problem(unary, [term]) for term in terms]
    results = [
        sm.minimize(problem, method, max_passes=3, threads=threads, blocks=blocks)
        for problem in problems
    ]
    assert_same_bits(*results)
    single, double = (sm.verify(p, results[0]) for p in problems)
    assert single == double == results[0].certificate


def assert_looks_alike(single, double):
    """The same bits, in float64, of all that is made of the weights."""
    rng, n = np.random.default_rng(3), single.elements
    rank, dual = rng.permutation(n).astype(np.int32), rng.normal(size=single.size)
    members = rng.random(n) < 0.5
    pairs = [
        (single.evaluate(members), double.evaluate(members)),
        (single.greedy(rank), double.greedy(rank)),
        (single.violation(dual).total, double.violation(dual).total),
        (single.granularity(), double.granularity()),
        *zip(single.marginal_range(n), double.marginal_range(n), strict=True),
        *zip(single.weights_by_edge(), double.weights_by_edge(), strict=True),
    ]
    for mine, expected in pairs:
        assert np.asarray(mine).dtype == np.asarray(expected).dtype == np.float64
        assert np.asarray(mine).tobytes() == np.asarray(expected).tobytes()


def assert_minors_alike(shape, terms):
    """The same bits of what is left when some elements are fixed."""
    rng = np.random.default_rng(4)
    inside = rng.random(shape) < 0.2
    outside = (rng.random(shape) < 0.2) & ~inside
    unary = rng.normal(size=shape)
    single, double = (sm.Problem(unary, [term]).minor(inside, outside).problem for term in terms)
    assert single.constant == double.constant
    assert single.unary.tobytes() == double.unary.tobytes()
    for name, array in single.terms[0].arrays().items():
        assert array.tobytes() == double.terms[0].arrays()[name].tobytes()


def choose_kernels(name, monkeypatch):
    if name == "reference":
        monkeypatch.setattr(kernels, "active", reference)
    else:
        monkeypatch.setattr(kernels, "active", pytest.importorskip("submin.kernels.native"))


@pytest.mark.parametrize("writeable", [True, False])
def test_weights_stay_where_they_are(writeable):
    weights, back = weights_of((5, 6), 8), weights_of((5, 6), 8, 1)
    for part in (*weights, *back):
        part.flags.writeable = writeable
    grid = sm.GridCut((5, 6), weights, 8, back)
    for (_, forward, backward), out, into in zip(grid.segments, weights, back, strict=True):
        assert np.shares_memory(forward, out)
        assert np.shares_memory(backward, into)
    sm.minimize(sm.Problem(np.ones((5, 6)), [grid]))
    assert len({id(part) for part in sm.GridCut((5, 6), weights, 8).weight_arrays()}) == 4


def test_what_is_converted():
    """Other orders and types, single numbers, and ways that differ in type."""
    single, double = np.ones((3, 3), np.float32), np.ones((3, 3))
    strided, one = np.ones((6, 8), np.float32)[::2, ::2], np.ones((1, 4), np.float32)
    given = {"order": np.asfortranarray(single), "type": single.astype(">f4")}
    for array in (*given.values(), single):
        grid = sm.GridCut((3, 4), [array, 1.0])
        assert grid.segments[0].forward.dtype == (np.float32 if array is single else np.float64)
    assert sm.GridCut((3, 5), [strided, 1.0]).segments[0].forward.dtype == np.float64
    assert sm.GridCut((2, 4), [1.0, one]).segments[1].forward.dtype == np.float32
    assert sm.GridCut((2, 1), [0.0, one[:, :1]]).segments[1].forward.dtype == np.float64
    mixed = sm.GridCut((3, 4), [single, 1.0], 4, [double, 1.0]).segments[0]
    assert mixed.forward.dtype == mixed.backward.dtype == np.float64
    assert sm.Cut([0], [1], np.ones(1, np.float32)).forward.dtype == np.float64


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("shape", "connectivity"), [((2, 3), 8), ((3, 3), 4), ((2, 1, 2), 26)])
def test_laws(shape, connectivity, way):
    grid, _ = both(shape, connectivity, way)
    check_term(grid)
    assert_round_trip(grid, grid.elements)


@pytest.mark.parametrize(
    ("kernel_set", "threads"), [("native", 1), ("native", 2), ("reference", 1)]
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_the_same_bits(solver, kernel_set, threads, monkeypatch):
    choose_kernels(kernel_set, monkeypatch)
    for shape, connectivity in GRIDS:
        for way in WAYS:
            unary = np.random.default_rng(2).normal(size=shape)
            terms = both(shape, connectivity, way)
            assert_solved_alike(unary, terms, SOLVERS[solver], threads)


@pytest.mark.parametrize("kernel_set", ["native", "reference"])
@pytest.mark.parametrize("way", WAYS)
def test_the_proximal_problem_has_the_same_bits(way, kernel_set, monkeypatch):
    choose_kernels(kernel_set, monkeypatch)
    unary = np.random.default_rng(2).normal(size=(9, 11))
    problems = [sm.Problem(unary, [term]) for term in both((9, 11), 8, way)]
    assert_same_bits(*(sm.prox(problem, max_passes=20) for problem in problems))


def test_mixed_terms_have_the_same_bits():
    """In one network with a gadget, whose edges are float64."""
    edge = sm.Hyperedge([0, 3], [0, 7, 30], 0.7)
    unary = np.random.default_rng(2).normal(size=(9, 11))
    terms = both((9, 11), 8, "directed")
    problems = [sm.Problem(unary, [term, edge]) for term in terms]
    assert_same_bits(*(sm.minimize(problem, sm.MaxFlow()) for problem in problems))


@pytest.mark.parametrize("kernel_set", ["native", "reference"])
@pytest.mark.parametrize("way", WAYS)
def test_every_look_at_the_weights_gives_the_same_bits(way, kernel_set, monkeypatch):
    choose_kernels(kernel_set, monkeypatch)
    assert_looks_alike(*both((19, 23), 8, way))


def test_minors_are_the_same():
    assert_minors_alike((9, 11), both((9, 11), 8, "directed"))


@pytest.mark.parametrize(
    "values", [[2.0**53 - 2.0**29, 2.0**28], [0.375, 1024.0625], [2.0**100, 1.0], [3e38, 0.5]]
)
def test_granularity_is_that_of_the_numbers(values):
    """In float32 the first sum would round up to 2^53, and the last product be infinite."""
    weights = np.array([values], dtype=np.float32)
    single, double = (sm.GridCut((1, 3), [w, 0.0]) for w in (weights, weights.astype(np.float64)))
    assert single.granularity() == double.granularity()


def test_large_weights_do_not_overflow():
    weights = [np.full(overlap, 3e38, np.float32) for overlap in [(3, 3), (2, 4)]]
    grid = sm.GridCut((3, 4), weights)
    corner = np.arange(12) == 0
    assert grid.evaluate(corner) == 2.0 * float(np.float32(3e38))
    assert np.isfinite(grid.marginal_range(12)).all()


@pytest.mark.parametrize("kernel_set", ["native", "reference"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "is nan"),
        (-np.inf, "is -inf: it must be a number"),
        (-0.5, "is -0.5: a negative weight"),
    ],
)
def test_weights_that_are_refused(value, message, kernel_set, monkeypatch):
    choose_kernels(kernel_set, monkeypatch)
    weights = weights_of((3, 4), 4)
    grid = sm.GridCut((3, 4), weights)
    weights[1][1, 2] = value
    with pytest.raises(ValueError, match=r"weights\[1\]\[1, 2\] " + message):
        sm.GridCut((3, 4), weights)
    with pytest.raises(ValueError, match=r"weights\[6\] is .*changed after construction"):
        sm.minimize(sm.Problem(np.ones((3, 4)), [grid]))


@pytest.mark.parametrize("way", WAYS)
def test_files_hold_single_precision(way, tmp_path):
    grid, _ = both((5, 6), 8, way)
    sm.Problem(np.ones((5, 6)), [grid]).save(tmp_path / "problem.npz")
    (loaded,) = sm.Problem.load(tmp_path / "problem.npz").terms
    for mine, read in zip(grid.segments, loaded.segments, strict=True):
        assert read.forward.dtype == np.float32
        assert read.backward.dtype == mine.backward.dtype
        assert read.forward.tobytes() == mine.forward.tobytes()
        assert read.backward.tobytes() == mine.backward.tobytes()
        assert (read.forward is read.backward) == (mine.forward is mine.backward)


def test_kernels_refuse_two_types():
    native = pytest.importorskip("submin.kernels.native")
    single, flow = np.ones(3, np.float32), np.zeros(3)
    with pytest.raises(TypeError, match="the same type"):
        native.edges_excess(single, np.ones(3), flow, 1)
    assert native.edges_excess(single, np.ones(1), flow, 1) == 0.0
    with pytest.raises(ValueError, match="forward has size 2"):
        native.edges_excess(np.ones(1), single[:2], flow, 1)
    with pytest.raises(TypeError, match="float64 or float32"):
        native.nonnegative_sum(np.ones(3, np.float16), 1)


WIDTH = """
import numpy as np, submin as sm
from tests.test_single_precision import assert_same_bits, both
for way in ("undirected", "directed", "one way uniform"):
    for shape, connectivity in [((70, 45), 8), ((3, 200), 4), ((200, 3), 4), ((9, 10, 11), 6)]:
        unary = np.random.default_rng(0).normal(size=shape)
        problems = [sm.Problem(unary, [term]) for term in both(shape, connectivity, way)]
        for solver in (sm.CyclicSweeps(), sm.RCDM(seed=0)):
            assert_same_bits(*(sm.minimize(problem, solver, max_passes=3) for problem in problems))
"""


@pytest.mark.parametrize("width", ["portable", "avx2", "avx512"])
def test_vectors_of_any_width_give_the_same_bits(width):
    pytest.importorskip("submin._native")
    environment = dict(os.environ, SUBMIN_VECTORS=width, SUBMIN_KERNELS="native")
    process = subprocess.run(
        [sys.executable, "-c", WIDTH], env=environment, capture_output=True, text=True, check=False
    )
    if "SUBMIN_VECTORS must be one of those" in process.stderr:
        pytest.skip(f"this machine has no {width} vectors")
    assert process.returncode == 0, process.stderr
