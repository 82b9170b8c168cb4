"""Cut functions of a general graph, undirected or directed.

    F(S) = sum over edges (i, j) of  forward [i in S, j not in S] + backward [j in S, i not in S]

A matching (edges without a common end) is one block, and its projection is a clip
(Ene & Nguyen 2015, Section 4; `algorithms.md` calls it BCD form):

    t+ = clip(t - (s_i - s_j) / (2 c), -backward, forward)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._sums import largest_multiplicity, scatter_sum
from submin._typing import BoolArray, FloatArray, IndexArray, WeightArray
from submin.terms.base.edges import (
    EdgeTerm,
    GraphTerm,
    Segment,
    edge_weights,
    of_one_type,
    saved_weights,
)
from submin.terms.base.term import Block, Piece, TermMinor, check_decomposition
from submin.terms.blocks.colouring import colour_classes
from submin.terms.blocks.edge_blocks import EdgeMatching, EdgePaths
from submin.terms.blocks.linear_forests import Paths, linear_forests
from submin.terms.capabilities.fixing import Fixing
from submin.terms.edge_lists import EdgeList, of_frame, of_igraph, of_networkx

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix


class Cut(GraphTerm):
    """The cut function of a graph given by its edges.

    Parameters
    ----------
    tails, heads : array_like of int, shape (m,)
        The two ends of each edge, numbered in C order of the ground set.
    weights : array_like of float, shape (m,), or float
        Cost of an edge whose tail is in S and whose head is not; ``inf`` for a precedence, "the
        tail only with the head".
    reverse_weights : array_like of float, shape (m,), or float, optional
        Cost of an edge whose head is in S and whose tail is not.  By default the same as `weights`
        (an undirected graph); 0 makes directed arcs, and ``inf`` both ways keeps the ends together.

    Arrays in C order are used in place, without a copy: ends of int32, weights of float64 or
    float32, 8 or 4 bytes an edge.  Others are converted, and so are weights whose two ways differ
    in type, to float64.  Every float32 is a float64, and all arithmetic is in float64.

    Attributes
    ----------
    tails, heads : int array, shape (m,)
    forward, backward : float array, shape (m,), or of one entry for all edges
        `weights` and `reverse_weights`.
    weight : float
        The sum of all finite weights, both ways.

    Raises
    ------
    ValueError
        If a weight is negative or NaN, an edge is a loop, or lengths differ.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> path = sm.Cut([0, 1], [1, 2], [1.0, 5.0])
    >>> path.evaluate(np.array([True, False, False]))
    1.0
    """

    kind = "cut"

    def __init__(
        self,
        tails: npt.ArrayLike,
        heads: npt.ArrayLike,
        weights: npt.ArrayLike,
        reverse_weights: npt.ArrayLike | None = None,
    ) -> None:
        self.tails = _checks.indices("tails", tails).ravel()
        self.heads = _checks.indices("heads", heads).ravel()
        if self.tails.size != self.heads.size:
            raise ValueError(
                f"tails has {self.tails.size} entries and heads has {self.heads.size}: "
                "each edge needs both of its ends"
            )
        loops = self.tails == self.heads
        _checks.refuse_where("tails", self.tails, loops, "an edge needs two different ends")
        self.size = self.tails.size
        forward = backward = self._edge_weights("weights", weights)
        if reverse_weights is not None:
            backward = self._edge_weights("reverse_weights", reverse_weights)
        self.segments = (Segment(slice(None), *of_one_type(forward, backward)),)
        self.elements = 1 + int(max(self.tails.max(), self.heads.max())) if self.size else 0
        ends = np.concatenate([self.tails, self.heads])
        self.depth = largest_multiplicity(ends)

    def _edge_weights(self, name: str, values: npt.ArrayLike) -> WeightArray:
        weights = edge_weights(name, _checks.weight_array(name, values))
        if np.ndim(values) and weights.size != self.size:
            raise ValueError(f"{name} has {weights.size} entries for {self.size} edges")
        total = float(weights[0]) / 1e150 * self.size if np.ndim(values) == 0 else 0.0
        if 1.0 <= total < float("inf"):  # sums over arrays are bounded already
            raise ValueError(f"{name} overflows: it sums to {total}e150; scale it down")
        return weights

    @classmethod
    def from_sparse(cls, matrix: spmatrix | sparray) -> Self:
        """Build the cut function of a SciPy sparse matrix of weights.

        Entry (i, j) is the cost of having i in S and j not.  A symmetric matrix is an undirected
        graph whose edge {i, j} costs entry (i, j) when S separates its ends; a triangular one has
        directed arcs only, so add its transpose first for a graph.  The diagonal has no
        meaning for a cut and is ignored.

        Parameters
        ----------
        matrix : scipy.sparse array or matrix, shape (n, n)

        Raises
        ------
        ValueError
            If the matrix is not square, or a weight is negative or NaN.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, submin as sm
        >>> arcs = scipy.sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
        >>> cut = sm.Cut.from_sparse(arcs)
        >>> cut.evaluate(np.array([True, False])), cut.evaluate(np.array([False, True]))
        (2.0, 1.0)
        """
        if not hasattr(matrix, "tocoo"):
            raise TypeError(
                f"matrix is a {type(matrix).__name__}: give a SciPy sparse array, such as "
                "scipy.sparse.csr_array(weights)"
            )
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"matrix has shape {matrix.shape}: a graph needs a square matrix")
        entries = matrix.tocoo()
        weights = np.where(entries.row == entries.col, 0.0, entries.data)
        _checks.precedence_weights("matrix.data", weights)
        low, high = np.minimum(entries.row, entries.col), np.maximum(entries.row, entries.col)
        off_diagonal = low < high
        low, high = low[off_diagonal], high[off_diagonal]
        upward = (entries.row < entries.col)[off_diagonal]
        values = _checks.float_array("matrix.data", entries.data)[off_diagonal]
        pair, inverse = np.unique(
            low.astype(np.int64) * matrix.shape[0] + high, return_inverse=True
        )
        forward = np.bincount(inverse, np.where(upward, values, 0.0), pair.size)
        backward = np.bincount(inverse, np.where(upward, 0.0, values), pair.size)
        same = np.array_equal(forward, backward)
        n = matrix.shape[0]
        term = cls(pair // n, pair % n, forward, None if same else backward)
        term.shape, term.elements = (n,), n
        return term

    @classmethod
    def from_networkx(cls, graph: Any, weight: str | None = "weight") -> Self:
        """Build the cut function of a NetworkX graph, O(nodes + edges).

        Element k is node k in the order of ``list(graph)``; ``nodes_of(graph, result.minimizer)``
        leads back.  An edge of a directed graph costs its weight when its tail is in S and its head
        is not, and an edge of an undirected one when S has one of its ends.  Parallel edges of a
        multigraph add up, and loops cost nothing.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        weight : str or None, optional
            The attribute of the edges that is their cost; with None every edge costs 1.

        Raises
        ------
        TypeError
            If `graph` is no NetworkX graph, or a weight is no number.
        ValueError
            If an edge lacks the attribute, or its weight is negative or NaN.

        Examples
        --------
        >>> import networkx as nx, submin as sm
        >>> graph = nx.Graph()
        >>> graph.add_weighted_edges_from([("a", "b", 5.0), ("b", "c", 1.0)])
        >>> cut = sm.Cut.from_networkx(graph)
        >>> result = sm.minimize(sm.Problem([-3.0, 1.0, 4.0], [cut]))
        >>> result.value, sorted(sm.nodes_of(graph, result.minimizer))
        (-1.0, ['a', 'b'])
        """
        return cls._from_edge_list(of_networkx(graph, weight))

    @classmethod
    def from_igraph(cls, graph: Any, weight: str | None = "weight") -> Self:
        """Build the cut function of a graph of igraph, O(nodes + edges).

        Element k is vertex k; edges count as those of ``from_networkx``.

        Parameters
        ----------
        graph : igraph.Graph
        weight : str or None, optional
            The attribute of the edges that is their cost; with None every edge costs 1.

        Raises
        ------
        TypeError, ValueError
            As for ``from_networkx``.

        Examples
        --------
        >>> import igraph, submin as sm
        >>> graph = igraph.Graph([(0, 1), (1, 2)], edge_attrs={"weight": [5.0, 1.0]})
        >>> sm.Cut.from_igraph(graph).evaluate(np.array([True, True, False]))
        1.0
        """
        return cls._from_edge_list(of_igraph(graph, weight))

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = "weight",
        *,
        directed: bool = False,
    ) -> tuple[Self, list[Any]]:
        """Build the cut function of a table with a row for each edge, O(rows).

        Parameters
        ----------
        frame : pandas.DataFrame, or a mapping of columns
        source, target : str, optional
            The columns of the ends of the edges, of any hashable values.
        weight : str or None, optional
            The column of their costs; with None every edge costs 1.
        directed : bool, optional
            Whether an edge costs only when its source is in S and its target is not.

        Returns
        -------
        cut : Cut
        nodes : list
            The node of each element, in the order of their first rows, for ``nodes_of``.

        Raises
        ------
        ValueError
            If a column is missing, an end is None or NaN, or a weight is negative or NaN.

        Examples
        --------
        >>> import submin as sm
        >>> rows = {"source": ["a", "b"], "target": ["b", "c"], "weight": [5.0, 1.0]}
        >>> cut, nodes = sm.Cut.from_pandas(rows)
        >>> nodes, cut.evaluate(np.array([True, False, False]))
        (['a', 'b', 'c'], 5.0)
        """
        edges = of_frame(frame, source, target, weight, directed)
        return cls._from_edge_list(edges), edges.nodes

    @classmethod
    def _from_edge_list(cls, edges: EdgeList) -> Self:
        reverse = 0.0 if edges.directed else None
        term = cls(edges.tails, edges.heads, edges.weights, reverse)
        if edges.nodes:
            term.shape, term.elements = (len(edges.nodes),), len(edges.nodes)
        return term

    def check_data(self) -> None:
        """Refuse ends and weights that were changed in place to what they must not be, O(m)."""
        super().check_data()
        _checks.numbers_in_place("tails", self.tails, self.elements)
        _checks.numbers_in_place("heads", self.heads, self.elements)

    def edge_list(self) -> tuple[IndexArray, IndexArray]:
        """Return the tails and heads."""
        return self.tails, self.heads

    def differences(self, x: FloatArray) -> Iterable[FloatArray]:
        """Return x at the tails less x at the heads, O(m)."""
        return [x[self.tails] - x[self.heads]]

    def evaluate(self, members: BoolArray) -> float:
        """Return the weight of the edges that S cuts, O(m)."""
        inside = _checks.flat_mask("members", members)
        return kernels.active.edges_cut_value(
            self.tails, self.heads, self.backward, self.forward, inside.view(np.uint8), 0
        )

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Return t = forward on an edge whose tail comes first, else -backward, O(m)."""
        first = rank[self.tails] < rank[self.heads]
        return np.where(first, self.forward, -self.backward).astype(np.float64, copy=False)

    def accumulate(self, dual: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the net flow out of each element, O(m)."""
        kernels.active.edges_accumulate(self.tails, self.heads, dual, s, scale)

    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return minus the weights of arcs into each element, and those of arcs out, O(n + m)."""
        forward = np.broadcast_to(self.forward, self.tails.shape)
        backward = np.broadcast_to(self.backward, self.tails.shape)
        high = scatter_sum(self.tails, forward, n) + scatter_sum(self.heads, backward, n)
        low = scatter_sum(self.tails, backward, n) + scatter_sum(self.heads, forward, n)
        return -low, high

    def close_sides(self, dual: FloatArray, room: float, side: npt.NDArray[np.int8]) -> None:
        """Decide elements by arcs of residual capacity above `room`, in place, O(edges)."""
        kernels.active.edges_close_sides(
            self.tails, self.heads, self.backward, self.forward, dual, room, side
        )

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return the edges between free elements; one with a fixed end is modular, O(n + m)."""
        return contracted(self, fixing)

    @property
    def decompositions(self) -> tuple[str, ...]:
        """Families of disjoint paths (the default), matchings, or one block per edge."""
        return ("chains", "matchings", "functions")

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Split the edges, O(m).

        ``"chains"``: linear forests, families of paths without a common element, about half as many
        as the largest degree.  ``"matchings"``: by greedy edge colouring, about as many as the
        largest degree.  ``"functions"``: each edge.
        """
        name = check_decomposition(self, decomposition)
        if name == "chains":
            forests = linear_forests(self.tails, self.heads)
            return [self._paths_block(paths, threads) for paths in forests]
        if name == "functions":
            groups = list(np.arange(self.size, dtype=np.int32)[:, None])
        else:
            ends = np.stack([self.tails, self.heads], axis=1).ravel()
            pointers = np.arange(0, 2 * self.size + 1, 2, dtype=np.int64)
            groups = colour_classes(pointers, ends)
        return [EdgeMatching(self, edges, threads) for edges in groups]

    def _paths_block(self, paths: Paths, threads: int) -> Block:
        """Return a linear forest as a block: a matching where every path is one edge."""
        if paths.nodes.size == 2 * paths.edges.size:
            return EdgeMatching(self, paths.edges, threads)
        return EdgePaths(self, paths, threads)

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return ends and weights, one way if both are one."""
        arrays = {
            "tails": self.tails,
            "heads": self.heads,
            "weights": saved_weights(self.forward, (self.size,)),
        }
        if self.backward is not self.forward:
            arrays["reverse_weights"] = saved_weights(self.backward, (self.size,))
        return arrays

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family."""
        return [
            cls([0, 1, 2, 0], [1, 2, 3, 3], [1.0, 2.5, 0.0, 0.5]),
            cls([0, 1, 2, 0], [1, 2, 0, 1], [1.0, 2.5, 0.0, 0.5], [0.0, 1.0, 3.0, 0.1]),
            cls([], [], []),
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a cut from its ends and weights."""
        reverse = arrays.get("reverse_weights", arrays["weights"])
        same = np.array_equal(arrays["weights"], reverse)
        return cls(arrays["tails"], arrays["heads"], arrays["weights"], None if same else reverse)


def contracted(term: EdgeTerm, fixing: Fixing) -> TermMinor:
    """Return the minor of a sum of edges: a cut of the free elements, and a modular part.

    An edge whose other end is outside costs what it costs when it is cut; one whose other end is
    inside costs that much less once its free end is in S.
    """
    (tails, heads), (forward, backward) = term.edge_list(), term.weights_by_edge()
    tail_free, head_free = fixing.free[tails], fixing.free[heads]
    modular = np.zeros(fixing.elements.size)
    for end, other, alone, out, back in (
        (tails, heads, tail_free & ~head_free, forward, backward),
        (heads, tails, head_free & ~tail_free, backward, forward),
    ):
        cost = np.where(fixing.inside[other[alone]], -back[alone], out[alone])
        modular += scatter_sum(fixing.number[end[alone]], cost, modular.size)
    kept = np.flatnonzero(tail_free & head_free)
    undirected = all(out is back for _, out, back in term.segments)
    cut = Cut(
        fixing.number[tails[kept]],
        fixing.number[heads[kept]],
        forward[kept],
        None if undirected else backward[kept],
    )
    return TermMinor([Piece(cut, kept)], modular, term.evaluate(fixing.inside))
