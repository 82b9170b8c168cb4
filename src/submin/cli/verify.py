"""``submin verify``: recompute the certificate of a file and compare it with what it claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from submin.cli import console, report
from submin.cli.options import Json, Quiet
from submin.cli.solve import load_problem

if TYPE_CHECKING:
    from submin.model.problem import Problem
    from submin.solve.certificate import Certificate
    from submin.solve.result import Result

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

    Exit code 0: every claim of the file holds.  1: one does not.  2: there is nothing to verify,
    or the file is damaged.
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
    from submin.solve.result import Result

    with console.reading(result):
        claimed = Result.load(result)
    instance = load_problem(result if problem is None else problem)
    shapes = (claimed.minimizer.shape, claimed.x.shape, [part.size for part in claimed.dual])
    fitting = (instance.shape, instance.shape, [term.size for term in instance.terms])
    if shapes != fitting:
        raise console.RefusalError(
            f"{result} is about another problem: its set, its point x and its dual have the sizes "
            f"{shapes}, but those of the problem are {fitting}"
        )
    return claimed, instance


def check(problem: Problem, result: Result) -> tuple[Certificate | None, list[str]]:
    """Recompute the certificate; return it with a sentence for every claim that fails."""
    import numpy as np

    from submin.solve.verification import faults_of_point, verify_set

    try:
        with np.errstate(all="ignore"):  # what overflows proves nothing, and that is reported
            proved = verify_set(problem, result)
            alone = verify_set(problem, result.minimizer)
            of_point = faults_of_point(problem, result) if result.proximal else []
    except (TypeError, ValueError) as error:
        return None, [str(error)]
    of_point = of_point if result.proximal else refuted_point(problem, result)
    return proved, [*refuted_claims(result, proved, 2.0 * alone.rounding), *of_point]


def refuted_point(problem: Problem, result: Result) -> list[str]:
    """Compare the x of a result of ``minimize`` with -s, the sum of costs and dual."""
    import numpy as np

    from submin.solve.layout import Layout

    layout, s = Layout(problem), -result.x.ravel()
    dual = [np.array(part, dtype=np.float64).ravel() for part in result.dual]
    sizes = [layout.unary, *dual]
    largest = max(float(np.abs(part).max(initial=0.0)) for part in sizes)
    if np.allclose(s, layout.total(dual), rtol=0.0, atol=1e-12 * problem.n * largest):
        return []
    return ["x is not the point of the dual"]


def refuted_claims(result: Result, proved: Certificate, margin: float) -> list[str]:
    """Compare claims with proofs, allowing for the rounding errors of the proof.

    They are no more than `margin`, which does not depend on the dual of the file: its numbers may
    be of any size, and `proved.rounding` grows with them.
    """
    claimed, slack = result.certificate, min(2.0 * proved.rounding, margin)
    faults = []
    if not (claimed.value == proved.value or abs(claimed.value - proved.value) <= margin):
        faults.append(f"the set costs {proved.value!r}, not {claimed.value!r}")
    if not claimed.lower_bound <= proved.lower_bound + slack:
        faults.append(f"the dual proves a bound of {proved.lower_bound!r}, not the claimed "
                      f"{claimed.lower_bound!r}")  # fmt: skip
    if not claimed.gap >= proved.gap - 2.0 * slack:
        faults.append(f"the gap is {proved.gap!r}, not {claimed.gap!r}")
    if not claimed.violation >= proved.violation - slack:
        faults.append(f"the dual's violation is {proved.violation!r}, not {claimed.violation!r}")
    if not claimed.rounding >= 0.5 * proved.rounding:
        faults.append(f"rounding errors may reach {proved.rounding!r}, not {claimed.rounding!r}")
    if not _divides(claimed.granularity, proved.granularity):
        faults.append(f"the granularity is {proved.granularity!r}, not {claimed.granularity!r}")
    if (claimed.optimal or result.status.name == "OPTIMAL") and not proved.optimal:
        faults.append("the set is claimed to be optimal, but that is not proved")
    if result.status.name == "CLOSED" and not proved.closed:
        faults.append(f"the status is CLOSED, but the gap is {proved.gap!r}")
    return faults + _refuted_convergence(result, proved, 2.0 * slack)


def _divides(step: float, granularity: float) -> bool:
    """Say whether a granularity allows to claim a step; 0 claims nothing."""
    return step == 0.0 or (0.0 < step <= granularity and granularity % step == 0.0)


def _refuted_convergence(result: Result, proved: Certificate, slack: float) -> list[str]:
    """Compare the status CONVERGED with the gap; for a proximal point it is about another gap."""
    if result.status.name != "CONVERGED" or result.proximal or proved.optimal:
        return []
    if proved.gap <= result.tol + slack:
        return []
    return [f"the status is CONVERGED, but the gap of {proved.gap!r} exceeds the tolerance of "
            f"{result.tol!r}"]  # fmt: skip


def _rows(proved: Certificate | None, faults: list[str]) -> console.Rows:
    rows = [] if proved is None else [
        ("value", report.number(proved.value)),
        ("lower bound", report.number(proved.lower_bound)),
        ("gap", f"{proved.gap:.3g}"),
        ("rounding", f"{proved.rounding:.1g}"),
        ("proof", report.proof(proved)),
    ]  # fmt: skip
    verdict = [("claim refuted", fault) for fault in faults]
    return [*rows, *(verdict or [("claims", "all hold: recomputed from the answer and the dual")])]


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
