"""Code of users that fills one array anew in each call: what it returned before must be kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import submin as sm
from submin.solvers import REGISTRY
from submin.terms.table import Table, TableBlock
from submin.testing import brute_force

from .problems import SLOW

MEMBERS = [[0, 1, 2], [1, 2, 3], [4, 5, 6], [6, 7, 8]]
UNARY = np.random.default_rng(5).normal(size=9)


def root(sizes: np.ndarray) -> Callable[[np.ndarray], float]:
    return lambda mask: float(np.sqrt(sizes[mask].sum()))


class Buffer:
    """Greedy vertices, or values of many sets, always in the same array."""

    def __init__(self, sizes: np.ndarray) -> None:
        self.sizes, self.vertex, self.values = sizes, np.empty(sizes.size), np.empty(4096)

    def greedy(self, weights: np.ndarray) -> np.ndarray:
        order = np.argsort(-weights, kind="stable")
        self.vertex[order] = np.diff(np.sqrt(np.cumsum(self.sizes[order])), prepend=0.0)
        return self.vertex

    def batched(self, sets: np.ndarray) -> np.ndarray:
        self.values[: len(sets)] = np.sqrt(sets @ self.sizes)
        return self.values[: len(sets)]


class BufferBlock(TableBlock):
    """A block that returns every projection in one array, which it shares with all others."""

    out = np.empty(64)

    def project(self, dual, s, c):
        part = self.out[: self.size]
        part[:] = super().project(dual, s, c)
        return part

    def project_weighted(self, dual, step, weights):
        part = self.out[: self.size]
        part[:] = super().project_weighted(dual, step, weights)
        return part


class BufferTable(Table):
    """Tables whose methods all return the same arrays, filled anew."""

    def __init__(self, members, values):
        super().__init__(members, values)
        self.vertex, self.start = np.empty(self.size), np.empty(self.size)
        self.range = np.empty((2, 64))

    def greedy(self, rank):
        self.vertex[:] = super().greedy(rank)
        return self.vertex

    def feasible_start(self):
        self.start[:] = super().feasible_start()
        return self.start

    def marginal_range(self, n):
        self.range[:, :n] = super().marginal_range(n)
        return self.range[0, :n], self.range[1, :n]

    def blocks(self, decomposition, threads):
        blocks = super().blocks(decomposition, threads)
        return [BufferBlock(block.term, block.tables, threads) for block in blocks]


def oracle_problem(kind: str) -> sm.Problem:
    sizes = np.random.default_rng(6).random(9) + 0.1
    buffer = Buffer(sizes)
    term = {
        "greedy": lambda: sm.Function(range(9), greedy=buffer.greedy),
        "batched": lambda: sm.Function.batched(range(9), buffer.batched),
    }[kind]()
    return sm.Problem(UNARY, [term, sm.GridCut(9, 0.1)])


def table_problem() -> sm.Problem:
    random = np.random.default_rng(7)
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    values = np.sqrt(random.random((4, 3)) @ bits.T)
    return sm.Problem(UNARY, [BufferTable(MEMBERS, values), BufferTable(MEMBERS, 0.3 * values)])


def assert_solved(problem: sm.Problem, name: str) -> None:
    known = brute_force(problem)
    try:
        result = sm.minimize(problem, name, max_passes=1_000)
    except TypeError:
        pytest.skip("the solver does not take such terms")
    assert result.lower_bound <= known.minimum + 1e-9
    assert result.value == problem.evaluate(result.minimizer)
    if name in SLOW:
        assert result.value <= known.minimum + 0.1
    else:
        assert result.value == pytest.approx(known.minimum, abs=1e-9)
        assert result.gap <= 1e-7


@pytest.mark.parametrize("name", sorted(REGISTRY))
@pytest.mark.parametrize("kind", ["greedy", "batched"])
def test_oracles_that_reuse_their_array(kind: str, name: str) -> None:
    assert_solved(oracle_problem(kind), name)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_terms_that_reuse_their_arrays(name: str) -> None:
    assert_solved(table_problem(), name)


def test_a_table_is_no_view_of_the_array_of_its_values() -> None:
    buffer = Buffer(np.ones(3))
    term = sm.Function.batched(range(3), buffer.batched)
    value = term.evaluate(np.ones(3, dtype=np.bool_))
    buffer.values[:] = -7.0
    assert term.evaluate(np.ones(3, dtype=np.bool_)) == value == np.sqrt(3.0)


def test_values_that_a_function_keeps_are_copied() -> None:
    kept = np.array([0.0, 2.0, 3.0])
    count = sm.Cardinality([0, 2], [0, 1], lambda k, m: kept)
    mass = sm.ConcaveOfModular.sampled([0, 2], [0, 1], 1.0, lambda t, whole: kept)
    kept[:] = 9.0
    whole = np.ones(2, dtype=np.bool_)
    assert count.evaluate(whole) == mass.evaluate(whole) == 3.0
