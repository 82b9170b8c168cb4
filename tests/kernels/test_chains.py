"""Chains: exact total variation along rows, columns, diagonals and paths."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import chains as reference

from .chain_blocks import KINDS, OFFSETS, data, grid_chains, path_chains, project, sweep

native = pytest.importorskip("submin.kernels.native")

KERNELS = pytest.mark.parametrize("kernels", [reference, native], ids=["reference", "native"])


BEYOND_FLOWS = 10**9
"""A limit that no flow comes to, in place of an infinite one."""


def line(length):
    """Geometry of one chain."""
    start = np.zeros(1, np.int64)
    return start, start, np.array([length], np.int64), 1, 1


def exact_solution(backward, forward, flow, s):
    """Rational new values of one chain."""
    backward, forward, flow, s = (
        [Fraction(min(value, BEYOND_FLOWS)) for value in array.tolist()]
        for array in (backward, forward, flow, s)
    )
    down = [b + t for b, t in zip(backward, flow, strict=True)] + [Fraction(0)]
    up = [f - t for f, t in zip(forward, flow, strict=True)] + [Fraction(0)]
    slopes = []
    for end, slope, _ in reference.taut_string(s, down, up):
        slopes += [slope] * (end + 1 - len(slopes))
    return slopes


def optimality_gap(weights, flow, s):
    """Bound of |s|^2/2 minus its optimum over all flows of one chain: the Frank-Wolfe gap."""
    backward, forward = weights
    slack = np.where(np.diff(s) > 0, forward - flow, flow + backward)
    return float(np.sum(np.abs(np.diff(s)) * slack))


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_twin_is_the_least_norm_of_all_feasible_flows(length):
    """Brute force: every edge at its lower end, at its upper end, or between, exactly."""
    rng = np.random.default_rng(length)
    for _ in range(20):
        backward, forward, s = (rng.integers(0, 5, n) for n in (length - 1, length - 1, length))
        zeros = np.zeros(length - 1)
        best = None
        for ends in itertools.product(("lower", "upper", "between"), repeat=length - 1):
            candidate = least_norm(s, backward, forward, ends)
            if candidate is not None:
                norm = sum(value * value for value in candidate)
                best = min(best or (norm, candidate), (norm, candidate))
        assert exact_solution(backward, forward, zeros, s) == best[1]


def least_norm(s, backward, forward, ends):
    """Minimise over the flows between their ends, the others fixed; None where not feasible."""
    values, change, begin = [], Fraction(0), 0
    for j, end in enumerate((*ends, "last")):
        if end == "between":
            continue
        new = {"lower": -int(backward[j]) if j < len(backward) else 0, "last": 0}.get(end)
        new = Fraction(int(forward[j]) if new is None else new)
        mean = Fraction(int(s[begin : j + 1].sum()) + new - change) / (j + 1 - begin)
        flow = change
        for i in range(begin, j):
            flow += mean - int(s[i])
            if not -int(backward[i]) <= flow <= int(forward[i]):
                return None
        values += [mean] * (j + 1 - begin)
        change, begin = new, j + 1
    return values


@KERNELS
def test_weighted_total_variation_of_three_values(kernels):
    weights = np.array([0.5, 0.2])
    flow, s = sweep(
        kernels, "grid", line(3), (weights, weights), np.zeros(2), -np.array([6, 6.3, 13.8])
    )
    np.testing.assert_allclose(-s, [6.25, 6.25, 13.6], rtol=1e-15)
    np.testing.assert_allclose(flow, [-0.25, -0.2], rtol=1e-14)
    np.testing.assert_allclose(
        -project(
            kernels,
            "grid",
            line(3),
            (weights, weights),
            np.zeros(2),
            -2 * np.array([6, 6.3, 13.8]),
            2.0,
        ),
        [0.25, 0.2],
        rtol=1e-14,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_native_against_rational_arithmetic(kind, seed):
    """Among the chains of a block and alone: the same bits, and right to rounding."""
    rng = np.random.default_rng(seed)
    geometry, edges = grid_chains((9, 17), (0, 1))
    *weights, flow, s = data(rng, edges, 9 * 17, kind)
    new_flow, new_s = sweep(native, "grid", geometry, weights, flow, s)
    weights = [np.broadcast_to(w, edges) for w in weights]
    for row in range(9):
        part = slice(16 * row, 16 * (row + 1))
        nodes = slice(17 * row, 17 * (row + 1))
        chain = [w[part].copy() for w in weights], flow[part], s[nodes]
        alone_flow, alone_s = sweep(native, "grid", line(17), *chain)
        np.testing.assert_array_equal(new_flow[part], alone_flow)
        np.testing.assert_array_equal(new_s[nodes], alone_s)
        exact = np.array([float(x) for x in exact_solution(*chain[0], *chain[1:])])
        scale = 1 + np.abs(np.concatenate([s[nodes], flow[part], exact])).max()
        np.testing.assert_allclose(alone_s, exact, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("kind", KINDS)
@given(
    shape=st.tuples(st.integers(1, 20), st.integers(1, 20)),
    offset=st.sampled_from(OFFSETS),
    seed=st.integers(0, 2**32 - 1),
)
def test_grid_agrees_with_twin(kind, shape, offset, seed):
    if any(n <= abs(d) for n, d in zip(shape, offset, strict=True)):
        return
    check_agreement("grid", *grid_chains(shape, offset), int(np.prod(shape)), kind, seed)


@pytest.mark.parametrize("kind", KINDS)
@given(lengths=st.lists(st.integers(1, 12), max_size=12), seed=st.integers(0, 2**32 - 1))
def test_paths_agree_with_twin(kind, lengths, seed):
    geometry = path_chains(np.array(lengths, dtype=int), np.random.default_rng(seed))
    size = int(geometry[0][-1])
    check_agreement("path", geometry, size + 5, size + 3, kind, seed)


def check_agreement(family, geometry, edges, nodes, kind, seed):
    *weights, flow, s = data(np.random.default_rng(seed), edges, nodes, kind)
    tolerance = 1e-12 * (1 + max(np.abs(flow).max(initial=0), np.abs(s).max()))
    for _ in range(2):  # from any flows, then from optimal ones
        results = []
        for kernels in (reference, native):
            new_flow, new_s = sweep(kernels, family, geometry, weights, flow, s)
            out = project(kernels, family, geometry, weights, flow, s)
            for t in (new_flow, out):
                assert np.all((-weights[0] <= t) & (t <= weights[1]))
            results.append((new_flow, new_s, out))
        for twin, compiled in zip(*results, strict=True):
            np.testing.assert_allclose(compiled, twin, rtol=0, atol=tolerance)
        flow, s, _ = results[1]


@pytest.mark.parametrize(
    ("shape", "offset"),
    [
        *(((70, 300), offset) for offset in OFFSETS),
        *(((9, 20, 31), offset) for offset in [(1, 0, 0), (0, 1, 0), (1, 1, -1), (0, 1, 1)]),
        ((40_000, 3), (1, 0)),
    ],
)
def test_same_bits_for_any_number_of_threads(shape, offset):
    geometry, edges = grid_chains(shape, offset)
    *weights, flow, s = data(np.random.default_rng(0), edges, int(np.prod(shape)), "zeros")
    expected = sweep(native, "grid", geometry, weights, flow, s)
    for threads in (0, 2, 5):
        for array, other in zip(
            sweep(native, "grid", geometry, weights, flow, s, threads), expected, strict=True
        ):
            np.testing.assert_array_equal(array, other)


def test_sums_follow_from_flows():
    """A sweep changes s by the divergence of the change of the flows."""
    geometry, edges = grid_chains((37, 50), (1, -1))
    *weights, flow, s = data(np.random.default_rng(0), edges, 37 * 50)
    new_flow, new_s = sweep(native, "grid", geometry, weights, flow, s)
    change = (new_flow - flow).reshape(36, 49)
    expected = s.reshape(37, 50).copy()
    expected[:-1, 1:] += change
    expected[1:, :-1] -= change
    np.testing.assert_allclose(new_s, expected.ravel(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("chains", [1, 8])
@pytest.mark.parametrize("shape", ["noise", "ramp", "parabola", "steps"])
def test_long_chains_are_optimal(shape, chains):
    """Smooth data exhaust the walk's budget of steps: the funnel takes over."""
    length = 1_000_000 // chains
    at = np.linspace(-1, 1, length)
    s = {
        "noise": np.random.default_rng(0).normal(size=length),
        "ramp": 1000 * at,
        "parabola": 1000 * at**2,
        "steps": np.round(5 * np.sin(40 * at)),
    }[shape]
    weights = np.random.default_rng(1).uniform(2, 8, size=(2, length - 1))
    geometry, _ = grid_chains((length, chains), (1, 0))
    wide = [np.repeat(array, chains) for array in (*weights, np.zeros(length - 1), s)]
    flow, new_s = sweep(native, "grid", geometry, wide[:2], *wide[2:])
    for chain in range(chains):
        t, x = flow[chain::chains], new_s[chain::chains]
        assert optimality_gap(weights, t, x) <= 1e-12 * np.dot(s, s)
        np.testing.assert_allclose(
            x, s + np.diff(t, prepend=0, append=0), rtol=0, atol=1e-11 * np.abs(s).max()
        )


