"""The graphs of PyMaxflow: ``from submin.drop_in import maxflow`` for ``import maxflow``.

Segments and values are the same: `True` is the sink side, the smallest one where several cuts are
minimal.  Every call of ``maxflow`` starts anew.  Not here: ``fastmin`` and its functions, the
residual graph (``get_nx_graph``) and marks of changed nodes, which only save time there and are
ignored.

>>> graph = Graph[float]()
>>> nodes = graph.add_grid_nodes((1, 3))
>>> graph.add_grid_edges(nodes, 1.5)
>>> graph.add_grid_tedges(nodes, np.array([[9.0, 1.0, 0.0]]), np.array([[0.0, 2.0, 5.0]]))
>>> graph.maxflow(), graph.get_grid_segments(nodes)
(2.5, array([[False,  True,  True]]))
"""

from __future__ import annotations

from copy import deepcopy
from itertools import product
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.terms.cut import Cut

Ids = npt.NDArray[np.int64]

__all__ = ["Graph", "GraphFloat", "GraphInt", "moore_structure", "vonNeumann_structure"]


class GraphFloat:
    """A network of float capacities that is built step by step.

    Parameters
    ----------
    est_node_num, est_edge_num : int, optional
        Not needed; arrays grow.
    """

    _number: ClassVar[type] = float

    def __init__(self, est_node_num: int = 0, est_edge_num: int = 0) -> None:
        self.reset()

    def reset(self) -> None:
        """Remove all nodes and edges."""
        self._nodes = 0
        self._terminals: list[tuple[IndexArray, FloatArray, FloatArray]] = []
        self._edges: list[tuple[IndexArray, IndexArray, FloatArray, FloatArray]] = []
        self._segments: BoolArray | None = None

    def copy(self) -> Self:
        """Return a copy of the graph."""
        return deepcopy(self)

    def add_nodes(self, num_nodes: int) -> Ids:
        """Add nodes, and return their numbers."""
        return self.add_grid_nodes(num_nodes)

    def add_grid_nodes(self, shape: int | tuple[int, ...]) -> Ids:
        """Add a grid of nodes, and return their numbers in its shape."""
        sizes: list[int] = np.atleast_1d(shape).tolist()
        count = prod(_checks.whole_number("shape", size, 0) for size in sizes)
        if self._nodes + count > _checks.LARGEST_INDEX:
            raise ValueError(f"shape is {shape}: a graph has at most {_checks.LARGEST_INDEX} nodes")
        first, self._nodes = self._nodes, self._nodes + count
        return np.arange(first, self._nodes).reshape(sizes)

    def add_edge(self, i: int, j: int, capacity: float, rcapacity: float) -> None:
        """Add an edge from i to j of some capacity, and of another one the way back."""
        self.add_edges([i], [j], [capacity], [rcapacity])

    def add_edges(
        self,
        i: npt.ArrayLike,
        j: npt.ArrayLike,
        capacity: npt.ArrayLike,
        rcapacity: npt.ArrayLike,
    ) -> None:
        """Add edges, with one entry for each in every array."""
        ends = [self._ids(name, ids) for name, ids in (("i", i), ("j", j))]
        limits = []
        for name, values in (("capacity", capacity), ("rcapacity", rcapacity)):
            array = self._capacities(name, values).ravel()
            _checks.refuse_where(name, array, ~(array >= 0.0), "a capacity is 0 or more")
            limits.append(_checks.fitted(name, array, ends[0].shape))
        if ends[0].size != ends[1].size:
            raise ValueError(f"i has {ends[0].size} entries and j has {ends[1].size}")
        self._edges.append((ends[0], ends[1], limits[0], limits[1]))

    def add_tedge(self, i: int, cap_source: float, cap_sink: float) -> None:
        """Add an edge from the source to a node, and one from it to the sink."""
        self.add_grid_tedges(np.array([i]), [cap_source], [cap_sink])

    def add_grid_tedges(
        self, nodeids: npt.ArrayLike, sourcecaps: npt.ArrayLike, sinkcaps: npt.ArrayLike
    ) -> None:
        """Add edges from the source to nodes, and from them to the sink."""
        ids, shape = self._ids("nodeids", nodeids), np.shape(nodeids)
        source, sink = (
            _checks.fitted(name, self._capacities(name, values), shape).ravel()
            for name, values in (("sourcecaps", sourcecaps), ("sinkcaps", sinkcaps))
        )
        self._terminals.append((ids, source, sink))

    def add_grid_edges(
        self,
        nodeids: npt.ArrayLike,
        weights: npt.ArrayLike = 1,
        structure: npt.ArrayLike | None = None,
        symmetric: bool = False,
        periodic: bool | npt.ArrayLike = False,
    ) -> None:
        """Add edges from each node of a grid to the nodes around it.

        Parameters
        ----------
        nodeids : array of int
            The numbers of the nodes.
        weights : array_like, optional
            A factor for each node where edges start; it is broadcast to the grid.
        structure : array_like, optional
            Capacities around the centre, of an odd number of entries along each axis; by default
            1 for the next nodes along each axis (of one way, if `symmetric`).
        symmetric : bool, optional
            Whether each edge has its capacity the other way too.
        periodic : bool or array_like of bool, optional
            Whether (or along which axes) the last nodes are beside the first ones.
        """
        ids = np.asarray(nodeids)
        self._ids("nodeids", ids)
        factors = _checks.fitted("weights", self._capacities("weights", weights), ids.shape)
        around = (
            vonNeumann_structure(ids.ndim, directed=bool(symmetric))
            if structure is None
            else self._capacities("structure", structure)
        )
        if around.ndim != ids.ndim or any(size % 2 == 0 for size in around.shape):
            raise ValueError(
                f"structure has shape {around.shape}: it needs {ids.ndim} axes of odd length"
            )
        infinite = ~np.isfinite(around)
        _checks.refuse_where("structure", around, infinite, "give infinite capacities as weights")
        rings = _checks.fitted("periodic", np.asarray(periodic, dtype=np.bool_), (ids.ndim,))
        for place in np.argwhere(around != 0):
            tails, heads = _neighbours(ids.shape, place - np.array(around.shape) // 2, rings)
            capacity = (factors[tails] * around[tuple(place)]).ravel()
            back = capacity if symmetric else np.zeros(capacity.size)
            self.add_edges(ids[tails].ravel(), ids[heads].ravel(), capacity, back)

    def maxflow(self, reuse_trees: bool = False) -> Any:
        """Return the value of the maximum flow, which is proved, and find the segments."""
        if not self._nodes:
            self._segments = np.zeros(0, dtype=np.bool_)
            return self._number(0)
        source, sink = np.zeros(self._nodes), np.zeros(self._nodes)
        for ids, out, into in self._terminals:
            np.add.at(source, ids, out)
            np.add.at(sink, ids, into)
        terms = []
        if self._edges:
            tails, heads, forward, backward = (
                np.concatenate(part) for part in zip(*self._edges, strict=True)
            )
            kept = tails != heads
            terms = [Cut(heads[kept], tails[kept], forward[kept], backward[kept])]
        result = minimize(Problem.from_costs(source, sink, [term for term in terms if term.size]))
        self._segments = result.minimizer
        return self._number(result.value)

    def get_segment(self, i: int) -> int:
        """Return 1 for a node on the sink side, and else 0."""
        return int(self.get_grid_segments(np.array([i]))[0])

    def get_grid_segments(self, nodeids: npt.ArrayLike) -> BoolArray:
        """Say which nodes are on the sink side."""
        if self._segments is None:
            raise ValueError("there are no segments before maxflow() is called")
        ids = self._ids("nodeids", nodeids)
        known = np.zeros(self._nodes, dtype=np.bool_)
        known[: self._segments.size] = self._segments
        return known[ids].reshape(np.shape(nodeids))

    def get_node_count(self) -> int:
        """Return the number of nodes."""
        return self._nodes

    def get_edge_count(self) -> int:
        """Return the number of arcs, two for each edge."""
        return 2 * sum(edges[0].size for edges in self._edges)

    get_node_num = get_node_count
    get_edge_num = get_edge_count

    def mark_node(self, i: int) -> None:
        """Do nothing: all nodes are looked at again."""

    def mark_grid_nodes(self, nodeids: npt.ArrayLike) -> None:
        """Do nothing: all nodes are looked at again."""

    def _ids(self, name: str, values: npt.ArrayLike) -> IndexArray:
        ids = _checks.indices(name, values).ravel()
        _checks.refuse_where(
            name, ids, (ids < 0) | (ids >= self._nodes), f"there are {self._nodes} nodes"
        )
        return ids

    def _capacities(self, name: str, values: npt.ArrayLike) -> FloatArray:
        array = _checks.float_array(name, values)
        _checks.refuse_where(name, array, np.isnan(array), "a capacity is a number")
        return array


class GraphInt(GraphFloat):
    """A network of whole capacities."""

    _number = int

    def _capacities(self, name: str, values: npt.ArrayLike) -> FloatArray:
        array = super()._capacities(name, values)
        _checks.refuse_where(name, array, array != np.rint(array), "Graph[int] has whole numbers")
        return array


Graph = {int: GraphInt, float: GraphFloat}


def _neighbours(
    shape: tuple[int, ...], offset: npt.NDArray[np.int64], rings: BoolArray
) -> tuple[tuple[Ids, ...], tuple[Ids, ...]]:
    """Return the indices of the nodes that have a neighbour at an offset, and those of these."""
    tails, heads = [], []
    for size, step, ring in zip(shape, offset.tolist(), rings.tolist(), strict=True):
        tail = np.arange(size)
        head = (tail + step) % size if ring else tail + step
        inside = (head >= 0) & (head < size)
        tails.append(tail[inside])
        heads.append(head[inside])
    return np.ix_(*tails), np.ix_(*heads)


def vonNeumann_structure(ndim: int = 2, directed: bool = False) -> FloatArray:
    """Return the structure of the next nodes along each axis, of one way if it is directed.

    Examples
    --------
    >>> vonNeumann_structure().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    structure = np.zeros((3,) * ndim)
    for axis in range(ndim):
        for step in (1,) if directed else (-1, 1):
            place = [1] * ndim
            place[axis] += step
            structure[tuple(place)] = 1.0
    return structure


def moore_structure(ndim: int = 2, directed: bool = False) -> FloatArray:
    """Return the structure of all nodes that differ by 1 at most, of one way if it is directed.

    Examples
    --------
    >>> moore_structure(directed=True).astype(int).tolist()
    [[0, 0, 0], [0, 0, 1], [1, 1, 1]]
    """
    structure = np.zeros((3,) * ndim)
    for offset in product((-1, 0, 1), repeat=ndim):
        if any(offset) and (not directed or offset > (0,) * ndim):
            structure[tuple(1 + step for step in offset)] = 1.0
    return structure
