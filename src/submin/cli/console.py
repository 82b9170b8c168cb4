"""Talking to the user: refusals, tables and JSON.

Answers go to standard output; refusals, and the library's progress, go to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import typer

from submin import _files
from submin._json import to_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from submin.labels import LabelResult
    from submin.solve.result import Result

USAGE, INTERRUPTED = 2, 130
"""Exit codes: the input was refused; Ctrl-C."""

Rows: TypeAlias = Sequence[tuple[str, str]]


class RefusalError(Exception):
    """A user's mistake, as one sentence."""


@contextmanager
def command() -> Iterator[None]:
    """Run a command: what the user can mend is one sentence on standard error, with exit code 2.

    That is a refusal, a file that can not be read or written, and a lack of memory.  Other errors
    are faults of the library and keep their traceback.
    """
    try:
        yield
    except RefusalError as refusal:
        _refuse(str(refusal))
    except MemoryError as error:
        _refuse(f"this needs more memory than there is. {error}".rstrip(". "))
    except OSError as error:
        _abandon_broken_output()
        _refuse(_file_trouble(error))
    except KeyboardInterrupt:
        say("interrupted before the answer was written")
        raise typer.Exit(INTERRUPTED) from None


def _refuse(sentence: str) -> NoReturn:
    say(sentence)
    raise typer.Exit(USAGE) from None


def _abandon_broken_output() -> None:
    """Keep the interpreter from writing once more to a standard output that fails."""
    with suppress(AttributeError, ValueError, OSError):  # there is none, or it is no file
        descriptor = sys.stdout.fileno()
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


@contextmanager
def user_input() -> Iterator[None]:
    """Mark code whose errors are about what the user gave, not about the library."""
    try:
        yield
    except OSError as error:
        raise RefusalError(_file_trouble(error)) from error
    except (ImportError, ValueError, TypeError) as error:
        raise RefusalError(str(error)) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Mark code that reads a file which the user named.

    A decoder of foreign bytes may raise any exception, and each means that it can not read them.
    """
    try:
        yield
    except OSError as error:
        raise RefusalError(f"{path}: {error.strerror or error}") from error
    except (ImportError, ValueError, TypeError) as error:
        raise RefusalError(str(error)) from error
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise RefusalError(f"{path} can not be read: {reason}") from error


def _file_trouble(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"


class Ending:
    """Knows whether Ctrl-C was pressed while an answer was written."""

    def __init__(self) -> None:
        self.interrupted = False

    def __call__(self, *_: object) -> None:
        """Note the first Ctrl-C; the next one has its usual effect."""
        self.interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def finishing() -> Iterator[Ending]:
    """Write an answer although Ctrl-C is pressed meanwhile, unless it is pressed twice."""
    ending = Ending()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield ending
        return
    signal.signal(signal.SIGINT, ending)
    try:
        yield ending
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end(result: Result | LabelResult, ending: Ending) -> None:
    """End a command that gave its answer: Ctrl-C has an exit code of its own."""
    if result.interrupted:
        say("interrupted: this is the best answer so far, and its gap is valid")
    elif ending.interrupted:
        say("interrupted when the answer was there: it is complete")
    else:
        return
    raise typer.Exit(INTERRUPTED)


def say(sentence: str) -> None:
    """Write a sentence to standard error, on one line whatever names it quotes."""
    sys.stderr.write(f"submin: {' '.join(sentence.split())}\n")


def require_writable(path: Path) -> None:
    """Refuse a file that can not be written, before any work is done."""
    try:
        _files.require_writable(path)
    except IsADirectoryError as error:
        raise RefusalError(f"{path} is a folder: name a file to write") from error
    except (OSError, ValueError) as error:
        raise RefusalError(f"can not write {path}: {_reason(error)}") from error


def require_writable_folder(folder: Path, names: Sequence[str] = ("result.npz",)) -> None:
    """Refuse a folder in which files can not be written, without making it."""
    try:
        for name in names:
            if _exists(folder / name) and (folder / name).is_dir():
                raise RefusalError(f"{folder / name} is a folder: a file of that name is written")
        places = (folder, *folder.absolute().parents)
        existing = next(place for place in places if _exists(place))
    except (OSError, ValueError) as error:
        raise RefusalError(f"can not write in {folder}: {_reason(error)}") from error
    if not existing.is_dir():
        raise RefusalError(f"can not write in {folder}: {existing} is a file")
    require_writable(existing / "result.npz")


def _exists(path: Path) -> bool:
    """Say whether a path exists; a name that is too long raises, in every version of Python."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


class Begun:
    """Knows whether a solve has begun: a callback that is called when it has."""

    def __init__(self) -> None:
        self.begun = False

    def __call__(self, *_: object) -> None:
        """Note that it has."""
        self.begun = True


@contextmanager
def solving() -> Iterator[Begun]:
    """Yield the callback of a solve; what the library refuses, it refuses before it has begun."""
    begun = Begun()
    try:
        yield begun
    except FloatingPointError as error:  # numbers that are too large, which only a solve shows
        raise RefusalError(str(error)) from error
    except (ImportError, ValueError, TypeError) as error:
        if begun.begun:
            raise
        raise RefusalError(str(error)) from error


def _is_live(console: Console) -> bool:
    """Say whether a terminal can be drawn on; a pipe, a file and a dumb terminal can not."""
    return console.is_terminal and not console.is_dumb_terminal


def print_rows(title: str, rows: Rows) -> None:
    """Print names and values: a table on a terminal, plain lines elsewhere; never cut short."""
    from rich.console import Console

    console = Console()
    if _is_live(console):
        console.print(_table(title, rows))
        return
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        typer.echo(f"{name:<{width}}  {value}")


def _table(title: str, rows: Rows) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left", box=box.ROUNDED, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table


def print_json(fields: Mapping[str, Any]) -> None:
    """Print one JSON object; numbers that JSON does not have are null."""
    typer.echo(to_json(fields, indent=2))
