"""The public conformance suite: brute force, and the laws that every term and solver must keep.

``check_term`` and ``check_solver`` judge the families and solvers of submin and those of users
alike.  They need no test framework; a broken law raises ``ConformanceError`` with a sentence that
says which law it is and for which input.
"""

from __future__ import annotations

from submin.testing.brute_force import BruteForce, brute_force
from submin.testing.laws import ConformanceError
from submin.testing.solver_laws import check_solver, small_problems
from submin.testing.term_laws import check_term

__all__ = [
    "BruteForce",
    "ConformanceError",
    "brute_force",
    "check_solver",
    "check_term",
    "small_problems",
]
