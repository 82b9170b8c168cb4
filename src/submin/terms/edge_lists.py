"""Edges of the graphs of other packages, which are told by their methods and never imported."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import FloatArray, IndexArray


class EdgeList(NamedTuple):
    """The edges of a graph; its nodes are numbered in their order, and loops are left out."""

    nodes: list[Hashable]
    tails: IndexArray
    heads: IndexArray
    weights: FloatArray
    directed: bool


def of_networkx(graph: Any, weight: str | None) -> EdgeList:
    """Return the edges of a NetworkX graph, O(nodes + edges)."""
    for method in ("edges", "is_directed", "number_of_nodes"):
        if not hasattr(graph, method):
            raise TypeError(f"graph is a {type(graph).__name__}: give a NetworkX graph")
    nodes = list(graph)
    number = {node: k for k, node in enumerate(nodes)}
    edges = [(number[u], number[v], u, v, data) for u, v, data in graph.edges(data=True)]
    if weight is not None:
        for _, _, u, v, data in edges:
            if weight not in data:
                raise ValueError(
                    f"edge ({u!r}, {v!r}) has no attribute {weight!r}{_others(data)}: "
                    "weight=None weighs all edges by 1"
                )
    weights = [1.0 if weight is None else data[weight] for *_, data in edges]
    ends = [(tail, head) for tail, head, *_ in edges]
    return _edge_list(nodes, ends, weights, directed=bool(graph.is_directed()))


def of_igraph(graph: Any, weight: str | None) -> EdgeList:
    """Return the edges of a graph that has the methods of igraph, O(nodes + edges)."""
    for method in ("vcount", "get_edgelist", "is_directed", "es"):
        if not hasattr(graph, method):
            raise TypeError(f"graph is a {type(graph).__name__}: give a graph of igraph")
    ends = graph.get_edgelist()
    if weight is not None and weight not in graph.es.attributes():
        others = _others(graph.es.attributes())
        raise ValueError(
            f"the edges have no attribute {weight!r}{others}: weight=None weighs all edges by 1"
        )
    weights = [1.0] * len(ends) if weight is None else graph.es[weight]
    return _edge_list(list(range(graph.vcount())), ends, weights, bool(graph.is_directed()))


def _others(attributes: Iterable[object]) -> str:
    """Name the attributes that there are."""
    names = " and ".join(f"weight={name!r}" for name in attributes)
    return f"; give {names.replace(' and ', ' or ')} to take another" if names else ""


def of_frame(frame: Any, source: str, target: str, weight: str | None, directed: bool) -> EdgeList:
    """Return the edges of a table with a row for each, O(rows)."""
    names = [name for name in (source, target, weight) if name is not None]
    missing = [name for name in names if name not in frame]
    if missing:
        raise ValueError(f"frame has no column {missing[0]!r}")
    columns = [np.asarray(frame[name]).tolist() for name in (source, target)]
    number: dict[Hashable, int] = {}
    ends = []
    for row, (u, v) in enumerate(zip(*columns, strict=True)):
        for name, node in ((source, u), (target, v)):
            if node is None or node != node:
                raise ValueError(f"frame[{name!r}] names no node in row {row}: it is {node!r}")
        ends.append((number.setdefault(u, len(number)), number.setdefault(v, len(number))))
    weights = np.ones(len(ends)) if weight is None else np.asarray(frame[weight])
    return _edge_list(list(number), ends, weights, directed)


def _edge_list(
    nodes: list[Hashable], ends: list[tuple[int, int]], weights: npt.ArrayLike, directed: bool
) -> EdgeList:
    pairs = np.array(ends, dtype=np.int32).reshape(-1, 2)
    values = _checks.float_array("weights", weights if len(ends) else np.zeros(0))
    wrong = ~(values >= 0.0)
    if wrong.any():
        k = int(np.argmax(wrong))
        tail, head = (nodes[end] for end in ends[k])
        raise ValueError(
            f"edge ({tail!r}, {head!r}) has weight {values[k]}: a cost must be a number of 0 or "
            "more"
        )
    kept = pairs[:, 0] != pairs[:, 1]
    return EdgeList(nodes, pairs[kept, 0], pairs[kept, 1], values[kept], directed)


def nodes_of(nodes: Iterable[Hashable], members: npt.ArrayLike) -> set[Any]:
    """Return the nodes whose elements are in a set.

    Parameters
    ----------
    nodes : iterable
        The nodes in the order of the elements: a NetworkX graph, the nodes that
        ``Cut.from_pandas`` returned, ``graph.vs["name"]`` of igraph.
    members : array_like of bool, shape (n,)
        A set of elements, such as ``result.minimizer``.

    Raises
    ------
    TypeError
        If members are no booleans.
    ValueError
        If there are more or fewer nodes than elements.

    Examples
    --------
    >>> import submin as sm
    >>> sorted(sm.nodes_of("abc", [True, False, True]))
    ['a', 'c']
    """
    inside, names = _checks.flat_mask("members", members), list(nodes)
    if len(names) != inside.size:
        raise ValueError(f"members has {inside.size} entries for {len(names)} nodes")
    return {node for node, chosen in zip(names, inside.tolist(), strict=True) if chosen}
