"""Cut functions of hypergraphs, undirected and directed.

    F(S) = sum over e of  w_e [S contains a tail of e, and not all heads of e]

with Lovász extension w_e (max over tails x - min over heads x)_+.  An undirected hyperedge has all
its members as tails and as heads and costs w_e when S cuts it; an arc (i, j) has one tail and one
head.  The base polytope holds the flows from tails to heads of at most w_e,

    B = {p - q : p >= 0 on the tails, q >= 0 on the heads, p(e) = q(e) <= w_e},

and the projection of a = y - s / c onto it cuts a at two levels u >= l (Li & Milenkovic 2018,
arXiv:1803.03851, for the undirected case):

    y+ = (a - u)_+ on the tails - (l - a)_+ on the heads

where u = l is the level at which tails give what heads take, if that is at most w_e, and else u and
l are those at which tails give and heads take w_e.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._sums import (
    UNIT_ROUNDOFF,
    common_granularity,
    scatter_sum,
)
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.terms.base.groups import (
    GroupBlock,
    GroupTerm,
    checked_members,
    grouped_any,
    grouped_sums,
    per_entry,
)
from submin.terms.base.term import Block, Piece, TermMinor, Violation
from submin.terms.capabilities.exchanges import GroupExchanges
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.gadgets import Gadget, GadgetSize
from submin.terms.capabilities.residuals import NO_ARCS, Arcs, joined, star, touched
from submin.terms.cardinality import Cardinality

TAIL, HEAD = 1, 2
BOTH = TAIL | HEAD


class Hyperedge(GroupTerm):
    """Weights of the hyperedges that S cuts.

    Parameters
    ----------
    pointers : array_like of int, shape (hyperedges + 1,)
        Hyperedge i has the elements ``members[pointers[i]:pointers[i + 1]]`` (CSR, like SciPy).
    members : array_like of int, shape (incidences,)
        Element numbers in C order of the ground set; no element twice in one hyperedge.
    weights : array_like of float, shape (hyperedges,), or float
        Cost of each hyperedge when some of its members are in S and some are not; ``inf`` keeps
        them together.  A hyperedge of one member or none costs nothing.

    Raises
    ------
    TypeError
        If pointers or members are not integers.
    ValueError
        If a weight is negative or NaN, or the hyperedges are malformed.

    Notes
    -----
    Projection: O(k) for each piecewise-linear evaluation, a few of which suffice, O(k log k) at
    worst, for k members.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> hyperedges = sm.Hyperedge([0, 3, 5], [0, 1, 2, 2, 3], [2.0, 1.0])
    >>> hyperedges.evaluate(np.array([True, False, False, False]))
    2.0
    """

    kind = "hyperedge"

    def __init__(
        self, pointers: npt.ArrayLike, members: npt.ArrayLike, weights: npt.ArrayLike
    ) -> None:
        self._set_groups(pointers, members)
        self.roles = np.full(1, BOTH, dtype=np.uint8)
        self.weights = per_entry(
            "weights", weights, self.pointers.size - 1, "hyperedge", infinite=None
        )

    @classmethod
    def directed(
        cls,
        tail_pointers: npt.ArrayLike,
        tails: npt.ArrayLike,
        head_pointers: npt.ArrayLike,
        heads: npt.ArrayLike,
        weights: npt.ArrayLike,
    ) -> Self:
        """Build directed hyperedges: each costs its weight if S has a tail and misses a head.

        Parameters
        ----------
        tail_pointers, tails : array_like of int, shapes (hyperedges + 1,) and (all tails,)
            Hyperedge i has the tails ``tails[tail_pointers[i]:tail_pointers[i + 1]]``.
        head_pointers, heads : array_like of int, shapes (hyperedges + 1,) and (all heads,)
            The same for the heads.  An element may be a tail and a head of one hyperedge.
        weights : array_like of float, shape (hyperedges,), or float
            ``inf`` for a precedence, "a tail only with all heads".

        Raises
        ------
        TypeError
            If pointers or elements are not integers.
        ValueError
            If a hyperedge has no tail or no head, the numbers of hyperedges differ, or as for the
            constructor.

        Examples
        --------
        >>> import numpy as np, submin as sm
        >>> arc = sm.Hyperedge.directed([0, 2], [0, 1], [0, 1], [2], 3.0)
        >>> arc.evaluate(np.array([False, True, False])), arc.evaluate(np.array([True] * 3))
        (3.0, 0.0)
        """
        ends = [
            _checked_ends("tail", tail_pointers, "tails", tails),
            _checked_ends("head", head_pointers, "heads", heads),
        ]
        counts = [pointers.size - 1 for pointers, _ in ends]
        if counts[0] != counts[1]:
            raise ValueError(
                f"tail_pointers has {counts[0]} hyperedges and head_pointers has {counts[1]}: "
                "each hyperedge needs its tails and its heads"
            )
        pointers, members, roles = _united(*ends)
        return cls._from_roles(pointers, members, roles, weights)

    @classmethod
    def _from_roles(
        cls,
        pointers: npt.ArrayLike,
        members: npt.ArrayLike,
        roles: npt.NDArray[np.uint8],
        weights: npt.ArrayLike,
    ) -> Self:
        """Build hyperedges from the role of each member: tail, head or both."""
        term = cls(pointers, members, weights)
        if np.any(roles != BOTH):
            term.roles = np.ascontiguousarray(roles)
        return term

    @property
    def _is_tail(self) -> BoolArray:
        return np.broadcast_to((self.roles & TAIL) != 0, self.members.shape)

    @property
    def _is_head(self) -> BoolArray:
        return np.broadcast_to((self.roles & HEAD) != 0, self.members.shape)

    def evaluate(self, members: BoolArray) -> float:
        """Return the weight of the hyperedges that S cuts, O(incidences)."""
        inside = _checks.flat_mask("members", members)[self.members]
        with_tail = grouped_any(inside & self._is_tail, self.pointers)
        misses_head = grouped_any(~inside & self._is_head, self.pointers)
        return kernels.active.compensated_sum(self.weights[with_tail & misses_head], 0)

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Give w to the first tail and -w to the last head if the first comes before, O(k)."""
        position, size = rank[self.members], rank.size
        first = np.full(self.weights.size, size, dtype=np.int64)
        last = np.full(self.weights.size, -1, dtype=np.int64)
        filled = np.diff(self.pointers) > 0
        if filled.any():
            starts = self.pointers[:-1][filled]
            tails = np.where(self._is_tail, position, size)
            heads = np.where(self._is_head, position, -1)
            first[filled] = np.minimum.reduceat(tails, starts)
            last[filled] = np.maximum.reduceat(heads, starts)
        crossed = np.where(first < last, self.weights, 0.0)[self.group_of]
        gains = np.where(position == first[self.group_of], crossed, 0.0)
        np.subtract(gains, crossed, out=gains, where=position == last[self.group_of])
        return gains

    def zero_is_feasible(self) -> bool:
        """Weights are never negative, so no flow is always feasible."""
        return True

    def violation(self, dual: FloatArray) -> Violation:
        """Return sum_e max_S (y_e(S) - F_e(S)), O(incidences)."""
        excess = kernels.active.hyperedge_excess(self.pointers, self.roles, self.weights, dual, 0)
        return Violation(*excess)

    def residual_arcs(self, dual: FloatArray, room: float, near: BoolArray) -> Arcs:
        """Return arcs from tails to heads, O(incidences).

        F(T) = w for T with a tail u and without a head v, and y(T) is at most the sum of all
        positive y, less that of v and less what is negative at u.
        """
        positive, negative = np.maximum(dual, 0.0), np.maximum(-dual, 0.0)
        total = grouped_sums(positive, self.pointers)[0]
        slack = np.maximum(self.weights - total, 0.0)[self.group_of]
        sizes = self.finite_part().weights + total
        errors = UNIT_ROUNDOFF * (np.diff(self.pointers) + 4) * sizes
        least, groups = room + errors[self.group_of], self.weights.size
        some = np.zeros(groups, dtype=np.bool_)
        some[touched(self.pointers, self.members, near)] = True
        tails, heads = some[self.group_of] & self._is_tail, some[self.group_of] & self._is_head
        ends = self.group_of, self.members
        return joined([
            star(*ends, tails & (slack + negative > least), heads, groups),
            star(*ends, tails, heads & (slack + positive > least), groups),
        ])  # fmt: skip

    def exchanges(self, dual: FloatArray) -> HyperedgeExchanges:
        """Return the exchange capacities, O(k) for each element of a hyperedge of k."""
        return HyperedgeExchanges(self, dual)

    def _gadget_roles(self) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Say which hyperedges are pairs, and which places are tails and heads of larger ones."""
        sizes = np.diff(self.pointers)
        large = (sizes > 2)[self.group_of]
        return sizes == 2, large & self._is_tail, large & self._is_head

    def gadget_size(self) -> GadgetSize:
        """Count an edge for a pair, else two auxiliaries and an edge for each tail and head."""
        pairs, tails, heads = self._gadget_roles()
        large = int(np.count_nonzero(np.diff(self.pointers) > 2))
        ends = np.count_nonzero(tails) + np.count_nonzero(heads)
        return GadgetSize(2 * large, int(np.count_nonzero(pairs) + ends + large))

    def gadget(self, dual: FloatArray) -> Gadget:
        """Return tail -> a -> b -> head, with the positive part of y out of tails, O(incidences).

        The negative part goes into heads.
        """
        pairs, is_tail, is_head = self._gadget_roles()
        first, weights = self.pointers[:-1][pairs], self.weights[pairs]
        out = np.where(self._is_tail[first] & self._is_head[first + 1], weights, 0.0)
        back = np.where(self._is_tail[first + 1] & self._is_head[first], weights, 0.0)
        tails, heads = np.flatnonzero(is_tail), np.flatnonzero(is_head)
        large = np.diff(self.pointers) > 2
        a = self.size + 2 * (np.cumsum(large) - 1)
        given, taken = np.maximum(dual[tails], 0.0), np.maximum(-dual[heads], 0.0)
        through = scatter_sum(self.group_of[tails], given, large.size)[large]
        limits = [out, self.weights[self.group_of[tails]], self.weights[large],
                  self.weights[self.group_of[heads]]]  # fmt: skip
        forward = np.concatenate(limits)
        backward = np.concatenate([back, np.zeros(forward.size - back.size)])
        flow = np.concatenate([dual[first], given, through, taken])
        return Gadget(
            elements=self.members,
            modular=np.zeros(self.size),
            costs=np.zeros(2 * int(np.count_nonzero(large))),
            tails=np.concatenate(
                [first, tails, a[large], a[self.group_of[heads]] + 1],
                dtype=np.int32,
                casting="unsafe",
            ),
            heads=np.concatenate(
                [first + 1, a[self.group_of[tails]], a[large] + 1, heads],
                dtype=np.int32,
                casting="unsafe",
            ),
            forward=forward,
            backward=backward,
            flow=np.clip(flow, -backward, forward),
        )

    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return minus the weights into each element and those out of it, O(n + incidences).

        A tail that is the only head, or a head that is the only tail, never decides.
        """
        tails, heads = self._is_tail, self._is_head
        tail_counts = np.bincount(self.group_of[tails], minlength=self.weights.size)
        head_counts = np.bincount(self.group_of[heads], minlength=self.weights.size)
        only_head = heads & (head_counts == 1)[self.group_of]
        only_tail = tails & (tail_counts == 1)[self.group_of]
        weights = self.weights[self.group_of]
        high = scatter_sum(self.members, np.where(tails & ~only_head, weights, 0.0), n)
        low = scatter_sum(self.members, np.where(heads & ~only_tail, weights, 0.0), n)
        return -low, high

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return the hyperedges that can still be cut, and those of which one side is decided.

        With a tail inside, a hyperedge costs w [S misses a head]; with a head outside,
        w [S has a tail]: functions of the number of heads or tails in S.  O(incidences).
        """
        inside, outside = fixing.inside[self.members], fixing.outside[self.members]
        free = fixing.free[self.members]
        free_tail, free_head = free & self._is_tail, free & self._is_head
        tail_in = grouped_any(inside & self._is_tail, self.pointers)
        head_out = grouped_any(outside & self._is_head, self.pointers)
        open_ends = grouped_any(free_tail, self.pointers) & grouped_any(free_head, self.pointers)
        open_ends &= ~(tail_in | head_out)
        both = self.select(free & open_ends[self.group_of], fixing)
        roles = np.broadcast_to(self.roles, self.members.shape)[both.slots]
        cut = self._from_roles(both.pointers, both.members, roles, self.weights[both.groups])
        misses_head = free_head & (tail_in & ~head_out)[self.group_of]
        has_tail = free_tail & (head_out & ~tail_in)[self.group_of]
        one = self.select(misses_head | has_tail, fixing)
        sided = _one_sided(one.pointers, one.members, self.weights[one.groups], tail_in[one.groups])
        return TermMinor(
            [Piece(cut, both.slots), Piece(sided, one.slots)],
            np.zeros(fixing.elements.size),
            self.evaluate(fixing.inside),
        )

    def finite_part(self) -> Self:
        """Return the hyperedges with weight 0 in place of infinite ones, O(hyperedges)."""
        endless = np.isposinf(self.weights)
        if not endless.any():
            return self
        part = copy(self)
        part.weights = np.where(endless, 0.0, self.weights)
        return part

    def precedences(self) -> Arcs:
        """Return arcs from the tails of each infinite hyperedge, by an auxiliary, to its heads."""
        endless = np.isposinf(self.weights)
        if not endless.any():
            return NO_ARCS
        chosen = endless[self.group_of]
        ends = self.group_of, self.members
        return star(*ends, chosen & self._is_tail, chosen & self._is_head, self.weights.size)

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Put hyperedges without common members into one block by greedy colouring."""
        classes = self.group_classes(decomposition)
        return [HyperedgeBlock(self, groups, threads) for groups in classes]

    def granularity(self) -> float:
        """Return the granularity of the finite weights."""
        return common_granularity(self.finite_part().weights)

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return the hyperedges, the roles of their members (1 tail, 2 head, 3 both), weights."""
        return {
            "pointers": self.pointers,
            "members": self.members,
            "roles": np.broadcast_to(self.roles, self.members.shape),
            "weights": self.weights,
        }

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family."""
        return [
            cls([0, 3, 5], [0, 1, 2, 2, 3], [2.0, 0.7]),
            cls.directed([0, 2, 3], [0, 1, 3], [0, 1, 3], [2, 0, 4], 3.0),
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild hyperedges from what ``arrays`` returned."""
        roles = np.asarray(arrays["roles"])
        if roles.shape != np.shape(arrays["members"]) or roles.dtype != np.uint8:
            raise ValueError(
                f"roles has shape {roles.shape} and type {roles.dtype}: it must have one uint8 for "
                "each member"
            )
        wrong = (roles < TAIL) | (roles > BOTH)
        _checks.refuse_where("roles", roles, wrong, "a role is 1 (tail), 2 (head) or 3 (both)")
        return cls._from_roles(arrays["pointers"], arrays["members"], roles, arrays["weights"])


class HyperedgeBlock(GroupBlock):
    """Hyperedges without common members."""

    term: Hyperedge

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Cut the target of each hyperedge at its two levels, O(k) for each evaluation."""
        term, out = self.term, np.empty(self.size)
        kernels.active.hyperedge_project(
            term.pointers, term.members, term.roles, term.weights, self.groups, dual, s, c, out,
            self.threads,
        )  # fmt: skip
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Project with c = 1 in place."""
        term = self.term
        kernels.active.hyperedge_sweep(
            term.pointers, term.members, term.roles, term.weights, self.groups, dual, s,
            self.threads,
        )  # fmt: skip

    def nearest(self, a: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Cut the target of each hyperedge at its two levels in units of d, O(k log k)."""
        term = self.term
        roles = np.broadcast_to(term.roles, term.members.shape)[self.slots].copy()
        kernels.active.weighted_hyperedge(
            self.pointers, a, d, roles, term.weights[self.groups], out, self.threads
        )


def _one_sided(
    pointers: PointerArray, members: IndexArray, weights: FloatArray, of_heads: BoolArray
) -> Cardinality:
    """Return -w [all members in S] for groups of heads, and w [a member in S] for tails."""
    ends = pointers + np.arange(pointers.size)
    values = np.repeat(np.where(of_heads, 0.0, weights), np.diff(ends))
    values[ends[:-1]] = 0.0
    values[ends[1:] - 1] = np.where(of_heads, -weights, weights)
    return Cardinality.of_values(pointers, members, values)


class HyperedgeExchanges(GroupExchanges):
    """Exchange capacities of hyperedges.

    F costs w, or nothing where S has no tail or all heads, so that c(u, v) is the least of
    w - y(S), -y(S) without tails, and -y(S) with all heads, each for the members that add to y(S).
    """

    def __init__(self, term: Hyperedge, dual: FloatArray) -> None:
        super().__init__(term.pointers, term.members, dual)
        self.weights, self.is_tail, self.is_head = term.weights, term._is_tail, term._is_head

    def capacities(self, group: int, slots: slice, place: int) -> FloatArray:
        """Return the capacities from one member, O(k)."""
        y, tail, head = self.dual[slots], self.is_tail[slots], self.is_head[slots]
        chosen = np.maximum(y, 0.0)
        chosen[place] = y[place]
        room: FloatArray = self.weights[group] - _sums_without_one(chosen)
        if not tail[place]:
            room = np.minimum(room, -_sums_without_one(np.where(tail, 0.0, chosen)))
        covered = -_sums_without_one(np.where(head, y, chosen))
        return np.where(head, room, np.minimum(room, covered))


def _sums_without_one(values: FloatArray) -> FloatArray:
    """Return, for each entry, the sum of all others."""
    others: FloatArray = values.sum() - values
    return others


def _checked_ends(
    kind: str, pointers: npt.ArrayLike, name: str, elements: npt.ArrayLike
) -> tuple[PointerArray, IndexArray]:
    """Check the tails or heads of all hyperedges."""
    checked, members = checked_members(name, elements, f"{kind}_pointers", pointers)
    if np.any(np.diff(checked) == 0):
        index = int(np.argmin(np.diff(checked)))
        raise ValueError(
            f"hyperedge {index} has no {kind}, so that it would cost nothing; the one-sided "
            "w [S meets e] is submin.coverage"
        )
    return checked, members


def _united(
    tails: tuple[PointerArray, IndexArray], heads: tuple[PointerArray, IndexArray]
) -> tuple[PointerArray, IndexArray, npt.NDArray[np.uint8]]:
    """Merge tails and heads into one list of members for each hyperedge, with their roles."""
    hyperedges = tails[0].size - 1
    owner = np.concatenate(
        [np.repeat(np.arange(hyperedges), np.diff(p)) for p, _ in (tails, heads)]
    )
    element = np.concatenate([tails[1], heads[1]])
    role = np.repeat([TAIL, HEAD], [tails[1].size, heads[1].size])
    order = np.lexsort((element, owner))
    owner, element, role = owner[order], element[order], role[order]
    starts = np.ones(owner.size, dtype=np.bool_)
    starts[1:] = (np.diff(owner) != 0) | (np.diff(element) != 0)
    first = np.flatnonzero(starts)
    roles = np.add.reduceat(role, first) if first.size else role
    counts = np.bincount(owner[first], minlength=hyperedges)
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return pointers, element[first], roles.astype(np.uint8)
