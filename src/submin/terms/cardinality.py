"""Concave functions of the cardinality of S in groups of elements.

    F(S) = sum over groups R of  g_R(|S and R|),   g_R concave, g_R(0) = 0

Superpixel consistency |S and R| |R without S| is the standard example (Jegelka, Bach, Sra 2013).
The projection sorts the target and regresses it isotonically against the gains
c_j = g(j) - g(j - 1) (Suehiro et al. 2012, doi:10.1007/978-3-642-34106-9_22; Lim & Wright 2016):

    a = y - s / c in decreasing order,   x = nonincreasing regression of a - gains,   y+ = a - x
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._lazy import lazy
from submin._sums import (
    UNIT_ROUNDOFF,
    adds_exactly,
    compensated_sum,
    is_exact,
    scatter_sum,
    second_order_error,
    summable_granularity,
)
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.terms.base.groups import GroupBlock, GroupTerm, incidences, label_groups, ranges
from submin.terms.base.term import Block, Piece, TermMinor, Violation
from submin.terms.capabilities.exchanges import GroupExchanges
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.gadgets import Gadget, GadgetSize, Stars
from submin.terms.capabilities.residuals import Arcs, count_arcs, joined, touched
from submin.terms.concave_functions import TOLERANCE, hull_excess, largest, owners
from submin.terms.slopes import Turns, changes_of_slope, split

ConcaveFunction = Callable[[FloatArray, int], npt.ArrayLike]


class Cardinality(GroupTerm):
    """Concave functions of the number of members that S has in each group.

    Parameters
    ----------
    pointers : array_like of int, shape (groups + 1,)
        Group i has the elements ``members[pointers[i]:pointers[i + 1]]`` (CSR, like SciPy).
    members : array_like of int, shape (incidences,)
        Element numbers in C order of the ground set; no element twice in one group.
    function : callable (k, m) -> g
        Called once for each group size m with ``k = 0., 1., ..., m``; returns g(k), shape (m + 1,).

    Raises
    ------
    ValueError
        If g is not concave, not finite, g(0) is not 0, or the groups are malformed.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> pair = sm.Cardinality([0, 3], [0, 1, 2], lambda k, m: k * (m - k))
    >>> pair.evaluate(np.array([True, False, False]))
    2.0
    """

    kind = "cardinality"

    def __init__(
        self, pointers: npt.ArrayLike, members: npt.ArrayLike, function: ConcaveFunction
    ) -> None:
        self._set_groups(pointers, members)
        sizes = np.diff(self.pointers)
        tables = {int(m): _concave_table(function, int(m)) for m in np.unique(sizes)}
        self._complete(np.concatenate([np.zeros(0), *(tables[int(m)] for m in sizes)]))

    def _complete(self, values: FloatArray) -> None:
        """Store the values of all groups, one after the other, and their gains."""
        self.values = values
        self.value_pointers = self.pointers + np.arange(self.pointers.size)
        self.gains = np.delete(np.diff(values), self.value_pointers[1:-1] - 1)

    @classmethod
    def of_values(
        cls, pointers: PointerArray, members: IndexArray, values: FloatArray
    ) -> Cardinality:
        """Build groups from g(0), ..., g(m) of each, which must be concave, without a check."""
        term = Cardinality.__new__(Cardinality)
        term._set_groups(pointers, members)
        term._complete(values)
        return term

    @classmethod
    def from_labels(cls, labels: npt.ArrayLike, function: ConcaveFunction) -> Self:
        """Build one group per distinct label; the groups partition the labelled elements.

        Parameters
        ----------
        labels : array_like of int, any shape
            One label for each element of the ground set (superpixels, say).  Elements with a
            negative label are in no group.
        function : callable (k, m) -> g
            As for the constructor.

        Examples
        --------
        >>> import numpy as np, submin as sm
        >>> labels = np.array([[0, 0, 1], [0, 1, 1]])
        >>> superpixels = sm.Cardinality.from_labels(labels, lambda k, m: k * (m - k))
        >>> superpixels
        <Cardinality groups=2, members=6, elements=6>
        >>> superpixels.evaluate(np.array([True, False, False, False, False, False]))
        2.0
        """
        shape, size = np.shape(labels), np.size(labels)
        if not size:
            raise ValueError(f"labels is empty (shape {shape}): it needs an element or more")
        term = cls(*label_groups(labels), function)
        term.shape, term.elements = shape, size
        return term

    def _counts(self, members: BoolArray) -> PointerArray:
        counts = np.empty(self.pointers.size - 1, dtype=np.int64)
        inside = _checks.flat_mask("members", members).view(np.uint8)
        kernels.active.group_counts(self.pointers, self.members, inside, counts, 0)
        return counts

    def evaluate(self, members: BoolArray) -> float:
        """Return the sum of ``g(|S and R|)``, O(incidences)."""
        return compensated_sum(self.values[self.value_pointers[:-1] + self._counts(members)])

    def value_error(self, members: BoolArray) -> float:
        """Bound the rounding errors of rounding errors, O(groups)."""
        return second_order_error(self.pointers.size, self._scale)

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Give the j-th member of a group in the order of `rank` the j-th gain."""
        out = np.empty(self.size)
        kernels.active.cardinality_greedy(self.pointers, self.members, self.gains, rank, out, 0)
        return out

    def feasible_start(self) -> FloatArray:
        """Return the mean of all greedy vertices: g(m) / m everywhere, which is 0 if g(m) = 0."""
        ends = self.values[self.value_pointers[1:] - 1]
        mean: FloatArray = (ends / np.maximum(np.diff(self.pointers), 1))[self.group_of]
        return mean

    def violation(self, dual: FloatArray) -> Violation:
        """Return sum_R max_k (the k largest values of y_R - g_R(k)), O(k log k).

        The error counts the last digits of g's values too, which come from a formula in floats,
        unless these and y are multiples of one number.
        """
        excess = kernels.active.cardinality_excess(self.pointers, self.values, dual, 0)
        if adds_exactly(float(np.sum(np.abs(dual))) + self._scale, dual, self.values):
            return Violation(*excess)
        return Violation(excess[0], excess[1] + 4.0 * UNIT_ROUNDOFF * self._scale)

    @lazy
    def _scale(self) -> float:
        """The sum of the largest |g| of each group."""
        if self.pointers.size == 1:
            return 0.0
        return float(np.sum(np.maximum.reduceat(np.abs(self.values), self.value_pointers[:-1])))

    def residual_arcs(self, dual: FloatArray, room: float, near: BoolArray) -> Arcs:
        """Return the arcs of the groups, O(k log k) for each of k members."""
        arcs = list[Arcs]()
        for group in touched(self.pointers, self.members, near):
            places = slice(*self.pointers[group : group + 2])
            values = self.values[slice(*self.value_pointers[group : group + 2])]
            arcs.append(count_arcs(self.members[places], values, dual[places], room))
        return joined(arcs)

    def exchanges(self, dual: FloatArray) -> CardinalityExchanges:
        """Return the exchange capacities, O(k log k) for each element of a group of k."""
        return CardinalityExchanges(self, dual)

    @lazy
    def turns(self) -> Turns:
        """The changes of slope of every g, O(incidences)."""
        return changes_of_slope(self.values, self.value_pointers, self.granularity() > 0.0)

    def gadget_size(self) -> GadgetSize:
        """Count an auxiliary for each change of slope, and for each of these an edge a member."""
        groups = self.turns.group
        return GadgetSize(groups.size, int(np.diff(self.pointers)[groups].sum()))

    def gadget(self, dual: FloatArray) -> Gadget:
        """Return a truncation for each change of slope, and the last slope as the modular part."""
        group, at, drop, last = self.turns
        sizes, places = np.diff(self.pointers)[group], incidences(self.pointers, group)
        star, modular = np.repeat(np.arange(group.size), sizes), last[self.group_of]
        stars = Stars(places, star, np.repeat(drop, sizes), drop * at)
        return stars.gadget(self.members, modular, split(self, self.turns, dual - modular))

    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the sums of last and first gains of the groups of each element."""
        sizes = np.diff(self.pointers)
        filled = sizes > 0
        first, last = np.zeros(sizes.size), np.zeros(sizes.size)
        first[filled] = self.gains[self.pointers[:-1][filled]]
        last[filled] = self.gains[self.pointers[1:][filled] - 1]
        low = scatter_sum(self.members, last[self.group_of], n)
        return low, scatter_sum(self.members, first[self.group_of], n)

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return g(a + j) - g(a) of the j free members in S, a of the group being inside."""
        kept = self.select(fixing.free[self.members], fixing)
        first = (self.value_pointers[:-1] + self._counts(fixing.inside))[kept.groups]
        sizes = np.diff(kept.pointers) + 1
        values = self.values[ranges(first, sizes)] - np.repeat(self.values[first], sizes)
        piece = Piece(self.of_values(kept.pointers, kept.members, values), kept.slots)
        return TermMinor([piece], np.zeros(fixing.elements.size), self.evaluate(fixing.inside))

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Put groups without common elements into one block; a partition is one block."""
        order = _identity_orders(self.pointers)
        classes = self.group_classes(decomposition)
        return [CardinalityBlock(self, groups, order, threads) for groups in classes]

    def granularity(self) -> float:
        """Return the granularity of the values of g."""
        return summable_granularity(self.values)

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return the groups and the tables of values."""
        shape = np.array(self.shape if self.shape is not None else ())
        return {
            "pointers": self.pointers,
            "members": self.members,
            "values": self.values,
            "shape": shape.astype(np.int64),
        }

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family."""
        return [
            cls.from_labels([0, 1, 0, 1, 1], lambda k, m: k * (m - k)),
            cls([0, 3, 5, 6], [0, 2, 4, 4, 1, 4], lambda k, m: np.sqrt(k) - 0.3 * k),
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a cardinality term."""
        term = cls.__new__(cls)
        term._set_groups(arrays["pointers"], arrays["members"])
        values = np.array(arrays["values"], dtype=np.float64)
        starts = term.pointers + np.arange(term.pointers.size)
        if values.shape != (starts[-1],):
            raise ValueError(f"values has shape {values.shape}: it must be ({starts[-1]},)")
        _check_concave(values, starts)
        term._complete(values)
        if arrays["shape"].size:
            term.shape = tuple(arrays["shape"].tolist())
            term.elements = int(np.prod(term.shape))
        return term


