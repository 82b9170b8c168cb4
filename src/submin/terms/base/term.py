"""What a term is: a family of simple submodular functions, and the blocks that it splits into.

A *term* holds many functions of one kind as flat arrays (all the edges of a grid, all the
superpixels).  Its *dual* is one flat array y in natural coordinates, which does not depend on how
the functions are grouped into blocks: one flow per edge of a cut, one value per element of each
function's support elsewhere.  ``accumulate`` turns it into the n-vector sum_i y_i.

A *block* is a group of functions of one term with pairwise disjoint supports, which a solver
projects in one go.  The one primitive is

    project:  y+ = argmin over y' in B(block) of ||y' - (y - s / c)||

from which ``sweep`` (c = 1, in place, with s kept up to date) follows.  Blocks may also project in
the norm sum_v w_v (.)_v^2 of positive weights w on the elements (``project_weighted``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from submin import _checks, _memory
from submin._orders import ranks
from submin._sums import UNIT_ROUNDOFF, compensated_sum, sum_error
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.terms.capabilities.exchanges import Exchanges
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.gadgets import Gadget, GadgetSize
from submin.terms.capabilities.precedences import keeps
from submin.terms.capabilities.residuals import NO_ARCS, Arcs


class Violation(NamedTuple):
    """How far a dual is outside the base polytopes, in units of cost.

    ``total`` is sum_i max_S (y_i(S) - F_i(S)) over the functions of a term (0 when y is feasible)
    and ``error`` bounds the rounding error that was made in computing it.
    """

    total: float
    error: float


class Slackness(NamedTuple):
    """A number that a certificate of a proximal point needs of a term, and its rounding error."""

    total: float
    error: float


class Inspection(NamedTuple):
    """What a certificate needs to know of a term's dual: ``violation`` and ``magnitude``."""

    violation: Violation
    magnitude: float


class Piece(NamedTuple):
    """A term on the free elements; ``slots[j]`` is where its dual coordinate j is in the old dual.

    The coordinates of a base of F that adds first A, then the free elements, then B, are those of a
    base of the piece.
    """

    term: Term
    slots: PointerArray


class TermMinor(NamedTuple):
    """constant + modular(S) + the pieces, for sets S of the free elements; modular has (n',)."""

    pieces: list[Piece]
    modular: FloatArray
    constant: float


class Block(ABC):
    """Functions of one term with pairwise disjoint supports.

    ``slots`` indexes the block's part of its term's dual, which ``take`` copies out and ``put``
    writes back; ``size`` is the number of entries in that part.
    """

    size: int
    slots: Any

    @abstractmethod
    def support(self) -> IndexArray:
        """Return the elements that the block touches, each once."""

    @abstractmethod
    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Return the block's part of y+ = Proj(y - s / c), shape (size,)."""

    @abstractmethod
    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add `scale` times the n-vector of the block's `part` to `s`, in place."""

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Minimise ||s||^2 over the block exactly, in place, and keep `s` up to date."""
        part = self.project(dual, s, 1.0)
        self.accumulate(part - self.take(dual), s)
        self.put(dual, part)

    @property
    def weighted(self) -> bool:
        """Say whether the block can project in a norm with weights."""
        return type(self).project_weighted is not Block.project_weighted

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return the block's part of argmin over y' in B(block) of sum_v w_v (y'_v - t_v)^2.

        The target is t = y - step.  ``step`` and ``weights`` (above 0) are n-vectors, looked at on
        the support of the block; only the ratios of the weights of each function count.

        Raises
        ------
        TypeError
            If the block can not: ask ``weighted`` first, or use ``Layout.project_weighted``.
        """
        raise TypeError(
            f"{type(self).__name__} has no projection in a norm with weights: it lacks the method "
            "project_weighted"
        )

    def take(self, dual: FloatArray) -> FloatArray:
        """Copy the block's part out of its term's dual, shape (size,)."""
        part: FloatArray = dual[self.slots].reshape(-1)
        return part.copy() if part.base is not None else part

    def put(self, dual: FloatArray, part: FloatArray) -> None:
        """Write the block's part back into its term's dual."""
        dual[self.slots] = part


