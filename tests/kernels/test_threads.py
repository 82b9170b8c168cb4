"""The thread pool: same bits for any number of threads, several callers, forked children."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from .large_blocks import CASES

native = pytest.importorskip("submin.kernels.native")

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)


@each_case
@pytest.mark.parametrize("threads", [0, 2, 3, 8])
def test_same_bits_for_any_number_of_threads(case, threads):
    for alone, together in zip(case(native, 1), case(native, threads), strict=True):
        np.testing.assert_array_equal(together, alone)


def test_several_python_threads():
    """Callers who find the pool busy work alone and get the same answer."""
    expected = [case(native, 1) for case in CASES]
    with ThreadPoolExecutor(4) as executor:
        results = list(executor.map(lambda case: case(native, 3), CASES * 5))
    for result, wanted in zip(results, expected * 5, strict=True):
        for array, other in zip(result, wanted, strict=True):
            np.testing.assert_array_equal(array, other)


SWEEP = """
import os
import numpy as np
from submin.kernels import native

def sweep():
    geometry = np.array([2, 200, 400, 800, 1, 800, 1, 0, 0, 400])
    flow, s, weights = np.zeros(399 * 400), np.arange(160_000.0) % 7, np.ones(1)
    native.grid_sweep(geometry, weights, weights, flow, s, 3)
    return s

before = sweep()
"""

FORK = """
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(sweep(), before) else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert np.array_equal(sweep(), before)
"""


def run(program):
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_starts_its_own_threads():
    run(SWEEP + FORK)


def test_process_ends_with_idle_workers():
    run(SWEEP)
