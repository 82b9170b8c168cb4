"""Minors: the problem that is left when elements are fixed in S or out of it.

    F'(S) = F(S ∪ A) for sets S of the free elements, A being fixed in S

F' is again a constant, a unary and terms, on the free elements alone (``capabilities.fixing``).
Its dual has some of the coordinates of the dual of F, so that either warm-starts the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._sums import compensated_sum
from submin._typing import BoolArray, Dual, FloatArray, IndexArray, PointerArray
from submin.model.objective import Objective
from submin.terms.base.term import Piece, Term, TermMinor, make_feasible
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.precedences import closed, contradiction

Kind = TypeVar("Kind", bound=Objective)


class HasDual(Protocol):
    """A result, say."""

    @property
    def dual(self) -> Sequence[FloatArray]:
        """One array for each term."""


@dataclass(frozen=True, eq=False, repr=False)
class Minor(Generic[Kind]):
    """What is left of a problem.

    Attributes
    ----------
    problem : Problem
        F' on the free elements, of shape (n',).
    elements : int array, shape (n',)
        Their flat indices in the original problem.
    original : Problem
        F, in which other elements are fixed.
    fixing : Fixing
        Those elements, as flat masks ``inside`` and ``outside``.
    origins : tuple of (int, int array)
        For each term of F', the term of F that it comes from and the places of its dual in the dual
        of that term.
    """

    problem: Kind
    elements: IndexArray
    original: Kind
    fixing: Fixing
    origins: tuple[tuple[int, PointerArray], ...]

    @classmethod
    def of(cls, problem: Kind, fixing: Fixing) -> Minor[Kind]:
        """Build the minor of checked masks, and of what infinite weights tie to them."""
        fixing = closed(problem.precedences, fixing)
        unary = problem.unary.ravel()
        free, inside = unary[fixing.free], unary[fixing.inside]
        costs = [problem.constant, compensated_sum(inside[np.isfinite(inside)])]
        terms, origins = [], []
        for owner, term in enumerate(problem.terms):
            part = _term_minor(term, fixing)
            free += part.modular
            # An element with the unary -inf is in S, and its unary counts as 0.
            costs += [part.constant, float(np.sum(part.modular, where=np.isneginf(free)))]
            for piece in part.pieces:
                if piece.term.size:
                    terms.append(piece.term)
                    origins.append((owner, piece.slots))
        rest = type(problem)(free, terms, compensated_sum(np.array(costs)))
        return cls(rest, fixing.elements, problem, fixing, tuple(origins))

    def __repr__(self) -> str:
        inside, outside = int(self.fixing.inside.sum()), int(self.fixing.outside.sum())
        return f"<Minor inside={inside}, outside={outside}, free: {self.problem!r}>"

    def lift(self, members: npt.ArrayLike) -> BoolArray:
        """Return S and the elements fixed inside, as a mask of the original shape.

        Parameters
        ----------
        members : array_like of bool, shape (n',)
            A set S of free elements.
        """
        lifted = self.fixing.inside.copy()
        lifted[self.elements] = self.problem.flat_set("members", members)
        return lifted.reshape(self.original.shape)

    def lift_fixing(self, fixing: Fixing) -> Fixing:
        """Return what is fixed in the original problem, when more is fixed in this one."""
        inside, outside = self.fixing.inside.copy(), self.fixing.outside.copy()
        inside[self.elements], outside[self.elements] = fixing.inside, fixing.outside
        return Fixing(inside, outside)

    def restrict(self, dual: Sequence[FloatArray]) -> Dual:
        """Return the coordinates of a dual of F that F' has; feasible for its whole functions."""
        _check_sizes("dual", dual, self.original)
        return [np.ravel(dual[owner])[slots] for owner, slots in self.origins]

    def extend(self, dual: Sequence[FloatArray], full: Sequence[FloatArray]) -> Dual:
        """Return a dual of F with that of F' put in; feasible where F' has whole functions."""
        _check_sizes("dual", dual, self.problem)
        _check_sizes("full", full, self.original)
        extended = [np.array(part, dtype=np.float64).ravel() for part in full]
        for (owner, slots), part in zip(self.origins, dual, strict=True):
            extended[owner][slots] = part
        return extended

    def restrict_dual(self, dual: HasDual | Sequence[FloatArray]) -> Dual:
        """Return a feasible dual of F' near a dual of F, in one pass of projections.

        Parameters
        ----------
        dual : Result or sequence of float arrays
            A result of the original problem, or its dual: one array for each term.

        Raises
        ------
        ValueError
            If the sizes do not fit the problem.

        Examples
        --------
        >>> import submin as sm
        >>> problem = sm.Problem([1.0, -2.0, 0.5, 1.0], [sm.GridCut(4, 1.0)])
        >>> minor = problem.minor(inside=[False, True, False, False])
        >>> start = minor.restrict_dual(sm.minimize(problem))
        >>> minor.lift(sm.minimize(minor.problem, warm_start=start).minimizer)
        array([False,  True, False, False])
        """
        return _made_feasible(self.problem, self.restrict(_arrays(dual)))

    def lift_dual(
        self, dual: HasDual | Sequence[FloatArray], full: HasDual | Sequence[FloatArray]
    ) -> Dual:
        """Return a feasible dual of F: that of F' put into one of F, in one pass of projections.

        Parameters
        ----------
        dual : Result or sequence of float arrays
            Of the minor's ``problem``.
        full : Result or sequence of float arrays
            Of the original problem, for the coordinates that F' does not have.

        Raises
        ------
        ValueError
            If the sizes do not fit the problems.
        """
        return _made_feasible(self.original, self.extend(_arrays(dual), _arrays(full)))


def fix(problem: Kind, inside: npt.ArrayLike, outside: npt.ArrayLike) -> Minor[Kind]:
    """Return the minor of a problem; see ``Problem.minor``."""
    members, others = problem.flat_set("inside", inside), problem.flat_set("outside", outside)
    remedy = "an element is fixed in S, or out of it, or free"
    _checks.refuse_where("inside", members, members & others, remedy + "; it is outside too")
    unary = problem.unary.ravel()
    for name, mask, forced in (
        ("inside", members, problem.implied.outside),
        ("outside", others, problem.implied.inside),
    ):
        wrong = mask & forced
        if wrong.any():
            index = int(np.argmax(wrong))
            own = f"unary.flat[{index}] is {unary[index]}"
            cause = own if np.isinf(unary[index]) else "infinite weights tie it to one that has"
            raise ValueError(
                f"{name}[{index}] (flat) is set, but {cause}, a hard constraint that says the "
                "opposite"
            )
    fixing = Fixing(members, others)
    pair = contradiction(problem.precedences, fixing)
    if pair is not None:
        raise ValueError(
            f"inside[{pair[0]}] and outside[{pair[1]}] (flat) are set, but infinite weights want "
            f"element {pair[0]} in S only with element {pair[1]}"
        )
    if not closed(problem.precedences, fixing).elements.size:
        raise ValueError("inside and outside fix all elements: nothing is left to minimise over")
    return Minor.of(problem, fixing)


def _arrays(dual: HasDual | Sequence[FloatArray]) -> Sequence[FloatArray]:
    """Return the dual of a result, or the dual that is given."""
    given: Any = dual
    arrays: Sequence[FloatArray] = getattr(given, "dual", given)
    return arrays


def _made_feasible(problem: Objective, dual: Dual) -> Dual:
    """Project a dual on the base polytopes, block by block."""
    made = [np.array(part, dtype=np.float64) for part in dual]
    for term, part in zip(problem.terms, made, strict=True):
        make_feasible(term.blocks("auto", 0), part, problem.n)
    return made


def _check_sizes(name: str, dual: Sequence[FloatArray], problem: Objective) -> None:
    given, sizes = [np.size(part) for part in dual], [term.size for term in problem.terms]
    if given != sizes:
        raise ValueError(f"{name} has sizes {given}, but the terms of {problem!r} have {sizes}")


def has_minors(problem: Objective) -> bool:
    """Say whether the families of all terms have minors."""
    return all(type(term).minor is not Term.minor for term in problem.terms)


def _term_minor(term: Term, fixing: Fixing) -> TermMinor:
    """Return what is left of a term; all of it, if nothing is fixed."""
    if fixing.free.all():
        every = Piece(term, np.arange(term.size))
        return TermMinor([every], np.zeros(fixing.free.size), 0.0)
    return term.minor(fixing)
