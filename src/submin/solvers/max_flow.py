"""Exact minimisation of cuts, also with auxiliary nodes: maximum flow in the residual graph of y.

    y <- sweeps over the blocks, from any feasible dual: of a grid alone while they lower ||s||^2
         quickly and many arcs lead straight from an excess to a deficit; of grids with groups of
         most elements once, groups first, which moves nearly all that has to pass through those
    Other terms become the edges of their gadgets, with auxiliary nodes (``capabilities.gadgets``)
    The dual of an edge (i, j) is a flow t, with residual capacity forward - t from i to j and
    backward + t from j to i; node v has the excess -s_v.
    Push excess to deficits along residual paths until none is left; on data without a granularity
         again with what rounding has kept from them, as long as that halves it.
    S <- the nodes that the remaining excess reaches (smallest minimiser), or the complement of
         those that reach a remaining deficit (largest)
    Move what is left at auxiliary nodes to elements; y of a gadget is the net flow out of each

Then no flow can change sum_v min(0, s_v), which is the minimum.  The kernel for grids grows
breadth-first forests that survive from one augmentation to the next (excess incremental
breadth-first search: Goldberg, Hed, Kaplan, Kohli, Tarjan, Werneck 2015,
doi:10.1007/978-3-662-48350-3_52), from the excess or the deficits, whichever have more nodes;
sweeps over chains make most of the flow before it begins.  Other graphs are left to the pseudoflow
algorithm, which moves the excess of whole trees at once (Hochbaum 2008,
doi:10.1287/opre.1080.0524).  So are grids on which the forests take too long: in mazes they are
long paths that break often.  From a warm start, gadgets begin with the flow that their dual is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from submin import _checks, _memory, kernels
from submin._sums import UNIT_ROUNDOFF
from submin._typing import BoolArray, Dual, FloatArray, PointerArray, WeightArray
from submin.solve.layout import Layout, ZeroDual
from submin.solvers.flows.network import FlowNetwork, NetworkSize, network_size, refuse_others
from submin.solvers.solver import array_bytes
from submin.terms.base.edges import EdgeTerm
from submin.terms.base.groups import GroupTerm
from submin.terms.blocks.grid_blocks import matchings
from submin.terms.grid_cut import GridCut

if TYPE_CHECKING:
    from submin.kernels.flows import GraphFlow, GridFlow, GridTreeFlow

SLICE = 100_000
"""Node visits between two looks at the clock, at most some 50 milliseconds."""

PATIENCE = 32
"""Node visits for each node after which the forests on a grid give up: photographs take 2 to 12."""

MOST_OFFSETS = 16
"""Directions of the kernel for grids: 26 neighbours; a grid of more is a general graph to it."""

LEAST_PROGRESS = 1.0 / 200.0
"""Below this relative fall of ||s||^2 by half a sweep the search makes more of its time."""

FEW_CROSSINGS = 0.004
"""With fewer residual arcs from an excess straight to a deficit, for each pixel and offset, too."""

SAMPLE = slice(None, None, 16), Ellipsis, slice(None, None, 4)
"""Every sixteenth slice along the first axis and fourth along the last is looked at for them."""

FEW_GROUPS = 16
"""Up to so many groups, one of more than half of all elements, are swept before a search."""


@dataclass
class MaxFlowState:
    """The dual y and s of a grid alone, or the network and s of its nodes.

    Sweeps and the kernel change them in place.  Before a network is made, its dual is swept.
    """

    y: Dual
    s: FloatArray
    graph: GridCut | FlowNetwork | None
    warm: bool
    norm: float = float("inf")
    swept: int = 0
    visits: int = 0
    lost: float = float("inf")
    flow: GridFlow | GridTreeFlow | GraphFlow | None = None
    done: bool = False
    members: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


class GridArrays(NamedTuple):
    """A grid, the weights and flows of its edges by offset, and s."""

    shape: PointerArray
    offsets: PointerArray
    backward: list[WeightArray]
    forward: list[WeightArray]
    flows: list[FloatArray]
    s: FloatArray


@dataclass(frozen=True)
class MaxFlow:
    """Maximum flow on the residual graph, after a few sweeps; for cuts, and terms with gadgets.

    ``Hyperedge``, ``Truncation``, ``ConcaveOfModular`` and ``Cardinality`` are cuts with auxiliary
    nodes that are minimised out: two for a hyperedge, one for each change of slope of a concave
    function (of cardinality or mass).  So is a ``Table`` of up to three elements.

    Parameters
    ----------
    sweeps : int, optional
        Sweeps over the chains of a grid before the search, at most.  After the first one they end
        with half a sweep that lowers ||s||^2 by less than a part in 200, or that leaves few
        residual arcs from an excess straight to a deficit.  Grids beside groups of most elements
        are swept once with these, and of all else the single edges of the graph, unless some are
        infinite (0: not at all).
    largest : bool, optional
        Return the largest minimiser and not the smallest; exactly so on data of known granularity
        (integers, say), up to rounding errors in the flow on other data.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.MaxFlow(largest=True)).minimizer
    array([ True,  True,  True])
    >>> hyperedge = sm.Hyperedge([0, 3], [0, 1, 2], 1)
    >>> sm.minimize(sm.Problem([1, -2, 1], [hyperedge]), sm.MaxFlow()).minimizer
    array([False,  True, False])
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
            If a term is neither a cut nor one with a few auxiliary nodes.
        """
        terms = layout.problem.terms
        refuse_others(terms, type(self).__name__)
        cold = isinstance(dual, ZeroDual)
        warm = not cold and any(part.any() for part in dual)
        grid = single_grid(layout)
        if grid is not None:
            s = _memory.copied(layout.unary) if cold else layout.total(dual)
            return MaxFlowState(dual, s, grid, warm)
        if self.sweeps and _few_large_groups(layout):
            return MaxFlowState(list(dual), layout.total(dual), None, warm)
        network = FlowNetwork(terms, layout.unary, dual)
        return MaxFlowState([], network.imbalance(), network, warm)

    def step(self, layout: Layout, state: MaxFlowState) -> int:
        """Project one block, or do a slice of the search.

        n node visits on a grid count as a projection; other networks have no blocks.
        """
        graph = state.graph
        if isinstance(graph, GridCut) and state.swept < self.sweeps * layout.r:
            self._sweep(layout, state, graph)
            return 1
        if graph is None and state.swept < layout.r:
            layout.sweep(_groups_first(layout)[state.swept], state.y, state.s)
            state.swept += 1
            return 1
        flow = state.flow or self._open(layout, state)
        state.flow, before = flow, flow.visits()
        done = flow.advance(SLICE, layout.threads)
        state.visits += flow.visits() - before
        if done:
            member = np.zeros(state.s.size, dtype=np.uint8)
            flow.members(member, bool(self.largest))
            state.members = member[: layout.n].view(np.bool_)
            state.flow = self._search_again(layout, state, member.view(np.bool_))
            state.done = state.flow is None
        elif isinstance(graph, GridCut) and flow.gave_up():
            state.flow = self._start_over(layout, state, graph)
        if not isinstance(graph, GridCut):
            return 0
        projections, state.visits = divmod(state.visits, layout.n)
        return projections if layout.r else 0

    @staticmethod
    def _search_again(layout: Layout, state: MaxFlowState, member: BoolArray) -> GraphFlow | None:
        """Search for what rounding kept from the deficits; None if that is as little as can be.

        A maximum flow leaves no deficits in the set and no excess outside, so that these are what
        rounding costs the bound.  Amounts as small as they are lose next to nothing when they are
        pushed in their turn, from and to nodes that show no more than suffices for all of them.
        After a search that does not halve them there is no other.
        """
        graph, before = state.graph, state.lost
        if not isinstance(graph, FlowNetwork) or layout.problem.granularity:
            return None
        s = graph.imbalance()
        misplaced = np.maximum(np.where(member, s, -s), 0.0)
        state.lost, allowed = float(misplaced.sum()), UNIT_ROUNDOFF * graph.magnitude
        if state.lost <= allowed or not state.lost < 0.5 * before:
            return None
        s[(misplaced > 0.0) & (misplaced <= allowed / s.size)] = 0.0
        state.s = np.clip(s, -4.0 * state.lost, 4.0 * state.lost, out=s)
        return graph.search(s, warm=True)

    def _sweep(self, layout: Layout, state: MaxFlowState, grid: GridCut) -> None:
        """Sweep the next block; the last one is that after which the search makes more of its time.

        A small fall of ||s||^2 says that sweeps are slow, few crossings that the search is fast.
        """
        layout.sweep(state.swept % layout.r, state.y, state.s)
        state.swept += 1
        if state.swept < layout.r or (state.swept - layout.r) % max(1, layout.r // 2):
            return
        if not _crossings(grid, state.y[0], state.s) < FEW_CROSSINGS * len(grid.offsets):
            before, state.norm = state.norm, kernels.active.sum_of_squares(state.s, 0)
            if not before - state.norm < LEAST_PROGRESS * state.norm:
                return
        state.swept = self.sweeps * layout.r

    def _open(self, layout: Layout, state: MaxFlowState) -> GridFlow | GridTreeFlow | GraphFlow:
        """Put the residual graph of the current dual before the kernel, which works in place.

        Where all data are multiples of some number, the flows are rounded to multiples too: bounds
        stay bounds, and the arithmetic of the search is exact as long as sums stay below 2^53 of
        these multiples.
        """
        unit, graph = layout.problem.granularity, state.graph
        if graph is None:
            graph = state.graph = FlowNetwork(layout.problem.terms, layout.unary, state.y)
            state.s, state.warm = graph.imbalance(), True
        if isinstance(graph, FlowNetwork):
            if self.sweeps and not state.swept and not layout.problem.precedences.tails.size:
                state.s = graph.sweep(state.s)
            if unit:
                graph.flow[:] = np.rint(graph.flow / unit) * unit
                state.s = graph.imbalance()
            return graph.search(state.s, state.warm)
        _round(layout, state)
        return kernels.active.GridFlow(*grid_arrays(graph, state), PATIENCE)

    def _start_over(self, layout: Layout, state: MaxFlowState, grid: GridCut) -> GridTreeFlow:
        """Put the grid before the pseudoflow algorithm, with no flow but from a sweep of edges.

        What sweeps of chains and a search that gave up have spread along paths would move in many
        small pushes.
        """
        state.flow, state.y[0][:], state.s[:] = None, 0.0, layout.unary
        if self.sweeps:
            for k in range(len(grid.offsets)):
                for block in matchings(grid, k, layout.threads):
                    block.sweep(state.y[0], state.s)
        _round(layout, state)
        return kernels.active.GridTreeFlow(*grid_arrays(grid, state))

    def iterate(self, layout: Layout, state: MaxFlowState) -> tuple[Dual, FloatArray]:
        """Return y and its s, summed afresh unless the search on a grid is over."""
        if isinstance(state.graph, FlowNetwork):
            state.y = state.graph.dual(state.done)
        elif state.done:
            return state.y, state.s
        return state.y, layout.total(state.y, out=state.s[: layout.n] if state.done else None)

    def done(self, state: MaxFlowState) -> bool:
        """Say whether no residual path is left from an excess to a deficit."""
        return state.done

    def minimizer(self, state: MaxFlowState) -> BoolArray:
        """Return the smallest (or largest) minimiser."""
        return state.members

    def memory(self, layout: Layout) -> int:
        """Count y, s, and the arrays of the kernel, with those of the network.

        A grid's kernel has a label, a parent and two bits for each neighbour at every node (whole
        bytes), and lists of nodes, or of roots after a new start.  A network has ends, weights and
        flow of its edges, unless they are those of an only cut, and the ends among the places of
        gadgets; its kernel has a tree of the nodes, and two numbers for every arc.
        """
        own, grid = array_bytes(layout, duals=1, vectors=1), single_grid(layout)
        if grid is not None:
            lists = 4 * layout.n  # half of all nodes, with a link each
            return own + lists + layout.n * (4 + 1 + (2 if len(grid.offsets) <= 4 else 8))
        size = network_size(layout.problem.terms) or NetworkSize(0, 0, 0, 0)
        edges, nodes = size.edges, layout.n + size.auxiliaries
        kernel = nodes * (6 * 4 + 3 * 4) + edges * 2 * (4 + 4)
        if _single_list(layout):
            return own + kernel
        joined = edges * (2 * 4 + 2 * 8 + 8) + size.gadget_edges * 2 * 4
        return own + kernel + joined + 8 * (size.places + nodes + size.auxiliaries)


def _round(layout: Layout, state: MaxFlowState) -> None:
    """Round the flow on a grid to multiples where all data are multiples of some number."""
    if unit := layout.problem.granularity:
        flow = state.y[0]
        flow[:] = np.rint(flow / unit) * unit
        layout.total(state.y, out=state.s)


def grid_arrays(grid: GridCut, state: MaxFlowState) -> GridArrays:
    """Return what the kernels with implicit neighbours work on, without offsets of no edges."""
    used = grid.used
    parts, (shape, offsets) = [grid.segments[k] for k in used], grid.geometry
    return GridArrays(
        shape,
        offsets[used],
        [backward for _, _, backward in parts],
        [forward for _, forward, _ in parts],
        [state.y[0][slots] for slots, _, _ in parts],
        state.s,
    )


def single_grid(layout: Layout) -> GridCut | None:
    """Return the only term, if it is a grid that the kernel with implicit neighbours takes."""
    terms = layout.problem.terms
    if len(terms) != 1 or not isinstance(terms[0], GridCut):
        return None
    return terms[0] if len(terms[0].offsets) <= MOST_OFFSETS else None


def _few_large_groups(layout: Layout) -> bool:
    """Say whether the terms are grids and few groups, one of them of most elements."""
    groups = [term for term in layout.problem.terms if not isinstance(term, GridCut)]
    if not all(isinstance(term, GroupTerm) for term in groups):
        return False
    sizes = [np.diff(term.pointers) for term in groups if isinstance(term, GroupTerm)]
    few = sum(size.size for size in sizes) <= FEW_GROUPS
    return few and max((int(size.max(initial=0)) for size in sizes), default=0) > layout.n // 2


def _groups_first(layout: Layout) -> list[int]:
    """Return the blocks of groups and then those of grids, in either part the smaller terms first.

    The order of the terms decides between equals alone.
    """
    terms, owners = layout.problem.terms, layout.owners
    return sorted(
        range(layout.r),
        key=lambda i: (isinstance(terms[owners[i]], GridCut), terms[owners[i]].size),
    )


def _crossings(grid: GridCut, flow: FloatArray, s: FloatArray) -> float:
    """Return the residual arcs from an excess straight to a deficit by pixel, from a sample."""
    sample = SAMPLE if len(grid.shape) > 1 else SAMPLE[0]
    shaped, count = s.reshape(grid.shape), 0
    for k, (slots, *weights) in enumerate(grid.segments):
        overlap = grid.overlaps[k]
        tails, heads = (shaped[ends][sample] for ends in grid.ends(k))
        sampled = flow[slots].reshape(overlap)[sample]
        forward, backward = (
            part if part.size == 1 else part.reshape(overlap)[sample] for part in weights
        )
        count += int(np.count_nonzero((tails < 0) & (heads > 0) & (sampled < forward)))
        count += int(np.count_nonzero((tails > 0) & (heads < 0) & (-sampled < backward)))
    return count / shaped[sample].size


def _single_list(layout: Layout) -> EdgeTerm | None:
    """Return the only term, if all of its edges are one segment, so that nothing is joined."""
    terms = layout.problem.terms
    if len(terms) != 1 or not isinstance(terms[0], EdgeTerm):
        return None
    return terms[0] if len(terms[0].segments) == 1 else None
