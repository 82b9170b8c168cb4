"""Exact minimisation of cuts: a few sweeps, then maximum flow in the residual graph of the dual.

    y <- sweeps over the blocks, from any feasible dual, while they lower ||s||^2 quickly and many
         arcs lead straight from an excess to a deficit
    The dual of an edge (i, j) is a flow t, with residual capacity forward - t from i to j and
    backward + t from j to i; node v has the excess -s_v.
    Push excess to deficits along residual paths until none is left.
    S <- the nodes that the remaining excess reaches (smallest minimiser), or the complement of
         those that reach a remaining deficit (largest)

Then no flow can change sum_v min(0, s_v), which is the minimum.  The kernel for grids grows
breadth-first forests that survive from one augmentation to the next (excess incremental
breadth-first search: Goldberg, Hed, Kaplan, Kohli, Tarjan, Werneck 2015,
doi:10.1007/978-3-662-48350-3_52); sweeps over chains make most of the flow before it begins.  Other
graphs are left to the pseudoflow algorithm, which moves the excess of whole trees at once
(Hochbaum 2008, doi:10.1287/opre.1080.0524).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from submin import _checks, kernels
from submin._typing import BoolArray, Dual, FloatArray
from submin.layout import Layout, ZeroDual
from submin.solvers.solver import array_bytes
from submin.terms.edges import EdgeTerm
from submin.terms.grid_cut import GridCut
from submin.terms.term import Term

if TYPE_CHECKING:
    from submin._native import GraphFlow, GridFlow

SLICE = 100_000
"""Node visits between two looks at the clock, at most some 50 milliseconds."""


MOST_OFFSETS = 13
"""Directions of the kernel for grids: 26 neighbours; a grid of more is a general graph to it."""

LEAST_PROGRESS = 1.0 / 200.0
"""Below this relative fall of ||s||^2 by one block the search makes more of its time."""

FEW_CROSSINGS = 0.004
"""With fewer residual arcs from an excess straight to a deficit, for each pixel and offset, too."""

SAMPLE = slice(None, None, 8), Ellipsis, slice(None, None, 4)
"""Every eighth slice along the first axis and fourth along the last is looked at for them."""

MOST_ELEMENTS = 2**27 - 2
"""Elements that the kernels' labels can number."""


def accepts(terms: Sequence[Term]) -> bool:
    """Say whether all terms are cuts, and the compiled kernels that this needs are there."""
    try:
        from submin import _native  # noqa: F401
    except ImportError:
        return False
    small = all(term.elements <= MOST_ELEMENTS for term in terms)
    return small and all(isinstance(term, EdgeTerm) for term in terms)


@dataclass
class MaxFlowState:
    """The dual y and its s, changed in place by the flow once the sweeps are over."""

    y: Dual
    s: FloatArray
    joined: FloatArray
    warm: bool
    norm: float = float("inf")
    swept: int = 0
    flow: GridFlow | GraphFlow | None = None
    done: bool = False
    members: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


