"""Solvers that break one law each, caught by that law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from submin.solvers.ap import AP
from submin.solvers.rcdm import RCDM
from submin.testing import (
    ConformanceError,
    check_solver,
)

from .broken_path import class_name


class DoesNothing(AP):
    def step(self, layout, state):
        return layout.r


class LeavesOutABlock(AP):
    def step(self, layout, state):
        for i in range(layout.r - 1):
            layout.put(i, state.y, layout.project(i, state.y, state.s, float(layout.r)))
        state.s = layout.total(state.y)
        return layout.r


class StepsTooFar(AP):
    """The first step leaves the base polytopes; later ones come back."""

    def step(self, layout, state):
        first = not hasattr(state, "stepped")
        state.stepped = True
        taken = super().step(layout, state)
        if first:
            for part in state.y:
                part *= 1.5
            state.s = layout.total(state.y)
        return taken


class ReturnsAnOldS(AP):
    def iterate(self, layout, state):
        old = getattr(state, "old", state.s)
        state.old = state.s.copy()
        return state.y, old


class IsNotSeeded(RCDM):
    def start(self, layout, dual):
        state = super().start(layout, dual)
        state.generator = np.random.default_rng()
        return state


class IgnoresTheWarmStart(AP):
    def start(self, layout, dual):
        return super().start(layout, layout.feasible_start())


class DoesNotStop(AP):
    def step(self, layout, state):
        return sum(super(DoesNotStop, self).step(layout, state) for _ in range(50))


@dataclass
class ChangesItself:
    steps: int = 0

    def start(self, layout, dual):
        return AP().start(layout, dual)

    def step(self, layout, state):
        self.steps += 1
        return AP().step(layout, state)

    def iterate(self, layout, state):
        return AP().iterate(layout, state)


class RefusesEverything(AP):
    def start(self, layout, dual):
        raise TypeError("RefusesEverything needs terms of a kind that does not exist")


BROKEN_SOLVERS: list[tuple[type[Any], str]] = [
    (DoesNothing, "(reaching the minimum|closing the gap)"),
    (LeavesOutABlock, "(reaching the minimum|closing the gap)"),
    (StepsTooFar, "feasible duals"),
    (ReturnsAnOldS, "(x = -s|closing the gap|feasible duals)"),
    (IsNotSeeded, "reproducibility"),
    (IgnoresTheWarmStart, "warm starts"),
    (DoesNotStop, "limits"),
    (ChangesItself, "constant settings"),
    (RefusesEverything, "acceptance"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN_SOLVERS, ids=class_name)
def test_a_broken_solver_is_caught_by_the_right_law(broken, law) -> None:
    with pytest.raises(ConformanceError, match=f"^{broken.__name__} breaks the law of {law}"):
        check_solver(broken(), max_passes=2000)
