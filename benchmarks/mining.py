"""Open pits: the ultimate pit and all nested pits of a deposit, by infinite weights.

    python benchmarks/mining.py [--python OTHER] [--repeats 5]

The block values of `data/mining/bauxitemed.dat` in the folder SUBMIN_DATA; each block needs the 9
above it.  Rows: the smallest and the largest ultimate pit, from arrays to mask and certificate, for
values times 1, 1000 and 10^6; all nested pits at once (``sm.path``: a price off every block); and
pymineflow (Python 3.12 or later) in the Python of --python, its set alone.  Medians.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import submin as sm

SHAPE = (26, 120, 120)
PEER = """
import sys, time
import numpy as np, pymineflow
data = np.load(sys.argv[1])
seconds = []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    pit = pymineflow.ExplicitPit(data["values"].size, data["tails"], data["heads"], data["values"])
    pit.solve()
    seconds.append(time.perf_counter() - start)
print(np.median(seconds))
"""


def precedences(shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the arcs from each block to the 3 x 3 above it."""
    blocks = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    pairs = []
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            rows = (
                slice(max(0, -dy), shape[1] - max(0, dy)),
                slice(max(0, dy), shape[1] + min(0, dy)),
            )
            columns = (
                slice(max(0, -dx), shape[2] - max(0, dx)), slice(max(0, dx), shape[2] + min(0, dx)),
            )  # fmt: skip
            below, above = blocks[:-1, rows[0], columns[0]], blocks[1:, rows[1], columns[1]]
            pairs.append((below.ravel(), above.ravel()))
    tails, heads = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    return tails, heads


def median(repeats: int, call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the median of seconds, and the last answer."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), answer


def main() -> None:
    """Print a line for each question."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", help="a Python that has pymineflow")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    folder = Path(os.environ.get("SUBMIN_DATA", "../shared/data"))
    values = np.loadtxt(folder / "mining" / "bauxitemed.dat")
    tails, heads = precedences(SHAPE)

    def problem(scale: float = 1.0) -> sm.Problem:
        infinite = np.full(tails.size, np.inf)
        return sm.Problem(-scale * values, [sm.Cut(tails, heads, infinite, np.zeros(tails.size))])

    for scale in (1.0, 1e3, 1e6):
        for largest in (False, True):
            seconds, pit = median(
                arguments.repeats,
                lambda s=scale, side=largest: sm.minimize(problem(s), sm.MaxFlow(largest=side)),
            )
            side = "largest" if largest else "smallest"
            print(
                f"{side:8} pit, values x {scale:g}: {seconds:.2f} s, {int(pit.minimizer.sum())} "
                f"blocks, {-pit.value:.0f}, {pit.status.name}", flush=True,
            )  # fmt: skip
    seconds, path = median(max(1, arguments.repeats // 2), lambda: sm.path(problem()))
    print(
        f"all {len(path) - 1} nested pits: {seconds:.2f} s; {int(path.minimizer(0.0).sum())} and "
        f"{int(path.minimizer(0.0, largest=True).sum())} blocks at a price of 0"
    )
    if arguments.python:
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "mine.npz"
            np.savez(file, values=values.astype(np.int64), tails=tails, heads=heads)
            command = [arguments.python, "-c", PEER, str(file), str(arguments.repeats)]
            print(f"pymineflow: {float(subprocess.check_output(command)):.2f} s")


if __name__ == "__main__":
    main()
