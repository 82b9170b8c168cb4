"""Which blocks move together: the samplings of the parallel solvers.

Blocks that move together, all from the same s, must share it where they have elements in common.
They descend in every norm of weights w on the elements for which

    E || sum_{i in C} h_i ||^2  <=  p sum_i sum_v w_v h_i(v)^2     for the random set C of blocks,

each of which is in C with probability p (the expected separable overapproximation of Fercoq &
Richtarik 2015, doi:10.1137/130949993).  For a fixed set C the number of its blocks that touch v
will do, w_v = mu_v^C (Li & Milenkovic 2018, arXiv:1803.03851).  For K of r blocks uniformly at
random two blocks of v come together with probability p (K - 1) / (r - 1), which gives

    w_v = 1 + (mu_v - 1) (K - 1) / (r - 1),     p = K / r.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from submin import _checks
from submin._typing import FloatArray, PointerArray
from submin.solve.layout import Layout
from submin.terms.base.groups import incidences


class Sampling(Protocol):
    """Random sets of blocks, each block with the same probability."""

    period: float
    """1 / p, the mean number of sets from one to the next with the same block."""

    def draw(self, generator: np.random.Generator) -> list[int]:
        """Return the blocks of the next set, each once."""
        ...

    def weights(self, chosen: list[int]) -> FloatArray | float:
        """Return w, shape (n,), on the supports of the chosen blocks; a number is for all."""
        ...


class UniformSampling:
    """K of the r blocks, every choice with the same probability."""

    name: ClassVar[str] = "uniform"

    def __init__(self, layout: Layout, batch: int) -> None:
        self.r, self.count = layout.r, min(batch, layout.r)
        self.period = self.r / max(self.count, 1)
        together = (self.count - 1) / max(self.r - 1, 1)
        self._weights = 1.0 + (layout.degrees() - 1.0) * together

    def draw(self, generator: np.random.Generator) -> list[int]:
        """Return K random blocks."""
        chosen: list[int] = generator.choice(
            self.r, self.count, replace=False, shuffle=False
        ).tolist()
        return chosen

    def weights(self, chosen: list[int]) -> FloatArray:
        """Return 1 + (mu - 1) (K - 1) / (r - 1)."""
        return self._weights


class GreedySampling:
    """A random part of a partition of the blocks into sets of at most K that overlap little."""

    name: ClassVar[str] = "greedy"

    def __init__(self, layout: Layout, batch: int) -> None:
        self.layout, self.parts = layout, greedy_partition(layout, batch)
        self.period = float(len(self.parts))

    def draw(self, generator: np.random.Generator) -> list[int]:
        """Return a random part."""
        return self.parts[int(generator.integers(len(self.parts)))]

    def weights(self, chosen: list[int]) -> FloatArray:
        """Return how many blocks of the part touch each element."""
        return self.layout.degrees(chosen)


SAMPLINGS = {sampling.name: sampling for sampling in (UniformSampling, GreedySampling)}


def check_sampling(batch: int, sampling: str) -> None:
    """Refuse settings that make no sampling.

    Raises
    ------
    TypeError
        If `batch` is not a whole number.
    ValueError
        If `batch` is below 1, or there is no sampling of that name.
    """
    _checks.whole_number("batch", batch, 1)
    if sampling not in SAMPLINGS:
        names = ", ".join(repr(name) for name in SAMPLINGS)
        raise ValueError(f"sampling is {sampling!r}: the samplings are {names}")


def greedy_partition(layout: Layout, size: int) -> list[list[int]]:
    """Divide the blocks among ceil(r / size) parts of at most `size`, so that parts overlap little.

    The blocks come from the largest support to the smallest, and each goes to the part that is not
    full and has the fewest blocks on its elements.

    Notes
    -----
    O(r parts + sum_v mu_v^2).

    Examples
    --------
    A grid of 3 by 3: rows, columns, and a group of all pixels in three blocks, in two parts.

    >>> import numpy as np, submin as sm
    >>> group = sm.Cardinality.from_labels(np.zeros((3, 3), int), lambda k, m: k * (m - k))
    >>> problem = sm.Problem(np.zeros((3, 3)), [sm.GridCut((3, 3), 1.0), group])
    >>> greedy_partition(sm.Layout(problem), 2)
    [[0, 2], [1]]
    """
    parts: list[list[int]] = [[] for _ in range(-(-layout.r // size))]
    pointers, touching = _touching_blocks(layout)
    part_of = np.full(layout.r, len(parts))
    full = np.zeros(len(parts))
    for i in np.argsort([-support.size for support in layout.supports], kind="stable").tolist():
        neighbours = touching[incidences(pointers, layout.supports[i])]
        shared = np.bincount(part_of[neighbours], minlength=len(parts) + 1)[:-1]
        best = int(np.argmin(shared + full))
        part_of[i] = best
        parts[best].append(i)
        if len(parts[best]) == size:
            full[best] = np.inf
    return parts


def _touching_blocks(layout: Layout) -> tuple[PointerArray, PointerArray]:
    """Return the blocks of each element, one element after the other, with pointers."""
    sizes = [support.size for support in layout.supports]
    elements = np.concatenate([np.zeros(0, dtype=np.int32), *layout.supports])
    order = np.argsort(elements, kind="stable")
    counts = np.bincount(elements, minlength=layout.n)
    return np.concatenate([[0], np.cumsum(counts)]), np.repeat(np.arange(layout.r), sizes)[order]
