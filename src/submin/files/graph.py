"""What a file of a graph or hypergraph holds: a term, and no costs of its nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from submin import _checks
from submin._typing import FloatArray
from submin.model.problem import Problem
from submin.terms import Cut, Hyperedge

SPARE_NODES = 10**7
"""Nodes without edges that a file may have; more of them are rather a damaged header."""


@dataclass(frozen=True)
class Graph:
    """A graph or hypergraph of a file.

    Attributes
    ----------
    term : Cut or Hyperedge
        Its edges; node k is node k + 1 of the file.
    nodes : int
        The number of nodes, which may be more than those that have edges.
    node_weights : array of float, shape (nodes,), or None
        The sizes of the nodes, if the file has some.  They are no costs.

    Examples
    --------
    >>> import submin as sm
    >>> graph = Graph(sm.Hyperedge([0, 3], [0, 1, 2], 2.0), nodes=4)
    >>> sm.minimize(graph.problem([-3.0, 1.0, 1.0, 5.0])).value
    -1.0
    """

    term: Cut | Hyperedge
    nodes: int
    node_weights: FloatArray | None = None

    def problem(self, unary: npt.ArrayLike) -> Problem:
        """Return the problem with a cost for each node.

        Raises
        ------
        ValueError
            If there is not one cost for each node.
        """
        costs = _checks.float_array("unary", unary)
        if costs.size != self.nodes:
            raise ValueError(f"unary has {costs.size} entries for {self.nodes} nodes")
        return Problem(costs, [self.term] if self.term.size else [])


def node_count_trouble(nodes: int, ends: int) -> str | None:
    """Say what is wrong with an announced number of nodes, beside the number of ends of edges."""
    if nodes > _checks.LARGEST_INDEX:
        return f"{nodes} nodes are more than {_checks.LARGEST_INDEX}"
    if nodes > ends + SPARE_NODES:
        return (
            f"{nodes} nodes are far more than the edges can join; leave out the nodes without edges"
        )
    return None
