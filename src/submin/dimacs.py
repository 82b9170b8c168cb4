"""Read maximum-flow problems in the DIMACS format.

By the max-flow min-cut theorem the largest flow from source to sink equals the least

    F(S) = sum over arcs (i, j) with i in S, j not in S of capacity(i, j)

over the sets S of nodes that hold the source and not the sink.  Format: Johnson & McGeoch (eds.),
"Network Flows and Matching: First DIMACS Implementation Challenge", 1993, doi:10.1090/dimacs/012.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike, fspath

import numpy as np

from submin._checks import LARGEST_EXACT_INTEGER, LARGEST_INDEX
from submin._sums import scatter_sum
from submin.networks import Network
from submin.problem import Problem
from submin.terms.cut import Cut


def read_dimacs(path: str | PathLike[str]) -> Problem:
    """Read a minimum-cut problem, O(nodes + arcs).

    Element k is node k + 1 of the file.  The source has unary -inf, the sink +inf; their arcs
    become unaries and a constant, so the least value is the largest flow.

    Parameters
    ----------
    path : str or path
        A text file of lines ``p max NODES ARCS``, ``n NODE s``, ``n NODE t``,
        ``a TAIL HEAD CAPACITY`` and comments ``c``.

    Raises
    ------
    ValueError
        If a line is not of the format; the message gives its number.
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


def _read(path: str | PathLike[str]) -> _Network:
    network = _Network(fspath(path))
    with open(path, encoding="utf-8", errors="replace") as lines:
        network.read(lines)
    return network


@dataclass
class _Network:
    """What the lines read so far say."""

    name: str
    nodes: int = 0
    arcs: int = 0
    terminals: dict[str, int] = field(default_factory=dict)
    tails: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    capacities: list[float] = field(default_factory=list)

    def read(self, lines: Iterable[str]) -> None:
        """Take in every line, and check that nothing is missing."""
        for number, line in enumerate(lines, 1):
            try:
                self._read_line(line.split())
            except ValueError as error:
                raise ValueError(f"{self.name}, line {number}: {error}") from error
        for kind, word in (("s", "source"), ("t", "sink")):
            if kind not in self.terminals:
                raise ValueError(f"{self.name} names no {word}: a line 'n NODE {kind}' is missing")
        if self.terminals["s"] == self.terminals["t"]:
            node = self.terminals["s"] + 1
            raise ValueError(f"{self.name} has node {node} for source and sink: give two nodes")
        if len(self.tails) != self.arcs:
            raise ValueError(
                f"{self.name} announces {self.arcs} arcs and has {len(self.tails)}: "
                "is the file complete?"
            )

    def _read_line(self, words: list[str]) -> None:
        match words:
            case [] | ["c", *_]:
                pass
            case ["p", "max", nodes, arcs]:
                self.nodes, self.arcs = int(nodes), int(arcs)
                if self.nodes > LARGEST_INDEX:
                    raise ValueError(f"{nodes} nodes are more than {LARGEST_INDEX}")
            case ["n", node, "s" | "t" as kind] if kind not in self.terminals:
                self.terminals[kind] = self._node(node)
            case ["a", tail, head, capacity]:
                self.tails.append(self._node(tail))
                self.heads.append(self._node(head))
                self.capacities.append(_capacity(capacity))
            case _:
                raise ValueError(
                    f"{' '.join(words)[:40]!r} is not a line of a DIMACS max-flow file"
                )

    def _node(self, word: str) -> int:
        if not 1 <= int(word) <= self.nodes:
            raise ValueError(f"node {word} is not between 1 and the number of nodes, {self.nodes}")
        return int(word) - 1

    def network(self) -> Network:
        """Return all arcs."""
        source, sink = self.terminals["s"], self.terminals["t"]
        return Network(self.tails, self.heads, self.capacities, source, sink, nodes=self.nodes)

    def problem(self) -> Problem:
        """Fold the arcs of source and sink into unaries; arcs that no cut can count drop out."""
        source, sink = self.terminals["s"], self.terminals["t"]
        tails, heads = np.array(self.tails, dtype=np.int32), np.array(self.heads, dtype=np.int32)
        capacities = np.array(self.capacities, dtype=np.float64)
        useful = (tails != heads) & (heads != source) & (tails != sink)
        out, into = useful & (tails == source), useful & (heads == sink)
        unary = scatter_sum(tails[into], capacities[into], self.nodes)
        unary -= scatter_sum(heads[out], capacities[out], self.nodes)
        unary[source], unary[sink] = -np.inf, np.inf
        inner = useful & ~out & ~into
        arcs = Cut(tails[inner], heads[inner], capacities[inner], 0.0)
        return Problem(unary, [arcs] if arcs.size else [], float(capacities[out].sum()))


def _capacity(word: str) -> float:
    capacity = float(word)
    if not 0.0 <= capacity < np.inf:
        raise ValueError(f"the capacity {word} is not a finite number of 0 or more")
    if capacity > LARGEST_EXACT_INTEGER and word.isdigit():
        raise ValueError(f"the capacity {word} is beyond 2**53 and would be rounded")
    return capacity