@dataclass(frozen=True)
class MaxFlow:
    """Maximum flow on the residual graph, after a few sweeps; for problems whose terms are cuts.

    Parameters
    ----------
    sweeps : int, optional
        Sweeps over the chains of a grid before the search, at most.  After the first one they end
        with any block that lowers ||s||^2 by less than a part in 200, or that leaves few residual
        arcs from an excess straight to a deficit.  The single edges of another graph are swept once
        (0: not at all).
    largest : bool, optional
        Return the largest minimiser and not the smallest; exactly so on data of known granularity
        (integers, say), up to rounding errors in the flow on other data.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.MaxFlow(largest=True)).minimizer
    array([ True,  True,  True])
    """

    sweeps: int = 4
    largest: bool = False

    def __post_init__(self) -> None:
        _checks.whole_number("sweeps", self.sweeps, 0)

    def start(self, layout: Layout, dual: Dual) -> MaxFlowState:
        """Start from a feasible dual.

        Raises
        ------
        TypeError
            If a term is not a cut.
        """
        for index, term in enumerate(layout.problem.terms):
            if not isinstance(term, EdgeTerm):
                raise TypeError(
                    f"MaxFlow needs terms that are cuts, but terms[{index}] is a "
                    f"{type(term).__name__}; AcceleratedSweeps takes every term"
                )
        if not accepts(layout.problem.terms):
            raise TypeError(
                f"MaxFlow needs the compiled kernels and at most {MOST_ELEMENTS} elements; "
                "AcceleratedSweeps runs without them"
            )
        joined = dual[0] if len(dual) == 1 else np.concatenate([np.zeros(0), *dual])
        stops = np.cumsum([0, *(part.size for part in dual)])
        y = [joined[a:b] for a, b in pairwise(stops)]
        if isinstance(dual, ZeroDual):
            return MaxFlowState(y, layout.unary.copy(), joined, warm=False)
        return MaxFlowState(y, layout.total(y), joined, bool(joined.any()))

    def step(self, layout: Layout, state: MaxFlowState) -> int:
        """Project one block, or do a slice of the search."""
        if state.flow is None:
            if _single_grid(layout) is None:
                if self.sweeps:
                    _sweep_edges(layout, state)
            elif state.swept < self.sweeps * layout.r:
                self._sweep(layout, state)
                return 1
            state.flow = self._open(layout, state)
        if state.flow.advance(SLICE, layout.threads):
            member = np.zeros(layout.n, dtype=np.uint8)
            state.flow.members(member, bool(self.largest))
            state.members, state.done = member.view(np.bool_), True
        return 0

    def _sweep(self, layout: Layout, state: MaxFlowState) -> None:
        """Sweep the next block; the last one is that after which the search makes more of its time.

        A small fall of ||s||^2 says that sweeps are slow, few crossings that the search is fast.
        """
        layout.sweep(state.swept % layout.r, state.y, state.s)
        state.swept += 1
        if state.swept < layout.r:
            return
        enough = FEW_CROSSINGS * layout.r
        if not _crossings(layout, state) < enough:
            before, state.norm = state.norm, kernels.active.sum_of_squares(state.s, 0)
            if not before - state.norm < LEAST_PROGRESS * state.norm:
                return
        state.swept = self.sweeps * layout.r

    def _open(self, layout: Layout, state: MaxFlowState) -> GridFlow | GraphFlow:
        """Put the residual graph of the current dual before the kernel, which works in place.

        Where all data are multiples of some number, the flows are rounded to multiples too: bounds
        stay bounds, and the arithmetic of the search is exact.
        """
        from submin._native import GraphFlow, GridFlow

        unit = layout.problem.granularity
        if unit:
            state.joined[:] = np.rint(state.joined / unit) * unit
            layout.total(state.y, out=state.s)
        grid = _single_grid(layout)
        if grid is not None:
            used = [k for k, overlap in enumerate(grid.overlaps) if 0 not in overlap]
            parts = [grid.segments[k] for k in used]
            shape, offsets = grid.geometry
            return GridFlow(
                shape,
                offsets[used],
                [backward for _, _, backward in parts],
                [forward for _, forward, _ in parts],
                [state.joined[slots] for slots, _, _ in parts],
                state.s,
            )
        return GraphFlow(*_joined_edges(layout), state.joined, state.s, state.warm)

    def iterate(self, layout: Layout, state: MaxFlowState) -> tuple[Dual, FloatArray]:
        """Return y and its s, summed afresh unless the search is over."""
        return state.y, state.s if state.done else layout.total(state.y)

    def done(self, state: MaxFlowState) -> bool:
        """Say whether no residual path is left from an excess to a deficit."""
        return state.done

    def minimizer(self, state: MaxFlowState) -> BoolArray:
        """Return the smallest (or largest) minimiser."""
        return state.members

    def memory(self, layout: Layout) -> int:
        """Count y, s twice (``iterate`` sums it afresh), and the arrays of the kernel.

        A grid's kernel has a label, a parent and two bits for each neighbour at every node (whole
        bytes).  A graph's has a tree of the nodes, and two numbers for every arc; several terms are
        joined first.
        """
        lists = 4 * layout.n  # nodes to be visited: half of all, with a link each
        own = array_bytes(layout, duals=1, vectors=2) + lists
        grid = _single_grid(layout)
        if grid is not None:
            return own + layout.n * (4 + 1 + (2 if len(grid.offsets) <= 4 else 8))
        edges = sum(term.size for term in layout.problem.terms)
        joined = 0 if _single_list(layout) else edges * (2 * 4 + 2 * 8)
        return own + layout.n * (5 * 4 + 3 * 4) + edges * 2 * (4 + 4) + joined


