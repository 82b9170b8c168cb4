"""The laws of a solver, each checked on small problems whose minimum is known by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from submin._lazy import lazy
from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.solve.layout import Layout
from submin.solve.result import Record, Result
from submin.solve.verification import verify_set
from submin.solvers.solver import ExactSolver, Solver
from submin.terms.cardinality import Cardinality
from submin.terms.cut import Cut
from submin.terms.function import Function
from submin.terms.grid_cut import GridCut
from submin.terms.table import Table
from submin.testing.brute_force import BruteForce, brute_force
from submin.testing.laws import RELATIVE_TOLERANCE, named, require


def check_solver(
    solver: Solver[Any], seed: int = 0, *, tol: float = 0.0, max_passes: float = 10_000
) -> tuple[str, ...]:
    """Check that a solver keeps every law that submin promises of its answers.

    Parameters
    ----------
    solver : solver
        Problems that it refuses with `TypeError` are left out; it must accept one or more.
    seed : int, optional
        Seed of the random problems.
    tol : float, optional
        Gap, in units of cost of order 1, that it must reach; 0 is up to rounding.
    max_passes : float, optional
        Passes within which it must reach it, on problems of 9 elements.

    Returns
    -------
    tuple of str
        The names of the problems that it accepted and solved.

    Raises
    ------
    ConformanceError
        For the first law that is broken; the message names the law and the problem.

    Notes
    -----
    The laws: it reaches the minimum and closes the gap; the lower bound is never above the minimum;
    the dual is feasible and x = -s belongs to it; a second solve and any number of threads give the
    same bits; its own result warm-starts it; it stops at a limit on passes or time and when the
    callback says so, with a valid answer.

    Examples
    --------
    >>> import submin as sm
    >>> "a mixture" in check_solver(sm.AcceleratedSweeps())
    True
    """
    accepted = []
    for name, problem in small_problems(seed):
        trial = Trial(solver, name, problem, brute_force(problem), tol, max_passes)
        try:
            trial.solve(max_passes=1)
        except TypeError:
            continue
        accepted.append(name)
        for law in LAWS:
            law(trial)
    require(accepted, solver, "acceptance", "it refuses every problem of the suite")
    return tuple(accepted)


def small_problems(seed: int = 0) -> Iterator[tuple[str, Problem]]:
    """Yield named problems of at most 9 elements: each family, a mixture, hard constraints."""
    random = np.random.default_rng(seed)
    grid = GridCut((3, 3), [random.random((3, 2)), random.random((2, 3))])
    grid_of_integers = GridCut((3, 3), 1.0, connectivity=8)
    tails, heads = np.array([(i, j) for i in range(9) for j in range(i)]).T
    weights = random.random((2, tails.size)) * (random.random(tails.size) < 0.4)
    graph = Cut(tails, heads, *weights)
    groups = Cardinality.from_labels(np.arange(9) % 2, lambda k, m: 0.3 * k * (m - k))
    table = Table(
        [[0, 3, 6], [6, 7, 8], [2, 4, 6]],
        np.array([0, 1, 1, 1.5, 1, 1.5, 1.5, 0.5]) * random.random((3, 1)),
    )
    root = Function(np.arange(9), lambda mask: 2.0 * float(np.sqrt(mask @ np.arange(1.0, 10.0))))
    unary = random.normal(size=(3, 3))
    hard = unary.copy()
    hard[0, 0], hard[2, 1] = np.inf, -np.inf
    yield "no terms", Problem(unary)
    yield "one element", Problem([-1.0], [], constant=2.0)
    yield "a grid", Problem(unary, [grid])
    yield "integers", Problem(random.integers(-4, 5, (3, 3)), [grid_of_integers], constant=1.0)
    yield "a directed graph", Problem(unary.ravel(), [graph])
    yield "groups", Problem(2.0 * unary.ravel(), [groups])
    yield "tables", Problem(unary.ravel(), [table])
    yield "a function", Problem(unary - 0.5, [root])
    yield "a mixture", Problem(3.0 * unary.ravel(), [grid, graph, groups, table, root])
    yield "hard constraints", Problem(hard, [grid, grid_of_integers])
    yield "a large constant", Problem(unary, [grid], constant=-1e6)


@dataclass(eq=False)
class Trial:
    """A solver on one problem with a known answer."""

    solver: Solver[Any]
    name: str
    problem: Problem
    known: BruteForce
    tol: float
    max_passes: float

    def solve(self, **settings: Any) -> Result:
        """Run the solver."""
        settings = {"max_passes": self.max_passes, "tol": self.tol, **settings}
        return minimize(self.problem, self.solver, **settings)

    @lazy
    def cold(self) -> Result:
        """The result of a solve to the end, with one thread."""
        return self.solve(threads=1)

    def require(self, holds: object, law: str, detail: str) -> None:
        """Raise `ConformanceError` unless `holds`."""
        require(holds, self.solver, law, f"on the problem {self.name!r} {detail}")

    @property
    def tolerance(self) -> float:
        """The agreement to ask for, in units of cost."""
        finite = self.problem.unary[np.isfinite(self.problem.unary)]
        size = float(np.sum(np.abs(finite))) + abs(self.problem.constant)
        return RELATIVE_TOLERANCE * (1.0 + size + abs(self.known.minimum))

    def require_valid(self, result: Result, what: str) -> None:
        """Require a value that the set has, and a bound that the minimum does not contradict."""
        value = self.problem.evaluate(result.minimizer)
        best = named(result.minimizer.ravel())
        detail = f"{what} says {result.value}, but the set {best} costs {value}"
        self.require(value == result.value, "true values", detail)
        minimum = self.known.minimum
        detail = f"{what} has the lower bound {result.lower_bound}, but the minimum is {minimum}"
        rounding = 4.0 * np.finfo(np.float64).eps * abs(minimum)
        below = result.lower_bound <= minimum + rounding
        self.require(below, "valid lower bounds", detail)


def _reaches_the_minimum(trial: Trial) -> None:
    result, minimum = trial.cold, trial.known.minimum
    trial.require_valid(result, "the result")
    close = abs(result.value - minimum) <= trial.tol + trial.tolerance
    trial.require(close, "reaching the minimum", f"it ends at {result.value} above {minimum}")
    detail = f"it leaves the gap {result.gap} after {result.passes} passes"
    trial.require(result.gap <= trial.tol + trial.tolerance, "closing the gap", detail)


def _feasible_dual(trial: Trial) -> None:
    """Check that the dual is feasible, also when the solve is cut short, and that x is its -s."""
    for result in (trial.solve(max_passes=1), trial.cold):
        layout = Layout(trial.problem)
        certificate = verify_set(trial.problem, result)
        allowed = trial.tolerance + certificate.rounding
        detail = f"it is outside by {certificate.violation} after {result.passes} passes"
        trial.require(certificate.violation <= allowed, "feasible duals", detail)
        for term, part in zip(trial.problem.terms, result.dual, strict=True):
            total = np.zeros(trial.problem.n)
            term.accumulate(part, total)
            whole = term.evaluate(np.ones(trial.problem.n, dtype=np.bool_))
            detail = f"the dual of {type(term).__name__} sums to {total.sum()}, where F is {whole}"
            trial.require(abs(total.sum() - whole) <= allowed, "feasible duals", detail)
        off = result.x.ravel() + layout.total(result.dual)
        detail = f"x differs from -s by {np.max(np.abs(off))} after {result.passes} passes"
        trial.require(np.max(np.abs(off)) <= trial.tolerance, "x = -s", detail)


def _same_bits(trial: Trial) -> None:
    first = trial.cold
    for what, threads in (("again", 1), ("with 2 threads", 2)):
        second = trial.solve(threads=threads)
        same = np.array_equal(first.x, second.x) and first.value == second.value
        same &= np.array_equal(first.minimizer, second.minimizer)
        same &= all(np.array_equal(a, b) for a, b in zip(first.dual, second.dual, strict=True))
        trial.require(same, "reproducibility", f"solving {what} gives other bits")


def _any_decomposition(trial: Trial) -> None:
    """Check that one block per function is as good as few large blocks."""
    result = trial.solve(blocks="functions")
    trial.require_valid(result, "the result with one block per function")
    close = abs(result.value - trial.known.minimum) <= trial.tol + trial.tolerance
    detail = f"with one block per function it ends at {result.value} above {trial.known.minimum}"
    trial.require(close, "reaching the minimum", detail)


def _warm_start(trial: Trial) -> None:
    cold = trial.cold
    warm = trial.solve(warm_start=cold)
    trial.require_valid(warm, "a warm-started result")
    close = abs(warm.value - cold.value) <= trial.tol + trial.tolerance
    detail = f"from its own result with {cold.value} it comes to {warm.value}"
    trial.require(close, "warm starts", detail)
    detail = f"from its own result it takes {warm.passes} passes, without it {cold.passes}"
    quick = isinstance(trial.solver, ExactSolver) or warm.passes <= max(1.0, 0.5 * cold.passes)
    trial.require(quick, "warm starts", detail)
    first, second = cold.history[0].discrete_gap, warm.history[0].discrete_gap
    detail = f"from its own result it begins with the gap {second}, without it {first}"
    near = second <= 0.5 * first + trial.tol + trial.tolerance
    trial.require(near, "warm starts", detail)
    allowed = trial.tol + 2.0 * trial.tolerance
    detail = f"from its own result with gap {cold.gap} it leaves {warm.gap}"
    trial.require(warm.gap <= cold.gap + allowed, "warm starts", detail)


def _limits(trial: Trial) -> None:
    """Check that a solve that a limit or the callback cuts short is short, and valid."""
    one = trial.solve(max_passes=1)
    trial.require_valid(one, "a result with max_passes=1")
    trial.require(one.passes <= 2.0, "limits", f"max_passes=1 takes {one.passes} passes")
    none = trial.solve(time_limit=0.0)
    trial.require_valid(none, "a result with time_limit=0")
    trial.require(none.passes <= 2.0, "limits", f"time_limit=0 takes {none.passes} passes")
    called: list[Record] = []

    def stop(record: Record, members: BoolArray) -> bool:
        called.append(record)
        return True

    stopped = trial.solve(callback=stop)
    trial.require_valid(stopped, "a result that the callback stopped")
    detail = f"the callback said stop, but was called {len(called)} times"
    trial.require(len(called) == 1, "limits", detail)


def _settings_are_constant(trial: Trial) -> None:
    """Check that solving changes neither the settings nor the problem."""
    settings, unary = repr(trial.solver), trial.problem.unary.copy()
    starts: list[FloatArray] = [term.feasible_start() for term in trial.problem.terms]
    trial.solve(max_passes=2)
    detail = f"its settings were {settings} and are {trial.solver!r}"
    trial.require(repr(trial.solver) == settings, "constant settings", detail)
    same = np.array_equal(trial.problem.unary, unary)
    for term, start in zip(trial.problem.terms, starts, strict=True):
        same &= np.array_equal(term.feasible_start(), start)
    trial.require(same, "constant settings", "it changes the problem")


LAWS: tuple[Callable[[Trial], None], ...] = (
    _reaches_the_minimum,
    _feasible_dual,
    _same_bits,
    _any_decomposition,
    _warm_start,
    _limits,
    _settings_are_constant,
)
