"""Progress on standard error: a live line on a terminal, a line each second in a log or notebook.

The live line is rich's where rich is installed, and a plain one elsewhere.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from submin._typing import BoolArray
from submin.driver import Callback
from submin.result import Record

Show = Callable[[str], None]

SECONDS = 1.0
"""Between two lines of a log."""


def describe(record: Record) -> str:
    """Return one line of a record, of the same width for all records of a solve.

    It leaves room for ``round 12`` and a spinner in 80 columns.

    Examples
    --------
    >>> describe(Record(40, 120, 2.96, 3e8, 4e3, 2280098.18, 2276548.18, 79560))
    'pass    40  value   2280098.18  gap 3.55e+03    79560 fixed    3.0 s'
    """
    return (
        f"pass {record.passes:>5.0f}  value {record.value:>12.9g}  "
        f"gap {record.value - record.lower_bound:8.2e} {record.fixed:>8d} fixed  "
        f"{record.seconds:>5.1f} s"
    )


def describe_point(record: Record, tol: float) -> str:
    """Return one line of a record of ``prox``: where its smooth gap is, and where it ends.

    The gap of the set says nothing there: it closes long before x has its digits.

    Examples
    --------
    >>> describe_point(Record(40, 120, 2.96, 8e-4, 4e3, 2280098.18, 2276548.18, 79560), tol=2e-6)
    'pass    40  smooth gap 8.00e-04 (tol 2.00e-06)  x within 4.00e-02    3.0 s'
    """
    distance = math.sqrt(2.0 * abs(record.smooth_gap))
    return (
        f"pass {record.passes:>5.0f}  smooth gap {record.smooth_gap:8.2e} (tol {tol:8.2e})  "
        f"x within {distance:8.2e}  {record.seconds:>5.1f} s"
    )


@contextmanager
def reporting(
    progress: bool, callback: Callback | None, point_tol: float | None = None
) -> Iterator[Callback | None]:
    """Yield a callback that shows each record and then calls the user's.

    With `point_tol`, the tolerance of ``prox``, the records are those of a proximal point.
    """
    if not progress:
        yield callback
        return
    with _display() as show:

        def report(record: Record, members: BoolArray) -> object:
            show(describe(record) if point_tol is None else describe_point(record, point_tol))
            return callback(record, members) if callback is not None else None

        yield report


@contextmanager
def _display() -> Iterator[Show]:
    """Yield a function that shows a line, on a terminal in place of the last one."""
    if not sys.stderr.isatty():
        with _log() as show:
            yield show
        return
    try:
        from rich.console import Console
    except ImportError:
        try:
            yield _plain_line
        finally:
            sys.stderr.write("\n")
        return
    with Console(stderr=True).status("minimising") as status:
        yield status.update


@contextmanager
def _log() -> Iterator[Show]:
    """Yield a function that writes the first line, one each second, and the last."""
    written_at, pending = -float("inf"), ""

    def show(text: str) -> None:
        nonlocal written_at, pending
        pending = text
        if time.perf_counter() - written_at >= SECONDS:
            written_at, pending = time.perf_counter(), ""
            print(text, file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if pending:
            print(pending, file=sys.stderr, flush=True)


def _plain_line(text: str) -> None:
    sys.stderr.write(f"\r{text:<79}")
    sys.stderr.flush()
