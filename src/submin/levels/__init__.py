"""All level sets of a problem: paths of minimisers in a parameter, and ratios."""

from submin.levels.paths import Path, path
from submin.levels.ratios import Ratio, minimize_ratio

__all__ = ["Path", "Ratio", "minimize_ratio", "path"]
