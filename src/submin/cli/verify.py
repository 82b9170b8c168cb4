"""``submin verify``: recompute the certificate of a file and compare it with what it claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from submin.cli import console, report
from submin.cli.options import Json, Quiet
from submin.cli.solve import load_problem

if TYPE_CHECKING:
    from submin.certificate import Certificate
    from submin.problem import Problem
    from submin.result import Result

REFUTED = 1
"""Exit code: a claim of the file does not hold."""


def verify(
    result: Annotated[Path, typer.Argument(help="A result that submin wrote (.npz).")],
    problem: Annotated[
        Path | None, typer.Option(help="The problem, if the file of the result does not hold it.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Recompute the certificate of a result from its set and dual, and say what it proves.

    Exit code 0: every claim of the file holds.  1: one does not.  2: there is nothing to verify.
    """
    with console.command():
        claimed, instance = _load(result, problem)
        proved, faults = check(instance, claimed)
        if json:
            console.print_json(_fields(proved, claimed, faults))
        elif not quiet:
            console.print_rows(f"submin verify {result}", _rows(proved, faults))
        if faults:
            raise typer.Exit(REFUTED)


def _load(result: Path, problem: Path | None) -> tuple[Result, Problem]:
    from submin.result import Result

    with console.reading(result):
        claimed = Result.load(result)
    instance = load_problem(result if problem is None else problem)
    sizes, fitting = [part.size for part in claimed.dual], [term.size for term in instance.terms]
    if claimed.minimizer.shape != instance.shape or sizes != fitting:
        raise console.RefusalError(
            f"{result} is about another problem: its set has shape {claimed.minimizer.shape} and "
            f"its dual sizes {sizes}, but the problem has {instance.shape} and {fitting}"
        )
    return claimed, instance


def check(problem: Problem, result: Result) -> tuple[Certificate | None, list[str]]:
    """Recompute the certificate; return it with a sentence for every claim that fails."""
    from submin.certificate import verify_set
    from submin.proximal_certificate import faults_of_point

    try:
        proved = verify_set(problem, result)
        of_point = faults_of_point(problem, result) if result.proximal else []
    except (TypeError, ValueError) as error:
        return None, [str(error)]
    return proved, [*refuted_claims(result, proved), *of_point]


def refuted_claims(result: Result, proved: Certificate) -> list[str]:
    """Compare claims with proofs, allowing for twice the rounding error of the proof."""
    claimed, slack = result.certificate, 2.0 * proved.rounding
    faults = []
    if not (claimed.value == proved.value or abs(claimed.value - proved.value) <= slack):
        faults.append(f"the set costs {proved.value!r}, not {claimed.value!r}")
    if not claimed.lower_bound <= proved.lower_bound + slack:
        faults.append(f"the dual proves a bound of {proved.lower_bound!r}, not the claimed "
                      f"{claimed.lower_bound!r}")  # fmt: skip
    if not claimed.gap >= proved.gap - 2.0 * slack:
        faults.append(f"the gap is {proved.gap!r}, not {claimed.gap!r}")
    if (claimed.optimal or result.status.name == "OPTIMAL") and not proved.optimal:
        faults.append("the set is claimed to be optimal, but that is not proved")
    return faults


def _rows(proved: Certificate | None, faults: list[str]) -> console.Rows:
    rows = [] if proved is None else [
        ("value", report.number(proved.value)),
        ("lower bound", report.number(proved.lower_bound)),
        ("gap", f"{proved.gap:.3g}"),
        ("rounding", f"{proved.rounding:.1g}"),
        ("proof", report.proof(proved)),
    ]  # fmt: skip
    verdict = [("claim refuted", fault) for fault in faults]
    return [*rows, *(verdict or [("claims", "all hold: recomputed from the set and the dual")])]


def _fields(proved: Certificate | None, claimed: Result, faults: list[str]) -> dict[str, object]:
    from submin import __version__

    return {
        "command": "verify",
        "version": __version__,
        "holds": not faults,
        "faults": faults,
        "claimed": {
            **report.certificate_fields(claimed.certificate), "status": claimed.status.name
        },
        "proved": None if proved is None else report.certificate_fields(proved),
    }  # fmt: skip
