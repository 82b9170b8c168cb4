"""Maximum-flow problems in the DIMACS format.

By the max-flow min-cut theorem the largest flow from source to sink equals the least

    F(S) = sum over arcs (i, j) with i in S, j not in S of capacity(i, j)

over the sets S of nodes that hold the source and not the sink.  Format: Johnson & McGeoch (eds.),
"Network Flows and Matching: First DIMACS Implementation Challenge", 1993, doi:10.1090/dimacs/012.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from os import PathLike, fsdecode
from typing import NoReturn

import numpy as np

from submin._checks import LARGEST_EXACT_INTEGER, LARGEST_INDEX, LARGEST_SUM
from submin._sums import scatter_sum
from submin._typing import FloatArray, IndexArray
from submin.files.text import decimals, refuse, shown, text_blocks, write_lines
from submin.files.words import MOST_DIGITS, Positions, Words
from submin.model.problem import Problem
from submin.networks import Network
from submin.terms.cut import Cut

SPARE_NODES = 10**7
"""Nodes without arcs that a file may have; more of them are rather a damaged header."""
LEAST_SURE = 1e-300
"""Larger numbers are no roundings to 0."""
CAPACITY = re.compile(rb"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WRITTEN_OUT = re.compile(rb"\+?\d+\.?0*")
"""An integer with all its digits, which is meant exactly; other numbers are rounded to float64."""
HEADER_FIRST = "the line 'p max NODES ARCS' must come first"
TERMINALS = {b"s": "source", b"t": "sink"}


def read_dimacs(path: str | PathLike[str]) -> Problem:
    """Read a minimum-cut problem, O(nodes + arcs).

    Element k is node k + 1 of the file.  The source has unary -inf, the sink +inf; their arcs
    become unaries and a constant, so the least value is the largest flow.

    Parameters
    ----------
    path : str or path
        A text file, plain or compressed by gzip, of lines ``p max NODES ARCS``, ``n NODE s``,
        ``n NODE t``, ``a TAIL HEAD CAPACITY`` and comments, which start with ``c``.

    Raises
    ------
    ValueError
        If a line is not of the format, the message gives its number; also if integers are beyond
        2**53 and would be rounded.
    OSError
        If the file can not be read.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> text = "p max 4 4|n 1 s|n 4 t|a 1 2 3|a 2 3 2|a 3 4 9|a 1 3 1".replace("|", chr(10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.max")
    ...     _ = path.write_text(text)
    ...     problem = read_dimacs(path)
    >>> sm.minimize(problem).value
    3.0
    """
    return _read(path).problem()


def read_network(path: str | PathLike[str]) -> Network:
    """Read a network for ``max_flow``: the arcs of the file, in their order, O(nodes + arcs).

    Node k is node k + 1 of the file.  Files and errors are those of ``read_dimacs``.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> text = "p max 4 4|n 1 s|n 4 t|a 1 2 3|a 2 3 2|a 3 4 9|a 1 3 1".replace("|", chr(10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.max")
    ...     _ = path.write_text(text)
    ...     network = read_network(path)
    >>> sm.max_flow(network).arcs
    array([2., 2., 3., 1.])
    """
    return _read(path).network()


def write_dimacs(path: str | PathLike[str], problem: Problem | Network) -> None:
    """Write a network, or a problem of cuts as one whose least cut is the minimiser, O(arcs).

    Node k + 1 of the file is node or element k.  Where one element of a problem has unary -inf and
    one has inf, they are source and sink; else these are two more nodes.  The format has no
    infinite capacities, so they become 1 more than the sum of all finite ones, which no minimum
    cut pays if it can do without.  The format has no constant either: an arc from source to sink
    stands for a positive one, and a comment names a negative one, which is to be added to the flow.

    Raises
    ------
    TypeError
        If a term is neither a ``Cut`` nor a ``GridCut``.
    OSError
        If the file can not be written.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.max")
    ...     write_dimacs(path, sm.Problem([-3.0, 2.0], [sm.Cut([0], [1], 1.5, 0.0)]))
    ...     print(path.read_text())
    c value = flow - 3.0
    p max 4 3
    n 3 s
    n 4 t
    a 1 2 1.5
    a 3 1 3
    a 2 4 2
    <BLANKLINE>
    """
    if isinstance(problem, Network):
        _write(path, problem)
        return
    network, finite = Network.from_problem(problem), problem.unary[np.isfinite(problem.unary)]
    shift = math.fsum([problem.constant, *finite[finite < 0.0]])
    arcs = _with_own_terminals(network, problem)
    _write(path, arcs, shift)


def _with_own_terminals(network: Network, problem: Problem) -> Network:
    """Make the elements that are held on either side the terminals, if there is one of each."""
    unary, n = problem.unary.ravel(), problem.n
    sources, sinks = np.flatnonzero(unary == -np.inf), np.flatnonzero(unary == np.inf)
    if sources.size != 1 or sinks.size != 1:
        return network
    name = np.append(np.arange(n), [sources[0], sinks[0]])
    tails, heads = name[network.tails], name[network.heads]
    return Network(
        tails, heads, np.where(tails == heads, 0.0, network.capacities), int(sources[0]),
        int(sinks[0]), np.where(tails == heads, 0.0, network.reverse_capacities), nodes=n,
    )  # fmt: skip


def _write(path: str | PathLike[str], network: Network, shift: float = 0.0) -> None:
    """Write the arcs of positive capacity, and what the value is beside the flow."""
    tails = np.concatenate([network.tails, network.heads, [network.source]])
    heads = np.concatenate([network.heads, network.tails, [network.sink]])
    capacities = np.concatenate([network.capacities, network.reverse_capacities, [max(shift, 0.0)]])
    infinite = np.isinf(capacities)
    capacities[infinite] = math.fsum(capacities[~infinite]) + 1.0
    kept = np.flatnonzero(capacities > 0.0)
    columns = (tails[kept] + 1).tolist(), (heads[kept] + 1).tolist(), decimals(capacities[kept])
    lines = [
        *([f"c value = flow - {-shift!r}"] if shift < 0.0 else []),
        f"p max {network.nodes} {kept.size}",
        f"n {network.source + 1} s", f"n {network.sink + 1} t",
        *(f"a {tail} {head} {word}" for tail, head, word in zip(*columns, strict=True)),
    ]  # fmt: skip
    write_lines(path, lines)


def _read(path: str | PathLike[str]) -> _Lines:
    lines = _Lines(fsdecode(path))
    for block in text_blocks(path):
        lines.read(Words(block))
    lines.require_complete()
    return lines


@dataclass
class _Lines:
    """What the lines read so far say."""

    name: str
    nodes: int | None = None
    arcs: int = 0
    header: int = 0
    lines: int = 0
    terminals: dict[str, int] = field(default_factory=dict)
    tails: list[IndexArray] = field(default_factory=list)
    heads: list[IndexArray] = field(default_factory=list)
    capacities: list[FloatArray] = field(default_factory=list)

    def read(self, words: Words) -> None:
        """Take in the lines of a block: first those that are no arcs, and then all arcs at once."""
        starts = np.flatnonzero(np.diff(words.lines, prepend=-1))
        kinds, alone = words.bytes[words.starts[starts]], words.ends[starts] - words.starts[starts]
        sizes = np.diff(starts, append=words.lines.size)
        arcs = (kinds == ord("a")) & (alone == 1) & (sizes == 4)
        for start in starts[~arcs & (kinds != ord("c"))]:
            self._read_line(words, int(words.lines[start]))
        self._read_arcs(words, starts[arcs])
        self.lines += words.count

    def _refuse(self, line: int, reason: str) -> NoReturn:
        refuse(self.name, self.lines + line, reason)

    def _read_line(self, words: Words, line: int) -> None:
        text = words.line(line)
        match text.encode().split():
            case [b"p", b"max", nodes, arcs] if _is_whole(nodes) and _is_whole(arcs):
                self._read_header(line, int(nodes), int(arcs))
            case [b"n", node, (b"s" | b"t") as kind] if _is_whole(node):
                self._read_terminal(line, int(node), TERMINALS[kind])
            case _:
                self._refuse(line, f"{text[:40]!r} is not a line of a DIMACS max-flow file")

    def _read_header(self, line: int, nodes: int, arcs: int) -> None:
        if self.nodes is not None:
            self._refuse(line, "a second line 'p max NODES ARCS'; a file holds one network")
        if nodes > LARGEST_INDEX:
            self._refuse(line, f"{nodes} nodes are more than {LARGEST_INDEX}")
        if nodes > 2 * arcs + SPARE_NODES:
            self._refuse(
                line,
                f"{nodes} nodes are far more than {arcs} arcs can join; leave out the nodes "
                "without arcs",
            )
        self.nodes, self.arcs, self.header = nodes, arcs, self.lines + line

    def _read_terminal(self, line: int, node: int, role: str) -> None:
        if role in self.terminals:
            self._refuse(line, f"a second {role}; join several of them by arcs to one node")
        self._require_node(line, str(node), 1 <= node <= self._known_nodes(line))
        self.terminals[role] = node - 1

    def _known_nodes(self, line: int) -> int:
        if self.nodes is None:
            self._refuse(line, HEADER_FIRST)
        return self.nodes

    def _require_node(self, line: int, word: str, known: bool) -> None:
        if not known:
            self._refuse(
                line, f"node {word} is not between 1 and the number of nodes, {self.nodes}"
            )

    def _read_arcs(self, words: Words, starts: Positions) -> None:
        if not starts.size:
            return
        first = int(words.lines[starts[0]])
        nodes = self._known_nodes(first)
        if self.lines + first < self.header:
            self._refuse(first, HEADER_FIRST)
        for column, ends in ((1, self.tails), (2, self.heads)):
            numbers = words.numbers(starts + column)
            wrong = (numbers < 1) | (numbers > nodes)
            if wrong.any():
                word = int(starts[np.argmax(wrong)]) + column
                self._require_node(int(words.lines[word]), shown(words[word]), known=False)
            ends.append((numbers - 1).astype(np.int32))
        self.capacities.append(self._read_capacities(words, starts + 3))

    def _read_capacities(self, words: Words, places: Positions) -> FloatArray:
        numbers = words.numbers(places)
        capacities, other = numbers.astype(np.float64), np.flatnonzero(numbers < 0)
        capacities[other] = words.floats(places[other])
        sure = (capacities < LARGEST_EXACT_INTEGER) & (capacities > LEAST_SURE)
        for k in np.flatnonzero(~(sure | (numbers == 0) | (numbers == LARGEST_EXACT_INTEGER))):
            word = words[int(places[k])]
            try:
                capacities[k] = _capacity(word)
            except ValueError as error:
                self._refuse(int(words.lines[places[k]]), f"the capacity {shown(word)} {error}")
        return capacities

    def network(self) -> Network:
        """Return all arcs."""
        return Network(*self._all_arcs(), *self._ends(), nodes=self.nodes)

    def _ends(self) -> tuple[int, int]:
        return self.terminals["source"], self.terminals["sink"]

    def _all_arcs(self) -> tuple[IndexArray, IndexArray, FloatArray]:
        empty = [np.zeros(0, dtype=np.int32)]
        tails, heads = np.concatenate(self.tails or empty), np.concatenate(self.heads or empty)
        return tails, heads, np.concatenate(self.capacities or [np.zeros(0)])

    def problem(self) -> Problem:
        """Fold the arcs of source and sink into unaries; arcs that no cut can count drop out."""
        (source, sink), (tails, heads, capacities) = self._ends(), self._all_arcs()
        useful = (tails != heads) & (heads != source) & (tails != sink)
        out, into = useful & (tails == source), useful & (heads == sink)
        unary, constant = self._terminal_costs(
            np.concatenate([tails[into], heads[out]]),
            np.concatenate([capacities[into], -capacities[out]]),
            capacities[out],
        )
        unary[source], unary[sink] = -np.inf, np.inf
        inner = useful & ~out & ~into
        arcs = Cut(tails[inner], heads[inner], capacities[inner], 0.0)
        return Problem(unary, [arcs] if arcs.size else [], constant)

    def require_complete(self) -> None:
        """Check that nothing is missing."""
        if self.nodes is None:
            raise ValueError(f"{self.name} has no line 'p max NODES ARCS'")
        for kind, role in TERMINALS.items():
            if role not in self.terminals:
                line = f"n NODE {kind.decode()}"
                raise ValueError(f"{self.name} names no {role}: a line {line!r} is missing")
        if self.terminals["source"] == self.terminals["sink"]:
            node = self.terminals["source"] + 1
            raise ValueError(f"{self.name} has node {node} for source and sink: give two nodes")
        arcs = sum(part.size for part in self.tails)
        if arcs != self.arcs:
            raise ValueError(
                f"{self.name} announces {self.arcs} arcs and has {arcs}: is the file complete?"
            )

    def _terminal_costs(
        self, nodes: Positions, costs: FloatArray, constant: FloatArray
    ) -> tuple[FloatArray, float]:
        """Return the sums of the costs at each node, and of the constant.

        Integers are summed exactly.  Sums beyond 2**53 that would be rounded are refused.
        """
        with np.errstate(over="ignore"):
            total = float(np.abs(costs).sum())
        if not total < LARGEST_SUM:
            raise ValueError(f"{self.name}: the capacities at the terminals sum to {total:.2g}, "
                             "which is too large; scale them down")  # fmt: skip
        unary = scatter_sum(nodes.astype(np.int32), costs, self.nodes or 0)
        if total < LARGEST_EXACT_INTEGER or not np.array_equal(costs, np.rint(costs)):
            return unary, math.fsum(constant)
        sums: dict[int, int] = defaultdict(int)
        for node, cost in zip(nodes.tolist(), costs.tolist(), strict=True):
            sums[node] += int(cost)
        for node, exact in sums.items():
            unary[node] = self._exactly(exact, f"the arcs of the terminals at node {node + 1}")
        return unary, self._exactly(sum(map(int, constant.tolist())), "the arcs of the source")

    def _exactly(self, integer: int, place: str) -> float:
        if int(float(integer)) != integer:
            raise ValueError(
                f"{self.name}: {place} sum to {abs(integer)}, which is beyond 2**53 and would be "
                "rounded; scale the capacities down"
            )
        return float(integer)


def _capacity(word: bytes) -> float:
    """Convert a capacity that is not a whole number of at most 2**53."""
    if not CAPACITY.fullmatch(word):
        raise ValueError("is not a finite number of 0 or more")
    capacity, exact = float(word), Decimal(word.decode())
    if capacity == math.inf:
        raise ValueError("is not a finite number of 0 or more")
    if WRITTEN_OUT.fullmatch(word) and Decimal(capacity) != exact:
        raise ValueError("is beyond 2**53 and would be rounded")
    if capacity == 0.0 and exact:
        raise ValueError("is below the least positive float and would be 0")
    return capacity


def _is_whole(word: bytes) -> bool:
    return word.isdigit() and len(word) <= MOST_DIGITS
