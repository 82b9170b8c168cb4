"""Long arrays in large pages: arrays like all others, and given back when nobody needs them."""

import gc
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from submin import _memory


def resident():
    """Resident bytes; skips where there is no way to know."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("resident bytes are of Linux")
    lines = status.read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


LENGTHS = [0, 1, _memory.LEAST_SIZE - 1, _memory.LEAST_SIZE, 2**18 - 1, 2**18, 2**18 + 1, 700_001]


@pytest.mark.parametrize("size", LENGTHS)
def test_zeros_are_those_of_numpy(size):
    zeros = _memory.zeros(size)
    assert zeros.dtype == np.float64
    assert zeros.flags.writeable
    assert np.array_equal(zeros, np.zeros(size))
    zeros[:] = np.arange(size)
    assert zeros.sum() == size * (size - 1) / 2


@pytest.mark.parametrize("size", LENGTHS)
def test_a_copy_is_equal_and_its_own(size):
    values = np.arange(float(size))
    copy = _memory.copied(values)
    assert np.array_equal(copy, values)
    assert not np.shares_memory(copy, values)


@pytest.mark.parametrize("size", LENGTHS)
def test_zeros_in_used_memory_are_zeros(size):
    for _ in range(3):
        zeros = _memory.zeros(size)
        assert not zeros.any()
        zeros[:] = np.nan
        del zeros


def test_memory_kept_for_the_next_solve_is_bounded():
    for _ in range(3):  # blocks of many sizes, so that most fit none that is kept
        arrays = [_memory.empty(2**18 * k) for k in range(1, 16)]
        for array in arrays:
            array[:] = 1.0
        before = resident()
        del arrays, array
        assert before - resident() > 8 * 2**18 * 120 - 1.1 * 2**26


def test_threads_get_memory_of_their_own():
    def fill(number):
        for size in (2**18, 2**19, 2**18) * 20:
            array = _memory.zeros(size)
            array += number
            if not np.all(array == number):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(fill, range(1, 9)))


def test_views_keep_the_memory():
    view = _memory.zeros(2**19).reshape(2, -1)[1, ::3]
    view += 1.0
    gc.collect()
    others = [_memory.zeros(2**19) for _ in range(4)]
    assert np.all(view == 1.0)
    assert not any(other.any() for other in others)
    assert np.array_equal(pickle.loads(pickle.dumps(view)), view)


def test_memory_is_given_back():
    before = resident()
    for _ in range(50):
        _memory.zeros(2**20)[:] = 1.0
    assert resident() - before < 4 * 2**23


SPARE = """
import resource
from pathlib import Path
from submin import _memory
blocks = [_memory.zeros(2**20) for _ in range(8)]
del blocks
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**21, resource.RLIM_INFINITY))
print(_memory.zeros(2**20 + 2**18).sum())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is of Linux")
def test_memory_that_is_kept_makes_room_for_what_is_asked_for():
    run = subprocess.run([sys.executable, "-c", SPARE], capture_output=True, text=True)
    assert run.stdout.strip() == "0.0", run.stderr


def test_too_much_memory_is_refused():
    with pytest.raises((MemoryError, ValueError)):
        _memory.zeros(2**60)
