"""Elements that their own cost decides, so that it need not take part in any sum.

With low(v) <= sum_i y_i(v) <= high(v) over the base polytopes (the marginal costs of v at V - v and
at the empty set, summed over the terms),

    u(v) + high(v) <= 0  implies  F(S + v) <= F(S) for every S,
    u(v) + low(v)  >= 0  implies  F(S - v) <= F(S) for every S,

so that v may be pinned in S, or out of it.  An infinite cost pins its element (a hard constraint).
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

LARGE = 2.0**20
"""A finite cost is pinned beyond this many times the largest marginal cost: others keep 33 of their
53 bits in sums with a smaller one."""

MOST_STEPS = 2.0**50
"""Multiples of a power of two up to which sums of a few are exact."""

LEAST_SCALE = 2.0**-1000
"""Margins of a larger scale do not vanish in underflow."""

FINITE = float(np.finfo(np.float64).max)
"""The largest float."""

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
    known_reach: Callable[[], FloatArray] | None = None,
) -> Pins | None:
    """Return the pinned elements of a flat unary, or None if there are none.

    `known_reach` returns ``reach(terms, n)``, where that was computed before.

    O(n) where no cost is large beside the mean weight of an edge, else O(size of the data).  On
    data of known granularity whose sums may not be exact, every cost is pinned that is twice what
    the terms can weigh at its element.
    """
    largest = float(max(unary.max(), -unary.min()))
    exact = largest * unary.size < MOST_STEPS * binary_unit(granularity)
    if largest <= LARGE * _mean_weight(terms, unary.size) and (exact or not granularity):
        return None
    around = known_reach() if known_reach else reach(terms, unary.size)
    largest, magnitude = float(around.max()), np.abs(unary)
    limit: float | FloatArray = FINITE
    if largest:
        limit = LARGE * largest if exact or not granularity else 2.0 * around
    beyond = magnitude > np.minimum(limit, FINITE)
    places = np.flatnonzero(beyond)
    if not places.size:
        return None
    scale = max(float(magnitude.max(where=~beyond, initial=0.0)), largest) or 1.0
    own, stand_in = unary[places], around[places]
    stand_in += MARGIN * (max(scale, LEAST_SCALE) + stand_in)
    if granularity:
        stand_in = np.ceil(stand_in / granularity) * granularity
    finite, inside = unary.copy(), np.zeros_like(beyond)
    finite[places] = np.copysign(stand_in, own)
    inside[places] = own < 0.0
    return Pins(
        inside=inside,
        outside=beyond & ~inside,
        unary=finite,
        paid=own[(own < 0.0) & np.isfinite(own)],
    )


def _mean_weight(terms: Sequence[Term], n: int) -> float:
    """Return a number that some |marginal cost| reaches: the weight of edges for each element."""
    return sum(term.weight for term in terms if isinstance(term, EdgeTerm)) / n


def reach(terms: Sequence[Term], n: int) -> FloatArray:
    """Return a bound on |sum_i y_i(v)| over the base polytopes, shape (n,)."""
    total = np.zeros(n)
    for term in terms:
        low, high = term.marginal_range(n)
        total += np.maximum(np.abs(low), np.abs(high))
    return total
