"""A problem that is kept, and answers again after a small change: ``Session``.

A maximum flow stays open between two questions (``solvers.flows.kept_flow``).  What takes as long
as a solve of the whole problem, the certificate and a copy of the dual, waits until it is asked
for.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache, partial
from math import inf, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import _checks, _memory
from submin._typing import Dual, FloatArray, IndexArray
from submin.model.pins import reach
from submin.model.problem import Problem
from submin.solve.certificate import certify
from submin.solve.driver import Callback, Limits, Run
from submin.solve.layout import Layout
from submin.solve.progress import Watch, displaying
from submin.solve.result import History, Record, Result
from submin.solvers import choose
from submin.solvers.flows.kept_flow import KeptFlow
from submin.solvers.flows.network import refuse_others
from submin.solvers.max_flow import MaxFlow, MaxFlowState
from submin.solvers.solver import Solver
from submin.terms import Cut, GridCut
from submin.terms.base.edges import EdgeTerm
from submin.terms.base.term import Term

LATE = ("certificate", "status", "dual", "x", "history")
"""What a kept result computes when it is first asked for."""


class KeptResult(Result):
    """The result of a session: all but the set is written down when it is first asked for.

    Until the session moves its flow, the dual is that flow; then it becomes a copy.
    """

    _layout: Layout
    _flow: Dual
    _point: Callable[[FloatArray], FloatArray]
    _effort: tuple[float, int, float]
    _around: Callable[[], FloatArray]

    def __getattr__(self, name: str) -> Any:
        """Compute what is late, once."""
        if name not in LATE:
            raise AttributeError(f"a {type(self).__name__} has no attribute {name!r}")
        value = vars(self)[name] = getattr(self, f"_late_{name}")()
        return value

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields, computed, for pickles and copies."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _late_dual(self) -> tuple[FloatArray, ...]:
        return tuple(_memory.copied(part) for part in self._flow)

    def _late_x(self) -> FloatArray:
        s = self._layout.total(vars(self).get("dual", self._flow))
        return self._point(s).reshape(self._layout.problem.shape)

    def _late_certificate(self) -> Any:
        problem = self._layout.problem
        whole = Problem(problem.unary, problem.terms, problem.constant)
        if problem.pins is not None:
            vars(whole)["pins"] = whole.pins_by(self._around)
        dual = vars(self).get("dual", self._flow)
        return certify(whole, self.minimizer.ravel(), dual)

    def _late_status(self) -> Any:
        return self.certificate.status(self.tol)

    def _late_history(self) -> Any:
        last = self.certificate
        return History([Record(*self._effort, nan, last.gap, last.value, last.lower_bound)])


class KeptRun(Run[MaxFlowState]):
    """A run of a search that is kept: when it is done, its result is written down late."""

    def _check_start(self, dual: Dual) -> None:
        """Look at the end alone, which is near; ``_result`` finds a set if it is not reached."""

    def _check(self, state: MaxFlowState) -> bool:
        """Measure what a limit leaves, or what someone watches."""
        if state.done and not self.measured and not self.interrupted:
            return True
        return super()._check(state)

    def _closed(self, *_: object) -> bool:
        """Stop: what a maximum flow leaves is the answer, or a limit has come first."""
        return True

    def _result(self) -> Result:
        if self.state is None or not self.state.done or self.interrupted:
            return super()._result()
        dual, _ = self.solver.iterate(self.layout, self.state)
        members = self.layout.problem.repaired(self.state.members)
        result = KeptResult.__new__(KeptResult)
        vars(result).update(
            minimizer=members.reshape(self._shape).copy(),
            solver=repr(self.solver),
            tol=self.limits.tol,
            interrupted=False,
            _layout=self.layout,
            _flow=dual,
            _point=self._point,
            _effort=(self.passes, self.projections, self.seconds),
        )
        if self.measured:
            vars(result)["history"] = self.history
        return result


class Session:
    """A problem that is kept, and answers again soon after a small change.

    On a grid the time is mostly that of what a change moves: a hundredth to a tenth of a solve from
    nothing for a stroke of a brush, and up to that of a solve where it turns much of the answer.

    Parameters
    ----------
    problem : Problem
        Its unary is copied.  Leave the arrays of its terms unchanged while the session is in use.
    largest : bool, optional
        Return the largest minimiser and not the smallest, as ``MaxFlow`` does.
    threads : int, optional
        Threads for large blocks; 0 means all cores.

    Raises
    ------
    TypeError
        If `largest` is asked of terms that ``MaxFlow`` does not take.

    Notes
    -----
    A problem of one ``GridCut`` keeps the forests of its search (Kohli and Torr 2007,
    doi:10.1109/TPAMI.2007.1128; Goldberg et al. 2015, doi:10.1007/978-3-662-48350-3_52): a solve
    visits the nodes around a change, and beside them takes a few passes over the pixels.  Other
    problems that ``minimize`` solves by ``MaxFlow`` keep their network and flow, which is searched
    anew in O(nodes + edges).  All else is minimised from the last dual.

    All of a result but the set, its certificate above all, is computed when it is first asked for.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> session = sm.Session(sm.Problem([[1.0, -3.0], [2.0, -1.0]], [sm.GridCut((2, 2), 1.5)]))
    >>> session.solve().minimizer
    array([[False,  True],
           [False,  True]])
    >>> session.change_unary([0, 2], [-np.inf, -4.0])
    >>> result = session.solve()
    >>> result.minimizer, result.value, result.status.name
    (array([[ True,  True],
           [ True,  True]]), -8.0, 'OPTIMAL')
    """

    def __init__(self, problem: Problem, *, largest: bool = False, threads: int = 0) -> None:
        self._layout = Layout(problem, threads=threads, pinned=True)
        self._problem = Problem(problem.unary.copy(), problem.terms, problem.constant)
        self._threads = threads
        self._solver = _solver(self._layout, bool(largest))
        self._unit: float = -1.0
        self._reach: Callable[[], FloatArray] | None = None
        self._dual: Dual | None = None
        self._last: weakref.ref[Result] | None = None
        self._stale = True

    @property
    def problem(self) -> Problem:
        """The problem as it stands; its unary is a copy."""
        return Problem(self._problem.unary.copy(), self._problem.terms, self._problem.constant)

    def set_unary(self, values: npt.ArrayLike) -> None:
        """Replace all unary costs.

        Parameters
        ----------
        values : array_like of float, the problem's shape (or flat)
            ``inf`` and ``-inf`` are hard constraints.

        Raises
        ------
        ValueError
            If a value is NaN, or the shape is not the problem's.
        """
        costs = _checks.costs("values", values)
        if costs.shape not in (self._problem.shape, (self._problem.n,)):
            raise ValueError(
                f"values has shape {costs.shape}, but the problem has {self._problem.shape}"
            )
        self._take(costs.reshape(self._problem.unary.shape).copy(), costs)

    def change_unary(self, where: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Replace some unary costs.

        Parameters
        ----------
        where : array_like of bool or int
            A boolean mask of the problem's shape (or flat), or a flat list of element numbers
            (``np.ravel_multi_index`` makes them from rows and columns).
        values : array_like of float
            One cost for all of these elements, or one for each, in the order of `where` (C order
            for a mask).  Of an element that is named twice, the last one counts.

        Raises
        ------
        ValueError
            If a value is NaN, an element number is out of range, or sizes do not fit.
        TypeError
            If `where` is neither a mask nor a flat list, but rows and columns, say.
        """
        elements = self._elements(where)
        costs = _checks.costs("values", values)
        if costs.size != 1 and costs.size != elements.size:
            raise ValueError(
                f"values has {costs.size} entries for {elements.size} elements: give one for all, "
                "or one for each"
            )
        unary = self._problem.unary.copy()
        unary.ravel()[elements] = costs.ravel()
        self._take(unary, costs)

    def change_weights(self, weights: Any, reverse_weights: Any = None, *, term: int = 0) -> None:
        """Replace the weights of a ``GridCut`` or ``Cut``.

        Parameters
        ----------
        weights, reverse_weights
            As in the constructor of the term.
        term : int, optional
            The number of the term.

        Raises
        ------
        TypeError
            If the term has no weights of edges.
        ValueError
            If there is no such term, or weights are no weights.

        Notes
        -----
        The flow is clipped to the new weights, and searched anew in O(nodes + edges).
        """
        terms = list(self._problem.terms)
        if not 0 <= _checks.whole_number("term", term, 0) < len(terms):
            raise ValueError(f"term is {term}, but the problem has {len(terms)} terms")
        terms[term] = _reweighted(terms[term], term, weights, reverse_weights)
        problem = Problem(self._problem.unary, terms, self._problem.constant)
        self._keep_last()
        layout = Layout(problem, threads=self._threads, pinned=True)
        self._stale, self._dual = True, self._clipped(terms)
        if isinstance(self._solver, KeptFlow) and self._dual is not None:
            self._solver.restart(layout, self._dual)
        self._problem, self._layout, self._reach, self._unit = problem, layout, None, -1.0

    def solve(
        self,
        *,
        time_limit: float | None = None,
        max_passes: float | None = None,
        progress: bool = False,
        callback: Callback | None = None,
    ) -> Result:
        """Minimise the problem as it stands.

        Parameters
        ----------
        time_limit, max_passes, progress, callback : optional
            As for ``minimize``.

        Returns
        -------
        Result
            The same as of ``minimize``.  After Ctrl-C or a limit it is the best so far, and the
            next solve goes on from there.
        """
        limits = Limits(
            max_passes=10_000 if max_passes is None else max_passes,
            time_limit=inf if time_limit is None else time_limit,
        )
        self._keep_last()
        stale, self._stale = self._stale, True
        self._prepare(stale)
        dual = self._start()
        run = KeptRun if isinstance(self._solver, KeptFlow) else Run
        with displaying(progress) as display:
            watch = Watch(display, callback)
            result = run(self._layout, self._solver, limits, watch.callback).solve(dual)
            watch.close(result)
        self._stale = result.interrupted
        return self._handed_out(result)

    def _handed_out(self, result: Result) -> Result:
        """Return a result that no later solve changes."""
        if isinstance(result, KeptResult):
            self._last = weakref.ref(result)
            vars(result)["_around"] = self._bound_on_terms()
            return result
        self._dual = [part.copy() for part in result.dual]
        return replace(result, dual=tuple(self._dual))

    def _elements(self, where: npt.ArrayLike) -> IndexArray:
        if np.asarray(where).dtype == np.bool_:
            mask = self._problem.flat_set("where", where)
            return np.flatnonzero(mask).astype(np.int32)
        if isinstance(where, tuple) or np.ndim(where) > 1:
            raise TypeError(
                "where must be a boolean mask (mask > 0 makes one) or a flat list of element "
                f"numbers; np.ravel_multi_index(where, {self._problem.shape}) makes them from one "
                "array for each axis"
            )
        return _checks.indices("where", where, self._problem.n).ravel()

    def _take(self, unary: FloatArray, changed: FloatArray) -> None:
        """Make costs the current ones, if they fit."""
        problem = Problem(unary, self._problem.terms, self._problem.constant)
        finite = changed[np.isfinite(changed)]
        if self._unit > 0.0 and not np.all(np.rint(finite / self._unit) * self._unit == finite):
            self._unit = -1.0
        self._problem = problem

    def _set_known(self) -> None:
        """Tell the current problem what is known of it."""
        problem = self._problem
        if self._unit < 0.0:
            self._unit = problem.granularity
        around, known = self._bound_on_terms(), vars(problem)
        known["granularity"] = self._unit
        known["pins"] = problem.pins_by(around)

    def _bound_on_terms(self) -> Callable[[], FloatArray]:
        """Return what computes ``pins.reach`` once: costs do not change it."""
        if self._reach is None:
            self._reach = cache(partial(reach, self._problem.terms, self._problem.n))
        return self._reach

    def _prepare(self, stale: bool) -> None:
        """Tell the search what has changed since the last solve."""
        before, unit = self._layout, self._layout.problem.granularity
        if self._problem is not before.problem:
            self._set_known()
            self._layout = before.with_costs(self._problem)
        if not isinstance(self._solver, KeptFlow):
            return
        finer = unit == 0.0 or unit % (self._unit or unit)
        if stale or (self._unit and finer):
            self._solver.reopen(self._layout)
        else:
            nodes = np.flatnonzero(self._layout.unary != before.unary).astype(np.int32)
            self._solver.set_costs(self._layout, nodes)

    def _start(self) -> Dual:
        """Return a feasible dual to start from; a search that is kept has its own."""
        if isinstance(self._solver, KeptFlow):
            state = self._solver.kept.state
            if state is not None and state.y:
                return state.y
        elif self._dual is not None:
            return self._layout.restored(self._dual)
        return self._layout.feasible_start()

    def _keep_last(self) -> None:
        """Give the last result a dual of its own, if there is still someone to look at it."""
        result = self._last() if self._last is not None else None
        if result is not None:
            _ = result.dual
        self._last = None

    def _clipped(self, terms: list[Term]) -> Dual | None:
        """Return the last dual within the new weights of cuts; None if there is none."""
        dual = self._dual
        if isinstance(self._solver, KeptFlow):
            state = self._solver.kept.state
            if state is None:
                return None
            dual, _ = self._solver.iterate(self._layout, state)
        if dual is None:
            return None
        return [
            _within(term, part) if isinstance(term, EdgeTerm) else part.copy()
            for term, part in zip(terms, dual, strict=True)
        ]


def _solver(layout: Layout, largest: bool) -> Solver[Any]:
    """Return the search that is kept, or what ``minimize`` would take."""
    if largest:
        refuse_others(layout.problem.terms, "largest=True")
        return KeptFlow(largest=True)
    chosen = choose(layout).solver
    return KeptFlow() if isinstance(chosen, MaxFlow) else chosen


def _reweighted(term: Term, index: int, weights: Any, reverse_weights: Any) -> EdgeTerm:
    """Return a cut of the same edges with other weights."""
    if isinstance(term, GridCut):
        return term.reweighted(weights, reverse_weights)
    if isinstance(term, Cut):
        cut = Cut(term.tails, term.heads, weights, reverse_weights)
        cut.shape, cut.elements = term.shape, term.elements
        return cut
    raise TypeError(
        f"terms[{index}] is a {type(term).__name__}, which has no weights of edges; make a new "
        "Session"
    )


def _within(term: EdgeTerm, dual: FloatArray) -> FloatArray:
    """Clip the flow of edges to their weights, in a copy."""
    flow = np.empty_like(dual)
    for slots, forward, backward in term.segments:
        np.clip(dual[slots], -backward, forward, out=flow[slots])
    return flow
