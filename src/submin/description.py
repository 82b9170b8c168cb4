"""What the library makes of a problem: its blocks, its sizes, its solver, and why."""

from __future__ import annotations

from collections.abc import Sequence

from submin.layout import Layout
from submin.problem import Problem
from submin.solvers.choice import choose


def describe(problem: Problem, blocks: str | Sequence[str] = "auto") -> str:
    """Describe a problem in plain words: elements, terms, blocks, and the choice of ``"auto"``.

    Parameters
    ----------
    problem : Problem
    blocks : str or sequence of str, optional
        Decomposition, as for ``minimize``.

    Returns
    -------
    str
        A few lines to print.

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
    dual = sum(term.size for term in problem.terms)
    choice = choose(layout)
    lines.append(f"a pass is {layout.r} block projections; a dual has {8 * dual:,} bytes")
    lines.append(f"solver: {choice.solver}, because {choice.reason}")
    return "\n".join(lines)


def _blocks(count: int) -> str:
    return f"{count} block" if count == 1 else f"{count} blocks"
