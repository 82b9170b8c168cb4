"""Beyond the paper: the same instances to certified optimality, and superpixels on top of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from submin.model.problem import Problem
from submin.reproduce.instances import SUPERPIXELS, Instance, SuperpixelInstance
from submin.solve.api import minimize
from submin.solve.result import Result
from submin.solve.verification import verify
from submin.solvers import AcceleratedSweeps, CyclicSweeps, MaxFlow, Solver

Progress = Callable[[str], object]


class Method(NamedTuple):
    """A solver, the blocks it works on, and the most passes that it gets."""

    name: str
    solver: Solver[Any]
    blocks: str
    max_passes: int


METHODS = (
    Method("accelerated sweeps, matchings", AcceleratedSweeps(), "matchings", 1000),
    Method("cyclic sweeps, chains", CyclicSweeps(), "chains", 300),
    Method("accelerated sweeps, chains", AcceleratedSweeps(), "chains", 1000),
    Method("chain sweeps, then max-flow", MaxFlow(), "chains", 1000),
)
EXACT = METHODS[-1].name


def finish(instance: Instance, progress: Progress) -> dict[str, Any]:
    """Solve an instance by every method."""
    found = {}
    for method in METHODS:
        progress(f"{instance.title}: {method.name}")
        result = minimize(
            instance.problem, method.solver, blocks=method.blocks,
            max_passes=method.max_passes,
        )  # fmt: skip
        found[method.name] = _numbers(instance.problem, result)
    return found


def _numbers(problem: Problem, result: Result) -> dict[str, Any]:
    """Return JSON fields of a result; gap and status are those of the independent certificate."""
    certificate = verify(problem, result)
    return {
        "value": certificate.value,
        "gap": certificate.gap,
        "rounding": certificate.rounding,
        "status": certificate.status().name,
        "elements": int(result.minimizer.sum()),
        "passes": result.passes,
        "seconds": result.seconds,
        "history": {
            "passes": result.history.passes.tolist(),
            "discrete_gap": (result.history.value - result.history.lower_bound).tolist(),
        },
    }


def superpixels(data: Path, step: int, progress: Progress) -> dict[str, Any]:
    """Solve the superpixel instances with the library's own choice of solver."""
    return {entry.key: _superpixel(data, entry, step, progress) for entry in SUPERPIXELS}


def _superpixel(
    data: Path, entry: SuperpixelInstance, step: int, progress: Progress
) -> dict[str, Any]:
    progress(f"superpixels: {entry.key}")
    problem = entry.problem(data, step)
    result = minimize(problem, check_every=1)
    return {
        **_numbers(problem, result),
        "solver": result.solver,
        "largest_superpixel": int(max(np.diff(problem.terms[1].arrays()["pointers"]))),
        **(_published(entry, problem, result) if step == 1 else {}),
    }


def _published(entry: SuperpixelInstance, problem: Problem, result: Result) -> dict[str, Any]:
    """Return what is published of an instance, and when the best set so far was as close."""
    offset = float(np.abs(np.minimum(problem.unary, 0.0)).sum())
    optimum = result.value + offset
    errors = (result.history.value + offset - optimum) / optimum
    return {
        "published_value": entry.minimum,
        "published_exact_seconds": entry.exact_seconds,
        "published_arcs": entry.exact_arcs,
        "approximate": [
            {
                "published_seconds": seconds,
                "relative_error": error,
                **_first_within(result, errors, error),
            }
            for seconds, error in entry.approximate
        ],
    }


def _first_within(result: Result, errors: np.ndarray, error: float) -> dict[str, float]:
    """Return when the best set so far first had a relative error of at most `error`."""
    index = int(np.argmax(errors <= error))
    record = result.history[index]
    return {"passes": record.passes, "seconds": record.seconds}
