"""Maximum flow in a residual graph, to be paused, and what surrounds it.

An edge from i to j with the flow t has the residual capacity forward - t from i to j, and
backward + t from j to i.  Node v has the excess -s_v, or else the deficit s_v.  A search moves
excess to deficits along residual arcs until no path is left; then the nodes that an excess still
reaches are the smallest minimiser of the cut function, and those that reach no deficit the largest.

The twins are one search, along shortest paths (Dinic 1970), on any graph.  The compiled searches
are that of Goldberg et al. 2015, doi:10.1007/978-3-662-48350-3_52, and the pseudoflow algorithm
(Hochbaum 2008, doi:10.1287/opre.1080.0524).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray
from submin.kernels.refusals import refuse_outside, refuse_size
from submin.kernels.sums import OffsetArray, grid_ends

__all__ = ["GraphFlow", "GridFlow", "GridTreeFlow", "ParametricFlow", "add_net_flow", "settle"]


class _End(NamedTuple):
    """An edge at one of its ends: ``sign * flow[edge]`` goes to the other, from low to high."""

    other: int
    flow: FloatArray
    edge: int
    sign: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """What goes to the other end."""
        return self.sign * float(self.flow[self.edge])

    @property
    def leaves(self) -> bool:
        """Whether a residual arc leads to the other end."""
        return self.value < self.high

    @property
    def enters(self) -> bool:
        """Whether a residual arc comes from the other end."""
        return self.value > self.low

    def push(self, amount: float) -> float:
        """Push an amount to the other end, or what there is room for; return how much it was."""
        room = max(self.high - self.value, 0.0)
        raised = min(self.value + amount, self.high) if amount < room else self.high
        self.flow[self.edge] = self.sign * raised
        return min(amount, room)


class _Edges(NamedTuple):
    """Edges whose flows are in one array."""

    tails: IndexArray
    heads: IndexArray
    backward: WeightArray
    forward: WeightArray
    flow: FloatArray

    def ends(self) -> Iterator[tuple[int, _End]]:
        """Yield the ends of all edges, each with its node, the tail of an edge before the head."""
        backward, forward = (
            np.broadcast_to(weights, self.flow.shape).tolist()
            for weights in (self.backward, self.forward)
        )
        both = zip(self.tails.tolist(), self.heads.tolist(), strict=True)
        for edge, (tail, head) in enumerate(both):
            yield tail, _End(head, self.flow, edge, 1, -backward[edge], forward[edge])
            yield head, _End(tail, self.flow, edge, -1, -forward[edge], backward[edge])


class _Search:
    """A search in place on the flows and on ``s``: a valid pseudoflow after every ``advance``."""

    def __init__(self, edges: Iterable[_Edges], s: FloatArray) -> None:
        self._s, self._visits, self._pushes, self._finished = s, 0, 0, False
        self._around: list[list[_End]] = [[] for _ in range(s.size)]
        for part in edges:
            for node, end in part.ends():
                self._around[node].append(end)
        self._steps = self._search()

    def advance(self, budget: int, threads: int = 1) -> bool:
        """Go on for about ``budget`` node visits (a thread, perhaps); return True at the end."""
        stop = self._visits + budget
        while not self._finished and self._visits < stop:
            self._finished = next(self._steps, None) is None
        return self._finished

    def members(self, member: npt.NDArray[np.uint8], largest: bool = False) -> None:
        """Write 1 for the members of the smallest or largest minimiser, 0 for others, shape (n,).

        Raises ``ValueError`` before ``advance`` has returned True.
        """
        refuse_size(member.size, self._s.size, "member")
        if not self._finished:
            raise ValueError("members are known when advance has returned True")
        member[:] = largest
        starts = self._s > 0 if largest else self._s < 0
        member[list(self._distances(starts, towards=largest))] = not largest

    def gave_up(self) -> bool:
        """Say whether the search is too slow, and does no more."""
        return False

    def counts(self) -> dict[str, int]:
        """Return how often each kind of step was done, ``pushes`` among them."""
        return {"pushes": self._pushes}

    def visits(self) -> int:
        """Return the node visits so far."""
        return self._visits

    def _search(self) -> Iterator[bool]:
        """Push along shortest paths; those of one length are found with the same distances."""
        s = self._s
        while True:
            distances, place = self._distances(s > 0, towards=True), [0] * s.size
            roots = [node for node in np.flatnonzero(s < 0).tolist() if node in distances]
            if not roots:
                return
            yield True
            for root in roots:
                while s[root] < 0 and (path := self._path(root, distances, place)):
                    self._push(root, path)
                    yield True

    def _distances(self, starts: npt.NDArray[np.bool_], towards: bool) -> dict[int, int]:
        """Return the numbers of residual arcs from the starts, or to them, where there is a way."""
        nodes = np.flatnonzero(starts).tolist()
        distances = dict.fromkeys(nodes, 0)
        for node in nodes:  # which become more
            for end in self._around[node]:
                if end.other not in distances and (end.enters if towards else end.leaves):
                    distances[end.other] = distances[node] + 1
                    nodes.append(end.other)
        self._visits += len(nodes)
        return distances

    def _path(self, root: int, distances: dict[int, int], place: list[int]) -> list[_End]:
        """Return a shortest path to a deficit, or nothing; ``place`` is where each node goes on."""
        path, nodes = list[_End](), [root]
        while not self._s[nodes[-1]] > 0:
            node, around = nodes[-1], self._around[nodes[-1]]
            while place[node] < len(around):
                end = around[place[node]]
                if end.leaves and distances.get(end.other) == distances[node] - 1:
                    path.append(end)
                    nodes.append(end.other)
                    break
                place[node] += 1
            else:
                nodes.pop()
                if not nodes:
                    return path
                place[nodes[-1]] += 1
                path.pop()
            self._visits += 1
        return path

    def _push(self, root: int, path: list[_End]) -> None:
        """Push as much as excess, deficit and the arcs of the path allow."""
        deficit = path[-1].other
        room = [end.high - end.value for end in path]
        amount = float(min(-self._s[root], self._s[deficit], *room))
        for end in path:
            end.push(amount)
        self._s[root] += amount
        self._s[deficit] -= amount
        self._pushes += len(path)


class GraphFlow(_Search):
    """The search on any graph, in place on ``flow`` and ``s``.

    Parallel edges and loops are allowed.  ``warm`` says that the flow is near a maximum, which
    changes the time alone.  The searches never give up.  Refused out of range: tails, heads.
    """

    def __init__(
        self,
        tails: IndexArray,
        heads: IndexArray,
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        s: FloatArray,
        warm: bool = False,
    ) -> None:
        super().__init__([_graph(tails, heads, backward, forward, flow, s)], s)


class GridTreeFlow(_Search):
    """The search on a grid, by the pseudoflow algorithm, in place on ``flows`` and ``s``.

    The edges are those of ``grid_cut_value``, up to 16 offsets, with an array of flows for each.
    Never gives up.  Offsets of zero are refused too.  Refused out of range: shape.
    """

    def __init__(
        self,
        shape: PointerArray,
        offsets: OffsetArray,
        backward: Sequence[WeightArray],
        forward: Sequence[WeightArray],
        flows: Sequence[FloatArray],
        s: FloatArray,
    ) -> None:
        super().__init__(_grid(shape, offsets, backward, forward, flows, s), s)


class GridFlow(_Search):
    """The search on a grid, by forests, in place on ``flows`` and ``s``; see ``GridTreeFlow``.

    May give up after ``patience`` visits of each node: then ``advance`` returns False, and nothing
    changes any more.  Refused out of range: shape.
    """

    def __init__(
        self,
        shape: PointerArray,
        offsets: OffsetArray,
        backward: Sequence[WeightArray],
        forward: Sequence[WeightArray],
        flows: Sequence[FloatArray],
        s: FloatArray,
        patience: int = 2**31,
    ) -> None:
        super().__init__(_grid(shape, offsets, backward, forward, flows, s), s)

    def set_costs(self, nodes: IndexArray, costs: FloatArray) -> None:
        """Set what nodes cost, in ``s``; ``advance`` goes on from the flow, in time of the change.

        s becomes the cost and the flow out of the node, summed afresh; of a node that is named
        twice, the last cost counts.  Raises ``ValueError`` before ``advance`` has returned True.
        Refused out of range: nodes.
        """
        refuse_size(costs.size, nodes.size, "costs")
        refuse_outside(nodes, self._s.size, "nodes")
        if not self._finished:
            raise ValueError("costs can be set when advance has returned True")
        for node, cost in zip(nodes.tolist(), costs.tolist(), strict=True):
            self._s[node] = cost + sum(end.value for end in self._around[node])
        self._steps, self._finished = self._search(), False


class ParametricFlow:
    """The least f(x) + sum_v m_v x_v^2 / 2, f the cut function and the costs; writes ``x``.

    In place on ``flow``, which has to be within its bounds, and is always.  Nodes whose numbers in
    ``plateau`` differ are parted at first, which changes the time alone.  ``x`` and ``plateau``,
    then the first node of those of the same x that were found together, are known when ``advance``
    has returned True.  Masses may be 0; x is infinite on sets of no mass that cost something.  Any
    finite number will do for a set that nothing decides.  Refused out of range: tails, heads.
    """

    def __init__(
        self,
        tails: IndexArray,
        heads: IndexArray,
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        costs: FloatArray,
        masses: FloatArray,
        x: FloatArray,
        plateau: IndexArray,
    ) -> None:
        self._edges = _graph(tails, heads, backward, forward, flow, x)
        for name, part in (("costs", costs), ("masses", masses), ("plateau", plateau)):
            refuse_size(part.size, x.size, name)
        self._costs, self._masses, self._x, self._plateau = costs, masses, x, plateau
        self._open, self._rounds = [np.arange(x.size)] if x.size else [], 0

    def advance(self, budget: int, threads: int = 1) -> bool:
        """Divide parts for about ``budget`` node visits (a thread, perhaps); True at the end."""
        while self._open and budget > 0:
            nodes = self._open.pop()
            budget -= nodes.size
            above = self._divide(nodes)
            if 0 < above.sum() < nodes.size:
                self._open += [nodes[above], nodes[~above]]
        self._rounds = int(not self._open)
        return not self._open

    def counts(self) -> dict[str, int]:
        """Return how often all parts were divided to the end, as ``rounds``."""
        return {"rounds": self._rounds}

    def _divide(self, nodes: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Set x on a part; return the nodes above its level."""
        edges, s = self._edges, self._costs.copy()
        add_net_flow(edges.tails, edges.heads, edges.flow, s)
        own, mass = s[nodes], fsum(self._masses[nodes])
        level = -fsum(own) / mass if mass else -np.inf * np.sign(fsum(own))
        self._plateau[nodes] = nodes[0]
        self._x[nodes] = 0.0 if np.isnan(level) else level
        place = np.full(s.size, -1, dtype=np.int32)
        place[nodes] = np.arange(nodes.size)
        tails, heads = place[edges.tails], place[edges.heads]
        inner = (tails >= 0) & (heads >= 0)
        backward, forward, flow = (
            np.broadcast_to(values, edges.flow.shape)[inner].astype(np.float64)
            for values in (edges.backward, edges.forward, edges.flow)
        )
        rounding = 4.0 * np.finfo(np.float64).eps * float(np.sum(np.abs(own)))
        own += (level if mass else 0.0) * self._masses[nodes]
        search = GraphFlow(tails[inner], heads[inner], backward, forward, flow, own)
        while not search.advance(self._x.size):
            continue
        edges.flow[inner] = flow
        above = np.zeros(nodes.size, dtype=np.uint8)
        if float(np.sum(np.maximum(-own, 0.0))) > rounding:
            search.members(above)
        return above.view(np.bool_)


