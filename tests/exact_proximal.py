"""The proximal objective and its gap in rational arithmetic, from the families' definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise

import numpy as np

import submin as sm
from submin.terms.base.edges import EdgeTerm

Mask = np.ndarray
Exact = Callable[[Mask], Fraction]


def rational(values: Sequence[float] | np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in np.ravel(values)]


@singledispatch
def function_of(term: sm.Term) -> Exact:
    """F of a term for any set: here of a function that is given by its values in floats."""
    return lambda mask: Fraction(float(term.evaluate(mask)))


@function_of.register
def _(term: EdgeTerm) -> Exact:
    (tails, heads), (forward, backward) = term.edge_list(), term.weights_by_edge()
    ends = list(zip(tails, heads, rational(forward), rational(backward), strict=True))

    def cost(mask: Mask) -> Fraction:
        return sum(
            (out if mask[i] else back for i, j, out, back in ends if mask[i] != mask[j]),
            Fraction(0),
        )

    return cost


def groups(term: sm.Term) -> list[slice]:
    return [slice(a, b) for a, b in zip(term.pointers, term.pointers[1:], strict=False)]


@function_of.register
def _(term: sm.Cardinality) -> Exact:
    parts, first, values = groups(term), term.value_pointers, rational(term.values)
    return lambda mask: sum(
        (values[first[i] + int(mask[term.members[part]].sum())] for i, part in enumerate(parts)),
        Fraction(0),
    )


@function_of.register
def _(term: sm.Truncation) -> Exact:
    parts, caps = groups(term), rational(term.caps)
    masses, modular = rational(term.masses), rational(term.modular)

    def cost(mask: Mask) -> Fraction:
        total = Fraction(0)
        for part, cap in zip(parts, caps, strict=True):
            inside = [k for k in range(part.start, part.stop) if mask[term.members[k]]]
            total += min(cap, sum((masses[k] for k in inside), Fraction(0)))
            total += sum((modular[k] for k in inside), Fraction(0))
        return total

    return cost


@function_of.register
def _(term: sm.Table) -> Exact:
    shape = len(term.members), 2**term.arity
    values = [rational(row) for row in np.broadcast_to(term.values, shape)]
    return lambda mask: sum(
        (
            row[int(mask[members] @ (1 << np.arange(term.arity)))]
            for members, row in zip(term.members, values, strict=True)
        ),
        Fraction(0),
    )


@singledispatch
def lovasz(term: sm.Term, x: Sequence[Fraction]) -> Fraction:
    """The integral of F over the level sets of x."""
    function, levels = function_of(term), sorted(set(x))
    total = levels[0] * function(np.ones(len(x), dtype=bool))
    for low, high in pairwise(levels):
        total += (high - low) * function(np.array([value >= high for value in x]))
    return total


@lovasz.register
def _(term: EdgeTerm, x: Sequence[Fraction]) -> Fraction:
    """The sum of weights times differences, where they count."""
    (tails, heads), (forward, backward) = term.edge_list(), term.weights_by_edge()
    ends = zip(tails, heads, rational(forward), rational(backward), strict=True)
    zero = Fraction(0)
    return sum(
        (out * max(zero, x[i] - x[j]) + back * max(zero, x[j] - x[i]) for i, j, out, back in ends),
        zero,
    )


def total(problem: sm.Problem, dual: Sequence[np.ndarray]) -> list[Fraction]:
    """s = u + sum_i y_i."""
    s = rational(problem.unary)
    for term, part in zip(problem.terms, dual, strict=True):
        for k, value in enumerate(rational(part)):
            one, place = np.zeros(term.size), np.zeros(problem.n)
            one[k] = 1.0
            term.accumulate(one, place)
            for v in np.flatnonzero(place):
                s[v] += Fraction(float(place[v])) * value
    return s


def objective(problem: sm.Problem, x: np.ndarray) -> Fraction:
    """P(x) = f(x) + ||x||^2 / 2."""
    point = rational(x)
    modular = sum(u * v for u, v in zip(rational(problem.unary), point, strict=True))
    squares = sum(v * v for v in point) / 2
    return modular + squares + sum((lovasz(term, point) for term in problem.terms), Fraction(0))


def smooth_gap(problem: sm.Problem, x: np.ndarray, dual: Sequence[np.ndarray]) -> Fraction:
    """P(x) + ||s||^2 / 2, the gap where the dual is feasible."""
    return objective(problem, x) + sum(v * v for v in total(problem, dual)) / 2
