"""Gadgets: functions as cuts of a graph with a few more nodes, auxiliaries, that are minimised out.

    F_i(S) = m_i(S) + min over T of C_i(S ∪ T),     C_i(Z) = c_i(Z ∩ A) + cut_i(Z)

A are the auxiliaries of function i, T their subsets, c_i >= 0 their costs, m_i modular, and cut_i
the cut function of a graph on A and the elements R of F_i.  A sum of such functions is minimised by
a maximum flow on the joined graph, in which auxiliaries are elements like others (Lawler 1973,
doi:10.1002/net.3230030306, for hyperedges; Kohli, Ladický, Torr 2009,
doi:10.1007/s11263-008-0202-0, for robust potentials).  For a function of k elements:

    w [S meets the tails, misses a head]     tail -> a -> b -> head, each of weight w
                                             2 auxiliaries, one edge for each tail and head, a -> b
    the same of 2 elements                   an edge
    min(m(S), c),  0 < c < m(R)              v -> a of weight m(v), c(a) = c
                                             1 auxiliary, k edges
    g(|S|), g concave                        such a truncation for each change of slope
    tables of 2 or 3 elements                edges, and a truncation (see ``table_gadgets``)

Weights that a cut must never pay, infinite in the literature, are finite here: a set that pays w
for one of them is no cheaper than the hyperedge, which costs w or nothing.

Minimisers.  As F(S) = min over T of C(S ∪ T), the minimisers of F are those of C without their
auxiliaries.  The smallest minimiser of C lies in all others, so that its elements lie in all
minimisers of F, and are one: the smallest.  Likewise the largest.

Dual.  A pseudoflow within the weights gives each node v of gadget i the net flow y_i(v) out of it,
and leaves at an auxiliary a the imbalance s(a) = c_i(a) + y_i(a).  If it is 0, cut_i(Z) >= y_i(Z)
says that y_i(S) <= C_i(S ∪ T) for all S and T, and hence that m_i + y_i is in P(F_i); it is in the
base polytope B(F_i), since y_i(R) = c_i(A) and C_i(R ∪ A) = c_i(A) is what F_i(R) - m_i(R) is if no
auxiliary is better left out.  That is so if each auxiliary has

    c(a) + (weights to other auxiliaries) <= (weights from elements)
    (weights from other auxiliaries) - c(a) <= (weights to elements)

which all gadgets here have.  Then there is also room on the edges between each auxiliary and the
elements for its imbalance, whatever the flow.  At a maximum flow, moving it to elements keeps
sum_v min(0, s_v), and so the bound: what residual arcs reach from s < 0 has s <= 0, and what
reaches s > 0 has s >= 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray


class GadgetSize(NamedTuple):
    """How many auxiliaries and edges the gadgets of a term have."""

    auxiliaries: int
    edges: int


class Gadget(NamedTuple):
    """The gadgets of a term's functions, and the pseudoflow that a dual is in them.

    Its nodes are the places of the dual, which has one value for each member of each function, and
    then the auxiliaries.

    Attributes
    ----------
    elements : int array, shape (size,)
        The element of each place.
    modular : float array, shape (size,)
        m_i of each place.
    costs : float array, shape (auxiliaries,)
        c_i of each auxiliary.
    tails, heads : int array, shape (edges,)
        Nodes: places from 0, auxiliaries from ``size``.
    forward, backward : float array, shape (edges,)
        Cost of an edge whose tail (head) is in Z and whose other end is not.
    flow : float array, shape (edges,)
        Within ``-backward`` and ``forward``; without imbalance where the family can, up to
        rounding, a start for the search and no more.
    """

    elements: IndexArray
    modular: FloatArray
    costs: FloatArray
    tails: IndexArray
    heads: IndexArray
    forward: FloatArray
    backward: FloatArray
    flow: FloatArray


class Stars(NamedTuple):
    """Truncations ``min(m(S), c)``, each on some places of a dual: ``places[k]`` is in ``star[k]``.

    ``masses`` has one number for each place, ``caps`` one for each star, more than 0 and at most
    the mass of the star.
    """

    places: npt.NDArray[np.integer[Any]]
    star: npt.NDArray[np.integer[Any]]
    masses: FloatArray
    caps: FloatArray

    def gadget(self, elements: IndexArray, modular: FloatArray, flow: FloatArray) -> Gadget:
        """Return an auxiliary of cost c for each star, with an edge of weight m(v) from each v."""
        return Gadget(
            elements=elements,
            modular=modular,
            costs=self.caps,
            tails=self.places.astype(np.int32),
            heads=(elements.size + self.star).astype(np.int32),
            forward=self.masses,
            backward=np.zeros(self.places.size),
            flow=np.clip(flow, 0.0, self.masses),
        )
