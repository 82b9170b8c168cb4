"""Progress: on a terminal, in a log, its columns, and its agreement with the result."""

from __future__ import annotations

import builtins
import io
import time
from contextlib import redirect_stderr
from itertools import pairwise

import numpy as np
import pytest

import submin as sm
from submin.solve import progress
from submin.solve.progress import Log, Watch, closing, describe, describe_point, displaying

from .driver_problems import (
    hard_problem,
)


@pytest.fixture
def clock(monkeypatch):
    """Stop the clock of a log; the list's only number is its time."""
    seconds = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: seconds[0])
    return seconds


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Return a terminal to redirect standard error to."""
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


@pytest.fixture
def without_rich(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *arguments, **keywords):
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return real_import(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.parametrize("settings", [{}, {"max_passes": 2}, {"callback": lambda *_: True}])
def test_a_log_ends_with_what_the_result_says(settings, capsys):
    result = sm.minimize(hard_problem(), "rcdm", progress=True, **settings)
    out, err = capsys.readouterr()
    assert out == ""
    last = err.splitlines()[-1]
    assert last == describe(closing(result), result.gap)
    assert last.split() == [
        "pass", f"{result.passes:.4g}", "value", f"{result.value:.9g}",
        "gap", f"{result.gap:.2e}", f"{result.history[-1].fixed}", "fixed",
        f"{result.seconds:.1f}", "s",
    ]  # fmt: skip
    assert len(err.splitlines()) <= 1 + result.seconds


def test_a_log_of_prox_ends_with_its_point(capsys):
    result = sm.prox(hard_problem(), tol=1e-9, progress=True)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == describe_point(result.history[-1], 1e-9)
    assert f"x within {np.sqrt(2.0 * result.smooth_gap):.2e}" in last
    assert len({len(describe_point(record, 1e-9)) for record in result.history}) == 1
    assert len(last) < 78  # beside a spinner


def test_prox_without_rich_shows_every_point_once(terminal, without_rich):
    with redirect_stderr(terminal):
        result = sm.prox(hard_problem(), tol=1e-9, progress=True)
    lines = [line.rstrip() for line in terminal.getvalue().split("\r")[1:]]
    assert lines == [describe_point(record, 1e-9) for record in result.history]


def test_a_result_without_a_record_has_a_closing_line():
    result = sm.minimize(hard_problem(), "rcdm", max_passes=0)
    result.history.clear()
    line = describe(closing(result), result.gap)
    assert f"{result.value:.9g}" in line
    assert f"gap {result.gap:8.2e}" in line


def test_a_log_writes_a_line_a_second_and_fewer_as_time_goes_by(clock, capsys):
    log = Log()
    for clock[0] in np.arange(0.0, 1000.0, 0.25):
        log.show(f"{clock[0]:g}")
    times = [float(line) for line in capsys.readouterr().err.splitlines()]
    assert times[:4] == [1.0, 2.0, 3.0, 4.0]
    late = [(before, after) for before, after in pairwise(times) if after > 8.0]
    assert all(after - before >= 0.25 * after for before, after in late)
    assert 15 < len(times) < 25


def test_a_log_keeps_lines_at_any_time(clock, capsys):
    log = Log()
    for line in ("first", "second"):
        log.show("not yet")
        log.keep(line)
    clock[0] = 1.5
    log.show("now")
    assert capsys.readouterr().err.splitlines() == ["first", "second", "now"]


def test_a_dumb_terminal_has_a_log(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    with redirect_stderr(terminal), displaying(True) as display:
        assert isinstance(display, Log)


def test_without_progress_nothing_is_shown(capsys):
    with displaying(False) as display:
        assert display is None
    sm.minimize(hard_problem(), callback=lambda *_: None)
    assert capsys.readouterr().err == ""


def test_a_live_line_keeps_the_last_one(terminal):
    pytest.importorskip("rich")
    with redirect_stderr(terminal), displaying(True) as display:
        display.show("[passing]")
        display.keep("[bold] staying")
    assert "[bold] staying\n" in terminal.getvalue()
    with redirect_stderr(terminal):
        result = sm.minimize(hard_problem(), progress=True)
    assert describe(closing(result), result.gap) + "\n" in terminal.getvalue()


def test_progress_without_rich(terminal, without_rich):
    seen = []
    with redirect_stderr(terminal):
        result = sm.minimize(
            hard_problem(), progress=True, callback=lambda record, _: seen.append(record)
        )
    assert seen == list(result.history)
    written = terminal.getvalue()
    assert written.endswith("\n")
    assert written.count("\n") == 1
    lines = [line.rstrip() for line in written.split("\r")[1:]]
    assert lines == [*map(describe, seen[:-1]), describe(closing(result), result.gap)]


def test_a_record_that_seems_closed_waits_for_the_next_one():
    lines = []

    class Display:
        show = keep = staticmethod(lines.append)

    watch = Watch(Display(), None)
    records = [sm.Record(k, k, 0.0, 0.0, 0.0, 4.0, 4.0 - gap) for k, gap in enumerate([1, 0, 0, 2])]
    seen = []
    for record in records:
        watch.callback(record, np.zeros(1, dtype=bool))
        seen.append(len(lines))
    assert seen == [1, 1, 2, 4]
    assert lines == [describe(record) for record in records]


def test_progress_without_rich_ends_its_line_after_an_error(terminal, without_rich):
    def fail(record, mask):
        raise LookupError("mine")

    with redirect_stderr(terminal), pytest.raises(LookupError):
        sm.minimize(hard_problem(), progress=True, callback=fail)
    assert terminal.getvalue().endswith("\n")


def test_progress_keeps_its_columns():
    first = sm.Record(0, 0, 0.1, 2e8, 2e5, 2437806.17, 2231806.0, 79560)
    closed = sm.Record(10_000, 9, 1234.5, 0.0, 0.0, -1.0, -1.0, 10_000_000)
    later = sm.Record(7.25, 9, 12.0, 0.0, 0.0, -5.25, -6.5, 0)
    long = sm.Record(123.4567, 9, 12.0, 0.0, 0.0, -5.25, -6.5, 0)
    lines = [describe(record) for record in (first, later, long)]
    assert len({len(line) for line in lines}) == 1
    assert len({line.index("gap") for line in [*lines, describe(closed)]}) == 1
    assert len("| round 12  ") + max(map(len, lines)) <= 80
    assert len(lines[0]) <= progress.WIDTH


def test_a_program_without_standard_error_shows_nothing(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr", None)
    assert sm.minimize(sm.Problem([1.0, -2.0], [sm.GridCut(2, 1.0)]), progress=True).value == -1.0
    assert capsys.readouterr().out == ""
