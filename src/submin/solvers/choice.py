"""The choice behind ``solver="auto"``: made from the structure of the problem, and explained."""

from __future__ import annotations

from typing import Any, NamedTuple

from submin.solve.layout import Layout
from submin.solvers.accelerated_sweeps import AcceleratedSweeps
from submin.solvers.flows.network import accepts, network_size
from submin.solvers.max_flow import MaxFlow
from submin.solvers.parametric_flow import ParametricFlow
from submin.solvers.solver import Solver


class Choice(NamedTuple):
    """A solver and the reason for it, in plain words."""

    solver: Solver[Any]
    reason: str


EDGES_OF_A_NUMBER = 4
"""Edges of the flow network for each number of the dual up to which a maximum flow is faster."""


def choose(layout: Layout) -> Choice:
    """Choose a solver for the minimiser of a problem."""
    return _choose(
        layout,
        MaxFlow(),
        "so a maximum flow on the residual graph ends with the exact minimum",
    )


def choose_proximal(layout: Layout) -> Choice:
    """Choose a solver for the proximal point, which needs more than the minimiser."""
    return _choose(
        layout,
        ParametricFlow(),
        "so minimum cuts of all plateaus end with the exact proximal point",
    )


def _choose(layout: Layout, exact: Solver[Any], reason: str) -> Choice:
    """Choose the solver that needs a network, where the problem has one that is not too large.

    A maximum flow takes a time that grows with the edges of its network, a pass of sweeps one that
    grows with the dual; of gadgets with many auxiliaries the first are many times the second.
    Sweeps take no weights of the squares.
    """
    terms = layout.problem.terms
    size, coordinates = network_size(terms), sum(term.size for term in terms)
    if size is None:
        return SWEEPS
    if size.edges > EDGES_OF_A_NUMBER * coordinates and layout.masses is None:
        ratio = f"{size.edges / coordinates:.0f} edges for each number of the dual"
        return Choice(SWEEPS.solver, f"{SWEEPS.reason}, and a maximum flow would have {ratio}")
    if not accepts(terms):
        return SWEEPS
    cuts = "all terms are cuts"
    if size.gadget_edges:
        cuts = f"all terms are cuts, with {size.auxiliaries} auxiliary nodes that are minimised out"
    return Choice(exact, f"{cuts}, {reason}")


SWEEPS = Choice(
    AcceleratedSweeps(),
    "sweeps over few large blocks with extrapolation close the gap in the fewest passes",
)
"""The solver that takes every problem."""