def _concave_table(function: ConcaveFunction, m: int) -> FloatArray:
    """Tabulate g(0), ..., g(m) and check it; an empty group needs no value but g(0) = 0."""
    if m == 0:
        return np.zeros(1)
    k = np.arange(m + 1, dtype=np.float64)
    try:
        values = function(k, m)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"function(k, {m}) failed: {error}; it is called with the array k = 0..{m} and the "
            "number m, so use NumPy functions such as np.minimum inside"
        ) from error
    table = _checks.float_array(f"function(k, {m})", values)
    if table.shape != (m + 1,):
        raise ValueError(
            f"function(k, {m}) returned shape {table.shape}: it must return one value for each "
            f"k = 0..{m}, shape ({m + 1},); use NumPy functions such as np.minimum inside"
        )
    _check_concave(table, np.array([0, m + 1]))
    return table.copy()


def _check_concave(values: FloatArray, pointers: PointerArray) -> None:
    """Refuse tables, one after the other, that are not concave beyond rounding, O(values)."""
    group = owners(pointers)
    counts = np.arange(values.size) - pointers[:-1][group]

    def place(k: int) -> tuple[str, int]:
        return f"function(k, {np.diff(pointers)[group[k]] - 1})", int(counts[k])

    for k in np.flatnonzero(~(np.abs(values) <= 1e300))[:1]:
        name, count = place(k)
        raise ValueError(f"{name}[{count}] is {values[k]}: values must be finite, up to 1e300")
    for k in pointers[:-1][values[pointers[:-1]] != 0.0][:1]:
        name, _ = place(k)
        raise ValueError(f"{name}[0] is {values[k]}: g(0) must be 0; subtract g(0) from g")
    low = _rises(counts, values) if is_exact(values) else _below_hull(counts, values, pointers)
    for k in np.flatnonzero(low)[:1]:
        name, count = place(k)
        gains = values[k] - values[k - 1], values[k + 1] - values[k]
        raise ValueError(
            f"{name} is not concave at k = {count}: gains {gains[0]} then {gains[1]}; only a "
            "concave function of the cardinality is submodular"
        )


