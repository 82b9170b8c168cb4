"""Methods for small problems: how their passes and seconds grow.

    python benchmarks/small_problems.py together    blocks that move together: passes to a gap
    python benchmarks/small_problems.py schrijver   seconds by the number of elements
    python benchmarks/small_problems.py flow        SubmodularFlow after a few passes of sweeps
    python benchmarks/small_problems.py vertices    methods of greedy vertices alone, by elements
    python benchmarks/small_problems.py functions   one large function, in Python and compiled

The docs quote what it prints.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import submin as sm
from solvers import random_mixture
from submin.solvers import comparison

SECONDS = 60.0
ROOT_IN_C = """
#include <math.h>
#include <stdint.h>
double root(const uint8_t *member, int64_t size, void *data) {
    int64_t count = 0;
    for (int64_t i = 0; i < size; i++) count += member[i];
    return 2.0 * sqrt((double)count);
}
"""


def noise(*shape: int) -> Any:
    """Return normal numbers, the same in each run."""
    return np.random.default_rng(0).normal(size=shape)


def together() -> None:
    """Print the passes to a discrete gap of 0.01 on a grid of lines and on a star."""
    leaves = np.arange(1, 40)
    cases = {
        "grid of lines": (sm.Problem(2.0 * noise(12, 12), [sm.GridCut((12, 12), 1.0)]), "lines"),
        "star": (sm.Problem(2.0 * noise(40), [sm.Cut(0 * leaves, leaves, 1.0)]), "matchings"),
    }
    solvers = [
        sm.AP(), comparison.IAP(),
        comparison.ParallelRCDM(), comparison.ParallelRCDM(sampling="greedy"),
        comparison.ParallelACDM(), comparison.ParallelACDM(sampling="greedy"),
    ]  # fmt: skip
    for name, (problem, blocks) in cases.items():
        print(f"{name}, r = {sm.Layout(problem, blocks).r}")
        for solver in solvers:
            result = sm.minimize(problem, solver, tol=0.01, blocks=blocks)
            print(f"  {result.passes:6.0f} passes  {solver}")


def grid_with_groups(rows: int) -> sm.Problem:
    """Build a grid of rows of five, each row a group."""
    shape = (rows, 5)
    groups = sm.Cardinality.from_labels(np.indices(shape)[0], lambda k, m: 0.2 * k * (m - k))
    return sm.Problem(noise(*shape), [sm.GridCut(shape, 0.5), groups])


def schrijver() -> None:
    """Print the seconds of Schrijver's algorithm for 10 to 30 elements."""
    for rows in (2, 3, 4, 5, 6):
        report(grid_with_groups(rows), comparison.Schrijver())


def flow() -> None:
    """Print the seconds of SubmodularFlow from ten passes of sweeps, and from the usual start."""
    problem = random_mixture()
    near = sm.minimize(problem, "accelerated_sweeps", max_passes=10)
    print(f"after 10 passes of AcceleratedSweeps, {near.seconds:.2f} s: gap {near.gap:.3g}")
    report(problem, sm.SubmodularFlow(), warm_start=near)
    report(problem, sm.SubmodularFlow(), time_limit=20.0)


def vertices() -> None:
    """Print the seconds of the methods that use greedy vertices alone, on grids."""
    for side in (10, 20, 40, 80):
        problem = sm.Problem(noise(side, side), [sm.GridCut((side, side), 0.5)])
        for solver in (sm.MinimumNormPoint(), comparison.PairwiseFrankWolfe()):
            report(problem, solver)


def functions() -> None:
    """Print the seconds of one square root of a count, of 25 to 400 elements."""
    for size, (name, function) in ((k, f) for k in (25, 50, 100, 200, 400) for f in roots(k)):
        print(f"{name:9}", end="")
        report(sm.Problem(0.3 * noise(size) - 0.1, [function]), sm.AcceleratedSweeps())


def roots(size: int) -> Iterator[tuple[str, sm.Function]]:
    """Make the square root of the count, called set by set, in batches, and in C."""
    if size <= 100:
        yield "evaluate", sm.Function(range(size), lambda mask: 2.0 * float(mask.sum()) ** 0.5)
    yield "batched", sm.Function.batched(range(size), lambda sets: 2.0 * np.sqrt(sets.sum(axis=1)))
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "root.c", Path(folder) / "root.so"
        source.write_text(ROOT_IN_C)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        root = ctypes.CDLL(str(library)).root
        root.restype = ctypes.c_double
        root.argtypes = [ctypes.POINTER(ctypes.c_uint8), ctypes.c_int64, ctypes.c_void_p]
        yield "compiled", sm.Function.compiled(range(size), root)


def report(problem: sm.Problem, solver: Any, **settings: Any) -> None:
    """Solve and print a line."""
    result = sm.minimize(problem, solver, **{"time_limit": SECONDS, **settings})
    print(
        f"{problem.n:6} elements  {result.passes:6.0f} passes  {result.seconds:7.2f} s  "
        f"gap {result.gap:8.2g}  {result.status.name:8}  {solver}",
        flush=True,
    )


COMMANDS: dict[str, Callable[[], None]] = {
    command.__name__: command for command in (together, schrijver, flow, vertices, functions)
}


def main() -> None:
    """Run the measurements that are named."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commands", nargs="+", choices=list(COMMANDS))
    for name in parser.parse_args().commands:
        COMMANDS[name]()


if __name__ == "__main__":
    main()
