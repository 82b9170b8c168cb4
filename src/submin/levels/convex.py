r"""Convex costs beyond squares: the x of least f(x) + phi(x), phi a fidelity, with a proof.

    parts <- all elements, with the range of the fidelity
    In each round, for every part V:
        lam <- where the slopes of phi on V and the costs of V sum to 0, between its ends
        A <- the smallest minimum cut of V at the costs plus the right slopes at lam:  x > lam on A
        B <- the largest one of V \ A at the costs plus the left slopes:               x = lam on B
        A and V \ A \ B are parts of the next round, above and below lam; the edges between parts
        are full, and their flow is a cost from now on

The parts of a round are cut together.  {x > t} is the smallest minimiser of F + phi'(t), for every
t (Hochbaum 2001, doi:10.1145/384006.384008), so that x is exact where lam is: at kinks (every x of
``Absolute``, ``Quantile`` and ``Sampled``), and up to rounding elsewhere.

For any dual y with s = u + sum_i y_i, phi* the conjugate on the range of the fidelity,

    f(x) + phi(x) >= -sum_v phi*_v(-s_v)        for every x in the range,

and the gap is the sum of f_i(x) - <y_i, x> and phi_v(x_v) + phi*_v(-s_v) + s_v x_v >= 0.  For a
dual that is outside by delta, and whose sum over V is short by delta' - delta
(``proximal_certificate``), x up to a >= 0 and down to -b <= 0 cost delta a + delta' b more.

The conjugate needs no more than a point b near the best: phi*_v(t) <= t b - phi_v(b) + what t is
outside the slopes at b, times the way to that end of the range.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from submin import kernels
from submin._sums import SMALLEST, UNIT_ROUNDOFF, compensated_sum, sum_error
from submin._typing import BoolArray, Dual, FloatArray, IndexArray, WeightArray
from submin.levels.fidelity import Fidelity
from submin.model.problem import Problem
from submin.solve.driver import Limits
from submin.solve.layout import Layout
from submin.solvers.flows.network import FlowNetwork, refuse_others

if TYPE_CHECKING:
    from submin.kernels.flows import GraphFlow

Nodes = npt.NDArray[np.intp]

SLICE = 1_000_000
"""Node visits between two looks at the clock."""
MOST_HALVINGS = 200
"""Of an interval, until its ends are neighbours in floating point or no further apart than that."""


@dataclass(frozen=True, eq=False, repr=False)
class ConvexResult:
    """The x of least f(x) + phi(x).

    Attributes
    ----------
    x : float array, the problem's shape
    value : float
        f(x) + phi(x), with the problem's constant.
    gap : float
        No x in the range of the fidelity has a value smaller by more than this; it counts rounding
        errors, but for those of `value` itself.
    lower_bound : float
        No x in the range has a smaller value.  Rounded down.
    dual : tuple of float arrays
        One for each term, which proves it.
    rounds : int
        Of cuts.
    finished : bool
        Whether all parts are final; a time limit or Ctrl-C comes first otherwise, and x is what is
        known by then.
    """

    x: FloatArray
    value: float
    gap: float
    lower_bound: float
    dual: tuple[FloatArray, ...]
    rounds: int
    finished: bool

    def __repr__(self) -> str:
        return f"<ConvexResult value {self.value:.12g}, gap {self.gap:.3g}, {self.rounds} rounds>"


def minimize_convex(
    problem: Problem, fidelity: Fidelity, *, time_limit: float | None = None
) -> ConvexResult:
    """Minimise f(x) + phi(x), f the Lovász extension of F and phi a sum of convex costs.

    Parameters
    ----------
    problem : Problem
        Of cuts, and of terms that are cuts with a few auxiliary nodes (those of ``MaxFlow``),
        without hard constraints.  Its unary is a linear cost beside phi, and 0 as a rule: that of
        ``tv_problem``, or -b as ``prox`` has it, already holds the squares.
    fidelity : Fidelity
        ``Absolute``, ``Quantile``, ``Huber``, ``Poisson``, ``Squares`` or ``Sampled`` of
        ``submin.levels``, or one of your own, of the problem's shape; x is in its range.
    time_limit : float, optional
        Seconds.

    Returns
    -------
    ConvexResult

    Raises
    ------
    ValueError
        If the shapes differ, or the problem has hard constraints.
    TypeError
        If the fidelity is no ``Fidelity``, or a term is neither a cut nor one with a few auxiliary
        nodes.

    Notes
    -----
    Some ten to twenty rounds of two cuts.  ``prox`` is faster for squares.

    Examples
    --------
    The median of three data that belong together, whatever the outlier:

    >>> import submin as sm
    >>> chain = sm.Problem([0.0, 0.0, 0.0], [sm.GridCut(3, 2.0)])
    >>> sm.minimize_convex(chain, sm.levels.Absolute([1.0, 2.0, 100.0])).x
    array([2., 2., 2.])
    """
    layout = Layout(problem)
    limits = Limits(time_limit=np.inf if time_limit is None else time_limit)
    refuse_others(problem.terms, "minimize_convex")
    if not isinstance(fidelity, Fidelity):
        raise TypeError(
            f"fidelity must be one of submin.levels, such as Absolute(data), and not a "
            f"{type(fidelity).__name__}"
        )
    if fidelity.shape != problem.shape:
        raise ValueError(
            f"fidelity has the shape {fidelity.shape}, but the problem has {problem.shape}"
        )
    if problem.has_forced:
        raise ValueError("the problem has hard constraints: x would be infinite there")
    deadline = time.perf_counter() + limits.time_limit
    division = _Division(layout, fidelity)
    rounds = 0
    try:
        while division.open.any() and time.perf_counter() < deadline:
            division.divide(deadline)
            rounds += 1
    except (KeyboardInterrupt, _OutOfTime):  # the flow and x are valid at every step
        pass
    dual = division.dual()
    value, gap, bound = _certified(layout, fidelity, division.x, dual)
    x = division.x.reshape(problem.shape)
    return ConvexResult(x, value, gap, bound, tuple(dual), rounds, not division.open.any())


class _OutOfTime(Exception):
    """The time limit came within a round."""


class Inside(NamedTuple):
    """The edges within some nodes: their numbers, ends, bounds and flow, and s of the nodes."""

    numbers: Nodes
    ends: tuple[IndexArray, IndexArray]
    limits: tuple[FloatArray, FloatArray]
    flow: FloatArray
    s: FloatArray


class _Division:
    """The parts of the ground set, by number, with the level or the range of each.

    Auxiliary nodes have no cost of their own.
    """

    def __init__(self, layout: Layout, fidelity: Fidelity) -> None:
        self.fidelity, self.n = fidelity, layout.n
        self.network = FlowNetwork(layout.problem.terms, layout.unary, layout.feasible_start())
        self.costs = self.network.costs
        count = self.costs.size
        self.part, self.open = np.zeros(count, dtype=np.intp), np.ones(count, dtype=np.bool_)
        self.low, self.high = np.array([fidelity.lowest]), np.array([fidelity.highest])
        self.level = np.full(count, 0.5 * (fidelity.lowest + fidelity.highest))
        edges = self.network.edges
        self.inner = np.flatnonzero(edges.tails != edges.heads)
        self.backward = np.broadcast_to(edges.backward, self.network.flow.shape)
        self.forward = np.broadcast_to(edges.forward, self.network.flow.shape)

    @property
    def x(self) -> FloatArray:
        """The level of each element."""
        return self.level[: self.n]

    def dual(self) -> Dual:
        """Return the dual of the flow."""
        return self.network.dual(not self.open.any())

    def divide(self, deadline: float) -> None:
        """Do one round."""
        nodes = np.flatnonzero(self.open)
        numbers, part = np.unique(self.part[nodes], return_inverse=True)
        low, high = self.low[numbers], self.high[numbers]
        s = self._imbalance()[nodes]
        levels = _levels(self.fidelity, nodes, self.n, part, low, high, s)
        left, right = self._slopes(nodes, levels[part])
        above = self._cut(nodes, part, right, False, deadline)
        self._part_off(nodes[above])
        at_level = self._at_level(nodes, part, left, right, above, deadline)
        stuck = _whole(part, above) | _whole(part, ~above & ~at_level)
        above, at_level = above & ~stuck, at_level | stuck
        middle = nodes[at_level]
        self._part_off(middle)
        self._renumber(nodes, part, above, levels, low, high)
        self.level[middle] = levels[part[at_level]]
        self._balance(middle, part[at_level], left[at_level], right[at_level], deadline)
        self.open[middle] = False

    def _at_level(
        self, nodes: Nodes, part: Nodes, left: FloatArray, right: FloatArray,
        above: BoolArray, deadline: float,
    ) -> BoolArray:  # fmt: skip
        """Return who stays at the level: where no slope jumps there, all of a part or nobody."""
        jumps = (np.bincount(part, left < right) > 0.0)[part]
        found: BoolArray = ~jumps & (np.bincount(part, above) == 0.0)[part]
        rest = np.flatnonzero(jumps & ~above)
        if rest.size:
            found[rest] = self._cut(nodes[rest], part[rest], left[rest], True, deadline)
        return found

    def _balance(
        self, nodes: Nodes, part: Nodes, left: FloatArray, right: FloatArray, deadline: float
    ) -> None:
        """Find a flow with -s between the slopes, all of which are at a level.

        An edge from each node to an anchor of its part carries -s, within the slopes; the anchor
        wants what all of them have.
        """
        if not (left < right).any():
            return
        inner, ends, limits, flow, s = self._inside(nodes)
        part = np.unique(part, return_inverse=True)[1]
        held = np.clip(-s, left, right)
        anchors = -np.bincount(part, s) - np.bincount(part, held)
        own = np.concatenate([s + held, anchors])
        tails = np.concatenate([ends[0], np.arange(nodes.size, dtype=np.int32)])
        heads = np.concatenate([ends[1], (nodes.size + part).astype(np.int32)])
        bounds = [np.concatenate(pair) for pair in zip(limits, (-left, right), strict=True)]
        flows = np.concatenate([flow, held])
        search = kernels.active.GraphFlow(tails, heads, bounds[0], bounds[1], flows, own, True)
        finished = _searched(search, deadline)
        self.network.flow[inner] = flows[: flow.size]
        if not finished:
            raise _OutOfTime

    def _renumber(
        self, nodes: Nodes, part: Nodes, above: BoolArray, levels: FloatArray,
        low: FloatArray, high: FloatArray,
    ) -> None:  # fmt: skip
        """Give what is above the level of part k the number 2 k + 1, and what is below 2 k."""
        self.part[nodes] = 2 * part + above
        self.low = np.stack([low, levels], axis=1).ravel()
        self.high = np.stack([levels, high], axis=1).ravel()
        self.level[nodes] = 0.5 * (self.low[self.part[nodes]] + self.high[self.part[nodes]])

    def _imbalance(self) -> FloatArray:
        """Return the costs with the flow of inner edges."""
        edges, s = self.network.edges, self.costs.copy()
        inner = self.inner
        kernels.active.add_net_flow(
            edges.tails[inner], edges.heads[inner], self.network.flow[inner], s
        )
        return s

    def _slopes(self, nodes: Nodes, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the left and right slopes at x; those of auxiliaries are 0.

        None is larger than all weights and costs, which decides as much.  Where weights are
        infinite, slopes decide against each other: only infinite ones are made finite.
        """
        left, right = _slopes(self.fidelity, nodes, self.n, x)
        most = 1.0 + 2.0 * self._size(self.backward, self.forward, self.costs)
        if np.isinf(self.backward).any() or np.isinf(self.forward).any():
            most += 2.0 * self._size(left, right)
        return np.clip(left, -most, most), np.clip(right, -most, most)

    @staticmethod
    def _size(*values: WeightArray) -> float:
        """Return the sum of what is finite, without signs."""
        return float(sum(np.sum(np.abs(part), where=np.isfinite(part)) for part in values))

    def _cut(
        self, nodes: Nodes, part: Nodes, slopes: FloatArray, largest: bool, deadline: float
    ) -> BoolArray:
        """Cut all parts of some nodes at once; return the members, in place of the nodes.

        Parts whose gain is no more than rounding has made stay whole.
        """
        inner, ends, limits, flow, own = self._inside(nodes)
        rounding = 8.0 * UNIT_ROUNDOFF * np.bincount(part, np.abs(own) + np.abs(slopes))
        own += slopes
        search = kernels.active.GraphFlow(*ends, *limits, flow, own, True)
        finished = _searched(search, deadline)
        self.network.flow[inner] = flow
        if not finished:
            raise _OutOfTime
        member = np.zeros(nodes.size, dtype=np.uint8)
        search.members(member, largest)
        members = member.view(np.bool_)
        # What is left is excess in the smallest set, and deficits outside the largest.
        left = np.bincount(part, np.maximum(own if largest else -own, 0.0))
        small = (left <= rounding)[part]
        return np.where(small, largest, members)

    def _inside(self, nodes: Nodes) -> Inside:
        """Return the inner edges of some nodes, with ends that are places in them, and s."""
        edges, place = self.network.edges, np.full(self.costs.size, -1, dtype=np.int32)
        place[nodes] = np.arange(nodes.size, dtype=np.int32)
        inner = self.inner[place[edges.tails[self.inner]] >= 0]
        return Inside(
            inner,
            (place[edges.tails[inner]], place[edges.heads[inner]]),
            (np.ascontiguousarray(self.backward[inner]), np.ascontiguousarray(self.forward[inner])),
            self.network.flow[inner],
            self._imbalance()[nodes],
        )

    def _part_off(self, nodes: Nodes) -> None:
        """Take nodes out of their parts: the flow across is a cost from now on."""
        if not nodes.size:
            return
        edges, apart = self.network.edges, np.zeros(self.costs.size, dtype=np.bool_)
        apart[nodes] = True
        crossing = apart[edges.tails[self.inner]] != apart[edges.heads[self.inner]]
        across = self.inner[crossing]
        kernels.active.add_net_flow(
            edges.tails[across], edges.heads[across], self.network.flow[across], self.costs
        )
        self.inner = self.inner[~crossing]


