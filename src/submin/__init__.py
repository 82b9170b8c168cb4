"""Minimise sums of simple submodular functions: exactly, with proof, fast.

    minimise  F(S) = u(S) + sum_i F_i(S)   over all subsets S of a ground set

>>> import submin as sm
>>> problem = sm.Problem([[1, -3], [2, -1]], [sm.GridCut((2, 2), weights=1.5)])
>>> result = sm.minimize(problem)
>>> result.value, result.status.name
(-1.0, 'OPTIMAL')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from submin.api import minimize, prox
from submin.certificate import Certificate, Status, certify, verify
from submin.description import describe
from submin.layout import Layout
from submin.problem import Problem
from submin.result import History, Record, Result
from submin.solvers import (
    ACDM,
    AP,
    FISTA,
    RCDM,
    AcceleratedSweeps,
    CyclicSweeps,
    DouglasRachford,
    FrankWolfe,
    ParallelRCDM,
    PermutedSweeps,
    RestartedACDM,
    SmoothedLovasz,
)
from submin.terms import Cardinality, Cut, GridCut, Term, grid_offsets

if TYPE_CHECKING:
    from submin.vision import segment

__version__ = "0.1.0"

__all__ = [
    "ACDM",
    "AP",
    "FISTA",
    "RCDM",
    "AcceleratedSweeps",
    "Cardinality",
    "Certificate",
    "Cut",
    "CyclicSweeps",
    "DouglasRachford",
    "FrankWolfe",
    "GridCut",
    "History",
    "Layout",
    "ParallelRCDM",
    "PermutedSweeps",
    "Problem",
    "Record",
    "RestartedACDM",
    "Result",
    "SmoothedLovasz",
    "Status",
    "Term",
    "__version__",
    "certify",
    "describe",
    "grid_offsets",
    "minimize",
    "prox",
    "segment",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import the applications only when they are asked for."""
    if name == "segment":
        from submin.vision import segment

        return segment
    raise AttributeError(f"module 'submin' has no attribute {name!r}")
