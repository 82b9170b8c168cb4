"""Compare the bits of answers between machines, compilers and widths of vectors.

python -m tests.same_bits record FOLDER     solves problems, and saves them with their answers
python -m tests.same_bits compare FOLDER    solves them again, and names answers with other bits

The problems are read from files, since random numbers may have other last bits elsewhere.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import numpy as np

import submin as sm
from submin import kernels
from submin.solvers import REGISTRY

PASSES = 12
SUMS_OF_BLAS = {"anderson_sweeps", "frank_wolfe", "pairwise_frank_wolfe", "minimum_norm_point"}
"""Solvers with matrix products, whose order of sums is that of the BLAS at hand."""

SOLVERS = sorted(REGISTRY.keys() - SUMS_OF_BLAS)


def problems() -> dict[str, sm.Problem]:
    """Return problems with every kind of block, and real numbers: the order of sums matters."""
    random = np.random.default_rng(14)
    shape, n = (24, 33), 24 * 33
    unary = 2.0 * random.normal(size=shape)
    overlaps = sm.GridCut(shape, 0.0, 8).overlaps
    grid = sm.GridCut(shape, [random.random(overlap) for overlap in overlaps], 8)
    tails = random.integers(0, n, 3 * n)
    heads = (tails + random.integers(1, n, 3 * n)) % n
    graph = sm.Cut(tails, heads, *random.random((2, 3 * n)))
    chain = sm.GridCut((n,), [random.random(n - 1)], 2)
    return {
        "grid": sm.Problem(unary, [grid]),
        "chain": sm.Problem(unary.ravel(), [chain]),
        "volume": sm.Problem(unary.reshape(6, 4, 33), [sm.GridCut((6, 4, 33), 0.7, 26)]),
        "graph": sm.Problem(unary.ravel(), [graph]),
        "groups": sm.Problem(unary, [grid, *groups(random, n)]),
    }


def groups(random: np.random.Generator, n: int) -> list[sm.Term]:
    """Return a term of each family of groups, on random members."""
    pointers, members, masses = np.arange(0, n + 1, 6), random.permutation(n), random.random(n)
    caps = 0.4 * np.add.reduceat(masses, pointers[:-1])
    unions = np.tile([0, 1, 1, 1, 1, 1, 1, 1], (n // 3, 1)) * random.random((n // 3, 1))
    return [
        sm.Cardinality(pointers, members, lambda k, m: 0.1 * k * (m - k)),
        sm.Hyperedge(pointers, members, random.random(caps.size)),
        sm.Truncation(pointers, members, masses, caps),
        sm.Table(members.reshape(-1, 3), unions),
    ]


def answer(problem: sm.Problem, solver: str) -> dict[str, np.ndarray] | None:
    """Return the numbers of an answer, or None where the solver does not take the problem."""
    try:
        result = sm.minimize(problem, solver, max_passes=PASSES)
    except TypeError:
        return None
    numbers = {"x": result.x, "minimizer": result.minimizer, "passes": np.array(result.passes)}
    numbers |= {"bounds": np.array([result.value, result.lower_bound, result.gap])}
    return numbers | {f"dual {k}": part for k, part in enumerate(result.dual)}


def record(folder: Path) -> int:
    """Save the problems and their answers; return how many answers there are."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, problem in problems().items():
        problem.save(folder / f"{name}.npz")
        for solver in SOLVERS:
            found = answer(problem, solver)
            if found is not None:
                np.savez(folder / f"{name}-{solver}.answer.npz", **found)
                count += 1
    return count


def compare(folder: Path) -> tuple[int, list[str]]:
    """Return how many answers there are, and name the numbers that have other bits here."""
    different = []
    paths = sorted(folder.glob("*.answer.npz"))
    for path in paths:
        name, solver = path.name.removesuffix(".answer.npz").split("-")
        found = answer(sm.Problem.load(folder / f"{name}.npz"), solver) or {}
        with np.load(path) as expected:
            different += [
                f"{name}, {solver}: {entry}"
                for entry in expected.files
                if entry not in found or found[entry].tobytes() != expected[entry].tobytes()
            ]
    return len(paths), different


def main(task: str, folder: Path) -> int:
    """Return the exit code: 1 where bits differ, or where there is nothing to compare."""
    where = f"{platform.machine()}, {kernels.active.vector_width()}"
    if task == "record":
        print(f"{where}: {record(folder)} answers saved")
        return 0
    count, different = compare(folder)
    print(f"{where}: {count} answers, {len(different)} numbers differ", *different, sep="\n")
    return int(count == 0 or bool(different))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
