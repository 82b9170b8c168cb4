"""The first rounds of a division of a grid: all parts in one cut of the whole grid.

    Every part V has the level -s(V) / m(V), and one maximum flow at s + level * m finds the set S
    of most excess in all of them.  S and the rest of V are parts of the next round; the edges
    between them are full, and stay so.

A cut of the grid has implicit neighbours and strips on all threads, and is many times as fast as
that of a part by itself while parts are large.  It ends when they no longer are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from submin import kernels
from submin._sums import UNIT_ROUNDOFF
from submin._typing import BoolArray, FloatArray, IndexArray, WeightArray
from submin.kernels.sums import Slices, grid_ends
from submin.terms.grid_cut import GridCut

if TYPE_CHECKING:
    from submin.kernels.flows import GridFlow

LARGE = 1.0 / 8.0
"""Share of all elements above which a part is large."""
MOST_ROUNDS = 3
PATIENCE = 64
"""Node visits for each node after which the forests on a grid give up."""


@dataclass
class GridRounds:
    """The parts of a grid and the flow between its elements, which changes in place."""

    grid: GridCut
    flow: FloatArray
    costs: FloatArray
    masses: FloatArray
    part: IndexArray = field(init=False)
    divisible: BoolArray = field(init=False)
    rounds: int = 0
    search: GridFlow | None = None

    def __post_init__(self) -> None:
        self.part = np.zeros(self.costs.size, dtype=np.int32)
        self.divisible = np.ones(1, dtype=np.bool_)
        used = self.grid.used
        segments = [self.grid.segments[k] for k in used]
        self.shape, offsets = self.grid.geometry
        self.offsets = np.ascontiguousarray(offsets[used])
        self.ends: list[tuple[Slices, Slices]] = list(grid_ends(self.shape, self.offsets))
        self.flows = [self.flow[slots] for slots, _, _ in segments]
        pairs = list(zip(segments, self.flows, strict=True))
        self.forward = [_own(segment.forward, flow) for segment, flow in pairs]
        self.backward = [_own(segment.backward, flow) for segment, flow in pairs]

    def advance(self, budget: int, threads: int) -> bool:
        """Work on the cut of a round; return True when no part is large any more."""
        search = self.search or self._open()
        if not search.advance(budget, threads):
            return search.gave_up()
        member = np.zeros(self.costs.size, dtype=np.uint8)
        search.members(member)
        self._divide(member.view(np.bool_))
        self.search, self.rounds = None, self.rounds + 1
        return self.rounds >= MOST_ROUNDS or not self._has_large_parts()

    def _open(self) -> GridFlow:
        """Open the search at the levels of all parts."""
        s = self.costs.copy()
        kernels.active.grid_accumulate(*self.grid.geometry, self.flow, s, 1.0, 0)
        count = self.divisible.size
        masses = np.bincount(self.part, self.masses, minlength=count)
        sums = -np.bincount(self.part, s, minlength=count)
        levels = np.divide(sums, masses, out=np.zeros(count), where=masses > 0.0)
        self.size = np.bincount(self.part, np.abs(s), minlength=count)
        self.imbalance = s + levels[self.part] * self.masses
        self.imbalance[~self.divisible[self.part]] = 0.0
        self.search = kernels.active.GridFlow(
            self.shape, self.offsets, self.backward, self.forward, self.flows, self.imbalance,
            PATIENCE,
        )  # fmt: skip
        return self.search

    def _divide(self, above: BoolArray) -> None:
        """Give the sets that have more excess than rounding can make numbers of their own."""
        count, part = self.divisible.size, self.part
        excess = np.bincount(part, np.maximum(-self.imbalance, 0.0), minlength=count)
        inside = np.bincount(part, above, minlength=count)
        whole = np.bincount(part, minlength=count)
        split = (excess > 4.0 * UNIT_ROUNDOFF * self.size) & (inside > 0.0) & (inside < whole)
        split &= self.divisible
        numbers = np.zeros(count, dtype=np.int32)
        numbers[split] = count + np.arange(int(split.sum()), dtype=np.int32)
        moved = above & split[part]
        part[moved] = numbers[part[moved]]
        self.divisible = np.concatenate([split, np.ones(int(split.sum()), dtype=np.bool_)])
        self._close_borders()

    def _close_borders(self) -> None:
        """Fix the flow between different parts: no arc between them is residual."""
        part = self.part.reshape(self.shape)
        every = zip(self.ends, self.flows, self.forward, self.backward, strict=True)
        for (tails, heads), flow, forward, backward in every:
            apart = np.flatnonzero((part[tails] != part[heads]).ravel())
            forward[apart], backward[apart] = flow[apart], -flow[apart]

    def _has_large_parts(self) -> bool:
        sizes = np.bincount(self.part, minlength=self.divisible.size)
        return bool((sizes[self.divisible] > LARGE * self.part.size).any())


def _own(weights: WeightArray, flow: FloatArray) -> FloatArray:
    """Return an array of weights, one for each edge, that may be changed."""
    return np.array(np.broadcast_to(weights, flow.shape), dtype=np.float64)
