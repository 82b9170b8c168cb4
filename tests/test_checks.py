"""Conversions of user input: exact, or refused by argument, index and value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import submin as sm
from submin import _checks
from submin.solvers import comparison

EXACT_TYPES = ["?", "u1", "i1", ">i2", "<i4", ">u4", "i8", "u8", "f2", ">f2", "f4", ">f4", ">f8"]


@pytest.mark.parametrize("dtype", EXACT_TYPES)
def test_real_types_convert_exactly(dtype):
    values = np.array([0, 1, 1, 0]).astype(dtype)
    converted = _checks.float_array("u", values)
    assert converted.dtype == np.float64
    assert converted.dtype.isnative
    assert converted.tolist() == [0.0, 1.0, 1.0, 0.0]


@given(hnp.arrays(st.sampled_from(["u1", "i4", "f2", "f4", ">f8"]), (2, 3)))
def test_conversion_keeps_every_number(values):
    converted = _checks.float_array("u", values)
    assert all(
        a == b or (a != a and b != b)
        for a, b in zip(values.ravel().tolist(), converted.ravel().tolist(), strict=True)
    )


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2"], [1 + 2j], [object()], [None], np.array(["2024-01-01"], dtype="M8[D]"),
        np.array([1], dtype="m8[s]"), np.zeros(2, dtype=[("a", float)]), [b"1"],
    ],
)  # fmt: skip
def test_other_types_are_refused(values):
    with pytest.raises(TypeError, match="u must hold real numbers"):
        _checks.float_array("u", values)


@pytest.mark.parametrize("value", [2**53, -(2**53)])
def test_largest_exact_integers_are_accepted(value):
    assert _checks.float_array("u", [0, value]).tolist() == [0.0, float(value)]


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers_that_would_be_rounded_are_refused(dtype):
    values = np.array([[1, 2], [3, 2**53 + 1]], dtype=dtype)
    with pytest.raises(ValueError, match=r"u\[1, 1\] is 9007199254740993"):
        _checks.float_array("u", values)


def test_negative_integers_that_would_be_rounded_are_refused():
    with pytest.raises(ValueError, match=r"u\[0\] is -9007199254740993"):
        _checks.float_array("u", [-(2**53) - 1])


def test_integers_beyond_64_bits_are_refused():
    with pytest.raises((TypeError, ValueError), match="u"):
        _checks.float_array("u", [2**70])


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no wider float")
def test_long_doubles_beyond_the_largest_float_are_refused():
    with pytest.raises(ValueError, match="u"):
        _checks.float_array("u", np.array([1, np.longdouble("1e4000")]))


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3), (2, 0), (1, 1, 1)])
def test_shapes_are_kept(shape):
    assert _checks.float_array("u", np.zeros(shape)).shape == shape


def test_strided_and_fortran_arrays_become_c_contiguous():
    base = np.arange(24.0).reshape(4, 6)
    for view in (np.asfortranarray(base), base[::2, ::-3], base.T):
        converted = _checks.float_array("u", view)
        assert converted.flags.c_contiguous
        assert converted.tolist() == view.tolist()


def test_read_only_arrays_are_accepted():
    values = np.arange(3.0)
    values.flags.writeable = False
    assert _checks.float_array("u", values).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("value", [3, np.int16(3), np.uint64(3)])
def test_whole_numbers(value):
    found = _checks.whole_number("k", value, 3)
    assert type(found) is int
    assert found == 3


@pytest.mark.parametrize("value", [True, np.True_, 3.0, np.float64(3), "3", None, [3]])
def test_whole_numbers_of_other_types_are_refused(value):
    with pytest.raises(TypeError, match=r"k is .*: it must be a whole number"):
        _checks.whole_number("k", value, 0)


def test_whole_numbers_below_the_limit_are_refused():
    with pytest.raises(ValueError, match="k is -1: it must be 0 or more"):
        _checks.whole_number("k", -1, 0)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda value: comparison.ParallelRCDM(batch=value), "batch"),
        (lambda value: comparison.ParallelACDM(batch=value), "batch"),
        (lambda value: comparison.AndersonSweeps(window=value), "window"),
        (lambda value: sm.MaxFlow(sweeps=value), "sweeps"),
        (lambda value: sm.Layout(sm.Problem([1.0]), threads=value), "threads"),
        (lambda value: sm.minimize(sm.Problem([1.0]), sm.RCDM(seed=value)), "seed"),
    ],
)
def test_settings_that_count_say_the_same(make, name):
    with pytest.raises(TypeError, match=f"^{name} is 1.5: it must be a whole number$"):
        make(1.5)
    with pytest.raises(ValueError, match=rf"^{name} is -1: it must be \d or more$"):
        make(-1)


def test_costs_may_be_infinite_but_not_nan():
    assert _checks.costs("u", [np.inf, -np.inf]).tolist() == [np.inf, -np.inf]
    with pytest.raises(ValueError, match=r"u\[2\] is nan"):
        _checks.costs("u", [1.0, 2.0, np.nan])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e-300])
def test_weights_are_finite_and_not_negative(bad):
    with pytest.raises(ValueError, match=r"w\[1\] is"):
        _checks.weights("w", [0.0, bad])


def test_negative_zero_is_a_weight():
    assert _checks.weights("w", [-0.0]).tolist() == [0.0]


def test_weights_whose_sum_overflows_are_refused():
    with pytest.raises(ValueError, match="w overflows"):
        _checks.weights("w", [1.7e308, 1.7e308])


def test_scalar_refusals_name_the_argument():
    with pytest.raises(ValueError, match=r"w\S* is nan"):
        _checks.weights("w", np.nan)


@pytest.mark.parametrize("values", [[0.0, 1.0], [True], ["0"]])
def test_element_numbers_are_integers(values):
    with pytest.raises(TypeError, match="e must hold integers"):
        _checks.indices("e", values)


def test_element_numbers_are_in_range():
    with pytest.raises(ValueError, match=r"e\[1\] is -1"):
        _checks.indices("e", [0, -1])
    with pytest.raises(ValueError, match=r"e\[1\] is 3"):
        _checks.indices("e", [0, 3], upper=3)
    with pytest.raises(ValueError, match=r"e\[0\] is 2147483647"):
        _checks.indices("e", [2**31 - 1])
    with pytest.raises(ValueError, match=r"e\[0\] is 18446744073709551615"):
        _checks.indices("e", np.array([2**64 - 1], dtype=np.uint64))


def test_no_element_numbers():
    assert _checks.indices("e", []).dtype == np.int32


@pytest.mark.parametrize(("given_shape", "expected"), [(3, (3,)), ((2, 3), (2, 3)), ([4], (4,))])
def test_shape(given_shape, expected):
    assert _checks.shape("shape", given_shape) == expected


def test_numpy_integers_make_a_shape():
    assert _checks.shape("shape", np.array([2, 3], dtype=np.uint8)) == (2, 3)


@pytest.mark.parametrize(
    ("given_shape", "message"),
    [
        (0, r"shape\[0\] is 0"),
        ((2, -1), r"shape\[1\] is -1"),
        ((), "shape is empty"),
        ((2**16, 2**16), "do not fit"),
        (2**40, "do not fit"),
        (np.inf, "shape"),
        (np.nan, "shape"),
    ],
)
def test_shapes_that_are_refused(given_shape, message):
    with pytest.raises((TypeError, ValueError), match=message):
        _checks.shape("shape", given_shape)


@pytest.mark.parametrize("given_shape", [2.5, (2, 2.5), "ab", None])
def test_shapes_of_other_types_are_refused(given_shape):
    with pytest.raises((TypeError, ValueError), match="shape"):
        _checks.shape("shape", given_shape)


MASKED = np.ma.array([1.0, -100.0], mask=[False, True])


@pytest.mark.parametrize(
    "use",
    [
        lambda: sm.Problem(MASKED),
        lambda: sm.Cut([0], [1], np.ma.array([1.0], mask=[True])),
        lambda: sm.Cut(np.ma.array([0], mask=[True]), [1], 1.0),
        lambda: sm.Problem([1.0, 2.0]).evaluate(np.ma.array([True, False], mask=[True, False])),
    ],
)
def test_masked_arrays_are_refused(use):
    """NumPy would read through the mask without a word."""
    with pytest.raises(TypeError, match="is a masked array"):
        use()


def test_grids_have_at_most_eight_axes():
    with pytest.raises(ValueError, match="dimensions is 9: a grid has 1 to 8 axes"):
        sm.GridCut((2,) * 9, 1.0)
    shape = (2, 1, 2, 1, 2, 1, 2, 2)
    unary = np.random.default_rng(0).integers(-3, 4, shape)
    problem = sm.Problem(unary, [sm.GridCut(shape, 1.0)])
    flow, sweeps = sm.minimize(problem), sm.minimize(problem, "accelerated_sweeps")
    assert flow.value == sweeps.value


def test_data_changed_in_place_is_refused_by_name():
    unary, weights = np.array([1.0, -5.0, 2.0]), np.ones(2)
    problem = sm.Problem(unary, [sm.Cut([0, 1], [1, 2], weights)])
    result = sm.minimize(problem)
    weights[1] = np.nan
    for use in (lambda: sm.minimize(problem), lambda: sm.verify(problem, result)):
        with pytest.raises(ValueError, match=r"weights\[1\] is nan: they were changed"):
            use()
    weights[1], unary[2] = 1.0, np.nan
    with pytest.raises(ValueError, match=r"unary\[2\] is nan: it was changed"):
        sm.minimize(problem)
