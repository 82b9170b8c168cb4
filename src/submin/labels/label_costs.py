"""Costs of labels: a price that is paid once if a label, or one of a few, is used anywhere.

    E(x) = ... + sum over k of  price_k [some element has a label of the set S_k]

as Delong, Osokin, Isack and Boykov 2012, doi:10.1007/s11263-011-0437-z.  Elements share a price: if
v pays share_v >= 0 for the labels of S_k, and all of them no more than the price, then what they
pay is no more than what the labelling costs.  For any shares at all,

    price [some x_v in S]  >=  sum over v of share_v [x_v in S]
                               + min(0, price - sum over v of max(share_v, 0))

so that shares are part of a dual, whatever they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, inf, nextafter

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray, FloatArray
from submin.labels.distances import LARGEST

Labels = npt.NDArray[np.int32]
Shares = npt.NDArray[np.float32]


class LabelCosts:
    """A price for each label, or each set of labels, that is used at all.

    Parameters
    ----------
    costs : float or array_like, shape (labels,) or (sets,)
        The prices, none below 0.
    subsets : sequence of sequences of int, optional
        Sets of labels; a price is paid once if one or more labels of its set are used.  Each label
        is a set of its own if they are left out.

    Raises
    ------
    TypeError, ValueError
        If a price is negative or not finite, or shapes do not fit, or a set is empty or holds
        something other than labels.  Numbers of labels are compared with a problem's when it is
        made.

    Examples
    --------
    A label that one element alone would like is not worth its price:

    >>> import submin as sm
    >>> costs = [[0.0, 0.0, 1.0], [3.0, 3.0, 0.0]]
    >>> sm.minimize_labels(costs, [sm.labels.LabelCosts(2.0)]).labels
    array([0, 0, 0], dtype=int32)
    """

    def __init__(
        self, costs: npt.ArrayLike, subsets: Sequence[Sequence[int]] | None = None
    ) -> None:
        self.costs = _checks.weights("costs", costs)
        _checks.refuse_where(
            "costs", self.costs, ~(self.costs < LARGEST), "a price must be less than 1e30"
        )
        self.subsets = None if subsets is None else [_subset(k, s) for k, s in enumerate(subsets)]
        shapes = [()] if self.subsets is None else [(), (len(self.subsets),)]
        if self.costs.ndim > 1 or (self.subsets is not None and self.costs.shape not in shapes):
            sets = "one for each label" if self.subsets is None else f"{(len(self.subsets),)}"
            raise ValueError(
                f"costs has shape {self.costs.shape}; it must be one number, or {sets}"
            )

    def sets(self, name: str, labels: int) -> tuple[BoolArray, FloatArray]:
        """Return which labels each set has, and its price; ``ValueError`` if one is no label."""
        if self.subsets is None:
            if self.costs.shape not in ((), (labels,)):
                raise ValueError(
                    f"{name} has {self.costs.size} costs, but there are {labels} labels"
                )
            return np.eye(labels, dtype=np.bool_), np.broadcast_to(self.costs, labels)
        members = np.zeros((len(self.subsets), labels), dtype=np.bool_)
        for k, own in enumerate(self.subsets):
            _checks.refuse_where(
                f"subsets[{k}] of {name}", own, own >= labels, f"labels are 0 to {labels - 1}"
            )
            members[k, own] = True
        return members, np.broadcast_to(self.costs, len(members))


def _subset(k: int, given: Sequence[int]) -> npt.NDArray[np.int32]:
    own = _checks.indices(f"subsets[{k}]", given)
    if own.ndim != 1 or not own.size:
        raise ValueError(f"subsets[{k}] must list one label or more")
    return own


class Prices:
    """All label costs of a problem: which labels each set has, and its price; none is 0."""

    def __init__(self, labels: int, terms: Sequence[tuple[str, LabelCosts]] = ()) -> None:
        parts = [term.sets(name, labels) for name, term in terms]
        self.members = np.concatenate(
            [np.zeros((0, labels), dtype=np.bool_), *(part for part, _ in parts)]
        )
        self.prices = np.concatenate([np.zeros(0), *(part for _, part in parts)])
        paid = self.prices > 0.0
        self.members, self.prices = self.members[paid], self.prices[paid]

    def __len__(self) -> int:
        return len(self.prices)

    def used(self, labels: Labels) -> BoolArray:
        """Return which sets a labelling of the elements uses."""
        present = np.bincount(labels, minlength=self.members.shape[1]) > 0
        found: BoolArray = np.any(self.members & present, axis=1)
        return found

    def cost(self, labels: Labels) -> float:
        """Return what a labelling of the elements pays."""
        return fsum(self.prices[self.used(labels)]) if len(self) else 0.0

    def no_shares(self, elements: int) -> Shares:
        """Return shares of nothing."""
        return np.zeros((len(self), elements), dtype=np.float32)

    def shortfall(self, shares: Shares) -> float:
        """Return the sum of min(0, price - what elements pay for it), rounded down."""
        parts = list[float]()
        for price, own in zip(self.prices.tolist(), shares, strict=True):
            paid = np.maximum(own.astype(np.float64), 0.0)
            parts.append(min(0.0, nextafter(price - nextafter(fsum(paid), inf), -inf)))
        return nextafter(fsum(parts), -inf) if any(parts) else 0.0

    def shared(self, costs: npt.NDArray[np.floating], shares: Shares) -> FloatArray:
        """Return costs of elements and groups to which shares are added, rounded down."""
        table = costs.astype(np.float64)
        elements = shares.shape[1]
        for members, own in zip(self.members, shares, strict=True):
            pays = own != 0.0
            for label in np.flatnonzero(members):
                row = table[label, :elements]
                paying = pays & np.isfinite(row)
                row[paying] = np.nextafter(row[paying] + own[paying], -inf)
        return table

    def climbed(self, shares: Shares, marginals: npt.NDArray[np.float32], gap: float) -> Shares:
        """Return shares a step of Polyak further up the bound, for a gap that it may close.

        The bound rises with the share of an element that has a label of the set as its best, and
        with no other; what is too much for the price is taken off all alike.
        """
        labels, elements = self.members.shape[1], shares.shape[1]
        best = np.zeros(elements, dtype=np.int32)
        least = marginals[:, 0].copy()
        for label in range(1, labels):
            best[marginals[:, label] < least] = label
            np.minimum(least, marginals[:, label], out=least)
        uses = self.members[:, best]
        step = gap / max(float(uses.sum()), 1.0)
        new = np.empty_like(shares)
        for own, wish, price in zip(new, shares + step * uses, self.prices, strict=True):
            own[:] = np.maximum(wish - _excess(wish, float(price)), 0.0)
        return new

    def first_shares(self, marginals: npt.NDArray[np.float32]) -> Shares:
        """Return shares that suit what each label costs each element, with its messages.

        All elements raise what they pay alike, for the labels that are best to them; those of a
        label whose price is reached stop there (Jain and Vazirani 2001, doi:10.1145/375827.375845).
        """
        elements = len(marginals)
        costs = marginals[:, : self.members.shape[1]].T.astype(np.float64)
        new = self.no_shares(elements)
        everywhere = self.members.all(axis=1)
        new[everywhere] = (self.prices[everywhere] / elements)[:, None]
        payers, free = self._payers()
        if not payers:
            return new
        sets = np.stack([costs[labels].min(axis=0) for labels in payers.values()])
        none = costs[free].min(axis=0) if free else np.full(elements, inf)
        level = _raised_together(sets, none, self.prices[list(payers)])
        with np.errstate(invalid="ignore"):
            paid = np.maximum(level - sets, 0.0)
        total = paid.sum(axis=1)
        most = np.divide(self.prices[list(payers)], total, out=np.ones(len(paid)), where=total > 0)
        new[list(payers)] = paid * np.minimum(most, 1.0)[:, None]
        return new

    def _payers(self) -> tuple[dict[int, list[int]], list[int]]:
        """Return the labels whose price a set is, the highest one of each, and those without."""
        payers, free = dict[int, list[int]](), list[int]()
        own = np.array([part & (not part.all()) for part in self.members])
        for label in range(self.members.shape[1]):
            if not own[:, label].any():
                free.append(label)
                continue
            k = int(np.argmax(np.where(own[:, label], self.prices, -1.0)))
            payers.setdefault(k, []).append(label)
        return payers, free


def _excess(shares: FloatArray, price: float) -> float:
    """Return what to take off all shares, which stay above 0, so that they sum to the price."""
    above = np.sort(np.maximum(shares, 0.0))[::-1]
    over = np.cumsum(above) - price
    if not over[-1] > 0.0:
        return 0.0
    counts = np.arange(1.0, above.size + 1.0)
    left = np.flatnonzero(above * counts > over)  # the largest ones, which stay above 0
    last = int(left[-1]) if left.size else 0
    return float(over[last] / counts[last])


SAMPLE = 16384
"""Elements that say when a price is reached, about, where there are more."""
HALVINGS = 20


def _raised_together(costs: FloatArray, free: FloatArray, prices: FloatArray) -> FloatArray:
    """Return how much each element reaches when all raise that alike; O(sets^2 elements).

    Costs have a row for each set; no element goes beyond what its free labels cost.
    """
    level: FloatArray = np.minimum(costs.min(axis=0), free)
    active = level < free
    live = np.ones(len(costs), dtype=np.bool_)
    while live.any() and active.any():
        chosen = np.arange(level.size)[:: 1 + level.size // SAMPLE]
        rise = _first_price(
            costs[live][:, chosen], level[chosen], free[chosen], active[chosen],
            prices[live] * (chosen.size / level.size),
        )  # fmt: skip
        level = np.where(active, np.minimum(level + rise, free), level)
        paid: FloatArray = np.sum(np.maximum(level - costs, 0.0), axis=1)
        reached = live & (paid >= (1.0 - 1e-4) * prices)
        if not reached.any():
            reached = live & (paid / prices == (paid / prices)[live].max())
        live &= ~reached
        free = np.minimum(free, costs[reached].min(axis=0))
        active &= level < free
    return level


def _first_price(
    costs: FloatArray, level: FloatArray, free: FloatArray, active: BoolArray, prices: FloatArray
) -> float:
    """Return the rise of the active elements at which the first price is reached, about."""
    low, high = 0.0, float(np.max(prices) + np.ptp(costs[np.isfinite(costs)]))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        raised = np.where(active, np.minimum(level + middle, free), level)
        if (np.maximum(raised - costs, 0.0).sum(axis=1) >= prices).any():
            high = middle
        else:
            low = middle
    return high
