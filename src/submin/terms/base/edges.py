"""What the two cut families share: functions of one edge, with one dual value each.

An edge (i, j) costs ``forward`` when i is in S and j is not, and ``backward`` the other way round.
Its base polytope is the segment {(t, -t) : -backward <= t <= forward}; the dual is t.  That is a
flow value within the edge's capacities, but the values of all edges are a pseudoflow: the net flow
out of an element need not be 0, it is what the edges add to its s.  A flow that conserves is
another thing (``submin.networks``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._lazy import lazy
from submin._sums import UNIT_ROUNDOFF, common_granularity, compensated_sum, sum_error
from submin._typing import FloatArray, IndexArray, WeightArray
from submin.terms.base.term import Slackness, Term, Violation
from submin.terms.capabilities.exchanges import EdgeExchanges

Weights = TypeVar("Weights", FloatArray, WeightArray)


def edge_weights(name: str, values: Weights) -> Weights:
    """Check weights (see ``_checks.weights``) and flatten them, in one pass where all are well."""
    array = values.ravel()
    if not kernels.active.nonnegative_sum(array, 0) < _checks.LARGEST_SUM:
        _checks.weights(name, values)
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
    def weight(self) -> float:
        """The sum of all weights, forward and backward, O(edges)."""
        sums = {id(part): kernels.active.nonnegative_sum(part, 0) for part in self.weight_arrays()}
        return sum(
            sums[id(part)] * (len(range(self.size)[slots]) if part.size == 1 else 1)
            for slots, *pair in self.segments
            for part in pair
        )

    def check_data(self) -> None:
        """Refuse weights that were changed in place to something else than costs, O(edges)."""
        vars(self).pop("weight", None)
        if self.weight < _checks.LARGEST_SUM:
            return
        for weights in self.weight_arrays():
            wide = _checks.float_array("weights", weights)
            changed = ~((wide >= 0.0) & (wide < _checks.LARGEST_SUM))
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
        """Return the granularity of the weights."""
        return common_granularity(*self.weight_arrays())
