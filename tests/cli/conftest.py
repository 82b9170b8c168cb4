"""Fixtures of the command line's tests: a runner, and small saved files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import submin as sm

testing = pytest.importorskip("typer.testing")

Invoke = Callable[..., Any]


@pytest.fixture
def invoke() -> Invoke:
    """Run the command line in this process; errors that it does not handle are raised."""
    from submin.cli.application import application

    def call(*arguments: object) -> Any:
        words = [str(argument) for argument in arguments]
        return testing.CliRunner().invoke(application, words, catch_exceptions=False)

    return call


@pytest.fixture(scope="session")
def problem() -> sm.Problem:
    """Return a grid that a few passes do not finish."""
    unary = np.random.default_rng(0).normal(size=(12, 15))
    return sm.Problem(unary, [sm.GridCut(unary.shape, 0.4)])


@pytest.fixture
def problem_file(tmp_path: Path, problem: sm.Problem) -> Path:
    path = tmp_path / "problem.npz"
    problem.save(path)
    return path


@pytest.fixture
def result_file(tmp_path: Path, problem: sm.Problem) -> Path:
    """Write a result with a gap, and its problem."""
    path = tmp_path / "stopped.npz"
    result = sm.minimize(problem, "rcdm", max_passes=1)
    assert result.status is sm.Status.STOPPED
    result.save(path, problem)
    return path


@pytest.fixture
def optimal_file(tmp_path: Path, problem: sm.Problem) -> Path:
    path = tmp_path / "optimal.npz"
    sm.minimize(problem).save(path, problem)
    return path


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Change the meta data and arrays of a file in place, as a forger would."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    meta = json.loads(str(arrays.pop("meta")))
    change(meta, arrays)
    np.savez(path, meta=np.array(json.dumps(meta)), **arrays)


def assert_refused(result: Any, *words: str) -> None:
    """Check for exit code 2, one sentence on standard error, and nothing on standard output."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("submin: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr
