"""Graphs in the format of METIS.

    NODES EDGES [FORMAT [WEIGHTS]]
    [SIZE] [WEIGHT ...] NEIGHBOUR [WEIGHT] NEIGHBOUR [WEIGHT] ...      a line for each node

The digits of FORMAT say whether nodes have sizes, whether they have weights, and whether edges have
weights; nodes count from 1; each edge stands in the lines of both of its ends; lines that start
with % are comments, and an empty line is a node without neighbours.  Format: Karypis, "METIS: a
software package for partitioning", version 5.1.0, 2013, Section 4.1.
"""

from __future__ import annotations

from itertools import pairwise
from os import PathLike

import numpy as np

from submin import _checks
from submin._typing import BoolArray, FloatArray
from submin.files.graph import Graph, node_count_trouble
from submin.files.rows import Rows, read_rows
from submin.files.text import decimals, write_lines
from submin.files.words import Positions
from submin.terms import Cut

FORMATS = {
    size + weight + edge: (size > 0, weight > 0, edge > 0)
    for size in (0, 100)
    for weight in (0, 10)
    for edge in (0, 1)
}
"""Whether nodes have sizes, nodes have weights, and edges have weights."""


def read_graph(path: str | PathLike[str]) -> Graph:
    """Read an undirected graph of METIS, O(bytes + m log m) for m edges.

    Parameters
    ----------
    path : str or path
        A text file, plain or compressed by gzip.  Weights may have decimals; of several weights of
        each node the first is kept, and sizes are left out.

    Raises
    ------
    ValueError
        If a line is not of the format, the message gives its number; also if an edge stands in the
        line of one end alone, or twice, or with two weights.
    OSError
        If the file can not be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = "3 2 1|2 5|1 5 3 1.5|2 1.5".replace("|", chr(10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.graph")
    ...     _ = path.write_text(text)
    ...     graph = read_graph(path)
    >>> graph.nodes, graph.term.tails, graph.term.heads, graph.term.forward
    (3, array([0, 1], dtype=int32), array([1, 2], dtype=int32), array([5. , 1.5]))
    """
    return graph(read_rows(path))


def graph(rows: Rows) -> Graph:
    """Return the graph that rows of numbers are, one for each node."""
    rows = rows.from_header()
    nodes, edges, (sized, node_weights, edge_weights) = _header(rows)
    skipped = int(sized) + node_weights
    counts = np.diff(rows.pointers[1 : 2 + nodes])
    short = counts < skipped
    if short.any():
        rows.refuse(1 + int(np.argmax(short)), "the sizes or weights of the node are missing")
    first, last = int(rows.pointers[1]), int(rows.pointers[1 + nodes])
    owner = np.repeat(np.arange(nodes), counts)
    column = np.arange(last - first) - np.repeat(rows.pointers[1 : 1 + nodes] - first, counts)
    is_end = (column >= skipped) & ((column - skipped) % (1 + edge_weights) == 0)
    if edge_weights:
        odd = (counts - skipped) % 2 == 1
        if odd.any():
            rows.refuse(1 + int(np.argmax(odd)), "a neighbour without the weight of its edge")
    term = _edges(rows, nodes, edges, owner, column >= skipped, is_end, bool(edge_weights))
    starts = rows.pointers[1 : 1 + nodes] + sized
    weights = rows.values[starts].copy() if node_weights else None
    if weights is not None:
        weighty = np.zeros(last - first, dtype=np.bool_)
        weighty[starts - first] = True
        wrong = weighty & (rows.values[first:last] < 0.0)
        rows.refuse_where(wrong, first, "is no weight of a node: it is negative")
    return Graph(term, nodes, weights)


def _header(rows: Rows) -> tuple[int, int, tuple[bool, int, bool]]:
    nodes, edges, *rest = rows.header(2, 4)
    code, constraints = (*rest, 0, 1)[0], (rest[1] if len(rest) == 2 else 1)
    if code not in FORMATS:
        known = ", ".join(f"{known:03d}" for known in sorted(FORMATS))
        rows.refuse(0, f"the format is {code}, and METIS has {known}")
    sized, weighted, edge_weights = FORMATS[code]
    trouble = node_count_trouble(nodes, int(rows.pointers[-1]))
    if trouble:
        rows.refuse(0, trouble)
    filled = np.flatnonzero(np.diff(rows.pointers))
    if rows.count - 1 < nodes or filled[-1] > nodes:
        rows.refuse(
            min(nodes + 1, rows.count - 1),
            f"the header announces {nodes} nodes, so as many lines, and there are "
            f"{max(int(filled[-1]), min(nodes, rows.count - 1))}: is the file complete?",
        )
    return nodes, edges, (sized, constraints if weighted else 0, edge_weights)


