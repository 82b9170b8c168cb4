"""``submin solve``: minimise a saved problem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from submin.cli import console, report
from submin.cli.convert import Form, Unary, read_any
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


def solve(
    problem: Annotated[
        Path,
        typer.Argument(help="A saved problem (.npz), or a file of DIMACS, UAI, hMETIS, METIS, ..."),
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
    form: Form = None,
    unary: Unary = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Minimise a saved problem, with a proof of how good the answer is.

    Ctrl-C ends the solve, not the answer: the best set so far is written, with exit code 130.
    """
    with console.command():
        if output is not None:
            console.require_writable(output)
        loaded = load_problem(problem, form, unary)
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


def load_problem(path: Path, form: str | None = None, unary: Path | None = None) -> Problem:
    """Read a problem from a file of any format, with costs if it holds a graph alone."""
    from submin.model.problem import Problem

    content = read_any(path, form, unary)
    if not isinstance(content, Problem):
        raise console.RefusalError(
            f"{path} has no costs of its nodes, so the empty set is the best one; give a cost for "
            "each node with --unary FILE"
        )
    return content


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
