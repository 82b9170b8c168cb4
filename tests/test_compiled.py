"""Functions that are compiled: C functions by their address, from ctypes, a compiler, Numba."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import threading

import numpy as np
import pytest

import submin as sm
from submin.kernels import reference
from submin.terms.function import Function
from submin.testing import brute_force, check_term

native = pytest.importorskip("submin.kernels.native")

SOURCE = """
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <time.h>

/* min(total, 2), where total is the sum of data over the members */
double capped(const uint8_t *member, int64_t size, void *data) {
  const double *sizes = (const double *)data;
  double total = 0.0;
  for (int64_t k = 0; k < size; ++k)
    if (member[k]) total += sizes ? sizes[k] : 1.0;
  return total < 2.0 ? total : 2.0;
}

/* 0 once another thread has set the flag in data, 1 if none does so for 10 seconds */
double patient(const uint8_t *member, int64_t size, void *data) {
  volatile int64_t *flag = (volatile int64_t *)data;
  struct timespec pause = {0, 10000000};
  for (int wait = 0; wait < 1000 && !*flag; ++wait) nanosleep(&pause, 0);
  return *flag ? 0.0 : 1.0;
}
"""
SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_double, ctypes.POINTER(ctypes.c_uint8), ctypes.c_int64, ctypes.c_void_p
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "capped.c").write_text(SOURCE)
    built = folder / "capped.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", built, folder / "capped.c"], check=True
    )
    return ctypes.CDLL(str(built))


def capped(sizes, sets):
    return np.minimum(sets @ sizes, 2.0)


@pytest.mark.parametrize("k", [5, 11], ids=["tabulated", "by values"])
@pytest.mark.parametrize("by_address", [False, True])
def test_a_c_function_with_data(library, k, by_address) -> None:
    sizes = np.random.default_rng(k).random(k)
    address = ctypes.cast(library.capped, ctypes.c_void_p).value
    term = Function.compiled(range(k), address if by_address else library.capped, sizes)
    check_term(term)
    masks = np.random.default_rng(1).random((20, k)) < 0.5
    for mask in masks:
        assert term.evaluate(mask) == pytest.approx(capped(sizes, mask), rel=1e-14)
    problem = sm.Problem(np.random.default_rng(2).normal(size=k) * 0.5, [term])
    result = sm.minimize(problem)
    assert result.value == pytest.approx(brute_force(problem).minimum, abs=1e-9)
    assert result.gap <= 1e-9


def test_without_data_the_pointer_is_null(library) -> None:
    term = Function.compiled(range(9), library.capped)
    assert [term.evaluate(np.arange(9) < k) for k in range(4)] == [0.0, 1.0, 2.0, 2.0]


def test_the_data_are_those_of_the_array_and_live_as_long_as_the_term(library) -> None:
    term = Function.compiled(range(9), library.capped, np.full(9, 0.25))
    assert term.evaluate(np.ones(9, dtype=bool)) == 2.0
    assert term.evaluate(np.arange(9) < 3) == 0.75


def test_native_calls_against_twin(library) -> None:
    sizes, sets = np.random.default_rng(0).random(7), np.random.default_rng(1).random((30, 7)) < 0.5
    address = ctypes.cast(library.capped, ctypes.c_void_p).value
    found, expected = np.zeros((2, 30))
    for kernels, values in ((native, found), (reference, expected)):
        kernels.evaluate_sets(address, sizes.ctypes.data, sets.view(np.uint8), values)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found, capped(sizes, sets), rtol=1e-14)


def test_a_callback_gets_the_mask_of_the_support() -> None:
    seen = set()

    def evaluate(member, size, data):
        seen.add(tuple(member[:size]))
        return float(bool(sum(member[:size])))

    term = Function.compiled([4, 2, 7], SIGNATURE(evaluate))
    assert seen == {tuple((row >> np.arange(3)) & 1) for row in range(8)}
    assert term.evaluate(np.arange(8) == 2) == 1.0


def test_the_interpreter_lock_is_free_during_a_call(library) -> None:
    """The C function waits until another thread of Python writes to its data."""
    flag = np.zeros(1, dtype=np.int64)
    timer = threading.Timer(0.05, lambda: flag.fill(1))
    timer.start()
    term = Function.compiled([0], library.patient, flag)
    timer.join()
    assert term.evaluate(np.array([True])) == 0.0


def test_numba_functions() -> None:
    numba = pytest.importorskip("numba")
    types = numba.types
    signature = types.float64(types.CPointer(types.uint8), types.int64, types.voidptr)

    @numba.cfunc(signature)
    def root(member, size, data):
        count = 0.0
        for k in range(size):
            count += member[k]
        return count**0.5

    term = Function.compiled(range(10), root)
    check_term(term)
    assert term.evaluate(np.arange(10) < 9) == 3.0


@pytest.mark.parametrize(
    ("function", "data", "error", "message"),
    [
        (0, None, ValueError, "function has the address 0"),
        (SIGNATURE(), None, ValueError, "function has the address 0"),
        (-8, None, ValueError, "function has the address -8"),
        (2**64, None, ValueError, "function has the address 18446744073709551616"),
        (len, None, TypeError, "function is a builtin_function_or_method"),
        (True, None, TypeError, "function is a bool"),
        ("capped", None, TypeError, "function is a str"),
        (SIGNATURE(lambda *_: 0.0), [1.0], TypeError, "data is a list"),
        (SIGNATURE(lambda *_: 0.0), np.ones(8)[::2], ValueError, "data is not C-contiguous"),
        (SIGNATURE(lambda *_: 1.0), None, ValueError, "F is 1.0 at the empty set"),
    ],
)
def test_functions_that_are_refused(function, data, error, message) -> None:
    with pytest.raises(error, match=message):
        Function.compiled(range(9), function, data)


@pytest.mark.parametrize("kernels", [native, reference])
def test_kernels_refuse_null_and_wrong_sizes(kernels) -> None:
    sets = np.zeros((2, 3), dtype=np.uint8)
    with pytest.raises(ValueError, match="null"):
        kernels.evaluate_sets(0, 0, sets, np.zeros(2))
    function = SIGNATURE(lambda *_: 0.0)
    address = ctypes.cast(function, ctypes.c_void_p).value
    with pytest.raises(ValueError, match="out has size 3, expected 2"):
        kernels.evaluate_sets(address, 0, sets, np.zeros(3))
