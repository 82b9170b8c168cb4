"""The width of the vectors: chosen by the environment, and without influence on any bit."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from submin.kernels import chains as reference

from .chain_blocks import results

native = pytest.importorskip("submin.kernels.native")

WIDTHS = ["portable", "avx2", "avx512"]
RESULTS = """
import sys
import numpy as np
from submin.kernels import native
sys.path.insert(0, sys.argv[1])
from chain_blocks import results
np.savez(sys.argv[2], **results(native, int(sys.argv[3])))
print(native.vector_width())
"""


def run(width, program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=dict(os.environ, SUBMIN_VECTORS=width, SUBMIN_KERNELS="native"),
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def results_of(width, folder, threads):
    """Results of a new process with this width; skips where the machine lacks it."""
    path = folder / "results.npz"
    process = run(width, RESULTS, str(Path(__file__).parent), str(path), str(threads))
    if f"{width}" not in machine_widths():
        assert "SUBMIN_VECTORS must be one of those that this machine has" in process.stderr
        pytest.skip(f"this machine has no {width} vectors")
    assert process.stdout.strip() == width, process.stderr
    with np.load(path) as archive:
        return dict(archive)


def machine_widths():
    return WIDTHS[: WIDTHS.index(widest()) + 1]


def widest():
    return run("", "from submin.kernels import native; print(native.vector_width())").stdout.strip()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("width", WIDTHS)
def test_chains_have_the_same_bits_for_any_width(width, threads, tmp_path):
    """And so have the signs of zeros; smooth chains exhaust the budget of steps everywhere."""
    expected = results(native, 1)
    found = results_of(width, tmp_path, threads)
    assert found.keys() == expected.keys()
    different = [name for name in expected if found[name].tobytes() != expected[name].tobytes()]
    assert different == []


@pytest.mark.parametrize("width", WIDTHS)
def test_chains_of_any_width_agree_with_the_twin(width, tmp_path):
    found = results_of(width, tmp_path, 1)
    for name, twin in results(reference, 1).items():
        scale = 1 + np.abs(twin).max()
        np.testing.assert_allclose(found[name], twin, rtol=0, atol=2e-12 * scale, err_msg=name)


def test_unknown_width():
    process = run("sse9", "from submin import kernels")
    assert process.returncode != 0
    assert "ValueError: SUBMIN_VECTORS must be one of those that this machine has" in process.stderr
    assert "not sse9" in process.stderr
