"""Compare the bits of answers between machines, compilers and widths of vectors.

python -m tests.same_bits record FOLDER     solves problems, and saves them with their answers
python -m tests.same_bits compare FOLDER    solves them again, and names answers with other bits

The problems are read from files, since random numbers may have other last bits elsewhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import submin as sm
from submin.solvers import REGISTRY

PASSES = 20


def problems() -> dict[str, sm.Problem]:
    """Problems with every kind of block: real numbers, so that the order of sums matters."""
    random = np.random.default_rng(14)
    shape = (24, 33)
    n = int(np.prod(shape))
    unary = 2.0 * random.normal(size=shape)
    frame = sm.GridCut(shape, 0.0, 8)
    grid = sm.GridCut(shape, [random.random(overlap) for overlap in frame.overlaps], 8)
    tails = random.integers(0, n, 3 * n)
    heads = (tails + random.integers(1, n, 3 * n)) % n
    graph = sm.Cut(tails, heads, *random.random((2, 3 * n)))
    labels = np.arange(n).reshape(shape) // 11
    pointers = np.arange(0, n + 1, 6)
    members = random.permutation(n)
    masses = random.random(members.size)
    caps = 0.4 * np.add.reduceat(masses, pointers[:-1])
    unions = np.tile([0, 1, 1, 1, 1, 1, 1, 1], (n // 3, 1)) * random.random((n // 3, 1))
    groups = [
        sm.Cardinality.from_labels(labels, lambda k, m: 0.1 * k * (m - k)),
        sm.Hyperedge(pointers, members, random.random(caps.size)),
        sm.Truncation(pointers, members, masses, caps),
        sm.Table(members.reshape(-1, 3), unions),
    ]
    return {
        "grid": sm.Problem(unary, [grid]),
        "chain": sm.Problem(unary.ravel(), [sm.GridCut((n,), [random.random(n - 1)], 2)]),
        "volume": sm.Problem(unary.reshape(6, 4, 33), [sm.GridCut((6, 4, 33), 0.7, 26)]),
        "graph": sm.Problem(unary.ravel(), [graph]),
        "groups": sm.Problem(unary, [grid, *groups]),
    }


def answer(problem: sm.Problem, name: str) -> dict[str, np.ndarray] | None:
    """The numbers of an answer, or None where the solver does not take the problem."""
    try:
        result = sm.minimize(problem, name, max_passes=PASSES)
    except TypeError:
        return None
    numbers = {"x": result.x, "minimizer": result.minimizer, "passes": np.array(result.passes)}
    numbers |= {"bounds": np.array([result.value, result.lower_bound, result.gap])}
    return numbers | {f"dual {k}": part for k, part in enumerate(result.dual)}


def record(folder: Path) -> None:
    for name, problem in problems().items():
        problem.save(folder / f"{name}.npz")
        stored = sm.Problem.load(folder / f"{name}.npz")
        for solver in REGISTRY:
            found = answer(stored, solver)
            if found is not None:
                np.savez(folder / f"{name}-{solver}.answer.npz", **found)


def compare(folder: Path) -> list[str]:
    """Name the answers that have other bits here."""
    different = []
    for path in sorted(folder.glob("*.answer.npz")):
        name, solver = path.name.removesuffix(".answer.npz").split("-")
        found = answer(sm.Problem.load(folder / f"{name}.npz"), solver)
        with np.load(path) as expected:
            for entry in expected.files:
                if found[entry].tobytes() != expected[entry].tobytes():
                    different.append(f"{name}, {solver}: {entry}")
    return different


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    if sys.argv[1] == "record":
        record(folder)
    else:
        different = compare(folder)
        print("\n".join(different) or "the same bits")
        sys.exit(bool(different))
