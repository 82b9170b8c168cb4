"""Progress on standard error: a live line on a terminal, a line now and then in a log or notebook.

The live line is rich's where rich is installed, and a plain one elsewhere.  Solves, segmentations
and the command line all report here.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from submin._typing import BoolArray
from submin.solve.driver import Callback
from submin.solve.result import Record, Result

if TYPE_CHECKING:
    from rich.status import Status

SECONDS, GROWTH = 1.0, 0.25
"""Between two lines of a log: at least, and as a part of the time since its start."""
WIDTH = 79
CLOSED = 1e-12
"""Gap, as a part of the value, that rounding errors can make or hide."""
NAN = float("nan")


class Display(Protocol):
    """Where progress is shown."""

    def show(self, line: str) -> None:
        """Show a line until the next one."""
        ...

    def keep(self, line: str) -> None:
        """Show a line to stay."""
        ...


class Log:
    """Lines to be kept, and of the others one each second, and less often as time goes by."""

    def __init__(self) -> None:
        self.started = self.written = time.perf_counter()

    def show(self, line: str) -> None:
        """Write a line if it is time for one."""
        now = time.perf_counter()
        if now - self.written >= max(SECONDS, GROWTH * (now - self.started)):
            self.keep(line)

    def keep(self, line: str) -> None:
        """Write a line."""
        self.written = time.perf_counter()
        if sys.stderr is not None:  # a windowed interpreter has none
            print(line, file=sys.stderr, flush=True)


class PlainLine:
    """A line of a terminal that is written over."""

    def __init__(self) -> None:
        self.open = False

    def show(self, line: str) -> None:
        """Write over the line."""
        self.open = True
        sys.stderr.write(f"\r{line:<{WIDTH}}")
        sys.stderr.flush()

    def keep(self, line: str) -> None:
        """Write over the line and begin a new one."""
        self.show(line)
        self.end()

    def end(self) -> None:
        """Begin a new line if one is shown."""
        if self.open:
            sys.stderr.write("\n")
        self.open = False


class LiveLine:
    """A line of rich, with a spinner; lines to be kept go above it."""

    def __init__(self, status: Status) -> None:
        self.status = status

    def show(self, line: str) -> None:
        """Replace the line."""
        from rich.text import Text

        self.status.update(Text(line))

    def keep(self, line: str) -> None:
        """Print a line above the live one."""
        from rich.text import Text

        self.status.console.print(Text(line))


@contextmanager
def displaying(progress: bool) -> Iterator[Display | None]:
    """Yield the display that suits standard error, or None without progress."""
    if not progress:
        yield None
    elif not _is_live():
        yield Log()
    else:
        with _live_display() as display:
            yield display


def _is_live() -> bool:
    """Say whether standard error can be drawn on; a pipe, a file and a dumb terminal can not."""
    live = sys.stderr is not None and sys.stderr.isatty()
    return live and os.environ.get("TERM", "") not in ("dumb", "unknown")


@contextmanager
def _live_display() -> Iterator[Display]:
    try:
        from rich.console import Console
    except ImportError:
        line = PlainLine()
        try:
            yield line
        finally:
            line.end()
        return
    with Console(stderr=True).status("preparing", spinner="line") as status:
        yield LiveLine(status)


def describe(record: Record, gap: float | None = None) -> str:
    """Return one line of a record, of the same width for all records of a solve.

    It leaves room for ``round 12`` and a spinner in 80 columns.  `gap` is that of a certificate, by
    default the difference of value and bound.

    Examples
    --------
    >>> describe(Record(40, 120, 2.96, 3e8, 4e3, 2280098.18, 2276548.18, 79560))
    'pass    40  value   2280098.18  gap 3.55e+03    79560 fixed    3.0 s'
    """
    whole = record.passes >= 1_000.0
    passes = f"{record.passes:.0f}" if whole else f"{record.passes:.4g}"
    gap = record.value - record.lower_bound if gap is None else gap
    return (
        f"pass {passes:>5}  value {record.value:>12.9g}  "
        f"gap {gap:8.2e} {record.fixed:>8d} fixed  "
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


def closing(result: Result) -> Record:
    """Return the last record of a result, with the value, bound and smooth gap of its certificates.

    They have the last word, so that the closing line agrees with the result.
    """
    last = (result.history[-1:] or [Record(0.0, 0, 0.0, NAN, NAN, NAN, NAN)])[0]
    smooth_gap = last.smooth_gap if result.point is None else result.smooth_gap
    return last._replace(smooth_gap=smooth_gap, value=result.value, lower_bound=result.lower_bound)


class Watch:
    """Shows the records of a solve, and closes with what its result says.

    A record whose gap is closed but for rounding is shown at the next one: if there is none, the
    closing line takes its place, with the gap that the certificate allows for rounding.
    """

    def __init__(self, display: Display | None, callback: Callback | None) -> None:
        self.display, self.users = display, callback
        self.waiting: list[str] = []

    @property
    def callback(self) -> Callback | None:
        """The callback of the solve: without a display, the user's own."""
        return self.users if self.display is None else self._report

    def close(self, result: Result) -> None:
        """Keep the closing line."""
        if self.display is not None:
            self.display.keep(self.line(closing(result), result.gap))
            self.waiting.clear()

    def line(self, record: Record, gap: float | None = None) -> str:
        """Return the line of a record."""
        return describe(record, gap)

    def seems_closed(self, record: Record) -> bool:
        """Say whether the closing line may take the place of this one."""
        return record.value - record.lower_bound <= CLOSED * abs(record.value)

    def _report(self, record: Record, members: BoolArray) -> object:
        assert self.display is not None
        lines = [*self.waiting, self.line(record)]
        self.waiting = [lines.pop()] if self.seems_closed(record) else []
        for line in lines:
            self.display.show(line)
        return self.users(record, members) if self.users is not None else None


class PointWatch(Watch):
    """Shows the records of ``prox``, up to its tolerance."""

    def __init__(self, display: Display | None, callback: Callback | None, tol: float) -> None:
        super().__init__(display, callback)
        self.tol = tol

    def line(self, record: Record, gap: float | None = None) -> str:
        """Return the line of a record."""
        return describe_point(record, self.tol)

    def seems_closed(self, record: Record) -> bool:
        """Say whether the closing line may take the place of this one."""
        return record.smooth_gap <= self.tol
