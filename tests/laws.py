"""Laws that every term and every block obeys, stated once; the tests of each family call them."""

from __future__ import annotations

import numpy as np

import submin as sm
from submin.terms.base.term import Block

from .problems import all_sets


def descending_rank(x: np.ndarray) -> np.ndarray:
    """Position of each element when the largest x comes first."""
    rank = np.empty(x.size, dtype=np.int32)
    rank[np.argsort(-x, kind="stable")] = np.arange(x.size, dtype=np.int32)
    return rank


def vector(term: sm.Term, dual: np.ndarray, n: int) -> np.ndarray:
    """The n-vector sum_i y_i."""
    total = np.zeros(n)
    term.accumulate(dual, total)
    return total


def assert_in_base_polytope(y: np.ndarray, values: np.ndarray, tolerance: float) -> None:
    """Check y(S) <= F(S) for all S and y(V) = F(V), by enumeration."""
    sums = all_sets(y.size) @ y
    assert np.all(sums <= values + tolerance)
    assert abs(sums[-1] - values[-1]) <= tolerance


def lovasz(values: np.ndarray, x: np.ndarray) -> float:
    """The Lovász extension by its definition, from the values of the level sets."""
    order = np.argsort(-x)
    prefixes = np.cumsum(1 << order)
    gains = np.diff(values[prefixes], prepend=0.0)
    return float(gains @ x[order])


def assert_term_laws(term: sm.Term, values: np.ndarray, x: np.ndarray, dual: np.ndarray) -> None:
    """Check a term against F of all sets, at a point x and at any dual."""
    n = x.size
    tolerance = 1e-11 * (1.0 + np.abs(values).max() + np.abs(dual).sum()) * (1.0 + np.abs(x).max())
    for row in np.unique(np.linspace(0, 2**n - 1, 40).astype(int)):
        assert abs(term.evaluate(all_sets(n)[row]) - values[row]) <= tolerance
    vertex = vector(term, term.greedy(descending_rank(x)), n)
    assert_in_base_polytope(vertex, values, tolerance)
    assert abs(vertex @ x - lovasz(values, x)) <= tolerance
    assert abs(term.lovasz(x) - lovasz(values, x)) <= tolerance
    assert_in_base_polytope(vector(term, term.feasible_start(), n), values, tolerance)
    if term.zero_is_feasible():
        assert_in_base_polytope(np.zeros(n), values, tolerance)
    low, high = term.marginal_range(n)
    single = 1 << np.arange(n)
    assert np.all(np.abs(high - values[single]) <= tolerance)
    assert np.all(np.abs(low - (values[-1] - values[-1 - single])) <= tolerance)
    y = vector(term, dual, n)
    worst = float(np.max(all_sets(n) @ y - values))
    violation = term.violation(dual)
    assert violation.total >= worst - tolerance
    assert 0.0 <= violation.error <= tolerance
    assert term.magnitude(dual) >= np.abs(y).sum() - tolerance
    doubled = np.zeros(n)
    term.accumulate(dual, doubled, -2.0)
    assert np.all(np.abs(doubled + 2.0 * y) <= tolerance)


def assert_block_laws(term: sm.Term, decomposition: str, s: np.ndarray, dual: np.ndarray) -> None:
    """Check that blocks split the dual, and that each projects onto its base polytope."""
    blocks = term.blocks(decomposition, 1)
    covered = np.zeros(term.size, dtype=int)
    for block in blocks:
        marks = np.zeros(term.size)
        block.put(marks, np.ones(block.size))
        covered += marks.astype(int)
        assert block.take(marks).tolist() == [1.0] * block.size
        support = block.support()
        assert np.unique(support).size == support.size
        for c in (1.0, 3.5):
            assert_projection(term, block, s, dual, c)
        assert_sweep(term, block, s, dual)
    assert covered.tolist() == [1] * term.size


def assert_projection(
    term: sm.Term, block: Block, s: np.ndarray, dual: np.ndarray, c: float
) -> None:
    """Check p = Proj(y - s / c): feasible, and <(y - s / c) - p, v - p> <= 0 for all vertices v.

    The maximum over v is at the greedy vertex for the weights (y - s / c) - p.
    """
    tolerance = 1e-9 * (1.0 + np.abs(s).max() + np.abs(dual).sum()) ** 2
    before_s, before_dual = s.copy(), dual.copy()
    part = block.project(dual, s, c)
    assert np.array_equal(s, before_s)
    assert np.array_equal(dual, before_dual)
    assert part.shape == (block.size,)
    feasible = term.feasible_start()
    block.put(feasible, part)
    assert term.violation(feasible).total <= tolerance
    move, projected, corner = np.zeros_like(s), np.zeros_like(s), np.zeros_like(s)
    block.accumulate(block.take(dual) - part, move)
    block.accumulate(part, projected)
    support = block.support()
    w = np.zeros_like(s)
    w[support] = (move - s / c)[support]
    block.accumulate(block.take(term.greedy(descending_rank(w))), corner)
    assert w @ (corner - projected) <= tolerance


def assert_sweep(term: sm.Term, block: Block, s: np.ndarray, dual: np.ndarray) -> None:
    """Check that a sweep is the projection with c = 1, in place, with s kept up to date."""
    tolerance = 1e-12 * (1.0 + np.abs(s).max() + np.abs(dual).sum())
    expected_dual, expected_s = dual.copy(), s.copy()
    part = block.project(dual, s, 1.0)
    block.accumulate(part - block.take(dual), expected_s)
    block.put(expected_dual, part)
    swept_dual, swept_s = dual.copy(), s.copy()
    block.sweep(swept_dual, swept_s)
    assert np.all(np.abs(swept_dual - expected_dual) <= tolerance)
    assert np.all(np.abs(swept_s - expected_s) <= tolerance)


def assert_round_trip(term: sm.Term, n: int) -> None:
    """Check that the saved arrays rebuild the same function, dual coordinates included."""
    rebuilt = type(term).from_arrays({name: np.array(a) for name, a in term.arrays().items()})
    assert (rebuilt.kind, rebuilt.size, rebuilt.elements) == (term.kind, term.size, term.elements)
    assert rebuilt.shape == term.shape
    assert rebuilt.depth == term.depth
    for mask in all_sets(min(n, 5)):
        wide = np.concatenate([mask, np.zeros(n - mask.size, dtype=bool)])
        assert rebuilt.evaluate(wide) == term.evaluate(wide)
    rank = np.arange(n, dtype=np.int32)[::-1].copy()
    assert np.array_equal(rebuilt.greedy(rank), term.greedy(rank))
