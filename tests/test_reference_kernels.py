"""NumPy kernels run everything, with the answers of the compiled ones and of enumeration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import submin as sm
from submin.cli.verify import check
from submin.terms import REGISTRY
from submin.testing import brute_force

from .cross_section import answers, problems

for package in ("skimage", "sklearn"):
    pytest.importorskip(package, reason='these tests need pip install "submin[vision]"')


@pytest.fixture(scope="module")
def found() -> dict[str, object]:
    """The answers of the NumPy kernels, of a process without the compiled ones."""
    program = "import sys, runpy; sys.modules['submin._native'] = None; "
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c",
         program + "runpy.run_module('tests.cross_section', run_name='__main__')"],
        env={**os.environ, "SUBMIN_KERNELS": "reference"}, capture_output=True, text=True,
        check=False, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_reference_has_the_answers_of_the_compiled_kernels(found):
    pytest.importorskip("submin.kernels.native")
    expected = json.loads(json.dumps(answers()))
    assert found.pop("kernels") == "reference"
    assert expected.pop("kernels") in {"native", "reference"}
    assert found == expected


def test_the_reference_finds_the_object(found):
    assert found["disc by pixels"] is found["disc by superpixels"] is True


@pytest.mark.parametrize("name", problems())
def test_the_reference_against_enumeration(found, name):
    known = brute_force(problems()[name])
    for way in ("auto", "sweeps", "smallest", "largest", "unswept"):
        if f"{name} {way}" in found:
            value, proved, members = found[f"{name} {way}"]
            assert proved
            assert value == known.minimum
            expected = known.largest if way == "largest" else known.smallest
            assert members in (None, expected.tolist())


def test_a_maximum_flow_is_chosen_with_either_kernel_set(monkeypatch):
    from submin import kernels

    problem = problems()["grid"]
    chosen = sm.describe(problem)
    monkeypatch.setattr(kernels, "active", kernels.reference)
    assert sm.describe(problem) == chosen
    assert "MaxFlow" in chosen


@pytest.mark.parametrize("solve", [sm.minimize, sm.prox])
@pytest.mark.parametrize("kind", [name for name in REGISTRY if name != "function"])
def test_files_of_one_kernel_set_verify_by_the_other(monkeypatch, tmp_path, kind, solve):
    """Sums are in another order, so that the last digits of claims differ."""
    from submin import kernels

    for number, term in enumerate(REGISTRY[kind].examples()):
        unary = np.random.default_rng(number).normal(size=term.elements or 1)
        problem = sm.Problem(unary, [term])
        for solver in ("accelerated_sweeps", "rcdm"):
            result = solve(problem, solver, max_passes=200)
            with monkeypatch.context() as patched:
                patched.setattr(kernels, "active", kernels.reference)
                assert check(problem, result)[1] == []
