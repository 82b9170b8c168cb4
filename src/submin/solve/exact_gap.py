"""The gap of a certificate in exact arithmetic, for data that are multiples of a number.

All numbers are split into high and low digits, multiples of 2^26 units and of one, which float64
adds up without rounding as long as fewer than 2^26 of them meet in one sum; ``math.fsum`` adds the
sums exactly, and rounds once (Shewchuk 1997, doi:10.1007/PL00009321).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, inf, nextafter

import numpy as np

from submin._sums import UNIT_ROUNDOFF, binary_unit
from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.terms.base.edges import EdgeTerm
from submin.terms.base.term import Term

STEPS = 2.0**26
"""Units of the high digits."""


def exact_gap(problem: Problem, members: BoolArray, dual: Sequence[FloatArray]) -> float:
    """Return more than F(S) less the lower bound of the dual, rounded to the binary unit of g.

    Violations and values of terms add their errors where these leave more than one multiple of the
    unit to choose from, or the multiple is beyond 2^52 units; the rest is exact.
    ``inf`` if a number of the dual is beyond 2^53 units.  O(size of the data).
    """
    unit = binary_unit(problem.granularity)
    rounded = [unit * np.rint(part / unit) for part in dual]
    if any(np.abs(part).max(initial=0.0) > 2.0**53 * unit for part in rounded):
        return inf
    costs = -_least_costs(problem, rounded, unit)
    parts = [_modular_costs(problem, members), costs]
    for term, part in zip(problem.terms, rounded, strict=True):
        parts += [_violation(term, part, unit), _value(term, members, unit)]
    return nextafter(fsum(np.concatenate(parts).tolist()), inf)


def _split(values: FloatArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Return multiples of 2^26 units and the rest, which add up to the values exactly."""
    high = STEPS * unit * np.rint(values / (STEPS * unit))
    return high, values - high


def _least_costs(problem: Problem, dual: Sequence[FloatArray], unit: float) -> FloatArray:
    """Return numbers that add up to sum_v min(0, s_v), pinned elements as they must be."""
    pins, unary = problem.pins, problem.unary.ravel()
    high, low = _split(unary if pins is None else np.where(pins.free, unary, 0.0), unit)
    for term, part in zip(problem.terms, dual, strict=True):
        upper, lower = _split(part, unit)
        term.accumulate(upper, high)
        term.accumulate(lower, low)
    counted: BoolArray = high + low < 0.0
    if pins is not None:
        counted = pins.inside | (counted & pins.free)
    return np.concatenate([high[counted], low[counted]])


def _modular_costs(problem: Problem, members: BoolArray) -> FloatArray:
    """Return numbers that add up to u(S) less the costs of pinned elements."""
    pins, unary = problem.pins, problem.unary.ravel()
    if pins is None:
        return unary[members]
    finite = np.isfinite(unary)
    return np.concatenate(
        [unary[members & ~pins.inside & finite], -unary[pins.inside & ~members & finite]]
    )


def _violation(term: Term, dual: FloatArray, unit: float) -> FloatArray:
    """Return numbers that add up to the violation of a term, or more; it is a multiple of the unit.

    The excess y_i(S) - F_i(S) of every set is one.
    """
    total, error = term.violation(dual)
    if error < unit / 4 and total < 2.0**52 * unit:
        return np.array([unit * np.rint(total / unit)])
    return np.array([total, error])


def _value(term: Term, members: BoolArray, unit: float) -> FloatArray:
    """Return numbers that add up to F_i(S) of a term, or more."""
    if not isinstance(term, EdgeTerm):
        value, error = term.evaluate(members), term.value_error(members)
        if error < unit / 4 and abs(value) < 2.0**52 * unit:
            # F_i(S) is the multiple of the unit next to it: beyond `error`, it was rounded once.
            return np.array([unit * np.rint(value / unit)])
        return np.array([value, error, 4.0 * UNIT_ROUNDOFF * abs(value)])
    tails, heads = term.edge_list()
    forward, backward = term.weights_by_edge()
    out, back = members[tails] & ~members[heads], members[heads] & ~members[tails]
    return np.concatenate([forward[out], backward[back]])
