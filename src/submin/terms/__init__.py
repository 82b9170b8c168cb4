"""The terms, one family per file, and the registry that names them."""

from __future__ import annotations

from submin.terms.base.grid import grid_offsets
from submin.terms.base.groups import label_groups, list_groups
from submin.terms.base.term import Block, Piece, Term, TermMinor, Violation
from submin.terms.capabilities.fixing import Fixing
from submin.terms.cardinality import Cardinality
from submin.terms.concave_of_modular import ConcaveOfModular
from submin.terms.cut import Cut
from submin.terms.edge_lists import nodes_of
from submin.terms.function import Function
from submin.terms.grid_cut import GridCut
from submin.terms.hyperedge import Hyperedge
from submin.terms.potentials import (
    coverage,
    facility_location,
    negative_hinge,
    potts_pn,
    robust_pn,
)
from submin.terms.table import Table
from submin.terms.truncation import Truncation

__all__ = [
    "REGISTRY",
    "Block",
    "Cardinality",
    "ConcaveOfModular",
    "Cut",
    "Fixing",
    "Function",
    "GridCut",
    "Hyperedge",
    "Piece",
    "Table",
    "Term",
    "TermMinor",
    "Truncation",
    "Violation",
    "coverage",
    "facility_location",
    "grid_offsets",
    "label_groups",
    "list_groups",
    "negative_hinge",
    "nodes_of",
    "potts_pn",
    "robust_pn",
]

FAMILIES: tuple[type[Term], ...] = (
    Cut,
    GridCut,
    Cardinality,
    Hyperedge,
    Truncation,
    ConcaveOfModular,
    Table,
    Function,
)

REGISTRY: dict[str, type[Term]] = {family.kind: family for family in FAMILIES}
"""Every family by its kind; files, tests and docs read this table."""
