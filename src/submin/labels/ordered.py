"""Exact answers where labels are ordered and the distance is convex: f(p - q), with f convex.

Element v has the binary variables [x_v > k], and an edge of weight w, with u and c from d alone,

    w d(p, q) = w u(p) + w u(q)
                + sum over k, k' of  w c(k' - k) / 2 where [p > k] and [q > k'] differ
    c(k' - k) = d(k + 1, k') + d(k, k' + 1) - d(k, k') - d(k + 1, k' + 1) >= 0

so that a minimum cut has the best of all labellings (Ishikawa 2003,
doi:10.1109/TPAMI.2003.1233908).  Of a grid it is a grid with one more axis, along which arcs of
infinite weight keep the order.  Where costs of elements are convex too, and c is 0 but at k = k',
the levels of a total variation are the answer, and no such graph is made (Hochbaum 2001,
doi:10.1145/384006.384008).

The flow t of an edge is a dual:  w u(p) + sum over k < p of t at its tail, and less at its head.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from submin import _checks
from submin._typing import FloatArray, IndexArray, WeightArray
from submin.labels.certificate import certificate
from submin.labels.distances import distance_matrix
from submin.labels.problem import (
    Dual,
    LabelProblem,
    Labels,
    PricedCut,
    checked_problem,
)
from submin.labels.result import LabelRecord, LabelResult
from submin.levels import Sampled, minimize_convex
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.solve.driver import Limits
from submin.terms import Cut, GridCut

MEMORY = 2e9
"""Bytes that a graph of all labels may take, unless another number is given."""
SMALL = 2e8
"""Bytes of a graph whose cut takes a second or so."""
NODE_BYTES, EDGE_BYTES = 64, 48
ROUNDING = 64 * 2.0**-53


class Steps(NamedTuple):
    """A convex distance: u of each label, and c / 2 of each k' - k at which it is not 0."""

    own: FloatArray
    crossing: dict[int, float]


def convex_steps(matrix: FloatArray) -> Steps | None:
    """Return a distance as steps, or None if it is no convex function of the difference.

    Examples
    --------
    >>> from submin.labels import Linear, Potts, Quadratic
    >>> convex_steps(Linear().matrix(4))
    Steps(own=array([0., 0., 0., 0.]), crossing={0: 1.0})
    >>> convex_steps(Quadratic().matrix(3)).crossing
    {0: 1.0, 1: 1.0, -1: 1.0}
    >>> convex_steps(Potts().matrix(3)) is None
    True
    """
    labels, from_first = len(matrix), matrix[0]
    numbers = np.arange(labels)
    if not np.array_equal(matrix, from_first[np.abs(numbers[:, None] - numbers)]):
        return None
    both = np.concatenate([from_first[:0:-1], from_first])
    bends = np.diff(both, 2)
    bends[np.abs(bends) <= ROUNDING * matrix.max()] = 0.0
    if (bends < 0.0).any():
        return None
    middle = bends.size // 2
    crossing = {0: 0.5 * float(bends[middle])} if bends.size and bends[middle] else {}
    for k in range(1, middle + 1):
        if bends[middle + k]:
            crossing |= {k: 0.5 * float(bends[middle + k]), -k: 0.5 * float(bends[middle - k])}
    rises = np.diff(from_first)
    for k in range(labels - 1):
        rises[k] -= sum(half for step, half in crossing.items() if 0 <= k + step < labels - 1)
    return Steps(np.concatenate([[0.0], np.cumsum(rises)]), crossing)


def ordered_steps(problem: LabelProblem) -> list[Steps] | None:
    """Return the distances of all cuts as steps, or None if an exact answer is not to be had."""
    if problem.groups or len(problem.prices) or problem.labels < 2:
        return None
    found = list[Steps]()
    for _, _, distance in problem.cuts:
        steps = convex_steps(distance_matrix("distance", distance, problem.labels))
        if steps is None:
            return None
        found.append(steps)
    return found


def graph_bytes(problem: LabelProblem, steps: list[Steps]) -> float:
    """Return about how much memory the graph of all labels takes."""
    levels = problem.labels - 1
    pairs = zip(problem.cuts, steps, strict=True)
    edges = sum(priced.cut.size * len(own.crossing) for priced, own in pairs)
    dual = 16.0 * problem.edges.tails.size * problem.width
    return levels * (NODE_BYTES * problem.n + EDGE_BYTES * (problem.n + edges)) + dual


