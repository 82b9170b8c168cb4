"""Labellings: message passing, expansions, and the bound that a dual proves.

Costs of labels come as a row of nodes for each label, or of labels for each node; infinite ones
are forbidden.  Rows of labels are filled up to 8, 16, ... numbers, messages with any finite ones.
``distances`` has a symmetric matrix with zeros on its diagonal for each kind of edge, and ``kinds``
says which one an edge has.  A dual has a row for each edge at its tail and at its head, -infinity
at forbidden labels.

Messages are sequential and tree-reweighted (Kolmogorov 2006, doi:10.1109/TPAMI.2006.200); moves are
those of Boykov, Veksler and Zabih 2001, doi:10.1109/34.969114.
"""

from __future__ import annotations

from math import fsum, inf

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, WeightArray
from submin.kernels.flows import GraphFlow
from submin.kernels.refusals import refuse_outside, refuse_size

__all__ = ["LabelExpansions", "LabelMessages", "label_bound", "label_distances", "label_fusion"]

Rows = npt.NDArray[np.float32]
Kinds = npt.NDArray[np.uint8]

LEAST_STRIP, MOST_STRIPS = 2048, 8
"""Nodes of a strip at least, and strips at most."""
NOISE = 2.0**-20
"""Gains below this part of the costs around a node are those of single precision."""


class LabelMessages:
    """The messages of edges, one row for each, in place: to the end that is reached next.

    Nodes are passed in an order of strips: every second one from its end to its start.
    ``backward``, ``marginals`` and ``dual`` follow a ``forward``.
    Refused out of range: tails, heads.
    """

    def __init__(
        self,
        costs: Rows,
        tails: IndexArray,
        heads: IndexArray,
        weights: Rows,
        kinds: Kinds,
        distances: Rows,
        messages: Rows,
    ) -> None:
        nodes = len(costs)
        _check_edges(nodes, tails, heads, weights, kinds, distances)
        self._costs, self._weights, self._kinds = costs, weights, kinds
        self._distances, self._messages = distances, messages
        self._tails: list[int] = tails.tolist()
        self._heads: list[int] = heads.tolist()
        self._order = _order(nodes, self._tails, self._heads)
        place = np.empty(nodes, dtype=np.int64)
        place[self._order] = np.arange(nodes)
        self._later = [list[int]() for _ in range(nodes)]
        self._earlier = [list[int]() for _ in range(nodes)]
        for edge, (tail, head) in enumerate(zip(self._tails, self._heads, strict=True)):
            first, last = (tail, head) if place[tail] < place[head] else (head, tail)
            self._later[first].append(edge)
            self._earlier[last].append(edge)

    def forward(self, chosen: IndexArray, threads: int = 1) -> None:
        """Pass from the first node to the last; write the label that each takes, if asked to.

        That is the best beside those of earlier nodes and the messages from later ones; ``chosen``
        has all nodes, or none.
        """
        if chosen.size:
            refuse_size(chosen.size, len(self._costs), "chosen")
        for node in self._order:
            later, earlier = self._later[node], self._earlier[node]
            sums = self._costs[node] + self._messages[later].sum(axis=0, dtype=np.float32)
            if chosen.size:
                beside = sums.copy()
                for edge in earlier:
                    other = chosen[self._other(edge, node)]
                    beside += self._weights[edge] * self._distances[self._kinds[edge], other]
                chosen[node] = int(np.argmin(beside))
            sums += self._messages[earlier].sum(axis=0, dtype=np.float32)
            share = np.float32(1.0 / max(len(later), len(earlier), 1))
            for edge in later:
                self._send(edge, share * sums)

    def backward(self, threads: int = 1) -> float:
        """Pass from the last node to the first; return the bound, up to rounding."""
        return self._back(None)

    def marginals(self, rows: Rows, threads: int = 1) -> float:
        """Pass back, and write the costs of each node with all its messages, less the least."""
        return self._back(None, rows)

    def dual(self, at_tail: Rows, at_head: Rows, threads: int = 1) -> float:
        """Pass back as ``backward``, and write the dual that proves the bound."""
        return self._back((at_tail, at_head))

    def _back(self, dual: tuple[Rows, Rows] | None, rows: Rows | None = None) -> float:
        bound = list[float]()
        for node in reversed(self._order):
            later, earlier = self._later[node], self._earlier[node]
            sums = self._costs[node] + self._messages[later + earlier].sum(axis=0)
            bound.append(float(sums.min()))
            sums -= sums.min()
            if rows is not None:
                rows[node] = sums
            most = len(earlier) if dual else max(len(later), len(earlier))
            taken = np.float32(1.0 / max(most, 1)) * sums
            for edge in earlier:
                near = self._messages[edge] - taken
                bound.append(self._send(edge, taken))
                if dual:
                    ends = dual if self._tails[edge] == node else dual[::-1]
                    ends[0][edge], ends[1][edge] = near, self._messages[edge]
        return fsum(bound)

    def _other(self, edge: int, node: int) -> int:
        return self._heads[edge] if self._tails[edge] == node else self._tails[edge]

    def _send(self, edge: int, taken: Rows) -> float:
        """Write the message to the other end over the one from there; return what is taken off."""
        own = taken - self._messages[edge]
        least = own.min()
        prices = self._weights[edge] * self._distances[self._kinds[edge]]
        self._messages[edge] = np.min((own - least)[:, None] + prices, axis=0)
        return float(least)


