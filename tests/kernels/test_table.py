"""Explicit tables: native against twin, both against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from submin.kernels import reference

from .projections import assert_projection, random_submodular

native = pytest.importorskip("submin.kernels.native")


def table_block(rng, arity, count, shared):
    """(members, values, tables, y, s) of ``count`` tables with disjoint members."""
    members = rng.permutation(count * arity + 2)[: count * arity].astype(np.int32)
    values = [random_submodular(rng, arity) for _ in range(1 if shared else count)]
    chosen = rng.permutation(count)[: rng.integers(0, count + 1)].astype(np.int32)
    y = rng.integers(-6, 7, size=count * arity) / 2
    s = rng.integers(-6, 7, size=count * arity + 2) / 2
    return members.reshape(count, arity), np.array(values), chosen, y, s


@st.composite
def table_blocks(draw, largest):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return table_block(
        rng, draw(st.integers(1, largest)), draw(st.integers(1, 4)), draw(st.booleans())
    )


constants = st.sampled_from([1.0, 0.3, 4.0])


@given(table_blocks(7), constants)
def test_project_agrees_with_twin(block, c):
    members, _, tables, *_ = block
    expected, result = np.empty((2, tables.size * members.shape[1]))
    reference.table_project(*block, c, expected, 1)
    native.table_project(*block, c, result, 1)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-11)


@given(table_blocks(7))
def test_sweep_agrees_with_twin(block):
    *fixed, y, s = block
    other_y, other_s = y.copy(), s.copy()
    reference.table_sweep(*fixed, y, s, 1)
    native.table_sweep(*fixed, other_y, other_s, 1)
    np.testing.assert_allclose(other_y, y, rtol=0, atol=1e-11)
    np.testing.assert_allclose(other_s, s, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kernels", [reference, native])
@given(block=table_blocks(5), c=constants)
def test_project_is_the_projection(kernels, block, c):
    members, values, tables, y, s = block
    out = np.empty((tables.size, members.shape[1]))
    kernels.table_project(*block, c, out.reshape(-1), 1)
    for projected, table in zip(out, tables, strict=True):
        a = y.reshape(members.shape)[table] - s[members[table]] / c
        assert_projection(a, projected, values[table if len(values) > 1 else 0])


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(8, 11))
def test_wide_tables(seed, arity):
    block = table_block(np.random.default_rng(seed), arity, 2, False)
    expected, result = np.empty((2, block[2].size * arity))
    reference.table_project(*block, 1.0, expected, 1)
    native.table_project(*block, 1.0, result, 1)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_values_that_are_not_submodular_terminate(arity):
    rng = np.random.default_rng(2)
    members = np.arange(arity, dtype=np.int32)[None]
    for _ in range(50):
        values = np.append(0.0, rng.normal(size=2**arity - 1))[None]
        s, out = rng.normal(size=arity), np.empty(arity)
        y, first = np.zeros(arity), np.zeros(1, dtype=np.int32)
        native.table_project(members, values, first, y, s, 1.0, out, 1)
        assert np.isfinite(out).all()


def least_second_difference(values):
    """The smallest F(A + i) + F(A + j) - F(A) - F(A + i + j), set by set."""
    bits = [1 << b for b in range(values.size.bit_length() - 1)]
    return min(
        (
            (values[base | i] + values[base | j]) - (values[base] + values[base | i | j])
            for i in bits
            for j in bits
            for base in range(values.size)
            if i < j and not base & (i | j)
        ),
        default=np.inf,
    )


@pytest.mark.parametrize("kernels", [reference, native])
@pytest.mark.parametrize("arity", range(7))
def test_second_differences_are_those_of_all_sets(kernels, arity):
    values = np.random.default_rng(arity).normal(size=(6, 1 << arity))
    found = np.zeros(6)
    kernels.table_second_differences(values, found, 1)
    assert found.tolist() == [least_second_difference(row) for row in values]


def test_second_differences_do_not_depend_on_threads():
    values = np.random.default_rng(0).normal(size=(9000, 16))
    one, two = np.zeros((2, 9000))
    native.table_second_differences(values, one, 1)
    native.table_second_differences(values, two, 2)
    assert np.array_equal(one, two)


@pytest.mark.parametrize(("shape", "out"), [((2, 3), 2), ((2, 0), 2), ((2, 4), 3)])
def test_second_differences_refuse_sizes_that_do_not_fit(shape, out):
    with pytest.raises(ValueError, match="has size"):
        native.table_second_differences(np.zeros(shape), np.zeros(out), 1)
