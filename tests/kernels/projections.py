"""Brute force for the kernel tests: all sets, all orders, no algorithm."""

from itertools import permutations

import numpy as np


def set_sums(weights):
    """w(S) for all bit masks S."""
    masks = np.arange(1 << len(weights))
    return ((masks[:, None] >> np.arange(len(weights))) & 1) @ np.asarray(weights, dtype=float)


def greedy_vertices(values):
    """All vertices of the base polytope of the function with these 2**k values."""
    size = int(values.size).bit_length() - 1
    for order in permutations(range(size)):
        vertex, chain = np.zeros(size), 0
        for element in order:
            vertex[element] = values[chain | 1 << element] - values[chain]
            chain |= 1 << element
        yield vertex


def assert_projection(a, y, values, tolerance=1e-9, weights=1.0):
    """Check that y is the point of B(F) closest to a in the norm sum weights (.)^2.

    It is if and only if no set has y(S) > F(S), y(V) = F(V), and no vertex v has
    weights (a - y) . (v - y) > 0.
    """
    scale = 1.0 + np.abs(values).max() + np.abs(a).max()
    excess = set_sums(y) - values
    assert excess.max() <= tolerance * scale
    assert abs(excess[-1]) <= tolerance * scale
    gradient = weights * (a - y)
    steepest = max(gradient @ (vertex - y) for vertex in greedy_vertices(values))
    assert steepest <= tolerance * scale**2 * np.max(weights)


def random_submodular(rng, size):
    """Values of a random submodular function: directed cuts, concave of modular, modular."""
    masks = np.arange(1 << size)
    inside = ((masks[:, None] >> np.arange(size)) & 1).astype(float)
    values = np.zeros(masks.size)
    for _ in range(int(rng.integers(0, 4))):
        tail, head = rng.integers(size, size=2)
        values += rng.integers(0, 5) * inside[:, tail] * (1 - inside[:, head])
    for _ in range(int(rng.integers(0, 4))):
        weights = rng.integers(0, 4, size=size)
        values += np.minimum(inside @ weights, rng.integers(0, 8))
    return values + inside @ rng.integers(-3, 4, size=size)
