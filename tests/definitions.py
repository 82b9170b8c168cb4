"""Terms of every family with the values of their definitions in rational arithmetic.

The numbers are hard on purpose: decimals, ties, neighbours in floating point, integers up to 2^53,
magnitudes from 1e-30 to 1e30.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import submin as sm
from submin.terms.base.term import Term

from .group_terms import csr, groups, split

ELEMENTS = 4
UNIT = Fraction(1, 2**53)
Definition = Callable[[np.ndarray], Fraction]


class Defined(NamedTuple):
    """A term, F of a set by its definition, and what a value may be off as a share of its size.

    ``largest`` bounds sum_i max_S |F_i(S)|.
    """

    term: Term
    definition: Definition
    largest: Fraction


def rational(values: Sequence[float] | np.ndarray) -> list[Fraction]:
    return [Fraction(value) for value in np.asarray(values, dtype=np.float64).ravel().tolist()]


@st.composite
def numbers(draw: st.DrawFn, size: int, negative: bool = False) -> np.ndarray:
    """Numbers of one hard kind, or mixed."""
    tenths = st.integers(0, 12).map(lambda k: round(0.1 * k, 1))
    step = st.sampled_from([-np.inf, np.inf])
    neighbours = st.tuples(tenths, step).map(lambda p: abs(float(np.nextafter(*p))))
    wide = st.tuples(st.floats(0.5, 1.0), st.integers(-30, 30)).map(lambda p: p[0] * 10.0 ** p[1])
    kinds = [tenths, neighbours, wide, st.integers(0, 6).map(float)]
    kinds.append(st.integers(0, 2**53 // 8).map(float))
    kinds.append(st.one_of(*kinds))
    found = draw(st.lists(draw(st.sampled_from(kinds)), min_size=size, max_size=size))
    signs = draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=size, max_size=size))
    return np.array(found) * (signs if negative else 1.0)


@st.composite
def cuts(draw: st.DrawFn, grid: bool) -> Defined:
    tails, heads = np.arange(3), np.arange(1, 4)
    if not grid:
        tails = np.append(tails, [0, 3])
        heads = np.append(heads, [2, 1])
    forward, backward = draw(numbers(tails.size)), draw(numbers(tails.size))
    edges = list(zip(tails, heads, rational(forward), rational(backward), strict=True))

    def definition(mask: np.ndarray) -> Fraction:
        out = sum((w for i, j, w, _ in edges if mask[i] and not mask[j]), Fraction(0))
        return out + sum((w for i, j, _, w in edges if mask[j] and not mask[i]), Fraction(0))

    if grid:
        term: Term = sm.GridCut(4, [forward], reverse_weights=[backward])
    else:
        term = sm.Cut(tails, heads, forward, backward)
    return Defined(term, definition, sum(rational(forward)) + sum(rational(backward)))


@st.composite
def cardinalities(draw: st.DrawFn) -> Defined:
    given = draw(groups(ELEMENTS, most=3))
    gains = -np.sort(-draw(numbers(ELEMENTS, negative=True)))
    table = np.concatenate([[0.0], np.cumsum(gains)])
    exact = rational(table)
    term = accepted(lambda: sm.Cardinality(*csr(given), lambda k, m: table[: m + 1]))
    return Defined(
        term,
        lambda mask: sum((exact[mask[group].sum()] for group in given), Fraction(0)),
        len(given) * max(map(abs, exact)),
    )


@st.composite
def hyperedges(draw: st.DrawFn) -> Defined:
    tails, least = draw(groups(ELEMENTS, least=1)), st.sets(st.integers(0, 3), min_size=1)
    heads = [sorted(draw(least)) for _ in tails]
    weights = draw(numbers(len(tails)))
    exact = rational(weights)

    def definition(mask: np.ndarray) -> Fraction:
        cut = [mask[t].any() and not mask[h].all() for t, h in zip(tails, heads, strict=True)]
        return sum((w for w, paid in zip(exact, cut, strict=True) if paid), Fraction(0))

    return Defined(sm.Hyperedge.directed(*csr(tails), *csr(heads), weights), definition, sum(exact))


@st.composite
def truncations(draw: st.DrawFn) -> Defined:
    given = draw(groups(ELEMENTS, most=3))
    pointers, members = csr(given)
    masses, caps = draw(numbers(members.size)), draw(numbers(len(given)))
    if given and draw(st.booleans()):  # caps at the sums of some masses, or one unit beside
        sums = [float(np.sum(part[: draw(st.integers(0, 4))])) for part in split(masses, given)]
        caps = np.abs(np.nextafter(sums, draw(st.sampled_from([0.0, np.inf]))))
    modular = draw(st.sampled_from([0.0, 1.0])) * draw(numbers(members.size, negative=True))
    parts = [
        (group, rational(mass), Fraction(cap), rational(cost))
        for group, mass, cap, cost in zip(
            given, split(masses, given), caps.tolist(), split(modular, given), strict=True
        )
    ]

    def definition(mask: np.ndarray) -> Fraction:
        return sum(
            (min(chosen(mask, g, m), c) + chosen(mask, g, o) for g, m, c, o in parts), Fraction(0)
        )

    term = sm.Truncation(pointers, members, masses, caps, modular)
    size = sum((min(sum(m), c) + sum(map(abs, o)) for _, m, c, o in parts), Fraction(0))
    return Defined(term, definition, size)


def chosen(mask: np.ndarray, group: list[int], values: list[Fraction]) -> Fraction:
    return sum((v for e, v in zip(group, values, strict=True) if mask[e]), Fraction(0))


SMOOTH: list[Callable[[np.ndarray, float], np.ndarray]] = [
    lambda t, whole: np.sqrt(t),
    lambda t, whole: t * (whole - t),
    lambda t, whole: np.log1p(t),
    lambda t, whole: np.minimum(t, 0.3),
    lambda t, whole: 0.1 * t,
    lambda t, whole: np.sqrt(t * (whole - t)),
    lambda t, whole: -t * t,
]


@st.composite
def sampled_masses(draw: st.DrawFn) -> Defined:
    """Smooth functions, sampled at every mass."""
    given, phi = draw(groups(ELEMENTS, most=2)), draw(st.sampled_from(SMOOTH))
    pointers, members = csr(given)
    masses = draw(numbers(members.size))
    parts = [(g, rational(m)) for g, m in zip(given, split(masses, given), strict=True)]
    term = accepted(lambda: sm.ConcaveOfModular.sampled(pointers, members, masses, phi))

    def value(mask: np.ndarray, group: list[int], mass: list[Fraction]) -> Fraction:
        t = np.array([float(chosen(mask, group, mass))])
        return Fraction(float(phi(t, float(sum(mass)))[0]))

    return _of_masses(term, parts, value)


@st.composite
def concave_masses(draw: st.DrawFn) -> Defined:
    """Piecewise-linear functions, some of whose breakpoints are masses or next to them."""
    given = draw(groups(ELEMENTS, most=2))
    pointers, members = csr(given)
    masses = draw(numbers(members.size))
    points = np.unique(np.concatenate([[0.0, 1.0], draw(numbers(3)), np.cumsum(masses)[:2]]))
    slopes = -np.sort(-draw(numbers(points.size - 1, negative=True)))
    heights = np.concatenate([[0.0], np.cumsum(slopes * np.diff(points))])
    parts = [(g, rational(m)) for g, m in zip(given, split(masses, given), strict=True)]
    term = accepted(lambda: sm.ConcaveOfModular(pointers, members, masses, points, heights))
    at, exact = rational(points), rational(heights)

    def value(mask: np.ndarray, group: list[int], mass: list[Fraction]) -> Fraction:
        t = Fraction(float(chosen(mask, group, mass)))
        k = min(bisect_right(at, t) - 1, len(at) - 2)
        slope = (exact[k + 1] - exact[k]) / (at[k + 1] - at[k])
        return exact[k] + slope * (t - at[k])

    return _of_masses(term, parts, value)


def _of_masses(term: Term, parts: list, value: Callable[..., Fraction]) -> Defined:
    def largest(group: list[int], mass: list[Fraction]) -> Fraction:
        masks = np.zeros((2 ** len(group), ELEMENTS), dtype=np.bool_)
        masks[:, group] = (np.arange(len(masks))[:, None] >> np.arange(len(group))) & 1 == 1
        return max(abs(value(mask, group, mass)) for mask in masks)

    return Defined(
        term,
        lambda mask: sum((value(mask, *part) for part in parts), Fraction(0)),
        sum((largest(*part) for part in parts), Fraction(0)),
    )


@st.composite
def tables(draw: st.DrawFn) -> Defined:
    """Tables of three elements: a cubic and pairs, summed up in floats; large ones cancel."""
    rows, members = draw(st.integers(1, 3)), np.array([[0, 1, 2], [1, 2, 3], [3, 0, 1]])
    linear = draw(numbers(3 * rows, negative=True)).reshape(rows, 3)
    pairs, cap = draw(numbers(3 * rows)).reshape(rows, 3), draw(numbers(rows))
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    cut = np.stack([bits[:, i] != bits[:, j] for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    values = linear @ bits.T + pairs @ cut.T.astype(float)
    values += cap[:, None] * np.minimum(bits.sum(axis=1), 1)
    values[:, 0] = 0.0
    term = accepted(lambda: sm.Table(members[:rows], values))
    exact = [rational(row) for row in values]

    def definition(mask: np.ndarray) -> Fraction:
        columns = [int(mask[row] @ [1, 2, 4]) for row in members[:rows]]
        return sum((row[k] for row, k in zip(exact, columns, strict=True)), Fraction(0))

    return Defined(term, definition, sum((max(map(abs, row)) for row in exact), Fraction(0)))


@st.composite
def functions(draw: st.DrawFn) -> Defined:
    """Functions of one's own, tabulated or not, by values or by vertices."""
    k, costs = draw(st.sampled_from([3, 9])), draw(numbers(9, negative=True))

    def evaluate(mask: np.ndarray) -> float:
        return float(np.sum(costs[: mask.size][mask]))

    term = accepted(lambda: sm.Function(range(k), evaluate))
    return Defined(
        term, lambda mask: Fraction(evaluate(mask[:k])), sum(map(abs, rational(costs)), Fraction(0))
    )


def accepted(make: Callable[[], Term]) -> Term:
    """Make a term; data that rounding made convex, or slopes that overflow, are no examples."""
    try:
        return make()
    except ValueError as refusal:
        assume(not any(word in str(refusal) for word in ("concave", "submodular", "overflow")))
        raise


DEFINED: dict[str, list[st.SearchStrategy[Defined]]] = {
    "cut": [cuts(grid=False)],
    "grid_cut": [cuts(grid=True)],
    "cardinality": [cardinalities()],
    "hyperedge": [hyperedges()],
    "truncation": [truncations()],
    "concave_of_modular": [sampled_masses(), concave_masses()],
    "table": [tables()],
    "function": [functions()],
}
