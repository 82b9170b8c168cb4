"""Functions of a few elements each, given by all their values.

    F(S) = sum over tables i of  values[i, index of S and e_i],   bit b of the index = member b in S

Any submodular function of k elements is such a table; pairwise potentials are k = 2.  The
projection is the decomposition algorithm over all 2^k subsets (Fujishige 1980,
doi:10.1287/moor.5.2.186; Groenevelt 1991, doi:10.1016/0377-2217(91)90300-K).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks, _memory, kernels
from submin._lazy import lazy
from submin._sums import (
    UNIT_ROUNDOFF,
    adds_exactly,
    compensated_sum,
    largest_multiplicity,
    second_order_error,
    sum_error,
    summable_granularity,
)
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.terms.base.term import Block, Piece, Term, TermMinor, Violation, check_decomposition
from submin.terms.blocks.colouring import colour_classes
from submin.terms.capabilities import table_gadgets
from submin.terms.capabilities.exchanges import GroupExchanges
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.gadgets import Gadget, GadgetSize
from submin.terms.capabilities.residuals import Arcs, joined
from submin.terms.value_tables import (
    Witness,
    find_non_submodular,
    greedy_vertices,
    mean_vertices,
    subset_masks,
    subset_sums,
)

MOST_MEMBERS = 12
CHUNK_ENTRIES = 2**18


class Table(Term):
    """Submodular functions given by explicit tables of values.

    Parameters
    ----------
    members : array_like of int, shape (m, k)
        The k elements of each of m functions, in C order of the ground set; 1 <= k <= 12, and no
        element twice in one function.
    values : array_like of float, shape (m, 2**k), or (2**k,) for one table that all functions share
        Costs of all subsets, in units of cost: bit b of the column says whether ``members[:, b]``
        is in S.  Column 0, the empty set, must be 0.

    Raises
    ------
    TypeError
        If members are not integers or values not real numbers.
    ValueError
        If a value is not finite, a table is not submodular (a second difference is negative beyond
        rounding), F of the empty set is not 0, an element is repeated, or shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from submin.terms.table import Table
    >>> pair = Table([[0, 1]], [0.0, 1.0, 1.0, 2.0])
    >>> pair.evaluate(np.array([True, True]))
    2.0
    """

    kind = "table"

    def __init__(self, members: npt.ArrayLike, values: npt.ArrayLike) -> None:
        checked = _check_members(members)
        table = _check_values(values, *checked.shape)
        _refuse_non_submodular(checked, table)
        self._complete(checked, table)

    def _complete(self, members: IndexArray, values: FloatArray) -> None:
        """Store checked tables."""
        self.members, self.values = members, values
        count, self.arity = self.members.shape
        self.size = count * self.arity
        self.elements = int(self.members.max()) + 1 if self.size else 0
        self.depth = largest_multiplicity(self.members.ravel())

    @classmethod
    def of_values(cls, members: IndexArray, values: FloatArray) -> Table:
        """Build tables that are known to be submodular, without a check."""
        term = Table.__new__(Table)
        term._complete(members, values)
        return term

    def _rows(self, tables: slice | PointerArray) -> FloatArray:
        """Return the values of some tables, or the one row that all share."""
        return self.values if self.values.shape[0] == 1 else self.values[tables]

    def _chunks(self) -> Iterator[slice]:
        """Split the tables so that all subsets of a chunk fit into a few megabytes."""
        step = max(1, CHUNK_ENTRIES >> self.arity)
        for start in range(0, self.members.shape[0], step):
            yield slice(start, start + step)

    def check_data(self) -> None:
        """Refuse members that were changed in place to something else than elements."""
        _checks.numbers_in_place("members", self.members, self.elements)

    def sizes(self) -> dict[str, object]:
        """Count the tables, the members of each, and the elements."""
        tables, members = self.members.shape
        return {"tables": tables, "members": members, "elements": self.elements}

    def evaluate(self, members: BoolArray) -> float:
        """Look up the value of S in each table, O(m k)."""
        inside = _checks.flat_mask("members", members)[self.members]
        columns = inside @ (1 << np.arange(self.arity))
        rows = np.arange(columns.size) if self.values.shape[0] > 1 else 0
        return compensated_sum(self.values[rows, columns])

    def value_error(self, members: BoolArray) -> float:
        """Bound the rounding errors of rounding errors, O(m)."""
        return second_order_error(self.members.shape[0], self._scale)

    @lazy
    def _scale(self) -> float:
        """The sum of the largest |F| of each table."""
        most = np.max(np.abs(self.values), axis=1, initial=0.0)
        return float(np.sum(np.broadcast_to(most, self.members.shape[:1])))

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Give each member its marginal gain in the order of `rank`, O(m k log k)."""
        return greedy_vertices(self.values, rank[self.members]).ravel()

    def zero_is_feasible(self) -> bool:
        """Say whether no value is negative and all those of the whole supports are 0."""
        return bool(np.all(self.values >= 0.0) and np.all(self.values[:, -1] == 0.0))

    def feasible_start(self) -> FloatArray:
        """Return 0 where 0 is feasible, else the mean of all greedy vertices, O(m k 2^k)."""
        if self.zero_is_feasible():
            return _memory.zeros(self.size)
        start = np.empty(self.members.shape)
        for chunk in self._chunks():
            start[chunk] = mean_vertices(self._rows(chunk))
        return start.ravel()

    def accumulate(self, dual: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add each value to its element, O(n + m k)."""
        if self.size:
            s += scale * np.bincount(self.members.ravel(), dual, s.size)

    def violation(self, dual: FloatArray) -> Violation:
        """Return sum_i max_S (y_i(S) - F_i(S)) over all 2^k subsets of each support, O(m 2^k).

        Each y(S) takes k - 1 additions of partial sums up to the sum of ``|y|``, and the difference
        with F one more rounding; the maximum over S is 1-Lipschitz in the values.
        """
        worst, error = np.empty(self.members.shape[0]), 0.0
        part = dual.reshape(self.members.shape)
        for chunk in self._chunks():
            excess = subset_sums(part[chunk]) - self._rows(chunk)
            worst[chunk] = excess.max(axis=1)
            largest = np.broadcast_to(np.max(np.abs(self._rows(chunk)), axis=1), worst[chunk].shape)
            magnitude = (self.arity + 1) * np.sum(np.abs(part[chunk])) + 2.0 * np.sum(largest)
            error += UNIT_ROUNDOFF * float(magnitude)
        if adds_exactly(float(np.sum(np.abs(part))) + self._scale, part, self.values):
            return Violation(compensated_sum(worst), 0.0)
        return Violation(compensated_sum(worst), error + sum_error(worst))

    def magnitude(self, dual: FloatArray) -> float:
        """Return the sum of ``|y|``."""
        return float(np.sum(np.abs(dual)))

    def residual_arcs(self, dual: FloatArray, room: float, near: BoolArray) -> Arcs:
        """Return the arcs between any two elements of a table, O(m k^2 2^k)."""
        part, sets = dual.reshape(self.members.shape), np.arange(1 << self.arity)
        arcs = list[Arcs]()
        for chunk in self._chunks():
            values, members = self._rows(chunk), self.members[chunk]
            slack = values - subset_sums(part[chunk])
            scale = np.sum(np.abs(part[chunk]), axis=1) + np.max(np.abs(values), axis=1)
            least = room + 2.0 * (self.arity + 2) * UNIT_ROUNDOFF * scale
            touching = near[members].any(axis=1)
            for u, v in permutations(range(self.arity), 2):
                apart = ((sets >> u) & 1).astype(np.bool_) & ~((sets >> v) & 1).astype(np.bool_)
                free = touching & (slack[:, apart].min(axis=1) > least)
                arcs.append(Arcs(members[free, u], members[free, v]))
        return joined(arcs)

    def exchanges(self, dual: FloatArray) -> TableExchanges:
        """Return the exchange capacities by enumeration, O(k 2^k) for each element of a table."""
        return TableExchanges(self, dual)

    @lazy
    def _cubic(self) -> table_gadgets.Cubic:
        return table_gadgets.cubic(self.values, exact=self.granularity() > 0.0)

    def gadget_size(self) -> GadgetSize | None:
        """Count the edges and auxiliaries of tables of up to three elements."""
        if self.arity > table_gadgets.MOST_MEMBERS:
            return None
        return table_gadgets.gadget_size(self._cubic, self.members.shape[0])

    def gadget(self, dual: FloatArray) -> Gadget:
        """Return an edge for each pair, and an auxiliary for a cubic part.

        Raises
        ------
        TypeError
            If the tables have more than three elements.
        """
        if self.arity > table_gadgets.MOST_MEMBERS:
            return super().gadget(dual)
        return table_gadgets.table_gadget(self._cubic, self.members, dual)

    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the sums of F_i(e_i) - F_i(e_i - v) and of F_i({v}) for each element v, O(m k)."""
        bits = 1 << np.arange(self.arity)
        last = self.values[:, -1:] - self.values[:, (1 << self.arity) - 1 - bits]
        first = self.values[:, bits]
        low, high = np.zeros(n), np.zeros(n)
        np.add.at(low, self.members, last)
        np.add.at(high, self.members, first)
        return low, high

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return the slices of the tables, one family for each number of free members."""
        free = fixing.free[self.members]
        kept = free.sum(axis=1)
        pieces = [self._slices(np.flatnonzero(kept == k), int(k), fixing) for k in np.unique(kept)]
        modular = np.zeros(fixing.elements.size)
        return TermMinor(pieces, modular, self.evaluate(fixing.inside))

    def _slices(self, tables: PointerArray, k: int, fixing: Fixing) -> Piece:
        """Return what is left of tables with k free members each."""
        members = self.members[tables]
        columns = np.argsort(~fixing.free[members], axis=1, kind="stable")[:, :k]
        slots = tables[:, None] * self.arity + columns
        values = self._rows(tables)
        if k < self.arity:
            first = fixing.inside[members] @ (1 << np.arange(self.arity))
            subsets = first[:, None] + (1 << columns) @ subset_masks(k).T
            rows = np.arange(tables.size)[:, None] if values.shape[0] > 1 else 0
            values = values[rows, subsets] - values[rows, first[:, None]]
        numbers = fixing.number[np.take_along_axis(members, columns, axis=1)]
        return Piece(self.of_values(numbers, values), slots.ravel())

    @property
    def decompositions(self) -> tuple[str, ...]:
        """Disjoint tables together (the default), or one block per table."""
        return ("matchings", "chains", "functions")

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Put tables without common elements into one block by greedy colouring, O(m k)."""
        count = self.members.shape[0]
        if check_decomposition(self, decomposition) == "functions":
            classes = list(np.arange(count, dtype=np.int32)[:, None])
        else:
            pointers = np.arange(0, self.size + 1, self.arity, dtype=np.int64)
            classes = colour_classes(pointers, self.members.ravel())
        return [TableBlock(self, tables, threads) for tables in classes]

    def granularity(self) -> float:
        """Return the granularity of the values."""
        return summable_granularity(self.values)

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return members and values."""
        return {"members": self.members, "values": self.values}

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family."""
        return [
            cls([[0, 1], [1, 2], [4, 0]], [0.0, 1.0, 1.0, 2.0]),
            cls([[3, 1, 4]], [0.0, 1.0, 1.0, 1.5, 1.0, 1.5, 1.5, 0.5]),
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a term from its members and values."""
        return cls(arrays["members"], arrays["values"])


def _check_members(members: npt.ArrayLike) -> IndexArray:
    array = np.asarray(members)
    if array.ndim != 2 or not 1 <= array.shape[1] <= MOST_MEMBERS:
        raise ValueError(
            f"members has shape {array.shape}: it must have one row for each table and between 1 "
            f"and {MOST_MEMBERS} columns; Cardinality and Function take larger supports"
        )
    checked = _checks.indices("members", array)
    order = np.argsort(checked, axis=1, kind="stable")
    ordered = np.take_along_axis(checked, order, axis=1)
    repeated = np.zeros(checked.shape, dtype=np.bool_)
    np.put_along_axis(repeated, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    _checks.refuse_where("members", checked, repeated, "an element may be once in each table")
    return checked


def _check_values(values: npt.ArrayLike, count: int, arity: int) -> FloatArray:
    array = _checks.float_array("values", values)
    subsets = 1 << arity
    if array.shape not in ((subsets,), (1, subsets), (count, subsets)):
        raise ValueError(
            f"values has shape {array.shape}: {count} tables of {arity} members need shape "
            f"({count}, {subsets}), or ({subsets},) for one table that all share"
        )
    if not np.all(np.abs(array) <= 1e300):
        _checks.refuse_where("values", array, ~np.isfinite(array), "values must be finite")
        _checks.refuse_where(
            "values", array, np.abs(array) > 1e300, "this overflows; scale it down"
        )
    if np.any(array[..., 0]):
        empty = np.zeros(array.shape, dtype=np.bool_)
        empty[..., 0] = array[..., 0] != 0.0
        remedy = "F of the empty set must be 0; subtract it from the table and give it to the "
        _checks.refuse_where("values", array, empty, remedy + "problem as its constant")
    return np.ascontiguousarray(np.atleast_2d(array)) if array.size else np.zeros((1, subsets))


def _refuse_non_submodular(members: IndexArray, values: FloatArray) -> None:
    """Refuse the first table with a negative second difference."""
    step = max(1, CHUNK_ENTRIES >> members.shape[1])
    for start in range(0, values.shape[0], step):
        witness = find_non_submodular(values[start : start + step])
        if witness is not None and members.size:
            row = start + witness.row
            name = "values" if values.shape[0] == 1 else f"values[{row}]"
            raise ValueError(
                f"{name} is not submodular: {explain(witness, members[row], values[row])}"
            )


def explain(witness: Witness, support: IndexArray, row: FloatArray) -> str:
    """Write down the inequality that a witness breaks, with sets of element numbers and values."""

    def value(index: int) -> str:
        inside = support[(index >> np.arange(support.size)) & 1 == 1]
        return f"F({{{', '.join(str(element) for element in inside)}}})"

    _, *sets = witness
    base, with_i, with_j, both = sets
    numbers = [float(row[index]) for index in sets]
    return (
        f"{value(with_i)} + {value(with_j)} = {numbers[1]:.6g} + {numbers[2]:.6g} must be at least "
        f"{value(base)} + {value(both)} = {numbers[0]:.6g} + {numbers[3]:.6g}"
    )


class TableBlock(Block):
    """Tables without common elements."""

    def __init__(self, term: Table, tables: IndexArray, threads: int) -> None:
        self.term, self.tables, self.threads = term, tables, threads
        self.size = tables.size * term.arity
        self.slots: Any = (tables[:, None] * term.arity + np.arange(term.arity)).ravel()
        if tables.size and tables[-1] - tables[0] + 1 == tables.size:
            self.slots = slice(int(self.slots[0]), int(self.slots[-1]) + 1)

    def support(self) -> IndexArray:
        """Return the members of the tables."""
        return self.term.members[self.tables].ravel()

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Project by decomposition over all subsets, O(k 2^k) for each table."""
        term, out = self.term, np.empty(self.size)
        kernels.active.table_project(
            term.members, term.values, self.tables, dual, s, c, out, self.threads
        )
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Project with c = 1 in place."""
        term = self.term
        kernels.active.table_sweep(term.members, term.values, self.tables, dual, s, self.threads)

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Project by decomposition over all subsets, O(k 2^k) for each table."""
        term, members = self.term, self.term.members[self.tables]
        target = dual[self.slots].reshape(members.shape) - step[members]
        values = term.values[self.tables] if len(term.values) > 1 else term.values
        out = np.empty(members.shape)
        kernels.active.weighted_table(target, 1.0 / weights[members], values, out, self.threads)
        return out.ravel()

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add each value to its element, O(block)."""
        s[self.support()] += scale * part


class TableExchanges(GroupExchanges):
    """Exchange capacities of tables."""

    def __init__(self, term: Table, dual: FloatArray) -> None:
        pointers = term.arity * np.arange(len(term.members) + 1)
        super().__init__(pointers, term.members.ravel(), dual)
        self.term, self.masks = term, subset_masks(term.arity)

    def capacities(self, group: int, slots: slice, place: int) -> FloatArray:
        """Return the capacities from one member, over all sets that have it and not the other."""
        row = group if self.term.values.shape[0] > 1 else 0
        room = self.term.values[row] - subset_sums(self.dual[None, slots])[0]
        having = self.masks[:, place]
        least: FloatArray = np.where(self.masks[having], np.inf, room[having, None]).min(axis=0)
        return least
