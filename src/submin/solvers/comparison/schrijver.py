"""Schrijver's combinatorial algorithm: an exact minimiser from greedy vertices of linear orders.

    Schrijver 2000, doi:10.1006/jctb.2000.1989

    x <- sum_i lambda_i b_i, a convex combination of the greedy vertices b_i of linear orders
    Repeat:
        P <- {v : x(v) > 0},  N <- {v : x(v) < 0}
        d(v) <- distance from P to v in the graph of all arcs (u, v) with u before v in some order
        If P reaches no element of N: return S <- the elements that reach N
        t <- the reachable element of N of largest d, the last of them
        s <- the element with an arc (s, t) and d(s) = d(t) - 1, the last of them
        i <- the order with the most elements in (s, t], those after s up to t
        For each u in (s, t]: b_i^u <- the vertex of order i with u moved to just before s
        Write b_i + delta (e_t - e_s) as a convex combination of the b_i^u, for some delta >= 0
        Move x along lambda_i delta (e_t - e_s) up to x(t) = 0, in terms of b_i and the b_i^u
        Reduce the combination to at most n vertices by linear algebra

S is an initial segment of every order, so that F(S) = x(S) = sum_v min(0, x(v)), the minimum.
The iterations are O(n^6), each with at most n greedy vertices and O(n^3) for the reduction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from submin._orders import ranks
from submin._sums import UNIT_ROUNDOFF
from submin._typing import BoolArray, Dual, FloatArray, IndexArray
from submin.solve.layout import Layout
from submin.solvers.combination import Combination
from submin.solvers.solver import refuse_precedences

MOST_ELEMENTS = 200
"""Elements that are accepted: each iteration holds up to 2 n vertices of n numbers."""


@dataclass
class SchrijverState:
    """The combination, and the rank of each element in the order of each vertex, shape (m, n)."""

    vertices: Combination
    orders: IndexArray
    vertices_made: int = 1
    done: bool = False
    members: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


class Exchange(NamedTuple):
    """The order i to change, and the elements s and t between which x moves."""

    order: int
    s: int
    t: int


@dataclass(frozen=True)
class Schrijver:
    """Schrijver's algorithm on the whole problem, for up to 200 elements.

    Notes
    -----
    The costs may be any numbers: only signs of x and comparisons of ranks decide.  In floating
    point x(v) counts as 0 up to 4 n units in the last place of the largest marginal cost, which is
    how exactly x is known as a sum of vertices; the certificate closes up to rounding, and exactly
    on integer data.  It is a reference for arbitrary functions of few elements, and slow: about
    n^4 iterations on random problems (the guide's page of measurements has seconds by size).

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.Schrijver()).value
    0.0
    """

    def start(self, layout: Layout, dual: Dual) -> SchrijverState:
        """Start from the vertex of the order of x = -s of a feasible dual.

        Raises
        ------
        TypeError
            If there are more than 200 elements, or a term has infinite weights.
        """
        refuse_precedences(layout, self)
        if layout.n > MOST_ELEMENTS:
            raise TypeError(
                f"Schrijver takes at most {MOST_ELEMENTS} elements, but the problem has "
                f"{layout.n}; MinimumNormPoint and AcceleratedSweeps take any number"
            )
        order = ranks(-layout.total(dual))
        return SchrijverState(Combination.of(layout, _vertex(layout, order)), order[None])

    def step(self, layout: Layout, state: SchrijverState) -> int:
        """Do one iteration, counted as one oracle call for each block."""
        points, _, weights = state.vertices
        x = weights @ points
        tolerance = 4.0 * layout.n * UNIT_ROUNDOFF * float(np.max(np.abs(points), initial=0.0))
        distances = _distances(state.orders, x > tolerance)
        exchange = _exchange(state.orders, distances, x < -tolerance)
        if exchange is None:
            state.members, state.done = _ancestors(state.orders, x < -tolerance), True
        else:
            _exchanged(layout, state, exchange, float(x[exchange.t]))
            _reduce(layout.n, state)
        return layout.r

    def iterate(self, layout: Layout, state: SchrijverState) -> tuple[Dual, FloatArray]:
        """Return the dual that the vertices combine to, and its s."""
        dual = state.vertices.dual(layout)
        return dual, layout.total(dual)

    def done(self, state: SchrijverState) -> bool:
        """Say whether no element with x > 0 reaches one with x < 0."""
        return state.done

    def minimizer(self, state: SchrijverState) -> BoolArray:
        """Return a minimiser."""
        return state.members


def _vertex(layout: Layout, order: IndexArray) -> Dual:
    return layout.greedy_vertex(-order.astype(np.float64))


def _successors(orders: IndexArray, members: BoolArray) -> BoolArray:
    """Return the elements that come after some member in some order, O(m n)."""
    after: BoolArray = np.any(orders > orders[:, members].min(axis=1, keepdims=True), axis=0)
    return after


def _distances(orders: IndexArray, sources: BoolArray) -> IndexArray:
    """Return the length of a shortest path to each element, and -1 where there is none."""
    distances = np.where(sources, 0, -1).astype(np.int32)
    level, reached = 0, sources.any()
    while reached:
        level += 1
        new = _successors(orders, distances >= 0) & (distances < 0)
        distances[new] = level
        reached = new.any()
    return distances


def _ancestors(orders: IndexArray, members: BoolArray) -> BoolArray:
    """Return the members and all elements from which there is a path to one."""
    return _distances(-orders, members) >= 0


def _exchange(orders: IndexArray, distances: IndexArray, negative: BoolArray) -> Exchange | None:
    """Choose t, s and the order, or None if no negative element is reachable."""
    reachable = np.flatnonzero(negative & (distances >= 0))
    if not reachable.size:
        return None
    farthest = distances[reachable]
    t = int(reachable[farthest == farthest.max()][-1])
    before = np.any(orders < orders[:, t, None], axis=0)
    s = int(np.flatnonzero(before & (distances == distances[t] - 1))[-1])
    return Exchange(int(np.argmax(orders[:, t] - orders[:, s])), s, t)


def _exchanged(layout: Layout, state: SchrijverState, exchange: Exchange, x_t: float) -> None:
    """Replace a vertex, in whole or in part, by those with one element of (s, t] moved ahead."""
    order = state.orders[exchange.order]
    between = (order > order[exchange.s]) & (order <= order[exchange.t])
    moved = np.flatnonzero(between)[np.argsort(order[between])]
    orders = np.array([_moved(order, u, exchange.s) for u in moved.tolist()])
    vertices = state.vertices.extended(layout, [_vertex(layout, new) for new in orders])
    weight, first = float(vertices.weights[exchange.order]), state.vertices.weights.size
    state.vertices_made += moved.size
    differences = vertices.points[first:, moved] - vertices.points[exchange.order, moved]
    shares, delta = _combined(differences)
    part = min(weight, -x_t / delta) if delta > 0.0 else weight
    vertices.weights[exchange.order] = weight - part
    vertices.weights[first:] = part * shares
    state.vertices, state.orders = vertices, np.concatenate([state.orders, orders])


def _moved(order: IndexArray, u: int, s: int) -> IndexArray:
    """Return the order with u moved to just before s, where it comes after s."""
    new = order.copy()
    new[(order >= order[s]) & (order < order[u])] += 1
    new[u] = order[s]
    return new


def _combined(differences: FloatArray) -> tuple[FloatArray, float]:
    """Return convex weights whose combination of rows is (0, ..., 0, delta), and delta.

    Row j is b^u - b on (s, t] for the j-th element u: at most 0 before place j, at least 0 there,
    and 0 after it: substitution from the last place on needs no subtraction.  A row that is 0 at
    its place is 0 everywhere: then it alone is the answer, and delta is 0.
    """
    gains, shares = np.diagonal(differences), np.zeros(len(differences))
    rounding = 8.0 * UNIT_ROUNDOFF * float(np.max(np.abs(differences)))
    if np.any(gains <= rounding):
        shares[np.argmin(gains)] = 1.0
        return shares, 0.0
    shares[-1] = 1.0
    for place in reversed(range(gains.size - 1)):
        shares[place] = max(0.0, -float(shares @ differences[:, place]) / float(gains[place]))
        shares /= shares.sum()
    return shares, float(shares[-1] * gains[-1])


def _reduce(n: int, state: SchrijverState) -> None:
    """Drop vertices of weight 0, and others by linear algebra while there are more than n.

    More than n points of B(F) are affinely dependent, as all have the same sum: the weights move
    along a dependency until one is 0 (Carathéodory), which is then eliminated from the others.
    """
    stay = state.vertices.weights > 0.0
    points, _, weights = vertices = Combination(*(part[stay] for part in state.vertices))
    dependencies = _dependencies(points) if weights.size > n else points[:0]
    while len(dependencies):
        first, dependencies = dependencies[0], dependencies[1:]
        first = first if first.max() >= -first.min() else -first
        falls = first > 1e-13 * first.max()
        steps = np.where(falls, weights / np.where(falls, first, 1.0), np.inf)
        out = int(np.argmin(steps))
        weights = np.maximum(weights - steps[out] * first, 0.0)
        weights[out] = 0.0
        dependencies = dependencies - np.outer(dependencies[:, out] / first[out], first)
        dependencies[:, out] = 0.0
    vertices = vertices._replace(weights=weights / weights.sum())
    state.vertices, state.orders = vertices.positive(), state.orders[stay][weights > 0.0]


def _dependencies(points: FloatArray) -> FloatArray:
    """Return a basis of the affine dependencies of m > n points of one hyperplane, m - n rows."""
    system = np.vstack([points.T, np.full(len(points), np.max(np.abs(points), initial=1e-300))])
    basis: FloatArray = np.linalg.svd(system)[2][points.shape[1] :]
    return basis
