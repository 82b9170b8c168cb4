"""Thin structures in grids: strong edges along paths, weak ones everywhere else.

Excess and deficits lie far apart along the paths, and close to each other across them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

import submin as sm

STRONG, WEAK, COST = 10.0, 1e-5, 3.0
Cell = tuple[int, ...]


def snake(shape: tuple[int, ...]) -> Iterator[Cell]:
    """Go to and fro along the last axis, on every other line of the others."""
    if not shape:
        yield ()
        return
    turned = False
    for i in range(0, shape[0], 1 if len(shape) == 1 else 2):
        rest = list(snake(shape[1:]))
        yield from ((i, *cell) for cell in (reversed(rest) if turned else rest))
        turned = not turned


def spiral(side: int) -> list[Cell]:
    """Wind inwards, with one cell between the turns."""
    corners, low, high = [(0, 0)], 0, side - 1
    while high - low > 2:
        corners += [(low, high), (high, high), (high, low), (low + 2, low)]
        low, high = low + 2, high - 2
        corners.append((low, low))
    return _filled(corners)


def _filled(corners: Sequence[Cell]) -> list[Cell]:
    """Return all cells from one corner to the next."""
    cells = [corners[0]]
    for corner, following in pairwise(corners):
        gap = np.subtract(following, corner)
        length = int(np.abs(gap).max())
        steps = np.array(corner) + np.arange(1, length + 1)[:, None] * gap // length
        cells += map(tuple, steps.tolist())
    return cells


def depth_first_maze(side: int, loops: float, seed: int) -> list[list[Cell]]:
    """Walk depth first through cells of even coordinates; add some walls' breaks for loops."""
    rng, seen = np.random.default_rng(seed), np.zeros((side // 2, side // 2), dtype=bool)
    walks, stack = [], [(0, 0)]
    seen[0, 0] = True
    while stack:
        i, j = stack[-1]
        for k in rng.permutation(4):
            a, b = i + (0, 1, 0, -1)[k], j + (1, 0, -1, 0)[k]
            if min(a, b) >= 0 and max(a, b) < side // 2 and not seen[a, b]:
                seen[a, b] = True
                walks.append(_step(i, j, a, b))
                stack.append((a, b))
                break
        else:
            stack.pop()
    for i, j in rng.integers(0, side // 2 - 1, (int(loops * seen.size), 2)).tolist():
        walks.append(_step(i, j, i + 1, j))
    return walks


def _step(i: int, j: int, a: int, b: int) -> list[Cell]:
    """Return the three cells from one of even coordinates to the next."""
    return [(2 * i, 2 * j), (i + a, j + b), (2 * a, 2 * b)]


def comb(side: int) -> list[list[Cell]]:
    """Join every other column to the first row."""
    teeth = [[(i, j) for i in range(side)] for j in range(0, side, 2)]
    return [[(0, j) for j in range(side)], *teeth]


def along(
    shape: tuple[int, ...],
    connectivity: int,
    walks: Sequence[Sequence[Cell]],
    places: Sequence[Cell],
) -> sm.Problem:
    """Return the grid with strong edges along walks, and excess and deficits in turn at places."""
    frame = sm.GridCut(shape, 0.0, connectivity)
    weights = [np.full(overlap, WEAK) for overlap in frame.overlaps]
    numbers = {tuple(offset): k for k, offset in enumerate(frame.offsets)}
    for walk in walks:
        for pair in pairwise(walk):
            tail, head = sorted(pair)
            offset = tuple(np.subtract(head, tail).tolist())
            weights[numbers[offset]][tuple(tail)] = STRONG
    unary = np.zeros(shape)
    for k, place in enumerate(places):
        unary[place] = COST if k % 2 else -COST
    return sm.Problem(unary, [sm.GridCut(shape, weights, connectivity)])


def path_problem(shape: tuple[int, ...], connectivity: int, ends: int = 40) -> sm.Problem:
    """Return a snake with excess and deficits at so many places along it."""
    cells = _filled(list(snake(shape)))
    return along(shape, connectivity, [cells], cells[:: max(1, len(cells) // ends)])


def spiral_problem(side: int) -> sm.Problem:
    """Return a spiral with forty places of excess and deficit."""
    cells = spiral(side)
    return along((side, side), 4, [cells], cells[:: max(1, len(cells) // 40)])


def maze_problem(side: int, connectivity: int, loops: float = 0.0) -> sm.Problem:
    """Return a depth-first maze from one corner to the other."""
    walks, last = depth_first_maze(side, loops, 0), 2 * (side // 2) - 2
    return along((side, side), connectivity, walks, [(0, 0), (last, last)])


def comb_problem(side: int) -> sm.Problem:
    """Return a comb with excess and deficit at the ends of its teeth, in turn."""
    return along((side, side), 4, comb(side), [(side - 1, j) for j in range(0, side, 2)])


def random_problem(side: int, connectivity: int, scale: float) -> sm.Problem:
    """Return uniform weights between 1e-5 and 10 and normal costs."""
    rng = np.random.default_rng(side)
    frame = sm.GridCut((side, side), 0.0, connectivity)
    weights = [rng.uniform(WEAK, STRONG, overlap) for overlap in frame.overlaps]
    unary = scale * rng.normal(size=(side, side))
    return sm.Problem(unary, [sm.GridCut((side, side), weights, connectivity)])


def border_problem(side: int) -> sm.Problem:
    """Return uniform weights from 1e-5 to 10, and excess on the border opposite to deficits."""
    rng = np.random.default_rng(side)
    frame = sm.GridCut((side, side), 0.0)
    weights = [rng.uniform(WEAK, STRONG, overlap) for overlap in frame.overlaps]
    unary = np.zeros((side, side))
    unary[:, 0], unary[:, -1] = -100.0, 100.0
    return sm.Problem(unary, [sm.GridCut((side, side), weights)])


PROBLEMS: dict[str, Callable[[int], sm.Problem]] = {
    "snake": lambda side: path_problem((side, side), 4),
    "wide snake": lambda side: path_problem((side // 4, 4 * side), 4),
    "tall snake": lambda side: path_problem((4 * side, side // 4), 4),
    "snake 8-nb": lambda side: path_problem((side, side), 8),
    "snake 3-D": lambda side: path_problem((round(side ** (2 / 3)),) * 3, 6),
    "maze": lambda side: maze_problem(side, 4),
    "maze 8-nb": lambda side: maze_problem(side, 8),
    "maze with loops": lambda side: maze_problem(side, 4, 0.1),
    "spiral": spiral_problem,
    "comb": comb_problem,
    "random weights": lambda side: random_problem(side, 4, 10.0),
    "random weights 8-nb": lambda side: random_problem(side, 8, 30.0),
    "random weights, borders": border_problem,
}
"""Problems by the side of their squares, of about its square of elements."""
