"""A flow network: arcs with capacities, a source and a sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.model.problem import Problem
from submin.terms.base.edges import EdgeTerm

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

MOST_NODES = 2**27 - 2
"""Nodes that the kernels can number, about 10^8."""


class Network:
    """A directed graph with capacities, from whose source to whose sink something flows.

    Parameters
    ----------
    tails, heads : array_like of int, shape (m,)
        The nodes that each arc leaves and enters.  Arcs may be parallel, opposite, or loops (which
        carry nothing), and may lead into the source and out of the sink.
    capacities : array_like of float, shape (m,), or float
        How much an arc carries at most, from its tail to its head; ``inf`` is no limit.
    source, sink : int
        Two different nodes.
    reverse_capacities : array_like of float, shape (m,), or float, optional
        How much an arc carries at most from its head to its tail; 0 by default.  The same as
        `capacities` for undirected edges.
    nodes : int, optional
        The number of nodes; by default one more than the largest number of a node that occurs.

    Attributes
    ----------
    tails, heads, capacities, reverse_capacities : arrays, shape (m,)
        Perhaps your own, without a copy: leave them unchanged.
    source, sink, nodes : int

    Raises
    ------
    ValueError
        If a capacity is negative or NaN, lengths differ, a node is out of range, or source and sink
        are the same.

    Examples
    --------
    >>> import submin as sm
    >>> sm.Network([0, 0, 1], [1, 2, 2], [4.0, 1.0, 3.0], source=0, sink=2)
    Network(3 nodes, 3 arcs, source 0, sink 2)
    """

    def __init__(
        self,
        tails: npt.ArrayLike,
        heads: npt.ArrayLike,
        capacities: npt.ArrayLike,
        source: int,
        sink: int,
        reverse_capacities: npt.ArrayLike = 0.0,
        nodes: int | None = None,
    ) -> None:
        self.source = _checks.whole_number("source", source, 0)
        self.sink = _checks.whole_number("sink", sink, 0)
        if self.source == self.sink:
            raise ValueError(f"source and sink are both node {self.source}: give two nodes")
        least = 1 + max(self.source, self.sink)
        self.tails, self.heads, self.nodes = ends(tails, heads, nodes, least)
        size = self.tails.size
        self.capacities = _capacities("capacities", capacities, size)
        self.reverse_capacities = _capacities("reverse_capacities", reverse_capacities, size)

    @classmethod
    def from_sparse(cls, matrix: spmatrix | sparray, source: int, sink: int) -> Self:
        """Build the network of a SciPy sparse matrix: entry (i, j) is the capacity from i to j.

        Arcs come in the order of ``matrix.tocoo()``.

        Parameters
        ----------
        matrix : scipy.sparse array or matrix, shape (n, n)
        source, sink : int

        Examples
        --------
        >>> import scipy.sparse, submin as sm
        >>> matrix = scipy.sparse.csr_array([[0, 4, 1], [0, 0, 3], [0, 0, 0]])
        >>> sm.max_flow(sm.Network.from_sparse(matrix, 0, 2)).value
        4.0
        """
        if not hasattr(matrix, "tocoo"):
            raise TypeError(
                f"matrix is a {type(matrix).__name__}: give a SciPy sparse array, such as "
                "scipy.sparse.csr_array(capacities)"
            )
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"matrix has shape {matrix.shape}: a network needs a square matrix")
        entries: Any = matrix.tocoo()
        return cls(entries.row, entries.col, entries.data, source, sink, nodes=matrix.shape[0])

    @classmethod
    def from_problem(cls, problem: Problem) -> Self:
        """Build the network whose cuts cost what the sets of a problem cost, but for a constant.

        The first n nodes are the elements, node n is the source and node n + 1 the sink.  The first
        arcs are the edges of the terms, one term after the other, in the order of the dual; then
        comes one arc for each element: from the source where the unary is negative, else to the
        sink, of capacity abs(unary).  A source side without the source is a set S, and costs
        F(S) less the constant and less the sum of the negative finite unaries.

        Raises
        ------
        TypeError
            If a term is neither a ``Cut`` nor a ``GridCut``.

        Notes
        -----
        O(n + edges) of time and memory: the edges of a grid are listed.

        Examples
        --------
        >>> import submin as sm
        >>> problem = sm.Problem([-3.0, 2.0], [sm.Cut([0], [1], 1.5)])
        >>> network = sm.Network.from_problem(problem)
        >>> network.tails, network.heads, network.capacities
        (array([0, 2, 1], dtype=int32), array([1, 0, 3], dtype=int32), array([1.5, 3. , 2. ]))
        """
        cuts = [_cut(index, term) for index, term in enumerate(problem.terms)]
        unary, elements = problem.unary.ravel(), np.arange(problem.n, dtype=np.int32)
        source, sink = problem.n, problem.n + 1
        lists = [cut.edge_list() for cut in cuts]
        weights = [cut.weights_by_edge() for cut in cuts]
        return cls(
            np.concatenate([*(tails for tails, _ in lists), np.where(unary < 0, source, elements)]),
            np.concatenate([*(heads for _, heads in lists), np.where(unary < 0, elements, sink)]),
            np.concatenate([*(forward for forward, _ in weights), np.abs(unary)]),
            source,
            sink,
            np.concatenate([*(backward for _, backward in weights), np.zeros(problem.n)]),
        )

    def cut_arcs(self, source_side: BoolArray) -> FloatArray:
        """Return the capacities that lead out of a set of nodes, O(arcs)."""
        leaves, enters = source_side[self.tails], source_side[self.heads]
        forward = self.capacities[leaves & ~enters]
        return np.concatenate([forward, self.reverse_capacities[enters & ~leaves]])

    def __repr__(self) -> str:
        return (
            f"Network({self.nodes} nodes, {self.tails.size} arcs, source {self.source}, "
            f"sink {self.sink})"
        )


def ends(
    tails: npt.ArrayLike, heads: npt.ArrayLike, nodes: int | None, least: int
) -> tuple[IndexArray, IndexArray, int]:
    """Check the ends of arcs; return them and the number of nodes, at least a given one."""
    tails, heads = _checks.indices("tails", tails), _checks.indices("heads", heads)
    tails, heads = tails.ravel(), heads.ravel()
    if tails.size != heads.size:
        raise ValueError(
            f"tails has {tails.size} entries and heads has {heads.size}: "
            "each arc needs both of its ends"
        )
    least = max(least, 1 + int(max(tails.max(initial=-1), heads.max(initial=-1))))
    count = least if nodes is None else _checks.whole_number("nodes", nodes, 1)
    if count < least:
        raise ValueError(f"nodes is {nodes}, but node {least - 1} occurs: give {least} or more")
    if count > MOST_NODES:
        raise ValueError(
            f"the graph has {count} nodes, more than {MOST_NODES}; number those with arcs from 0 on"
        )
    return tails, heads, count


def _capacities(name: str, values: npt.ArrayLike, size: int) -> FloatArray:
    """Convert capacities, which may be infinite, to one for each arc."""
    array = _checks.float_array(name, values)
    _checks.refuse_where(name, array, ~(array >= 0.0), "a capacity must be a number of 0 or more")
    if not float(np.sum(array, where=np.isfinite(array))) < _checks.LARGEST_SUM:
        raise ValueError(f"{name} overflows: it sums to 1e150 or more; scale it down")
    if array.ndim and array.size != size:
        raise ValueError(f"{name} has {array.size} entries for {size} arcs")
    return np.broadcast_to(array.ravel(), size)


def _cut(index: int, term: object) -> EdgeTerm:
    if not isinstance(term, EdgeTerm):
        raise TypeError(
            f"terms[{index}] is a {type(term).__name__}: only the edges of Cut and GridCut are arcs"
        )
    return term
