"""The layout: a problem compiled into blocks, which is all that a solver sees.

    s = u + sum_i y_i        the point whose negative is the proximal solution
    r = number of blocks     a pass is r block projections

The dual is one array per term in natural coordinates (see ``terms.base.term``), the same for every
decomposition, so that the result of any solver on any blocks warm-starts any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from math import fsum

import numpy as np
import numpy.typing as npt

from submin import _checks, _memory
from submin._lazy import lazy
from submin._orders import ranks
from submin._typing import Dual, FloatArray, IndexArray
from submin.model.problem import Problem
from submin.terms.base.term import Block, Term, check_decomposition, make_feasible


class ZeroDual(list[FloatArray]):
    """The dual 0, as a solver gets it: nobody needs to look at it to know its sum."""


def _name_for_all(terms: Sequence[Term], name: str) -> list[str]:
    """Use a decomposition wherever a term has it, and the term's default elsewhere."""
    known = sorted({choice for term in terms for choice in term.decompositions})
    if terms and name != "auto" and name not in known:
        choices = ", ".join(repr(choice) for choice in ("auto", *known))
        raise ValueError(f"blocks={name!r} is a decomposition of no term here; there are {choices}")
    return [name if name in term.decompositions else "auto" for term in terms]


def _own(part: FloatArray) -> FloatArray:
    """Copy what a term returned, which may be a buffer that it fills anew each time."""
    return np.array(part, dtype=np.float64)


def _finite_unary(problem: Problem, pinned: bool) -> FloatArray:
    """Return the flat unary with stand-ins for infinite costs, or for those of all pins."""
    unary, pins = problem.unary.ravel(), problem.pins
    if pins is None or (not pinned and not problem.has_forced):
        return unary
    return pins.unary if pinned else np.where(problem.implied.free, unary, pins.unary)