def test_sweeping_again_changes_nothing():
    geometry, edges = grid_chains((64, 64), (0, 1))
    *weights, flow, s = data(np.random.default_rng(3), edges, 64 * 64)
    flow, s = sweep(native, "grid", geometry, weights, flow, s)
    again = sweep(native, "grid", geometry, weights, flow, s)
    np.testing.assert_allclose(again[0], flow, rtol=0, atol=1e-13)
    np.testing.assert_allclose(again[1], s, rtol=0, atol=1e-13)


@pytest.mark.parametrize("columns", [1, 9])
def test_infinite_weights_and_values(columns):
    """Infinite weights tie nodes together; what is not a number neither crashes nor spreads."""
    geometry, _ = grid_chains((5, columns), (1, 0))
    infinite = np.full(4 * columns, np.inf)
    s = np.tile(np.arange(columns, dtype=float), 5) + np.repeat([1.0, 2, 3, 4, 5], columns)
    _, new_s = sweep(native, "grid", geometry, (infinite, infinite), np.zeros(4 * columns), s)
    np.testing.assert_allclose(new_s, np.tile(np.arange(columns) + 3.0, 5), rtol=1e-15)
    for bad in (np.nan, np.inf, -np.inf):
        broken = s.copy()
        broken[2 * columns] = bad
        weights = np.ones(4 * columns)
        result = sweep(native, "grid", geometry, (weights, weights), np.zeros(4 * columns), broken)
        clean = sweep(native, "grid", geometry, (weights, weights), np.zeros(4 * columns), s)
        np.testing.assert_array_equal(
            result[1].reshape(5, columns)[:, 1:], clean[1].reshape(5, columns)[:, 1:]
        )


