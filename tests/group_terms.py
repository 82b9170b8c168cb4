"""Random groups and terms on them, each with F of every set by a plain loop over its definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import strategies as st

import submin as sm
from submin.solvers import REGISTRY
from submin.testing import brute_force

from .problems import SLOW, Part, all_sets, vectors

Groups = list[list[int]]


@st.composite
def groups(draw: st.DrawFn, n: int, least: int = 0, most: int = 3) -> Groups:
    """Up to `most` groups of elements below n, each element at most once in a group."""
    group = st.lists(st.integers(0, n - 1), unique=True, min_size=least, max_size=n)
    return draw(st.lists(group, min_size=1, max_size=most))


def csr(given: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Pointers and members."""
    pointers = np.cumsum([0, *(len(group) for group in given)])
    return pointers, np.array([v for group in given for v in group], dtype=np.int32)


def split(values: np.ndarray, given: Groups) -> list[np.ndarray]:
    """Cut an array with one entry per incidence into one for each group."""
    return np.split(values, csr(given)[0][1:-1])


def values_of(n: int, function: Callable[[np.ndarray], float]) -> np.ndarray:
    """F of all sets, from a function of one mask."""
    return np.array([function(mask) for mask in all_sets(n)])


@st.composite
def hyperedges(draw: st.DrawFn, n: int) -> Part:
    """Undirected or directed hyperedges."""
    if draw(st.booleans()):
        tails = heads = draw(groups(n))
        weights = draw(vectors(draw(st.booleans()), len(tails), 0.0))
        term = sm.Hyperedge(*csr(tails), weights)
    else:
        tails = draw(groups(n, 1))
        group = st.lists(st.integers(0, n - 1), unique=True, min_size=1, max_size=n)
        heads = draw(st.lists(group, min_size=len(tails), max_size=len(tails)))
        weights = draw(vectors(draw(st.booleans()), len(tails), 0.0))
        term = sm.Hyperedge.directed(*csr(tails), *csr(heads), weights)

    def cost(mask: np.ndarray) -> float:
        cut = [mask[t].any() and not mask[h].all() for t, h in zip(tails, heads, strict=True)]
        return float(weights @ cut)

    return Part(term, values_of(n, cost))


@st.composite
def truncations(draw: st.DrawFn, n: int) -> Part:
    """Truncated masses, with and without a modular part."""
    whole, given = draw(st.booleans()), draw(groups(n))
    pointers, members = csr(given)
    masses = draw(vectors(whole, members.size, 0.0))
    caps = draw(vectors(whole, len(given), 0.0))
    modular = draw(st.sampled_from([0.0, 1.0])) * draw(vectors(whole, members.size))
    term = sm.Truncation(pointers, members, masses, caps, modular)
    parts = list(zip(given, split(masses, given), caps, split(modular, given), strict=True))

    def cost(mask: np.ndarray) -> float:
        return sum(min(m @ mask[g], c) + o @ mask[g] for g, m, c, o in parts)

    return Part(term, values_of(n, cost))


def assert_every_solver(problem: sm.Problem) -> None:
    """Each solver that accepts the problem reaches the minimum that enumeration finds."""
    known, solved = brute_force(problem), 0
    for name in REGISTRY:
        try:
            result = sm.minimize(problem, name, max_passes=2_000)
        except TypeError:
            continue
        solved += 1
        allowed = 1e-7 * (1.0 + abs(known.minimum))
        assert result.lower_bound <= known.minimum + allowed, name
        assert sm.verify(problem, result).value == result.value, name
        if name not in SLOW:
            assert result.value == pytest.approx(known.minimum, abs=allowed), name
            assert result.gap <= allowed, name
        else:
            assert result.value <= known.minimum + 0.1, name
    assert solved >= 10


def extended(t, breakpoints, values):
    """A piecewise-linear function that goes on with its last slope."""
    last = (values[-1] - values[-2]) / (breakpoints[-1] - breakpoints[-2])
    return np.interp(t, breakpoints, values) + last * max(0.0, t - breakpoints[-1])


@st.composite
def concave_families(draw, n):
    """A term with one function for all groups or one for each, and F of all sets."""
    given_groups, whole = draw(groups(n, most=2)), draw(st.booleans())
    pointers, members = csr(given_groups)
    masses = draw(vectors(whole, members.size, 0.0))
    pieces, rows = draw(st.integers(1, 4)), draw(st.sampled_from([1, len(given_groups)]))
    steps = 1.0 + draw(vectors(True, rows * pieces, 0.0)).reshape(rows, pieces)
    slopes = -np.sort(-draw(vectors(whole, rows * pieces)).reshape(rows, pieces), axis=1)
    zero = np.zeros((rows, 1))
    breakpoints = np.hstack([zero, np.cumsum(steps, axis=1)])
    values = np.hstack([zero, np.cumsum(steps * slopes, axis=1)])
    if rows == 1:
        term = sm.ConcaveOfModular(pointers, members, masses, breakpoints[0], values[0])
    else:
        term = sm.ConcaveOfModular(pointers, members, masses, breakpoints, values)
    shared = np.broadcast_to(breakpoints, (len(given_groups), pieces + 1))
    heights = np.broadcast_to(values, shared.shape)
    parts = list(zip(given_groups, split(masses, given_groups), shared, heights, strict=True))
    cost = lambda mask: sum(extended(m @ mask[g], t, v) for g, m, t, v in parts)  # noqa: E731
    return Part(term, values_of(n, cost))
