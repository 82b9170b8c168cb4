"""Progress on standard error: a live line where rich is installed, a plain one elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from submin._typing import BoolArray
from submin.driver import Callback
from submin.result import Record

Show = Callable[[str], None]


def describe(record: Record) -> str:
    """Return one line of a record, in plain words."""
    return (
        f"pass {record.passes:g}: value {record.value:.10g}, "
        f"gap {record.value - record.lower_bound:.3g}, {record.fixed} fixed, "
        f"{record.seconds:.1f} s"
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
    """Yield a function that shows a line in place of the last one."""
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


def _plain_line(text: str) -> None:
    sys.stderr.write(f"\r{text:<79}")
    sys.stderr.flush()
