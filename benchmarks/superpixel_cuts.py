"""The public superpixel instances: passes and seconds of each solver to the published minimum.

    python benchmarks/superpixel_cuts.py curves     the published implementation's setting
    python benchmarks/superpixel_cuts.py minima     full instances, default blocks
    python benchmarks/superpixel_cuts.py pass       seconds of one RCDM pass

`curves` restricts smallplant p500 to superpixels 1..500, with the edges between neighbouring image
lines and each superpixel as blocks (r = 1565), as the public C++ implementation does.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import submin as sm
from instances import SUPERPIXEL_INSTANCES, superpixel_problem

PUBLISHED_CURVES = {
    "RCDM": "smooth 1.84e5 / 9.57e4 / 4.28e4, discrete 2768 / 1218 / 454, 5.3 s",
    "ACDM": "smooth 2.71e5 / 1.00e5 / 2.53e4, discrete 3491 / 1104 / 206, 6.1 s",
    "AP": "smooth 2.24e6 / 2.22e6 / 2.19e6, discrete 40663 / 40312 / 39573, 0.7 s",
}


def curves() -> None:
    """Print gaps at 5, 10 and 20 passes beside the published ones."""
    problem = superpixel_problem("plant500", largest_label=500)
    solvers: list[Any] = [
        sm.RCDM(),
        sm.ACDM(epoch_passes=10),
        sm.ACDM(epoch_passes=10, step_constant=None),
        sm.AP(),
    ]
    for solver in solvers:
        result = sm.minimize(problem, solver, blocks=("lines", "functions"), max_passes=20)
        print(solver)
        print("  published:", PUBLISHED_CURVES[type(solver).__name__])
        for record in result.history:
            if round(record.passes) in (5, 10, 15, 20):
                print(
                    f"  {record.passes:5.1f} passes: smooth gap {record.smooth_gap:.3g}, "
                    f"discrete gap {record.discrete_gap:.5g}, {record.seconds:.2f} s"
                )


def minima(limit: float = 300.0) -> None:
    """Print what each solver needs on the full instances with its default blocks."""
    solvers: list[Any] = [
        sm.AcceleratedSweeps(),
        sm.RCDM(),
        sm.ACDM(epoch_passes=100),
        sm.AP(),
    ]
    print("instance  solver  value - published  gap  status  passes  seconds  (published seconds)")
    for name, instance in SUPERPIXEL_INSTANCES.items():
        problem = superpixel_problem(name)
        for solver in solvers:
            result = sm.minimize(problem, solver, time_limit=limit, max_passes=1e6, check_every=25)
            print(
                f"{name}  {solver}  {result.value - instance.minimum:.3g}  {result.gap:.3g}  "
                f"{result.status.name}  {result.passes:g}  {result.seconds:.2f}  "
                f"({instance.published_seconds})",
                flush=True,
            )


def one_pass(repeats: int = 15) -> None:
    """Print the median time of one RCDM pass of 1565 projections."""
    problem = superpixel_problem("plant500", largest_label=500)
    layout, solver = sm.Layout(problem, ("lines", "functions")), sm.RCDM()
    state = solver.start(layout, layout.feasible_start())
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(layout.r):
            solver.step(layout, state)
        seconds.append(time.perf_counter() - start)
    print(f"one RCDM pass of {layout.r} projections: median {np.median(seconds) * 1e3:.1f} ms")


if __name__ == "__main__":
    {"curves": curves, "minima": minima, "pass": one_pass}[sys.argv[1]]()
