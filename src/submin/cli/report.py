"""What an answer says: the proof in plain words, the rows of its table, its JSON fields."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from submin.cli.console import Rows
    from submin.solve.certificate import Certificate
    from submin.solve.result import Result


def number(value: float) -> str:
    """Return a number with the digits that a float carries safely."""
    return f"{value:.12g}"


def proof(certificate: Certificate) -> str:
    """Say in one plain sentence what a certificate proves."""
    if certificate.value == float("inf"):
        return "The set breaks a hard constraint, so it is not an answer."
    if certificate.optimal and certificate.granularity:
        return (
            "Proved optimal: no set costs less. Costs come in steps of "
            f"{number(certificate.granularity)}, and the gap is smaller."
        )
    if certificate.optimal:
        return "Proved optimal: every other set costs more."
    if certificate.closed:
        return (
            f"Proved: this set costs at most {certificate.gap:.1g} more than the cheapest one. "
            "That is what rounding leaves open; the data may hold sets of equal cost."
        )
    if certificate.gap == float("inf"):
        return "Nothing is proved yet: there is no lower bound."
    return f"Proved: this set costs at most {certificate.gap:.3g} more than the cheapest one."


def result_rows(result: Result, files: Mapping[str, Path]) -> Rows:
    """Return the closing table of a solve."""
    certificate = result.certificate
    status = result.status.name + (" (interrupted)" if result.interrupted else "")
    return [
        ("value", number(certificate.value)),
        ("lower bound", number(certificate.lower_bound)),
        ("gap", f"{certificate.gap:.3g}"),
        ("status", status),
        ("proof", proof(certificate)),
        ("elements in S", f"{int(result.minimizer.sum())} of {result.minimizer.size}"),
        ("solver", result.solver),
        ("passes", f"{result.passes:.6g}"),
        ("seconds", f"{result.seconds:.3g}"),
        *((name, str(path)) for name, path in files.items()),
    ]


def certificate_fields(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as JSON fields."""
    from dataclasses import asdict

    return {**asdict(certificate), "proof": proof(certificate)}


def result_fields(command: str, result: Result, files: Mapping[str, Path]) -> dict[str, Any]:
    """Return a result as JSON fields; ``docs`` and tests hold their names."""
    from submin import __version__

    return {
        "command": command,
        "version": __version__,
        **certificate_fields(result.certificate),
        "status": result.status.name,
        "interrupted": result.interrupted,
        "elements_in_set": int(result.minimizer.sum()),
        "elements": result.minimizer.size,
        "shape": list(result.minimizer.shape),
        "solver": result.solver,
        "passes": result.passes,
        "projections": result.projections,
        "seconds": result.seconds,
        "files": {name: str(path) for name, path in files.items()},
    }