def minimize_ordered(
    problem: LabelProblem,
    *,
    memory: float = MEMORY,
    time_limit: float | None = None,
    threads: int = 0,
) -> LabelResult:
    """Return the best of all labellings, where distances are convex functions of label differences.

    ``minimize_labels`` calls it by itself where the graph is small enough.

    Parameters
    ----------
    problem : LabelProblem
        Without groups and label costs.
    memory : float, optional
        Bytes that its graph may take, about.
    time_limit : float, optional
        Seconds; less than the best is returned when it is over, with its bound.
    threads : int, optional
        0: every core.

    Raises
    ------
    ValueError
        If a distance is not convex in the difference, or the graph would take more memory.

    Notes
    -----
    A maximum flow in a graph of labels · (elements + edges); those of a quadratic distance are
    labels^2 · edges.  With ``Linear`` distances and costs that are convex in the label, some ten or
    twenty minimum cuts of the elements alone.

    Examples
    --------
    >>> import submin as sm
    >>> costs = [[0.0, 4.0, 4.0], [1.0, 4.0, 0.0], [4.0, 0.0, 4.0]]
    >>> problem = sm.LabelProblem(costs, [sm.GridCut(3, 1.0)], sm.labels.Linear())
    >>> result = sm.labels.minimize_ordered(problem)
    >>> result.labels, result.value, result.status.name
    (array([0, 2, 1], dtype=int32), 3.0, 'OPTIMAL')
    """
    time_limit = Limits(time_limit=np.inf if time_limit is None else time_limit).time_limit
    memory, threads = _checks.number("memory", memory), _checks.threads(threads)
    steps = ordered_steps(checked_problem(problem))
    if steps is None:
        raise ValueError(
            "an exact answer needs two labels or more, distances that are convex functions of the "
            "label difference, as Linear() and Quadratic() without caps, and neither groups nor "
            "label costs; minimize_labels takes the others"
        )
    started = time.perf_counter()
    if is_total_variation(problem, steps):
        found = _by_levels(problem, steps, time_limit)
    else:
        needed = graph_bytes(problem, steps)
        if needed > memory:
            raise ValueError(
                f"the graph of all labels would take about {needed / 1e9:.1f} GB, and memory is "
                f"{memory / 1e9:.1f} GB; minimize_labels finds labels near the best without it"
            )
        found = _by_cut(problem, steps, time_limit, threads)
    value = problem.value(found.labels, threads)
    proved = certificate(problem, value, problem.bound(found.dual, threads))
    record = LabelRecord(0, time.perf_counter() - started, value, proved.lower_bound)
    status = proved.status(0.0, ROUNDING * problem.size)
    labels = found.labels.reshape(problem.shape)
    return LabelResult(labels, proved, status, found.dual, [record], found.interrupted)


class _Found(NamedTuple):
    """Labels, and what proves that none are better; unless the search was interrupted."""

    labels: Labels
    dual: Dual
    interrupted: bool


def is_small(problem: LabelProblem) -> bool:
    """Say whether there is an exact answer that comes soon."""
    steps = ordered_steps(problem)
    if steps is None:
        return False
    return is_total_variation(problem, steps) or graph_bytes(problem, steps) <= SMALL


def is_total_variation(problem: LabelProblem, steps: list[Steps]) -> bool:
    """Say whether all distances are linear, and all costs convex and finite."""
    if any(set(own.crossing) - {0} for own in steps):
        return False
    table = problem.costs
    if not np.isfinite(table).all():
        return False
    allowed = 16.0 * 2.0**-53 * np.max(np.abs(table), axis=0).astype(np.float64)
    rows = (table[k : k + 3].astype(np.float64) for k in range(problem.labels - 2))
    return all(bool(np.all(low + high - 2.0 * middle >= -allowed)) for low, middle, high in rows)


