"""Truncated modular functions.

    F(S) = sum over groups R of  min(m_R(S and R), c_R) + o_R(S and R),   m_R >= 0, c_R >= 0

These are the threshold potentials of which every concave function of a modular one is a sum
(Stobbe & Krause 2010, arXiv:1010.5511).  The base polytope is a slice of a box,

    B = {o <= y <= o + m,  y(R) = o(R) + min(c, m(R))},

so that the projection of a = y - s / c is y+ = clip(a - theta, o, o + m), with the theta that gives
the sum (Kiwiel 2008, doi:10.1007/s10107-006-0050-z).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._lazy import lazy
from submin._sums import (
    UNIT_ROUNDOFF,
    compensated_sum,
    scatter_sum,
    second_order_error,
    summable_granularity,
)
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.terms.base.groups import (
    GroupBlock,
    GroupTerm,
    grouped_error,
    grouped_sums,
    incidences,
    per_entry,
    plain_sums,
    running_sums,
)
from submin.terms.base.term import Block, Piece, TermMinor, Violation
from submin.terms.capabilities.exchanges import GroupExchanges
from submin.terms.capabilities.fixing import Fixing
from submin.terms.capabilities.gadgets import Gadget, GadgetSize, Stars
from submin.terms.capabilities.residuals import Arcs, star, touched


class Truncation(GroupTerm):
    """Masses of S in groups, truncated at a cap, and a modular part.

    Parameters
    ----------
    pointers : array_like of int, shape (groups + 1,)
        Group i has the elements ``members[pointers[i]:pointers[i + 1]]`` (CSR, like SciPy).
    members : array_like of int, shape (incidences,)
        Element numbers in C order of the ground set; no element twice in one group.
    masses : array_like of float, shape (incidences,), or float
        Mass of each member in its group, 0 or more, in units of cost.
    caps : array_like of float, shape (groups,), or float
        The most that each group costs, 0 or more.
    modular : array_like of float, shape (incidences,), or float, optional
        A further cost of each member, of any sign, that is not truncated.

    Raises
    ------
    TypeError
        If pointers or members are not integers.
    ValueError
        If a mass or cap is negative, NaN or infinite, or the groups are malformed.

    Notes
    -----
    Projection: O(k) for each piecewise-linear evaluation, a few of which suffice, O(k log k) at
    worst, for k members.  With equal masses in each group this is also a ``Cardinality``.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> term = sm.Truncation([0, 3], [0, 1, 2], [1.0, 2.0, 4.0], caps=2.5)
    >>> term.evaluate(np.array([True, True, False]))
    2.5
    """

    kind = "truncation"

    def __init__(
        self,
        pointers: npt.ArrayLike,
        members: npt.ArrayLike,
        masses: npt.ArrayLike,
        caps: npt.ArrayLike,
        modular: npt.ArrayLike = 0.0,
    ) -> None:
        self._set_groups(pointers, members)
        self.masses = per_entry("masses", masses, self.size, "member")
        never = "a cap of the mass of its group is never reached"
        self.caps = per_entry("caps", caps, self.pointers.size - 1, "group", never)
        self.modular = _finite("modular", modular, self.size)
        self._complete()

    def _complete(self) -> None:
        """Store the bounds of the boxes and the sums of their slices."""
        self._whole, self._rest = grouped_sums(self.masses, self.pointers)
        self._lower = self.modular
        self._upper = self.modular + self.masses
        modular, rest = grouped_sums(self.modular, self.pointers)
        rest += np.where(self._reached, 0.0, self._rest)
        self._totals = (np.minimum(self._whole, self.caps) + modular) + rest

    @property
    def _reached(self) -> BoolArray:
        """Say of which groups the whole mass is the cap or more."""
        reached: BoolArray = (self._whole - self.caps) + self._rest >= 0.0
        return reached

    def evaluate(self, members: BoolArray) -> float:
        """Return the sum of the truncated masses and the modular part, O(incidences)."""
        inside = _checks.flat_mask("members", members)[self.members]
        masses = np.where(inside, self.masses, 0.0)
        below = self._below_caps(masses)
        parts = masses[below[self.group_of]], self.caps[~below], self.modular[inside]
        return compensated_sum(np.concatenate(parts))

    def _below_caps(self, masses: FloatArray) -> BoolArray:
        """Say which groups of masses are below their caps; sums near a cap are summed exactly."""
        total, sizes = plain_sums(masses, self.pointers), np.diff(self.pointers)
        below: BoolArray = total < self.caps
        near = np.flatnonzero(np.abs(total - self.caps) <= 2.0 * UNIT_ROUNDOFF * sizes * total)
        if near.size:
            pointers = np.concatenate([[0], np.cumsum(sizes[near])])
            high, low = grouped_sums(masses[incidences(self.pointers, near)], pointers)
            below[near] = (high - self.caps[near]) + low < 0.0
        return below

    def value_error(self, members: BoolArray) -> float:
        """Bound the errors of sums whose parts may cancel, O(incidences).

        A group whose mass is the cap up to the error of its sum may be taken for one or the other.
        """
        inside = _checks.flat_mask("members", members)[self.members]
        most = np.minimum(self.masses, self.caps[self.group_of])
        scale = float(np.sum(most[inside]) + np.sum(np.abs(self.modular[inside])))
        count = 2 * self.size + self.caps.size
        return second_order_error(count, scale) + self._ties

    @lazy
    def _ties(self) -> float:
        """Such a set has no mass of more than twice the cap."""
        masses = np.minimum(self.masses, 2.0 * self.caps[self.group_of])
        return float(np.sum(grouped_error(masses, self.pointers)))

    def vertex_error(self, vertex: FloatArray) -> float:
        """Bound the errors of a vertex: gains up to a mass are rounded before the modular part."""
        return super().vertex_error(vertex) + 2.0 * UNIT_ROUNDOFF * float(np.sum(self.masses))

    def greedy(self, rank: IndexArray) -> FloatArray:
        """Give each member in the order of `rank` what its mass adds below the cap, O(k log k)."""
        places, order = np.empty(self.size), np.empty(self.size, dtype=np.int64)
        numbers = np.arange(self.size, dtype=np.float64)
        kernels.active.cardinality_greedy(self.pointers, self.members, numbers, rank, places, 0)
        order[places.astype(np.int64)] = np.arange(self.size)
        masses = self.masses[order]
        high, low = running_sums(masses, self.pointers)
        gains = np.empty(self.size)
        gains[order] = np.clip((self.caps[self.group_of] - high) - low, 0.0, masses)
        return gains + self.modular

    def zero_is_feasible(self) -> bool:
        """Say whether 0 is in all boxes and slices."""
        boxes = np.all(self._lower <= 0.0) and np.all(self._upper >= 0.0)
        return bool(boxes and not self._totals.any())

    def feasible_start(self) -> FloatArray:
        """Return the point of each box that divides the cap in proportion to the masses."""
        share = np.minimum(self.caps, self._whole) / np.where(self._whole > 0, self._whole, 1.0)
        start: FloatArray = self.masses * share[self.group_of] + self.modular
        return start

    def violation(self, dual: FloatArray) -> Violation:
        """Return sum_R max_S (y_R(S) - F_R(S)), O(incidences)."""
        excess = kernels.active.truncation_excess(
            self.pointers, self.modular, self.masses, self.caps, dual, 0
        )
        return Violation(*excess)

    def residual_arcs(self, dual: FloatArray, room: float, near: BoolArray) -> Arcs:
        """Return the arcs of the groups, O(incidences).

        With z = y - o, F(T) - y(T) = min(m(T), c) - z(T), where m(T) - z(T) is at least m_u - z_u
        for T with u, and z(T) is at most the sum of all positive z, less that of v, without v.
        """
        shares = dual - self.modular
        positive = np.maximum(shares, 0.0)
        total = grouped_sums(positive, self.pointers)[0]
        sizes = np.abs(dual) + np.abs(self.modular) + self.masses
        scale = self.caps + grouped_sums(sizes, self.pointers)[0]
        least = room + (UNIT_ROUNDOFF * (np.diff(self.pointers) + 8) * scale)[self.group_of]
        some = np.zeros(self.caps.size, dtype=np.bool_)
        some[touched(self.pointers, self.members, near)] = True
        into = some[self.group_of] & (self.masses - shares > least)
        out = some[self.group_of] & ((self.caps - total)[self.group_of] + positive > least)
        return star(self.group_of, self.members, into, out, self.caps.size)

    def exchanges(self, dual: FloatArray) -> TruncationExchanges:
        """Return the exchange capacities, O(k) for each element of a group of k."""
        return TruncationExchanges(self, dual)

    @property
    def _truncated(self) -> BoolArray:
        """Say which groups reach a cap above 0; all others are modular."""
        beyond = (self._whole - self.caps) + self._rest > 0.0
        truncated: BoolArray = beyond & (self.caps > 0.0)
        return truncated

    def gadget_size(self) -> GadgetSize:
        """Count an auxiliary for each group that is truncated, and an edge for each member."""
        chosen = self._truncated
        return GadgetSize(int(chosen.sum()), int(np.diff(self.pointers)[chosen].sum()))

    def gadget(self, dual: FloatArray) -> Gadget:
        """Return edges of weight m(v) to an auxiliary of cost c, with the flow y - o."""
        truncated = self._truncated
        places = np.flatnonzero(truncated[self.group_of])
        star = (np.cumsum(truncated) - 1)[self.group_of[places]]
        stars = Stars(places, star, self.masses[places], self.caps[truncated])
        never = ~truncated & (self.caps > 0.0)
        modular = self.modular + np.where(never[self.group_of], self.masses, 0.0)
        return stars.gadget(self.members, modular, (dual - self.modular)[places])

    def marginal_range(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and largest gains min(m(S + v), c) - min(m(S), c), O(incidences)."""
        caps = self.caps[self.group_of]
        below = ((self.caps - self._whole) - self._rest)[self.group_of]
        last = np.clip(below + self.masses, 0.0, self.masses) + self.modular
        first = np.minimum(self.masses, caps) + self.modular
        return scatter_sum(self.members, last, n), scatter_sum(self.members, first, n)

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return truncations at the caps that the masses inside leave, O(incidences).

        A group whose cap is used up, or never reached, is modular.
        """
        free, inside = fixing.free[self.members], fixing.inside[self.members]
        used, rest = grouped_sums(np.where(inside, self.masses, 0.0), self.pointers)
        caps = np.maximum((self.caps - used) - rest, 0.0)
        high, low = grouped_sums(np.where(free, self.masses, 0.0), self.pointers)
        reached = (high - caps) + low > 0.0
        truncated = (reached & (caps > 0.0))[self.group_of]
        costs = self.modular + np.where((caps > 0.0)[self.group_of], self.masses, 0.0)
        loose = np.flatnonzero(free & ~truncated)
        modular = scatter_sum(
            fixing.number[self.members[loose]], costs[loose], fixing.elements.size
        )
        kept = self.select(free & truncated, fixing)
        term = Truncation(
            kept.pointers, kept.members, self.masses[kept.slots], caps[kept.groups],
            self.modular[kept.slots],
        )  # fmt: skip
        return TermMinor([Piece(term, kept.slots)], modular, self.evaluate(fixing.inside))

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Put groups without common members into one block by greedy colouring."""
        classes = self.group_classes(decomposition)
        return [TruncationBlock(self, groups, threads) for groups in classes]

    def granularity(self) -> float:
        """Return the granularity of masses, caps and modular part."""
        return summable_granularity(self.masses, self.caps, self.modular)

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return groups, masses, caps and modular part."""
        names = ("pointers", "members", "masses", "caps", "modular")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family."""
        return [
            cls([0, 3, 5], [0, 1, 2, 2, 4], [1.0, 2.0, 4.0, 0.0, 1.5], 2.5),
            cls([0, 4], [3, 1, 0, 2], [1.0, 2.0, 0.5, 1.0], 3.0, -0.4),
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a term from what ``arrays`` returned."""
        term = cls.__new__(cls)
        names = ("pointers", "members", "masses", "caps", "modular")
        Truncation.__init__(term, *(arrays[name] for name in names))
        return term


class TruncationBlock(GroupBlock):
    """Truncations without common members."""

    term: Truncation

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Shift and clip the target of each group, O(k) for each evaluation."""
        term, out = self.term, np.empty(self.size)
        kernels.active.truncation_project(
            term.pointers, term.members, term._lower, term._upper, term._totals, self.groups,
            dual, s, c, out, self.threads,
        )  # fmt: skip
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Project with c = 1 in place."""
        term = self.term
        kernels.active.truncation_sweep(
            term.pointers, term.members, term._lower, term._upper, term._totals, self.groups,
            dual, s, self.threads,
        )  # fmt: skip

    def nearest(self, a: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Shift the target of each group in units of d, and clip, O(k log k)."""
        term, own = self.term, self.slots
        kernels.active.weighted_truncation(
            self.pointers, a, d, term._lower[own], term._upper[own], term._totals[self.groups],
            out, self.threads,
        )  # fmt: skip


class TruncationExchanges(GroupExchanges):
    """Exchange capacities of truncations: what the box leaves above y(u) and below y(v)."""

    def __init__(self, term: Truncation, dual: FloatArray) -> None:
        super().__init__(term.pointers, term.members, dual)
        self.lower, self.upper = term._lower, term._upper

    def capacities(self, group: int, slots: slice, place: int) -> FloatArray:
        """Return the capacities from one member, O(k)."""
        above = self.upper[slots][place] - self.dual[slots][place]
        room: FloatArray = np.minimum(above, self.dual[slots] - self.lower[slots])
        return room


def _finite(name: str, values: npt.ArrayLike, size: int) -> FloatArray:
    """Convert finite costs of any sign, one for each member or one for all of them."""
    array = _checks.float_array(name, values)
    _checks.refuse_where(name, array, ~np.isfinite(array), "costs must be finite")
    _checks.weights(f"|{name}|", np.abs(array))
    if array.ndim and array.shape != (size,):
        raise ValueError(
            f"{name} has shape {array.shape}: it must have one entry for each member, shape "
            f"({size},), or be one number for all of them"
        )
    return np.array(np.broadcast_to(array, (size,)))
