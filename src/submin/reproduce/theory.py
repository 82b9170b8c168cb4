"""Theorems 2, 4, 6 and 8 of the paper against measurement, on problems with a known optimum set.

The problems are cut functions of small graphs with one dual t_e per edge.  With s* the smallest s,
found exactly from the level sets of the proximal point, the optimal duals are

    E = { t : B t = s* - u,  -w <= t <= w },     ||y - y'||^2 = 2 ||t - t'||^2,

the latter because an edge's vector is t_e (e_i - e_j) and the edges of a block share no node.
Edges between two level sets are saturated in all of E; for the rest, d(y, E) is a least distance
problem over the cycles of the level sets, which the method of Lawson & Hanson (1974, ch. 23) solves
in finitely many steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np

from submin._typing import BoolArray, Dual, FloatArray, IndexArray
from submin.model.problem import Problem
from submin.solve.api import prox
from submin.solve.layout import Layout
from submin.solvers import ACDM, RCDM
from submin.terms import Cut
from submin.vision.optional import require

PIECE_GAP = 1e-6
"""Proximal values closer than this belong to one level set; random data keep them far apart."""
MISPRINT_PATHS = (4, 5, 8)
"""Paths for Theorem 4 as printed: the longest that does not refute it, the shortest that does."""
NEGLIGIBLE = 1e-9
"""Measured ratios end where the gap has fallen by this factor, well above rounding."""


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph with a cost per edge and a unary per node."""

    name: str
    unary: FloatArray
    tails: IndexArray
    heads: IndexArray
    weights: FloatArray

    @property
    def problem(self) -> Problem:
        """The cut problem of the graph."""
        return Problem(self.unary, [Cut(self.tails, self.heads, self.weights)])

    @property
    def incidence(self) -> FloatArray:
        """B, shape (n, edges): +1 at the tail and -1 at the head of each edge."""
        matrix = np.zeros((self.unary.size, self.tails.size))
        edges = np.arange(self.tails.size)
        matrix[self.tails, edges], matrix[self.heads, edges] = 1.0, -1.0
        return matrix


def path_graph(n: int, seed: int, interior: bool = False) -> Graph:
    """Return a path; `interior` makes the unary so small that no edge is saturated at the end."""
    generator = np.random.default_rng([seed, n])
    unary = generator.normal(size=n) * (0.1 / n if interior else 1.0)
    weights = np.ones(n - 1) if interior else generator.uniform(0.2, 1.5, size=n - 1)
    nodes = np.arange(n, dtype=np.int32)
    return Graph(f"path of {n}", unary, nodes[:-1], nodes[1:], weights)


def random_graph(n: int, edges: int, seed: int) -> Graph:
    """Return a random graph with some cycles, random weights and unaries."""
    generator = np.random.default_rng([seed, n, edges])
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)], dtype=np.int32)
    chosen = pairs[generator.permutation(len(pairs))[:edges]]
    weights = generator.uniform(0.2, 1.5, size=edges)
    unary = generator.normal(size=n) * 1.5
    name = f"random {n} nodes {edges} edges"
    return Graph(name, unary, chosen[:, 0].copy(), chosen[:, 1].copy(), weights)


@dataclass(frozen=True)
class Optimum:
    """The set E of optimal duals of a graph.

    Attributes
    ----------
    s : float array, shape (n,)
        s*, the sum of every optimal dual and the unary.
    free : bool array, shape (edges,)
        Edges inside a level set.
    flow : float array, shape (edges,)
        A point of E, up to the box of its free edges.
    cycles : float array, shape (free edges, dimensions of E)
        Orthonormal basis of the flows on free edges that change no s.
    weights : float array, shape (free edges,)
    """

    s: FloatArray
    free: BoolArray
    flow: FloatArray
    cycles: FloatArray
    weights: FloatArray

    @classmethod
    @cache
    def of(cls, graph: Graph) -> Self:
        """Find E.

        Raises
        ------
        FloatingPointError
            If the level sets found do not reproduce the proximal point.
        """
        rough = prox(
            graph.problem, "accelerated_sweeps", tol=1e-18, max_passes=3000, check_every=100
        )
        x, piece = _exact_proximal_point(graph, rough.x)
        saturated = graph.weights * np.sign(x[graph.tails] - x[graph.heads])
        free = piece[graph.tails] == piece[graph.heads]
        flow = np.where(free, rough.dual[0], saturated)
        columns = graph.incidence[:, free]
        error = -x - graph.unary - graph.incidence @ flow
        flow[free] += np.linalg.lstsq(columns, error, rcond=None)[0]
        cycles = _null_space(columns)
        return cls(-x, free, flow, cycles, graph.weights[free])

    def squared_distance(self, flow: FloatArray) -> float:
        """Return d(y, E)^2 in the norm of R^{nr}."""
        offset = flow - self.flow
        along = self.cycles.T @ offset[self.free]
        across = offset[self.free] - self.cycles @ along
        outside = _least_distance(self.cycles, self.flow[self.free], self.weights, along)
        fixed = offset[~self.free]
        return 2.0 * float(fixed @ fixed + across @ across + outside @ outside)

    def gap(self, s: FloatArray) -> float:
        """Return g(y) - g*, as ||s - s*||^2 + 2 <s*, s - s*>, which keeps small gaps exact."""
        offset = s - self.s
        return float(offset @ offset + 2.0 * self.s @ offset)