def _by_levels(problem: LabelProblem, steps: list[Steps], time_limit: float) -> _Found:
    """Solve a total variation with convex costs: a flow for each edge, alike between all labels."""
    cuts = [
        _scaled(priced.cut, own.crossing.get(0, 0.0))
        for priced, own in zip(problem.cuts, steps, strict=True)
    ]
    values, costs = np.arange(float(problem.labels)), problem.costs.astype(np.float64)
    found = minimize_convex(
        Problem(np.zeros(problem.n), cuts),
        Sampled(values, costs),
        time_limit=None if np.isinf(time_limit) else time_limit,
    )
    flow = np.concatenate([np.zeros(0), *found.dual])
    dual = _empty_dual(problem)
    for label in range(problem.labels):
        dual.at_tail[:, label], dual.at_head[:, label] = label * flow, -label * flow
    labels = np.rint(found.x).astype(np.int32)
    return _Found(labels, dual, not found.finished and np.isinf(time_limit))


def _scaled(cut: GridCut | Cut, scale: float) -> GridCut | Cut:
    """Return a cut without edges that join an element to itself, with all weights scaled."""
    tails, heads, weights = _edges_of(cut)
    if scale == 1.0 and weights.size == cut.size:
        return cut
    return Cut(tails, heads, scale * weights)


def _edges_of(cut: GridCut | Cut) -> tuple[IndexArray, IndexArray, FloatArray]:
    tails, heads = cut.edge_list()
    weights, apart = cut.weights_by_edge()[0], tails != heads
    if apart.all():
        return tails, heads, weights
    return tails[apart], heads[apart], weights[apart]


def _empty_dual(problem: LabelProblem) -> Dual:
    shape = (problem.edges.tails.size, problem.width)
    return Dual(np.zeros(shape), np.zeros(shape))


class Crossing(NamedTuple):
    """The edges of one cut between levels k and k + step, in the order of levels and of edges."""

    edges: slice
    step: int
    flow: FloatArray


def _by_cut(problem: LabelProblem, steps: list[Steps], time_limit: float, threads: int) -> _Found:
    """Solve by one minimum cut of the graph of all labels."""
    levels, n = problem.labels - 1, problem.n
    terms = _terms(problem, steps)
    unary = _rises(problem, steps).ravel()
    limit = None if np.isinf(time_limit) else time_limit
    found = minimize(Problem(unary, terms), time_limit=limit, threads=threads)
    above = found.minimizer.reshape(levels, n)
    labels = np.zeros(n, dtype=np.int32)
    for k in range(levels):  # what a stopped search left out of order counts for nothing
        labels[above[k] & (labels == k)] = k + 1
    forbidden = np.isinf(problem.costs[labels, np.arange(n)])
    labels[forbidden] = problem.cheapest[forbidden]
    dual = _dual_of(problem, steps, _crossings(problem, steps, found.dual))
    return _Found(labels, dual, found.interrupted)


def _rises(problem: LabelProblem, steps: list[Steps]) -> FloatArray:
    """Return what each label costs more than the one before, with what edges cost by themselves.

    First and last labels that are forbidden have costs that no labelling can make up for; others
    are ruled out along the label axis.
    """
    levels, n = problem.labels - 1, problem.n
    finite = np.isfinite(problem.costs)
    costs = np.where(finite, problem.costs, problem.least_costs).astype(np.float64)
    rises = np.diff(costs, axis=0)
    most = 1.0 + 2.0 * np.max(np.abs(costs), axis=0)
    for (_, cut, distance), own in zip(problem.cuts, steps, strict=True):
        tails, heads, weights = _edges_of(cut)
        around = np.bincount(tails, weights, n) + np.bincount(heads, weights, n)
        most += 2.0 * around * distance_matrix("distance", distance, problem.labels).max()
        for k, rise in enumerate(np.diff(own.own)):
            if rise:
                rises[k] += rise * around
    rises[0] -= np.where(finite[0], 0.0, most)
    rises[levels - 1] += np.where(finite[levels], 0.0, most)
    return rises


def _terms(problem: LabelProblem, steps: list[Steps]) -> list[GridCut | Cut]:
    """Return the cuts between levels, with the label axis: a grid of its own, or the first term."""
    levels = problem.labels - 1
    grid = _plain_grid(problem)
    between, forward = [(1,) + (0,) * len(problem.shape)], _ruled_out(problem)
    offsets, weights, reverse = list[tuple[int, ...]](), list[WeightArray](), list[WeightArray]()
    if levels > 1:
        offsets, weights, reverse = between, [forward], [np.array(np.inf)]
    if grid is None:
        cuts = [_between_levels(problem, *pair) for pair in zip(problem.cuts, steps, strict=True)]
        return [*_grid((levels, *problem.shape), weights, reverse, offsets), *cuts]
    for step, half in steps[0].crossing.items():
        for offset, overlap, segment in zip(
            grid.offsets, grid.overlaps, grid.segments, strict=True
        ):
            own, extent = half * segment.forward, (max(levels - abs(step), 0), *overlap)
            if 0 in overlap:
                own = np.zeros(extent)
            elif own.size > 1:
                own = np.ascontiguousarray(np.broadcast_to(own.reshape(overlap), extent))
            offsets.append((step, *offset))
            weights.append(own if own.size != 1 or own.ndim > 1 else np.array(own[0]))
            reverse.append(weights[-1])
    return [*_grid((levels, *problem.shape), weights, reverse, offsets)]


