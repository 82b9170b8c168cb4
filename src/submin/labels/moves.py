"""Moves: many elements change their labels at once, as a minimum cut tells.

    In cycles, as long as one helps, for each label alpha:
        x <- the best of all labellings in which elements keep their labels or take alpha
            (an expansion)
    Where distances break the triangle inequality, for each pair p, q of labels that meet:
        x <- the best of those in which elements of p and q have the one or the other (a swap)
    and where labels are steps, for k = 1, -1, 2, -2, 4, ...:
        x <- one of those in which elements keep their labels or take that k further (a jump)
    and then again cycles of expansions, as long as that helps

Expansions with label costs are cuts of everything, as their gain may lie in the last element that
leaves a label: a node more for each set of labels pays its price or saves it (Delong, Osokin, Isack
and Boykov 2012, doi:10.1007/s11263-011-0437-z).  Those that see what elements pay go before.
Each is a *fusion* of two labellings, and that a binary problem: the costs of the two labels, and of
each edge what its four combinations cost (Boykov, Veksler and Zabih 2001, doi:10.1109/34.969114;
Lempitsky, Rother, Roth and Blake 2010, doi:10.1109/TPAMI.2009.143).  The dual of message passing
reparametrises expansions: what one can gain lies where labels cost more than the dual's least
values, so that the kernel looks at some thousand elements of a picture and not at all.  From the
second cycle on, expansions begin where something has changed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from submin import kernels
from submin._typing import BoolArray, FloatArray, IndexArray
from submin.labels.label_costs import Shares
from submin.labels.problem import Dual, LabelProblem, Labels

SLICE = 1_000_000
"""Node visits between two looks at signals."""


def improve(
    problem: LabelProblem, dual: Dual, labels: Labels, threads: int, least: float = 0.0,
    settled: Labels | None = None,
) -> Iterator[int]:  # fmt: skip
    """Move in place until nothing helps; yield after each move how many nodes have changed.

    Expansions that can gain no more than `least`, in units of cost, are left out.  Labels that are
    `settled` are those that moves have found before.
    """
    while True:
        before = labels.copy()
        yield from _expand(problem, dual, labels, threads, least)
        if len(problem.prices):
            if not problem.value(labels) < problem.value(before):
                labels[:] = before
            if settled is None or not np.array_equal(labels, settled):
                yield from _expand_whole(problem, dual, labels, least)
        if not problem.breaks_triangles:
            return
        moved = 0
        for p, q in _neighbours(problem, labels):
            moved += swap(problem, labels, p, q)
            yield moved
        for step in _steps(problem):
            moved += jump(problem, labels, step)
            yield moved
        if not moved:
            return


def _expand(
    problem: LabelProblem, dual: Dual, labels: Labels, threads: int, least: float
) -> Iterator[int]:
    """Expand in cycles until one changes nothing."""
    edges = problem.edges
    kernel = kernels.active.LabelExpansions(
        problem.shared_costs(dual.shares), edges.tails, edges.heads, edges.weights, edges.kinds,
        problem.distances, *dual.rows, labels, threads,
    )  # fmt: skip
    changed = 1
    while changed:
        changed = 0
        for alpha in range(problem.labels):
            moved = kernel.expand(alpha, least)
            changed += moved
            yield moved


def _expand_whole(problem: LabelProblem, dual: Dual, labels: Labels, least: float) -> Iterator[int]:
    """Expand in cycles, with the prices of labels, until one changes nothing."""
    changed = 1
    while changed:
        changed = 0
        for alpha in range(problem.labels):
            moved = expand_whole(problem, dual, labels, alpha, least)
            changed += moved
            yield moved


def expand_whole(
    problem: LabelProblem, dual: Dual, labels: Labels, alpha: int, least: float = 0.0
) -> int:
    """Let nodes take a label where that is best, prices of labels included; return how many do.

    In place.  The dual makes the cut an easy one.  Nothing is done if no more than `least` can be
    gained.
    """
    edges, nodes = problem.edges, np.arange(problem.nodes)
    second = np.where(allowed(problem, alpha), np.int32(alpha), labels).astype(np.int32)
    table = problem.all_costs
    s = table[second, nodes].astype(np.float64) - table[labels, nodes]
    backward, forward = (np.zeros(edges.tails.size) for _ in range(2))
    kernels.active.label_fusion(
        edges.tails, edges.heads, edges.weights, edges.kinds, problem.distances,
        *dual.rows, labels, second, s, backward, forward,
    )  # fmt: skip
    extra = _PriceNodes(problem, dual.shares, labels, second, alpha)
    extra.share(s)
    s = np.concatenate([s, extra.costs])
    if -np.minimum(s, 0.0).sum() <= least:
        return 0
    tails = np.concatenate([edges.tails, extra.tails])
    heads = np.concatenate([edges.heads, extra.heads])
    none, flow = np.zeros(extra.tails.size), np.zeros(edges.tails.size)
    member = _smallest_cut(
        tails, heads, s, np.concatenate([backward, none]),
        np.concatenate([forward, extra.weights]), np.concatenate([flow, extra.flow]),
    )[: problem.nodes]  # fmt: skip
    return _take(problem, labels, np.where(member, second, labels).astype(np.int32))


class _PriceNodes:
    """A node for each price that an expansion pays or saves, with an edge to elements that decide.

    That of a set which comes into use is a member if an element takes the label, at the price; that
    of a set which may fall out of use only if all its elements take it, and it saves the price.
    The flow of the edges is what elements pay already.
    """

    def __init__(
        self, problem: LabelProblem, shares: Shares | None, labels: Labels, second: Labels,
        alpha: int,
    ) -> None:  # fmt: skip
        costs, first = list[float](), problem.nodes
        tails, heads = ([np.zeros(0, dtype=np.int32)] for _ in range(2))
        weights, flow = ([np.zeros(0)] for _ in range(2))
        own, moves = labels[: problem.n], (labels != second)[: problem.n]
        used = problem.prices.used(own)
        for k, (members, price) in enumerate(
            zip(problem.prices.members, problem.prices.prices.tolist(), strict=True)
        ):
            holders = members[own]
            if members[alpha] == used[k] or (used[k] and not moves[holders].all()):
                continue
            ends = np.flatnonzero(holders if used[k] else moves).astype(np.int32)
            node = np.full(ends.size, first + len(costs), dtype=np.int32)
            paid = np.zeros(ends.size)
            if shares is not None:
                paid = np.clip(shares[k, ends].astype(np.float64), 0.0, price)
            tails.append(node if used[k] else ends)
            heads.append(ends if used[k] else node)
            weights.append(np.full(ends.size, price))
            flow.append(paid)
            costs.append(float(paid.sum()) - price if used[k] else price - float(paid.sum()))
        self.costs = np.array(costs, dtype=np.float64)
        self.tails, self.heads = np.concatenate(tails), np.concatenate(heads)
        self.weights, self.flow = np.concatenate(weights), np.concatenate(flow)
        self._first = first

    def share(self, s: FloatArray) -> None:
        """Add what elements pay to what taking the label costs them."""
        pays = self.tails < self._first
        s += np.bincount(self.tails[pays], self.flow[pays], minlength=s.size)
        s -= np.bincount(self.heads[~pays], self.flow[~pays], minlength=s.size)


def _steps(problem: LabelProblem) -> list[int]:
    """Return the lengths of jumps."""
    if not problem.has_steps:
        return []
    lengths = [2**k for k in range(problem.labels.bit_length()) if 2**k < problem.labels]
    return [sign * length for length in lengths for sign in (1, -1)]


def _neighbours(problem: LabelProblem, labels: Labels) -> list[tuple[int, int]]:
    """Return the pairs of labels that meet at an edge, the smaller one first."""
    ends = labels[problem.edges.tails], labels[problem.edges.heads]
    low, high = np.minimum(*ends), np.maximum(*ends)
    met = (low < high) & (high < problem.labels)
    return [(int(p), int(q)) for p, q in np.unique(np.stack([low, high], 1)[met], axis=0)]


def swap(problem: LabelProblem, labels: Labels, p: int, q: int) -> int:
    """Let nodes of two labels have the one or the other, in place; return how many change.

    Exact for every semimetric, O(nodes + edges) and a maximum flow.
    """
    either = (labels == p) | (labels == q)
    first = np.where(either & allowed(problem, p), p, labels).astype(np.int32)
    second = np.where(either & allowed(problem, q), q, labels).astype(np.int32)
    return _take(problem, labels, fusion(problem, first, second))


def jump(problem: LabelProblem, labels: Labels, step: int) -> int:
    """Let elements keep their labels or take that `step` further; return how many do.

    Exact for convex distances without a cap; a cap asks for the contrary of a submodular cost here
    and there, and then a move is not worse than none.
    """
    second = labels.copy()
    second[: problem.n] = np.clip(labels[: problem.n] + step, 0, problem.labels - 1)
    forbidden = np.isinf(problem.all_costs[second, np.arange(problem.nodes)])
    second[forbidden] = labels[forbidden]
    return _take(problem, labels, fusion(problem, labels, second))


def _take(problem: LabelProblem, labels: Labels, offered: Labels) -> int:
    """Take labels over, in place, if their energy is less; return how many change."""
    if not problem.value(offered) < problem.value(labels):
        return 0
    changed = int(np.count_nonzero(offered != labels))
    labels[:] = offered
    return changed


def allowed(problem: LabelProblem, label: int) -> BoolArray:
    """Return where a label is allowed, of all nodes."""
    finite: BoolArray = np.isfinite(problem.all_costs[label])
    return finite


def fusion(problem: LabelProblem, first: Labels, second: Labels) -> Labels:
    """Return the best labelling that has one of two labels at each node.

    It is exact where no combination asks for the contrary of a submodular cost, and never worse
    than `first`.
    """
    edges, nodes, table = problem.edges, np.arange(problem.nodes), problem.all_costs
    none = np.zeros((0, problem.width), dtype=np.float32)
    s = table[second, nodes].astype(np.float64) - table[first, nodes]
    backward, forward, flow = (np.zeros(edges.tails.size) for _ in range(3))
    kernels.active.label_fusion(
        edges.tails, edges.heads, edges.weights, edges.kinds, problem.distances,
        none, none, first, second, s, backward, forward,
    )  # fmt: skip
    member = _smallest_cut(edges.tails, edges.heads, s, backward, forward, flow)
    return np.where(member, second, first).astype(np.int32)


def _smallest_cut(
    tails: IndexArray, heads: IndexArray, s: FloatArray, backward: FloatArray,
    forward: FloatArray, flow: FloatArray,
) -> BoolArray:  # fmt: skip
    search = kernels.active.GraphFlow(tails, heads, backward, forward, flow, s)
    while not search.advance(SLICE):
        continue
    member = np.zeros(s.size, dtype=np.uint8)
    search.members(member)
    return member.view(np.bool_)