def _edges(
    rows: Rows, nodes: int, edges: int, owner: Positions, listed: BoolArray, is_end: BoolArray,
    weighted: bool,
) -> Cut:  # fmt: skip
    """Return the edges, each of which two lines must have."""
    first = int(rows.pointers[1])
    whole = rows.whole[first : first + owner.size]
    values: FloatArray = rows.values[first : first + owner.size]
    rows.refuse_where(
        is_end & ((whole < 1) | (whole > nodes)), first, f"is not a node between 1 and {nodes}"
    )
    rows.refuse_where(is_end & (whole == owner + 1), first, "is the node of the line itself")
    if weighted:
        rows.refuse_where(
            listed & ~is_end & (values < 0.0), first, "is no weight of an edge: it is negative"
        )
    places = np.flatnonzero(is_end)
    tails, heads = owner[places], whole[places] - 1
    weights = values[places + 1] if weighted else np.ones(places.size)
    _require_both_ways(rows, tails, heads, weights)
    up = tails < heads
    if np.count_nonzero(up) != edges:
        rows.refuse(0, f"the header announces {edges} edges, and there are {np.count_nonzero(up)}")
    if not float(np.sum(weights)) < _checks.LARGEST_SUM:
        raise ValueError(f"{rows.name}: the weights sum to 1e150 or more; scale them down")
    return Cut(tails[up], heads[up], weights[up])


def _require_both_ways(rows: Rows, tails: Positions, heads: Positions, weights: FloatArray) -> None:
    n = 1 + int(max(tails.max(initial=0), heads.max(initial=0)))
    keys, mirrored = tails * n + heads, heads * n + tails
    ascending = np.sort(keys)
    once = bool(np.all(ascending[1:] != ascending[:-1]))
    unweighted = bool(np.all(weights == 1.0))
    if once and unweighted and np.array_equal(ascending, np.sort(mirrored)):
        return  # the orders themselves take several times as long
    order, mirror = np.argsort(keys, kind="stable"), np.argsort(mirrored, kind="stable")
    same = (tails[order][1:] == tails[order][:-1]) & (heads[order][1:] == heads[order][:-1])
    if same.any():
        place = order[1 + int(np.argmax(same))]
        rows.refuse(1 + int(tails[place]), f"node {heads[place] + 1} is twice in the line")
    wrong = (tails[order] != heads[mirror]) | (heads[order] != tails[mirror])
    if wrong.any():
        k = int(np.argmax(wrong))
        forth = (int(tails[order[k]]), int(heads[order[k]]))
        back = (int(heads[mirror[k]]), int(tails[mirror[k]]))
        tail, head = min(forth, back)
        # the smaller pair is missing in the other list
        own, other = (tail, head) if forth < back else (head, tail)
        rows.refuse(
            1 + own, f"node {other + 1} is a neighbour here, but its line lacks node {own + 1}"
        )
    unlike = weights[order] != weights[mirror]
    if unlike.any():
        k = order[int(np.argmax(unlike))]
        rows.refuse(1 + int(tails[k]), f"the edge to node {heads[k] + 1} has another weight there")


def write_graph(path: str | PathLike[str], graph: Graph) -> None:
    """Write an undirected graph of finite weights, O(m log m); parallel edges become one.

    Raises
    ------
    TypeError
        If the graph is not one of undirected edges.
    ValueError
        If a weight is infinite.
    OSError
        If the file can not be written.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.graph")
    ...     write_graph(path, Graph(sm.Cut([0, 1], [1, 2], [5.0, 1.5]), 3))
    ...     path.read_text().split(chr(10))
    ['3 2 001', '2 5', '1 5 3 1.5', '2 1.5', '']
    """
    term = graph.term
    if not isinstance(term, Cut) or term.forward is not term.backward:
        raise TypeError("graph.term must be an undirected Cut: METIS holds nothing else")
    both, _ = term.weights_by_edge()
    _checks.refuse_where("weights", both, ~np.isfinite(both), "METIS holds finite weights")
    n = graph.nodes
    low, high = np.minimum(term.tails, term.heads), np.maximum(term.tails, term.heads)
    pairs, inverse = np.unique(low.astype(np.int64) * n + high, return_inverse=True)
    weights = np.bincount(inverse, both, pairs.size)
    tails = np.concatenate([pairs // n, pairs % n])
    heads = np.concatenate([pairs % n, pairs // n])
    order = np.lexsort((heads, tails))
    pointers = np.searchsorted(tails[order], np.arange(n + 1)).tolist()
    weighted, node_weights = bool((weights != 1.0).any()), graph.node_weights
    words = [str(k) for k in (heads[order] + 1).tolist()]
    if weighted:
        numbers = decimals(np.concatenate([weights, weights])[order])
        words = [f"{end} {number}" for end, number in zip(words, numbers, strict=True)]
    sizes = [] if node_weights is None else decimals(node_weights)
    code = 10 * (node_weights is not None) + weighted
    lines = [f"{n} {pairs.size}" + (f" {code:03d}" if code else "")]
    lines.extend(
        " ".join([*sizes[k : k + 1], *words[start:stop]])
        for k, (start, stop) in enumerate(pairwise(pointers))
    )
    write_lines(path, lines)
