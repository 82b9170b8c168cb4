"""Thin structures in a grid: strong edges along a path or a tree, weak ones everywhere else."""

import itertools

import numpy as np

from .flow_instances import OFFSETS, Instance, grid_edges

STRONG, WEAK = 10_000.0, 1.0


def snake(rows, columns):
    """Join every other row to one path, with excess and deficits in turn along it."""
    cells = [(i, j) for i in range(0, rows, 2) for j in range(columns)[:: 1 - i % 4]]
    return cells, list(itertools.pairwise(cells))


def comb(rows, columns):
    """Join every other column to the first row."""
    cells = [(0, j) for j in range(columns)]
    links = list(itertools.pairwise(cells))
    for j in range(0, columns, 2):
        tooth = [(i, j) for i in range(rows)]
        cells += tooth[1:]
        links += itertools.pairwise(tooth)
    return cells, links


def maze(rows, columns):
    """Walk depth first through the cells of even coordinates, by random turns."""
    rng = np.random.default_rng(rows)
    cells, links, seen, stack = [(0, 0)], [], {(0, 0)}, [(0, 0)]
    while stack:
        i, j = stack[-1]
        around = [(i, j + 2), (i, j - 2), (i + 2, j), (i - 2, j)]
        free = [
            (a, b) for a, b in around if 0 <= a < rows and 0 <= b < columns and (a, b) not in seen
        ]
        if not free:
            stack.pop()
            continue
        a, b = free[rng.integers(len(free))]
        links.append(((i, j), (a, b)))
        cells.append((a, b))
        seen.add((a, b))
        stack.append((a, b))
    return cells, links


def instance(make, shape, neighbours, terminals=8):
    """Draw a problem of whole numbers whose excess and deficits are far apart along the paths."""
    cells, links = make(*shape)
    strong = set()
    for (i, j), (a, b) in links:
        steps = max(abs(a - i), abs(b - j))
        path = [(i + (a - i) * k // steps, j + (b - j) * k // steps) for k in range(steps + 1)]
        strong |= {frozenset(pair) for pair in itertools.pairwise(path)}
    offsets, weights, edges = OFFSETS[2, neighbours], [], []
    for offset in offsets:
        tails, heads = grid_edges(shape, offset)
        ends = zip(
            *(np.stack(np.unravel_index(v, shape), 1).tolist() for v in (tails, heads)), strict=True
        )
        weights.append(
            np.array([STRONG if {tuple(a), tuple(b)} in strong else WEAK for a, b in ends])
        )
        edges.append((tails, heads))
    unary = np.zeros(shape)
    places = cells[:: max(1, len(cells) // terminals)]
    for k, cell in enumerate(places):
        unary[cell] = -3000 if k % 2 == 0 else 3000
    flows = [np.zeros(w.size) for w in weights]
    return Instance(unary.ravel(), edges, weights, weights, flows), offsets