def _searched(search: GraphFlow, deadline: float) -> bool:
    """Search for a maximum flow; say whether it is finished before the deadline."""
    while time.perf_counter() < deadline:
        if search.advance(SLICE):
            return True
    return False


def _whole(part: Nodes, chosen: BoolArray) -> BoolArray:
    """Return the members of parts that are chosen as a whole, which only rounding does."""
    found: BoolArray = (np.bincount(part, ~chosen) == 0.0)[part]
    return found


def _slopes(
    fidelity: Fidelity, nodes: Nodes, n: int, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the left and right slopes at x, 0 for nodes from n on."""
    elements = nodes < n
    both = np.zeros((2, nodes.size))
    both[:, elements] = fidelity.slopes(x[elements], nodes[elements])
    return both[0], both[1]


def _levels(
    fidelity: Fidelity, nodes: Nodes, n: int, part: Nodes,
    low: FloatArray, high: FloatArray, s: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return for each part where its slopes and costs sum to 0, or an end of its range.

    First the interval between two kinks, by halving their list; then, in it, where a line is 0, or
    by halving.
    """
    count, kinks = low.size, fidelity.kinks
    target = -np.bincount(part, s, minlength=count)

    def sums(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        left, right = _slopes(fidelity, nodes, n, x[part])
        at_left, at_right = (np.bincount(part, own, minlength=count) for own in (left, right))
        return at_left.astype(np.float64), at_right.astype(np.float64)

    first = np.searchsorted(kinks, low, side="right") - 1
    last = np.searchsorted(kinks, high, side="left")
    # The first kink from which on the right slopes suffice, beyond `first`.
    while (last - first > 1).any():
        middle = (first + last) // 2
        enough = sums(kinks[middle])[1] >= target
        narrow = last - first > 1
        first, last = (
            np.where(narrow & ~enough, middle, first),
            np.where(narrow & enough, middle, last),
        )
    a, b = np.maximum(kinks[np.maximum(first, 0)], low), np.minimum(kinks[last], high)
    at_a, at_b = sums(a)[1], sums(b)[0]
    inside = (at_a < target) & (target < at_b)
    if fidelity.linear:
        share = np.divide(target - at_a, at_b - at_a, out=np.ones(count), where=inside)
        root = np.clip(a + share * (b - a), a, b)
    else:
        root = _halved(a, b, lambda x: sums(x)[1] >= target)
    return np.where(inside, root, np.where(target <= at_a, a, b))


def _halved(a: FloatArray, b: FloatArray, enough: Callable[[FloatArray], BoolArray]) -> FloatArray:
    """Return the points from which on there is enough, by halving."""
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (a + b)
        if ((middle <= a) | (middle >= b)).all():
            break
        reached = enough(middle)
        a, b = np.where(reached, a, middle), np.where(reached, middle, b)
    return b


def _certified(
    layout: Layout, fidelity: Fidelity, x: FloatArray, dual: Dual
) -> tuple[float, float, float]:
    """Return f(x) + phi(x), the gap and a lower bound, which count rounding errors."""
    problem, s = layout.problem, layout.unary.copy()
    size, depth = float(np.sum(np.abs(s))), 3
    slack = slack_error = outside = short = 0.0
    for term, part in zip(problem.terms, dual, strict=True):
        own, own_error = term.slackness(part, x)
        slack, slack_error = slack + own, slack_error + own_error
        (excess, excess_error), own_size = term.inspect(part, s)
        outside, size, depth = outside + excess + excess_error, size + own_size, depth + term.depth
        shortage, shortage_error = term.shortage(part)
        short += shortage + shortage_error
    s_error = 1.01 * (depth + len(dual)) * UNIT_ROUNDOFF * size
    most = max(abs(fidelity.lowest), abs(fidelity.highest))
    penalty = outside * max(0.0, fidelity.highest)
    penalty += max(0.0, outside + short) * max(0.0, -fidelity.lowest) + 2.0 * s_error * most
    penalty += 16.0 * SMALLEST * x.size
    apart, costs = _apart(fidelity, x, s)
    parts = np.concatenate([[problem.constant, slack], costs, s * x])
    errors = slack_error + 8.0 * UNIT_ROUNDOFF * abs(slack) + float(np.sum(fidelity.errors(x)))
    value_error = errors + s_error * most + sum_error(parts)
    value_error += UNIT_ROUNDOFF * float(np.sum(np.abs(s * x))) + SMALLEST * x.size
    value = compensated_sum(parts)
    gap = (slack + slack_error + apart + penalty) * (1.0 + 16.0 * UNIT_ROUNDOFF)
    gap += 32.0 * UNIT_ROUNDOFF * abs(slack)
    gap = np.inf if np.isnan(gap) else max(0.0, float(gap))
    bound = value - value_error - gap
    bound -= 4.0 * UNIT_ROUNDOFF * (abs(value) + abs(bound)) if np.isfinite(bound) else np.inf
    return float(value), gap, float(np.nextafter(bound, -np.inf))


def _apart(fidelity: Fidelity, x: FloatArray, s: FloatArray) -> tuple[float, FloatArray]:
    """Return a bound on sum_v phi_v(x_v) + phi*_v(-s_v) + s_v x_v, and the costs phi_v(x_v)."""
    best = fidelity.best(-s)
    costs, ends = fidelity.costs(x), fidelity.costs(best)
    own = costs - ends + s * (x - best)
    left, right = fidelity.slopes(best, np.arange(x.size))
    slope = np.clip(-s, left, right)
    off = -s - slope
    room = np.where(off > 0.0, fidelity.highest - best, best - fidelity.lowest)
    rounding = 8.0 * UNIT_ROUNDOFF * (np.abs(s) + np.abs(slope))
    lost = np.where(room > 0.0, np.abs(off), 0.0) * room
    lost += (rounding + 8.0 * SMALLEST) * (fidelity.highest - fidelity.lowest)
    sizes = np.abs(costs) + np.abs(ends) + np.abs(s) * (np.abs(x) + np.abs(best)) + lost
    error = float(np.sum(fidelity.errors(x) + fidelity.errors(best) + 16.0 * UNIT_ROUNDOFF * sizes))
    parts = own + lost
    return compensated_sum(parts) + sum_error(parts) + error, costs
