"""One submodular function of the user's own, given by its values or by its greedy vertices.

Either is enough, because each gives the other (Edmonds 1970):

    greedy from values    the element that comes j-th gains F(first j) - F(first j - 1)
    values from greedy    F(S) = max of y(S) over B(F) = <1_S, greedy vertex for the weights 1_S>

A function of at most 8 elements is tabulated once and handed to ``Table``, exact in everything.  A
larger one is projected by the minimum-norm point algorithm (``blocks.minimum_norm_point``).

Values are always asked for in batches of sets, the k first sets of an order say.  A function of one
set is called for each; ``Function.batched`` and ``Function.compiled`` take all sets in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._orders import ranks
from submin._sums import UNIT_ROUNDOFF, compensated_sum
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.terms.base.term import Block, Piece, Term, TermMinor, Violation, check_decomposition
from submin.terms.blocks.function_block import FunctionBlock
from submin.terms.blocks.minimum_norm_point import Corral, nearest_point
from submin.terms.capabilities.fixing import Fixing
from submin.terms.compiled import CompiledValues
from submin.terms.table import MOST_MEMBERS, Table, TableExchanges, explain
from submin.terms.value_tables import find_non_submodular, subset_masks

Evaluate = Callable[[BoolArray], float]
EvaluateMany = Callable[[BoolArray], npt.ArrayLike]
Greedy = Callable[[FloatArray], npt.ArrayLike]

MOST_TABULATED = 8
SAMPLED_DIFFERENCES = 64
SAMPLED_VERTICES = 4
BATCH_ENTRIES = 2**22


class Function(Term):
    """One submodular function F on a support of k elements.

    Parameters
    ----------
    support : array_like of int, shape (k,)
        The elements that F depends on, in C order of the ground set, each once.
    evaluate : callable (mask) -> float, optional
        F(S) for a boolean mask of shape (k,) over the support; F of the empty set must be 0.
    greedy : callable (weights) -> vertex, optional
        A vertex y of the base polytope B(F) that maximises <weights, y>; both of shape (k,).
        Any of them where weights are equal.

    Raises
    ------
    TypeError
        If neither is given, or support does not hold integers.
    ValueError
        If F of the empty set is not 0, a value is not finite or has the wrong shape, or F is found
        not to be submodular: among all pairs and sets for k <= 8, else in a sample with fixed seed.

    Notes
    -----
    Instead of passing callables, a subclass may override ``value`` or ``vertex`` (and set what they
    need *before* it calls ``super().__init__(support)``, which evaluates F).

    F of the empty set is refused, and not subtracted, so that the values that submin reports are
    those of the given function; give the number to ``Problem`` as its constant.

    A projection for k > 8 takes a number of major cycles of the order of k, each with a greedy
    vertex (k values) and O(k^3): O(k^4) in all, seconds for a few hundred elements
    (the guide's page of measurements has a table).  A concave function of a count is a
    ``Cardinality``, which takes O(k log k).

    An exception that user code raises goes through untouched.  For k <= 8 the code is called in the
    constructor only, 2^k times.

    Examples
    --------
    >>> import numpy as np
    >>> from submin.terms.function import Function
    >>> spread = Function([0, 1, 2], evaluate=lambda mask: float(np.sqrt(mask.sum())))
    >>> spread.evaluate(np.array([True, False, False]))
    1.0
    """

    kind = "function"
    _table: Table | None = None
    _enumeration: Table | None = None

    def __init__(
        self,
        support: npt.ArrayLike,
        evaluate: Evaluate | None = None,
        greedy: Greedy | None = None,
    ) -> None:
        self._set(_check_support(support), evaluate, greedy)
        self._check_empty_set()
        if self.size <= MOST_TABULATED:
            self._table = self._tabulated()
            self._check_all_differences(self._table)
        else:
            self._check_sampled_differences()
        if self._has_vertices:
            self._check_sampled_vertices()

    def _set(self, support: IndexArray, evaluate: Evaluate | None, greedy: Greedy | None) -> None:
        """Store support and code."""
        self.support = support
        self._evaluate, self._greedy = evaluate, greedy
        self._has_values = evaluate is not None or type(self).value is not Function.value
        self._has_vertices = greedy is not None or type(self).vertex is not Function.vertex
        if not (self._has_values or self._has_vertices):
            raise TypeError(
                "Function needs evaluate or greedy (or a subclass that overrides value or vertex)"
            )
        self.size = self.support.size
        self.elements = int(self.support.max(initial=-1)) + 1
        self.depth = 1
        self.corral: Corral | None = None

    @classmethod
    def batched(cls, support: npt.ArrayLike, evaluate: EvaluateMany) -> Function:
        """Return the function whose values come for many sets in one call.

        Parameters
        ----------
        support : array_like of int, shape (k,)
            As for ``Function``.
        evaluate : callable (sets) -> values
            F of each row of a boolean matrix of shape (b, k): an array of shape (b,).

        Raises
        ------
        TypeError, ValueError
            As for ``Function``.

        Notes
        -----
        A greedy vertex is one call with k rows (a few where k > 2048), a table of k <= 8 elements
        one call with 2^k rows.

        Examples
        --------
        >>> spread = Function.batched(range(20), lambda sets: np.sqrt(sets.sum(axis=1)))
        >>> spread.evaluate(np.arange(20) < 9)
        3.0
        """
        return BatchedFunction(support, evaluate)

    @classmethod
    def compiled(
        cls, support: npt.ArrayLike, function: Any, data: npt.NDArray[Any] | None = None
    ) -> Function:
        """Return the function whose values a C function computes, without the interpreter lock.

        Parameters
        ----------
        support : array_like of int, shape (k,)
            As for ``Function``.
        function : object with an ``address`` (``numba.cfunc``), ctypes function, or int
            ``double (*)(const uint8_t *member, int64_t size, void *data)``: F(S) for the k = size
            bytes of a mask, 1 for a member of S and 0 for others.  It is called from one thread at
            a time, and must neither write to ``member`` nor throw.
        data : array, C-contiguous, optional
            What ``data`` points to: kept alive and not copied.  Without it, ``data`` is null.

        Raises
        ------
        TypeError, ValueError
            As for ``Function``, or if the address is null.

        Notes
        -----
        It saves the time of the values alone: above some hundred elements the O(k^3) of each major
        cycle (see ``Function``) is most of a projection, whatever the language.

        Examples
        --------
        A ctypes callback shows the signature; one made from Python is no faster than Python.

        >>> import ctypes
        >>> members = ctypes.POINTER(ctypes.c_uint8)
        >>> kind = ctypes.CFUNCTYPE(ctypes.c_double, members, ctypes.c_int64, ctypes.c_void_p)
        >>> root = kind(lambda member, size, _: sum(member[:size]) ** 0.5)
        >>> Function.compiled(range(9), root).evaluate(np.arange(9) < 4)
        2.0
        """
        return cls.batched(support, CompiledValues(function, data))

    def value(self, members: BoolArray) -> float:
        """Return F(S) for a mask over the support, shape (k,); a subclass may override it."""
        if self._evaluate is not None:
            return self._evaluate(members)
        return fsum(self.checked_vertex(members.astype(np.float64))[members].tolist())

    def values(self, sets: BoolArray) -> npt.ArrayLike:
        """Return F of each row of a matrix of masks, shape (b, k)."""
        return [self._checked_number(self.value(mask.copy()), mask) for mask in sets]

    def vertex(self, weights: FloatArray) -> npt.ArrayLike:
        """Return y in B(F) that maximises <weights, y>, both (k,); a subclass may override it."""
        if self._greedy is not None:
            return self._greedy(weights)
        order, gains = np.argsort(-weights, kind="stable"), np.empty(self.size)
        gains[order] = np.diff(self._prefix_values(order), prepend=0.0)
        return gains

    def _prefix_values(self, order: npt.NDArray[np.intp]) -> FloatArray:
        """Return F of the first 1, ..., k elements of an order, in batches of a few megabytes."""
        position, last = np.argsort(order), np.arange(self.size)[:, None]
        step = max(1, BATCH_ENTRIES // self.size)
        return np.concatenate(
            [
                self._checked_values(position <= last[start : start + step])
                for start in range(0, self.size, step)
            ]
        )

    def _checked_number(self, value: Any, members: BoolArray) -> float:
        """Return what the user's code returned for one set, or refuse it, naming the set."""
        number = np.asarray(value)
        if number.shape != () or number.dtype.kind not in "biuf":
            raise ValueError(
                f"evaluate returned {_described(number)} for {self._named(members)}: it must "
                "return one number"
            )
        return float(number)

    def _checked_values(self, sets: BoolArray) -> FloatArray:
        """Return F of each row, or refuse what the user's code returned, naming a set."""
        values = np.asarray(self.values(sets.copy()))
        if values.shape != sets.shape[:1] or values.dtype.kind not in "biuf":
            raise ValueError(
                f"evaluate returned {_described(values)} for {len(sets)} sets: it must return one "
                f"number for each row, shape ({len(sets)},)"
            )
        for row in np.flatnonzero(~(np.abs(values) <= 1e300))[:1]:
            raise ValueError(
                f"F is {values[row]} at {self._named(sets[row])}: values must be finite, up to "
                "1e300"
            )
        return np.array(values, dtype=np.float64)  # a copy: the code may fill it anew next time

    def _checked_value(self, members: BoolArray) -> float:
        """Return F of one set."""
        return float(self._checked_values(members[None])[0])

    def checked_vertex(self, weights: FloatArray) -> FloatArray:
        """Return a greedy vertex, or refuse what the user's code returned, naming the weights."""
        vertex = np.asarray(self.vertex(weights.copy()))
        if vertex.shape != (self.size,) or vertex.dtype.kind not in "biuf":
            raise ValueError(
                f"greedy returned {_described(vertex)} for the weights {_listed(weights)}: it must "
                f"return one number for each element of the support, shape ({self.size},)"
            )
        if not np.all(np.isfinite(vertex)):
            element = int(self.support[np.argmin(np.isfinite(vertex))])
            raise ValueError(
                f"greedy returned a number that is not finite for element {element}, with the "
                f"weights {_listed(weights)}"
            )
        return np.array(vertex, dtype=np.float64)  # a copy: the code may fill it anew next time

    def _named(self, members: BoolArray) -> str:
        """Write a set with the numbers of its elements."""
        inside = self.support[members]
        shown = ", ".join(str(element) for element in inside[:20])
        return f"the set {{{shown}{', ...' if inside.size > 20 else ''}}}"

    def _check_empty_set(self) -> None:
        empty = self._checked_value(np.zeros(self.size, dtype=np.bool_))
        if empty != 0.0:
            raise ValueError(
                f"F is {empty} at the empty set, a mask of {self.size} times False: it must be 0; "
                "a constant goes to the problem, so that reported values stay those of F, and a "
                "cost of what is chosen at all is 0 unless mask.any()"
            )

    def _tabulated(self) -> Table:
        """Evaluate F on all subsets, 2^k calls."""
        values = self._checked_values(subset_masks(self.size))[None]
        return Table.of_values(self.support[None, :], values)

    def _check_all_differences(self, table: Table) -> None:
        witness = find_non_submodular(table.values)
        if witness is not None:
            detail = explain(witness, self.support, table.values[0])
            raise ValueError(f"F is not submodular: {detail}")

    def _check_sampled_differences(self) -> None:
        """Check second differences F(A + i) + F(A + j) - F(A) - F(A + i + j) at random sets A."""
        random = np.random.default_rng(0)
        sets = np.zeros((SAMPLED_DIFFERENCES, 4, self.size), dtype=np.bool_)
        for four in sets:
            order = random.permutation(self.size)
            i, j, base = order[0], order[1], order[2 : 2 + random.integers(self.size - 1)]
            four[:, base] = True
            four[[1, 3], i] = four[[2, 3], j] = True
        values = self._checked_values(sets.reshape(-1, self.size)).reshape(-1, 4)
        rounding = 8.0 * self.size * np.finfo(np.float64).eps * np.max(np.abs(values), axis=1)
        negative = values[:, 1] + values[:, 2] < values[:, 0] + values[:, 3] - rounding
        for number in np.flatnonzero(negative)[:1]:
            neither, with_i, with_j, both = (
                f"{value:.6g} at {self._named(mask)}"
                for value, mask in zip(values[number], sets[number], strict=True)
            )
            raise ValueError(
                f"F is not submodular: {with_i} and {with_j} must together be at least "
                f"{neither} and {both}"
            )

    def _check_sampled_vertices(self) -> None:
        """Check that a greedy vertex sums to F over the sets that come first in its order."""
        random = np.random.default_rng(1)
        for _ in range(SAMPLED_VERTICES):
            order = random.permutation(self.size)
            weights = np.empty(self.size)
            weights[order] = -np.arange(self.size, dtype=np.float64)
            vertex = self.checked_vertex(weights)
            for count in (self.size, 1 + int(random.integers(self.size))):
                first = np.zeros(self.size, dtype=np.bool_)
                first[order[:count]] = True
                value, total = self._checked_value(first), float(vertex[first].sum())
                scale = abs(value) + float(np.sum(np.abs(vertex)))
                if abs(value - total) > 16.0 * self.size * np.finfo(np.float64).eps * scale:
                    raise ValueError(
                        f"greedy is not the greedy vertex of F: for the weights {_listed(weights)} "
                        f"it sums to {total:.6g} over {self._named(first)}, where F is {value:.6g}"
                    )

    def sizes(self) -> dict[str, object]:
        """Count the support, and the elements."""
        return {"support": self.size, "elements": self.elements}

    def evaluate(self, members: BoolArray) -> float:
        """Return F(S), one call of user code."""
        if self._table is not None:
            return self._table.evaluate(members)
        return self._checked_value(_checks.flat_mask("members", members)[self.support])

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Return the greedy vertex, one call of `greedy` or k of `evaluate`."""
        if self._table is not None:
            return self._table.greedy(rank)
        return self.checked_vertex(-rank[self.support].astype(np.float64))

    def feasible_start(self) -> FloatArray:
        """Return the mean of the greedy vertices of one order and its reverse."""
        if self._table is not None:
            return self._table.feasible_start()
        rank = np.arange(self.elements, dtype=np.int32)
        return 0.5 * (self.greedy(rank) + self.greedy(rank[::-1].copy()))

    def accumulate(self, dual: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add each value to its element, O(k)."""
        s[self.support] += scale * dual

    def violation(self, dual: FloatArray) -> Violation:
        """Bound max_S (y(S) - F(S)) from above, by the point z of B(F) nearest to y.

        z(S) <= F(S), so y(S) - F(S) <= sum_v max(0, y(v) - z(v)) for every z in B(F); the nearest
        one attains the maximum (Fujishige 1980).  z is a convex combination of greedy vertices.
        Exact for k <= 8.  The search starts from the vertices of the last projection; any vertices
        prove a bound.  The error supposes values that are exact up to units in the last place.
        """
        if self._table is not None:
            return self._table.violation(dual)
        corral = nearest_point(self.checked_vertex, dual, self.corral)
        total = compensated_sum(np.maximum(dual - corral.point, 0.0))
        magnitude = float(corral.weights @ np.sum(np.abs(corral.vertices), axis=1))
        terms = corral.weights.size + 2 * self.size + 8
        error = UNIT_ROUNDOFF * (terms * magnitude + 4.0 * self.magnitude(dual))
        return Violation(total, error)

    def magnitude(self, dual: FloatArray) -> float:
        """Return the sum of ``|y|``."""
        return float(np.sum(np.abs(dual)))

    def exchanges(self, dual: FloatArray) -> TableExchanges:
        """Return the exchange capacities by enumeration, for at most 12 elements, 2^k calls once.

        Raises
        ------
        TypeError
            If the support is larger.
        """
        if self.size > MOST_MEMBERS:
            raise TypeError(
                f"a Function of {self.size} elements has no exchange capacities, whose enumeration "
                f"takes at most {MOST_MEMBERS}; MinimumNormPoint, Schrijver and AcceleratedSweeps "
                "need none"
            )
        self._enumeration = self._enumeration or self._table or self._tabulated()
        return self._enumeration.exchanges(dual)

    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return F(V) - F(V - v) and F({v}) on the support, 2 k + 1 evaluations beyond k = 8."""
        if self._table is not None:
            return self._table.marginal_range(n)
        low, high = np.zeros(n), np.zeros(n)
        single = np.eye(self.size, dtype=np.bool_)
        whole = self._checked_value(np.ones(self.size, dtype=np.bool_))
        low[self.support] = whole - self._checked_values(~single)
        high[self.support] = self._checked_values(single)
        return low, high

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return F(S + A) - F(A) on the free elements of the support."""
        if self._table is not None:
            return self._table.minor(fixing)
        free, inside = fixing.free[self.support], fixing.inside[self.support]
        base, count = self._checked_value(inside), int(free.sum())

        def evaluate(mask: BoolArray) -> float:
            members = inside.copy()
            members[free] = mask
            return self._checked_value(members) - base

        def greedy(weights: FloatArray) -> FloatArray:
            order = np.where(inside, 1.0, -1.0 - count)
            order[free] = -ranks(weights).astype(np.float64)
            return self.checked_vertex(order)[free]

        term = Function.__new__(Function)
        term._set(
            fixing.number[self.support[free]],
            evaluate if self._has_values else None,
            greedy if self._has_vertices else None,
        )
        term._table = term._tabulated() if count <= MOST_TABULATED else None
        modular = np.zeros(fixing.elements.size)
        return TermMinor([Piece(term, np.flatnonzero(free))], modular, base)

    @property
    def decompositions(self) -> tuple[str, ...]:
        """One function is one block, whatever the name."""
        return ("functions", "matchings", "chains")

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Return the one block."""
        check_decomposition(self, decomposition)
        if self._table is not None:
            return self._table.blocks("functions", threads)
        self.corral = None
        return [FunctionBlock(self)]

    def granularity(self) -> float:
        """Return the granularity of the values for k <= 8, else 0: not known."""
        return self._table.granularity() if self._table is not None else 0.0

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family: one that is tabulated, and one that is not."""
        return [
            cls([4, 0, 2], lambda mask: float(np.sqrt(mask.sum()))),
            cls(range(9), lambda mask: float(mask.sum() * (9 - mask.sum()) - mask[0])),
        ]


class BatchedFunction(Function):
    """A function whose values come for many sets in one call."""

    def __init__(self, support: npt.ArrayLike, evaluate: EvaluateMany) -> None:
        self._evaluate_many = evaluate
        super().__init__(support)

    def values(self, sets: BoolArray) -> npt.ArrayLike:
        """Return F of each row, in one call of user code."""
        return self._evaluate_many(sets)

    def value(self, members: BoolArray) -> float:
        """Return F of one set, as a batch of one."""
        return self._checked_value(members)


def _check_support(support: npt.ArrayLike) -> IndexArray:
    checked = _checks.indices("support", support)
    if checked.ndim != 1:
        raise ValueError(
            f"support has shape {checked.shape}: it must be a list of element numbers; "
            "np.ravel_multi_index numbers the places of a grid"
        )
    if not checked.size:
        raise ValueError("support is empty: a function needs an element or more")
    repeated = np.ones(checked.size, dtype=np.bool_)
    repeated[np.unique(checked, return_index=True)[1]] = False
    _checks.refuse_where("support", checked, repeated, "an element may be once in the support")
    return checked


def _described(array: npt.NDArray[Any]) -> str:
    return f"an array of shape {array.shape}" if array.shape else f"a {type(array.item()).__name__}"


def _listed(weights: FloatArray) -> str:
    shown = ", ".join(f"{weight:.4g}" for weight in weights[:8])
    return f"({shown}{', ...' if weights.size > 8 else ''})"
