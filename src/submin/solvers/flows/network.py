"""The flow network of a problem: the edges of its cuts, and the gadgets of its other terms.

Nodes are the elements, and then the auxiliaries of all gadgets (``gadgets``).  Edges are
those of cuts before those of gadgets, and of either kind those of smaller terms first, so that the
work on a problem does not depend on the order of its terms.  A flow gives every node its imbalance
s: u + sum_i y_i at an element, its cost and the net flow out of it at an auxiliary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from submin import kernels
from submin._sums import scatter_sum
from submin._typing import Dual, FloatArray, IndexArray, WeightArray
from submin.terms.base.edges import EdgeTerm
from submin.terms.base.term import Term
from submin.terms.capabilities.gadgets import Gadget

if TYPE_CHECKING:
    from submin.kernels.flows import GraphFlow


MOST_NODES = 2**27 - 2
"""Elements and auxiliaries that the kernels' labels can number."""

MOST_EDGES = 2**30 - 1
"""Edges whose arcs the kernel can number."""

MOST_GADGET_EDGES = 2**22
"""Edges of gadgets that are made without a question; beyond, at most 20 for each of the dual."""


class NetworkSize(NamedTuple):
    """Nodes beside the elements, edges of cuts and of gadgets, and values of the gadgets' duals."""

    auxiliaries: int
    cut_edges: int
    gadget_edges: int
    places: int

    @property
    def edges(self) -> int:
        """All edges."""
        return self.cut_edges + self.gadget_edges


def network_size(terms: Sequence[Term]) -> NetworkSize | None:
    """Count the parts of the network without making them; None if a term has no gadgets."""
    cuts = [term for term in terms if isinstance(term, EdgeTerm)]
    others = [term for term in terms if not isinstance(term, EdgeTerm)]
    sizes = [term.gadget_size() for term in others]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    return NetworkSize(
        sum(size.auxiliaries for size in known),
        sum(term.size for term in cuts),
        sum(size.edges for size in known),
        sum(term.size for term in others),
    )


def accepts(terms: Sequence[Term]) -> bool:
    """Say whether all terms are cuts or have gadgets, and the kernels can number their network."""
    size = network_size(terms)
    if size is None:
        return False
    nodes = max((term.elements for term in terms), default=0) + size.auxiliaries
    few = size.gadget_edges <= max(MOST_GADGET_EDGES, 20 * size.places)
    return nodes <= MOST_NODES and size.edges <= MOST_EDGES and few


def refuse_others(terms: Sequence[Term], solver: str) -> None:
    """Say which term, or what else, keeps a solver that needs a network from starting.

    Raises ``TypeError``, unless the terms are accepted.
    """
    if accepts(terms):
        return
    for index, term in enumerate(terms):
        if network_size([term]) is None:
            raise TypeError(
                f"{solver} needs terms that are cuts, or cuts with a few auxiliary nodes, but "
                f"terms[{index}] is a {type(term).__name__}; minimize and prox take every term "
                "by the solver AcceleratedSweeps"
            )
    size = network_size(terms) or NetworkSize(0, 0, 0, 0)
    raise TypeError(
        f"{solver} needs a network of at most {MOST_NODES} nodes and "
        f"{MOST_EDGES} edges, and of functions that are no cuts up to {MOST_GADGET_EDGES} edges or "
        f"20 for each of their {size.places} dual values (it has {size.auxiliaries} auxiliary "
        f"nodes, and {size.edges} edges, {size.gadget_edges} of them of such functions); "
        "AcceleratedSweeps takes every term"
    )


class Edges(NamedTuple):
    """Ends and weights of edges; weights have one entry for each, or one for all of them."""

    tails: IndexArray
    heads: IndexArray
    backward: WeightArray
    forward: WeightArray


class Places(NamedTuple):
    """What the dual of a flow in gadgets needs: m_i of the places, and the ends of the edges."""

    modular: FloatArray
    auxiliaries: int
    tails: IndexArray
    heads: IndexArray

    @classmethod
    def of(cls, gadget: Gadget) -> Places:
        """Keep what is needed of a gadget."""
        return cls(gadget.modular, gadget.costs.size, gadget.tails, gadget.heads)

    def dual(self, flow: FloatArray) -> FloatArray:
        """Return m_i and the net flow out of each place, O(size + edges)."""
        dual = np.concatenate([self.modular, np.zeros(self.auxiliaries)])
        kernels.active.edges_accumulate(self.tails, self.heads, flow, dual, 1.0)
        return dual[: self.modular.size]


