"""What the two cut families share: functions of one edge, with one dual value each.

An edge (i, j) costs ``forward`` when i is in S and j is not, and ``backward`` the other way round.
Its base polytope is the segment {(t, -t) : -backward <= t <= forward}, without an end where a
weight is infinite (``capabilities.precedences``); the dual is t.  That is a flow value within the
edge's capacities, but the values of all edges are a pseudoflow: the net flow out of an element need
not be 0, it is what the edges add to its s.  A flow that conserves is another thing
(``submin.networks``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from math import isinf, prod
from typing import ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._lazy import lazy
from submin._sums import UNIT_ROUNDOFF, common_granularity, compensated_sum, sum_error
from submin._typing import FloatArray, IndexArray, WeightArray
from submin.terms.base.term import Slackness, Term, Violation
from submin.terms.capabilities.exchanges import EdgeExchanges
from submin.terms.capabilities.precedences import finite_weights
from submin.terms.capabilities.residuals import NO_ARCS, Arcs

Weights = TypeVar("Weights", FloatArray, WeightArray)


def edge_weights(name: str, values: Weights) -> Weights:
    """Check weights, which may be infinite, and flatten them, in one pass where all are finite."""
    array = values.ravel()
    if not kernels.active.nonnegative_sum(array, 0) < _checks.LARGEST_SUM:
        _checks.precedence_weights(name, values)
    return array


def of_one_type(a: WeightArray, b: WeightArray) -> tuple[WeightArray, WeightArray]:
    """Convert to float64 where only one of two arrays is; one weight for all edges fits either."""
    if a.dtype == b.dtype or 1 in (a.size, b.size):
        return a, b
    return a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)


def saved_weights(weights: WeightArray, shape: tuple[int, ...]) -> WeightArray:
    """Return weights as a file holds them: of that shape, or a scalar that stands for many."""
    return weights.reshape(() if weights.size == 1 != prod(shape) else shape)


class Segment(NamedTuple):
    """Consecutive edges of a term; weights have one entry per edge, or one for all of them.

    One entry is float64; arrays may be float32, then for both ways.
    """

    slots: slice
    forward: WeightArray
    backward: WeightArray


def clip_flow(
    flow: FloatArray,
    limits: tuple[WeightArray, WeightArray],
    step: tuple[FloatArray, FloatArray],
    weights: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Project edges without common ends in the norm of the weights, O(edges).

    The value t of an edge (i, j) becomes clip(t - (w_i step_i - w_j step_j) / (w_i + w_j)) between
    ``-limits[0]`` and ``limits[1]``; ``step`` and ``weights`` are at the tails and at the heads.
    """
    tail, head = weights
    moved = flow - (tail * step[0] - head * step[1]) / (tail + head)
    return np.clip(moved, -limits[0], limits[1])


