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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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

    @property
    def free(self) -> BoolArray:
        """The elements that are not pinned, as a mask."""
        return ~(self.inside | self.outside)


def find_pins(
    unary: FloatArray, terms: Sequence[Term], granularity: float, forced: Fixing | None
) -> Pins | None:
    """Return the pinned elements of a flat unary, or None if there are none.

    `forced` are those of hard constraints, with what follows from them.

    O(n) where no cost is large beside the mean weight of an edge, else O(size of the data).  On
    data of known granularity whose sums may not be exact, every cost is pinned that is twice what
    the terms can weigh at its element.
    """
    largest = float(max(unary.max(), -unary.min()))
    exact = largest * unary.size < MOST_STEPS * binary_unit(granularity)
    mean = _mean_weight(terms, unary.size)
    if forced is None and largest <= LARGE * mean and (exact or not granularity):
        return None
    reach = _reach(terms, unary.size)
    large = np.zeros(unary.size, dtype=np.bool_)
    if reach.any():
        limit = LARGE * reach.max() if exact or not granularity else 2.0 * reach
        large = (np.abs(unary) > limit) & ~_has_endless(unary, terms)
    beyond = large if forced is None else large | ~forced.free
    if not beyond.any():
        return None
    inside = beyond & (unary < 0.0)
    if forced is not None:
        inside = np.where(forced.free, inside, forced.inside)
    scale = max(float(np.abs(unary[~beyond]).max(initial=0.0)), float(reach.max())) or 1.0
    scale = max(scale, LEAST_SCALE)
    stand_in = reach + MARGIN * (scale + reach)
    if granularity:
        stand_in = np.ceil(stand_in / granularity) * granularity
    return Pins(
        inside=inside,
        outside=beyond & ~inside,
        unary=np.where(beyond, np.where(inside, -stand_in, stand_in), unary),
        paid=unary[inside & np.isfinite(unary)],
    )


def _mean_weight(terms: Sequence[Term], n: int) -> float:
    """Return a number that some |marginal cost| reaches: the finite weight of edges an element."""
    return sum(term.weight for term in terms if isinstance(term, EdgeTerm)) / n


def _reach(terms: Sequence[Term], n: int) -> FloatArray:
    """Return a bound on |sum_i y_i(v)| over the base polytopes of finite weights, shape (n,)."""
    reach = np.zeros(n)
    for term in terms:
        if isinstance(term, EdgeTerm) and not term.weight:
            continue
        low, high = term.finite_part().marginal_range(n)
        reach += np.maximum(np.abs(low), np.abs(high))
    return reach


def _has_endless(unary: FloatArray, terms: Sequence[Term]) -> BoolArray:
    """Say where a precedence leads from an element of negative cost, or to one of positive cost."""
    endless = np.zeros(unary.size, dtype=np.bool_)
    for term in terms:
        if term.finite_part() is not term:
            low, high = term.marginal_range(unary.size)
            endless |= np.isinf(np.where(unary < 0.0, high, low))
    return endless
