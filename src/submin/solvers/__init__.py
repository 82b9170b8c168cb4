"""The solvers, one per file, and the registry that names them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from submin.solve.layout import Layout
from submin.solvers import comparison
from submin.solvers.accelerated_sweeps import AcceleratedSweeps
from submin.solvers.acdm import ACDM
from submin.solvers.ap import AP
from submin.solvers.choice import Choice, choose, choose_proximal
from submin.solvers.max_flow import MaxFlow
from submin.solvers.minimum_norm_point import MinimumNormPoint
from submin.solvers.parametric_flow import ParametricFlow
from submin.solvers.rcdm import RCDM
from submin.solvers.restarted_acdm import RestartedACDM
from submin.solvers.solver import Solver
from submin.solvers.submodular_flow import SubmodularFlow
from submin.solvers.sweeps import CyclicSweeps, PermutedSweeps

__all__ = [
    "ACDM",
    "AP",
    "RCDM",
    "REGISTRY",
    "AcceleratedSweeps",
    "Choice",
    "CyclicSweeps",
    "MaxFlow",
    "MinimumNormPoint",
    "ParametricFlow",
    "PermutedSweeps",
    "RestartedACDM",
    "Solver",
    "SubmodularFlow",
    "choose",
    "choose_proximal",
    "family",
    "resolve",
]

REGISTRY: dict[str, type[Solver[Any]]] = {
    "rcdm": RCDM,
    "acdm": ACDM,
    "restarted_acdm": RestartedACDM,
    "parallel_rcdm": comparison.ParallelRCDM,
    "parallel_acdm": comparison.ParallelACDM,
    "ap": AP,
    "iap": comparison.IAP,
    "cyclic_sweeps": CyclicSweeps,
    "permuted_sweeps": PermutedSweeps,
    "accelerated_sweeps": AcceleratedSweeps,
    "anderson_sweeps": comparison.AndersonSweeps,
    "fista": comparison.FISTA,
    "douglas_rachford": comparison.DouglasRachford,
    "frank_wolfe": comparison.FrankWolfe,
    "pairwise_frank_wolfe": comparison.PairwiseFrankWolfe,
    "minimum_norm_point": MinimumNormPoint,
    "smoothed_lovasz": comparison.SmoothedLovasz,
    "max_flow": MaxFlow,
    "parametric_flow": ParametricFlow,
    "submodular_flow": SubmodularFlow,
    "schrijver": comparison.Schrijver,
}
"""Every solver by its name; tests, benchmarks and the command line read this table."""


def resolve(
    solver: Solver[Any] | str,
    layout: Layout,
    automatic: Callable[[Layout], Choice] = choose,
) -> Solver[Any]:
    """Return the solver that a name stands for; ``"auto"`` looks at the layout.

    Names are those of the registry or of the classes: ``"max_flow"`` is ``"MaxFlow"``.

    Raises
    ------
    ValueError
        If there is no solver of that name.
    TypeError
        If `solver` is neither a name nor a solver.
    """
    if isinstance(solver, str):
        if solver == "auto":
            return automatic(layout).solver
        return family(solver)()
    if isinstance(solver, type) or not all(
        callable(getattr(solver, method, None)) for method in ("start", "step", "iterate")
    ):
        hint = f"{solver.__name__}()" if isinstance(solver, type) else "RCDM(seed=0)"
        raise TypeError(f"solver must be a name or a solver such as {hint}, not {solver!r}")
    return solver


def family(name: str) -> type[Solver[Any]]:
    """Return the solver class of a name: the registry's or the class's own, in any case.

    Raises
    ------
    ValueError
        If there is no solver of that name.
    """
    known = {_plain(key): value for key, value in REGISTRY.items()}
    if _plain(name) not in known:
        names = ", ".join(repr(key) for key in ("auto", *REGISTRY))
        raise ValueError(f"solver={name!r} is not known; the solvers are {names}")
    return known[_plain(name)]


def _plain(name: str) -> str:
    """Return a name without case and underscores."""
    return name.replace("_", "").lower()


def __getattr__(name: str) -> Any:
    """Find solvers that are kept to be compared where version 0.1 had them."""
    if name in comparison.__all__:
        place = comparison.__name__
        warnings.warn(f"{name} is in {place} now", DeprecationWarning, stacklevel=2)
        return getattr(comparison, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
