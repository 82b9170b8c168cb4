"""Answers have the same bits for any width of vectors, any BLAS and any number of threads of it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from . import same_bits

pytest.importorskip("submin.kernels.native")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Problems with their answers here."""
    folder = tmp_path_factory.mktemp("answers")
    assert same_bits.record(folder) > 60
    return folder


def compared(folder, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tests.same_bits", "compare", str(folder)],
        cwd=ROOT, env=dict(os.environ, **environment),
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def test_answers_have_the_same_bits_without_vectors_and_with_one_thread_of_blas(folder):
    process = compared(folder, SUBMIN_VECTORS="portable", OPENBLAS_NUM_THREADS="1")
    assert process.returncode == 0, process.stdout + process.stderr
    assert "portable: " in process.stdout


def test_one_bit_is_noticed(folder, tmp_path):
    for name in ("grid.npz", "grid-ap.answer.npz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    assert same_bits.compare(tmp_path) == (1, [])
    with np.load(tmp_path / "grid-ap.answer.npz") as archive:
        saved = dict(archive)
    saved["x"].ravel()[7] = np.nextafter(saved["x"].ravel()[7], np.inf)
    np.savez(tmp_path / "grid-ap.answer.npz", **saved)
    assert same_bits.compare(tmp_path) == (1, ["grid, ap: x"])


def test_nothing_to_compare_is_a_failure(tmp_path, capsys):
    assert same_bits.main("compare", tmp_path) == 1
    assert ": 0 answers, 0 numbers differ" in capsys.readouterr().out
