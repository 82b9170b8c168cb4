"""Talking to the user: refusals, tables and JSON.

Answers go to standard output; refusals, and the library's progress, go to standard error.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from submin._json import to_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

USAGE, INTERRUPTED = 2, 130
"""Exit codes: the input was refused; Ctrl-C."""

Rows: TypeAlias = Sequence[tuple[str, str]]


class RefusalError(Exception):
    """A user's mistake, as one sentence."""


@contextmanager
def command() -> Iterator[None]:
    """Run a command: a refusal is one sentence on standard error, other errors keep a traceback."""
    try:
        yield
    except RefusalError as refusal:
        say(str(refusal))
        raise typer.Exit(USAGE) from None
    except KeyboardInterrupt:
        say("interrupted before the answer was written")
        raise typer.Exit(INTERRUPTED) from None


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
    """Mark code that reads a file which the user named."""
    with user_input():
        try:
            yield
        except (LookupError, AttributeError) as error:
            raise ValueError(f"{path} is damaged, or not a submin file: {error!r}") from error
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror or error}") from error


def _file_trouble(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"


def end(interrupted: bool) -> None:
    """End a command that gave its answer: Ctrl-C has an exit code of its own."""
    if interrupted:
        say("interrupted: this is the best answer so far, and its gap is valid")
        raise typer.Exit(INTERRUPTED)


def say(sentence: str) -> None:
    """Write a sentence to standard error."""
    sys.stderr.write(f"submin: {sentence}\n")


def require_writable(path: Path) -> None:
    """Refuse a file that can not be written, before any work is done."""
    if path.is_dir():
        raise RefusalError(f"{path} is a folder: name a file to write")
    try:
        with tempfile.TemporaryFile(dir=path.absolute().parent):
            pass
    except OSError as error:
        raise RefusalError(f"can not write {path}: {error.strerror}") from error


def require_writable_folder(folder: Path, names: Sequence[str] = ("result.npz",)) -> None:
    """Refuse a folder in which files can not be written, without making it."""
    try:
        for name in names:
            if _exists(folder / name) and (folder / name).is_dir():
                raise RefusalError(f"{folder / name} is a folder: a file of that name is written")
        places = (folder, *folder.absolute().parents)
        existing = next(place for place in places if _exists(place))
    except OSError as error:
        raise RefusalError(f"can not write in {folder}: {error.strerror}") from error
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
