"""Progress on standard error: a live line on a terminal, a line each second in a log or notebook.

The live line is rich's where rich is installed, and a plain one elsewhere.
"""

from __future__ import annotations

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


@contextmanager
def reporting(progress: bool, callback: Callback | None) -> Iterator[Callback | None]:
    """Yield a callback that shows each record and then calls the user's."""
    if not progress:
        yield callback
        return
    with _display() as show:

        def report(record: Record, members: BoolArray) -> object:
            show(describe(record))
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
