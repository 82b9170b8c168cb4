"""Total variation, exactly: seconds of ours and of other codes on the same noisy photograph.

    python benchmarks/total_variation.py [--python OTHER] [--sizes 256 512] [--weights .02 .1 .5]
                                         [--repeats 5] [--only WORD]

minimise sum (x - b)^2 / 2 + weight * sum |x_p - x_q| over neighbours, b the photograph "camera" of
scikit-image with noise of 0.1, and a volume.  Rows: ours on the grid, with its certificate; ours on
the list of its edges; and what the Python of --python has: fastprox (3.12 or later), to its exact
finish, on the grid and on the list of edges, and proxTV to about 1e-6, both for neighbours along
the axes.  The codes take turns in one run; seconds are medians, ratios are those of medians.  All
objectives are computed here, from x.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from skimage import data as images

import submin as sm
from total_variation_peers import CODES, edges

NOISE = 0.1
Solve = Callable[[np.ndarray, float], np.ndarray]


def photograph(size: int) -> np.ndarray:
    """Return the photograph at a size that divides 512, with noise."""
    step = 512 // size
    clean = images.camera().reshape(size, step, size, step).mean(axis=(1, 3)) / 255.0
    noise: np.ndarray = np.random.default_rng(0).normal(size=clean.shape)
    return clean + NOISE * noise


def volume(size: int) -> np.ndarray:
    """Return balls of different grey in a cube, with noise."""
    rng = np.random.default_rng(0)
    places = np.stack(np.meshgrid(*[np.linspace(0, 1, size)] * 3, indexing="ij"))
    clean = np.zeros((size,) * 3)
    for value in np.linspace(0.2, 1.0, 9):
        centre = rng.random(3)[:, None, None, None]
        clean[np.sum((places - centre) ** 2, axis=0) < 0.04] = value
    return clean + NOISE * rng.normal(size=clean.shape)


def objective(x: np.ndarray, b: np.ndarray, weight: float, connectivity: int) -> float:
    """Return the sum of squares and the total variation."""
    grid = sm.GridCut(b.shape, weight, connectivity=connectivity)
    tails, heads = grid.edge_list()
    flat, apart = x.ravel(), (x - b).ravel()
    return 0.5 * float(apart @ apart) + weight * float(np.sum(np.abs(flat[tails] - flat[heads])))


def ours(connectivity: int) -> Solve:
    """Return our solve, from the array to x and its certificate."""

    def solve(b: np.ndarray, weight: float) -> np.ndarray:
        grid = sm.GridCut(b.shape, weight, connectivity=connectivity)
        return sm.prox(sm.Problem(-b, [grid])).x

    return solve


def ours_on_edges(b: np.ndarray, weight: float) -> np.ndarray:
    """Solve from a list of edges."""
    tails, heads = edges(b.shape)
    cut = sm.Cut(tails, heads, np.full(tails.size, weight))
    return sm.prox(sm.Problem(-b.ravel(), [cut])).x.reshape(b.shape)


class Peers:
    """A process of another Python that solves one task after the other."""

    def __init__(self, python: str, folder: Path) -> None:
        script = Path(__file__).with_name("total_variation_peers.py")
        self.process = subprocess.Popen(
            [python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.folder = folder

    def solve(self, code: str, b: np.ndarray, weight: float) -> tuple[float, np.ndarray] | str:
        """Return seconds and x, or why there are none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        file = self.folder / "b.npy"
        np.save(file, b)
        task = {"code": code, "file": str(file), "weight": weight}
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            return str(answer["error"])
        return float(answer["seconds"]), np.load(answer["file"])


def timed(solve: Solve, b: np.ndarray, weight: float) -> tuple[float, np.ndarray]:
    """Return seconds and x."""
    start = time.perf_counter()
    x = solve(b, weight)
    return time.perf_counter() - start, x


def rows(connectivity: int, peers: Peers | None) -> Iterator[tuple[str, Solve | str]]:
    """Yield the codes for a neighbourhood: a function of ours, or the name of another."""
    yield "submin", ours(connectivity)
    if connectivity in (4, 6):
        yield "submin, edges", ours_on_edges
        if peers is not None:
            yield from ((code, code) for code in CODES if connectivity == 4 or code != "proxtv")


def compare(
    name: str, b: np.ndarray, weight: float, connectivity: int, peers: Peers | None, repeats: int
) -> None:
    """Print the medians of all codes on one instance, and the ratios to ours of the same kind."""
    codes = list(rows(connectivity, peers))
    seconds: dict[str, list[float]] = {code: [] for code, _ in codes}
    values: dict[str, str] = {}
    for _ in range(repeats):
        for code, solve in codes:
            if isinstance(solve, str):
                assert peers is not None
                found = peers.solve(solve, b, weight)
                if isinstance(found, str):
                    values[code] = found
                    continue
            else:
                found = timed(solve, b, weight)
            seconds[code].append(found[0])
            values[code] = f"{objective(found[1], b, weight, connectivity):.10f}"
    print(f"{name}, weight {weight}, {connectivity} neighbours")
    medians = {code: float(np.median(own)) for code, own in seconds.items() if own}
    for code, _ in codes:
        if code not in medians:
            print(f"    {code:16} {values[code]}")
            continue
        base = medians["submin, edges" if code.endswith("graph") else "submin"]
        ratio = medians[code] / base
        print(f"    {code:16} {medians[code]:8.3f} s  {ratio:6.2f} of ours  {values[code]}")
    sys.stdout.flush()


def main() -> None:
    """Run the instances."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", help="a Python that has fastprox or prox_tv")
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512])
    parser.add_argument("--weights", type=float, nargs="+", default=[0.02, 0.1, 0.5])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="instances whose names have this word")
    arguments = parser.parse_args()
    instances = [
        (f"camera {size}", photograph(size), connectivity)
        for size in arguments.sizes
        for connectivity in (4, 8)
    ]
    instances += [("volume 64", volume(64), connectivity) for connectivity in (6, 26)]
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(arguments.python, Path(folder)) if arguments.python else None
        for name, b, connectivity in instances:
            if arguments.only in name:
                for weight in arguments.weights:
                    compare(name, b, weight, connectivity, peers, arguments.repeats)
        if peers is not None:
            peers.process.terminate()


if __name__ == "__main__":
    main()
