"""Minimisation by enumeration of all 2^n sets: slow, and beyond doubt."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.model.problem import Problem
from submin.terms.base.edges import EdgeTerm
from submin.terms.base.term import Term
from submin.terms.cardinality import Cardinality
from submin.terms.function import Function
from submin.terms.table import Table
from submin.terms.value_tables import subset_masks

MOST_ELEMENTS = 20

LocalFunction = tuple[IndexArray, FloatArray]
"""A support, shape (k,), and the values of all its subsets, shape (2^k,)."""


class BruteForce(NamedTuple):
    """The minimum and the two extreme minimisers, as masks of the problem's shape."""

    minimum: float
    smallest: BoolArray
    largest: BoolArray


def brute_force(problem: Problem) -> BruteForce:
    """Minimise F by enumerating all subsets of the ground set.

    Parameters
    ----------
    problem : Problem
        At most 20 elements.  Hard constraints are kept.

    Returns
    -------
    BruteForce
        ``minimum`` is ``problem.evaluate`` of the smallest minimiser: the intersection of all sets
        whose value is the least up to rounding; ``largest`` is their union.

    Raises
    ------
    ValueError
        If the ground set is too large.

    Notes
    -----
    O(2^n) for each edge, group or table, vectorised over the sets; terms of other kinds are
    evaluated once for each subset of the elements that they touch.

    Examples
    --------
    >>> import submin as sm
    >>> brute_force(sm.Problem([1.0, -2.0, 0.5], [sm.GridCut(3, 1.0)])).minimum
    -0.5
    """
    if problem.n > MOST_ELEMENTS:
        raise ValueError(
            f"the problem has {problem.n} elements: enumeration takes at most {MOST_ELEMENTS}"
        )
    values, rounding = set_values(problem)
    best = np.flatnonzero(values <= values.min() + rounding)
    smallest = int(np.bitwise_and.reduce(best))
    largest = int(np.bitwise_or.reduce(best))
    bits = np.arange(problem.n)
    masks = [((index >> bits) & 1 == 1).reshape(problem.shape) for index in (smallest, largest)]
    return BruteForce(problem.evaluate(masks[0]), *masks)


def set_values(problem: Problem) -> tuple[FloatArray, float]:
    """Return F of all 2^n sets (bit b of the index: element b is in S), and a bound on rounding.

    Sets that break a constraint have the value ``inf``.
    """
    indices = np.arange(1 << problem.n)
    values = np.full(indices.size, problem.constant)
    magnitude, additions = abs(problem.constant), 1
    finite = np.where(np.isfinite(problem.unary), problem.unary, 0.0).ravel()
    unaries = [(np.array([b], dtype=np.int32), np.array([0.0, u])) for b, u in enumerate(finite)]
    local = [function for term in problem.terms for function in _local_functions(term)]
    for support, table in unaries + local:
        values += table[_local_index(indices, support)]
        magnitude += float(np.max(np.abs(table[np.isfinite(table)])))
        additions += 1
    for term in problem.terms:
        if isinstance(term, EdgeTerm):
            for tail, head in zip(*term.precedences()[:2], strict=True):
                values[(indices >> tail & 1 == 1) & (indices >> head & 1 == 0)] = np.inf
    for forced, wanted in ((problem.forced_in, 1), (problem.forced_out, 0)):
        for element in np.flatnonzero(forced):
            values[(indices >> element) & 1 != wanted] = np.inf
    return values, additions * float(np.finfo(np.float64).eps) * magnitude


def _local_index(indices: PointerArray, support: IndexArray) -> PointerArray:
    """Gather the bits of the elements of a support."""
    local = np.zeros_like(indices)
    for b, element in enumerate(support.tolist()):
        local |= ((indices >> element) & 1) << b
    return local


def _local_functions(term: Term) -> Iterator[LocalFunction]:
    """Split a term into functions of few elements each."""
    if isinstance(term, EdgeTerm):
        return _pairs(term)
    if isinstance(term, Cardinality):
        return _groups(term)
    if isinstance(term, Table):
        return _tables(term)
    support = term.support if isinstance(term, Function) else np.arange(term.elements)
    return iter([_enumerated(term, support.astype(np.int32))])


def _enumerated(term: Term, support: IndexArray) -> LocalFunction:
    """Evaluate a term on all subsets of a support."""
    masks = np.zeros((1 << support.size, term.elements), dtype=np.bool_)
    masks[:, support] = subset_masks(support.size)
    return support, np.array([term.evaluate(mask) for mask in masks])


def _pairs(term: EdgeTerm) -> Iterator[LocalFunction]:
    """Split the finite part into F({i}) and F({i, j}) - F({i}) - F({j})."""
    finite = term.finite_part()

    def value(*elements: int) -> float:
        mask = np.zeros(term.elements, dtype=np.bool_)
        mask[list(elements)] = True
        return finite.evaluate(mask)

    single = [value(i) for i in range(term.elements)]
    for i, alone in enumerate(single):
        yield np.array([i], dtype=np.int32), np.array([0.0, alone])
    for i, j in combinations(range(term.elements), 2):
        together = value(i, j) - single[i] - single[j]
        if together != 0.0:
            yield np.array([i, j], dtype=np.int32), np.array([0.0, 0.0, 0.0, together])


def _groups(term: Cardinality) -> Iterator[LocalFunction]:
    for i, (start, stop) in enumerate(zip(term.pointers[:-1], term.pointers[1:], strict=True)):
        first = term.value_pointers[i]
        g = term.values[first : first + stop - start + 1]
        yield term.members[start:stop], g[subset_masks(int(stop - start)).sum(axis=1)]


def _tables(term: Table) -> Iterator[LocalFunction]:
    rows = np.broadcast_to(term.values, (term.members.shape[0], term.values.shape[1]))
    yield from zip(term.members, rows, strict=True)
