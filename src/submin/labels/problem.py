"""The energy of a labelling, as arrays.

    E(x) = sum_v D_v(x_v) + sum over edges (v, w) of  weight d(x_v, x_w)
           + sum over groups C of  min(cap, min over labels p of  weight |{v in C: x_v != p}|)
           + costs of the labels that are used

A group is a node more, whose label is what its elements should have or, at the price of the cap,
*free*; an edge to each element costs the group's weight where the two labels differ and the node is
not free.  So everything is nodes and edges, of a few kinds of distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nextafter, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._lazy import lazy
from submin._sums import compensated_sum
from submin._typing import FloatArray, IndexArray, WeightArray
from submin.labels.distances import (
    LARGEST,
    POTTS,
    Distance,
    Linear,
    Potts,
    Quadratic,
    broken_triangle,
    distance_matrix,
)
from submin.labels.groups import RobustPotts
from submin.labels.label_costs import LabelCosts, Prices, Shares
from submin.terms import Cut, GridCut
from submin.terms.base.edges import EdgeTerm

Labels = npt.NDArray[np.int32]
Rows = npt.NDArray[np.float32]

LANES = 8
MOST_LABELS = 1000


LabelTerm = GridCut | Cut | RobustPotts | LabelCosts


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges by number: ends, weights, and which of the distances each has."""

    tails: IndexArray
    heads: IndexArray
    weights: FloatArray
    kinds: npt.NDArray[np.uint8]


class PricedCut(NamedTuple):
    """A cut, its place among the terms, and its distance."""

    place: int
    cut: GridCut | Cut
    distance: Distance | npt.ArrayLike


@dataclass(frozen=True, eq=False)
class Dual:
    """What proves a lower bound: for each edge a number for each label at its tail, and its head.

    Minus infinity stands at labels that are forbidden.  `shares` has what each element pays for
    each of the label costs, if there are any: None is nothing.
    """

    at_tail: WeightArray
    at_head: WeightArray
    shares: Shares | None = None

    @property
    def rows(self) -> tuple[Rows, Rows]:
        """The numbers of edges in single precision, as moves take them."""
        return self.at_tail.astype(np.float32, copy=False), self.at_head.astype(
            np.float32, copy=False
        )


