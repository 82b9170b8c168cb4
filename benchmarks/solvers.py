"""All solvers on the same instances: discrete gap against passes and against seconds.

    python benchmarks/solvers.py [--passes 200] [--seconds 60] [-o FOLDER]

Prints one table per instance and writes one figure per instance to FOLDER (by default
``benchmarks/results``).  The docs' page on choosing a solver quotes these tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

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
    "photograph": lambda: photograph_problem(smoothness=5.0),
    "mixture": random_mixture,
    "small": lambda: random_mixture(12),
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


def run(name: str, passes: float, seconds: float) -> dict[str, sm.Result]:
    """Run every solver on one instance and print its row."""
    problem = INSTANCES[name]()
    print(f"\n{name}: {problem}, r = {sm.Layout(problem).r}")
    print(
        f"{'solver':20}" + "".join(f"{f'gap @{k}':>12}" for k in CHECKPOINTS) + "  passes seconds"
    )
    results = {}
    for solver in REGISTRY:
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


def draw(name: str, results: dict[str, sm.Result], folder: Path) -> None:
    """Draw the gaps against passes and against seconds."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    colours = plt.get_cmap("tab20").colors  # type: ignore[attr-defined]
    for index, (solver, result) in enumerate(results.items()):
        gap = np.maximum(result.history.value - result.history.lower_bound, 1e-9)
        style = {"color": colours[index % 20], "label": solver, "lw": 1.6}
        style |= {"ls": ("-", "--", ":")[index % 3]}
        axes[0].plot(np.maximum(result.history.passes, 0.5), gap, **style)
        axes[1].plot(np.maximum(result.history.seconds, 1e-3), gap, **style)
    for axis, label in zip(axes, ("passes", "seconds"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel=label)
        axis.grid(alpha=0.3)
    axes[0].set(ylabel="best discrete gap (cost)", title=name)
    axes[1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    figure.savefig(folder / f"solvers_{name}.png", dpi=130)
    plt.close(figure)


def main() -> None:
    """Read the arguments and run all instances."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--passes", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--instances", nargs="+", choices=list(INSTANCES), default=list(INSTANCES))
    default = Path(__file__).parent / "results"
    parser.add_argument("-o", "--output", type=Path, default=default)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.instances:
        draw(name, run(name, arguments.passes, arguments.seconds), arguments.output)


if __name__ == "__main__":
    main()
