"""Statements of the paper that small cases decide by looking at all subsets or all thresholds.

Lemma 7 (the expected separable overapproximation) is an expectation over the subsets R of r blocks,
and the best threshold of Section 1.1 is a minimum over at most n + 1 sets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from submin._typing import FloatArray
from submin.reproduce.theory import Graph

SAMPLES = 20


@dataclass(frozen=True)
class Overapproximation:
    """Lemma 7 for r blocks of which at most ``omega`` touch an element.

    ``independent`` and ``one_block`` are the largest constants c found for which

        E[g(x + h_R)] = g(x) + <grad g(x), h> / r + (c / r) ||h||^2,

    with each block in R independently with probability 1 / r, and with exactly one block in R.
    The lemma says c <= 2 for the first; counting the overlap, c <= 1 + (omega - 1) / r.
    """

    r: int
    omega: int
    independent: float
    one_block: float


def overapproximation(r: int, omega: int, n: int = 6) -> Overapproximation:
    """Search for the worst h, with exact expectations over all 2^r subsets.

    Besides random h, the equal blocks are tried, for which the constant is 1 + (omega - 1) / r.
    """
    generator = np.random.default_rng([r, omega])
    touches = _touching(r, omega, n)
    subsets = (np.arange(2**r)[:, None] >> np.arange(r)) & 1
    sizes = subsets.sum(axis=1)
    independent = (1.0 / r) ** sizes * (1.0 - 1.0 / r) ** (r - sizes)
    alone = np.where(sizes == 1, 1.0 / r, 0.0)
    found = [
        [_constant(x, h, subsets, chances) for chances in (independent, alone)]
        for x, h in _vectors(touches, generator)
    ]
    return Overapproximation(r, omega, *np.max(found, axis=0).tolist())


def _touching(r: int, omega: int, n: int) -> FloatArray:
    """Return which blocks touch which elements, shape (r, n): omega blocks on each, in turn."""
    touches = np.zeros((r, n))
    for v in range(n):
        touches[(v + np.arange(omega)) % r, v] = 1.0
    return touches


def _vectors(
    touches: FloatArray, generator: np.random.Generator
) -> Iterable[tuple[FloatArray, FloatArray]]:
    """Yield pairs x, h on the supports of the blocks, the equal blocks first."""
    yield np.zeros(touches.shape), touches
    for _ in range(SAMPLES):
        x, h = generator.normal(size=(2, *touches.shape)) * touches
        yield x, h


def _constant(x: FloatArray, h: FloatArray, subsets: Any, chances: FloatArray) -> float:
    """Return c for one x and h, with the expectation as a sum over all subsets."""
    r, total = len(h), x.sum(axis=0)
    moved = np.square(total + subsets @ h).sum(axis=1)
    slope = 2.0 * total @ h.sum(axis=0) / r
    return float((chances @ moved - total @ total - slope) * r / np.square(h).sum())


def threshold_excess(graph: Graph, samples: int = SAMPLES) -> float:
    """Return the largest F(best threshold of x) - f(x) over x in [0, 1]^n: 0 or less, by theory.

    The points have ties, zeros and ones.  f is the Lovasz extension of a cut by its definition,
    <u, x> + sum_ij w_ij |x_i - x_j|, and the thresholds are all sets {x >= theta}, theta > 0.
    """
    generator = np.random.default_rng(graph.unary.size)
    points = generator.integers(0, 5, size=(samples, graph.unary.size)) / 4.0
    points = np.vstack([points, generator.uniform(size=points.shape)])
    return max(_excess(graph, x) for x in points)


def _excess(graph: Graph, x: FloatArray) -> float:
    differences = np.abs(x[graph.tails] - x[graph.heads])
    lovasz = float(graph.unary @ x + graph.weights @ differences)
    thresholds = [*np.unique(x[x > 0.0]), np.inf]
    return min(graph.problem.evaluate(x >= theta) for theta in thresholds) - lovasz
