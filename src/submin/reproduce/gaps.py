"""Duality gaps of RCDM, ACDM and AP on the four instances: the paper's two figures as numbers.

As in the paper, projections onto base polytopes are counted, the blocks are matchings, all methods
start from y = 0, and after k passes each of the r blocks was projected k times on average.

    nu_s = f(x) + ||x||^2 / 2 + ||s||^2 / 2,     nu_d = F(best level set of x) - sum_v min(0, s_v)

at x = -s are computed here as they stand, so that a negative one would be seen.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from submin._typing import BoolArray, Dual, FloatArray
from submin.model.problem import Problem
from submin.reproduce.instances import Instance
from submin.solve.layout import Layout
from submin.solve.level_sets import best_level_set
from submin.solvers import ACDM, AP, RCDM, Solver

Maker = Callable[[int], Solver[Any]]
Progress = Callable[[str], object]

METHODS: dict[str, Maker] = {
    "RCDM": lambda seed: RCDM(seed=seed),
    "ACDM": lambda seed: ACDM(seed=seed),
    "AP": lambda _: AP(),
}
"""The paper's methods by name, each with the paper's constants, made from a seed."""

ACDM_RESTARTED = "ACDM, restart every 25 passes"
VARIANTS: dict[str, Maker] = {
    "ACDM, step constant counted": lambda seed: ACDM(seed=seed, step_constant=None),
    "ACDM, one block a step": lambda seed: ACDM(seed=seed, sampling="uniform", step_constant=None),
    ACDM_RESTARTED: lambda seed: ACDM(seed=seed, epoch_passes=25),
    "ACDM, restart every 10 passes": lambda seed: ACDM(seed=seed, epoch_passes=10),
}
SNAPSHOTS = (1, 20, 100)
"""Projections per block at which the paper shows segmentations."""
DETERMINISTIC = ("AP",)
ROUNDING = 1e-12
"""Rounding in a gap at most, in units of the first gap."""
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
        The least gap, as computed and before any clipping, in units of its kind's gap at first:
        below 0 by rounding alone.
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
            "least_gap_share": self.least,
        }


def grid(passes: int) -> FloatArray:
    """Return the passes at which gaps are compared: each of the first five, then every fifth."""
    return np.array([*range(min(5, passes) + 1), *range(10, passes + 1, 5)], dtype=np.float64)


def compare(
    instance: Instance,
    methods: Mapping[str, Maker],
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
        return _trace(instance.problem, methods[name](seed), grid(passes))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        traces = list(pool.map(one, jobs))
    return {
        name: _curve(
            [t for (owner, _), t in zip(jobs, traces, strict=True) if owner == name], grid(passes)
        )
        for name in methods
    }


@dataclass
class _Trace:
    """Passes, smooth and discrete gap at each check of a run, and level sets at the snapshots."""

    checks: list[tuple[float, float, float]] = field(default_factory=list)
    masks: dict[int, BoolArray] = field(default_factory=dict)

    @property
    def least(self) -> float:
        """The least gap as computed, in units of the first one of its kind."""
        gaps = np.array(self.checks)[:, 1:]
        return float(np.min(gaps / gaps[0])) if np.all(gaps[0] > 0.0) else float(gaps.min())


def _trace(problem: Problem, solver: Solver[Any], points: FloatArray) -> _Trace:
    """Run a solver with one thread, and measure its current dual as soon as each point is due."""
    layout = Layout(problem, "matchings", threads=1)
    state, projections = solver.start(layout, layout.feasible_start()), 0
    trace = _Trace()
    for point in points:
        while projections < point * layout.r:
            projections += solver.step(layout, state)
        smooth, discrete, members = measured(layout, solver.iterate(layout, state)[1])
        trace.checks.append((projections / layout.r, smooth, discrete))
        if point in SNAPSHOTS:
            trace.masks[int(point)] = members
    return trace


def measured(layout: Layout, s: FloatArray) -> tuple[float, float, BoolArray]:
    """Return nu_s and nu_d of a feasible dual with sum s, and the best level set of x = -s."""
    level_set = best_level_set(layout, -s)
    members = level_set.members.reshape(layout.problem.shape)
    discrete = layout.problem.evaluate(members) - layout.lower_bound(s)
    return level_set.lovasz + float(s @ s), discrete, members


def _curve(traces: Sequence[_Trace], points: FloatArray) -> Curve:
    smooth, discrete = (np.array([_on_grid(t, kind, points) for t in traces]) for kind in (1, 2))
    least = min(trace.least for trace in traces)
    return Curve(points, smooth, discrete, least, traces[0].masks)


def _on_grid(trace: _Trace, kind: int, points: FloatArray) -> FloatArray:
    """Interpolate the logarithm of a gap; one that is rounding alone counts as nearly zero."""
    checks = np.array(trace.checks)
    gaps = checks[:, kind]
    logarithms = np.log(np.where(gaps > ROUNDING * gaps[0], gaps, TINY))
    gap: FloatArray = np.exp(np.interp(points, checks[:, 0], logarithms))
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
