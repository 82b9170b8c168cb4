"""``submin solve``: minimise a saved problem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from submin.cli import console, report
from submin.cli.options import (
    Json,
    MaxPasses,
    Quiet,
    Seed,
    SolverName,
    Threads,
    TimeLimit,
    Tolerance,
    chosen_solver,
    limits,
)

if TYPE_CHECKING:
    from submin.model.problem import Problem
    from submin.solve.result import Result

ARCHIVE = b"PK"
"""How an ``.npz`` file starts."""


def solve(
    problem: Annotated[
        Path, typer.Argument(help="A saved problem (.npz), or a DIMACS max-flow file.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write result and problem (.npz).")
    ] = None,
    solver: SolverName = "auto",
    tol: Tolerance = 0.0,
    max_passes: MaxPasses = None,
    time_limit: TimeLimit = None,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Minimise a saved problem, with a proof of how good the answer is.

    Ctrl-C ends the solve, not the answer: the best set so far is written, with exit code 130.
    """
    with console.command():
        if output is not None:
            console.require_writable(output)
        loaded = load_problem(problem)
        settings = {
            **limits(tol, max_passes, time_limit), "threads": threads,
            "solver": chosen_solver(solver, seed),
        }  # fmt: skip
        result = minimised(loaded, settings, quiet)
        with console.finishing() as ending:
            files = {} if output is None else {"result": output}
            if json:
                console.print_json(report.result_fields("solve", result, files))
            elif not quiet:
                console.print_rows(f"submin solve {problem}", report.result_rows(result, files))
            if output is not None:  # last, as a full disk may prevent it
                save(result, loaded, output)
            console.end(result, ending)


def load_problem(path: Path) -> Problem:
    """Read a problem: an archive is a saved one, whatever its name, and other files are DIMACS."""
    from submin.dimacs import read_dimacs
    from submin.model.problem import Problem

    with console.reading(path):
        saved = path.suffix == ".npz" or (path.is_file() and _is_archive(path))
        return Problem.load(path) if saved else read_dimacs(path)


def _is_archive(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(ARCHIVE)) == ARCHIVE


def minimised(problem: Problem, settings: dict[str, Any], quiet: bool) -> Result:
    """Minimise with live progress."""
    from submin.solve.api import minimize

    with console.solving() as begun:
        return minimize(problem, progress=not quiet, callback=begun, **settings)


def save(result: Result, problem: Problem, path: Path) -> Path:
    """Write a result with its problem, so that the file can be verified on its own."""
    try:
        with console.user_input():
            result.save(path, problem)
    except console.RefusalError as refusal:
        answer = f"{result.status.name}, value {report.number(result.value)}, gap {result.gap:.3g}"
        raise console.RefusalError(f"{refusal}; the answer ({answer}) is not saved") from refusal
    return path
