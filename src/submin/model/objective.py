"""The objective: F(S) = constant + u(S) + sum_i F_i(S), for all subsets S of a ground set.

An infinite unary cost is a hard constraint: +inf keeps an element out of S, -inf keeps it in (seeds
of a segmentation, terminals of a flow).  Such an element's unary counts as 0 in values; solvers see
a finite cost in its place, just beyond what the terms can outweigh (``submin.model.pins``).  So do
they at elements whose side follows by infinite weights of terms (precedences).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum, isfinite

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._lazy import lazy
from submin._sums import common_granularity
from submin._typing import BoolArray, FloatArray
from submin.model.pins import Pins, find_pins
from submin.terms.base.term import Term
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.precedences import closed, closed_sides, contradiction, raised
from submin.terms.capabilities.residuals import Arcs, joined

KNOWN = (
    "forced_in", "forced_out", "has_forced", "precedences", "implied", "pins", "granularity",
)  # fmt: skip
"""What is computed from the data of a problem, once."""


class Objective:
    """F: a constant, a modular function and terms, on a ground set of any shape (``Problem``)."""

    def __init__(
        self, unary: npt.ArrayLike, terms: Sequence[Term] = (), constant: float = 0.0
    ) -> None:
        self.unary = _checks.float_array("unary", unary)
        self._magnitude = kernels.active.absolute_sum(self.unary.ravel(), 0)
        if not np.isfinite(self._magnitude):
            _checks.costs("unary", self.unary)
        self.shape = _checks.shape("the shape of unary", self.unary.shape or (1,))
        self.n = self.unary.size
        self.constant = _checks.number("constant", constant)
        if not isinstance(terms, Sequence):
            raise TypeError(f"terms is a {type(terms).__name__}: give a list of terms, [term]")
        self.terms = tuple(terms)
        for index, term in enumerate(self.terms):
            self._check_term(index, term)
        self._check_overflow()
        if self.has_forced:
            self.implied  # noqa: B018 - refuses constraints that contradict

    def _check_term(self, index: int, term: Term) -> None:
        if not isinstance(term, Term):
            raise TypeError(
                f"terms[{index}] is a {type(term).__name__}: it must be a Term such as "
                "GridCut, Cut, Cardinality, Table or Function"
            )
        wrong_shape = term.shape is not None and term.shape not in (self.shape, (self.n,))
        if wrong_shape and term.elements != self.n:
            raise ValueError(
                f"terms[{index}] ({type(term).__name__}) has shape {term.shape}, but the unary "
                f"has shape {self.shape}"
            )
        if wrong_shape and len(term.shape or ()) > 1 and len(self.shape) > 1:
            raise ValueError(
                f"terms[{index}] ({type(term).__name__}) has shape {term.shape}, but the unary "
                f"has shape {self.shape}; the elements would be in another order"
            )
        if term.elements > self.n:
            raise ValueError(
                f"terms[{index}] ({type(term).__name__}) uses element {term.elements - 1}, but "
                f"the unary has {self.n} elements"
            )

    def check_data(self) -> None:
        """Refuse data that was changed in place since construction and is malformed now.

        Arrays are used without a copy, so a solve or a verification looks at them once more, and
        forgets what was known of their values.
        """
        magnitude = kernels.active.absolute_sum(self.unary.ravel(), 0)
        if not np.isfinite(magnitude):
            changed = np.isnan(self.unary) if self.has_forced else ~np.isfinite(self.unary)
            _checks.refuse_where("unary", self.unary, changed, "it was changed after construction")
        self._magnitude = magnitude
        for known in KNOWN:
            vars(self).pop(known, None)
        for term in self.terms:
            term.check_data()

    def _check_overflow(self) -> None:
        if self._magnitude < _checks.LARGEST_SUM:
            return
        finite = np.where(np.isfinite(self.unary), self.unary, 0.0)
        total = kernels.active.absolute_sum(finite.ravel(), 0)
        if not total < _checks.LARGEST_SUM:
            index = int(np.argmax(np.abs(finite)))
            raise ValueError(
                "unary overflows: its costs must sum to less than 1e150, and the largest is "
                f"{finite.flat[index]}, at flat index {index}; a hard constraint is inf or -inf, "
                "and other data must be scaled down"
            )

    @lazy
    def forced_in(self) -> BoolArray:
        """Flat mask of the elements whose unary is -inf."""
        return np.isneginf(self.unary).ravel()

    @lazy
    def forced_out(self) -> BoolArray:
        """Flat mask of the elements whose unary is +inf."""
        return np.isposinf(self.unary).ravel()

    @lazy
    def has_forced(self) -> bool:
        """Whether any element has a hard constraint."""
        return not np.isfinite(self._magnitude) and bool(np.any(np.isinf(self.unary)))

    @lazy
    def precedences(self) -> Arcs:
        """The arcs of infinite weight of all terms (``terms.capabilities.precedences``)."""
        return joined([term.precedences() for term in self.terms])

    @lazy
    def implied(self) -> Fixing:
        """The elements that hard constraints decide: those of infinite cost, and what follows.

        An element to which a precedence leads from one in S is in S too, and an element from which
        one leads to an element out of S is out of it.

        Raises
        ------
        ValueError
            If a precedence leads from an element that is kept in S to one that is kept out of it.
        """
        forced = Fixing(self.forced_in, self.forced_out)
        if not self.has_forced or not self.precedences.tails.size:
            return forced
        pair = contradiction(self.precedences, forced)
        if pair is not None:
            inside, outside = pair
            raise ValueError(
                f"the constraints contradict: unary.flat[{inside}] is -inf and "
                f"unary.flat[{outside}] is inf, but infinite weights want element {inside} in S "
                f"only with element {outside}"
            )
        return closed(self.precedences, forced)

    def repaired(self, members: BoolArray) -> BoolArray:
        """Return the flat set with hard constraints and precedences kept; never raises the value.

        What infinite weights want with the members is added.
        """
        if self.has_forced:
            members = (members | self.implied.inside) & ~self.implied.outside
        if self._keeps_precedences(members):
            return members
        kept: BoolArray = closed_sides(self.precedences, members.astype(np.int8)) == 1
        return kept

    def _keeps_precedences(self, members: BoolArray) -> bool:
        """Say whether no term costs an infinite amount; O(size of the terms that could)."""
        return all(
            term.finite_part() is term or isfinite(term.evaluate(members)) for term in self.terms
        )

    def isotonic(self, x: FloatArray) -> FloatArray:
        """Return the least vector above x that falls along no precedence, where f is finite."""
        return raised(self.precedences, x)

    def evaluate(self, members: npt.ArrayLike) -> float:
        """Return F(S) with compensated sums; ``inf`` if S breaks a constraint.

        Parameters
        ----------
        members : array_like of bool, the problem's shape (or flat)
            The set S.
        """
        return fsum(self.value_parts(self.flat_set("members", members)))

    def value_parts(self, members: BoolArray) -> list[float]:
        """Return the costs of a flat set that add up to F(S): unary, each term, constant."""
        if self.has_forced and np.any((members & self.forced_out) | (self.forced_in & ~members)):
            return [float("inf"), self.constant]
        if not members.any():
            return [0.0, self.constant]
        paying = members & ~self.forced_in if self.has_forced else members
        modular = kernels.active.sum_within(self.unary.ravel(), paying.view(np.uint8), 0)
        return [modular, *(term.evaluate(members) for term in self.terms), self.constant]

    def least_cost(self, s: FloatArray) -> float:
        """Return what any set costs at least, for modular costs s: sum_v min(0, s_v).

        Pinned elements count as what they must be.  O(n), compensated.
        """
        pins = self.pins
        if pins is None:
            return kernels.active.negative_sum(s, 0)
        least = np.minimum(0.0, s)
        np.copyto(least, s, where=pins.inside)
        least[pins.outside] = 0.0
        return kernels.active.compensated_sum(least, 0)

    def flat_set(self, name: str, members: npt.ArrayLike) -> BoolArray:
        """Check a set given as a mask of the problem's shape, and flatten it."""
        given = np.shape(members)
        remedy = (
            "mask > 0 makes one"
            if given == self.shape
            else f"of element numbers, np.isin(np.arange({self.n}), numbers) makes one"
        )
        mask = _checks.flat_mask(name, members, f"of shape {self.shape}", remedy)
        if given not in (self.shape, (self.n,)):
            raise ValueError(f"{name} has shape {given}, but the problem has {self.shape}")
        return mask

    @lazy
    def pins(self) -> Pins | None:
        """The elements that their own cost decides, if there are any: see ``submin.model.pins``."""
        return self.pins_by(None)

    def pins_by(self, known_reach: Callable[[], FloatArray] | None) -> Pins | None:
        """Return ``pins``; `known_reach` returns ``pins.reach``, where that was computed before."""
        forced = self.implied if self.has_forced else None
        unary = self.unary.ravel()
        return find_pins(unary, self.terms, self.granularity, forced, known_reach)

    @lazy
    def granularity(self) -> float:
        """A number that divides all values of F, less the constant; 0 if none is known."""
        finite = self.unary[np.isfinite(self.unary)] if self.has_forced else self.unary
        own = common_granularity(finite)
        if own == 0.0:
            return 0.0
        parts = [term.granularity() for term in self.terms]
        if 0.0 in parts:
            return 0.0
        return common_granularity(np.array([own if finite.any() else 0.0, *parts]))

    def __repr__(self) -> str:
        names = ", ".join(type(term).__name__ for term in self.terms) or "no terms"
        return f"{type(self).__name__}(shape={self.shape}, {names})"
