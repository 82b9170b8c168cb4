"""Exact minimisation end to end, arrays in and mask out, against PyMaxflow on the same data.

    python benchmarks/max_flow.py [--repeats 3] [--connectivity 8]

Needs PyMaxflow (GPL, optional: pip install PyMaxflow) and the extra ``vision``.  Prints medians of
wall seconds and ratios, and checks that the minima agree.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import submin as sm
from instances import data_folder, image_problem, photograph_problem


def instances(connectivity: int) -> dict[str, Callable[[], sm.Problem]]:
    """Return the photographs of scikit-image, and of the GrabCut folder where it is there."""
    table: dict[str, Callable[[], sm.Problem]] = {}
    for name in ("camera", "astronaut", "coffee"):
        for smoothness in (5.0, 50.0):
            for scale in (1, 2):
                table[f"{name} x{scale} {smoothness:g}"] = (
                    lambda name=name, smoothness=smoothness, scale=scale: photograph_problem(
                        name, smoothness, connectivity, scale
                    )
                )
    for path in sorted((data_folder() / "grabcut" / "images").glob("*.jpg"))[:4]:
        for smoothness in (5.0, 50.0):
            table[f"{path.stem} {smoothness:g}"] = lambda path=path, smoothness=smoothness: (
                image_problem(_read(path), smoothness, connectivity)
            )
    return table


def _read(path: Any) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(path).convert("RGB"))


def by_submin(unary: np.ndarray, weights: list[np.ndarray], connectivity: int) -> np.ndarray:
    """Build and solve."""
    grid = sm.GridCut(unary.shape, weights, connectivity)
    result = sm.minimize(sm.Problem(unary, [grid]))
    if not result.certificate.optimal:
        raise RuntimeError(f"not closed: {result}")
    return result.minimizer


def by_pymaxflow(unary: np.ndarray, weights: list[np.ndarray], connectivity: int) -> np.ndarray:
    """Build with whole-array calls and solve."""
    import maxflow

    graph = maxflow.Graph[float](unary.size, 2 * sum(w.size for w in weights))
    nodes = graph.add_grid_nodes(unary.shape)
    for (dy, dx), weight in zip(sm.grid_offsets(2, connectivity), weights, strict=True):
        structure = np.zeros((3, 3))
        structure[1 + dy, 1 + dx] = 1
        padded = np.zeros(unary.shape)
        rows = slice(0, unary.shape[0] - dy)
        columns = slice(max(0, -dx), unary.shape[1] - max(0, dx))
        padded[rows, columns] = weight
        graph.add_grid_edges(nodes, padded, structure, symmetric=True)
    graph.add_grid_tedges(nodes, np.maximum(-unary, 0), np.maximum(unary, 0))
    graph.maxflow()
    return ~graph.get_grid_segments(nodes)


def timed(solve: Callable[..., np.ndarray], repeats: int, *data: Any) -> tuple[float, np.ndarray]:
    """Return the median of wall seconds, and the mask."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        mask = solve(*data)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), mask


def main() -> None:
    """Time all instances and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--connectivity", type=int, default=8, choices=(4, 8))
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    print(f"{'instance':22}{'submin s':>10}{'PyMaxflow s':>13}{'ratio':>8}")
    ratios = []
    for name, build in instances(arguments.connectivity).items():
        if arguments.only not in name:
            continue
        problem = build()
        grid = problem.terms[0]
        assert isinstance(grid, sm.GridCut)
        shaped = [
            forward.reshape(overlap)
            for (_, forward, _), overlap in zip(grid.segments, grid.overlaps, strict=True)
        ]
        data = (problem.unary, shaped, arguments.connectivity)
        ours, mask = timed(by_submin, arguments.repeats, *data)
        theirs, other = timed(by_pymaxflow, arguments.repeats, *data)
        values = problem.evaluate(mask), problem.evaluate(other)
        if abs(values[0] - values[1]) > 1e-9 * abs(values[1]):
            raise RuntimeError(f"{name}: the minima differ: {values}")
        ratios.append(theirs / ours)
        print(f"{name:22}{ours:10.3f}{theirs:13.3f}{ratios[-1]:8.1f}", flush=True)
    mean = float(np.exp(np.mean(np.log(ratios))))
    print(f"geometric mean of the ratios {mean:.1f}, smallest {min(ratios):.1f}")


if __name__ == "__main__":
    main()
