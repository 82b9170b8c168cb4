"""All level sets of a problem: paths of minimisers in a parameter, ratios, convex costs."""

from submin.levels.convex import ConvexResult, minimize_convex
from submin.levels.fidelity import Absolute, Fidelity, Huber, Poisson, Quantile, Sampled, Squares
from submin.levels.paths import Path, path
from submin.levels.ratios import Ratio, minimize_ratio

__all__ = [
    "Absolute",
    "ConvexResult",
    "Fidelity",
    "Huber",
    "Path",
    "Poisson",
    "Quantile",
    "Ratio",
    "Sampled",
    "Squares",
    "minimize_convex",
    "minimize_ratio",
    "path",
]
