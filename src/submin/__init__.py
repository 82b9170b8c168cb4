"""Minimise sums of simple submodular functions: exactly, with proof, fast.

    minimise  F(S) = u(S) + sum_i F_i(S)   over all subsets S of a ground set

>>> import submin as sm
>>> problem = sm.Problem([[1, -3], [2, -1]], [sm.GridCut((2, 2), weights=1.5)])
>>> result = sm.minimize(problem)
>>> result.value, result.status.name
(-1.0, 'OPTIMAL')
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from submin.labels import LabelProblem, LabelResult, minimize_labels
    from submin.levels import ConvexResult, Path, Ratio, minimize_convex, minimize_ratio, path
    from submin.model.minor import Minor
    from submin.model.problem import Problem
    from submin.networks import (
        CutCertificate,
        Flow,
        FlowCertificate,
        GlobalCut,
        Network,
        global_min_cut,
        max_flow,
    )
    from submin.solve.api import minimize, prox
    from submin.solve.certificate import Certificate, Status, certify
    from submin.solve.description import describe
    from submin.solve.layout import Layout
    from submin.solve.proximal_certificate import ProximalCertificate, certify_point
    from submin.solve.result import History, Record, Result
    from submin.solve.screening import screen
    from submin.solve.session import Session
    from submin.solve.verification import verify
    from submin.solvers import (
        ACDM,
        AP,
        RCDM,
        AcceleratedSweeps,
        CyclicSweeps,
        MaxFlow,
        MinimumNormPoint,
        ParametricFlow,
        PermutedSweeps,
        RestartedACDM,
        SubmodularFlow,
    )
    from submin.terms import (
        Cardinality,
        ConcaveOfModular,
        Cut,
        Function,
        GridCut,
        Hyperedge,
        Table,
        Term,
        Truncation,
        coverage,
        facility_location,
        grid_offsets,
        label_groups,
        list_groups,
        negative_hinge,
        nodes_of,
        potts_pn,
        robust_pn,
    )
    from submin.vision import denoise_tv, segment

__version__ = "0.1.0"

__all__ = [
    "ACDM",
    "AP",
    "RCDM",
    "AcceleratedSweeps",
    "Cardinality",
    "Certificate",
    "ConcaveOfModular",
    "ConvexResult",
    "Cut",
    "CutCertificate",
    "CyclicSweeps",
    "Flow",
    "FlowCertificate",
    "Function",
    "GlobalCut",
    "GridCut",
    "History",
    "Hyperedge",
    "LabelProblem",
    "LabelResult",
    "Layout",
    "MaxFlow",
    "MinimumNormPoint",
    "Minor",
    "Network",
    "ParametricFlow",
    "Path",
    "PermutedSweeps",
    "Problem",
    "ProximalCertificate",
    "Ratio",
    "Record",
    "RestartedACDM",
    "Result",
    "Session",
    "Status",
    "SubmodularFlow",
    "Table",
    "Term",
    "Truncation",
    "__version__",
    "certify",
    "certify_point",
    "coverage",
    "denoise_tv",
    "describe",
    "facility_location",
    "global_min_cut",
    "grid_offsets",
    "label_groups",
    "list_groups",
    "max_flow",
    "minimize",
    "minimize_convex",
    "minimize_labels",
    "minimize_ratio",
    "negative_hinge",
    "nodes_of",
    "path",
    "potts_pn",
    "prox",
    "robust_pn",
    "screen",
    "segment",
    "verify",
]

_HOMES = (
    "model.problem",
    "model.minor",
    "levels",
    "labels",
    "networks",
    "solve.api",
    "solve.certificate",
    "solve.description",
    "solve.layout",
    "solve.proximal_certificate",
    "solve.result",
    "solve.screening",
    "solve.session",
    "solve.verification",
    "solvers",
    "terms",
    "vision",
)
"""Modules that hold the public names, the applications last."""


def __getattr__(name: str) -> Any:
    """Import the library at its first use, so that ``submin --help`` needs no NumPy."""
    if name in ("files", "labels", "levels", "solvers", "testing"):
        return import_module(f"submin.{name}")
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"submin.{home}")
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
    rooms = ("terms", "solvers") if name[0].isupper() else ()
    comparison = import_module("submin.solvers.comparison") if rooms else None
    if comparison and name in (*comparison.__all__, "Screened"):  # names of version 0.1
        if name != "Screened":  # which warns itself
            place = comparison.__name__
            warnings.warn(f"{name} is in {place} now", DeprecationWarning, stacklevel=2)
        return getattr(comparison, name)
    for room in rooms:
        for registered in import_module(f"submin.{room}").REGISTRY.values():
            if registered.__name__ == name:
                return registered
    raise AttributeError(f"module 'submin' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
