"""What the library makes of a problem: its blocks, its sizes, its solver, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from submin.model.problem import Problem
from submin.solve.layout import Layout
from submin.solvers import Choice, choose, resolve
from submin.solvers.solver import CountsMemory, ExactSolver, Solver, array_bytes


def describe(
    problem: Problem,
    solver: Solver[Any] | str = "auto",
    *,
    blocks: str | Sequence[str] = "auto",
) -> str:
    """Describe a solve in plain words: elements, terms, blocks, memory, the choice of ``"auto"``.

    Parameters
    ----------
    problem : Problem
    solver : str or solver, optional
        As for ``minimize``.
    blocks : str or sequence of str, optional
        Decomposition, as for ``minimize``.

    Returns
    -------
    str
        A few lines to print.

    Raises
    ------
    ValueError
        If there is no solver of that name, or no term has such a decomposition.

    Examples
    --------
    >>> import submin as sm
    >>> print(sm.describe(sm.Problem([[1, -3], [2, -1]], [sm.GridCut((2, 2), 1.5)])))
    ... # doctest: +ELLIPSIS
    4 elements of shape (2, 2), 0 with hard constraints
    term 0: GridCut, 4 dual coordinates, at most 4 functions on one element, 2 blocks
    ...
    """
    layout = Layout(problem, blocks)
    forced = int(problem.forced_in.sum() + problem.forced_out.sum())
    lines = [f"{problem.n} elements of shape {problem.shape}, {forced} with hard constraints"]
    for index, term in enumerate(problem.terms):
        count = layout.owners.count(index)
        lines.append(
            f"term {index}: {type(term).__name__}, {term.size} dual coordinates, at most "
            f"{term.depth} functions on one element, {_blocks(count)}"
        )
    choice = (
        choose(layout) if solver == "auto" else Choice(resolve(solver, layout), "it was asked for")
    )
    dual = array_bytes(layout, duals=1)
    lines.append(f"a pass is {layout.r} block projections; a dual has {dual:,} bytes")
    if isinstance(choice.solver, CountsMemory):
        peak = peak_memory(layout, choice.solver)
        lines.append(
            f"a solve holds about {peak:,} bytes at its peak beside the problem's own data, "
            f"{peak / problem.n:.0f} an element"
        )
    lines.append(f"solver: {choice.solver}, because {choice.reason}")
    return "\n".join(lines)


def peak_memory(layout: Layout, solver: Solver[Any]) -> int:
    """Return the bytes of all arrays at the peak of a solve, beside the problem's own data.

    These are the solver's, the best set, and those of one check, beside which the best dual with
    its s lies; the search among level sets takes a greedy vertex, an order, its ranks, gains, and
    their sums in long double.  An exact solver has let its own arrays go when its last dual and s
    are certified (s and least costs).

    Raises
    ------
    TypeError
        If the solver does not count its arrays.
    """
    if not isinstance(solver, CountsMemory):
        raise TypeError(f"{solver!r} does not count its arrays: it has no method `memory`")
    if isinstance(solver, ExactSolver):
        return max(solver.memory(layout), array_bytes(layout, duals=1, vectors=3)) + layout.n
    return solver.memory(layout) + layout.n + array_bytes(layout, duals=2, vectors=7)


def _blocks(count: int) -> str:
    return f"{count} block" if count == 1 else f"{count} blocks"
