"""The minimum cut of an undirected graph, without terminals, by contraction with proof.

    The least cut so far is the node of the least degree.
    Repeat, until one node is left:
      An edge of at least half the degree of one of its ends: contract it, many at once where they
        are apart (Padberg and Rinaldi 1990, doi:10.1007/BF01580850).
      Else put the nodes in a maximum adjacency order.  Look at the cuts between the first nodes
        and the rest; then contract each node whose key, its weight to those before it, is the
        least cut or more, with the node before it.
      Look at the node of the least degree.

Each step contracts only nodes that no smaller cut separates.  For an order this is the lemma of
Nagamochi and Ibaraki (1992, doi:10.1137/0405004): two neighbours in it are separated by no cut of
less than the key of the second.  All numbers are whole, at most 2^53, and exact (``fixed_point``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.networks.contraction_proof import Absorption, Order, Step, first_unproved
from submin.networks.fixed_point import MOST_UNITS, Scale, sum_above
from submin.networks.network import ends

FEWEST = 16
"""Nodes are absorbed along heavy edges if they are at least one in so many; else order them."""


@dataclass(frozen=True)
class CutCertificate:
    """What a global cut and its steps prove, recomputed from the arrays alone.

    Attributes
    ----------
    value : float
        The weight of the edges between the two sides, rounded up.
    lower_bound : float
        No cut weighs less.
    """

    value: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """``value - lower_bound``."""
        return self.value - self.lower_bound

    @property
    def optimal(self) -> bool:
        """Whether the cut is proved to be a minimum, without any rounding."""
        return self.gap <= 0.0

    def __str__(self) -> str:
        proof = "a minimum cut" if self.optimal else f"within {self.gap:.3g} of a minimum cut"
        return f"cut of {self.value:.12g}: proved to be {proof}"


@dataclass(frozen=True, eq=False, repr=False)
class GlobalCut:
    """A minimum cut of a graph, with what proves it.

    Attributes
    ----------
    value : float
        The weight of the edges between the two sides, rounded up.
    lower_bound : float
        No cut weighs less; the same as `value`, but for the rounding of real weights.
    side : bool array, shape (nodes,)
        One side of the cut; neither side is empty.
    tails, heads, weights : arrays, shape (m,)
        The graph.
    scale : Scale
        The unit in which the steps count weights.
    steps : tuple of steps
        The contractions, in their order: what `verify` goes through again.
    """

    value: float
    lower_bound: float
    side: BoolArray
    tails: IndexArray
    heads: IndexArray
    weights: FloatArray
    scale: Scale
    steps: tuple[Step, ...]

    def verify(self) -> CutCertificate:
        """Recompute the value, and check every contraction, O(steps * edges log edges).

        Each step must contract only nodes that no cut below the bound separates, and one node must
        be left.  Shares no code with the search.

        Raises
        ------
        ValueError
            If a side is empty, or a step proves less than it should.

        Examples
        --------
        >>> import submin as sm
        >>> cut = sm.global_min_cut([0, 1, 2], [1, 2, 0], [3.0, 1.0, 1.0])
        >>> print(cut.verify())
        cut of 2: proved to be a minimum cut
        """
        if not self.side.any() or self.side.all():
            raise ValueError("a side of the cut is empty: it separates nothing")
        units, _ = self.scale.units(self.weights)
        bound = self.scale.units(np.array([self.lower_bound]))[0][0]
        if bound > 0.0 and (
            fault := first_unproved(
                self.steps, self.tails, self.heads, units, bound, self.side.size
            )
        ):
            raise ValueError(f"the lower bound {self.lower_bound} is not proved: {fault}")
        return CutCertificate(
            _weight_above(self.tails, self.heads, self.weights, self.side), self.scale.value(bound)
        )

    def __repr__(self) -> str:
        count = int(self.side.sum())
        return f"<GlobalCut of {self.value:.12g}: {count} and {self.side.size - count} nodes>"


def global_min_cut(
    tails: npt.ArrayLike,
    heads: npt.ArrayLike,
    weights: npt.ArrayLike,
    nodes: int | None = None,
) -> GlobalCut:
    """Find a cut of the least weight among all that leave no side empty.

    Parameters
    ----------
    tails, heads : array_like of int, shape (m,)
        The two ends of each edge, in either order: the graph is undirected.  Parallel edges add up,
        and loops do not count.
    weights : array_like of float, shape (m,), or float
        Of 0 or more.
    nodes : int, optional
        The number of nodes; by default one more than the largest number of a node that occurs.

    Returns
    -------
    GlobalCut

    Raises
    ------
    ValueError
        If there are fewer than two nodes, a weight is negative, NaN or infinite, lengths differ, or
        a node is out of range.

    Notes
    -----
    The value is 0 where the graph is not connected.  Of several minimum cuts any is returned.
    Nothing is rounded on weights that are multiples of a common power of two, with a minimum cut
    of fewer than 2^52 of them (integers, say).  Other weights are rounded down to about 2^-52 to
    2^-48 of the minimum; value and bound are apart by that, times the edges of the cut.

    O(m log m) a step; at worst n steps, on most graphs a few dozen at most.

    For a directed graph, where only edges out of a side count, take the least of ``max_flow`` from
    one node to every other and back: this function does not know directions.

    References
    ----------
    H. Nagamochi and T. Ibaraki, Computing edge-connectivity in multigraphs and capacitated graphs,
    SIAM Journal on Discrete Mathematics 5, 1992, doi:10.1137/0405004.

    Examples
    --------
    Two triangles and an edge between them:

    >>> import submin as sm
    >>> cut = sm.global_min_cut([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], 1.0)
    >>> first = cut.side == cut.side[0]
    >>> cut.value, first.tolist(), cut.verify().optimal
    (1.0, [True, True, True, False, False, False], True)
    """
    tails, heads, count = ends(tails, heads, nodes, 0)
    if count < 2:
        raise ValueError(f"the graph has {count} nodes: a cut needs two or more; give nodes=")
    given = _checks.weights("weights", weights)
    if given.ndim and given.size != tails.size:
        raise ValueError(f"weights has {given.size} entries for {tails.size} edges")
    own = np.broadcast_to(given.ravel(), tails.shape)
    bound = _least_degree(tails, heads, own, count)
    scale = Scale.of(bound)
    while True:
        units, exact = scale.units(own)
        search = _Search(_Graph.joined(count, tails, heads, units))
        search.run()
        value = _weight_above(tails, heads, own, search.side)
        fine = None if exact else scale.finer(bound, value, own)
        if fine is None:
            break
        bound, scale = value, fine
    lower = min(scale.value(search.least), value)
    return GlobalCut(value, lower, search.side, tails, heads, own, scale, tuple(search.steps))


class _Graph(NamedTuple):
    """A graph without loops or parallel edges, weights in units; sums above 2^53 stay above it."""

    nodes: int
    tails: IndexArray
    heads: IndexArray
    weights: FloatArray

    @classmethod
    def joined(
        cls, nodes: int, tails: IndexArray, heads: IndexArray, weights: FloatArray
    ) -> _Graph:
        """Join parallel edges, and leave out loops and edges of weight 0."""
        kept = (tails != heads) & (weights > 0.0)
        low = np.minimum(tails, heads)[kept].astype(np.int64)
        pairs, place = np.unique(low * nodes + np.maximum(tails, heads)[kept], return_inverse=True)
        low, high = np.divmod(pairs, nodes)
        sums = np.bincount(place.ravel(), weights[kept], pairs.size)
        return cls(nodes, low.astype(np.int32), high.astype(np.int32), sums.astype(np.float64))

    def degrees(self) -> FloatArray:
        """Return the weight of the edges of each node."""
        both = np.concatenate([self.tails, self.heads])
        weights = np.concatenate([self.weights, self.weights])
        return np.bincount(both, weights, self.nodes).astype(np.float64)

    def contracted(self, labels: IndexArray) -> _Graph:
        """Return the graph whose nodes are labels from 0 on."""
        count = int(labels.max()) + 1
        return _Graph.joined(count, labels[self.tails], labels[self.heads], self.weights)


class _Search:
    """Contracts a graph; ``least`` is the weight of the least cut seen, in units."""

    def __init__(self, graph: _Graph) -> None:
        self.graph, self.steps = graph, list[Step]()
        self.labels = np.arange(graph.nodes, dtype=np.int32)
        self.least, self.side = np.inf, np.zeros(graph.nodes, dtype=np.bool_)

    def run(self) -> None:
        """Contract until one node is left, or a cut of weight 0 is seen."""
        while self.graph.nodes > 1:
            degrees = self.graph.degrees()
            node = int(np.argmin(degrees))
            self._see(np.arange(self.graph.nodes) == node)
            if self.least == 0.0:
                return
            step = _absorption(self.graph, degrees, len(self.steps)) or self._order(degrees)
            labels = step.labels(self.graph.nodes)
            self.steps.append(step)
            self.labels, self.graph = labels[self.labels], self.graph.contracted(labels)

    def _see(self, members: BoolArray) -> None:
        """Take a cut of the contracted graph that weighs less than all before."""
        graph = self.graph
        weight = float(graph.weights[members[graph.tails] != members[graph.heads]].sum())
        if weight < self.least:
            self.least, self.side = weight, members[self.labels]

    def _order(self, degrees: FloatArray) -> Order:
        """Order the nodes, and see the least cut between the first ones and the rest."""
        graph = self.graph
        tails = np.concatenate([graph.tails, graph.heads])
        by_tail = np.argsort(tails, kind="stable")
        pointers = np.searchsorted(tails[by_tail], np.arange(graph.nodes + 1))
        neighbours = np.concatenate([graph.heads, graph.tails])[by_tail]
        weights = np.concatenate([graph.weights, graph.weights])[by_tail]
        order, keys = np.empty(graph.nodes, dtype=np.int32), np.empty(graph.nodes)
        kernels.active.adjacency_order(pointers, neighbours, weights, self.least, order, keys)
        first = int(np.argmin(np.cumsum(degrees[order] - 2.0 * keys)[:-1]))
        members = np.zeros(graph.nodes, dtype=np.bool_)
        members[order[: first + 1]] = True
        self._see(members)
        return Order(order, keys >= self.least)


def _absorption(graph: _Graph, degrees: FloatArray, seed: int) -> Absorption | None:
    """Return nodes with an edge of half their degree or more, apart from their partners there.

    Half of the nodes, drawn by chance, may move; the others may be moved to.  None if they are few.
    """
    tails = np.concatenate([graph.tails, graph.heads])
    heads = np.concatenate([graph.heads, graph.tails])
    weights = np.concatenate([graph.weights, graph.weights])
    heavy = (2.0 * weights >= degrees[tails]) & (degrees[tails] < MOST_UNITS)
    moves = np.random.default_rng(seed).random(graph.nodes) < 0.5
    moves[np.setdiff1d(np.arange(graph.nodes), tails[heavy])] = False
    chosen = np.flatnonzero(heavy & moves[tails] & ~moves[heads])
    movers, first = np.unique(tails[chosen], return_index=True)
    if movers.size * FEWEST < graph.nodes:
        return None
    return Absorption(movers, heads[chosen[first]])


def _least_degree(tails: IndexArray, heads: IndexArray, weights: FloatArray, nodes: int) -> float:
    """Return the weight of the edges of the node where it is least, rounded up."""
    inner = tails != heads
    both = np.concatenate([tails[inner], heads[inner]])
    degrees = np.bincount(both, np.concatenate([weights[inner]] * 2), nodes)
    node = int(np.argmin(degrees))
    return _weight_above(tails, heads, weights, np.arange(nodes) == node)


def _crossing(
    tails: IndexArray, heads: IndexArray, weights: FloatArray, side: BoolArray
) -> FloatArray:
    crossing: FloatArray = weights[side[tails] != side[heads]]
    return crossing


def _weight_above(
    tails: IndexArray, heads: IndexArray, weights: FloatArray, side: BoolArray
) -> float:
    """Return the weight of a cut, rounded up."""
    return sum_above(_crossing(tails, heads, weights, side))
