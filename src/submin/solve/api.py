"""The two questions of the library: ``minimize`` (which set?) and ``prox`` (all level sets?)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, Never, TypeAlias

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import Dual, FloatArray
from submin.model.problem import Problem
from submin.solve.driver import Callback, Limits, Run
from submin.solve.layout import Layout
from submin.solve.progress import Display, PointWatch, Watch, displaying
from submin.solve.proximal_driver import ProximalRun
from submin.solve.result import Result
from submin.solvers import REGISTRY, choose_proximal, resolve
from submin.solvers.solver import ExactSolver, ProximalSolver, Solver

DEFAULT_MAX_PASSES = 10_000

PROXIMAL_DISTANCE = 1e-5
"""How far ``prox`` ends from the proximal point by default, at most, in units of ||u||."""

LEAST_COST = 1e-140
"""Squares of smaller costs are nearly 0, and so is every smooth gap."""

WarmStart: TypeAlias = Result | Sequence[FloatArray]


def minimize(
    problem: Problem,
    solver: Solver[Any] | str = "auto",
    *,
    tol: float = 0.0,
    max_passes: float | None = None,
    time_limit: float | None = None,
    check_every: int = 5,
    blocks: str | Sequence[str] = "auto",
    threads: int = 0,
    progress: bool = False,
    callback: Callback | None = None,
    warm_start: WarmStart | None = None,
    **unknown: Never,
) -> Result:
    """Minimise F over all subsets of the ground set, with a certificate.

    Parameters
    ----------
    problem : Problem
    solver : str or solver, optional
        ``"auto"``, the name of a solver (``"rcdm"``, ``"acdm"``, ``"ap"``, ...), or a solver with
        settings such as ``RCDM(seed=1)``.
    tol : float, optional
        Gap, in units of cost, at which to stop; 0 runs until the gap is closed up to rounding.
    max_passes, time_limit : float, optional
        Stop after so many passes over the blocks (10,000 by default) or seconds.
    check_every : int, optional
        Passes between two checks of the gap (each of the first five passes is checked).
    blocks : str or sequence of str, optional
        Decomposition: ``"auto"``, ``"matchings"``, ``"functions"``, ...; one for all terms or one
        for each.
    threads : int, optional
        Threads for large blocks; 0 means all cores.  Any number gives the same bits.
    progress : bool, optional
        Show the gap on standard error while solving (a live line where rich is installed), and in
        the end that of the certificate.
    callback : callable (record, minimizer) -> bool, optional
        Called at each check; returning ``True`` stops the solve.
    warm_start : Result or sequence of arrays, optional
        A result of the same or a changed problem (same terms, any solver and blocks), or its dual.

    Returns
    -------
    Result
        Best set, value, lower bound, gap, status, dual, x, history.  Ctrl-C returns the best so
        far; before the first look, while the data are checked and laid out, there is none to lose
        and it raises ``KeyboardInterrupt``.

    Raises
    ------
    ValueError
        If a setting or the warm start does not fit the problem.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([[1, -3], [2, -1]], [sm.GridCut((2, 2), 1.5)])
    >>> result = sm.minimize(problem)
    >>> print(result.value, result.lower_bound, result.status.name)
    -1.0 -1.0 OPTIMAL
    >>> result.minimizer
    array([[False,  True],
           [False,  True]])
    """
    _refuse("minimize", unknown)
    limits = _limits(tol, max_passes, time_limit, check_every)
    layout = Layout(problem, blocks, threads, pinned=True)
    chosen = resolve(solver, layout)
    watching = partial(Watch, callback=callback)
    return _solve(Run, layout, chosen, limits, watching, progress, warm_start)


def prox(
    problem: Problem,
    solver: Solver[Any] | str = "auto",
    *,
    weights: npt.ArrayLike | None = None,
    tol: float | None = None,
    max_passes: float | None = None,
    time_limit: float | None = None,
    check_every: int = 5,
    blocks: str | Sequence[str] = "auto",
    threads: int = 0,
    progress: bool = False,
    callback: Callback | None = None,
    warm_start: WarmStart | None = None,
    **unknown: Never,
) -> Result:
    """Solve the proximal problem: minimise f(x) + sum_v m_v x_v^2 / 2, with m = 1 by default.

    f is the Lovász extension of F.  The level set {x > lam} is the smallest minimiser of F + lam m,
    and {x >= lam} the largest, for every lam at once (Bach 2013, Proposition 8.6,
    doi:10.1561/2200000039).  With unary -m b the problem is the denoising of b: minimise
    sum_i f_i(x) + sum_v m_v (x_v - b_v)^2 / 2.  Convert a b of unsigned integers to float before
    you negate it: NumPy wraps, and in uint8 -200 is 56.

    Problems of cuts, and of terms that are cuts with a few auxiliary nodes, are solved exactly, by
    ``ParametricFlow``; others to a tolerance, by ``AcceleratedSweeps``.

    Parameters
    ----------
    weights : array_like, shape of the problem, optional
        The weights m of the squares, at least 0; 0 stands for a missing datum.  Elements of weight
        0 take values within the range of the others; where f says nothing of them, 0.  Only
        ``ParametricFlow`` takes weights that are not all 1.
    tol : float, optional
        Smooth gap at which to stop, in units of cost squared: data scaled by 10 need 100 times the
        tolerance.  The returned x is within sqrt(2 gap) of the solution in the Euclidean norm (that
        of the weights), so ``tol = d**2 / 2`` asks for a distance of d.  The default is a distance
        of 1e-5 ||u||; pictures need 1e-3 ||u||, in a part of the passes.  A tolerance below the
        rounding errors of the data is not reached: a first-order solve ends ``STOPPED`` when they
        leave no further progress.  ``ParametricFlow`` goes to the end whatever the tolerance is.

    Other parameters are those of ``minimize``.

    Returns
    -------
    Result
        ``x`` is the point with the least smooth gap on the way.  ``point`` is its certificate,
        which counts all rounding errors and which ``verify`` recomputes; ``CONVERGED`` says that
        its gap is within the tolerance, ``CLOSED`` that it is no more than what rounding may make.
        The set and its certificate are those of lam = 0.

    Raises
    ------
    ValueError
        If the problem has hard constraints: x would be infinite there.  If weights are negative,
        not finite or all 0, or do not hold x: a set of weight 0 wants in or out at all costs.
    TypeError
        If the solver finds no proximal point, or there are weights and it is for none.

    Notes
    -----
    A pass takes time in proportion to the edges and members of the terms; the guide's page of
    measurements counts the passes for each digit of x.

    Examples
    --------
    >>> import submin as sm
    >>> data = [6.0, 6.3, 13.8]
    >>> chain = sm.Cut([0, 1], [1, 2], [0.5, 0.2])
    >>> sm.prox(sm.Problem([-b for b in data], [chain])).x.round(12)
    array([ 6.25,  6.25, 13.6 ])

    The second datum is missing:

    >>> sm.prox(sm.Problem([-6.0, 0.0, -13.8], [chain]), weights=[1, 0, 1]).x.round(12)
    array([ 6.2,  6.2, 13.6])

    A noisy picture, to a distance that no eye sees, and with the default:

    >>> import numpy as np
    >>> noisy = np.eye(32) + 0.1 * np.random.default_rng(0).normal(size=(32, 32))
    >>> problem = sm.Problem(-noisy, [sm.GridCut(noisy.shape, 0.05, connectivity=8)])
    >>> distance = 1e-3 * np.linalg.norm(noisy)
    >>> loose = sm.prox(problem, sm.AcceleratedSweeps(), tol=distance**2 / 2)
    >>> bool(np.linalg.norm(loose.x - sm.prox(problem).x) < distance)
    True
    """
    _refuse("prox", unknown)
    layout = Layout(problem, blocks, threads, weights=weights)
    forced = problem.forced_in | problem.forced_out
    if forced.any():
        index = int(np.argmax(forced))
        raise ValueError(
            f"unary.flat[{index}] is {problem.unary.flat[index]}: the proximal point would be "
            "infinite there; give it a finite cost"
        )
    largest = float(np.max(np.abs(problem.unary)))
    if 0.0 < largest < LEAST_COST:
        raise ValueError(
            f"the largest unary cost is {largest}: the squares of the proximal problem underflow; "
            "scale the data up"
        )
    if layout.masses is not None:
        _checks.refuse_far_weights("weights", layout.masses, layout.unary)
    if tol is None:
        tol = 0.5 * PROXIMAL_DISTANCE**2 * float(np.sum(np.square(problem.unary)))
    limits = _limits(tol, max_passes, time_limit, check_every)
    chosen = resolve(solver, layout, choose_proximal)
    if isinstance(chosen, ExactSolver) and not isinstance(chosen, ProximalSolver):
        raise TypeError(f"{solver!r} finds a minimiser, and not the proximal point; use another")
    if weights is not None and not isinstance(chosen, ProximalSolver):
        raise TypeError(
            f"{chosen!r} takes no weights; ParametricFlow does, for cuts and terms that are cuts "
            "with a few auxiliary nodes"
        )
    watching = partial(PointWatch, callback=callback, tol=limits.tol)
    return _solve(ProximalRun, layout, chosen, limits, watching, progress, warm_start)


def _refuse(function: str, unknown: Mapping[str, object]) -> None:
    """Refuse an unknown argument; one that is a setting of a solver goes there."""
    for name, value in unknown.items():
        hint = ""
        if name.startswith(("max", "time", "n_iter")):
            hint = ": max_passes and time_limit are the limits of a solve"
        for solver in reversed(REGISTRY.values()):
            if is_dataclass(solver) and name in {field.name for field in fields(solver)}:
                home = "sm.solvers.comparison" if "comparison" in solver.__module__ else "sm"
                hint = (
                    f": it is a setting of solvers, such as {home}.{solver.__name__}"
                    f"({name}={value!r})"
                )
        raise TypeError(f"{function} has no argument {name!r}{hint}")


def _limits(
    tol: float,
    max_passes: float | None,
    time_limit: float | None,
    check_every: int,
) -> Limits:
    return Limits(
        tol=tol,
        max_passes=DEFAULT_MAX_PASSES if max_passes is None else max_passes,
        time_limit=float("inf") if time_limit is None else time_limit,
        check_every=check_every,
    )


def _solve(
    run: type[Run[Any]],
    layout: Layout,
    solver: Solver[Any],
    limits: Limits,
    watching: Callable[[Display | None], Watch],
    progress: bool,
    warm_start: WarmStart | None,
) -> Result:
    dual = _starting_dual(layout, warm_start)
    with displaying(progress) as display:
        watch = watching(display)
        result = run(layout, solver, limits, watch.callback).solve(dual)
        watch.close(result)
    return result


def _starting_dual(layout: Layout, warm_start: WarmStart | None) -> Dual:
    if warm_start is None:
        return layout.feasible_start()
    given = warm_start.dual if isinstance(warm_start, Result) else warm_start
    if not isinstance(given, Sequence):
        raise TypeError(f"warm_start must be a Result or a dual, and not {type(given).__name__}")
    return layout.restored(given)
