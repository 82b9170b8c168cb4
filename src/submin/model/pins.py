"""Elements that their own cost decides, so that it need not take part in any sum.

With low(v) <= sum_i y_i(v) <= high(v) over the base polytopes (the marginal costs of v at V - v and
at the empty set, summed over the terms),

    u(v) + high(v) <= 0  implies  F(S + v) <= F(S) for every S,
    u(v) + low(v)  >= 0  implies  F(S - v) <= F(S) for every S,

so that v may be pinned in S, or out of it.  An infinite cost pins its element (a hard constraint),
and infinite weights pin others with it: all of these together, as no precedence leads from one that
is pinned in S to another element, and none to one that is pinned out of it, so that the marginal
costs of their finite weights are enough.
A finite one does where the others would lose digits in sums with it.  A pinned element has a
*stand-in* for its cost in all sums of a solver, just beyond what the terms can outweigh, and 0 in
those of a certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from submin._lazy import lazy
from submin._sums import binary_unit
from submin._typing import BoolArray, FloatArray
from submin.terms.base.edges import EdgeTerm
from submin.terms.base.term import Term
from submin.terms.capabilities.fixing import Fixing

LARGE = 2.0**20
"""A finite cost is pinned beyond this many times the largest marginal cost: others keep 33 of their
53 bits in sums with a smaller one."""

MOST_STEPS = 2.0**50
"""Multiples of a power of two up to which sums of a few are exact."""

LEAST_SCALE = 2.0**-1000
"""Margins of a larger scale do not vanish in underflow."""

MARGIN = 2.0**-10
"""How far a stand-in lies beyond the terms, in units of the largest cost that is not pinned."""


@dataclass(frozen=True, eq=False)
class Pins:
    """Flat masks of the pinned elements, and the costs that stand in for theirs.

    Attributes
    ----------
    inside, outside : bool arrays, shape (n,)
        The elements pinned in S, and those pinned out of it.
    unary : float array, shape (n,)
        The costs, with stand-ins at pinned elements: finite.
    paid : float array
        The finite costs of the elements pinned in S: part of the value of every minimiser.
    """

    inside: BoolArray
    outside: BoolArray
    unary: FloatArray
    paid: FloatArray

    @lazy
    def free(self) -> BoolArray:
        """The elements that are not pinned, as a mask."""
        return ~(self.inside | self.outside)


def find_pins(
    unary: FloatArray,
    terms: Sequence[Term],
    granularity: float,
    forced: Fixing | None,
    known_reach: Callable[[], FloatArray] | None = None,
) -> Pins | None:
    """Return the pinned elements of a flat unary, or None if there are none.

    `forced` are those of hard constraints, with what follows from them; `known_reach` returns
    ``reach(terms, n)``, where that was computed before.

    O(n) where no cost is large beside the mean weight of an edge, else O(size of the data).  On
    data of known granularity whose sums may not be exact, every cost is pinned that is twice what
    the terms can weigh at its element.
    """
    largest = float(max(unary.max(), -unary.min()))
    exact = largest * unary.size < MOST_STEPS * binary_unit(granularity)
    mean = _mean_weight(terms, unary.size)
    if forced is None and largest <= LARGE * mean and (exact or not granularity):
        return None
    around = known_reach() if known_reach else reach(terms, unary.size)
    beyond = _beyond(unary, terms, around, exact or not granularity)
    if forced is not None:
        beyond |= ~forced.free
    places = np.flatnonzero(beyond)
    if not places.size:
        return None
    own, stand_in = unary[places], around[places]
    below = own < 0.0
    if forced is not None:
        below = np.where(forced.free[places], below, forced.inside[places])
    scale = float(np.abs(unary).max(where=~beyond, initial=0.0))
    scale = max(scale, float(around.max())) or 1.0
    stand_in += MARGIN * (max(scale, LEAST_SCALE) + stand_in)
    if granularity:
        stand_in = np.ceil(stand_in / granularity) * granularity
    finite, inside = unary.copy(), np.zeros_like(beyond)
    finite[places], inside[places] = np.where(below, -stand_in, stand_in), below
    return Pins(
        inside=inside,
        outside=beyond & ~inside,
        unary=finite,
        paid=own[below & np.isfinite(own)],
    )


def _beyond(unary: FloatArray, terms: Sequence[Term], around: FloatArray, sharp: bool) -> BoolArray:
    """Say whose cost decides it: it is far above what the terms can weigh."""
    largest = float(around.max())
    if not largest:
        return np.zeros(unary.size, dtype=np.bool_)
    beyond: BoolArray = np.abs(unary) > (LARGE * largest if sharp else 2.0 * around)
    return beyond & ~_has_endless(unary, terms) if beyond.any() else beyond


def _mean_weight(terms: Sequence[Term], n: int) -> float:
    """Return a number that some |marginal cost| reaches: the finite weight of edges an element."""
    return sum(term.weight for term in terms if isinstance(term, EdgeTerm)) / n


def reach(terms: Sequence[Term], n: int) -> FloatArray:
    """Return a bound on |sum_i y_i(v)| over the base polytopes of finite weights, shape (n,)."""
    total = np.zeros(n)
    for term in terms:
        if isinstance(term, EdgeTerm) and not term.weight:
            continue
        low, high = term.finite_part().marginal_range(n)
        total += np.maximum(np.abs(low), np.abs(high))
    return total


def _has_endless(unary: FloatArray, terms: Sequence[Term]) -> BoolArray:
    """Say where a precedence leads from an element of negative cost, or to one of positive cost."""
    endless = np.zeros(unary.size, dtype=np.bool_)
    for term in terms:
        if term.finite_part() is not term:
            low, high = term.marginal_range(unary.size)
            endless |= np.isinf(np.where(unary < 0.0, high, low))
    return endless
