"""Duality gaps of RCDM, ACDM and AP on the four instances: the paper's two figures as numbers.

As in the paper, projections onto base polytopes are counted, the blocks are matchings, all methods
start from y = 0, and after k passes each of the r blocks was projected k times on average.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from submin._typing import BoolArray, Dual, FloatArray
from submin.driver import Limits
from submin.layout import Layout
from submin.level_sets import best_level_set
from submin.problem import Problem
from submin.proximal_driver import ProximalRun
from submin.reproduce.instances import Instance
from submin.result import Record
from submin.solvers import ACDM, AP, RCDM, Solver

Maker = Callable[[int], Solver[Any]]
Progress = Callable[[str], object]

METHODS: dict[str, Maker] = {
    "RCDM": lambda seed: RCDM(seed=seed),
    "ACDM": lambda seed: ACDM(seed=seed),
    "AP": lambda _: AP(),
}
"""The paper's methods by name, each with the paper's constants, made from a seed."""

VARIANTS: dict[str, Maker] = {
    "ACDM, step constant counted": lambda seed: ACDM(seed=seed, step_constant=None),
    "ACDM, restart every 25 passes": lambda seed: ACDM(seed=seed, epoch_passes=25),
    "ACDM, restart every 10 passes": lambda seed: ACDM(seed=seed, epoch_passes=10),
}
SNAPSHOTS = (1, 20, 100)
"""Projections per block at which the paper shows segmentations."""
DETERMINISTIC = ("AP",)
TINY = 1e-15
"""Stands for a closed gap on a logarithmic axis."""


@dataclass(frozen=True)
class Curve:
    """Gaps of one method on one instance, on a common grid of passes.

    Attributes
    ----------
    passes : float array, shape (checks,)
    smooth, discrete : float array, shape (seeds, checks)
        nu_s (cost squared) and nu_d (cost), between two checks interpolated in their logarithms.
    least : float
        The smallest gap of both kinds at any check, as computed: below 0 by rounding alone.
    masks : dict of int to bool array
        The best level set of the first seed after so many passes.
    """

    passes: FloatArray
    smooth: FloatArray
    discrete: FloatArray
    least: float
    masks: dict[int, BoolArray] = field(default_factory=dict)

    def at(self, passes: float) -> tuple[float, float]:
        """Return the medians over the seeds of smooth and discrete gap."""
        (index,) = np.flatnonzero(self.passes == passes)
        return float(np.median(self.smooth[:, index])), float(np.median(self.discrete[:, index]))

    def first_seed(self) -> Curve:
        """Return the curve of the first seed alone."""
        return replace(self, smooth=self.smooth[:1], discrete=self.discrete[:1])

    def numbers(self) -> dict[str, Any]:
        """Return the curve as JSON fields."""
        return {
            "passes": self.passes.tolist(),
            "smooth_gap": self.smooth.tolist(),
            "discrete_gap": self.discrete.tolist(),
            "least_gap": self.least,
        }


def grid(passes: int) -> FloatArray:
    """Return the passes at which gaps are compared: each of the first five, then every fifth."""
    return np.array([*range(min(5, passes) + 1), *range(10, passes + 1, 5)], dtype=np.float64)


def compare(
    instance: Instance,
    methods: dict[str, Maker],
    seeds: Sequence[int],
    passes: int,
    progress: Progress,
) -> dict[str, Curve]:
    """Run every method with every seed, as many at once as there are cores."""
    jobs = [
        (name, seed) for name in methods for seed in (seeds[:1] if name in DETERMINISTIC else seeds)
    ]

    def one(job: tuple[str, int]) -> _Trace:
        name, seed = job
        progress(f"{instance.title}: {name}, seed {seed}")
        return _trace(instance.problem, methods[name](seed), passes)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        traces = list(pool.map(one, jobs))
    return {
        name: _curve(
            [t for (owner, _), t in zip(jobs, traces, strict=True) if owner == name], passes
        )
        for name in methods
    }


@dataclass
class _Trace:
    """Records of one run, and its level sets at the snapshots."""

    records: list[Record]
    masks: dict[int, BoolArray]


def _trace(problem: Problem, solver: Solver[Any], passes: int) -> _Trace:
    """Run a solver with one thread; the gaps are those of the current dual, not of the best."""
    layout = Layout(problem, "matchings", threads=1)
    trace = _Trace([], {})
    run = ProximalRun(layout, solver, Limits(max_passes=passes))

    def record(now: Record, _: BoolArray) -> None:
        trace.records.append(now)
        due = [k for k in SNAPSHOTS if k <= now.passes and k not in trace.masks]
        if due and run.state is not None:
            s = solver.iterate(layout, run.state)[1]
            members = best_level_set(layout, -s).members.reshape(problem.shape)
            trace.masks.update(dict.fromkeys(due, members))

    run.callback = record
    run.solve(layout.feasible_start())
    return trace


def _curve(traces: Sequence[_Trace], passes: int) -> Curve:
    points = grid(passes)
    smooth = np.array([_on_grid(trace.records, "smooth_gap", points) for trace in traces])
    discrete = np.array([_on_grid(trace.records, "discrete_gap", points) for trace in traces])
    records = [record for trace in traces for record in trace.records]
    least = min(min(record.smooth_gap, record.discrete_gap) for record in records)
    return Curve(points, smooth, discrete, least, traces[0].masks)


def _on_grid(records: Sequence[Record], name: str, points: FloatArray) -> FloatArray:
    """Interpolate the logarithm of a gap; what rounding took below zero counts as nearly zero."""
    passes = [record.passes for record in records]
    logarithms = [float(np.log(max(getattr(record, name), TINY))) for record in records]
    gap: FloatArray = np.exp(np.interp(points, passes, logarithms))
    return np.where(gap < 2.0 * TINY, TINY, gap)


class TimedLayout(Layout):
    """A layout that adds up the seconds that its projections take."""

    seconds = 0.0

    def sweep(self, i: int, dual: Dual, s: FloatArray) -> None:
        """Sweep, on the clock."""
        self._timed(partial(super().sweep, i, dual, s))

    def project(self, i: int, dual: Dual, s: FloatArray, c: float) -> FloatArray:
        """Project, on the clock."""
        part: FloatArray = self._timed(partial(super().project, i, dual, s, c))
        return part

    def _timed(self, call: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = call()
        self.seconds += time.perf_counter() - started
        return result


def iteration_costs(problem: Problem, iterations: int) -> dict[str, dict[str, float]]:
    """Measure projections per iteration, and the share of the time that projections take."""
    costs = {}
    for name, make in METHODS.items():
        layout, solver = TimedLayout(problem, "matchings", threads=1), make(0)
        state = solver.start(layout, layout.feasible_start())
        started = time.perf_counter()
        projections = sum(solver.step(layout, state) for _ in range(iterations))
        costs[name] = {
            "projections_per_iteration": projections / iterations,
            "projections_expected": float(layout.r) if name == "AP" else 1.0,
            "projection_seconds_share": layout.seconds / (time.perf_counter() - started),
        }
    return costs
