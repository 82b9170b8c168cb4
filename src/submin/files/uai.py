"""Binary Markov random fields in the format of the UAI competitions.

    MARKOV
    VARIABLES
    2 2 ... 2                            the number of states of each variable
    FACTORS
    SIZE VARIABLE ... VARIABLE           for each factor; variables count from 0
    ENTRIES VALUE ... VALUE              for each factor, its last variable changes fastest

Words are separated by white space of any kind.  The values are potentials phi, whose product is a
probability but for a factor: the cost of an assignment is -log of the product, so that the
minimiser is the most probable assignment, and a potential of 0 forbids it.  Format: UAI
Approximate Inference Challenge, 2008, file formats of the evaluation.

A factor of two variables is submodular if and only if phi00 phi11 >= phi01 phi10, that is

    cost00 + cost11 <= cost01 + cost10.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from os import PathLike, fsdecode
from typing import NoReturn

import numpy as np

from submin import _checks
from submin._sums import scatter_sum
from submin._typing import FloatArray
from submin.files.graph import node_count_trouble
from submin.files.text import decimals, refuse, shown, text_blocks, write_lines
from submin.files.words import Positions, Words
from submin.model.problem import Problem
from submin.networks import Network
from submin.terms.cut import Cut

NEARLY = 1e-12
"""Relative difference of products below which they are compared as exact fractions."""


def read_uai(path: str | PathLike[str]) -> Problem:
    """Read a binary model of unary and pairwise submodular factors, O(bytes).

    Element k is variable k.  The least value is -log of the largest product of the potentials, as
    the file gives them; costs are logarithms, so they are rounded.

    Parameters
    ----------
    path : str or path
        A text file of a ``MARKOV`` network, plain or compressed by gzip.

    Raises
    ------
    ValueError
        If a word is not of the format, the message gives its line; if a variable is not binary, a
        factor has more than two variables, is not submodular or forbids everything, with its
        number, from 0.
    OSError
        If the file can not be read.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> text = "MARKOV|2|2 2|2|1 0|2 0 1|2 0.2 0.8|4 3 1 1 3".replace("|", chr(10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.uai")
    ...     _ = path.write_text(text)
    ...     problem = read_uai(path)
    >>> result = sm.minimize(problem)
    >>> result.minimizer, round(float(np.exp(-result.value)), 12)
    (array([ True,  True]), 2.4)
    """
    return _Model(fsdecode(path), Words(b"".join(text_blocks(path)))).problem()


class _Model:
    """The words of a file, read from the front."""

    def __init__(self, name: str, words: Words) -> None:
        self.name, self.words, self.at = name, words, 1
        if not words.starts.size or words[0] != b"MARKOV":
            word = shown(words[0]) if words.starts.size else ""
            self._refuse(0, f"{word!r} stands where MARKOV must: no other model is read")
        self.numbers = words.numbers(np.arange(words.starts.size))
        self._read_variables()
        self._read_scopes()
        self._read_tables()

    def _refuse(self, word: int, reason: str) -> NoReturn:
        lines = self.words.lines
        last = int(lines[-1]) if lines.size else 0
        refuse(self.name, int(lines[word]) if word < lines.size else last, reason)

    def _whole(self, what: str) -> int:
        """Return the next word, a whole number."""
        word = self.at
        if word >= self.numbers.size:
            self._refuse(word, f"the file ends where {what} must be")
        if self.numbers[word] < 0:
            self._refuse(word, f"{shown(self.words[word])!r} stands where {what} must be")
        self.at += 1
        return int(self.numbers[word])

    def _read_variables(self) -> None:
        self.n = self._whole("the number of variables")
        trouble = node_count_trouble(self.n, self.numbers.size)
        if trouble or not self.n:
            self._refuse(1, trouble or "a model needs a variable")
        states = self.numbers[2 : 2 + self.n]
        for k in np.flatnonzero(states != 2)[:1]:
            word = shown(self.words[2 + int(k)])
            self._refuse(2 + k, f"variable {k} has {word} states; only binary ones are read")
        if states.size < self.n:
            self._refuse(2 + self.n, f"{self.n} variables, and {states.size} numbers of states")
        self.at = 2 + self.n

    def _read_scopes(self) -> None:
        """Read the variables of each factor; -1 stands for those that it lacks."""
        factors, numbers = self._whole("the number of factors"), self.numbers.tolist()
        if factors > len(numbers):
            self._refuse(self.at - 1, f"{factors} factors are more than the file has words")
        starts, at = [], self.at
        for factor in range(factors):
            size = numbers[at] if at < len(numbers) else self._whole_at(at, factor)
            if not 0 <= size <= 2:
                self._whole_at(at, factor)
                self._refuse(at, f"factor {factor} has {size} variables; 2 are the most")
            starts.append(at)
            at += 1 + size
        if at > len(numbers):
            self._refuse(at, f"the file ends within the variables of factor {factors - 1}")
        self.at, self.scopes = at, np.array(starts, dtype=np.int64)
        self.sizes = self.numbers[self.scopes]
        self.first, self.second = self._variable(1), self._variable(2)
        for factor in np.flatnonzero((self.sizes == 2) & (self.first == self.second))[:1]:
            word = int(self.scopes[factor])
            self._refuse(word, f"factor {factor} has variable {self.first[factor]} twice")

    def _whole_at(self, word: int, factor: int) -> int:
        self.at = word
        return self._whole(f"the number of variables of factor {factor}")

    def _variable(self, position: int) -> Positions:
        present = self.sizes >= position
        words = self.scopes[present] + position
        values = np.full(self.sizes.size, -1, dtype=np.int64)
        values[present] = self.numbers[words]
        wrong = present & ((values < 0) | (values >= self.n))
        for factor in np.flatnonzero(wrong)[:1]:
            word = int(self.scopes[factor]) + position
            self._refuse(
                word,
                f"factor {factor} has {shown(self.words[word])!r}, and variables are 0 to "
                f"{self.n - 1}",
            )
        return values

    def _read_tables(self) -> None:
        """Find the values of each factor, and check that they are finite and at least 0."""
        entries = 2**self.sizes
        places = self.at + np.concatenate([[0], np.cumsum(entries + 1)])
        end, have = int(places[-1]), self.numbers.size
        whole = places[:-1][places[:-1] < have]
        for factor in np.flatnonzero(self.numbers[whole] != entries[: whole.size])[:1]:
            word = int(places[factor])
            self._refuse(
                word, f"factor {factor} has {entries[factor]} values, and the file announces "
                f"{shown(self.words[word])!r}"
            )  # fmt: skip
        if have != end:
            reason = "the file ends within" if have < end else "something follows"
            self._refuse(min(have, end), f"{reason} the values of the last factor")
        self.places = places[:-1] + 1
        self.values = np.where(self.numbers >= 0, self.numbers, np.nan).astype(np.float64)
        other = self.at + np.flatnonzero(self.numbers[self.at :] < 0)
        self.values[other] = self.words.floats(other)
        wrong = ~((self.values >= 0.0) & (self.values < np.inf))
        wrong[: self.at] = False
        for word in np.flatnonzero(wrong)[:1]:
            self._refuse(
                int(word), f"{shown(self.words[int(word)])!r} is no finite number of 0 or more"
            )
        for word in other[self.values[other] == 0.0]:
            if self.words[int(word)].lower().split(b"e")[0].strip(b"+-.0"):
                self._refuse(
                    int(word), f"{shown(self.words[int(word)])!r} is below the least positive float"
                )

    def problem(self) -> Problem:
        """Add up the costs of the factors."""
        constants, own, both = (self._costs(size) for size in (0, 1, 2))
        pairs = np.flatnonzero(self.sizes == 2)
        self._require_submodular(pairs)
        ends = self.first[pairs], self.second[pairs]
        *parts, weights = _split(both)
        variables = np.concatenate([self.first[self.sizes == 1], *ends])
        costs = np.concatenate([own, *parts])
        used = (weights > 0.0).any(axis=0)
        term = Cut(*(end[used] for end in ends), *weights[:, used])
        out, inside = (_sums(variables, costs[:, label], self.n) for label in (0, 1))
        try:
            problem = Problem.from_costs(inside, out, [term] if term.size else [])
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error
        constant = problem.constant + float(np.sum(constants))
        return Problem(problem.unary, problem.terms, constant)

    def _costs(self, size: int) -> FloatArray:
        """Return the costs of all factors of a size, one a row; each allows something."""
        factors = np.flatnonzero(self.sizes == size)
        with np.errstate(divide="ignore"):
            costs: FloatArray = -np.log(
                self.values[self.places[factors][:, None] + np.arange(2**size)]
            )
        costs += 0.0  # no -0.0
        for k in np.flatnonzero(np.isinf(costs).all(axis=1))[:1]:
            factor = int(factors[k])
            self._refuse(int(self.places[factor]), f"factor {factor} is 0 everywhere")
        return costs

    def _require_submodular(self, pairs: Positions) -> None:
        """Compare the products of potentials, as fractions where they are nearly equal."""
        places = self.places[pairs]
        table = self.values[places[:, None] + np.arange(4)].T
        with np.errstate(over="ignore", under="ignore"):
            same, unlike = table[0] * table[3], table[1] * table[2]
            tiny = (np.maximum(same, unlike) < 1e-290) | ~(np.maximum(same, unlike) < 1e290)
            sure = (unlike == 0.0) & ((table[1] == 0.0) | (table[2] == 0.0))
            sure |= ~tiny & (unlike < same * (1.0 - NEARLY))
        for k in np.flatnonzero(~sure):
            values = [self._fraction(int(places[k]) + entry) for entry in range(4)]
            if values[0] * values[3] < values[1] * values[2]:
                words = [shown(self.words[int(places[k]) + entry]) for entry in range(4)]
                self._refuse(
                    int(places[k]),
                    f"factor {pairs[k]} is not submodular: {words[0]} x {words[3]} is less than "
                    f"{words[1]} x {words[2]}",
                )

    def _fraction(self, word: int) -> Fraction:
        return Fraction(self.words[word].decode()) if self.values[word] else Fraction(0)


def _split(tables: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Split pairwise costs into those of each end, shapes (k, 2), and weights, shape (2, k).

    The weights are those of a tail in S alone and of a head in S alone; half of the excess
    w = cost01 + cost10 - cost00 - cost11 each where all costs are finite.  The domain of the rest
    is a lattice: an end is held, or (0, 0) and (1, 1) are allowed.
    """
    tail, head = np.zeros((len(tables), 2)), np.zeros((len(tables), 2))
    weights = np.zeros((2, len(tables)))
    free, allowed = np.ones(len(tables), dtype=np.bool_), np.isfinite(tables)
    neither, tail_only, head_only, both = tables[:, 0], tables[:, 2], tables[:, 1], tables[:, 3]
    for own, other, held in ((tail, head, (0, 1)), (tail, head, (2, 3)),
                             (head, tail, (0, 2)), (head, tail, (1, 3))):  # fmt: skip
        left = [entry for entry in range(4) if entry not in held]
        rows = free & ~allowed[:, held].any(axis=1)
        own[rows, int(held not in ((0, 1), (0, 2)))] = np.inf
        other[rows] = tables[rows][:, left]
        free &= ~rows
    known = np.where(np.isfinite(tables), tables, 0.0)
    finite = free & allowed.all(axis=1)
    with np.errstate(invalid="ignore"):
        half = np.maximum((head_only - neither + tail_only - both) / 2.0, 0.0)
    weights[:, finite] = half[finite]
    a, b, c, d = known.T
    tail[finite, 1] = ((c - a + d - b) / 2.0)[finite]
    head[finite, 1] = ((d - c + b - a) / 2.0)[finite]
    tied = free & ~finite
    weights[0, tied] = np.where(allowed[tied, 2], 0.0, np.inf)
    weights[1, tied] = np.where(allowed[tied, 1], 0.0, np.inf)
    up, down = tied & ~allowed[:, 1] & allowed[:, 2], tied & allowed[:, 1]
    # cost00 + x_i (cost10 - cost00) + x_j (cost11 - cost10), or the same with the ends exchanged
    tail[up, 1], head[up, 1] = (c - a)[up], (d - c)[up]
    tail[down, 1], head[down, 1] = (d - b)[down], (b - a)[down]
    together = tied & ~up & ~down
    tail[together, 1] = (d - a)[together]
    tail[free, 0] += a[free]
    tail[free, 1] += a[free]
    return tail, head, weights


def _sums(variables: Positions, costs: FloatArray, n: int) -> FloatArray:
    """Return the sum of costs at each variable, infinite where one of them is."""
    finite = np.isfinite(costs)
    total = scatter_sum(variables[finite].astype(np.int32), costs[finite], n)
    total[variables[~finite]] = np.inf
    return total


def write_uai(path: str | PathLike[str], problem: Problem) -> None:
    """Write a problem of cuts as a Markov random field, O(n + edges).

    Potentials are exp(-cost), so they are rounded; each factor is scaled to a largest value of 1.
    The format has no constant, and the least value is lost but for it.

    Raises
    ------
    TypeError
        If a term is neither a ``Cut`` nor a ``GridCut``.
    ValueError
        If a cost is so large that its potential would be rounded to 0, which forbids.
    OSError
        If the file can not be written.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.uai")
    ...     write_uai(path, sm.Problem([-np.inf, 0.0], [sm.Cut([0], [1], 2.0)]))
    ...     path.read_text().split(chr(10))[-4:-1]
    ['2 0 1', '2 1 1', '4 1 0.1353352832366127 0.1353352832366127 1']
    """
    network = Network.from_problem(problem)
    m, n, unary = network.tails.size - problem.n, problem.n, problem.unary.ravel()
    own = np.stack([np.minimum(unary, 0.0), -np.maximum(unary, 0.0)], axis=1)
    zero = np.zeros(m)
    pair = np.stack([zero, -network.reverse_capacities[:m], -network.capacities[:m], zero], axis=1)
    singles, pairs = _potentials(own), _potentials(pair)
    ends = zip(network.tails[:m].tolist(), network.heads[:m].tolist(), strict=True)
    write_lines(path, [
        "MARKOV", str(n), " ".join(["2"] * n), str(n + m),
        *(f"1 {k}" for k in range(n)), *(f"2 {tail} {head}" for tail, head in ends),
        *_rows("2", singles), *_rows("4", pairs),
    ])  # fmt: skip


def _potentials(logarithms: FloatArray) -> FloatArray:
    potentials: FloatArray = np.exp(logarithms)
    lost = (potentials < np.finfo(np.float64).tiny) & np.isfinite(logarithms)
    _checks.refuse_where("cost", -logarithms, lost, "its potential exp(-cost) would be 0")
    return potentials


def _rows(start: str, values: FloatArray) -> Iterable[str]:
    words, width = decimals(values.ravel()), values.shape[1]
    return (" ".join([start, *words[k : k + width]]) for k in range(0, len(words), width))
