"""Text files in blocks of whole lines, and refusals that name file and line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from os import PathLike, fsdecode, fspath
from typing import BinaryIO, NoReturn, cast

import numpy as np

from submin._checks import LARGEST_EXACT_INTEGER
from submin._files import whole_file
from submin._typing import FloatArray

BLOCK = 2**22
"""Bytes that are read at a time."""
LONGEST_LINE = 2**24
GZIP, BYTE_ORDER_MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
LONGEST_SHOWN = 40


def text_blocks(path: str | PathLike[str]) -> Iterator[bytes]:
    """Yield a text, plain or compressed by gzip, in blocks of whole lines.

    Raises
    ------
    ValueError
        If the compressed file is damaged, or a line is longer than any text has.
    OSError
        If the file can not be read.
    """
    with open_text(path) as stream:
        rest = stream.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
        while part := stream.read(BLOCK):
            end = part.rfind(b"\n") + 1
            if end:
                yield rest + part[:end]
                rest = part[end:]
            else:
                rest += part
            if len(rest) > LONGEST_LINE:
                raise ValueError(
                    f"{fsdecode(path)} has a line of more than {LONGEST_LINE} bytes: it is no text"
                )
        yield rest


@contextmanager
def open_text(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file, and unpack it if it is compressed by gzip, whatever its name."""
    with open(fspath(path), "rb") as file, _plain(file, fsdecode(path)) as stream:
        yield stream


@contextmanager
def _plain(file: BufferedReader, name: str) -> Iterator[BinaryIO]:
    if not file.peek(2).startswith(GZIP):
        yield file
        return
    try:
        with gzip.open(file) as unpacked:
            yield cast(BinaryIO, unpacked)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{name} is damaged, so gzip can not unpack it: {error}") from error


def refuse(name: str, line: int, reason: str) -> NoReturn:
    """Raise `ValueError` for a line, which is counted from 0 here and from 1 in the message."""
    raise ValueError(f"{name}, line {line + 1}: {reason}")


def shown(word: bytes) -> str:
    """Return a word of a message, cut short."""
    text = word.decode("utf-8", errors="replace")
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."


def decimals(values: FloatArray) -> list[str]:
    """Write numbers so that they are read back exactly, without a point where they are whole.

    Examples
    --------
    >>> decimals(np.array([2.0, 0.5, 1e300]))
    ['2', '0.5', '1e+300']
    """
    whole = (np.abs(values) <= LARGEST_EXACT_INTEGER) & (values == np.rint(values))
    if whole.all():
        return [str(value) for value in values.astype(np.int64).tolist()]
    return [
        str(int(value)) if flag else repr(value)
        for value, flag in zip(values.tolist(), whole.tolist(), strict=True)
    ]


def write_lines(path: str | PathLike[str], lines: Sequence[str]) -> None:
    """Write lines to a file that replaces an old one only once it is complete."""
    with whole_file(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