class EdgeTerm(Term):
    """A sum of edge functions, held in a few segments of weights."""

    segments: Sequence[Segment]
    _known: ClassVar = ("_sums", "weight", "_finite")
    """What is computed from the weights, once."""

    def sizes(self) -> dict[str, object]:
        """Count the edges and the elements."""
        return {"edges": self.size, "elements": self.elements}

    def weight_arrays(self) -> list[WeightArray]:
        """Return the arrays of weights, each once: an undirected term has one for both ways."""
        pairs = [weights for _, *pair in self.segments for weights in pair]
        return list({id(weights): weights for weights in pairs}.values())

    def weights_by_edge(self) -> tuple[FloatArray, FloatArray]:
        """Return the forward and backward weights with one entry per edge, O(edges) of memory."""
        forward, backward = np.empty(self.size), np.empty(self.size)
        for slots, out, back in self.segments:
            forward[slots], backward[slots] = out, back
        return forward, backward

    @abstractmethod
    def edge_list(self) -> tuple[IndexArray, IndexArray]:
        """Return the tails and heads of all edges, in the order of the dual."""

    @lazy
    def _sums(self) -> dict[int, float]:
        """The sum of each array of weights, by its id; infinite if one of its weights is."""
        return {id(part): kernels.active.nonnegative_sum(part, 0) for part in self.weight_arrays()}

    @lazy
    def weight(self) -> float:
        """The sum of all finite weights, forward and backward, O(edges)."""
        part = self.finite_part()
        return sum(
            part._sums[id(weights)] * (len(range(self.size)[slots]) if weights.size == 1 else 1)
            for slots, *pair in part.segments
            for weights in pair
        )

    @lazy
    def _finite(self) -> Self:
        finite = {id(weights): finite_weights(weights) for weights in self.weight_arrays()}
        part = copy(self)
        for known in self._known:
            vars(part).pop(known, None)
        part.segments = tuple(
            Segment(slots, finite[id(forward)], finite[id(backward)])
            for slots, forward, backward in self.segments
        )
        return part

    def finite_part(self) -> Self:
        """Return the edges with 0 in place of infinite weights, O(edges) once."""
        return self._finite if any(map(isinf, self._sums.values())) else self

    def precedences(self) -> Arcs:
        """Return the arcs of infinite weight, O(edges) where there are some."""
        if not any(map(isinf, self._sums.values())):
            return NO_ARCS
        (tails, heads), (forward, backward) = self.edge_list(), self.weights_by_edge()
        out, back = np.isposinf(forward), np.isposinf(backward)
        if out.all() and not back.any():
            return Arcs(tails, heads)
        return Arcs(
            np.concatenate([tails[out], heads[back]]), np.concatenate([heads[out], tails[back]])
        )

    def check_data(self) -> None:
        """Refuse weights that were changed in place to something else than costs, O(edges)."""
        for known in self._known:
            vars(self).pop(known, None)
        if all(total < _checks.LARGEST_SUM for total in self._sums.values()):
            return
        for weights in self.weight_arrays():
            wide = _checks.float_array("weights", weights)
            changed = ~((wide >= 0.0) & ((wide < _checks.LARGEST_SUM) | np.isposinf(wide)))
            _checks.refuse_where("weights", wide, changed, "they were changed after construction")

    def zero_is_feasible(self) -> bool:
        """Weights are never negative, so t = 0 is always feasible."""
        return True

    def violation(self, dual: FloatArray) -> Violation:
        """Return the sum of the amounts by which values exceed their bounds, O(edges)."""
        total = sum(
            kernels.active.edges_excess(backward, forward, dual[slots], 0)
            for slots, forward, backward in self.segments
        )
        return Violation(total, 2.0 * UNIT_ROUNDOFF * total)

    @abstractmethod
    def close_sides(self, dual: FloatArray, room: float, side: npt.NDArray[np.int8]) -> None:
        """Decide elements by arcs of residual capacity above `room`, in place, O(edges).

        An edge (i, j) with the flow t leaves ``forward - t`` from i to j and ``backward + t`` from
        j to i; see ``kernels.closure``.
        """

    @abstractmethod
    def differences(self, x: FloatArray) -> Iterable[FloatArray]:
        """Return x_i - x_j of the edges of each segment, in the order of the dual."""

    def slackness(self, dual: FloatArray, x: FloatArray) -> Slackness:
        """Return the sum of residual capacities times differences of x, O(edges).

        Every product has a relative error alone: equal ends leave none, whatever the weights are.
        """
        total, error = 0.0, 0.0
        for (slots, forward, backward), ahead in zip(
            self.segments, self.differences(x), strict=True
        ):
            flow = dual[slots]
            room = np.where(ahead > 0.0, forward - flow, backward + flow)
            room[ahead == 0.0] = 0.0  # also where it is infinite
            if np.isposinf(room).any():
                return Slackness(float("inf"), 0.0)
            products = room * np.abs(ahead)
            lost = 2.0**-1074 * np.count_nonzero((room != 0.0) & (ahead != 0.0))  # underflow
            total += compensated_sum(products)
            error += 5.0 * UNIT_ROUNDOFF * float(np.sum(np.abs(products))) + lost
            error += sum_error(products)
        return Slackness(total, error)

    def shortage(self, dual: FloatArray) -> Slackness:
        """Return 0: what an edge adds to one end it takes from the other."""
        return Slackness(0.0, 0.0)

    def exchanges(self, dual: FloatArray) -> EdgeExchanges:
        """Return the residual capacities of the edges, with explicit ends, O(edges) of memory."""
        return EdgeExchanges(*self.edge_list(), *self.weights_by_edge(), dual)

    def magnitude(self, dual: FloatArray) -> float:
        """Return 2 sum |t|."""
        return 2.0 * kernels.active.absolute_sum(dual, 0)

    def granularity(self) -> float:
        """Return the granularity of the finite weights."""
        return common_granularity(*self.finite_part().weight_arrays())


class GraphTerm(EdgeTerm):
    """A sum of the edge functions of a graph, with the ends of each edge, in one segment."""

    tails: IndexArray
    heads: IndexArray

    @property
    def forward(self) -> WeightArray:
        """The cost of each edge whose tail is in S and whose head is not, or one for all."""
        return self.segments[0].forward

    @property
    def backward(self) -> WeightArray:
        """The cost of each edge whose head is in S and whose tail is not, or one for all."""
        return self.segments[0].backward
