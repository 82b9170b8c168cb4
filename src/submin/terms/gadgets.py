"""Gadgets: functions of a term as cuts of a few more nodes, the auxiliaries, that are minimised out.

    F_i(S) = m_i(S) + min over T of C_i(S ∪ T),     C_i(Z) = c_i(T) + cut_i(Z),  Z = S ∪ T

T is a set of auxiliaries of function i, c_i their costs, m_i modular, cut_i the cut function of a
graph on the elements R of F_i and the auxiliaries A (Lawler 1973, doi:10.1002/net.3230030306;
Kohli, Ladický, Torr 2009, doi:10.1007/s11263-008-0202-0).  A sum of such functions is minimised by
a maximum flow on the joined graph, with the auxiliaries as elements of their own.

Minimisers.  F(S) = min over T of C(S ∪ T), so that S is a minimiser of F exactly if some S ∪ T is
one of C.  Those of C are closed under intersection and union: the smallest lies in each S ∪ T, and
its elements are a minimiser of F, hence the smallest.  The largest likewise.

Dual.  A flow within the weights gives node v of gadget i the net flow y_i(v) out of it, and an
auxiliary a the imbalance s(a) = c_i(a) + y_i(a).  As cut_i(Z) >= y_i(Z) for each Z, a flow that
leaves no imbalance has

    m_i(S) + y_i(S) <= m_i(S) + C_i(S ∪ T)  for all T,  hence  m_i + y_i is in P(F_i)

and in the base polytope B(F_i), since y_i(R) = c_i(A) = C_i(R ∪ A) = F_i(R) - m_i(R) if

    C_i(T) >= 0 = C_i(∅)   and   C_i(R ∪ T) >= C_i(R ∪ A)      for all T,

which each gadget here fulfils.  The same two conditions say that imbalance can always leave: if the
auxiliaries X are all that a negative imbalance reaches along residual arcs, without an element,
then the arcs out of X are full and those into it empty, so s(X) = C_i(X) >= 0, and what is negative
meets what is positive; if X are all that reach a positive one, s(X) = C_i(R ∪ A) - C_i(R ∪ A - X)
<= 0.  At a maximum flow that costs nothing: what negative imbalance reaches has s <= 0, and what
reaches a positive one has s >= 0, so moving it along residual arcs to elements keeps the bound
sum_v min(0, s_v).

Weights that a cut must never pay, infinite in the literature, are finite here: the most that the
function costs, w for a hyperedge, is enough, since paying it once is no cheaper than the minimum.

Gadgets of the families, for a function of k elements:

    hyperedge w [S meets the tails, misses a head]     tail -> a -> b -> head, all of weight w:
                                                       2 auxiliaries, at most 2k + 1 edges
    the same of two elements                           an edge
    truncation min(m(S), c),  0 < c < m(R)             v -> a of weight m(v), c(a) = c:
                                                       1 auxiliary, k edges
    concave g(|S|)                                     a truncation for each change of slope
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from submin._sums import scatter_sum
from submin._typing import FloatArray, IndexArray


class GadgetSize(NamedTuple):
    """How many auxiliaries and edges the gadgets of a term have."""

    auxiliaries: int
    edges: int


class Gadget(NamedTuple):
    """The gadgets of a term's functions, and the flow that a dual is in them.

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

    places: IndexArray
    star: IndexArray
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