def _order(nodes: int, tails: list[int], heads: list[int]) -> list[int]:
    """Return the nodes in the order of the passes."""
    strips = min(max(nodes // LEAST_STRIP, 1), MOST_STRIPS)
    length = max(-(-nodes // strips), 1)
    across = sum(a // length != b // length for a, b in zip(tails, heads, strict=True))
    length = length if 16 * across <= len(tails) else max(nodes, 1)
    order = list[int]()
    for k, first in enumerate(range(0, nodes, length)):
        own = list(range(first, min(first + length, nodes)))
        order += own if k % 2 == 0 else own[::-1]
    return order


def label_fusion(
    tails: IndexArray,
    heads: IndexArray,
    weights: FloatArray,
    kinds: Kinds,
    distances: FloatArray,
    at_tail: Rows,
    at_head: Rows,
    first: IndexArray,
    second: IndexArray,
    s: FloatArray,
    backward: FloatArray,
    forward: FloatArray,
) -> int:
    """Write the binary problem of a move: a node keeps its first label or takes its second.

    Adds to ``s`` what taking costs beside the node's own costs, and writes the arcs.  Of an edge
    that asks for the contrary of a submodular cost, what one end costs alone is raised; returns how
    many do.  A dual without rows is 0.  Refused out of range: tails, heads, first, second.
    """
    _check_edges(s.size, tails, heads, weights, kinds, distances)
    for name, labels in (("first", first), ("second", second)):
        refuse_size(labels.size, s.size, name)
        refuse_outside(labels, distances.shape[1], name)
    raised = 0
    for edge, (i, j) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        d = weights[edge] * distances[kinds[edge]]
        a = at_tail[edge].astype(np.float64) if len(at_tail) else np.zeros(len(d))
        b = at_head[edge].astype(np.float64) if len(at_head) else np.zeros(len(d))
        (p0, p1), (q0, q1) = (first[i], second[i]), (first[j], second[j])
        own, other = a[p1] - a[p0], b[q1] - b[q0]
        tail, head = d[p1, q0] - d[p0, q0] - own, d[p0, q1] - d[p0, q0] - other
        both = d[p1, q1] - d[p0, q0] - own - other
        backward[edge] = forward[edge] = 0.0
        if p0 != p1 and q0 != q1:
            low = both - head
            shift = 0.5 * (low + tail) if low > tail else min(max(low, 0.0), tail)
            raised += low - tail > 1e-9 * (abs(low) + abs(tail))
            forward[edge], backward[edge] = max(tail - shift, 0.0), max(shift - low, 0.0)
            tail, head = shift, both - shift
        s[i] += tail + own if p0 != p1 else 0.0
        s[j] += head + other if q0 != q1 else 0.0
    return raised


class LabelExpansions:
    """Expansions of a labelling, in place, in the costs that a dual has left.

    Gains of a node below a millionth of the costs around it count as none.  The first expansion of
    a label is exact but for those; later ones may look only where labels have changed since.
    Refused out of range: tails, heads, current.
    """

    def __init__(
        self,
        costs: WeightArray,
        tails: IndexArray,
        heads: IndexArray,
        weights: FloatArray,
        kinds: Kinds,
        distances: FloatArray,
        at_tail: Rows,
        at_head: Rows,
        current: IndexArray,
        threads: int = 1,
    ) -> None:
        _check_edges(costs.shape[1], tails, heads, weights, kinds, distances)
        refuse_size(current.size, costs.shape[1], "current")
        refuse_outside(current, len(costs), "current")
        self._costs, self._current = costs, current
        self._edges = (tails, heads, weights, kinds, distances, at_tail, at_head)

    def expand(self, alpha: int, least: float = 0.0) -> int:
        """Let nodes take a label where that is best; return how many do.

        Nothing is done if what nodes gain by themselves sums to `least` or less.
        """
        if not 0 <= alpha < len(self._costs):
            raise ValueError("alpha must be one of the labels")
        current, nodes = self._current, np.arange(self._current.size)
        second = np.where(np.isinf(self._costs[alpha]), current, np.int32(alpha)).astype(np.int32)
        taken = self._costs[second, nodes].astype(np.float64)
        s = taken - self._costs[current, nodes]
        sizes = np.abs(taken) + np.abs(s)
        tails, heads = self._edges[:2]
        backward, forward, flow = (np.zeros(tails.size) for _ in range(3))
        label_fusion(*self._edges, current, second, s, backward, forward)
        if not (s < -NOISE * sizes).any() or not np.isfinite([*s, *forward, *backward]).all():
            return 0
        if -np.sum(s[s < -NOISE * sizes]) <= least:
            return 0
        search = GraphFlow(tails, heads, backward, forward, flow, s)
        while not search.advance(1000):
            continue
        member = np.zeros(s.size, dtype=np.uint8)
        search.members(member)
        changed = (member != 0) & (second != current)
        current[changed] = second[changed]
        return int(changed.sum())


def label_bound(
    costs: WeightArray,
    tails: IndexArray,
    heads: IndexArray,
    weights: FloatArray,
    kinds: Kinds,
    distances: FloatArray,
    at_tail: WeightArray,
    at_head: WeightArray,
    threads: int = 1,
) -> float:
    """Return the lower bound that a dual proves, less its rounding errors; O(edges · labels).

    Refused out of range: tails, heads.
    """
    labels, nodes = costs.shape
    _check_edges(nodes, tails, heads, weights, kinds, distances)
    sums, sizes = costs.astype(np.float64), np.abs(costs.astype(np.float64))
    parts = list[float]()
    for edge, (i, j) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        a, b = (rows[edge, :labels].astype(np.float64) for rows in (at_tail, at_head))
        for node, own in ((i, a), (j, b)):
            allowed = ~np.isinf(costs[:, node])
            sums[allowed, node] += own[allowed]
            sizes[allowed, node] += np.abs(own[allowed])
        p, q = np.isfinite(a), np.isfinite(b)
        d = (weights[edge] * distances[kinds[edge], :labels, :labels])[p][:, q]
        size = d + np.abs(a[p])[:, None] + np.abs(b[q])
        parts.append(float(np.min(d - a[p][:, None] - b[q] - 2.0**-51 * size)))
    degree = np.bincount(np.concatenate([tails, heads]), minlength=nodes) + 1
    with np.errstate(invalid="ignore"):
        lower = np.where(np.isinf(costs), inf, sums - 2.0**-52 * degree * sizes)
    parts += lower.min(axis=0).tolist()
    return fsum(part - 2.0**-52 * abs(part) for part in parts)


def label_distances(
    tails: IndexArray,
    heads: IndexArray,
    weights: FloatArray,
    kinds: Kinds,
    distances: FloatArray,
    chosen: IndexArray,
    threads: int = 1,
) -> float:
    """Return the sum of weighted distances of a labelling, O(edges).

    Refused out of range: tails, heads, chosen.
    """
    _check_edges(chosen.size, tails, heads, weights, kinds, distances)
    refuse_outside(chosen, distances.shape[1], "chosen")
    return fsum(weights * distances[kinds, chosen[tails], chosen[heads]])


def _check_edges(
    nodes: int,
    tails: IndexArray,
    heads: IndexArray,
    weights: WeightArray,
    kinds: Kinds,
    distances: WeightArray,
) -> None:
    """Refuse edges whose sizes do not fit, or that lead outside, or to their own tails."""
    for name, part in (("heads", heads), ("weights", weights), ("kinds", kinds)):
        refuse_size(part.size, tails.size, name)
    refuse_outside(tails, nodes, "tails")
    refuse_outside(heads, nodes, "heads")
    refuse_outside(kinds.astype(np.int32), len(distances), "kinds")
    if (tails == heads).any():
        edge = int(np.argmax(tails == heads))
        raise ValueError(f"heads[{edge}] = {heads[edge]} is the edge's tail: an edge needs two")
