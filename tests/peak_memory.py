"""Peak of resident bytes of a solve in a fresh process, and the bytes that ``describe`` counts.

python peak_memory.py SOLVER TYPE CONNECTIVITY AXIS [AXIS ...]      CONNECTIVITY 0: hyperedges of 5
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import submin as sm
from submin.solve.description import peak_memory


def problem(shape: tuple[int, ...], connectivity: int, dtype: str) -> sm.Problem:
    """A grid of coarse squares under noise, with weights of their own for all edges."""
    rng = np.random.default_rng(0)
    unary = sum(np.sin(axis / 9.0) for axis in np.ogrid[tuple(slice(k) for k in shape)])
    unary = unary + rng.normal(size=shape)
    if not connectivity:
        members = np.arange(unary.size)[:, None] + [0, 1, 2, 4, 8]
        pointers = np.arange(0, members.size + 1, members.shape[1])
        return sm.Problem(
            unary, [sm.Hyperedge(pointers, members % unary.size, rng.random(unary.size))]
        )
    frame = sm.GridCut(shape, 0.0, connectivity)
    most = 4.0 / len(frame.offsets)
    weights = [(most * rng.random(overlap)).astype(dtype) for overlap in frame.overlaps]
    return sm.Problem(unary, [sm.GridCut(shape, weights, connectivity)])


def resident(field: str) -> int:
    """Resident bytes: VmRSS, those now; VmHWM, the most so far (not those of a parent)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


if __name__ == "__main__":
    solver = getattr(sm, sys.argv[1])()
    dtype, (connectivity, *shape) = sys.argv[2], map(int, sys.argv[3:])
    sm.minimize(problem((3,) * len(shape), connectivity, dtype), solver, max_passes=6)  # imports
    instance = problem(tuple(shape), connectivity, dtype)
    before = resident("VmRSS")
    sm.minimize(instance, solver, max_passes=6)
    print(resident("VmHWM") - before, peak_memory(sm.Layout(instance), solver))
