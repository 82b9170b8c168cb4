"""Minimise sums of simple submodular functions: exactly, with proof, fast.

    minimise  F(S) = u(S) + sum_i F_i(S)   over all subsets S of a ground set

>>> import submin as sm
>>> problem = sm.Problem([[1, -3], [2, -1]], [sm.GridCut((2, 2), weights=1.5)])
>>> result = sm.minimize(problem)
>>> result.value, result.status.name
(-1.0, 'OPTIMAL')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from submin.api import minimize, prox
    from submin.certificate import Certificate, Status, certify, verify
    from submin.description import describe
    from submin.layout import Layout
    from submin.minor import Minor
    from submin.networks import (
        CutCertificate,
        Flow,
        FlowCertificate,
        GlobalCut,
        Network,
        global_min_cut,
        max_flow,
    )
    from submin.problem import Problem
    from submin.proximal_certificate import ProximalCertificate, certify_point
    from submin.result import History, Record, Result
    from submin.screening import screen
    from submin.solvers import (
        ACDM,
        AP,
        FISTA,
        IAP,
        RCDM,
        AcceleratedSweeps,
        AndersonSweeps,
        CyclicSweeps,
        DouglasRachford,
        FrankWolfe,
        MaxFlow,
        MinimumNormPoint,
        PairwiseFrankWolfe,
        ParallelACDM,
        ParallelRCDM,
        PermutedSweeps,
        RestartedACDM,
        Schrijver,
        Screened,
        SmoothedLovasz,
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
        potts_pn,
        robust_pn,
    )
    from submin.vision import segment

__version__ = "0.1.0"

__all__ = [
    "ACDM",
    "AP",
    "FISTA",
    "IAP",
    "RCDM",
    "AcceleratedSweeps",
    "AndersonSweeps",
    "Cardinality",
    "Certificate",
    "ConcaveOfModular",
    "Cut",
    "CutCertificate",
    "CyclicSweeps",
    "DouglasRachford",
    "Flow",
    "FlowCertificate",
    "FrankWolfe",
    "Function",
    "GlobalCut",
    "GridCut",
    "History",
    "Hyperedge",
    "Layout",
    "MaxFlow",
    "MinimumNormPoint",
    "Minor",
    "Network",
    "PairwiseFrankWolfe",
    "ParallelACDM",
    "ParallelRCDM",
    "PermutedSweeps",
    "Problem",
    "ProximalCertificate",
    "Record",
    "RestartedACDM",
    "Result",
    "Schrijver",
    "Screened",
    "SmoothedLovasz",
    "Status",
    "SubmodularFlow",
    "Table",
    "Term",
    "Truncation",
    "__version__",
    "certify",
    "certify_point",
    "coverage",
    "describe",
    "facility_location",
    "global_min_cut",
    "grid_offsets",
    "label_groups",
    "list_groups",
    "max_flow",
    "minimize",
    "negative_hinge",
    "potts_pn",
    "prox",
    "robust_pn",
    "screen",
    "segment",
    "verify",
]

_HOMES = (
    "api",
    "certificate",
    "description",
    "layout",
    "minor",
    "networks",
    "problem",
    "proximal_certificate",
    "result",
    "screening",
    "solvers",
    "terms",
    "vision",
)
"""Modules that hold the public names, the applications last."""


def __getattr__(name: str) -> Any:
    """Import the library at its first use, so that ``submin --help`` needs no NumPy."""
    if name == "testing":
        return import_module("submin.testing")
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"submin.{home}")
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module 'submin' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
