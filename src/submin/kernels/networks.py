"""Flows that conserve, and global minimum cuts."""

from __future__ import annotations

import heapq

import numpy as np

from submin._typing import FloatArray, IndexArray, PointerArray
from submin.kernels.refusals import refuse_outside, refuse_pointers

__all__ = ["adjacency_order", "conserve"]

Incidence = list[list[tuple[int, int, float]]]


def conserve(
    tails: IndexArray,
    heads: IndexArray,
    flow: FloatArray,
    s: FloatArray,
    source: int,
    sink: int,
) -> None:
    """Take back the flow that goes in cycles or gets stuck, in place.

    A node of ``s < 0`` has an excess of ``-s``, which goes back along the flow that brought it, to
    the source in the end; that of source and sink stays. Afterwards no cycle carries flow. O(nodes
    + edges), and the length of each cycle, of which there are at most as many as edges. Exact where
    flow and sums are integers up to 2^53 in magnitude. Refused out of range: tails, heads, source,
    sink.
    """
    for name, ends in (("tails", tails), ("heads", heads)):
        refuse_outside(ends, s.size, name)
    if not (0 <= source < s.size and 0 <= sink < s.size):
        raise ValueError(f"source {source} or sink {sink} is out of range")
    around: Incidence = [[] for _ in range(s.size)]
    for edge, (tail, head) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        if tail != head:
            around[tail].append((edge, head, 1.0))
            around[head].append((edge, tail, -1.0))
    for node in _cancelled_cycles(around, flow):
        for edge, other, sign in around[node]:
            brought = -sign * flow[edge]
            if s[node] < 0.0 < brought and node not in (source, sink):
                moved = min(brought, -s[node])
                flow[edge] += sign * moved
                s[node] += moved
                s[other] -= moved


def _cancelled_cycles(around: Incidence, flow: FloatArray) -> list[int]:
    """Empty an arc of every cycle; return the nodes, each after those that it sends flow to."""
    place, done, order = [0] * len(around), [False] * len(around), list[int]()
    for root in range(len(around)):
        path = [] if done[root] else [root]
        while path:
            node = path[-1]
            arcs = around[node]
            while place[node] < len(arcs) and (
                done[arcs[place[node]][1]]
                or not arcs[place[node]][2] * flow[arcs[place[node]][0]] > 0
            ):
                place[node] += 1
            if place[node] == len(arcs):
                done[node] = True
                order.append(path.pop())
            elif arcs[place[node]][1] in path:
                _cancel(path, [around[v][place[v]] for v in path], flow)
            else:
                path.append(arcs[place[node]][1])
    return order


def _cancel(path: list[int], taken: list[tuple[int, int, float]], flow: FloatArray) -> None:
    """Take the least flow off a cycle at the path's end; cut the path at its first empty arc."""
    first = path.index(taken[-1][1])
    cycle = taken[first:]
    amount = min(abs(float(flow[edge])) for edge, _, _ in cycle)
    for edge, _, sign in cycle:
        flow[edge] -= sign * amount
    kept = next(k for k, (edge, _, _) in enumerate(cycle) if flow[edge] == 0.0)
    del path[first + kept + 1 :]


def adjacency_order(
    pointers: PointerArray,
    neighbours: IndexArray,
    weights: FloatArray,
    bound: float,
    order: IndexArray,
    keys: FloatArray,
) -> None:
    """Write a maximum adjacency order of the nodes, and the key of each place.

    Node v has the neighbours ``neighbours[pointers[v]:pointers[v + 1]]``. The key of a node is its
    weight to the nodes before it. Next comes a node of the largest key; keys from ``bound`` on
    count as equal. O(nodes + edges log edges). Of equal keys below the bound the largest node comes
    first, and of those that reached it the one that did so last. Refused out of range: pointers,
    neighbours.
    """
    refuse_pointers(pointers, neighbours.size, "pointers")
    refuse_outside(neighbours, order.size, "neighbours")
    sums, placed = np.zeros(order.size), np.zeros(order.size, dtype=np.bool_)
    above, below = list[int](), list[tuple[float, int]]()
    for place in range(order.size):
        node = _next_node(above, below, placed)
        order[place], keys[place], placed[node] = node, sums[node], True
        for k in range(pointers[node], pointers[node + 1]):
            other, before = int(neighbours[k]), sums[neighbours[k]]
            if placed[other]:
                continue
            sums[other] += weights[k]
            if sums[other] < bound:
                heapq.heappush(below, (-float(sums[other]), -other))
            elif before < bound:
                above.append(other)


def _next_node(above: list[int], below: list[tuple[float, int]], placed: np.ndarray) -> int:
    """Take the last node that reached the bound, or that of the largest key, or any."""
    while above:
        node = above.pop()
        if not placed[node]:
            return node
    while below:
        node = -heapq.heappop(below)[1]
        if not placed[node]:
            return node
    return int(np.argmin(placed))
