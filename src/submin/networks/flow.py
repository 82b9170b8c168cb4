"""Maximum flows that conserve, with both minimum cuts.

    Let B be a bound on the flow: what the source can send, or the sink can take.
    Write the capacities in units, the finest power of two of which B has fewer than 2^53.
    Find a minimum cut; the search leaves excess where it is stuck on the source's side.
    Cancel the cycles of what flows, and take the excess back to the source along what flows.
    If capacities were rounded and the cut is far below B, go on from there, with the cut as B.

The search is the pseudoflow algorithm of ``MaxFlow`` (Hochbaum 2008, doi:10.1287/opre.1080.0524).
All numbers in it are whole, at most 2^53, and exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from submin import kernels
from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.networks.fixed_point import Scale, sum_above
from submin.networks.network import Network

if TYPE_CHECKING:
    from submin.kernels.flows import GraphFlow

SLICE = 100_000
"""Node visits between two chances for Ctrl-C."""


@dataclass(frozen=True)
class FlowCertificate:
    """What a flow and its two cuts prove, recomputed from the arrays alone.

    Attributes
    ----------
    value : float
        The net flow out of the source.
    cut_value : float
        The larger of the capacities of the two cuts, rounded up; no flow is larger.
    imbalance : float
        The largest net flow into or out of a node that is neither source nor sink; 0 if the flow
        conserves.
    excess : float
        By how much an arc is beyond its capacities at most; 0 if the flow keeps to them.
    """

    value: float
    cut_value: float
    imbalance: float
    excess: float

    @property
    def gap(self) -> float:
        """``cut_value - value``: how far flow and cuts are from the best, at most."""
        return self.cut_value - self.value

    @property
    def feasible(self) -> bool:
        """Whether the flow conserves at every node and keeps to all capacities, exactly."""
        return self.imbalance == 0.0 and self.excess == 0.0

    @property
    def optimal(self) -> bool:
        """Whether a maximum flow and two minimum cuts are proved, without any rounding."""
        return self.feasible and self.gap <= 0.0

    def __str__(self) -> str:
        if not self.feasible:
            proof = f"no flow: imbalance {self.imbalance:.3g}, excess {self.excess:.3g}"
        elif self.optimal:
            proof = "proved to be a maximum flow and minimum cuts"
        else:
            proof = f"proved to be within {self.gap:.3g} of a maximum flow and minimum cuts"
        return f"flow {self.value:.12g}, cuts of {self.cut_value:.12g}: {proof}"


@dataclass(frozen=True, eq=False, repr=False)
class Flow:
    """A maximum flow, and the smallest and the largest minimum cut.

    Attributes
    ----------
    network : Network
    value : float
        The net flow from source to sink.
    arcs : float array, shape (m,)
        What each arc carries from tail to head; negative where it goes from head to tail.
    source_side, largest_source_side : bool array, shape (nodes,)
        The source's sides of the two cuts.
    exact : bool
        Whether the capacities were used without rounding.  Then `value` is the maximum, and every
        minimum cut lies between the two.  Otherwise value and cuts are within the gap that `verify`
        returns.
    """

    network: Network
    value: float
    arcs: FloatArray
    source_side: BoolArray
    largest_source_side: BoolArray
    exact: bool

    def verify(self) -> FlowCertificate:
        """Recompute conservation, capacities, value and cuts, in exact sums, O(nodes + arcs).

        Shares no code with the search.

        Examples
        --------
        >>> import submin as sm
        >>> flow = sm.max_flow(sm.Network([0, 1], [1, 2], [4.0, 3.0], source=0, sink=2))
        >>> flow.verify().optimal
        True
        """
        network, arcs = self.network, self.arcs
        above, below = arcs - network.capacities, -network.reverse_capacities - arcs
        net = _net_flow(network, arcs)
        inner = np.delete(net, [network.source, network.sink])
        sides = (self.source_side, self.largest_source_side)
        for side in sides:
            if not side[network.source] or side[network.sink]:
                raise ValueError("a source side holds the sink, or not the source: it is no cut")
        return FlowCertificate(
            value=-sum_above(-_out_of_source(network, arcs)),
            cut_value=max(sum_above(network.cut_arcs(side)) for side in sides),
            imbalance=float(np.abs(inner).max(initial=0.0)),
            excess=float(max(above.max(initial=0.0), below.max(initial=0.0))),
        )

    def __repr__(self) -> str:
        return (
            f"<Flow of {self.value:.12g} from node {self.network.source} to {self.network.sink}; "
            f"{int(self.source_side.sum())} to {int(self.largest_source_side.sum())} of "
            f"{self.network.nodes} nodes on the source's side>"
        )


def max_flow(network: Network | Problem) -> Flow:
    """Find a maximum flow, and the smallest and the largest minimum cut.

    ``sm.minimize`` with ``MaxFlow`` finds the cut and proves it by a dual that leaves excess at the
    nodes.  Here the flow itself is returned: it conserves at every node but source and sink, and no
    cycle carries flow.

    Parameters
    ----------
    network : Network, or Problem whose terms are cuts
        A problem stands for ``Network.from_problem(problem)``.  A network is one argument, and not
        five, because the flow is verified against it later.

    Returns
    -------
    Flow

    Raises
    ------
    TypeError
        If a term of a problem is not a cut.
    ValueError
        If arcs of infinite capacity lead from source to sink, so that there is no largest flow.

    Notes
    -----
    The flow conserves exactly and keeps to the capacities exactly, whatever the data: it consists
    of multiples of a power of two, and float64 adds them without rounding, in any order.  On data
    that are multiples of a common power of two, with a maximum flow of fewer than 2^52 of them
    (integers, say), nothing is rounded at all.  Other capacities are rounded down to about
    2^-52 to 2^-48 of the maximum: value and cuts are within that, times the arcs of the cut.

    The search is one of the pseudoflow algorithm; conserving adds O(nodes + arcs), and the lengths
    of the cycles that flow was sent around.  Some 150 bytes an arc and 100 a node.

    References
    ----------
    D. S. Hochbaum, The pseudoflow algorithm, Operations Research 56, 2008,
    doi:10.1287/opre.1080.0524.

    Examples
    --------
    >>> import submin as sm
    >>> network = sm.Network([0, 0, 1, 2, 3], [1, 2, 2, 3, 0], [10, 10, 5, 1, 1], 1, 0)
    >>> flow = sm.max_flow(network)
    >>> flow.value, flow.arcs
    (1.0, array([0., 0., 1., 1., 1.]))
    >>> flow.source_side, flow.largest_source_side
    (array([False,  True,  True, False]), array([False,  True,  True,  True]))
    """
    if isinstance(network, Problem):
        network = Network.from_problem(network)
    if not isinstance(network, Network):
        raise TypeError(f"network must be a Network or a Problem, not a {type(network).__name__}")
    _refuse_unbounded(network)
    bound, arcs = _bound(network), np.zeros(network.tails.size)
    scale = Scale.of(bound)
    while True:
        capacities, exact = _whole(network, scale)
        _augment(network, capacities, arcs, scale.limit)
        sides = _sides(network, capacities, arcs)
        cut = min(sum_above(network.cut_arcs(side)) for side in sides)
        fine = None if exact else scale.finer(bound, cut, *_limits(network))
        if fine is None:
            break
        bound, arcs, scale = cut, np.ldexp(arcs, scale.exponent - fine.exponent), fine
    value = scale.value(_value(network, arcs))
    return Flow(network, value, scale.values(arcs) + 0.0, *sides, exact)


class _Capacities(NamedTuple):
    """Capacities in units, as the kernels take them."""

    backward: FloatArray
    forward: FloatArray


def _limits(network: Network) -> list[FloatArray]:
    """Return the backward and forward capacities, 0 for loops."""
    loops = network.tails == network.heads
    both = network.reverse_capacities, network.capacities
    return [np.where(loops, 0.0, capacities) for capacities in both] if loops.any() else list(both)


def _whole(network: Network, scale: Scale) -> tuple[_Capacities, bool]:
    """Return capacities in units, and whether they are not rounded."""
    (backward, one), (forward, other) = (scale.units(values) for values in _limits(network))
    return _Capacities(backward, forward), one and other


def _bound(network: Network) -> float:
    """Return a number that no flow exceeds, where no path has infinite capacity."""
    nodes = np.arange(network.nodes)
    ends = nodes == network.source, nodes != network.sink
    bound = min(sum_above(network.cut_arcs(side)) for side in ends)
    if bound < np.inf:
        return bound
    return sum_above(np.concatenate([part[np.isfinite(part)] for part in _limits(network)]))


def _search(
    network: Network, capacities: _Capacities, arcs: FloatArray, supply: float, warm: bool
) -> tuple[GraphFlow, FloatArray]:
    """Send as much of a supply as possible from source to sink; leave the rest where it is stuck.

    Returns the finished search, and the imbalance of the nodes.
    """
    s = np.zeros(network.nodes)
    s[network.source], s[network.sink] = -supply, supply
    search = kernels.active.GraphFlow(network.tails, network.heads, *capacities, arcs, s, warm)
    while not search.advance(SLICE):
        pass
    return search, s


def _augment(network: Network, capacities: _Capacities, arcs: FloatArray, limit: float) -> None:
    """Make a flow a maximum one, in place; `limit` is more than it can be."""
    value = _value(network, arcs)
    _, s = _search(network, capacities, arcs, limit - value, warm=value > 0.0)
    kernels.active.conserve(network.tails, network.heads, arcs, s, network.source, network.sink)


def _value(network: Network, arcs: FloatArray) -> float:
    """Return the net flow out of the source, whose arcs bring none in: no cycle carries flow."""
    return float(_out_of_source(network, arcs).sum())


def _sides(
    network: Network, capacities: _Capacities, arcs: FloatArray
) -> tuple[BoolArray, BoolArray]:
    """Return what the source reaches, and what does not reach the sink, along residual arcs."""
    search, _ = _search(network, capacities, arcs, 1.0, warm=True)
    smallest, largest = np.zeros((2, network.nodes), dtype=np.uint8)
    search.members(smallest)
    search.members(largest, True)
    return smallest.view(np.bool_), largest.view(np.bool_)


def _out_of_source(network: Network, arcs: FloatArray) -> FloatArray:
    """Return what each arc at the source takes out of it, negative where it brings in."""
    out, into = network.tails == network.source, network.heads == network.source
    return np.concatenate([arcs[out & ~into], -arcs[into & ~out]])


def _net_flow(network: Network, arcs: FloatArray) -> FloatArray:
    """Return the net flow out of each node, correctly rounded: 0 only where it is 0."""
    nodes = np.concatenate([network.tails, network.heads])
    order = np.argsort(nodes, kind="stable")
    parts = np.concatenate([arcs, -arcs])[order].tolist()
    stops = np.searchsorted(nodes[order], np.arange(network.nodes + 1)).tolist()
    sums = [fsum(parts[stops[v] : stops[v + 1]]) for v in range(network.nodes)]
    return np.array(sums)


def _refuse_unbounded(network: Network) -> None:
    """Refuse a path of infinite arcs from source to sink, and name it."""
    backward, forward = (np.isinf(values).astype(np.float64) for values in _limits(network))
    if not forward.any() and not backward.any():
        return
    arcs = np.zeros(network.tails.size)
    _augment(network, _Capacities(backward, forward), arcs, 1.0)
    if path := np.flatnonzero(arcs).tolist():
        listed = str(path) if len(path) <= 8 else f"{str(path[:8])[:-1]}, ...]"
        name = "capacities" if arcs[path[0]] > 0.0 else "reverse_capacities"
        raise ValueError(
            f"{name}[{path[0]}] is inf: the arcs {listed}, all of infinite capacity, lead from "
            "source to sink, so there is no largest flow; give one of them a capacity"
        )
