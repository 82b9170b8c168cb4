"""What a solver is: a frozen dataclass of settings with ``start``, ``step`` and ``iterate``.

The loop, the limits, the checks and the history live in ``submin.solve.driver``, so a solver holds
nothing but its mathematics.  Its state is a separate value that ``start`` makes.
"""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

from submin._typing import BoolArray, Dual, FloatArray
from submin.solve.layout import Layout

State = TypeVar("State")
DoneState = TypeVar("DoneState", contravariant=True)


class Solver(Protocol[State]):
    """The protocol that every solver follows."""

    def start(self, layout: Layout, dual: Dual) -> State:
        """Return the state that starts from a feasible dual, which the state may keep and change.

        Raises
        ------
        TypeError
            If the solver does not accept the problem; the message says what would.
        """
        ...

    def step(self, layout: Layout, state: State) -> int:
        """Do one iteration in place and return the number of block projections that it took."""
        ...

    def iterate(self, layout: Layout, state: State) -> tuple[Dual, FloatArray]:
        """Return the current feasible dual and its s = u + sum_i y_i, freshly summed.

        A solver that is done may let go of its own s as it is: the certificate sums it afresh.
        """
        ...


def refuse_precedences(layout: Layout, solver: Solver[State]) -> None:
    """Refuse infinite weights: base polytopes without an end have no vertex for some orders.

    Raises
    ------
    TypeError
        If a term has one; the message names it, and solvers that take it.
    """
    for index, term in enumerate(layout.problem.terms):
        if term.finite_part() is not term:
            raise TypeError(
                f"{type(solver).__name__} needs bounded base polytopes, but terms[{index}], a "
                f"{type(term).__name__}, has infinite weights; MaxFlow and AcceleratedSweeps take "
                "them"
            )


@runtime_checkable
class ExactSolver(Protocol[DoneState]):
    """A solver that is done after finitely many steps, and then knows a minimiser itself."""

    def done(self, state: DoneState) -> bool:
        """Say whether the current dual proves the minimiser."""
        ...

    def minimizer(self, state: DoneState) -> BoolArray:
        """Return the minimiser as a flat mask, once ``done``."""
        ...


@runtime_checkable
class ProximalSolver(ExactSolver[DoneState], Protocol[DoneState]):
    """An exact solver that knows the proximal point, once ``done``."""

    def point(self, state: DoneState) -> FloatArray:
        """Return the proximal point, shape (n,)."""
        ...


@runtime_checkable
class CountsMemory(Protocol):
    """A solver that knows the sizes of its arrays beforehand; ``describe`` asks for them."""

    def memory(self, layout: Layout) -> int:
        """Return the bytes of all arrays that the state holds at its largest."""
        ...


def array_bytes(layout: Layout, duals: int = 0, vectors: int = 0) -> int:
    """Return the bytes of so many duals and vectors of one number for each element."""
    dual = sum(term.size for term in layout.problem.terms)
    return 8 * (duals * dual + vectors * layout.n)