class LabelProblem:
    """The energy that ``minimize_labels`` minimises.

    Parameters
    ----------
    costs : array_like, shape (labels, ...)
        D, in float32 or float64, used in place; infinite where a label is forbidden.
    terms : sequence of GridCut, Cut, RobustPotts, LabelCosts, or pairs of a cut and its distance
        Cuts must weigh the same both ways.
    distance : Potts, Linear, Quadratic or array_like of shape (labels, labels)
        Of cuts that come without one.

    Attributes
    ----------
    shape : tuple of int
        Of a labelling.
    labels, n : int
        The numbers of labels and of elements.
    nodes, width : int
        Elements and groups; labels, with *free* if there are groups, in whole lanes.
    prices : Prices
        Of labels that are used.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If shapes do not fit, or a number is NaN, negative or too large where it must not be; if an
        element has no label that is allowed.
    """

    def __init__(
        self,
        costs: npt.ArrayLike,
        terms: Sequence[LabelTerm | tuple[GridCut | Cut, Distance | npt.ArrayLike]] = (),
        distance: Distance | npt.ArrayLike = POTTS,
    ) -> None:
        table = _cost_table(costs)
        self.labels, self.shape = len(table), table.shape[1:]
        self.n = prod(self.shape)
        self.costs = table.reshape(self.labels, self.n)
        _check_costs(self.costs, self.shape)
        _refuse_no_label(self.least_costs, self.shape)
        self.cuts, self.groups = list[PricedCut](), list[RobustPotts]()
        prices = list[tuple[str, LabelCosts]]()
        for k, term in enumerate(terms):
            if isinstance(term, RobustPotts):
                self.groups.append(term)
            elif isinstance(term, LabelCosts):
                prices.append((f"terms[{k}]", term))
            else:
                self.cuts.append(_priced_cut(k, term, distance))
        self.prices = Prices(self.labels, prices)
        self.nodes = self.n + sum(term.groups for term in self.groups)
        width = self.labels + bool(self.groups)
        self.width = -(-width // LANES) * LANES
        self.distances, self.edges = self._edges()

    def _edges(self) -> tuple[FloatArray, Edges]:
        """Join the edges of all terms, each with its kind of distance."""
        kinds, parts, first = list[FloatArray](), list[Edges](), self.n
        for k, cut, distance in self.cuts:
            matrix = self._padded(f"the distance of terms[{k}]", distance, False)
            parts.append(_cut_edges(k, cut, _number_of(matrix, kinds), self.n))
        for group in self.groups:
            kind = _number_of(self._padded("distance", POTTS, True), kinds)
            parts.append(_group_edges(group, first, kind, self.n))
            first += group.groups
        if len(kinds) > 256:
            raise ValueError(f"terms have {len(kinds)} different distances; at most 256")
        matrices = np.stack(kinds) if kinds else np.zeros((1, self.width, self.width))
        edges = _joined(parts)
        largest = float(edges.weights.max(initial=0.0)) * float(matrices.max())
        if not largest < LARGEST:
            raise ValueError(f"an edge costs up to {largest:.3g}: scale weights or distances down")
        return matrices, edges

    def _padded(self, name: str, distance: Distance | npt.ArrayLike, groups: bool) -> FloatArray:
        """Return the distances with rows of the width; a free group is near to all labels."""
        own = distance_matrix(name, distance, self.labels)
        matrix = np.full((self.width, self.width), own.max(initial=0.0))
        matrix[: self.labels, : self.labels] = own
        if groups:
            matrix[self.labels], matrix[:, self.labels] = 0.0, 0.0
        np.fill_diagonal(matrix, 0.0)
        return matrix

    def rows(self) -> Rows:
        """Return the costs of all nodes, a row each, in single precision; O(nodes · labels)."""
        rows = np.full((self.nodes, self.width), np.inf, dtype=np.float32)
        rows[: self.n, : self.labels] = self.costs.T
        for first, term in self._places():
            rows[first : first + term.groups, : self.labels] = 0.0
            rows[first : first + term.groups, self.labels] = term.caps
        return rows

    def _places(self) -> list[tuple[int, RobustPotts]]:
        """Return the groups, with the number of the first node of each term."""
        sizes = np.cumsum([self.n, *(term.groups for term in self.groups)])
        return list(zip(sizes.tolist(), self.groups, strict=False))

    @lazy
    def all_costs(self) -> WeightArray:
        """The costs of all nodes, a row for each label; those given, unless there are groups."""
        if not self.groups:
            return self.costs
        table = np.full((self.labels + 1, self.nodes), np.inf)
        table[: self.labels, : self.n] = self.costs
        for first, term in self._places():
            table[: self.labels, first : first + term.groups] = 0.0
            table[self.labels, first : first + term.groups] = term.caps
        return table

    @lazy
    def is_integral(self) -> bool:
        """Whether all finite data are integers, and energies are sums that float64 has exactly."""
        table = self.all_costs
        finite = np.where(np.isfinite(table), table, 0.0)
        parts = (finite, self.edges.weights, self.distances, self.prices.prices)
        if not all(np.array_equal(part, np.rint(part)) for part in parts):
            return False
        return self.size < _checks.LARGEST_EXACT_INTEGER

    @lazy
    def size(self) -> float:
        """The sum of the largest costs of elements and edges, without signs."""
        table = self.all_costs
        largest = np.abs(np.where(np.isfinite(table), table, 0.0)).max(axis=0)
        total = largest.sum(dtype=np.float64) + self.edges.weights.sum() * self.distances.max()
        return float(total + self.prices.prices.sum())

    @lazy
    def breaks_triangles(self) -> bool:
        """Whether a distance is no metric, so that expansions alone may miss what swaps find."""
        known = [own for _, _, own in self.cuts if not isinstance(own, Potts | Linear)]
        matrices = [distance_matrix("distance", own, self.labels) for own in known]
        return any(broken_triangle(matrix) is not None for matrix in matrices)

    @lazy
    def has_steps(self) -> bool:
        """Whether a distance is one of labels in their order."""
        return any(isinstance(distance, Linear | Quadratic) for _, _, distance in self.cuts)

    @lazy
    def cheapest(self) -> Labels:
        """The label of least cost of each element."""
        cheapest: Labels = np.argmin(self.costs, axis=0).astype(np.int32)
        return cheapest

    @property
    def least_costs(self) -> WeightArray:
        """The least cost of each element."""
        return self.costs[self.cheapest, np.arange(self.n)]

    def checked_labels(self, name: str, labels: npt.ArrayLike) -> Labels:
        """Return a labelling as a flat array, or refuse it.

        Raises ``TypeError`` if it does not hold integers, and ``ValueError`` if it has another
        shape, or a label that is out of range or forbidden.
        """
        given = np.asarray(labels)
        if given.dtype.kind not in "iu":
            raise TypeError(f"{name} must hold integers, but its type is {given.dtype}")
        if given.shape != self.shape:
            raise ValueError(f"{name} has shape {given.shape}, but the elements have {self.shape}")
        wrong = (given < 0) | (given >= self.labels)
        _checks.refuse_where(name, given, wrong, f"labels are 0 to {self.labels - 1}")
        flat = given.ravel().astype(np.int32)
        own = self.costs[flat, np.arange(self.n)].reshape(self.shape)
        _checks.refuse_where(name, given, np.isinf(own), "that label is forbidden there")
        return flat

    def evaluate(self, labels: npt.ArrayLike) -> float:
        """Return E of a labelling, in units of cost; groups have the best label for it.

        Raises ``TypeError`` and ``ValueError`` as ``checked_labels``.

        Examples
        --------
        >>> import submin as sm
        >>> problem = sm.LabelProblem([[0.0, 1.0], [2.0, 0.0]], [sm.GridCut(2, 0.5)])
        >>> problem.evaluate([0, 1])
        0.5
        """
        return self.value(self.with_groups(self.checked_labels("labels", labels)))

    def checked_dual(self, dual: Dual) -> Dual:
        """Return a dual that fits, or refuse it with ``ValueError``.

        -infinity may stand at forbidden labels alone; numbers that are not finite prove nothing.
        """
        count = (self.edges.tails.size, self.width)
        parts = [_checks.weight_array("dual", part) for part in (dual.at_tail, dual.at_head)]
        for part, ends in zip(parts, (self.edges.tails, self.edges.heads), strict=True):
            if part.shape != count:
                raise ValueError(f"the dual has rows of shape {part.shape}, but edges need {count}")
            own = part[:, : len(self.all_costs)]
            forbidden = np.isinf(self.all_costs[:, ends]).T
            if not np.all(np.isfinite(own) | (forbidden & np.isneginf(own))):
                raise ValueError("the dual holds a number that is not finite, so it proves nothing")
        return Dual(parts[0], parts[1], self._checked_shares(dual.shares))

    def _checked_shares(self, shares: Shares | None) -> Shares | None:
        if shares is None:
            return None
        own, shape = np.asarray(shares), (len(self.prices), self.n)
        if own.shape != shape:
            raise ValueError(f"the dual has shares of shape {own.shape}, but it must be {shape}")
        if not np.all(np.abs(own) < LARGEST):
            raise ValueError(
                "the dual holds a share of 1e30 or more, or none, so it proves nothing"
            )
        return own.astype(np.float32)

    def improved_groups(self, labels: Labels) -> Labels:
        """Return labels of all nodes with the best ones for the groups."""
        return self.with_groups(labels[: self.n]) if self.groups else labels

    def with_groups(self, labels: Labels) -> Labels:
        """Return the labels of all nodes: a group has the best for its elements; O(edges)."""
        extra = [labels]
        for term in self.groups:
            group = np.repeat(np.arange(term.groups), np.diff(term.pointers))
            counts = np.zeros((term.groups, self.labels), dtype=np.int64)
            np.add.at(counts, (group, labels[term.members]), 1)
            most = counts.argmax(axis=1)
            others = np.diff(term.pointers) - counts[np.arange(term.groups), most]
            own = np.where(term.weights * others <= term.caps, most, self.labels)
            extra.append(own.astype(np.int32))
        return np.concatenate(extra)

    def value(self, labels: Labels, threads: int = 0) -> float:
        """Return E of the labels of all nodes, rounded once or twice; O(nodes + edges)."""
        table, edges = self.all_costs, self.edges
        chosen = table[labels, np.arange(self.nodes)]
        between = kernels.active.label_distances(
            edges.tails, edges.heads, edges.weights, edges.kinds, self.distances, labels, threads
        )
        return compensated_sum(chosen) + between + self.prices.cost(labels[: self.n])

    def bound(self, dual: Dual, threads: int = 0) -> float:
        """Return the lower bound that a dual proves; O(nodes · labels + edges · labels)."""
        edges = self.edges
        bound = kernels.active.label_bound(
            self.shared_costs(dual.shares), edges.tails, edges.heads, edges.weights, edges.kinds,
            self.distances, dual.at_tail, dual.at_head, threads,
        )  # fmt: skip
        short = 0.0 if dual.shares is None else self.prices.shortfall(dual.shares)
        return nextafter(bound + short, -inf) if short else bound

    def shared_costs(self, shares: Shares | None) -> WeightArray:
        """Return the costs of all nodes, with what elements pay for labels."""
        if shares is None:
            return self.all_costs
        return self.prices.shared(self.all_costs, shares)


def _cost_table(costs: npt.ArrayLike) -> WeightArray:
    table = _checks.weight_array("costs", costs)
    if table.ndim < 2 or 0 in table.shape:
        raise ValueError(
            f"costs has shape {table.shape}: it must be (labels, ...), with one cost or more for "
            "each label and element"
        )
    if len(table) > MOST_LABELS:
        raise ValueError(f"costs has {len(table)} labels along its first axis; at most 1000")
    return table


def _check_costs(costs: WeightArray, shape: tuple[int, ...]) -> None:
    """Refuse costs that are no numbers or too large, O(size)."""
    for label, own in enumerate(costs):
        wrong = ~((np.abs(own) < LARGEST) | np.isposinf(own))
        _checks.refuse_where(
            f"costs[{label}]", own.reshape(shape), wrong.reshape(shape),
            "it must be a number of less than 1e30, or inf for a forbidden label",
        )  # fmt: skip


def _refuse_no_label(least: WeightArray, shape: tuple[int, ...]) -> None:
    """Refuse elements whose labels are all forbidden."""
    forbidden = np.isinf(least).reshape(shape)
    if forbidden.any():
        index = _checks.first_index(forbidden)
        raise ValueError(
            f"costs[:, {', '.join(map(str, index))}] are all infinite: no label is allowed"
        )


def _priced_cut(
    index: int,
    term: GridCut | Cut | tuple[GridCut | Cut, Distance | npt.ArrayLike],
    distance: Distance | npt.ArrayLike,
) -> PricedCut:
    """Return a cut with its distance, which is the one of all if it has none of its own."""
    cut, own = term if isinstance(term, tuple) and len(term) == 2 else (term, distance)
    if not isinstance(cut, GridCut | Cut):
        raise TypeError(
            f"terms[{index}] is a {type(term).__name__}; it must be a GridCut, a Cut, "
            "submin.labels.RobustPotts or submin.labels.LabelCosts, or a pair of a cut and its "
            "distance"
        )
    return PricedCut(index, cut, own)


def _number_of(matrix: FloatArray, kinds: list[FloatArray]) -> int:
    """Return the number of a kind of distance, which joins the known ones if it is new."""
    for k, known in enumerate(kinds):
        if np.array_equal(known, matrix):
            return k
    kinds.append(matrix)
    return len(kinds) - 1


def _cut_edges(index: int, term: EdgeTerm, kind: int, n: int) -> Edges:
    if term.elements > n or (isinstance(term, GridCut) and term.elements != n):
        raise ValueError(
            f"terms[{index}] has {term.elements} elements, but costs has {n} behind its first axis,"
            " that of the labels"
        )
    forward, backward = term.weights_by_edge()
    if not np.array_equal(forward, backward):
        edge = int(np.argmax(forward != backward))
        raise ValueError(
            f"terms[{index}] weighs edge {edge} {forward[edge]} one way and {backward[edge]} the "
            "other; labels need the same weight both ways"
        )
    _checks.weights(f"weights of terms[{index}]", forward)
    tails, heads = term.edge_list()
    apart = tails != heads
    if not apart.all():
        tails, heads, forward = tails[apart], heads[apart], forward[apart]
    return Edges(tails, heads, forward, np.full(tails.size, kind, dtype=np.uint8))


def _group_edges(term: RobustPotts, first: int, kind: int, n: int) -> Edges:
    _checks.refuse_where(
        "members", term.members, term.members >= n, f"element numbers must be below {n}"
    )
    group = np.repeat(np.arange(term.groups, dtype=np.int32), np.diff(term.pointers))
    kinds = np.full(group.size, kind, dtype=np.uint8)
    return Edges(term.members, group + np.int32(first), term.weights[group], kinds)


def _joined(parts: Sequence[Edges]) -> Edges:
    if len(parts) == 1:
        return parts[0]
    empty = np.zeros(0, dtype=np.int32)
    none = Edges(empty, empty, np.zeros(0), np.zeros(0, dtype=np.uint8))
    several = [*parts, none]
    return Edges(
        np.concatenate([part.tails for part in several]),
        np.concatenate([part.heads for part in several]),
        np.concatenate([part.weights for part in several]),
        np.concatenate([part.kinds for part in several]),
    )


def checked_problem(problem: object) -> LabelProblem:
    """Refuse what is no problem of labels."""
    if not isinstance(problem, LabelProblem):
        raise TypeError(
            f"problem is a {type(problem).__name__}: make a LabelProblem(costs, terms, distance)"
        )
    return problem