class Layout:
    """The blocks of a problem.

    Parameters
    ----------
    problem : Problem
    decomposition : str or sequence of str
        ``"auto"``, ``"chains"``, ``"matchings"``, ``"functions"``, ...: one name for all terms that
        have such a decomposition, or one per term.
    threads : int
        Number of threads for large blocks; 0 means all cores.  The results do not depend on it.
    pinned : bool
        Whether stand-ins take the place of finite costs that decide their elements, as they do of
        infinite ones (``submin.model.pins``): a minimiser is the same, the proximal point is not.
    weights : array_like, shape of the problem, optional
        The weights m of the squares in the proximal problem, flat as ``masses``; by default 1, and
        None.

    Raises
    ------
    ValueError
        If a term has no such decomposition, names and terms differ in number, or weights are no
        weights.
    """

    def __init__(
        self,
        problem: Problem,
        decomposition: str | Sequence[str] = "auto",
        threads: int = 0,
        pinned: bool = False,
        weights: npt.ArrayLike | None = None,
    ) -> None:
        if not isinstance(problem, Problem):
            hint = "; it has one, .problem" if hasattr(problem, "problem") else ""
            raise TypeError(f"problem must be a Problem, and not a {type(problem).__name__}{hint}")
        if not isinstance(decomposition, str | Sequence):
            raise TypeError(f"blocks must be a name or one for each term, and not {decomposition}")
        problem.check_data()
        self.problem = problem
        self.threads = _checks.threads(threads)
        self.unary = _finite_unary(problem, pinned)
        self.masses = _checks.square_weights(weights, problem.shape)
        names = (
            _name_for_all(problem.terms, decomposition)
            if isinstance(decomposition, str)
            else list(decomposition)
        )
        if len(names) != len(problem.terms):
            raise ValueError(
                f"blocks has {len(names)} names for {len(problem.terms)} terms: "
                "give one name for all, or one for each term"
            )
        for term, name in zip(problem.terms, names, strict=True):
            check_decomposition(term, name)
        self._names = names

    @lazy
    def _parts(self) -> list[Sequence[Block]]:
        """The blocks of each term, made when first asked for: a maximum flow needs none."""
        terms = zip(self.problem.terms, self._names, strict=True)
        return [term.blocks(name, self.threads) for term, name in terms]

    @lazy
    def blocks(self) -> list[Block]:
        """The blocks of all terms, in order."""
        return [block for part in self._parts for block in part]

    @lazy
    def owners(self) -> list[int]:
        """The number of the term that each block belongs to."""
        return [owner for owner, part in enumerate(self._parts) for _ in part]

    def with_costs(self, problem: Problem) -> Layout:
        """Return the layout of a problem of the same terms and shape; the blocks are shared.

        Stand-ins take the place of all pinned costs.  Nothing is checked again.
        """
        other = copy(self)
        other.problem, other.unary = problem, _finite_unary(problem, pinned=True)
        vars(other).pop("fixed_costs", None)
        return other

    @property
    def r(self) -> int:
        """The number of blocks."""
        return len(self.blocks)

    @property
    def n(self) -> int:
        """The number of elements."""
        return self.problem.n

    def feasible_start(self) -> Dual:
        """Return a feasible dual: 0 where 0 is feasible."""
        zero = [term.zero_is_feasible() for term in self.problem.terms]
        starts = [
            _memory.zeros(term.size) if feasible else _own(term.feasible_start())
            for term, feasible in zip(self.problem.terms, zero, strict=True)
        ]
        return ZeroDual(starts) if all(zero) else starts

    def restored(self, dual: Sequence[FloatArray]) -> Dual:
        """Return the nearest feasible dual, in one pass of projections.

        Raises
        ------
        ValueError
            If the dual does not have one array of the right size for each term.
        """
        sizes = [term.size for term in self.problem.terms]
        given = [np.size(part) for part in dual]
        if sizes != given:
            raise ValueError(
                f"the warm start has dual sizes {given}, but the problem's terms have {sizes}: it "
                "must come from a problem of the same terms; Minor.restrict_dual makes one for a "
                "minor"
            )
        copy = [_checks.float_array("warm_start", part).flatten() for part in dual]
        if not all(np.all(np.isfinite(part)) for part in copy):
            raise ValueError("the warm start holds a number that is not finite")
        for blocks, part in zip(self._parts, copy, strict=True):
            make_feasible(blocks, part, self.n)
        return copy

    def total(self, dual: Sequence[FloatArray], out: FloatArray | None = None) -> FloatArray:
        """Return s = u + sum_i y_i, shape (n,), in `out` if that is given."""
        s = np.empty_like(self.unary) if out is None else out
        s[:] = self.unary
        for term, part in zip(self.problem.terms, dual, strict=True):
            term.accumulate(part, s)
        return s

    def core_bound(self, s: FloatArray) -> float:
        """Return sum_v min(0, s_v), where pinned elements count as what they must be, O(n).

        It is a lower bound on min F less the constant and pinned costs, if s is that of a feasible
        dual.
        """
        pins = self.problem.pins
        if pins is not None:
            s = s.copy()
            np.subtract(s, self.unary, out=s, where=pins.inside)
        return self.problem.least_cost(s)

    def lower_bound(self, s: FloatArray) -> float:
        """Return a lower bound on min F, if s is that of a feasible dual, O(n)."""
        return fsum([self.core_bound(s), *self.fixed_costs])

    @lazy
    def fixed_costs(self) -> list[float]:
        """The constant, and the costs of the elements that are pinned in S."""
        pins = self.problem.pins
        return [self.problem.constant, *([] if pins is None else pins.paid.tolist())]

    def greedy_vertex(self, x: FloatArray) -> Dual:
        """Return the greedy vertices that maximise <x, sum_i y_i>, for a flat x, O(n log n)."""
        rank = ranks(x)
        return [_own(term.greedy(rank)) for term in self.problem.terms]

    def support(self, i: int) -> IndexArray:
        """Return the elements of block `i`."""
        return self.blocks[i].support()

    @lazy
    def supports(self) -> list[IndexArray]:
        """The elements of each block, kept from the first use on."""
        return [block.support().copy() for block in self.blocks]

    def degrees(self, chosen: Iterable[int] | None = None) -> FloatArray:
        """Return mu: how many blocks, or of the chosen ones, touch each element, shape (n,)."""
        mu = np.zeros(self.n)
        for i in range(self.r) if chosen is None else chosen:
            mu[self.supports[i]] += 1.0
        return mu

    def overlap(self) -> int:
        """Return omega, the largest number of blocks on one element, O(sum of supports)."""
        return int(self.degrees().max())

    def sweep(self, i: int, dual: Dual, s: FloatArray) -> None:
        """Minimise ||s||^2 over block `i` exactly, in place."""
        self.blocks[i].sweep(dual[self.owners[i]], s)

    def project(self, i: int, dual: Dual, s: FloatArray, c: float) -> FloatArray:
        """Return block `i` of Proj(y - s / c)."""
        return self.blocks[i].project(dual[self.owners[i]], s, c)

    def project_weighted(
        self, i: int, dual: Dual, s: FloatArray, weights: FloatArray, c: float = 1.0
    ) -> FloatArray:
        """Return block `i` of the y' that minimises <s, y'> + c/2 sum_v w_v (y'_v - y_v)^2.

        It is the point nearest to y - s / (c w) in the norm of the weights.  A block that can
        project in the Euclidean norm only takes its largest weight for all of its elements: a
        shorter step, which descends as surely.
        """
        block, part, where = self.blocks[i], dual[self.owners[i]], self.supports[i]
        own = weights[where]
        largest = float(own.max(initial=0.0))
        if not block.weighted or own.min(initial=largest) == largest:
            return block.project(part, s, c * largest)
        step = np.zeros(self.n)
        step[where] = s[where] / (c * own)
        return block.project_weighted(part, step, weights)

    def take(self, i: int, dual: Dual) -> FloatArray:
        """Copy block `i` out of the dual."""
        return self.blocks[i].take(dual[self.owners[i]])

    def put(self, i: int, dual: Dual, part: FloatArray) -> None:
        """Write block `i` of the dual."""
        self.blocks[i].put(dual[self.owners[i]], part)

    def accumulate(self, i: int, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add `scale` times the n-vector of a part of block `i` to `s`."""
        self.blocks[i].accumulate(part, s, scale)
