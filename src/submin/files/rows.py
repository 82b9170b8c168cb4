"""Lines of numbers, as the files of METIS and hMETIS have them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fsdecode
from typing import NoReturn

import numpy as np

from submin import _checks
from submin._typing import BoolArray, FloatArray
from submin.files.text import refuse, shown, text_blocks
from submin.files.words import Positions, Words

COMMENT = ord("%")


@dataclass
class Rows:
    """The numbers of a file, row by row; an empty line is an empty row, and a comment is none.

    Attributes
    ----------
    name : str
        The file.
    values : float array, shape (numbers,)
        All numbers, which are finite.
    whole : int array, shape (numbers,)
        The same where they are written as digits alone, else -1.
    pointers : int array, shape (rows + 1,)
        Row i has the numbers ``pointers[i]`` to ``pointers[i + 1]``.
    lines : int array, shape (rows,)
        The line of each row, from 0.
    """

    name: str
    values: FloatArray
    whole: Positions
    pointers: Positions
    lines: Positions

    def filled(self) -> Rows:
        """Return the rows that are not empty."""
        sizes = np.diff(self.pointers)
        pointers = np.concatenate([[0], self.pointers[1:][sizes > 0]])
        return Rows(self.name, self.values, self.whole, pointers, self.lines[sizes > 0])

    def from_header(self) -> Rows:
        """Return the rows from the first one on that is not empty."""
        first = int(np.argmax(np.diff(self.pointers) > 0)) if self.count else 0
        pointers, lines = self.pointers[first:], self.lines[first:]
        return Rows(self.name, self.values, self.whole, pointers, lines)

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(self.lines.size)

    def refuse(self, row: int, reason: str) -> NoReturn:
        """Raise `ValueError` for a row."""
        refuse(self.name, int(self.lines[row]), reason)

    def refuse_where(self, wrong: BoolArray, first: int, reason: str) -> None:
        """Refuse the first number, from a position on, at which `wrong` holds."""
        if wrong.any():
            place = first + int(np.argmax(wrong))
            row = int(np.searchsorted(self.pointers, place, side="right")) - 1
            number = self.whole[place] if self.whole[place] >= 0 else self.values[place]
            self.refuse(row, f"{number} {reason}")

    def header(self, least: int, most: int) -> list[int]:
        """Return the whole numbers of the first row."""
        if not self.values.size:
            raise ValueError(f"{self.name} has no line with its numbers of nodes and edges")
        row = self.whole[: self.pointers[1]]
        if not least <= row.size <= most or (row < 0).any():
            self.refuse(0, f"a header has {least} to {most} whole numbers")
        return [int(number) for number in row]


def read_rows(path: str | PathLike[str]) -> Rows:
    """Read all rows, O(bytes).

    Raises
    ------
    ValueError
        If a word is no decimal number, or would be rounded beyond 2**53.
    """
    name, line, parts = fsdecode(path), 0, []
    for block in text_blocks(path):
        words = Words(block)
        parts.append(_block_rows(name, words, line))
        line += words.count
    values, whole, sizes, lines = (
        np.concatenate([part[column] for part in parts]) for column in range(4)
    )
    return Rows(name, values, whole, np.concatenate([[0], np.cumsum(sizes)]), lines)


def _block_rows(
    name: str, words: Words, line: int
) -> tuple[FloatArray, Positions, Positions, Positions]:
    """Return the values, whole numbers, sizes of rows and lines of a block."""
    starts = np.flatnonzero(np.diff(words.lines, prepend=-1))
    sizes, lines = np.diff(starts, append=words.lines.size), words.lines[starts]
    comment = words.bytes[words.starts[starts]] == COMMENT
    places = np.flatnonzero(~np.repeat(comment, sizes))
    whole = words.numbers(places)
    values, other = whole.astype(np.float64), np.flatnonzero(whole < 0)
    values[other] = words.floats(places[other])
    wrong = ~np.isfinite(values) | (whole > _checks.LARGEST_EXACT_INTEGER)
    if wrong.any():
        place = int(places[np.argmax(wrong)])
        reason = "is no decimal number, or too large to be kept exactly"
        refuse(name, line + int(words.lines[place]), f"{shown(words[place])!r} {reason}")
    counts = np.zeros(words.count + (words.text[-1:] not in (b"", b"\n", b"\r")), np.int64)
    counts[lines] = sizes
    kept = np.ones(counts.size, dtype=np.bool_)
    kept[lines[comment]] = False
    return values, whole, counts[kept], line + np.flatnonzero(kept)
