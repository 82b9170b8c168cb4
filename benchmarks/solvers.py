"""All solvers on the same instances: discrete gap against passes and against seconds.

    python benchmarks/solvers.py [--passes 200] [--seconds 60] [--plot FOLDER] [--format svg]

Prints one table for each instance, and draws one figure for each where a folder is given (with
matplotlib).  ``docs/measurements.md`` quotes these tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import solver_plots
import submin as sm
from instances import photograph_problem, superpixel_problem
from submin.solvers import REGISTRY

CHECKPOINTS = (5, 20, 50, 100, 200)


def random_mixture(side: int = 50) -> sm.Problem:
    """Build a grid cut, a random graph and overlapping groups on side x side elements."""
    rng = np.random.default_rng(0)
    shape, n = (side, side), side * side
    grid = sm.GridCut(shape, 1.0, connectivity=8)
    tails = rng.integers(0, n, 2 * n)
    heads = (tails + rng.integers(1, n, 2 * n)) % n
    graph = sm.Cut(tails, heads, rng.random(2 * n))
    sizes = rng.integers(2, 60, 2 * n // 25)
    members = np.concatenate([rng.choice(n, size, replace=False) for size in sizes])
    groups = sm.Cardinality(
        np.append(0, np.cumsum(sizes)), members, lambda k, m: 0.2 * np.minimum(k, m - k)
    )
    return sm.Problem(rng.normal(size=shape) * 6.0, [grid, graph, groups])


INSTANCES: dict[str, Callable[[], sm.Problem]] = {
    "plant500": lambda: superpixel_problem("plant500"),
    "plant200": lambda: superpixel_problem("plant200"),
    "oct500": lambda: superpixel_problem("oct500"),
    "photograph": lambda: photograph_problem(smoothness=5.0),
    "mixture": random_mixture,
    "small": lambda: random_mixture(12),
}

TITLES = {
    "plant500": "small plant, 273,280 pixels, 4 neighbours, 583 superpixels",
    "plant200": "small plant, 273,280 pixels, 4 neighbours, 240 superpixels",
    "oct500": "octopus, 273,280 pixels, 4 neighbours, 557 superpixels",
    "photograph": "camera, 262,144 pixels, 8 neighbours",
    "mixture": "2,500 elements: grid of 8 neighbours, random graph, 200 random groups",
}
MOST_ELEMENTS = {"minimum_norm_point": 5_000, "submodular_flow": 5_000, "schrijver": 30}
"""Where the small methods stop: memory for n vertices, augmentations in Python, n^4 iterations."""


def settings(name: str) -> Any:
    """Return a solver of the registry, with a practical epoch for the paper's ACDM."""
    return sm.ACDM(epoch_passes=50) if name == "acdm" else REGISTRY[name]()


def gap_at(history: sm.History, passes: float) -> float:
    """Return the best gap that was known at a number of passes."""
    known = history.passes <= passes + 1e-9
    return float((history.value - history.lower_bound)[known].min()) if known.any() else np.inf


def run(name: str, passes: float, seconds: float, solvers: Sequence[str]) -> dict[str, sm.Result]:
    """Run solvers on one instance and print their rows."""
    problem = INSTANCES[name]()
    print(f"\n{name}: {problem}, r = {sm.Layout(problem).r}")
    print(
        f"{'solver':20}" + "".join(f"{f'gap @{k}':>12}" for k in CHECKPOINTS) + "  passes seconds"
    )
    results = {}
    for solver in solvers:
        if problem.n > MOST_ELEMENTS.get(solver, problem.n):
            print(f"{solver:20}  left out: more than {MOST_ELEMENTS[solver]} elements")
            continue
        try:
            result = sm.minimize(problem, settings(solver), max_passes=passes, time_limit=seconds)
        except TypeError as refusal:
            print(f"{solver:20}  {refusal}")
            continue
        results[solver] = result
        reached = [k for k in CHECKPOINTS if k <= result.passes or result.certificate.optimal]
        gaps = [f"{gap_at(result.history, k):12.3g}" for k in reached]
        gaps += [f"{'-':>12}"] * (len(CHECKPOINTS) - len(gaps))
        row = f"{solver:20}{''.join(gaps)}  {result.passes:6.0f} {result.seconds:7.2f}"
        print(row + f"  {result.status.name}", flush=True)
    return results


def main() -> None:
    """Read the arguments and run all instances."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--passes", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--instances", nargs="+", choices=list(INSTANCES), default=list(INSTANCES))
    parser.add_argument("--solvers", nargs="+", choices=list(REGISTRY), default=list(REGISTRY))
    parser.add_argument("--plot", type=Path, metavar="FOLDER")
    parser.add_argument("--format", choices=("png", "svg", "pdf"), default="png")
    arguments = parser.parse_args()
    for name in arguments.instances:
        results = run(name, arguments.passes, arguments.seconds, arguments.solvers)
        if arguments.plot:
            arguments.plot.mkdir(parents=True, exist_ok=True)
            path = arguments.plot / f"solvers_{name}.{arguments.format}"
            solver_plots.draw(TITLES[name], results, path)


if __name__ == "__main__":
    main()
