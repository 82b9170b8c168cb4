"""The exact answer to what is marked: colour models that are kept, and a session that follows.

A stroke is a few hard constraints more, which ``Session`` answers from the flow that it has.  New
models or neighbours make a new studio, while the old one goes on answering.

    F(S) = sum_{p in S} (-log p_object(z_p) + log p_background(z_p) - level) + sum_{pq} w_pq [...]

The level, "more or less object", is one number for all pixels: for every level the smallest
minimiser is {x > -level}, x that of ``sm.path``.  Smoothness multiplies w; its minimisers are not
nested, and each is a cut of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray, FloatArray
from submin.levels import Path
from submin.model.problem import Problem
from submin.page.marks import Labels, packed_lesson
from submin.page.photograph import Photograph
from submin.solve.certificate import Certificate, Status
from submin.solve.result import Result
from submin.solve.session import KeptResult, Session
from submin.terms import GridCut, Term
from submin.vision.contrast import contrast_weights
from submin.vision.seeds import BACKGROUND, OBJECT
from submin.vision.superpixels import superpixel_labels, superpixel_term

Bytes = npt.NDArray[np.uint8]

POSITIONS = 100
"""Of the slider "more or less object", on either side of its middle."""
HIGHEST_LEVEL = 15.0
"""In nats, at the end of the slider: e^15 times as probable."""
SMOOTHNESS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
"""Steps of the slider of smoothness."""
FIRST_SLICE, LONGEST_SLICE = 0.2, 1.0
"""Seconds of a solve after which someone else may have a word."""
MOST_ROUNDS = 5
"""Of a refit."""
PROVED = (Status.OPTIMAL, Status.CLOSED)

Cancelled = Callable[[], bool]

FITTING = Lock()
"""One page at a time: a fit sets the number of threads of the whole process."""


class CancelledError(Exception):
    """Work that nobody waits for any more."""


def level_of(position: int) -> float:
    """Return the level in nats of a position of the slider: fine near the middle.

    Examples
    --------
    >>> level_of(0), level_of(100), level_of(-50)
    (0.0, 15.0, -3.75)
    """
    part = position / POSITIONS
    return HIGHEST_LEVEL * part * abs(part)


@dataclass(frozen=True)
class Settings:
    """What a person may change, and need not.

    Attributes
    ----------
    smoothness : float
        One of ``SMOOTHNESS``.
    more : int
        Position of the slider "more or less object", from -100 to 100.
    connectivity : int
        4 or 8 neighbours.
    components : int
        Gaussians in each colour model.
    superpixels : int
        0 for none.
    learn : bool
        Whether every stroke teaches the colours of the mask that it gives, or those in use stay
        until they are refitted.
    """

    smoothness: float = 50.0
    more: int = 0
    connectivity: int = 8
    components: int = 5
    superpixels: int = 0
    learn: bool = True

    def changed(self, wanted: Mapping[str, Any]) -> Settings:
        """Return other settings.

        Raises
        ------
        ValueError
            If one does not exist, or its value is none that the page offers.
        """
        if not isinstance(wanted, Mapping):
            raise ValueError("settings must be names with values")
        for name, value in wanted.items():
            allowed = ALLOWED.get(name)
            if allowed is None:
                raise ValueError(f"there is no setting {str(name)[:40]!r}")
            if isinstance(value, bool) != (name == "learn") or value not in allowed:
                raise ValueError(f"{name} can not be {str(value)[:40]}")
        return replace(self, **wanted)

    def same_models(self, other: Settings) -> bool:
        """Say whether a studio of the other settings only needs other weights or another level."""
        return (
            replace(self, smoothness=other.smoothness, more=other.more, learn=other.learn) == other
        )


ALLOWED: dict[str, Any] = {
    "smoothness": SMOOTHNESS,
    "more": range(-POSITIONS, POSITIONS + 1),
    "connectivity": (4, 8),
    "components": range(1, 11),
    "superpixels": range(5001),
    "learn": (False, True),
}


@dataclass(frozen=True)
class Answer:
    """What a slice of a solve has reached.

    Attributes
    ----------
    result : Result
    finished : bool
        Whether it is a minimiser, or just the best so far.
    """

    result: Result
    finished: bool

    @property
    def certificate(self) -> Certificate:
        """What is proved; computed when it is first asked for."""
        return self.result.certificate

    @property
    def proved(self) -> bool:
        """Whether the mask is proved optimal."""
        return self.result.status in PROVED


class Studio:
    """One problem of one photograph, kept open.

    Parameters
    ----------
    photograph : Photograph
    settings : Settings
    learned : uint8 array, shape (H, W)
        Pixels whose colours the models learn: 1 background, 2 object, each somewhere.
    cancelled : callable, optional
        Whether the studio is not wanted any more; it is asked between parts of the work.

    Raises
    ------
    CancelledError
        If it is not.
    """

    def __init__(
        self,
        photograph: Photograph,
        settings: Settings,
        learned: Labels,
        cancelled: Cancelled = lambda: False,
    ) -> None:
        self.photograph, self.settings, self.learned = photograph, settings, learned
        self.lesson = packed_lesson(learned)
        cost_in, cost_out = costs_of(photograph, settings, learned, cancelled)
        self.base = cost_in - cost_out
        self.seeds: Labels = np.zeros(photograph.shape, np.uint8)
        problem = Problem(
            self._costs(self.seeds), terms_of(photograph, settings), float(cost_out.sum())
        )
        self.session = Session(problem)
        self.last: Answer | None = None

    def follow(self, seeds: Labels, settings: Settings) -> None:
        """Take over hard constraints, level and smoothness; connectivity and models stay."""
        self.last = None
        if settings.smoothness != self.settings.smoothness:
            self.session.change_weights(
                contrast_weights(
                    self.photograph.features,
                    smoothness=settings.smoothness,
                    connectivity=settings.connectivity,
                )
            )
        moved = settings.more != self.settings.more
        self.settings = settings
        changed = np.flatnonzero(seeds != self.seeds)
        self.seeds = seeds
        if moved:
            self.session.set_unary(self._costs(seeds))
        elif changed.size:
            self.session.change_unary(changed, self._costs(seeds, changed))

    def solve(self, seconds: float) -> Answer:
        """Go on for some time; the next call goes on from there."""
        self.last = None
        result = self.session.solve(time_limit=seconds)
        finished = isinstance(result, KeptResult) or result.status in PROVED
        self.last = Answer(result, finished)
        return self.last

    def solve_whole(self, cancelled: Cancelled) -> Answer:
        """Solve in slices until the minimiser is there.

        Raises
        ------
        CancelledError
            If it is not wanted any more.
        """
        for seconds in slices():
            _go_on(cancelled)
            answer = self.solve(seconds)
            if answer.finished:
                break
        return answer

    def base_problem(self) -> Problem:
        """Return the problem of level 0, with the seeds of now."""
        problem = self.session.problem
        unary = self._costs(self.seeds, level=0.0)
        return Problem(unary, problem.terms, problem.constant)

    def _costs(self, seeds: Labels, cells: Any = ..., level: float | None = None) -> FloatArray:
        """Return the unary costs of some pixels, with seeds as hard constraints."""
        flat, labels = self.base.reshape(-1)[cells], seeds.reshape(-1)[cells]
        shift = level_of(self.settings.more) if level is None else level
        costs = np.where(labels == OBJECT, -np.inf, flat - shift)
        costs[labels == BACKGROUND] = np.inf
        return costs.reshape(self.base.shape) if cells is ... else costs


def slices() -> Iterator[float]:
    """Yield the seconds of one slice after another."""
    seconds = FIRST_SLICE
    while True:
        yield seconds
        seconds = min(LONGEST_SLICE, 1.5 * seconds)


def costs_of(
    photograph: Photograph, settings: Settings, learned: Labels, cancelled: Cancelled
) -> tuple[FloatArray, FloatArray]:
    """Fit both colour models and return the cost of each pixel as object and as background."""
    fitter = photograph.fitter(settings.components)
    with FITTING:
        _go_on(cancelled)
        models = fitter.first(learned == OBJECT, learned == BACKGROUND)
    _go_on(cancelled)
    return models.costs_of(fitter.palette)


def _go_on(cancelled: Cancelled) -> None:
    if cancelled():
        raise CancelledError


def terms_of(photograph: Photograph, settings: Settings) -> list[Term]:
    """Return the cut, and the term of superpixels if there are to be any."""
    features = photograph.features
    weights = contrast_weights(
        features, smoothness=settings.smoothness, connectivity=settings.connectivity
    )
    terms: list[Term] = [GridCut(photograph.shape, weights, settings.connectivity)]
    if settings.superpixels:
        terms.append(superpixel_term(superpixel_labels(features, settings.superpixels), 1.0))
    return terms


def refitted(
    photograph: Photograph,
    settings: Settings,
    seeds: Labels,
    mask: BoolArray,
    cancelled: Cancelled,
) -> tuple[Studio, int]:
    """Learn both sides of the mask and cut again, until nothing changes; count the rounds.

    Raises
    ------
    CancelledError
        If it is not wanted any more.
    """
    studio, rounds = None, 0
    while rounds < MOST_ROUNDS:
        guess = np.where(mask, OBJECT, BACKGROUND).astype(np.uint8)
        lesson = np.where(seeds, seeds, guess).astype(np.uint8)
        if studio is not None and np.array_equal(lesson, studio.learned):
            break
        if not ((lesson == OBJECT).any() and (lesson == BACKGROUND).any()):
            break
        studio = Studio(photograph, settings, lesson, cancelled)
        studio.follow(seeds, settings)
        mask = studio.solve_whole(cancelled).result.minimizer
        rounds += 1
    if studio is None:
        raise ValueError("the mask is empty or everything: paint what is object and what is not")
    return studio, rounds


def entries(path: Path) -> Bytes:
    """Return for each pixel the first slider position, from 0 to 200, at which it is object.

    201 stands for none.  At position p the level is ``level_of(p - 100)``, and the smallest
    minimiser is the pixels whose entry is p or less.
    """
    ends = np.array([level_of(p) for p in range(-POSITIONS, POSITIONS + 1)])
    first: Bytes = np.searchsorted(ends, -path.x.ravel(), side="right").astype(np.uint8)
    return first.reshape(path.x.shape)


def changes(before: BoolArray | None, after: BoolArray) -> str:
    """Say how a mask has changed."""
    if before is None:
        return f"{int(after.sum()):,} pixels are object"
    joined, left = int((after & ~before).sum()), int((before & ~after).sum())
    if not joined and not left:
        return "the mask stays as it was"
    return f"{joined:,} pixels joined the object, {left:,} left it"
