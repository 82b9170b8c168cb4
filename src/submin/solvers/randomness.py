"""Seeded random numbers of the solvers: the same seed gives the same bits everywhere."""

from __future__ import annotations

import numpy as np


def seeded(seed: int) -> np.random.Generator:
    """Return the generator of a seed.

    Raises
    ------
    ValueError
        If the seed is negative.
    TypeError
        If it is not an integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed is {seed!r}: it must be an integer, so that runs can be repeated")
    if seed < 0:
        raise ValueError(f"seed is {seed}: it must be 0 or more")
    return np.random.default_rng(seed)