def _graph(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
) -> _Edges:
    """Return the edges of a graph, whose sizes fit together."""
    refuse_size(heads.size, tails.size, "heads")
    refuse_size(flow.size, tails.size, "flow")
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, s.size, name)
    for name, weights in (("backward", backward), ("forward", forward)):
        refuse_size(weights.size, 1 if weights.size == 1 else flow.size, name)
    return _Edges(tails, heads, backward, forward, flow)


def _grid(
    shape: PointerArray,
    offsets: OffsetArray,
    backward: Sequence[WeightArray],
    forward: Sequence[WeightArray],
    flows: Sequence[FloatArray],
    s: FloatArray,
) -> list[_Edges]:
    """Return the edges of a grid, one offset after the other."""
    if not all(map(any, offsets.tolist())):
        raise ValueError("offsets must not be zero")
    nodes = np.arange(s.size, dtype=np.int32).reshape(shape)
    ends = grid_ends(shape, offsets)
    return [
        _graph(nodes[tails].ravel(), nodes[heads].ravel(), back, out, flow, s)
        for (tails, heads), back, out, flow in zip(ends, backward, forward, flows, strict=True)
    ]


def add_net_flow(tails: IndexArray, heads: IndexArray, flow: FloatArray, s: FloatArray) -> None:
    """Add the flow out of each node to ``s``, in compensated sums, as hubs may have many edges.

    O(nodes + edges).  Refused out of range: tails, heads.
    """
    refuse_outside(tails, s.size, "tails")
    refuse_outside(heads, s.size, "heads")
    parts = [[value] for value in s.tolist()]
    for tail, head, amount in zip(tails.tolist(), heads.tolist(), flow.tolist(), strict=True):
        parts[tail].append(amount)
        parts[head].append(-amount)
    s[:] = [fsum(own) for own in parts]


def settle(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
    first: int,
) -> None:
    """Move what is left at the nodes from ``first`` on to the others, in place on flow and ``s``.

    One edge after the other between the two kinds moves what there is room for, so that a maximum
    flow stays one.  O(edges).  Refused out of range: tails, heads.
    """
    if first < 0:
        raise ValueError("first must not be negative")
    ends = _graph(tails, heads, backward, forward, flow, s).ends()
    for (tail, out), (head, back) in zip(ends, ends, strict=True):
        if (tail >= first) == (head >= first):
            continue
        inner, outer = (tail, head) if tail >= first else (head, tail)
        if s[inner] != 0.0:
            from_tail = (s[inner] < 0) == (inner == tail)
            moved = (out if from_tail else back).push(abs(float(s[inner])))
            change = moved if s[inner] < 0 else -moved
            s[inner] += change
            s[outer] -= change
