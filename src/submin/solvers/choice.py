"""The choice behind ``solver="auto"``: made from the structure of the problem, and explained."""

from __future__ import annotations

from typing import Any, NamedTuple

from submin.layout import Layout
from submin.solvers import max_flow
from submin.solvers.accelerated_sweeps import AcceleratedSweeps
from submin.solvers.max_flow import MaxFlow
from submin.solvers.solver import Solver


class Choice(NamedTuple):
    """A solver and the reason for it, in plain words."""

    solver: Solver[Any]
    reason: str


def choose(layout: Layout) -> Choice:
    """Choose a solver for the minimiser of a problem."""
    if max_flow.accepts(layout.problem.terms):
        return Choice(
            MaxFlow(),
            "all terms are cuts, so a maximum flow on the residual graph ends with the exact "
            "minimum",
        )
    return choose_proximal(layout)


def choose_proximal(_: Layout) -> Choice:
    """Choose a solver for the proximal point, which needs more than the minimiser."""
    return Choice(
        AcceleratedSweeps(),
        "sweeps over few large blocks with extrapolation close the gap in the fewest passes",
    )