class FlowNetwork:
    """The joined graph of a problem's terms, and the flow of a dual in it.

    Parameters
    ----------
    terms : sequence of Term
        Cuts, and terms with gadgets.
    unary : float array, shape (n,)
    dual : sequence of float arrays
        One for each term; that of an only cut is the flow, without a copy.

    Attributes
    ----------
    n : int
        The number of elements, which are the first nodes.
    edges : Edges
        Those of one term after the other, in the order of ``order``.
    order : list of int
        The numbers of the terms: cuts before others, smaller ones before larger ones.
    flow : float array, shape (edges,)
    """

    def __init__(self, terms: Sequence[Term], unary: FloatArray, dual: Dual) -> None:
        self.n = unary.size
        self._unary, self._costs = unary, list[FloatArray]()
        self._modular = np.zeros(0)
        self._places, self._slots = list[Places | None](), list[slice]()
        self.order = sorted(range(len(terms)), key=lambda i: _place(terms[i]))
        parts = (self._part(terms[i], dual[i], len(terms)) for i in self.order)
        size = network_size(terms)
        count = size.edges if size is not None else 0
        self.edges, self.flow = next(parts) if len(terms) == 1 else _joined(parts, count)

    def _part(self, term: Term, dual: FloatArray, terms: int) -> tuple[Edges, FloatArray]:
        """Return the edges of a term with their flow, and note where they are."""
        first = self._slots[-1].stop if self._slots else 0
        if isinstance(term, EdgeTerm):
            self._places.append(None)
            self._slots.append(slice(first, first + term.size))
            return _cut_edges(term, alone=terms == 1), dual
        gadget = term.gadget(dual)
        nodes = self.n + sum(costs.size for costs in self._costs)
        modular = scatter_sum(gadget.elements, gadget.modular, self.n)
        self._modular = self._modular + modular if self._modular.size else modular
        self._unary = self._unary + modular
        self._costs.append(gadget.costs)
        self._places.append(Places.of(gadget))
        self._slots.append(slice(first, first + gadget.flow.size))
        return _gadget_edges(gadget, nodes), gadget.flow

    def set_unary(self, unary: FloatArray) -> None:
        """Give the elements other costs; the flow stays as it is."""
        self._unary = unary + self._modular if self._modular.size else unary

    @property
    def magnitude(self) -> float:
        """The sum of the absolute costs of all nodes."""
        return float(sum(np.abs(costs).sum() for costs in (self._unary, *self._costs)))

    @property
    def costs(self) -> FloatArray:
        """The costs of all nodes: of the elements, with those of the gadgets, and auxiliaries."""
        return np.concatenate([self._unary, *self._costs])

    def imbalance(self, flow: FloatArray | None = None) -> FloatArray:
        """Return s of all nodes at the network's flow or another, O(nodes + edges).

        Sums are compensated, as a hub may have a million edges.
        """
        s, own = self.costs, self.flow if flow is None else flow
        kernels.active.add_net_flow(self.edges.tails, self.edges.heads, own, s)
        return s

    def sweep(self, s: FloatArray) -> FloatArray:
        """Minimise ||s||^2 over each edge in turn; return s, summed afresh, O(edges)."""
        kernels.active.edges_sweep_in_turn(*self.edges, self.flow, s)
        return self.imbalance()

    def search(self, s: FloatArray, warm: bool) -> GraphFlow:
        """Return the kernel for the residual graph, which changes the flow and `s` in place."""
        return kernels.active.GraphFlow(*self.edges, self.flow, s, warm)

    def dual(self, done: bool) -> Dual:
        """Return the dual of the flow, with what is left at auxiliaries moved to elements.

        What is left is summed afresh, and may be rounding.  A search that is not done keeps its
        flow.
        """
        flow = self.flow
        if self._costs:
            flow = flow if done else flow.copy()
            kernels.active.settle(*self.edges, flow, self.imbalance(flow), self.n)
        dual: Dual = [flow] * len(self.order)
        for i, places, own in zip(self.order, self._places, self._slots, strict=True):
            dual[i] = flow[own] if places is None else places.dual(flow[own])
        return dual


def _place(term: Term) -> tuple[bool, int, str]:
    """Return what terms are sorted by in a network."""
    return not isinstance(term, EdgeTerm), term.size, type(term).__name__


def _cut_edges(term: EdgeTerm, alone: bool) -> Edges:
    """Return the edges of a cut; if it is alone and of one segment, with its own arrays."""
    if alone and len(term.segments) == 1:
        forward, backward = term.segments[0][1:]
    else:
        forward, backward = term.weights_by_edge()
    return Edges(*term.edge_list(), backward, forward)


def _gadget_edges(gadget: Gadget, first: int) -> Edges:
    """Return the edges of gadgets whose auxiliaries are numbered from `first`."""
    auxiliaries = np.arange(first, first + gadget.costs.size, dtype=np.int32)
    node = np.concatenate([gadget.elements, auxiliaries])
    return Edges(node[gadget.tails], node[gadget.heads], gadget.backward, gadget.forward)


def _joined(parts: Iterable[tuple[Edges, FloatArray]], count: int) -> tuple[Edges, FloatArray]:
    """Put the edges of several terms and their flow one after the other."""
    tails, heads = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    backward, forward, flow = np.empty(count), np.empty(count), np.empty(count)
    first = 0
    for part, own in parts:
        slots = slice(first, first + own.size)
        tails[slots], heads[slots], backward[slots], forward[slots] = part
        flow[slots] = own
        first = slots.stop
    return Edges(tails, heads, backward, forward), flow