def test_cyclic_sweeps_solve_the_public_total_variation_problem(data_folder):
    """The graph-fused lasso example of the gfl package: rows and columns of a 100x100 grid.

    Its stored solution has the objective 1645.6193837496705 and is 2.3e-6 above the optimum, which
    the dual bound proves.
    """
    y = np.loadtxt(data_folder / "tv" / "gfl_data.csv")
    weight = np.array([0.8685272417128072])
    s = -y
    blocks = [grid_chains((100, 100), offset) for offset in [(0, 1), (1, 0)]]
    flows = [np.zeros(edges) for _, edges in blocks]
    for _ in range(3000):
        for (geometry, _), flow in zip(blocks, flows, strict=True):
            native.grid_chains_sweep(*geometry, weight, weight, flow, s, 1)
    x = -s.reshape(100, 100)
    variation = np.abs(np.diff(x, axis=0)).sum() + np.abs(np.diff(x, axis=1)).sum()
    objective = 0.5 * np.sum((x.ravel() - y) ** 2) + weight[0] * variation
    bound = 0.5 * (np.dot(y, y) - np.dot(s, s))
    assert bound <= objective <= 1645.6193837496705
    assert objective - bound <= 2e-9 * objective
    stored = np.loadtxt(data_folder / "tv" / "gfl_output.csv")
    np.testing.assert_allclose(x.ravel(), stored, rtol=0, atol=2e-4)


def test_sizes_are_checked():
    start, *rest = line(3)
    weights, flow, s = np.ones(2), np.zeros(2), np.zeros(3)
    with pytest.raises(ValueError, match="chain 0 reaches outside of s of size 3"):
        native.grid_chains_sweep(start + 1, *rest, weights, weights, flow, s, 1)
    with pytest.raises(ValueError, match="chain 0 reaches outside of flow of size 2"):
        native.grid_chains_sweep(start, start + 1, *rest[1:], weights, weights, flow, s, 1)
    with pytest.raises(ValueError, match="length must be at least 1"):
        native.grid_chains_sweep(start, start, start, 1, 1, weights, weights, flow, s, 1)
    with pytest.raises(ValueError, match="c must be positive"):
        native.grid_chains_project(*line(3), weights, weights, flow, s, 0.0, flow.copy(), 1)
    with pytest.raises(ValueError, match="backward has size 3"):
        native.grid_chains_sweep(*line(3), np.ones(3), weights, flow, s, 1)
    with pytest.raises(ValueError, match="out has size 1"):
        native.grid_chains_project(*line(3), weights, weights, flow, s, 1.0, np.zeros(1), 1)
    paths = [np.array([0, 3]), np.arange(3, dtype=np.int32), np.arange(2, dtype=np.int32)]
    signs = np.ones(2, np.int8)
    for k, wrong in [
        (0, np.array([0, 0, 3])),
        (1, np.full(3, 7, np.int32)),
        (2, signs.astype("i4")),
    ]:
        broken = [*paths[:k], wrong, *paths[k + 1 :]]
        if k == 2:
            broken[2] = broken[2][:1]
        with pytest.raises(ValueError, match=["indptr", "nodes", "edges"][k]):
            native.path_chains_sweep(*broken, signs, weights, weights, flow, s, 1)
