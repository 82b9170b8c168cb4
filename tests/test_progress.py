"""Progress: on a terminal, in a log, and its columns."""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pytest

import submin as sm
from submin.progress import describe, describe_point

from .driver_problems import (
    hard_problem,
)


def test_progress_in_a_log_is_the_first_line_and_the_last(capsys):
    result = sm.minimize(hard_problem(), progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == describe(result.history[0])
    assert lines[-1] == describe(result.history[-1])
    assert len(lines) <= 2 + result.seconds


def test_progress_of_prox_is_that_of_its_point(capsys):
    result = sm.prox(hard_problem(), tol=1e-9, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == describe_point(result.history[0], 1e-9)
    assert lines[-1] == describe_point(result.history[-1], 1e-9)
    assert f"x within {np.sqrt(2.0 * result.history[-1].smooth_gap):.2e}" in lines[-1]
    assert len({len(line) for line in lines}) == 1
    assert max(map(len, lines)) < 78  # beside a spinner


def test_progress_without_rich(capsys, monkeypatch):
    real_import = builtins.__import__

    def without_rich(name, *arguments, **keywords):
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return real_import(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    seen = []
    result = sm.minimize(
        hard_problem(), progress=True, callback=lambda record, _: seen.append(record)
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert seen == list(result.history)
    assert err.endswith("\n")
    for record in seen:
        assert describe(record) in err


def test_progress_keeps_its_columns():
    first = sm.Record(0, 0, 0.1, 2e8, 2e5, 2437806.17, 2231806.0, 79560)
    closed = sm.Record(10_000, 9, 1234.5, 0.0, 0.0, -1.0, -1.0, 10_000_000)
    later = sm.Record(7.25, 9, 12.0, 0.0, 0.0, -5.25, -6.5, 0)
    lines = [describe(record) for record in (first, later)]
    assert len({len(line) for line in lines}) == 1
    assert len({line.index("gap") for line in [*lines, describe(closed)]}) == 1
    assert len("| round 12  ") + max(map(len, lines)) <= 80


def test_progress_without_rich_ends_its_line_after_an_error(capsys, monkeypatch):
    real_import = builtins.__import__

    def without_rich(name, *arguments, **keywords):
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return real_import(name, *arguments, **keywords)

    def fail(record, mask):
        raise LookupError("mine")

    monkeypatch.setattr(builtins, "__import__", without_rich)
    with pytest.raises(LookupError):
        sm.minimize(hard_problem(), progress=True, callback=fail)
    assert capsys.readouterr().err.endswith("\n")
