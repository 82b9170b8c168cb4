"""The proximal point from the values of all sets, by dividing at every level, in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def point(values: Sequence[float], masses: Sequence[float]) -> np.ndarray:
    """Return x of the least f(x) + sum_v m_v x_v^2 / 2; values[k] is F of the set of k's bits.

    The level of what lies between two sets of a chain is where both cost the same; it is right
    where no set between them costs less there.
    """
    exact, weights = [Fraction(v) for v in values], [Fraction(m) for m in masses]
    x = [Fraction(0)] * len(weights)
    chains = [(0, len(exact) - 1)]
    while chains:
        low, high = chains.pop()
        inner = [v for v in range(len(weights)) if (high & ~low) >> v & 1]
        level = -(exact[high] - exact[low]) / sum(weights[v] for v in inner)
        best, least = None, exact[low] + level * mass(low, weights)
        for between in range(low, high + 1):
            if between & low == low and between & ~high == 0:
                cost = exact[between] + level * mass(between, weights)
                if cost < least:
                    best, least = between, cost
        if best is None:
            for v in inner:
                x[v] = level
        else:
            chains += [(low, best), (best, high)]
    return np.array([float(value) for value in x])


def mass(members: int, weights: Sequence[Fraction]) -> Fraction:
    """m of a set."""
    return sum((w for v, w in enumerate(weights) if members >> v & 1), Fraction(0))