def _exact_proximal_point(graph: Graph, rough: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Return x* and the level set of each node: on a level set, x is minus the mean gain of F."""
    order = np.argsort(-rough, kind="stable")
    steps = np.diff(rough[order]) < -PIECE_GAP
    piece = np.empty(rough.size, dtype=np.int32)
    piece[order] = np.concatenate([[0], np.cumsum(steps)])
    values = [graph.problem.evaluate(piece < k) for k in range(int(piece.max()) + 2)]
    x: FloatArray = (-np.diff(values) / np.bincount(piece))[piece]
    if not np.allclose(x, rough, rtol=0.0, atol=PIECE_GAP / 10):
        raise FloatingPointError(f"the level sets of {graph.name} are too close to tell apart")
    return x, piece


def _null_space(matrix: FloatArray) -> FloatArray:
    if matrix.shape[1] == 0:
        return np.zeros((0, 0))
    _, values, rows = np.linalg.svd(matrix)
    rank = int(np.sum(values > 1e-10))
    basis: FloatArray = rows[rank:].T
    return basis


def _least_distance(
    cycles: FloatArray, flow: FloatArray, weights: FloatArray, along: FloatArray
) -> FloatArray:
    """Return the smallest v such that |flow + cycles (along + v)| <= weights (problem LDP)."""
    here = flow + cycles @ along
    bounds = np.concatenate([-weights - here, here - weights])
    if cycles.shape[1] == 0 or np.all(bounds <= 0.0):
        return np.zeros(cycles.shape[1])
    rows = np.vstack([cycles, -cycles])
    system = np.vstack([rows.T, bounds])
    target = np.zeros(len(system))
    target[-1] = 1.0
    multipliers, _ = require("scipy.optimize").nnls(system, target)
    residual = system @ multipliers - target
    move: FloatArray = -residual[:-1] / residual[-1]
    if np.any(rows @ move < bounds - 1e-8):
        raise FloatingPointError("the least distance problem was not solved")
    return move


@dataclass(frozen=True)
class Contraction:
    """Theorem 4 on one problem: bound, worst measured factor, and the mean of V over the seeds.

    ``worst`` is the largest E[V(y_{k+1}) | y_k] / V(y_k), V = d(y, E)^2 + g - g*, with the exact
    expectation over the r picks.  ``as_printed`` has d(y_k, E) in place of d(y_{k+1}, E).
    """

    name: str
    blocks: str
    n: int
    r: int
    bound: float
    worst: float
    mean: float
    as_printed: float
    potential: list[float]


def contraction(graph: Graph, blocks: str, seeds: Sequence[int], iterations: int) -> Contraction:
    """Measure the contraction of RCDM along its own random iterates."""
    layout, optimum = Layout(graph.problem, blocks, threads=1), Optimum.of(graph)
    n, r = layout.n, layout.r
    factors: list[float] = []
    printed: list[float] = []
    potentials = []
    for seed in seeds:
        solver = RCDM(seed=seed)
        state = solver.start(layout, layout.feasible_start())
        start = _potential(optimum, state.y, state.s)
        potentials.append([start])
        for _ in range(iterations):
            now = potentials[-1][-1]
            if now > NEGLIGIBLE * start:
                after, gap_after = _expected_potential(layout, optimum, state.y, state.s)
                factors.append(after / now)
                distance = now - optimum.gap(state.s)
                printed.append((distance + gap_after) / now)
            solver.step(layout, state)
            potentials[-1].append(_potential(optimum, state.y, state.s))
    return Contraction(
        graph.name, blocks, n, r, rate_bound(n, r), max(factors),
        float(np.mean(factors)), max(printed), np.mean(potentials, axis=0).tolist(),
    )  # fmt: skip


def _potential(optimum: Optimum, dual: Dual, s: FloatArray) -> float:
    return optimum.squared_distance(dual[0]) + optimum.gap(s)


def _expected_potential(
    layout: Layout, optimum: Optimum, dual: Dual, s: FloatArray
) -> tuple[float, float]:
    """Return the means of V and of g - g* over the r possible next iterates."""
    potentials, gaps = [], []
    for i in range(layout.r):
        next_dual, next_s = [part.copy() for part in dual], s.copy()
        layout.sweep(i, next_dual, next_s)
        potentials.append(_potential(optimum, next_dual, next_s))
        gaps.append(optimum.gap(next_s))
    return float(np.mean(potentials)), float(np.mean(gaps))


@dataclass(frozen=True)
class Misprint:
    """One step of RCDM on a path, against Theorem 4 as printed and as proved.

    ``as_printed`` is (d(y_0, E)^2 + E[g(y_1)] - g*) / V(y_0), ``as_proved`` has d(y_1, E)^2.
    """

    name: str
    n: int
    r: int
    bound: float
    as_printed: float
    as_proved: float


def misprint(n: int) -> Misprint:
    """Refute Theorem 4 as printed, for k = 0, on a path of 5 nodes or more.

    With two matchings, zero costs and weights that are never reached, E = {0} and d(y, E)^2 =
    2 ||t||^2.  For a unit eigenvector t of B^T B and its eigenvalue a = 4 sin^2(pi / 2n), the
    smallest, g(y_0) = a.  A step over one of the matchings averages s over its edges, which takes
    a^2 / 4 from g on average.  So the statement as printed needs

        1 - a^2 / (4 (2 + a))  <=  1 - 2 / (n^2 r^2 + r),

    whose left side goes to 1 like 1 - pi^4 / (8 n^4): it is above the bound from n = 5 on.
    """
    nodes = np.arange(n, dtype=np.int32)
    graph = Graph(f"path of {n}", np.zeros(n), nodes[:-1], nodes[1:], np.full(n - 1, 100.0))
    layout, optimum = Layout(graph.problem, "matchings", threads=1), Optimum.of(graph)
    dual = [np.sin(np.pi * np.arange(1, n) / n)]
    s = layout.total(dual)
    after, gap_after = _expected_potential(layout, optimum, dual, s)
    now = _potential(optimum, dual, s)
    return Misprint(
        graph.name, n, layout.r, rate_bound(n, layout.r),
        (optimum.squared_distance(dual[0]) + gap_after) / now, after / now,
    )  # fmt: skip


def rate_bound(n: int, r: int) -> float:
    """Return 1 - 2 / (n^2 r^2 + r), the factor of Theorem 4."""
    return 1.0 - 2.0 / (n**2 * r**2 + r)


@dataclass(frozen=True)
class Halving:
    """Theorems 6 and 8 on one problem.

    ``worst`` is the largest factor by which the mean gap over the seeds fell in an epoch;
    ``within`` the mean gap after each iteration of the first epoch, ``within_bound`` Theorem 8;
    ``start`` the gap at first, ``half_after`` the iterations until the mean gap was half of it.

    Theorem 8 is taken with y* closest to z_0: the statement has the y* closest to y_k, which is
    random, while the proof of Theorem 6 needs the one closest to the start of the epoch.
    """

    name: str
    blocks: str
    n: int
    r: int
    epoch_iterations: int
    worst: float
    epochs: int
    within: list[float]
    within_bound: list[float]
    half_after: int
    start: float


def halving(graph: Graph, blocks: str, seeds: Sequence[int], epochs: int) -> Halving:
    """Measure by how much an epoch of ACDM reduces the expected gap."""
    layout, optimum = Layout(graph.problem, blocks, threads=1), Optimum.of(graph)
    runs = [_acdm_gaps(layout, optimum, seed, epochs) for seed in seeds]
    within = np.mean([inner for inner, _ in runs], axis=0)
    ends = np.mean([outer for _, outer in runs], axis=0)
    alive = ends[:-1] > NEGLIGIBLE * ends[0]
    factors = ends[1:][alive] / ends[:-1][alive]
    r, k = layout.r, np.arange(within.size)
    dual = layout.feasible_start()
    start = optimum.squared_distance(dual[0])
    bound = 4.0 * r**2 / (k - 1 + 2 * r) ** 2 * ((1 - 1 / r) * ends[0] + 2.0 * start)
    return Halving(
        graph.name, blocks, layout.n, r, within.size, float(factors.max()), int(alive.sum()),
        within.tolist(), bound.tolist(), int(np.argmax(within <= 0.5 * ends[0])) + 1,
        float(ends[0]),
    )  # fmt: skip


def _acdm_gaps(
    layout: Layout, optimum: Optimum, seed: int, epochs: int
) -> tuple[list[float], list[float]]:
    """Return the gaps after each iteration of the first epoch, and at the start and each end."""
    solver = ACDM(seed=seed)
    state = solver.start(layout, layout.feasible_start())
    length = solver.epoch_iterations(layout.n, layout.r, 0)
    within: list[float] = []
    ends = [optimum.gap(layout.total(layout.feasible_start()))]
    for epoch in range(epochs):
        for _ in range(length):
            solver.step(layout, state)
            if epoch == 0:
                within.append(max(0.0, optimum.gap(solver.iterate(layout, state)[1])))
        ends.append(max(0.0, optimum.gap(solver.iterate(layout, state)[1])))
    return within, ends


@dataclass(frozen=True)
class Condition:
    """Theorem 2 on one problem: the largest ||y - y*|| / ||S (y - y*)|| found, and n r.

    The ratio is at most the kappa* of Theorem 3, and Theorem 2 says that it is at most n r.
    ``interior`` says that no edge is saturated at the optimum.
    """

    name: str
    blocks: str
    n: int
    r: int
    measured: float
    bound: float
    interior: bool


def condition(graph: Graph, blocks: str, samples: int) -> Condition:
    """Search for the worst feasible y: random ones, greedy vertices, and the slowest directions."""
    layout, optimum = Layout(graph.problem, blocks, threads=1), Optimum.of(graph)
    generator = np.random.default_rng(0)
    weights = graph.weights
    candidates = list(generator.uniform(-weights, weights, size=(samples, weights.size)))
    candidates += list(np.where(generator.random((samples, weights.size)) < 0.5, -weights, weights))
    _, _, directions = np.linalg.svd(graph.incidence)
    for direction in directions:
        candidates += [
            np.clip(optimum.flow + step * direction, -weights, weights) for step in (-1e-3, 1e-3)
        ]
    worst = max(_ratio(layout, optimum, flow) for flow in candidates)
    return Condition(
        graph.name,
        blocks,
        layout.n,
        layout.r,
        worst,
        float(layout.n * layout.r),
        bool(optimum.free.all()),
    )


def _ratio(layout: Layout, optimum: Optimum, flow: FloatArray) -> float:
    """Return d(y, E) sqrt(r) / ||s - s*||; 0 where both vanish."""
    distance = np.sqrt(optimum.squared_distance(flow))
    residual = float(np.linalg.norm(layout.total([flow]) - optimum.s))
    return float(np.sqrt(layout.r) * distance / residual) if residual > 1e-9 else 0.0


def measure(quick: bool = False) -> dict[str, Any]:
    """Measure all theorems on a fixed set of graphs.

    Returns
    -------
    dict
        ``contraction``, ``misprint``, ``halving``, ``condition``: lists of the dataclasses above.
    """
    seeds, iterations = (range(2), 40) if quick else (range(4), 250)
    lengths = (2, 3, 4, 6, 8) if quick else (2, 3, 4, 6, 8, 12, 16, 24, 32)
    both = ("functions", "matchings")
    cases = [(graph, blocks) for graph in graphs(quick) for blocks in both]
    paths = [path_graph(n, 0, interior=True) for n in lengths]
    on_paths = [(graph, blocks) for graph in paths for blocks in both]
    return {
        "contraction": [contraction(*case, seeds, iterations) for case in cases],
        "misprint": [misprint(n) for n in MISPRINT_PATHS],
        "halving": [halving(*case, range(3 * len(seeds)), 2) for case in cases],
        "condition": [condition(*case, 50) for case in [*on_paths, *cases]],
    }


def graphs(quick: bool) -> list[Graph]:
    """Return small graphs with random costs and weights."""
    few = [path_graph(4, 0), random_graph(5, 7, 0)]
    more = [random_graph(5, 7, 1), path_graph(8, 0), random_graph(6, 10, 0)]
    return few if quick else few + more
