"""Sums over all groups, and ranks: against exact arithmetic and their twins."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import reference

from .test_cardinality import hard_to_sort

native = pytest.importorskip("submin.kernels.native")

each_kernel_set = pytest.mark.parametrize("kernels", [reference, native], ids=lambda k: k.__name__)


def random_groups(seed):
    """(indptr, members, y): y spans many orders of magnitude, so that sums round."""
    rng = np.random.default_rng(seed)
    indptr = np.append(0, np.cumsum(rng.integers(0, 12, size=rng.integers(1, 5))))
    members = rng.integers(0, 20, size=indptr[-1]).astype(np.int32)
    y = rng.normal(size=members.size) * 10.0 ** rng.integers(-9, 9, size=members.size)
    return rng, indptr, members, y


def exactly(values):
    return [Fraction(float(value)) for value in values]


def positive(values):
    return sum((max(value, Fraction(0)) for value in values), Fraction(0))


def assert_encloses(found, exact, y):
    """The error bound holds, and is far below the rounding errors of a plain sum."""
    total, error = found
    assert abs(Fraction(total) - exact) <= Fraction(error)
    assert error <= 2.0**-50 * (float(exact) + 2.0**-8 * float(np.sum(np.abs(y))))


@each_kernel_set
@given(st.integers(0, 2**32 - 1))
def test_excess_over_counts(kernels, seed):
    rng, indptr, _, y = random_groups(seed)
    costs, exact = [], Fraction(0)
    for start, stop in pairwise(indptr):
        table = rng.normal(size=stop - start + 1) * 1e3
        table[0] = 0.0
        sums = [sum(exactly(-np.sort(-y[start:stop]))[:k], Fraction(0)) for k in range(table.size)]
        exact += max(a - b for a, b in zip(sums, exactly(table), strict=True))
        costs.append(table)
    found = kernels.cardinality_excess(indptr, np.concatenate(costs), y, 1)
    assert_encloses(found, exact, y)


@each_kernel_set
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_excess_over_cut_hyperedges(kernels, seed, directed):
    rng, indptr, _, y = random_groups(seed)
    roles = rng.integers(1, 4, y.size).astype(np.uint8) if directed else np.array([3], np.uint8)
    weights, exact = 1e3 * rng.random(indptr.size - 1), Fraction(0)
    of = np.broadcast_to(roles, y.shape)
    for (start, stop), weight in zip(pairwise(indptr), weights, strict=True):
        values, role = exactly(y[start:stop]), of[start:stop]
        without_tails = positive(v for v, r in zip(values, role, strict=True) if not r & 1)
        heads = sum((v for v, r in zip(values, role, strict=True) if r & 2), Fraction(0))
        others = positive(v for v, r in zip(values, role, strict=True) if not r & 2)
        exact += max(without_tails, heads + others, positive(values) - Fraction(float(weight)))
    found = kernels.hyperedge_excess(indptr, roles, weights, y, 1)
    assert_encloses(found, exact, y)


@each_kernel_set
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_excess_over_truncations(kernels, seed, tight):
    """At a mass that equals the value, only the rounding of y - modular is left."""
    rng, indptr, _, y = random_groups(seed)
    modular = rng.normal(size=y.size)
    masses = np.maximum(y - modular, 0.0) if tight else 1e3 * rng.random(y.size)
    caps, exact = 1e9 * rng.random(indptr.size - 1), Fraction(0)
    for (start, stop), cap in zip(pairwise(indptr), caps, strict=True):
        part = slice(start, stop)
        values = [a - b for a, b in zip(exactly(y[part]), exactly(modular[part]), strict=True)]
        above = positive(a - b for a, b in zip(values, exactly(masses[part]), strict=True))
        exact += max(above, positive(values) - Fraction(float(cap)))
    found = kernels.truncation_excess(indptr, modular, masses, caps, y, 1)
    assert_encloses(found, exact, np.append(y, modular))


def test_excess_of_large_groups_agrees_with_twin():
    rng = np.random.default_rng(0)
    indptr, y = np.array([0, 70_000, 70_001, 90_000]), rng.normal(size=90_000)
    costs = np.concatenate([np.sqrt(np.arange(m + 1.0)) for m in np.diff(indptr)])
    found, twin = (k.cardinality_excess(indptr, costs, y, 2) for k in (native, reference))
    assert found[0] == pytest.approx(twin[0], rel=1e-14)
    assert abs(found[0] - twin[0]) <= found[1] + twin[1]
    parts = [np.abs(y[a:b]) for a, b in pairwise(indptr.tolist())]
    magnitude = sum((part.size + 2) * part.sum() for part in parts)
    assert found[1] <= 2.0**-63 * magnitude + 2.0**-52 * twin[0]  # 2^-63 whatever long double is


def test_overflow_proves_nothing():
    huge = np.full(4, 1.7e308)
    total, error = native.cardinality_excess(np.array([0, 4]), np.zeros(5), huge, 1)
    assert (total, error) == (np.inf, np.inf)


@each_kernel_set
@given(st.integers(0, 2**32 - 1))
def test_counts_and_accumulation(kernels, seed):
    rng, indptr, members, y = random_groups(seed)
    inside, counts = rng.integers(0, 2, 20).astype(np.uint8), np.empty(indptr.size - 1, np.int64)
    kernels.group_counts(indptr, members, inside, counts, 1)
    parts = np.split(inside[members], indptr[1:-1])
    assert counts.tolist() == [int(part.sum()) for part in parts]
    s, expected = np.zeros(20), np.zeros(20)
    kernels.groups_accumulate(members, y, s, 0.5)
    np.add.at(expected, members, 0.5 * y)
    np.testing.assert_array_equal(s, expected)


rng = np.random.default_rng(2)
hard_to_rank = hard_to_sort | {
    "infinite": rng.choice([-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf], size=2000),
    "one upper half": 1.0 + rng.integers(0, 1000, size=2000) * 2.0**-52,
    "few upper halves": rng.integers(-9, 9, size=3000) + rng.integers(0, 9, size=3000) * 2.0**-40,
    "one": np.zeros(1),
    "none": np.zeros(0),
}


@pytest.mark.parametrize("name", hard_to_rank)
def test_ranks_are_those_of_a_stable_sort(name):
    values = hard_to_rank[name]
    found, expected = np.empty((2, values.size), dtype=np.int32)
    native.descending_ranks(values, found)
    reference.descending_ranks(values, expected)
    np.testing.assert_array_equal(found, expected)


def test_arrays_that_do_not_fit_are_refused():
    indptr, members, y = np.array([0, 2]), np.array([0, 3], dtype=np.int32), np.zeros(2)
    out, inside = np.empty(1, dtype=np.int64), np.zeros(4, dtype=np.uint8)
    both = np.array([3], dtype=np.uint8)
    for message, call in {
        r"members\[1\] = 3": lambda: native.groups_accumulate(members, y, np.zeros(3), 1.0),
        "y has size": lambda: native.groups_accumulate(members, y[1:], np.zeros(4), 1.0),
        "members.1. = 3 ": lambda: native.group_counts(indptr, members, inside[:3], out, 1),
        "out has size": lambda: native.group_counts(indptr, members, inside, out[1:], 1),
        "at group 0": lambda: native.group_counts(indptr + 1, members, inside, out, 1),
        "costs has size": lambda: native.cardinality_excess(indptr, y, y, 1),
        "indptr": lambda: native.cardinality_excess(indptr[:0], y, y, 1),
        "weights has size": lambda: native.hyperedge_excess(indptr, both, y, y, 1),
        "roles has size": lambda: native.hyperedge_excess(indptr, both - 1, y[:1], y, 1),
        "caps has size": lambda: native.truncation_excess(indptr, y, y, y, y, 1),
        "masses has size": lambda: native.truncation_excess(indptr, y, y[:1], y[:1], y, 1),
        "modular has size": lambda: native.truncation_excess(indptr, y[:1], y, y[:1], y, 1),
    }.items():
        with pytest.raises(ValueError, match=message):
            call()
