"""The solvers, one per file, and the registry that names them."""

from __future__ import annotations

from typing import Any

from submin.layout import Layout
from submin.solvers.accelerated_sweeps import AcceleratedSweeps
from submin.solvers.acdm import ACDM
from submin.solvers.ap import AP
from submin.solvers.rcdm import RCDM
from submin.solvers.solver import Solver

__all__ = ["ACDM", "AP", "RCDM", "REGISTRY", "AcceleratedSweeps", "Solver", "resolve"]

REGISTRY: dict[str, type[Solver[Any]]] = {
    "rcdm": RCDM,
    "acdm": ACDM,
    "ap": AP,
    "accelerated_sweeps": AcceleratedSweeps,
}
"""Every solver by its name; tests, benchmarks and the command line read this table."""


def resolve(solver: Solver[Any] | str, layout: Layout) -> Solver[Any]:
    """Return the solver that a name stands for; ``"auto"`` looks at the layout.

    Raises
    ------
    ValueError
        If there is no solver of that name.
    TypeError
        If `solver` is neither a name nor a solver.
    """
    if isinstance(solver, str):
        if solver == "auto":
            return AcceleratedSweeps()
        if solver not in REGISTRY:
            names = ", ".join(repr(name) for name in ("auto", *REGISTRY))
            raise ValueError(f"solver={solver!r} is not known; the solvers are {names}")
        return REGISTRY[solver]()
    if isinstance(solver, type) or not all(
        callable(getattr(solver, method, None)) for method in ("start", "step", "iterate")
    ):
        hint = f"{solver.__name__}()" if isinstance(solver, type) else "RCDM(seed=0)"
        raise TypeError(f"solver must be a name or a solver such as {hint}, not {solver!r}")
    return solver
