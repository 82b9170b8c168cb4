"""Answers of all entry points on small problems, to be compared between kernel sets.

``python -m tests.cross_section`` prints them as JSON.  Every number of them is known by theory: the
smallest and largest minimisers of integers, minima of integers, and an object without noise.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import submin as sm
from submin import kernels


def integers(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(seed).integers(-7, 8, shape).astype(float)


def problems() -> dict[str, sm.Problem]:
    """Integer problems of up to 16 elements, of every family."""
    rng = np.random.default_rng(1)
    labels = np.array([[0, 0, 1, 1], [0, 2, 2, 1], [3, 2, 2, 3]])
    weights = rng.integers(0, 5, 17).astype(np.float32)
    ends = rng.integers(0, 12, (2, 20))
    ends = ends[:, ends[0] != ends[1]]
    capacities = rng.integers(0, 6, (2, ends.shape[1]))
    table = sm.Table([[0, 5], [3, 9]], [0, 3, 2, 4])
    return {
        "grid": sm.Problem(integers(0, (4, 4)), [sm.GridCut((4, 4), 3, 8)]),
        "body": sm.Problem(integers(1, (2, 3, 2)), [sm.GridCut((2, 3, 2), 2, 26)]),
        "graph": sm.Problem(integers(2, (12,)), [sm.Cut(*ends, *capacities)]),
        "single": sm.Problem(
            integers(3, (3, 4)),
            [sm.GridCut((3, 4), [weights[:9].reshape(3, 3), weights[9:].reshape(2, 4)])],
        ),
        "hyperedges": sm.Problem(
            integers(4, (3, 4)), [sm.Hyperedge([0, 3, 7, 12], list(range(12)), [2, 4, 3])]
        ),
        "mixed": sm.Problem(
            integers(5, (3, 4)),
            [
                sm.GridCut((3, 4), 1),
                sm.Cardinality.from_labels(labels, lambda k, m: k * (m - k)),
                sm.Truncation([0, 4, 8], list(range(8)), [1, 2, 1, 1, 2, 2, 1, 1], [3, 4]),
                table,
            ],
        ),
        "pinned": sm.Problem([np.inf, 2, -np.inf, 1, -1], [sm.Cut([0, 2, 1], [1, 3, 4], 3)]),
    }


def networks() -> dict[str, sm.Network]:
    found = {}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        ends = rng.integers(0, 9, (2, 40))
        found[f"{seed}"] = sm.Network(*ends, rng.integers(0, 20, 40), 0, 8, nodes=9)
    return found


def disc() -> tuple[np.ndarray, np.ndarray]:
    """A bright disc on a dark ground, and where it is."""
    rows, columns = np.mgrid[:24, :28]
    truth = (rows - 12) ** 2 + (columns - 13) ** 2 < 50
    return np.where(truth, 220, 30).astype(np.uint8), truth


def answers() -> dict[str, Any]:
    found: dict[str, Any] = {"kernels": kernels.active.__name__.split(".")[-1]}
    for name, problem in problems().items():
        solvers: dict[str, Any] = {"auto": "auto", "sweeps": "AcceleratedSweeps"}
        if name != "mixed":
            solvers |= {"smallest": sm.MaxFlow(), "largest": sm.MaxFlow(largest=True)}
            solvers |= {"unswept": sm.MaxFlow(sweeps=0)}
        for way, solver in solvers.items():
            result = sm.minimize(problem, solver)
            sets = result.minimizer.tolist() if way in {"smallest", "largest", "unswept"} else None
            proof = sm.verify(problem, result).optimal
            found[f"{name} {way}"] = [result.value, proof, sets]
    for name, network in networks().items():
        flow = sm.max_flow(network)
        sides = flow.source_side.tolist(), flow.largest_source_side.tolist()
        found[f"network {name}"] = [flow.value, flow.verify().optimal, *sides]
    ends = np.random.default_rng(0).integers(0, 10, (2, 30))
    found["global cut"] = sm.global_min_cut(*ends, np.arange(1, 31), 10).value
    image, truth = disc()
    for name, settings in (("pixels", {}), ("superpixels", {"superpixels": 40})):
        mask = sm.segment(image, box=(2, 2, 26, 23), **settings).mask
        found[f"disc by {name}"] = bool(np.array_equal(mask, truth))
    return found


if __name__ == "__main__":
    print(json.dumps(answers()))
