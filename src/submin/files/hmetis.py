"""Hypergraphs in the format of hMETIS.

    HYPEREDGES NODES [FORMAT]
    [WEIGHT] NODE NODE ...          a line for each hyperedge
    WEIGHT                          a line for each node, if the format says so

FORMAT is 1 for weights of hyperedges, 10 for weights of nodes, 11 for both; nodes count from 1;
lines that start with % are comments, and empty lines mean nothing.  Format: Karypis & Kumar,
"hMETIS: a hypergraph partitioning package", version 1.5.3, 1998, Section 3.
"""

from __future__ import annotations

from itertools import pairwise
from os import PathLike

import numpy as np

from submin import _checks
from submin._typing import FloatArray
from submin.files.graph import Graph, node_count_trouble
from submin.files.rows import Rows, read_rows
from submin.files.text import decimals, write_lines
from submin.files.words import Positions
from submin.terms.hyperedge import BOTH, Hyperedge

FORMATS = {0: (False, False), 1: (True, False), 10: (False, True), 11: (True, True)}
"""Whether hyperedges and nodes have weights."""


def read_hypergraph(path: str | PathLike[str]) -> Graph:
    """Read a hypergraph of hMETIS, O(bytes log k) for hyperedges of k nodes.

    Parameters
    ----------
    path : str or path
        A text file, plain or compressed by gzip.  Weights may have decimals.

    Raises
    ------
    ValueError
        If a line is not of the format, the message gives its number.
    OSError
        If the file can not be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = "% two hyperedges|2 4 1|1.5 1 2 3|2 3 4".replace("|", chr(10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.hgr")
    ...     _ = path.write_text(text)
    ...     graph = read_hypergraph(path)
    >>> graph.nodes, graph.term.weights, graph.term.members
    (4, array([1.5, 2. ]), array([0, 1, 2, 2, 3], dtype=int32))
    """
    return hypergraph(read_rows(path))


def hypergraph(rows: Rows) -> Graph:
    """Return the hypergraph that rows of numbers are."""
    rows = rows.filled()
    edges, nodes, weighted, node_weighted = _header(rows)
    first, last = int(rows.pointers[1]), int(rows.pointers[1 + edges])
    starts = rows.pointers[1 : 1 + edges] - first
    is_pin = np.ones(last - first, dtype=np.bool_)
    is_pin[starts[:edges] if weighted else []] = False
    whole, values = rows.whole[first:last], rows.values[first:last]
    rows.refuse_where(
        is_pin & ((whole < 1) | (whole > nodes)), first, f"is not a node between 1 and {nodes}"
    )
    if weighted:
        rows.refuse_where(~is_pin & ~(values >= 0.0), first, "is no weight: it is negative")
    sizes = np.diff(rows.pointers[1 : 2 + edges]) - weighted
    pointers, members = np.concatenate([[0], np.cumsum(sizes)]), whole[is_pin] - 1
    _refuse_twice(rows, np.repeat(np.arange(edges), sizes), members, nodes)
    weights = values[~is_pin] if weighted else np.ones(edges)
    if not float(np.sum(weights)) < _checks.LARGEST_SUM:
        raise ValueError(f"{rows.name}: the weights sum to 1e150 or more; scale them down")
    term = Hyperedge(pointers, members.astype(np.int32), weights)
    return Graph(term, nodes, _node_weights(rows, 1 + edges) if node_weighted else None)


def _header(rows: Rows) -> tuple[int, int, bool, bool]:
    edges, nodes, *code = rows.header(2, 3)
    if code and code[0] not in FORMATS:
        rows.refuse(0, f"the format is {code[0]}, and hMETIS has {', '.join(map(str, FORMATS))}")
    weighted, node_weighted = FORMATS[code[0] if code else 0]
    trouble = node_count_trouble(nodes, int(rows.pointers[-1]))
    if trouble:
        rows.refuse(0, trouble)
    expected = edges + (nodes if node_weighted else 0)
    if rows.count - 1 != expected:
        announced = f"{edges} hyperedges" + (
            f" and {nodes} weights of nodes" if node_weighted else ""
        )
        rows.refuse(
            min(expected + 1, rows.count - 1),
            f"the header announces {announced}, so {expected} lines, and there are "
            f"{rows.count - 1}: is the file complete?",
        )
    return edges, nodes, weighted, node_weighted


def _refuse_twice(rows: Rows, owner: Positions, members: Positions, nodes: int) -> None:
    """Refuse a hyperedge that has a node twice."""
    keys = np.sort(owner * (nodes + 1) + members)
    twice = np.flatnonzero(keys[1:] == keys[:-1])
    if twice.size:
        edge, node = divmod(int(keys[twice[0]]), nodes + 1)
        rows.refuse(1 + edge, f"node {node + 1} is twice in the hyperedge")


def _node_weights(rows: Rows, first: int) -> FloatArray:
    sizes = np.diff(rows.pointers[first:])
    if (sizes != 1).any():
        row = first + int(np.argmax(sizes != 1))
        rows.refuse(row, f"the weight of a node is one number, and here are {sizes[row - first]}")
    start = int(rows.pointers[first])
    rows.refuse_where(rows.values[start:] < 0.0, start, "is no weight of a node: it is negative")
    return rows.values[start:].copy()


def write_hypergraph(path: str | PathLike[str], graph: Graph) -> None:
    """Write an undirected hypergraph of finite weights, O(incidences).

    Raises
    ------
    TypeError
        If the graph is not one of undirected hyperedges.
    ValueError
        If a weight is infinite, or a hyperedge has no members.
    OSError
        If the file can not be written.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.hgr")
    ...     write_hypergraph(path, Graph(sm.Hyperedge([0, 3], [0, 1, 2], 1.0), 4))
    ...     path.read_text().split(chr(10))
    ['1 4', '1 2 3', '']
    """
    term = graph.term
    if not isinstance(term, Hyperedge) or (term.roles != BOTH).any():
        raise TypeError("graph.term must be undirected hyperedges: hMETIS holds nothing else")
    _checks.refuse_where(
        "weights", term.weights, ~np.isfinite(term.weights), "hMETIS holds finite weights"
    )
    empty = np.diff(term.pointers) == 0
    if empty.any():
        raise ValueError(f"hyperedge {int(np.argmax(empty))} has no members: leave it out")
    code = 10 * (graph.node_weights is not None) + bool((term.weights != 1.0).any())
    numbers = (term.members + 1).tolist()
    weights = decimals(term.weights) if code % 10 else []
    lines = [f"{term.weights.size} {graph.nodes}" + (f" {code}" if code else "")]
    lines.extend(
        " ".join([*weights[i : i + 1], *map(str, numbers[start:stop])])
        for i, (start, stop) in enumerate(pairwise(term.pointers.tolist()))
    )
    if graph.node_weights is not None:
        lines.extend(decimals(graph.node_weights))
    write_lines(path, lines)
