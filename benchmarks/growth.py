"""How time and memory of a solve grow with the number of elements.

    python benchmarks/growth.py [--largest 2e7] [--repeats 3] [--only WORD]

Seconds and nanoseconds an element, end to end from arrays to mask, and bytes an element at the peak
beyond the input arrays, each size in a process of its own.  Two families: a photograph resampled to
n pixels with 8 neighbours, and a volume of balls and noise with 6.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import submin as sm
from instances import photograph_problem
from max_flow_instances import Instance, blob_problem, contrast_cut
from processes import apart


def photograph(n: int) -> sm.Problem:
    """Return a photograph's problem with its unary and its brightness resampled to n pixels."""
    import skimage.color
    import skimage.data
    import skimage.transform

    shape = (round(n**0.5),) * 2
    unary = skimage.transform.resize(photograph_problem("astronaut").unary, shape, order=1)
    grey = skimage.color.rgb2gray(skimage.data.astronaut())
    image = skimage.transform.resize(grey, shape, order=1)
    width = float(np.sqrt(np.mean(np.diff(image, axis=1) ** 2)))
    return sm.Problem(unary, [contrast_cut(image, 8, 5.0, width)])


def volume(n: int) -> sm.Problem:
    """Return the problem of a volume with about n voxels."""
    return blob_problem(round(n ** (1 / 3)), 6)


FAMILIES: dict[str, tuple[Callable[[int], sm.Problem], list[int]]] = {
    "photograph, 8 neighbours": (photograph, [10**4, 10**5, 10**6, 10**7]),
    "volume, 6 neighbours": (volume, [22**3, 46**3, 100**3, 128**3, 216**3, 256**3]),
}


def solved(problem: sm.Problem, repeats: int) -> tuple[float, float]:
    """Return the median of seconds, and bytes an element at the peak."""
    build = Instance(problem).builder()

    def once() -> float:
        start = time.perf_counter()
        result = sm.minimize(build())
        seconds = time.perf_counter() - start
        if not result.certificate.optimal:
            raise RuntimeError(f"not closed: {result}")
        return seconds

    outcome = apart(lambda: float(np.median([once() for _ in range(repeats)])))
    if outcome is None or outcome.error is not None:
        raise RuntimeError(f"the solve failed: {outcome}")
    return outcome.answer, outcome.peak_bytes / problem.n


def main() -> None:
    """Print one table for each family."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--largest", type=float, default=2e7, help="elements")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="a part of the families' names")
    arguments = parser.parse_args()
    sm.minimize(sm.Problem([0.0], [sm.GridCut(1, 1.0)]))  # what is imported at first use
    for name, (build, sizes) in FAMILIES.items():
        if arguments.only not in name:
            continue
        print(f"{name}\n{'elements':>12} {'seconds':>9} {'ns/element':>11} {'bytes/element':>14}")
        for n in (size for size in sizes if size <= arguments.largest):
            problem = build(n)
            seconds, peak = solved(problem, arguments.repeats)
            each = 1e9 * seconds / problem.n
            print(f"{problem.n:12,} {seconds:9.3f} {each:11.0f} {peak:14.0f}", flush=True)


if __name__ == "__main__":
    main()
