r"""Rounds of GrabCut: minimise over the mask, refit the colour models, until nothing changes.

    E(S, θ) = Σ_{p in S} -log p_fg(z_p; θ) + Σ_{p not in S} -log p_bg(z_p; θ)
              + Σ_{pq} w_pq [S separates p and q]
              + Σ_R weight · min(|S ∩ R|, |R \ S|, tolerance · |R|)

The energy never goes up.  Over S, a mask that costs more than the last one is not taken.  Over θ,
expectation maximisation from the last models lowers the cost, up to its variance floor and the
sampling of pixels; models that make the mask cost more are not taken.

Rother, Kolmogorov, Blake 2004, doi:10.1145/1015706.1015720, but for the way that the mixtures are
fitted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.solve.certificate import certify
from submin.solve.driver import Callback
from submin.solve.progress import Display, Watch, describe
from submin.solve.result import Record, Result
from submin.terms import Term
from submin.vision.colour_models import ColourFitter, ColourModels
from submin.vision.seeds import Seeds


class Solve(Protocol):
    """``minimize`` with the settings that all rounds share."""

    def __call__(
        self, problem: Problem, *, warm_start: Result | None, time_limit: float | None
    ) -> Result:
        """Minimise."""
        ...


@dataclass(frozen=True)
class Clock:
    """Seconds since the start, and those left of a limit."""

    started: float
    limit: float | None

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float | None:
        """Seconds left; a limit that makes no sense is passed on, for ``minimize`` to refuse."""
        if self.limit is None or not self.limit > 0:
            return self.limit
        return max(0.0, self.limit - self.seconds)


@dataclass(frozen=True, eq=False)
class Round:
    """One minimisation, with its colour models.

    Attributes
    ----------
    number : int
        From 1.
    problem : Problem
    result : Result
        Its ``minimizer`` is the mask, its ``value`` the energy.
    models : ColourModels
    changed : int
        Pixels that it put on the other side.
    settled : bool
        Whether it changed nothing, so that it is the last one.
    """

    number: int
    problem: Problem
    result: Result
    models: ColourModels
    changed: int
    settled: bool


class Report(Watch):
    """Shows where the rounds are: passes and seconds count from the start of the first one."""

    def __init__(self, display: Display | None, callback: Callback | None, clock: Clock) -> None:
        super().__init__(display, callback)
        self.clock, self.number, self.passes = clock, 1, 0.0

    def close(self, result: Result) -> None:
        """Keep the closing line of a round."""
        super().close(result)
        self.number += 1
        self.passes += result.passes

    def line(self, record: Record, gap: float | None = None) -> str:
        """Return the line of a record, with the number of the round."""
        passes, seconds = self.passes + record.passes, self.clock.seconds
        own = record._replace(passes=passes, seconds=seconds)
        return f"round {self.number:>2}  {describe(own, gap)}"


@dataclass(frozen=True, eq=False)
class Alternation:
    """What all rounds share."""

    fitter: ColourFitter
    seeds: Seeds
    terms: Sequence[Term]
    solve: Solve
    tol: float
    clock: Clock

    def rounds(self, limit: int) -> Iterator[Round]:
        """Alternate between mask and models, for `limit` rounds at most."""
        mask = self.seeds.first_foreground
        models = self.fitter.first(mask, self.seeds.first_background)
        costs = models.costs_of(self.fitter.palette)
        last: Result | None = None
        for number in range(1, limit + 1):
            problem = segmentation_problem(*costs, self.seeds, self.terms)
            result = self.solve(problem, warm_start=last, time_limit=self.clock.left)
            if last is not None:
                result = self._no_worse(problem, result, last.minimizer)
            changed = int(np.count_nonzero(result.minimizer != mask))
            settled = last is not None and not changed
            yield Round(number, problem, result, models, changed, settled)
            if settled:
                return
            mask, last = result.minimizer, result
            models, costs = self.fitter.refit(models, mask, costs)

    def _no_worse(self, problem: Problem, result: Result, mask: BoolArray) -> Result:
        """Keep the last mask unless one that costs less is found."""
        if problem.evaluate(mask) > result.value:
            return result
        certificate = certify(problem, mask.ravel(), result.dual)
        status = certificate.status(self.tol)
        return replace(result, minimizer=mask, certificate=certificate, status=status)


def segmentation_problem(
    cost_in: FloatArray, cost_out: FloatArray, seeds: Seeds, terms: Sequence[Term]
) -> Problem:
    """Build the problem of a round, with seeds as infinite costs.

    A seed still pays the cost of its own label, so that energies of rounds are comparable.

    Parameters
    ----------
    cost_in, cost_out : float array, shape (H, W)
        Cost of each pixel as object and as background, in nats.
    seeds : Seeds
    terms : sequence of Term
    """
    return Problem.from_costs(
        np.where(seeds.background, np.inf, cost_in),
        np.where(seeds.foreground, np.inf, cost_out),
        terms,
    )
