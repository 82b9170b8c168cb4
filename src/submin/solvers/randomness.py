"""Seeded random numbers of the solvers: the same seed gives the same bits everywhere."""

from __future__ import annotations

import numpy as np

from submin import _checks


def seeded(seed: int) -> np.random.Generator:
    """Return the generator of a seed.

    Raises
    ------
    ValueError
        If the seed is negative.
    TypeError
        If it is not an integer.
    """
    return np.random.default_rng(_checks.whole_number("seed", seed, 0))
