"""Options that several commands share, and the solver that they name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from submin.cli.console import user_input

if TYPE_CHECKING:
    from submin.solvers import Solver

SolverName = Annotated[
    str, typer.Option(help="Such as rcdm, acdm or ap; an unknown name lists them all.")
]
Tolerance = Annotated[
    float, typer.Option(help="Gap at which to stop, in units of cost; 0 closes it.")
]
MaxPasses = Annotated[int | None, typer.Option(help="Stop after so many passes over the blocks.")]
TimeLimit = Annotated[float | None, typer.Option(help="Stop after so many seconds.")]
Threads = Annotated[
    int, typer.Option(min=0, help="0 means all cores. Any number gives the same answer.")
]
Seed = Annotated[int, typer.Option(min=0, help="Fixes all random choices.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")]


def limits(tol: float, max_passes: int | None, time_limit: float | None) -> dict[str, Any]:
    """Return the limits of a solve by name, or refuse them before any work is done."""
    from submin.solve.driver import Limits

    with user_input():
        Limits(
            tol,
            math.inf if max_passes is None else max_passes,
            math.inf if time_limit is None else time_limit,
        )
    return {"tol": tol, "max_passes": max_passes, "time_limit": time_limit}


def chosen_solver(name: str, seed: int) -> Solver[Any] | str:
    """Return a solver by name, with the seed if it draws anything at random."""
    from submin.solvers import REGISTRY, family

    with user_input():
        if name == "auto":
            return name
        try:
            solver = family(name)()
        except ValueError:
            names = ", ".join(["auto", *REGISTRY])
            message = f"--solver {name} is not known; the solvers are {names}"
            raise ValueError(message) from None
        seeded: Solver[Any] = _with_seed(solver, seed)
        return seeded


def _with_seed(solver: Any, seed: int) -> Any:
    """Return a solver in which it, or the solver inside of it, has the seed."""
    from dataclasses import fields, replace

    changes: dict[str, Any] = {}
    for field in fields(solver):
        if field.name == "seed":
            changes["seed"] = seed
        elif field.name == "inner":
            changes["inner"] = _with_seed(solver.inner, seed)
    return replace(solver, **changes)
