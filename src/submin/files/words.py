"""Words and numbers of a text as arrays: what a fast reader of lines needs."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray, FloatArray

MOST_DIGITS = 18
"""Any number of so many digits fits into 64 bits."""
LONGEST_NUMBER = 40
"""Bytes of a number with a point or an exponent, at most."""
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
IN_NUMBERS = np.isin(np.arange(256), list(b"\0+-.0123456789eE"))
NEWLINE, RETURN = ord("\n"), ord("\r")

Positions = npt.NDArray[np.int64]


class Words:
    r"""The words of a text, by line.

    Parameters
    ----------
    text : bytes
        Lines that end in LF, CRLF or CR; the last one may lack its end.

    Attributes
    ----------
    starts, ends : int arrays, shape (words,)
        The first byte of each word, and the byte after its last one.
    lines : int array, shape (words,)
        The number of the line of each word, from 0.
    count : int
        The number of line ends.

    Examples
    --------
    >>> words = Words(b"a 1 22\n\nc")
    >>> words[2], words.lines.tolist(), words.numbers(np.array([0, 1, 2])).tolist()
    (b'22', [0, 0, 0, 2], [-1, 1, 22])
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.bytes = np.frombuffer(text + b"\n", dtype=np.uint8)
        edges = np.flatnonzero(np.diff(self._inside().view(np.int8), prepend=np.int8(0)))
        self.starts, self.ends = edges[::2], edges[1::2]
        line_ends = np.flatnonzero(self._line_ends()[:-1])
        self.count = line_ends.size
        self.lines = np.searchsorted(line_ends, self.starts)

    def _inside(self) -> BoolArray:
        """Say which bytes belong to words: all but those of ASCII white space."""
        white = (self.bytes == ord(" ")) | ((self.bytes >= ord("\t")) & (self.bytes <= RETURN))
        inside: BoolArray = ~white
        return inside

    def _line_ends(self) -> BoolArray:
        line_feed = self.bytes == NEWLINE
        alone = self.bytes == RETURN
        alone[:-1] &= ~line_feed[1:]
        ends: BoolArray = line_feed | alone
        return ends

    def __getitem__(self, word: int) -> bytes:
        return self.text[self.starts[word] : self.ends[word]]

    def line(self, number: int) -> str:
        """Return the words of a line, with one space between two."""
        first, last = np.searchsorted(self.lines, [number, number + 1])
        words = b" ".join(self[word] for word in range(first, min(last, first + 8)))
        return words.decode("utf-8", errors="replace")

    def numbers(self, words: Positions) -> Positions:
        """Return the whole numbers that some words are; -1 for words that are none.

        A whole number here is 1 to 18 digits.
        """
        starts, lengths = self.starts[words], self.ends[words] - self.starts[words]
        values = np.zeros(words.size, dtype=np.int64)
        valid = lengths <= MOST_DIGITS
        last = self.bytes.size - 1
        for place in range(int(lengths[valid].max(initial=0))):
            digits = self.bytes[np.minimum(starts + place, last)] - np.uint8(ord("0"))
            here = valid & (lengths > place)
            valid &= ~here | (digits <= 9)
            np.multiply(values, 10, out=values, where=here)
            np.add(values, digits, out=values, where=here)
        return np.where(valid, values, -1)

    def floats(self, words: Positions) -> FloatArray:
        """Return the decimal numbers that some words are; NaN for words that are none.

        They may have a sign, a point and an exponent, and are rounded to the nearest float64.

        Examples
        --------
        >>> Words(b"-1.5 2e3 inf 0x1").floats(np.arange(4))
        array([-1.5e+00,  2.0e+03,      nan,      nan])
        """
        starts, lengths = self.starts[words], self.ends[words] - self.starts[words]
        width = int(min(lengths.max(initial=1), LONGEST_NUMBER))
        letters = np.zeros((words.size, width), dtype=np.uint8)
        for place in range(width):
            here = np.flatnonzero(lengths > place)
            letters[here, place] = self.bytes[starts[here] + place]
        valid = (lengths <= width) & IN_NUMBERS[letters].all(axis=1)
        texts = letters.view(f"S{width}").ravel()
        values = np.full(words.size, np.nan)
        try:
            values[valid] = texts[valid].astype(np.float64)
        except ValueError:  # there is a word such as "1e"
            for k in np.flatnonzero(valid):
                values[k] = float(texts[k]) if NUMBER.fullmatch(texts[k]) else np.nan
        return values
