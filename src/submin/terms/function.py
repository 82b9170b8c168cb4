"""One submodular function of the user's own, given by its values or by its greedy vertices.

Either is enough, because each gives the other (Edmonds 1970):

    greedy from values    the element that comes j-th gains F(first j) - F(first j - 1)
    values from greedy    F(S) = max of y(S) over B(F) = <1_S, greedy vertex for the weights 1_S>

A function of at most 8 elements is tabulated once and handed to ``Table``, exact in everything.  A
larger one is projected by the minimum-norm point algorithm (``terms.minimum_norm_point``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._sums import UNIT_ROUNDOFF, compensated_sum
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.terms.minimum_norm_point import Corral, nearest_point
from submin.terms.table import MOST_MEMBERS, Table, TableExchanges, explain
from submin.terms.term import Block, Term, Violation, check_decomposition
from submin.terms.value_tables import find_non_submodular, subset_masks

Evaluate = Callable[[BoolArray], float]
Greedy = Callable[[FloatArray], npt.ArrayLike]

MOST_TABULATED = 8
SAMPLED_DIFFERENCES = 64
SAMPLED_VERTICES = 4


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
    _enumeration: Table | None = None

    def __init__(
        self,
        support: npt.ArrayLike,
        evaluate: Evaluate | None = None,
        greedy: Greedy | None = None,
    ) -> None:
        self.support = _check_support(support)
        self._evaluate, self._greedy = evaluate, greedy
        self._has_values = evaluate is not None or type(self).value is not Function.value
        self._has_vertices = greedy is not None or type(self).vertex is not Function.vertex
        if not (self._has_values or self._has_vertices):
            raise TypeError(
                "Function needs evaluate or greedy (or a subclass that overrides value or vertex)"
            )
        self.size = self.support.size
        self.elements = int(self.support.max()) + 1
        self.depth = 1
        self._corral: Corral | None = None
        self._check_empty_set()
        self._table = self._tabulated() if self.size <= MOST_TABULATED else None
        if self._table is None:
            self._check_sampled_differences()
        if self._has_vertices:
            self._check_sampled_vertices()

    def value(self, members: BoolArray) -> float:
        """Return F(S) for a mask over the support, shape (k,); a subclass may override it."""
        if self._evaluate is not None:
            return self._evaluate(members)
        return float(self._checked_vertex(members.astype(np.float64))[members].sum())

    def vertex(self, weights: FloatArray) -> npt.ArrayLike:
        """Return y in B(F) that maximises <weights, y>, both (k,); a subclass may override it."""
        if self._greedy is not None:
            return self._greedy(weights)
        mask, before, gains = np.zeros(self.size, dtype=np.bool_), 0.0, np.empty(self.size)
        for element in np.argsort(-weights, kind="stable"):
            mask[element] = True
            after = self._checked_value(mask)
            gains[element], before = after - before, after
        return gains

    def _checked_value(self, members: BoolArray) -> float:
        """Return F(S), or refuse what the user's code returned, naming S."""
        value = np.asarray(self.value(members.copy()))
        if value.shape != () or value.dtype.kind not in "biuf":
            raise ValueError(
                f"evaluate returned {_described(value)} for {self._named(members)}: it must "
                "return one number"
            )
        if not abs(value) <= 1e300:
            raise ValueError(
                f"F is {value} at {self._named(members)}: values must be finite, up to 1e300"
            )
        return float(value)

    def _checked_vertex(self, weights: FloatArray) -> FloatArray:
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
        return np.ascontiguousarray(vertex, dtype=np.float64)

    def _named(self, members: BoolArray) -> str:
        """Write a set with the numbers of its elements."""
        inside = self.support[members]
        shown = ", ".join(str(element) for element in inside[:20])
        return f"the set {{{shown}{', ...' if inside.size > 20 else ''}}}"

    def _check_empty_set(self) -> None:
        empty = self._checked_value(np.zeros(self.size, dtype=np.bool_))
        if empty != 0.0:
            raise ValueError(
                f"F is {empty} at the empty set: it must be 0; subtract it from F and give it to "
                "the problem as its constant, so that reported values stay those of F"
            )

    def _tabulated(self) -> Table:
        """Evaluate F on all subsets and check all second differences, 2^k calls."""
        values = np.array([[self._checked_value(mask) for mask in subset_masks(self.size)]])
        witness = find_non_submodular(values)
        if witness is not None:
            raise ValueError(f"F is not submodular: {explain(witness, self.support, values[0])}")
        return Table(self.support[None, :], values)

    def _check_sampled_differences(self) -> None:
        """Check second differences at random sets of random size."""
        random = np.random.default_rng(0)
        for _ in range(SAMPLED_DIFFERENCES):
            order = random.permutation(self.size)
            i, j, base = order[0], order[1], order[2 : 2 + random.integers(self.size - 1)]
            sets = np.zeros((4, self.size), dtype=np.bool_)
            sets[:, base] = True
            sets[[1, 3], i] = sets[[2, 3], j] = True
            values = np.array([[self._checked_value(mask) for mask in sets]])
            rounding = 8.0 * self.size * np.finfo(np.float64).eps * np.max(np.abs(values))
            if values[0, 1] + values[0, 2] < values[0, 0] + values[0, 3] - rounding:
                names = [self._named(mask) for mask in sets]
                raise ValueError(
                    f"F is not submodular: {values[0, 1]:.6g} at {names[1]} and "
                    f"{values[0, 2]:.6g} at {names[2]} must together be at least "
                    f"{values[0, 0]:.6g} at {names[0]} and {values[0, 3]:.6g} at {names[3]}"
                )

    def _check_sampled_vertices(self) -> None:
        """Check that a greedy vertex sums to F over the sets that come first in its order."""
        random = np.random.default_rng(1)
        for _ in range(SAMPLED_VERTICES):
            order = random.permutation(self.size)
            weights = np.empty(self.size)
            weights[order] = -np.arange(self.size, dtype=np.float64)
            vertex = self._checked_vertex(weights)
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

    def evaluate(self, members: BoolArray) -> float:
        """Return F(S), one call of user code."""
        if self._table is not None:
            return self._table.evaluate(members)
        return self._checked_value(members[self.support])

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Return the greedy vertex, one call of `greedy` or k of `evaluate`."""
        if self._table is not None:
            return self._table.greedy(rank)
        return self._checked_vertex(-rank[self.support].astype(np.float64))

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
        corral = nearest_point(self._checked_vertex, dual, self._corral)
        total = compensated_sum(np.maximum(dual - corral.point, 0.0))
        magnitude = float(corral.weights @ np.sum(np.abs(corral.vertices), axis=1))
        terms = corral.weights.size + 2 * self.size + 8
        error = UNIT_ROUNDOFF * (terms * magnitude + 4.0 * self.magnitude(dual))
        return Violation(total, error)

    def magnitude(self, dual: FloatArray) -> float:
        """Return sum |y|."""
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
        """Return F(V) - F(V - v) and F({v}) on the support, 2 k + 1 evaluations."""
        low, high = np.zeros(n), np.zeros(n)
        single = np.eye(self.size, dtype=np.bool_)
        whole = self._checked_value(np.ones(self.size, dtype=np.bool_))
        low[self.support] = [whole - self._checked_value(~mask) for mask in single]
        high[self.support] = [self._checked_value(mask) for mask in single]
        return low, high

    @property
    def decompositions(self) -> tuple[str, ...]:
        """One function is one block, whatever the name."""
        return ("functions", "matchings", "chains")

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Return the one block."""
        check_decomposition(self, decomposition)
        if self._table is not None:
            return self._table.blocks("functions", threads)
        self._corral = None
        return [FunctionBlock(self)]

    def granularity(self) -> float:
        """Return the granularity of the values for k <= 8, else 0: not known."""
        return self._table.granularity() if self._table is not None else 0.0


class FunctionBlock(Block):
    """A function that is projected by the minimum-norm point algorithm.

    The corral of one projection starts the next, so the last bits depend on the calls before; each
    solve makes its own blocks and therefore repeats bit by bit.
    """

    slots: Any = slice(None)

    def __init__(self, function: Function) -> None:
        self.function, self.size = function, function.size
        self.corral: Corral | None = None

    def support(self) -> IndexArray:
        """Return the support of the function."""
        return self.function.support

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Return the point of B(F) nearest to y - s / c: a convex combination of vertices."""
        target = dual - s[self.function.support] / c
        self.corral = nearest_point(self.function._checked_vertex, target, self.corral)
        self.function._corral = self.corral
        return self.corral.point

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add each value to its element, O(k)."""
        s[self.function.support] += scale * part


def _check_support(support: npt.ArrayLike) -> IndexArray:
    checked = _checks.indices("support", support).ravel()
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
