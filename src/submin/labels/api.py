"""Minimise the energy of a labelling, and prove how good it is: ``minimize_labels``.

Where distances are convex and the graph of all labels is small: one minimum cut (``ordered``)
x <- of each element the cheapest label
In each round:
    Pass messages, which raises a lower bound (``message_passing``), and take a labelling
    Keep the dual if its bound is the best so far, and the labelling if its energy is
    Expand each label in turn, in the costs that the dual has left, until no more helps (``moves``)
    Stop when the gap is within the tolerance, or the bound hardly rises
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin.labels import moves
from submin.labels.certificate import LabelCertificate, certificate, trivial_bound
from submin.labels.distances import POTTS, Distance
from submin.labels.message_passing import MessagePassing
from submin.labels.ordered import is_small, minimize_ordered
from submin.labels.problem import Dual, LabelProblem, Labels, LabelTerm
from submin.labels.result import LabelRecord, LabelResult
from submin.solve.driver import Limits
from submin.solve.progress import displaying
from submin.terms import Cut, GridCut

CHECKED = 5
"""Passes between two looks at a labelling."""
MOST_PASSES = 30
"""Passes between moves, at most."""
MOVED = 0.35
"""The part of the gap that moves leave, as a rule."""
LEAST_GAIN = 0.002
"""Expansions that can gain no more than this part of the gap are left out."""
FAR_WITHIN = 0.25
"""The part of the tolerance at which further cycles of moves are not worth their time."""
LEAST_RISE = 0.02
"""Passes that raise the bound by a smaller part of the gap are the last ones."""


def minimize_labels(
    costs: npt.ArrayLike | LabelProblem,
    terms: Sequence[LabelTerm | tuple[GridCut | Cut, Distance | npt.ArrayLike]] = (),
    distance: Distance | npt.ArrayLike = POTTS,
    *,
    tol: float = 0.0,
    relative_tol: float = 0.005,
    max_passes: float = 100,
    time_limit: float | None = None,
    start: npt.ArrayLike | None = None,
    threads: int = 0,
    progress: bool = False,
) -> LabelResult:
    """Minimise E(x) = sum_v costs[x_v, v] + sum over edges of weight · distance of the labels.

    Parameters
    ----------
    costs : array_like, shape (labels, ...), or LabelProblem
        What each label costs each element, float32 or float64; infinite where it is forbidden.
    terms : sequence of GridCut, Cut, labels.RobustPotts and labels.LabelCosts
        Weighted edges, the same both ways, groups, and prices of labels that are used.  A pair
        (cut, distance) has a distance of its own.
    distance : labels.Potts, labels.Linear, labels.Quadratic, or array_like (labels, labels)
        What an edge of weight 1 costs; a matrix must be symmetric, with zeros on its diagonal.
    tol, relative_tol : float, optional
        The gap at which to stop, in units of cost, and as a part of the energy.
    max_passes : float, optional
        Passes of messages through all elements and back, at most.
    time_limit : float, optional
        Seconds.
    start : int array_like, optional
        A labelling to begin with.
    threads : int, optional
        0: every core.  Results have the same bits for any number.
    progress : bool, optional
        Show how the gap falls.

    Returns
    -------
    LabelResult
        The labels, their energy, and a bound below which no labelling can be.  Ctrl-C returns the
        best labels so far.

    Raises
    ------
    TypeError, ValueError
        As ``labels.LabelProblem``; and if a limit is no number, or `start` does not fit.

    Notes
    -----
    The problem is NP-hard for three labels and more.  An expansion of a metric ends within a factor
    of 2 max d / min d of the least energy (Boykov, Veksler and Zabih 2001,
    doi:10.1109/34.969114); the bound tells, as a rule, that it is within a per cent.  Where labels
    break the triangle inequality, moves still never make the energy worse.
    A pass is O((nodes + edges) labels) for Potts and linear distances.
    Convex distances and two labels have an exact answer, which is taken where it comes soon, unless
    there is a time limit (``labels.minimize_ordered``).

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> costs = np.array([[0.0, 2.0, 5.0], [3.0, 1.0, 3.0], [5.0, 2.0, 0.0]])
    >>> result = sm.minimize_labels(costs, [sm.GridCut(3, 0.5)])
    >>> result.labels, result.value, result.status.name
    (array([0, 1, 2], dtype=int32), 2.0, 'CONVERGED')
    """
    problem = costs if isinstance(costs, LabelProblem) else LabelProblem(costs, terms, distance)
    seconds = np.inf if time_limit is None else time_limit
    limits = Limits(tol=tol, max_passes=max_passes, time_limit=seconds)
    threads = _checks.threads(threads)
    relative = _checks.number("relative_tol", relative_tol)
    if relative < 0.0:
        raise ValueError(f"relative_tol is {relative}: a gap can not be below 0")
    labels = _first_labels(problem, start)
    if np.isinf(limits.time_limit) and limits.max_passes > 0 and is_small(problem):
        return minimize_ordered(problem, threads=threads)
    with displaying(progress) as display:
        search = _Search(problem, limits, relative, threads)
        search.offer(labels)
        try:
            for record in search.rounds():
                if display is not None:
                    display.show(_line(record))
        except KeyboardInterrupt:
            search.interrupted = True
        result = search.result()
        if display is not None:
            display.keep(_line(result.history[-1]))
    return result


def _line(record: LabelRecord) -> str:
    gap = record.value - record.lower_bound
    return (
        f"pass {record.passes:>4}  value {record.value:>12.9g}  gap {gap:8.2e}  "
        f"{record.seconds:>5.1f} s"
    )


def _first_labels(problem: LabelProblem, start: npt.ArrayLike | None) -> Labels:
    """Return the labels to begin with, of all nodes: those given, or the cheapest."""
    if start is None:
        return problem.with_groups(problem.cheapest)
    labels = problem.checked_labels("start", start)
    return problem.with_groups(labels)


@dataclass
class _Search:
    """The best labels and the best dual so far; each is kept on its own.

    The dual is what moves go by; it proves the bound unless that of no dual at all is better.
    """

    problem: LabelProblem
    limits: Limits
    relative_tol: float
    threads: int
    labels: Labels = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    value: float = np.inf
    dual: Dual | None = None
    proof: Dual | None = None
    bound: float = -np.inf
    history: list[LabelRecord] = field(default_factory=list)
    interrupted: bool = False
    settled: Labels | None = None
    started: float = field(default_factory=time.perf_counter)

    def offer(self, labels: Labels) -> bool:
        """Keep labels of all nodes if they are the best so far; say whether they are."""
        value = self.problem.value(labels, self.threads)
        if value < self.value:
            self.labels, self.value = labels, value
            return True
        return False

    def rounds(self) -> Iterator[LabelRecord]:
        """Pass messages and move, and yield what is known after each."""
        self.bound = trivial_bound(self.problem)
        yield self._record(0)
        nothing_joins = not (self.problem.edges.tails.size or len(self.problem.prices))
        if nothing_joins or self._is_done(0):
            return
        passing = MessagePassing(self.problem, self.threads)
        rises = True
        while rises and not self._is_done(passing.passes):
            before = self.bound
            rises = self._pass(passing)
            self._prove(passing)
            yield self._record(passing.passes)
            self._move()
            yield self._record(passing.passes)
            rises = rises or self.bound - before > LEAST_RISE * (self.value - self.bound)

    def _pass(self, passing: MessagePassing) -> bool:
        """Pass until moves may well end it; say whether the bound still rises."""
        last, first = self.bound, passing.passes
        while True:
            for _ in range(CHECKED - 1):
                passing.forward()
                bound = passing.backward()
                passing.gap = self.value - bound
                if self._is_over(passing.passes + 1):
                    return False
            self.offer(self.problem.improved_groups(passing.labelling()))
            bound = passing.backward()
            gap = self.value - bound
            if MOVED * gap <= self._tolerance() or passing.passes - first >= MOST_PASSES:
                return True
            if bound - last < LEAST_RISE * gap or self._is_over(passing.passes + 1):
                return False
            last = bound

    def _prove(self, passing: MessagePassing) -> None:
        """Keep the labels and the dual of one more pass."""
        self.offer(self.problem.improved_groups(passing.labelling()))
        dual = passing.dual()
        bound = self.problem.bound(dual, self.threads)
        if bound > self.bound:
            self.proof, self.bound = dual, bound
        if self.proof is dual or self.dual is None:
            self.dual = dual

    def _move(self) -> None:
        """Move until nothing helps, from the best labels with the best dual.

        A cycle that brings the gap far within the tolerance is the last one.
        """
        assert self.dual is not None
        labels, least = self.labels.copy(), LEAST_GAIN * (self.value - self.bound)
        try:
            cycle = moves.improve(
                self.problem, self.dual, labels, self.threads, least, self.settled
            )
            for moved, _ in enumerate(cycle, 1):
                if self._is_over(0):
                    break
                if moved % self.problem.labels == 0 and self._is_near(labels):
                    break
            else:
                self.settled = labels.copy()
        finally:  # every move leaves a labelling
            self.offer(self.problem.improved_groups(labels))

    def _is_over(self, passes: int) -> bool:
        seconds = time.perf_counter() - self.started
        return passes >= self.limits.max_passes or seconds >= self.limits.time_limit

    def _is_done(self, passes: int) -> bool:
        return self._is_over(passes) or self.certificate().gap <= self._tolerance()

    def _is_near(self, labels: Labels) -> bool:
        """Say whether the gap is far within the tolerance."""
        gap = self.problem.value(labels) - self.bound
        return 0.0 < gap <= FAR_WITHIN * self._tolerance()

    def _tolerance(self) -> float:
        return max(self.limits.tol, self.relative_tol * abs(self.value))

    def _record(self, passes: int) -> LabelRecord:
        seconds = time.perf_counter() - self.started
        record = LabelRecord(passes, seconds, self.value, self.bound)
        self.history.append(record)
        return record

    def certificate(self) -> LabelCertificate:
        """Return what is proved about the best labels."""
        return certificate(self.problem, self.value, self.bound)

    def result(self) -> LabelResult:
        """Return the best labels."""
        proved = self.certificate()
        problem = self.problem
        return LabelResult(
            self.labels[: problem.n].reshape(problem.shape).copy(),
            proved,
            proved.status(self._tolerance()),
            self.proof,
            self.history or [self._record(0)],
            self.interrupted,
        )