def _rises(counts: PointerArray, values: FloatArray) -> BoolArray:
    """Say where a gain is less than the next one: exact for values that are exact."""
    rises = np.zeros(values.size, dtype=np.bool_)
    gains = np.diff(values)
    rises[1:-1] = (gains[:-1] < gains[1:]) & (counts[1:-1] > 0) & (counts[2:] > 0)
    return rises


def _below_hull(counts: PointerArray, values: FloatArray, pointers: PointerArray) -> BoolArray:
    """Say where g is farthest below its hull, if that is more than rounding."""
    group = owners(pointers)
    excess = hull_excess(counts.astype(np.float64), values, group)
    allowed = np.maximum(TOLERANCE * largest(np.abs(values), pointers), 1e-300)
    low: BoolArray = (excess > allowed[group]) & (excess == largest(excess, pointers)[group])
    return low


class CardinalityBlock(GroupBlock):
    """Groups without common elements."""

    term: Cardinality

    def __init__(
        self, term: Cardinality, groups: IndexArray, order: IndexArray, threads: int
    ) -> None:
        super().__init__(term, groups, threads)
        self.order = order

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Project by sorting and isotonic regression, O(k log k) per group of k."""
        term, out = self.term, np.empty(self.size)
        kernels.active.cardinality_project(
            term.pointers, term.members, term.gains, self.groups, dual, s, c, self.order, out,
            self.threads,
        )  # fmt: skip
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Project in place; the sorted order of last time is the next starting order."""
        term = self.term
        kernels.active.cardinality_sweep(
            term.pointers, term.members, term.gains, self.groups, dual, s, self.order, self.threads
        )

    def nearest(self, a: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Project by decomposition, O(k log k) for each split of a group of k."""
        gains = self.term.gains[self.slots]
        kernels.active.weighted_cardinality(self.pointers, a, d, gains, out, self.threads)


class CardinalityExchanges(GroupExchanges):
    """Exchange capacities of concave functions of the cardinality.

    Besides u, the worst S of j + 1 members has the j largest values of the others without v,

        c(u, v) = min over j of  g(j + 1) - y(u) - (sum of the j largest without v)

    which are the j largest of all others if v comes later, else the j + 1 largest less y(v).
    """

    def __init__(self, term: Cardinality, dual: FloatArray) -> None:
        super().__init__(term.pointers, term.members, dual)
        self.values = term.values

    def capacities(self, group: int, slots: slice, place: int) -> FloatArray:
        """Return the capacities from one member, O(k log k)."""
        y, first = self.dual[slots], slots.start + group
        costs = self.values[first + 1 : first + y.size]
        others = np.delete(np.arange(y.size), place)
        others = others[np.argsort(-y[others], kind="stable")]
        sums = np.concatenate([[0.0], np.cumsum(y[others])])
        room = np.full(y.size, np.inf)
        if others.size:
            before = np.minimum.accumulate(costs - sums[:-1])
            after = np.minimum.accumulate((costs - sums[1:])[::-1])[::-1]
            after = np.append(after[1:], np.inf)
            room[others] = np.minimum(before, after + y[others]) - y[place]
        return room


def _identity_orders(pointers: PointerArray) -> IndexArray:
    """Return 0, 1, ... restarted at each group."""
    starts = np.repeat(pointers[:-1], np.diff(pointers))
    return (np.arange(starts.size) - starts).astype(np.int32)
