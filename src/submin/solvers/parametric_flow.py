r"""The exact proximal point of cuts, also with auxiliary nodes: all level sets at once.

    y <- accelerated sweeps over the blocks, while they lower ||s||^2 by more than next to nothing
    plateaus <- what disputed edges join: those with a residual arc from a higher x = -s to a lower
    Repeat:
        divide each plateau V: at the level x = -s(V) / m(V), where V and the empty set cost the
            same, a minimum cut of its own finds the set S of most excess
            S empty? x is right on all of V
            else S is above and V \ S below; the edges between them are full, and their flow is a
            cost from now on; divide both
        join the plateaus that dispute an edge; there is none? x and y prove each other

Divide and conquer is exact: {x > t} is the smallest minimiser of F + t m, for every t (Hochbaum
2001, doi:10.1145/384006.384008; Chambolle & Darbon 2009, doi:10.1007/s11263-009-0238-9).  The
sweeps only find most plateaus beforehand, which leaves few and small cuts; large ones of a grid are
divided by cuts of the whole grid first (``grid_rounds``).  Where the problem is one block (a
chain), the first sweep is the taut string, and nothing is left to cut.

Where all weights m are not equal the sweeps, which are for equal ones, are left out, and where an
element has so many edges that their blocks are many and small (a star).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from submin import _checks, kernels
from submin._typing import BoolArray, Dual, FloatArray, IndexArray
from submin.solve.layout import Layout
from submin.solvers.accelerated_sweeps import AcceleratedSweeps, AcceleratedSweepsState
from submin.solvers.flows.grid_rounds import LARGE, GridRounds
from submin.solvers.flows.network import FlowNetwork, NetworkSize, network_size, refuse_others
from submin.solvers.max_flow import single_grid
from submin.solvers.solver import array_bytes
from submin.terms.base.term import Term
from submin.terms.cut import Cut

if TYPE_CHECKING:
    from submin.kernels.flows import ParametricFlow as Kernel

SLICE = 400_000
"""Node visits between two looks at the clock, for each thread."""

MOST_BLOCKS = 512
"""Blocks that are swept at most; each costs a call."""

LEAST_PROGRESS = 1e-7
"""Below this relative fall of ||s||^2 by a pass the sweeps end."""


@dataclass
class ParametricFlowState:
    """The sweeps; then the network and the kernel with x and the plateaus of its nodes."""

    sweeps: AcceleratedSweepsState
    passes_left: int
    norm: float = float("inf")
    rounds: GridRounds | None = None
    network: FlowNetwork | None = None
    kernel: Kernel | None = None
    masses: FloatArray = field(default_factory=lambda: np.zeros(0))
    x: FloatArray = field(default_factory=lambda: np.zeros(0))
    plateau: IndexArray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    done: bool = False


@dataclass(frozen=True)
class ParametricFlow:
    """The proximal point itself, for cuts and terms with gadgets (those of ``MaxFlow``).

    Parameters
    ----------
    sweeps : int, optional
        Passes of accelerated sweeps before the cuts, at most (0: none).  They end with a pass that
        lowers ||s||^2 by less than a part in ten million.

    Examples
    --------
    >>> import submin as sm
    >>> data = [6.0, 6.3, 13.8]
    >>> chain = sm.Cut([0, 1], [1, 2], [0.5, 0.2])
    >>> sm.prox(sm.Problem([-b for b in data], [chain]), sm.ParametricFlow()).x.round(12)
    array([ 6.25,  6.25, 13.6 ])
    """

    sweeps: int = 24

    def __post_init__(self) -> None:
        _checks.whole_number("sweeps", self.sweeps, 0)

    def start(self, layout: Layout, dual: Dual) -> ParametricFlowState:
        """Start from a feasible dual.

        Raises
        ------
        TypeError
            If a term is neither a cut nor one with a few auxiliary nodes.
        """
        refuse_others(layout.problem.terms, type(self).__name__)
        return ParametricFlowState(
            AcceleratedSweeps().start(layout, dual), self._most_passes(layout)
        )

    def step(self, layout: Layout, state: ParametricFlowState) -> int:
        """Do one pass of sweeps, or a slice of the cuts, which have no blocks."""
        if state.passes_left:
            return self._sweep(layout, state)
        if state.network is None:
            self._open(layout, state)
        if state.rounds is not None:
            if state.rounds.advance(SLICE, layout.threads):
                state.plateau[:], state.rounds = state.rounds.part, None
                self._open_kernel(state)
            return 0
        assert state.kernel is not None
        state.done = state.kernel.advance(SLICE, layout.threads)
        if state.done:
            state.x += 0.0  # no -0.0
        return 0

    def _most_passes(self, layout: Layout) -> int:
        """Return how many sweeps there are to be, at most; one block is exact after one."""
        masses = layout.masses
        equal = masses is None or bool(np.all(masses == masses[0]))
        if not equal or _fewest_blocks(layout.problem.terms) > MOST_BLOCKS:
            return 0
        if not 0 < layout.r <= MOST_BLOCKS:
            return 0
        return min(self.sweeps, 1) if layout.r == 1 else self.sweeps

    def _sweep(self, layout: Layout, state: ParametricFlowState) -> int:
        """Do one pass of sweeps; after the last that is worth its time no other follows."""
        projections = AcceleratedSweeps().step(layout, state.sweeps)
        before, state.norm = state.norm, kernels.active.sum_of_squares(state.sweeps.s, 0)
        worth_it = before - state.norm > LEAST_PROGRESS * state.norm
        state.passes_left = state.passes_left - 1 if worth_it else 0
        return projections

    def _open(self, layout: Layout, state: ParametricFlowState) -> None:
        """Make the network of the dual; where plateaus of a grid are large, its rounds come first.

        All work in place on the network's flow, which may be far from any answer in the midst of a
        cut; what the sweeps have found is kept for a limit that comes then.
        """
        for kept, now in zip(state.sweeps.previous_y, state.sweeps.y, strict=True):
            kept[...] = now
        network = FlowNetwork(layout.problem.terms, layout.unary, state.sweeps.y)
        state.network, count = network, network.costs.size
        state.masses, state.x = np.zeros(count), np.zeros(count)
        state.masses[: layout.n] = 1.0 if layout.masses is None else layout.masses
        state.plateau = np.zeros(count, dtype=np.int32)
        self._open_kernel(state)
        grid = single_grid(layout)
        if grid is not None and np.bincount(state.plateau).max() > LARGE * count:
            state.rounds = GridRounds(grid, network.flow, network.costs, state.masses)

    @staticmethod
    def _open_kernel(state: ParametricFlowState) -> None:
        """Put the network and what is known of its plateaus before the kernel."""
        assert state.network is not None
        network = state.network
        state.kernel = kernels.active.ParametricFlow(
            *network.edges, network.flow, network.costs, state.masses, state.x, state.plateau
        )

    def iterate(self, layout: Layout, state: ParametricFlowState) -> tuple[Dual, FloatArray]:
        """Return y and its s, summed afresh; between sweeps and the end the better of the two."""
        if state.network is None:
            return state.sweeps.y, layout.total(state.sweeps.y)
        dual = state.network.dual(state.done)
        s = layout.total(dual)
        if not state.done:
            before = layout.total(state.sweeps.previous_y)
            if _norm(before, layout.masses) < _norm(s, layout.masses):
                return state.sweeps.previous_y, before
        return dual, s

    def done(self, state: ParametricFlowState) -> bool:
        """Say whether no edge is disputed."""
        return state.done

    def minimizer(self, state: ParametricFlowState) -> BoolArray:
        """Return the smallest minimiser, up to rounding errors of x."""
        return self.point(state) > 0.0

    def point(self, state: ParametricFlowState) -> FloatArray:
        """Return the proximal point; infinite where a set without weight wants in or out."""
        assert state.network is not None
        return state.x[: state.network.n]

    def memory(self, layout: Layout) -> int:
        """Count two y and s of the sweeps, the network, and the parts with their largest cut.

        A part has 64 bytes for a node and 36 for an edge, and its cut those of a maximum flow.  The
        rounds of a grid have weights of their own, but neither parts nor a cut of them.
        """
        own = array_bytes(layout, duals=2, vectors=4)
        size = network_size(layout.problem.terms) or NetworkSize(0, 0, 0, 0)
        edges, nodes = size.edges, layout.n + size.auxiliaries
        network = edges * (2 * 4 + 3 * 8) + 8 * size.places
        parts = nodes * (4 + 3 * 8 + 3 * 8 + 3 * 4) + edges * (3 * 4 + 3 * 8)
        return own + network + parts + nodes * (6 * 4 + 3 * 4) + edges * 2 * (4 + 4)


def _fewest_blocks(terms: Sequence[Term]) -> int:
    """Bound the number of blocks from below without making them: a path has two edges at a node."""
    fewest = 0
    for term in terms:
        if isinstance(term, Cut):
            fewest += int(np.max(np.bincount(np.concatenate(term.edge_list())), initial=0)) // 2
    return fewest


def _norm(s: FloatArray, masses: FloatArray | None) -> float:
    """Return sum_v s_v^2 / m_v, where m is not 0: the less, the better is a dual."""
    if masses is None:
        return kernels.active.sum_of_squares(s, 0)
    return float(np.sum(np.divide(s * s, masses, out=np.zeros_like(s), where=masses > 0.0)))
