"""Sum-of-submodular flow: augmenting paths of exchange arcs, to the exact minimiser.

    Kolmogorov 2012, doi:10.1016/j.dam.2012.05.025; Fix, Joachims, Park, Zabih 2013 (ICCV)

    y <- any feasible dual,  s <- u + sum_i y_i
    Element v has the excess -s_v if s_v < 0, and the deficit s_v if s_v > 0
    The arc (v, w) of function i has the capacity
        c_i(v, w) = min {F_i(S) - y_i(S) : v in S, w not in S}
    Repeat:
        P <- a shortest path of arcs of positive capacity from an excess to a deficit
        If there is none: return S <- the elements that an excess reaches
        a <- the least of the excess, the deficit, and the capacities along P
        For each arc (v, w) of function i on P:  y_i(v) += a,  y_i(w) -= a

S is then tight for every y_i, so that F(S) = s(S) = sum_v min(0, s_v): it is a minimiser, and the
smallest, as every minimiser holds the excesses and is tight too.

A shortest path has no shortcut, so that all its exchanges are feasible together although functions
occur on it more than once, and the distances never fall.  Of several shortest paths that one is
taken which is least when read from its end: the least deficit, then the least function, then the
least element before it, and so on (Schönsleben 1980; Lawler & Martel 1982,
doi:10.1287/moor.7.3.334; Schrijver 2003, Combinatorial Optimization, Chapter 47).  With N
incidences of elements and functions the augmentations are then of the order of (N + n)^3 at most,
whatever the numbers; a shortest path of any other choice need not end, as exchanges open arcs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from submin._sums import UNIT_ROUNDOFF
from submin._typing import BoolArray, Dual, FloatArray, PointerArray
from submin.solve.layout import Layout
from submin.terms.capabilities.exchanges import Arcs, Exchanges


class Arc(NamedTuple):
    """One arc, of a function that is numbered among those of all terms."""

    tail: int
    head: int
    function: int
    capacity: float


@dataclass
class SubmodularFlowState:
    """The dual y and its s, changed in place, and the arcs that are known at y.

    ``first`` is the number of the first function of each term.
    """

    y: Dual
    s: FloatArray
    exchanges: list[Exchanges]
    first: PointerArray
    tolerance: float
    arcs: dict[int, Arcs] = field(default_factory=dict)
    augmentations: int = 0
    done: bool = False
    members: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


@dataclass(frozen=True)
class SubmodularFlow:
    """Augmenting paths between the elements, for terms that know their exchange capacities.

    Notes
    -----
    Written in Python: each augmentation searches breadth-first from all excesses, O(n + arcs), and
    the arcs of an element are computed again after a change in one of its functions.  From the
    usual start that is for some hundreds of elements.  From a few passes of another solver, by
    ``warm_start``, little is left to do: about a second for 2,500 elements in overlapping groups.

    In floating point, capacities and costs up to 8 units in the last place of the largest marginal
    cost count as 0, and on data of granularity g (integers, say) those up to 2^-30 g.  The set is
    then searched once more by arcs of more than twice the gap that is left: no such arc leaves the
    smallest minimiser, so that what it finds, if it costs no more, is exactly that.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.Hyperedge([0, 3], [0, 1, 2], 1)])
    >>> sm.minimize(problem, sm.SubmodularFlow()).minimizer
    array([False,  True, False])
    """

    def start(self, layout: Layout, dual: Dual) -> SubmodularFlowState:
        """Start from a feasible dual.

        Raises
        ------
        TypeError
            If a term has no exchange capacities.
        """
        exchanges = []
        for index, (term, part) in enumerate(zip(layout.problem.terms, dual, strict=True)):
            try:
                exchanges.append(term.exchanges(part))
            except TypeError as refusal:
                raise TypeError(f"SubmodularFlow does not take terms[{index}]: {refusal}") from None
        first = np.cumsum([0, *(term.count for term in exchanges)])
        rounding = 8.0 * UNIT_ROUNDOFF * _largest_marginal(layout)
        tolerance = max(rounding, 2.0**-30 * layout.problem.granularity)
        return SubmodularFlowState(dual, layout.total(dual), exchanges, first, tolerance)

    def step(self, layout: Layout, state: SubmodularFlowState) -> int:
        """Augment along one path, counted as one projection for each of its arcs, or end."""
        path, reached = _search(state, state.tolerance)
        if path:
            _augment(state, path)
        else:
            state.members, state.done = _smallest(layout, state, reached), True
        return len(path)

    def iterate(self, layout: Layout, state: SubmodularFlowState) -> tuple[Dual, FloatArray]:
        """Return y and its s, summed afresh."""
        state.s[:] = layout.total(state.y)
        return state.y, state.s

    def done(self, state: SubmodularFlowState) -> bool:
        """Say whether no path is left from an excess to a deficit."""
        return state.done

    def minimizer(self, state: SubmodularFlowState) -> BoolArray:
        """Return the smallest minimiser."""
        return state.members


def _largest_marginal(layout: Layout) -> float:
    """Return the largest |u(v)| + sum_i |y_i(v)| that a marginal cost has in a search, or more."""
    sizes = np.abs(layout.unary)
    for term in layout.problem.terms:
        low, high = term.finite_part().marginal_range(layout.n)
        sizes = sizes + np.maximum(np.abs(low), np.abs(high))
    endless = layout.problem.precedences.tails.size > 0  # carries all that there is
    return float(sizes.sum() if endless else sizes.max(initial=0.0))


def _search(state: SubmodularFlowState, tolerance: float) -> tuple[list[Arc], BoolArray]:
    """Search breadth-first from all excesses: return a path to a deficit, and what they reach."""
    reached, deficit = state.s < -tolerance, state.s > tolerance
    frontier, parents = np.flatnonzero(reached).tolist(), dict[int, Arc]()
    while frontier:
        level = _level(state, frontier, reached, tolerance)
        parents.update((arc.head, arc) for arc in level)
        frontier = [arc.head for arc in level]
        ends = [element for element in frontier if deficit[element]]
        if ends:
            return _traced(parents, ends[0]), reached
        reached[frontier] = True
    return [], reached


def _smallest(layout: Layout, state: SubmodularFlowState, reached: BoolArray) -> BoolArray:
    """Return the smallest minimiser, where `reached` is one up to the tolerance.

    An arc out of a minimiser M carries at most sum_i F_i(M) - y_i(M) = F(M) - s(M), and an excess
    outside of M is at most F(M) - sum_v min(0, s_v), which is not above the gap that is left.
    """
    state.s[:] = layout.total(state.y)
    cost = _cost(layout, reached)
    gap = cost - float(np.minimum(state.s, 0.0).sum())
    _, inside = _search(state, max(state.tolerance, 2.0 * gap))
    return inside if _cost(layout, inside) <= cost else reached


def _cost(layout: Layout, members: BoolArray) -> float:
    """Return F(S) with finite costs in place of hard constraints."""
    terms = layout.problem.terms
    return float(layout.unary[members].sum()) + sum(term.evaluate(members) for term in terms)


def _level(
    state: SubmodularFlowState, frontier: list[int], reached: BoolArray, tolerance: float
) -> list[Arc]:
    """Return the arc to each new element, of the least function and then of the least tail."""
    known = [_arcs(state, element) for element in frontier]
    tails = np.repeat(frontier, [arcs.heads.size for arcs in known])
    heads, functions, capacities = (np.concatenate(part) for part in zip(*known, strict=True))
    new = np.flatnonzero(~reached[heads] & (capacities > tolerance))
    new = new[np.lexsort((tails[new], functions[new], heads[new]))]
    chosen = new[np.unique(heads[new], return_index=True)[1]]
    columns = (column[chosen].tolist() for column in (tails, heads, functions, capacities))
    return [Arc(*row) for row in zip(*columns, strict=True)]


def _traced(parents: dict[int, Arc], end: int) -> list[Arc]:
    """Follow the parents from a deficit back to an excess."""
    path = [parents[end]]
    while path[-1].tail in parents:
        path.append(parents[path[-1].tail])
    return path[::-1]


def _arcs(state: SubmodularFlowState, element: int) -> Arcs:
    """Return the arcs of positive capacity from an element, computed anew if y has changed."""
    if element not in state.arcs:
        known = [exchanges.arcs(element) for exchanges in state.exchanges]
        heads = np.concatenate([np.zeros(0, dtype=np.int32), *(arcs.heads for arcs in known)])
        numbers = (arcs.functions + k for arcs, k in zip(known, state.first, strict=False))
        functions = np.concatenate([np.zeros(0, dtype=np.int64), *numbers])
        capacities = np.concatenate([np.zeros(0), *(arcs.capacities for arcs in known)])
        free = capacities > state.tolerance
        state.arcs[element] = Arcs(heads[free], functions[free], capacities[free])
    return state.arcs[element]


def _augment(state: SubmodularFlowState, path: list[Arc]) -> None:
    """Push as much as fits along a path, and forget the arcs that change."""
    source, sink = path[0].tail, path[-1].head
    room = min(arc.capacity for arc in path)
    amount = min(-float(state.s[source]), float(state.s[sink]), room)
    for arc in path:
        term = int(np.searchsorted(state.first, arc.function, side="right")) - 1
        function = arc.function - int(state.first[term])
        support = state.exchanges[term].push(function, arc.tail, arc.head, amount)
        for element in support.tolist():
            state.arcs.pop(element, None)
    state.s[source] += amount
    state.s[sink] -= amount
    state.augmentations += 1
