"""A maximum flow that is kept, and goes on after costs have changed.

    s_v <- the new cost and the flow out of v, for the changed v
    Mend the forests of the finished search around them:
        a root that has lost its deficit looks for another path, or its tree falls apart
        a node with a new deficit is a root, of whatever label it has
        new excess in a forest runs down its path
    Go on with the search

The flow of every edge stays within its bounds, so that it is a valid start, near the end as a rule
(Kohli and Torr 2007, doi:10.1109/TPAMI.2007.1128), and forests outlive a change as they do an
augmentation (Goldberg et al. 2015, doi:10.1007/978-3-662-48350-3_52).  Networks that are no grids
keep their flow, and search it anew, which is O(nodes + edges).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, cast

import numpy as np

from submin import kernels
from submin._typing import BoolArray, Dual, FloatArray, IndexArray
from submin.solve.layout import Layout
from submin.solvers.flows.network import FlowNetwork
from submin.solvers.max_flow import MaxFlow, MaxFlowState, grid_arrays
from submin.terms.grid_cut import GridCut

if TYPE_CHECKING:
    from submin.kernels.flows import GraphFlow, GridFlow, GridTreeFlow

MOST_CHANGED = 0.1
"""Beyond this part of all nodes a new search, in strips, is faster than mended forests."""

MOST_VISITS = 8
"""Visits of each node until s is summed afresh: rounding errors of the flow add up in it."""

MOST_WORK = 1
"""Visits of each node after which a search that goes on gives way to a new one, in strips."""


@dataclass
class Kept:
    """What a search leaves to the next: its state, and the kernel with its forests."""

    state: MaxFlowState | None = None
    forests: GridFlow | None = None
    in_trees: bool = False
    fresh_until: int = 0
    most_visits: float = inf

    def is_worn(self, layout: Layout) -> bool:
        """Say whether rounding errors may have added up in s, which data of granularity spare."""
        if self.forests is None or layout.problem.granularity:
            return False
        visits = self.forests.visits()
        self.fresh_until = self.fresh_until or visits + MOST_VISITS * layout.n
        return visits > self.fresh_until


@dataclass(frozen=True, repr=False)
class KeptFlow(MaxFlow):
    """``MaxFlow`` whose search is not forgotten: ``set_costs`` or ``reopen``, and go on."""

    kept: Kept = field(default_factory=Kept)

    def start(self, layout: Layout, dual: Dual) -> MaxFlowState:
        """Return what is kept; the dual is where the first search starts."""
        if self.kept.state is None:
            self.kept.state = super().start(layout, dual)
        return self.kept.state

    def step(self, layout: Layout, state: MaxFlowState) -> int:
        """Do what ``MaxFlow`` does, or nothing once it is done.

        A change that makes much work is a new search from the flow so far, in strips.
        """
        if state.done:
            return 0
        forests = self.kept.forests
        if forests is not None and forests.visits() > self.kept.most_visits:
            self.kept.forests = state.flow = None
        return super().step(layout, state)

    def set_costs(self, layout: Layout, nodes: IndexArray) -> None:
        """Go on with the costs that the layout has at some nodes; all others are as before."""
        kept, state = self.kept, self.kept.state
        if state is None or not nodes.size:
            return
        forests = kept.forests if state.done else None
        few = nodes.size <= MOST_CHANGED * layout.n
        if forests is None or not few or kept.is_worn(layout):
            self.reopen(layout)
            return
        forests.set_costs(nodes, layout.unary[nodes])
        state.flow, state.done, state.visits = forests, False, 0
        kept.most_visits = forests.visits() + MOST_WORK * layout.n

    def reopen(self, layout: Layout) -> None:
        """Go on from the flow alone, with all costs of the layout; O(nodes + edges)."""
        state, self.kept.forests = self.kept.state, None
        if state is None:
            return
        graph, swept = state.graph, state.swept
        if isinstance(graph, FlowNetwork):
            graph.set_unary(layout.unary)
            s = graph.imbalance()
            if state.done and not layout.problem.granularity:
                _forget_rounding(s, state.members, state.lost)
            lost = state.lost if state.done else inf
            self.kept.state = MaxFlowState([], s, graph, warm=True, swept=1, lost=lost)
        else:
            s = layout.total(state.y)
            self.kept.state = MaxFlowState(state.y, s, graph, warm=True, swept=swept)

    def restart(self, layout: Layout, dual: Dual) -> None:
        """Go on from a feasible dual, when weights have changed; O(nodes + edges)."""
        swept = 0 if self.kept.state is None else self.kept.state.swept
        self.kept.forests = None
        self.kept.state = super().start(layout, dual)
        self.kept.state.swept = swept

    def _open(self, layout: Layout, state: MaxFlowState) -> GridFlow | GridTreeFlow | GraphFlow:
        """Keep the forests; where they are too slow, make trees."""
        kept, graph = self.kept, state.graph
        if kept.in_trees and isinstance(graph, GridCut):
            return kernels.active.GridTreeFlow(*grid_arrays(graph, state))
        flow = super()._open(layout, state)
        if isinstance(graph, GridCut):
            kept.forests, kept.fresh_until, kept.most_visits = cast("GridFlow", flow), 0, inf
        return flow

    def _start_over(self, layout: Layout, state: MaxFlowState, grid: GridCut) -> GridTreeFlow:
        """Leave the forests for good."""
        self.kept.forests, self.kept.in_trees = None, True
        return super()._start_over(layout, state, grid)


def _forget_rounding(s: FloatArray, members: BoolArray, lost: float) -> None:
    """Set to 0 what rounding has kept from deficits inside a minimiser and from excess outside.

    A search would go through the whole network for it.  There is no more of it than the last
    search has left, which sums to `lost`; auxiliary nodes keep theirs.
    """
    own = s[: members.size]
    misplaced = np.where(members, own, -own)
    own[(misplaced > 0.0) & (misplaced <= lost)] = 0.0
