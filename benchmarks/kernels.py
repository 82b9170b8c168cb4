"""Kernels: nanoseconds of one sweep per edge or member, beside the copy bandwidth of the machine.

    python benchmarks/kernels.py [--threads 1]

Medians over sweeps of a photograph's problem (8 neighbours) and of its superpixels, first cold and
then as later passes find them.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import submin as sm
from instances import photograph_problem
from submin.terms.blocks.grid_blocks import GridChains


def copy_bandwidth() -> float:
    """Return gigabytes a second of a large array copy, reads and writes counted."""
    source = np.zeros(2**24)
    target = np.empty_like(source)
    seconds = []
    for _ in range(7):
        start = time.perf_counter()
        np.copyto(target, source)
        seconds.append(time.perf_counter() - start)
    return 2 * source.nbytes / float(np.median(seconds)) / 1e9


def sweeps(problem: sm.Problem, decomposition: str, threads: int, passes: int = 7) -> None:
    """Print the first and the median later time of every block, per dual coordinate."""
    layout = sm.Layout(problem, decomposition, threads)
    dual = layout.feasible_start()
    s = layout.total(dual)
    seconds = np.empty((passes, layout.r))
    for row in seconds:
        for i in range(layout.r):
            start = time.perf_counter()
            layout.sweep(i, dual, s)
            row[i] = time.perf_counter() - start
    for i, block in enumerate(layout.blocks):
        name = type(block).__name__
        if isinstance(block, GridChains):
            name += f" {block.grid.offsets[block.offset]}"
        first, later = seconds[0, i], float(np.median(seconds[1:, i]))
        scale = 1e9 / block.size
        print(f"  {name:24}{block.size:10,} {first * scale:8.1f} {later * scale:8.1f}")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    threads = parser.parse_args().threads
    print(f"copy bandwidth {copy_bandwidth():.1f} GB/s; {threads} thread(s)")
    print(f"  {'block':24}{'size':>10} {'first':>8} {'later':>8}   ns per coordinate")
    for smoothness in (5.0, 50.0):
        problem = photograph_problem("astronaut", smoothness)
        for decomposition in ("chains", "matchings"):
            print(f"astronaut, smoothness {smoothness:g}, {decomposition}")
            sweeps(problem, decomposition, threads)
    rows, columns = np.indices(problem.shape)
    labels = rows // 22 * 24 + columns // 22
    regions = sm.Cardinality.from_labels(labels, lambda k, m: 0.01 * k * (m - k))
    print("square superpixels of 484 pixels, alone")
    sweeps(sm.Problem(problem.unary, [regions]), "auto", threads)


if __name__ == "__main__":
    main()
