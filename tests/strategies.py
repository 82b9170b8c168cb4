"""Hypothesis strategies for small random problems with every family, alone and mixed.

All problems have at most 12 elements, so that ``submin.testing.brute_force`` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from submin._typing import FloatArray
from submin.model.problem import Problem
from submin.terms.base.grid import grid_offsets
from submin.terms.base.term import Term
from submin.terms.cardinality import Cardinality
from submin.terms.cut import Cut
from submin.terms.function import Function
from submin.terms.grid_cut import GridCut
from submin.terms.table import Table
from submin.terms.value_tables import subset_masks

MOST_ELEMENTS = 12

costs = st.one_of(st.integers(-8, 8).map(float), st.floats(-8, 8, width=32))
"""Unary costs: integers, with many ties, or real numbers."""

weights = st.one_of(st.integers(0, 4).map(float), st.floats(0, 4, width=32))
"""Non-negative weights, often 0."""


def weight_arrays(*shape: int) -> st.SearchStrategy[FloatArray]:
    """Arrays of non-negative weights."""
    size = int(np.prod(shape))
    lists = st.lists(weights, min_size=size, max_size=size)
    return lists.map(lambda values: np.array(values, dtype=np.float64).reshape(shape))


def concave_functions() -> st.SearchStrategy[Callable[[FloatArray, int], FloatArray]]:
    """Concave functions of a cardinality k out of m, 0 at k = 0, of either sign."""
    return st.tuples(weights, weights, weights, st.integers(1, 3), costs).map(
        lambda p: (
            lambda k, m: (
                p[0] * k * (m - k) + p[1] * np.sqrt(k) + p[2] * np.minimum(k, p[3]) + p[4] * k
            )
        )
    )


@st.composite
def cuts(draw: st.DrawFn, n: int) -> Cut:
    """Graphs on n >= 2 elements, directed or not, with parallel edges."""
    edge = st.tuples(st.integers(0, n - 1), st.integers(1, n - 1))
    edges = np.array(draw(st.lists(edge, min_size=1, max_size=2 * n)))
    tails, heads = edges[:, 0], (edges[:, 0] + edges[:, 1]) % n
    forward = draw(weight_arrays(len(edges)))
    return Cut(tails, heads, forward, draw(st.none() | weight_arrays(len(edges))))


@st.composite
def grid_cuts(draw: st.DrawFn, shape: tuple[int, ...]) -> GridCut:
    """Grids of a given shape with any neighbourhood, uniform or varying weights."""
    connectivity = draw(st.sampled_from(list(_neighbourhoods(len(shape)))))
    if draw(st.booleans()):
        return GridCut(shape, draw(weights), connectivity)
    overlaps = [
        tuple(max(0, length - abs(d)) for length, d in zip(shape, offset, strict=True))
        for offset in grid_offsets(len(shape), connectivity)
    ]
    arrays = [[draw(weight_arrays(*overlap)) for overlap in overlaps] for _ in range(2)]
    return GridCut(shape, arrays[0], connectivity, draw(st.sampled_from([None, arrays[1]])))


def _neighbourhoods(dimensions: int) -> tuple[int, ...]:
    return {1: (2,), 2: (4, 8), 3: (6, 18, 26)}[dimensions]


@st.composite
def cardinalities(draw: st.DrawFn, n: int) -> Cardinality:
    """Groups that partition the elements, or overlap."""
    function = draw(concave_functions())
    if draw(st.booleans()):
        labels = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
        return Cardinality.from_labels(labels, function)
    group = st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
    groups = draw(st.lists(group, min_size=1, max_size=4))
    pointers = np.cumsum([0, *(len(members) for members in groups)])
    return Cardinality(pointers, np.concatenate(groups), function)


@st.composite
def submodular_values(draw: st.DrawFn, k: int) -> FloatArray:
    """All 2^k values of a function: modular, edges, and concave functions of weighted sums."""
    masks = subset_masks(k)
    linear = draw(st.lists(costs, min_size=k, max_size=k))
    pairs = draw(weight_arrays(k, k))
    sizes, limit = draw(weight_arrays(k)), draw(weights)
    values = masks @ np.array(linear)
    values += np.einsum("si,sj,ij->s", masks.astype(float), ~masks, pairs)
    return values + draw(weights) * np.minimum(masks @ sizes, limit)


@st.composite
def tables(draw: st.DrawFn, n: int) -> Table:
    """Tables of up to 4 members, shared or one for each function."""
    k = draw(st.integers(1, min(n, 4)))
    support = st.lists(st.integers(0, n - 1), min_size=k, max_size=k, unique=True)
    supports = draw(st.lists(support, min_size=1, max_size=4))
    if draw(st.booleans()):
        return Table(supports, draw(submodular_values(k)))
    return Table(supports, np.array([draw(submodular_values(k)) for _ in supports]))


@st.composite
def functions(draw: st.DrawFn, n: int) -> Function:
    """Functions of one's own, by values or by greedy vertices; large ones are not tabulated."""
    support = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    k = len(support)
    linear = np.array(draw(st.lists(costs, min_size=k, max_size=k)))
    sizes, pairs = draw(weight_arrays(k)), draw(weight_arrays(k, k))

    def evaluate(mask: np.ndarray) -> float:
        return float(linear[mask].sum() + np.sqrt(sizes[mask].sum()) + pairs[mask][:, ~mask].sum())

    def greedy(order_weights: FloatArray) -> FloatArray:
        order, first = np.argsort(-order_weights, kind="stable"), np.zeros(k, dtype=bool)
        totals = [0.0]
        for element in order:
            first[element] = True
            totals.append(evaluate(first))
        vertex = np.empty(k)
        vertex[order] = np.diff(totals)
        return vertex

    if draw(st.booleans()):
        return Function(support, evaluate=evaluate)
    return Function(support, greedy=greedy)


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, ...]:
    """Shapes of ground sets of 2 to 12 elements, with 1 to 3 axes."""
    found = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple))
    while int(np.prod(found)) > MOST_ELEMENTS:
        found = found[:-1]
    return found if int(np.prod(found)) > 1 else (*found[:-1], 2)


def terms(shape: tuple[int, ...]) -> st.SearchStrategy[Term]:
    """Terms of any family on a ground set of a given shape."""
    n = int(np.prod(shape))
    return st.one_of(grid_cuts(shape), cuts(n), cardinalities(n), tables(n), functions(n))


@st.composite
def problems(draw: st.DrawFn, hard_constraints: bool = False) -> Problem:
    """Problems with up to 4 terms of any families, sometimes with hard constraints."""
    shape = draw(shapes())
    n = int(np.prod(shape))
    cost = costs | st.sampled_from([np.inf, -np.inf]) if hard_constraints else costs
    unary = np.array(draw(st.lists(cost, min_size=n, max_size=n))).reshape(shape)
    return Problem(unary, draw(st.lists(terms(shape), max_size=4)), draw(costs))
