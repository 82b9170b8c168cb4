"""Solvers that are kept to be compared; ``minimize`` takes them by name too."""

from __future__ import annotations

import warnings
from typing import Any

from submin.solvers.accelerated_sweeps import AcceleratedSweeps
from submin.solvers.comparison.anderson_sweeps import AndersonSweeps
from submin.solvers.comparison.douglas_rachford import DouglasRachford
from submin.solvers.comparison.fista import FISTA
from submin.solvers.comparison.frank_wolfe import FrankWolfe
from submin.solvers.comparison.iap import IAP
from submin.solvers.comparison.pairwise_frank_wolfe import PairwiseFrankWolfe
from submin.solvers.comparison.parallel_acdm import ParallelACDM
from submin.solvers.comparison.parallel_rcdm import ParallelRCDM
from submin.solvers.comparison.schrijver import Schrijver
from submin.solvers.comparison.smoothed_lovasz import SmoothedLovasz

__all__ = [
    "FISTA",
    "IAP",
    "AndersonSweeps",
    "DouglasRachford",
    "FrankWolfe",
    "PairwiseFrankWolfe",
    "ParallelACDM",
    "ParallelRCDM",
    "Schrijver",
    "SmoothedLovasz",
]


def Screened(inner: Any = None, every: int = 5) -> Any:
    """Return the inner solver, around which version 0.1 screened: that saved nothing measurable."""
    warnings.warn(f"Screened saves nothing; {inner} solves", DeprecationWarning, stacklevel=2)
    return AcceleratedSweeps() if inner is None else inner