class Term(ABC):
    """A family of simple submodular functions F_i with F_i(empty set) = 0.

    Attributes
    ----------
    kind : str
        The name of the family, as the registry knows it.
    elements : int
        The smallest ground set that contains all supports.
    shape : tuple of int or None
        The shape that the ground set must have, where the family fixes one.
    size : int
        The number of dual coordinates.
    depth : int
        The largest number of functions that touch one element.
    """

    kind: ClassVar[str]
    elements: int
    shape: tuple[int, ...] | None = None
    size: int
    depth: int

    @abstractmethod
    def evaluate(self, members: BoolArray) -> float:
        """Return sum_i F_i(S) for the set S given as a boolean mask of the ground set."""

    def value_error(self, members: BoolArray) -> float:
        """Bound the rounding error of ``evaluate`` beyond that of its result."""
        return 0.0

    @abstractmethod
    def greedy(self, rank: IndexArray) -> FloatArray:
        """Return the dual of the greedy vertices for an order of the elements (Edmonds).

        ``rank[v]`` is the position of element v when the elements are added one by one; the vertex
        of F_i gives each element its marginal gain.  The sum of the vertices over the first k
        elements is the value of that prefix, for every k.  Where the order breaks a precedence
        there is no vertex, and the gains are infinite; ``finite_part`` has one for every order.
        """

    @abstractmethod
    def accumulate(self, dual: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add `scale` times sum_i y_i to the n-vector `s`, in place."""

    @abstractmethod
    def violation(self, dual: FloatArray) -> Violation:
        """Return sum_i max_S (y_i(S) - F_i(S)), with a bound on its rounding error."""

    @abstractmethod
    def magnitude(self, dual: FloatArray) -> float:
        """Return the sum of all ``|y_i(v)|``, the scale of the rounding errors in s."""

    def inspect(self, dual: FloatArray, s: FloatArray) -> Inspection:
        """Add sum_i y_i to the n-vector `s`, in place; return the violation and the magnitude."""
        self.accumulate(dual, s)
        return Inspection(self.violation(dual), self.magnitude(dual))

    def slackness(self, dual: FloatArray, x: FloatArray) -> Slackness:
        """Return sum_i f_i(x) - <y_i, x>, by how much y fails to support f at the n-vector x.

        It is 0 where y is optimal for x, and not negative for a feasible y; infinite where f_i(x)
        is.  O(greedy + n log n).
        """
        if not keeps(self.precedences(), x):
            return Slackness(float("inf"), 0.0)
        vertex = self.finite_part().greedy(ranks(x))
        difference, total = vertex - dual, np.zeros(x.size)
        self.accumulate(difference, total)
        products = total * x
        error = self.vertex_error(vertex) + (self.depth + 4) * UNIT_ROUNDOFF * (
            self.magnitude(difference)
        )
        return Slackness(
            compensated_sum(products),
            error * float(np.max(np.abs(x), initial=0.0)) + sum_error(products),
        )

    def vertex_error(self, vertex: FloatArray) -> float:
        """Bound the rounding errors in a vertex that ``greedy`` returned, summed over the entries.

        By default those of differences of values of F_i, which are exact but for ``value_error``.
        """
        everything = np.ones(self.elements, dtype=np.bool_)
        return 2.0 * self.value_error(everything) + 2.0 * UNIT_ROUNDOFF * self.magnitude(vertex)

    def shortage(self, dual: FloatArray) -> Slackness:
        """Return sum_i F_i(V) - y_i(V), which is 0 for a feasible dual."""
        everything, total = np.ones(self.elements, dtype=np.bool_), np.zeros(self.elements)
        self.accumulate(dual, total)
        parts = np.append(-total, self.evaluate(everything))
        error = self.value_error(everything) + 2.0 * UNIT_ROUNDOFF * abs(float(parts[-1]))
        error += (self.depth + 1) * UNIT_ROUNDOFF * self.magnitude(dual) + sum_error(parts)
        return Slackness(compensated_sum(parts), error)

    @abstractmethod
    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and largest value of sum_i y_i(v) over the base polytopes.

        These are the marginal gains of v at V without v and at the empty set, shapes (n,), and
        infinite where a precedence leads to v, or from it.
        """

    def precedences(self) -> Arcs:
        """Return the arcs of infinite weight, "p in S only with q in S"; most families have none.

        See ``capabilities.precedences``; auxiliary nodes stand for groups of tails and heads.
        """
        return NO_ARCS

    def finite_part(self) -> Term:
        """Return the family with 0 in place of infinite weights: itself, where there are none."""
        return self

    @abstractmethod
    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Split the functions into blocks of pairwise disjoint supports."""

    @property
    @abstractmethod
    def decompositions(self) -> tuple[str, ...]:
        """The names that ``blocks`` accepts; the first is the family's ``"auto"``."""

    def feasible_start(self) -> FloatArray:
        """Return a dual inside the base polytopes: 0 where 0 is feasible, else a greedy vertex."""
        if self.zero_is_feasible():
            return _memory.zeros(self.size)
        return self.greedy(np.arange(self.elements, dtype=np.int32)).copy()

    def check_data(self) -> None:  # noqa: B027
        """Refuse data that was changed in place since construction and is malformed now."""

    def zero_is_feasible(self) -> bool:
        """Say whether y = 0 lies in every base polytope."""
        return False

    def exchanges(self, dual: FloatArray) -> Exchanges:
        """Return the exchange capacities of the functions at a dual, which they keep and change.

        Raises
        ------
        TypeError
            If the family has none; those of an arbitrary function take a minimisation each.
        """
        raise TypeError(
            f"a {type(self).__name__} has no exchange capacities; MinimumNormPoint, Schrijver and "
            "AcceleratedSweeps need none"
        )

    def residual_arcs(self, dual: FloatArray, room: float, near: BoolArray) -> Arcs:
        """Return arcs (u, v) such that F_i(T) - y_i(T) > room for all T with u and without v.

        Functions without an element in the mask `near` are left out.  Fewer arcs are as true; a
        family that says nothing has none (see ``capabilities.residuals``).
        """
        return NO_ARCS

    def gadget_size(self) -> GadgetSize | None:
        """Say how large the gadgets of the functions are, cheaply; None if the family has none."""
        return None

    def gadget(self, dual: FloatArray) -> Gadget:
        """Return the functions as cuts with auxiliary nodes, with a flow near a feasible dual.

        Raises
        ------
        TypeError
            If ``gadget_size`` is None.
        """
        raise TypeError(
            f"a {type(self).__name__} is no cut with a few auxiliary nodes; AcceleratedSweeps "
            "takes every term"
        )

    def sizes(self) -> dict[str, object]:
        """Return what tells a reader how large the term is, by name; ``repr`` shows it."""
        return {"coordinates": self.size, "elements": self.elements}

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes().items())
        return f"<{type(self).__name__} {sizes}>"

    def lovasz(self, x: npt.ArrayLike) -> float:
        """Return the Lovász extension sum_i f_i(x) of a vector x, in O(greedy + n log n).

        It is infinite where x falls along a precedence: x_p > x_q for "p in S only with q in S".
        """
        flat = _checks.float_array("x", x).ravel()
        if not keeps(self.precedences(), flat):
            return float("inf")
        vertex = np.zeros(flat.size)
        self.accumulate(self.finite_part().greedy(ranks(flat)), vertex)
        return float(vertex @ flat)

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return what is left on the free elements when others are fixed in S or out of it.

        Raises
        ------
        TypeError
            If the family does not say.
        """
        raise TypeError(
            f"a term of kind {self.kind!r} does not say what fixing elements leaves of it: "
            f"{type(self).__name__} needs a method minor(fixing)"
        )

    def granularity(self) -> float:
        """Return g > 0 if every value of every F_i is a multiple of g, and 0 if none is known."""
        return 0.0

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family, of at most 12 elements.

        Tests that loop over families take them: the laws of ``submin.testing``, every solver
        against brute force, files and minors.
        """
        return []

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return the arrays that define the term, for saving."""
        raise TypeError(
            f"a term of kind {self.kind!r} holds Python code and can not be saved to a file; "
            "save the result alone, and build the problem again before verifying"
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a term from what ``arrays`` returned."""
        raise TypeError(f"a term of kind {cls.kind!r} can not be loaded from a file")


def make_feasible(blocks: Sequence[Block], part: FloatArray, n: int) -> None:
    """Project the dual of a term on the base polytopes, block by block, in place."""
    zero = np.zeros(n)
    for block in blocks:
        block.put(part, block.project(part, zero, 1.0))


def check_decomposition(term: Term, decomposition: str) -> str:
    """Resolve ``"auto"`` and refuse a decomposition that the family does not have."""
    if decomposition == "auto":
        return term.decompositions[0]
    if decomposition not in term.decompositions:
        choices = ", ".join(repr(name) for name in ("auto", *term.decompositions))
        raise ValueError(
            f"blocks={decomposition!r} is not a decomposition of {type(term).__name__}; "
            f"it has {choices}"
        )
    return decomposition