def _single_grid(layout: Layout) -> GridCut | None:
    """Return the only term, if it is a grid that the kernel with implicit neighbours takes."""
    terms = layout.problem.terms
    if len(terms) != 1 or not isinstance(terms[0], GridCut):
        return None
    return terms[0] if len(terms[0].offsets) <= MOST_OFFSETS else None


def _crossings(layout: Layout, state: MaxFlowState) -> float:
    """Return the residual arcs from an excess straight to a deficit by pixel, from a sample."""
    grid = _single_grid(layout)
    if grid is None:
        return 0.0
    sample = SAMPLE if len(grid.shape) > 1 else SAMPLE[0]
    s, count = state.s.reshape(grid.shape), 0
    for k, (slots, *weights) in enumerate(grid.segments):
        overlap = grid.overlaps[k]
        tails, heads = (s[ends][sample] for ends in grid.ends(k))
        flow = state.joined[slots].reshape(overlap)[sample]
        forward, backward = (
            part if part.size == 1 else part.reshape(overlap)[sample] for part in weights
        )
        count += np.count_nonzero((tails < 0) & (heads > 0) & (flow < forward))
        count += np.count_nonzero((tails > 0) & (heads < 0) & (-flow < backward))
    return count / s[sample].size


def _single_list(layout: Layout) -> EdgeTerm | None:
    """Return the only term, if all of its edges are one segment, so that nothing is joined."""
    terms = layout.problem.terms
    if len(terms) != 1 or not isinstance(terms[0], EdgeTerm):
        return None
    return terms[0] if len(terms[0].segments) == 1 else None


def _sweep_edges(layout: Layout, state: MaxFlowState) -> None:
    """Minimise ||s||^2 over each edge in turn, O(edges).

    Single edges are no blocks of the layout and count as none: this takes a few hundredths of the
    search, which it shortens by a quarter.
    """
    from submin._native import edges_sweep

    edges = np.arange(state.joined.size, dtype=np.int32)
    edges_sweep(*_joined_edges(layout), edges, state.joined, state.s, 1)


def _joined_edges(
    layout: Layout,
) -> tuple[np.ndarray, np.ndarray, FloatArray, FloatArray]:
    """Return tails, heads, backward and forward weights of the edges of all terms."""
    single = _single_list(layout)
    if single is not None:
        _, out, back = single.segments[0]
        return *single.edge_list(), back, out
    empty = np.zeros(0, dtype=np.int32)
    tails, heads, backward, forward = [empty], [empty], [np.zeros(0)], [np.zeros(0)]
    for term in layout.problem.terms:
        if isinstance(term, EdgeTerm):
            tail, head = term.edge_list()
            tails.append(tail)
            heads.append(head)
            out, back = term.weights_by_edge()
            forward.append(out)
            backward.append(back)
    return (
        np.concatenate(tails),
        np.concatenate(heads),
        np.concatenate(backward),
        np.concatenate(forward),
    )
