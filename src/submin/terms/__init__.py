"""The terms, one family per file, and the registry that names them."""

from __future__ import annotations

from submin.terms.cardinality import Cardinality
from submin.terms.cut import Cut
from submin.terms.grid_cut import GridCut, grid_offsets
from submin.terms.term import Block, Term, Violation

__all__ = [
    "REGISTRY",
    "Block",
    "Cardinality",
    "Cut",
    "GridCut",
    "Term",
    "Violation",
    "grid_offsets",
]

FAMILIES: tuple[type[Term], ...] = (Cut, GridCut, Cardinality)

REGISTRY: dict[str, type[Term]] = {family.kind: family for family in FAMILIES}
"""Every family by its kind; files, tests and docs read this table."""