def _grid(
    shape: tuple[int, ...],
    weights: list[WeightArray],
    reverse: list[WeightArray],
    offsets: list[tuple[int, ...]],
) -> list[GridCut]:
    """Return a cut of a grid, and none without edges."""
    if not offsets:
        return []
    return [GridCut(shape, weights, reverse_weights=reverse, offsets=offsets)]


def _plain_grid(problem: LabelProblem) -> GridCut | None:
    """Return the grid of all edges, if it is one without rings and holes."""
    cut = problem.cuts[0].cut if len(problem.cuts) == 1 else None
    if not isinstance(cut, GridCut) or any(cut.periodic) or cut.cells is not None:
        return None
    return cut


def _ruled_out(problem: LabelProblem) -> FloatArray:
    """Return the weights of arcs up the label axis: infinite where a label is forbidden."""
    forbidden = np.isinf(problem.costs[1:-1])
    if not forbidden.any():
        return np.array(0.0)
    return np.where(forbidden, np.inf, 0.0).reshape(-1, *problem.shape)


def _between_levels(problem: LabelProblem, priced: PricedCut, steps: Steps) -> Cut:
    """Return the edges of a cut between all levels."""
    tails, heads, weights = _edges_of(priced.cut)
    parts = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0)]
    for step, half in steps.crossing.items():
        for k in _levels(problem, step):
            parts[0].append(tails + np.int32(k * problem.n))
            parts[1].append(heads + np.int32((k + step) * problem.n))
            parts[2].append(half * weights)
    ends = [np.concatenate(part) for part in parts]
    return Cut(ends[0], ends[1], ends[2])


def _levels(problem: LabelProblem, step: int) -> range:
    """Return the levels of tails whose heads are a step further."""
    levels = problem.labels - 1
    return range(max(0, -step), min(levels, levels - step))


def _crossings(
    problem: LabelProblem, steps: list[Steps], dual: tuple[FloatArray, ...]
) -> Iterator[Crossing]:
    """Yield the flows of edges between levels."""
    grid, skipped = _plain_grid(problem), max(problem.labels - 2, 0) * problem.n
    flows = [dual[0][skipped:]] if grid is not None else list(dual[int(problem.labels > 2) :])
    first = 0
    for (_, cut, _), own, flow in zip(problem.cuts, steps, flows, strict=True):
        count = _edges_of(cut)[0].size
        sizes = [count] if grid is None else [prod(overlap) for overlap in grid.overlaps]
        place = 0
        for step in own.crossing:
            start, levels = first, len(_levels(problem, step))
            for size in sizes:
                edges = slice(start, start + size)
                yield Crossing(
                    edges, step, flow[place : place + levels * size].reshape(levels, size)
                )
                place, start = place + levels * size, start + size
        first += count


def _dual_of(problem: LabelProblem, steps: list[Steps], crossings: Iterator[Crossing]) -> Dual:
    """Return the dual of flows between levels."""
    dual, edges, first = _empty_dual(problem), problem.edges, 0
    for own, step, flow in crossings:
        for row, k in zip(flow, _levels(problem, step), strict=True):
            dual.at_tail[own, k + 1] += row
            dual.at_head[own, k + step + 1] -= row
    for part in (dual.at_tail, dual.at_head):
        np.cumsum(part, axis=1, out=part)
    for (_, cut, _), steps_of_cut in zip(problem.cuts, steps, strict=True):
        own = slice(first, first + _edges_of(cut)[0].size)
        alone = edges.weights[own, None] * steps_of_cut.own
        dual.at_tail[own, : problem.labels] += alone
        dual.at_head[own, : problem.labels] += alone
        first = own.stop
    return dual
