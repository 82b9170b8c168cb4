"""Every family and solver keeps its laws, and broken ones are caught, each by the right law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers import REGISTRY as SOLVERS
from submin.solvers.acdm import ACDM
from submin.solvers.ap import AP
from submin.solvers.rcdm import RCDM
from submin.terms import REGISTRY as FAMILIES
from submin.terms.cut import Cut
from submin.terms.exchanges import Arcs
from submin.terms.fixing import Fixing, Piece
from submin.terms.function import Function
from submin.terms.table import Table, TableBlock, TableExchanges
from submin.terms.term import Block, Term, Violation
from submin.terms.value_tables import subset_sums
from submin.testing import (
    ConformanceError,
    brute_force,
    check_solver,
    check_term,
    small_problems,
)
from submin.testing.brute_force import set_values

from .strategies import cardinalities, cuts, grid_cuts, problems, shapes

SPECIMENS: dict[str, list[Callable[[], Term]]] = {
    "cut": [
        lambda: Cut([0, 1, 2, 0], [1, 2, 3, 3], [1.0, 2.5, 0.0, 0.5]),
        lambda: Cut([0, 1, 2, 0], [1, 2, 0, 1], [1.0, 2.5, 0.0, 0.5], [0.0, 1.0, 3.0, 0.1]),
        lambda: Cut([], [], []),
    ],
    "grid_cut": [
        lambda: sm.GridCut(5, 2.0),
        lambda: sm.GridCut((2, 4), 1.0, connectivity=8, reverse_weights=0.25),
        lambda: sm.GridCut((3, 3), [np.arange(6.0).reshape(3, 2), 0.1], reverse_weights=0.0),
        lambda: sm.GridCut((2, 2, 2), 0.7, connectivity=26),
    ],
    "cardinality": [
        lambda: sm.Cardinality.from_labels([0, 1, 0, 1, 1], lambda k, m: k * (m - k)),
        lambda: sm.Cardinality([0, 3, 5, 6], [0, 2, 4, 4, 1, 4], lambda k, m: np.sqrt(k) - 0.3 * k),
    ],
    "hyperedge": [
        lambda: sm.Hyperedge([0, 3, 5], [0, 1, 2, 2, 3], [2.0, 0.7]),
        lambda: sm.Hyperedge.directed([0, 2, 3], [0, 1, 3], [0, 1, 3], [2, 0, 4], 3.0),
    ],
    "truncation": [
        lambda: sm.Truncation([0, 3, 5], [0, 1, 2, 2, 4], [1.0, 2.0, 4.0, 0.0, 1.5], 2.5),
        lambda: sm.Truncation([0, 4], [3, 1, 0, 2], [1.0, 2.0, 0.5, 1.0], 3.0, -0.4),
    ],
    "concave_of_modular": [
        lambda: sm.ConcaveOfModular(
            [0, 3, 5], [0, 1, 2, 2, 4], [1.0, 3.0, 0.5, 2.0, 2.0], [0, 2, 5], [0.0, 2.0, 3.0]
        ),
    ],
    "table": [
        lambda: Table([[0, 1], [1, 2], [4, 0]], [0.0, 1.0, 1.0, 2.0]),
        lambda: Table([[3, 1, 4]], [0.0, 1.0, 1.0, 1.5, 1.0, 1.5, 1.5, 0.5]),
    ],
    "function": [
        lambda: Function([4, 0, 2], lambda mask: float(np.sqrt(mask.sum()))),
        lambda: Function(range(9), lambda mask: float(mask.sum() * (9 - mask.sum()) - mask[0])),
    ],
}

SETTINGS: dict[str, Any] = {"acdm": ACDM(epoch_passes=20)}
"""Solvers whose own settings are too slow for a test."""

TOLERANCES = {"frank_wolfe": 0.01}
"""Solvers of a sublinear rate, which do not close a gap."""


@pytest.mark.parametrize("kind", sorted(FAMILIES))
def test_every_family_conforms(kind) -> None:
    assert kind in SPECIMENS, f"add a small term of kind {kind!r} to SPECIMENS"
    for make in SPECIMENS[kind]:
        check_term(make())


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_solver_conforms(name) -> None:
    solver = SETTINGS.get(name, SOLVERS[name]())
    assert check_solver(solver, seed=1, tol=TOLERANCES.get(name, 0.0))


def test_the_default_solver_solves_every_problem_of_the_suite() -> None:
    names = [name for name, _ in small_problems()]
    assert list(check_solver(sm.AcceleratedSweeps())) == names


@given(st.data(), shapes().filter(lambda shape: np.prod(shape) <= 8), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_random_terms_conform(data, shape, seed) -> None:
    n = int(np.prod(shape))
    term = data.draw(st.one_of(grid_cuts(shape), cuts(n), cardinalities(n)))
    check_term(term, n=n, seed=seed)


# Brute force against a plain loop, and the library against brute force.


@given(problems(hard_constraints=True).filter(lambda problem: problem.n <= 8))
@settings(max_examples=40)
def test_brute_force_against_a_loop_over_sets(problem) -> None:
    values, rounding = set_values(problem)
    masks = [(i >> np.arange(problem.n)) & 1 == 1 for i in range(1 << problem.n)]
    expected = np.array([problem.evaluate(mask) for mask in masks])
    np.testing.assert_allclose(values, expected, rtol=0.0, atol=1e-10)
    found = brute_force(problem)
    assert found.minimum == problem.evaluate(found.smallest)
    best = [
        mask for mask, value in zip(masks, values, strict=True) if value <= values.min() + rounding
    ]
    np.testing.assert_array_equal(found.smallest.ravel(), np.all(best, axis=0))
    np.testing.assert_array_equal(found.largest.ravel(), np.any(best, axis=0))
    assert problem.evaluate(found.largest) == pytest.approx(found.minimum, abs=1e-10)


@given(problems(hard_constraints=True))
@settings(max_examples=60)
def test_random_mixtures_reach_the_minimum(problem) -> None:
    result, known = sm.minimize(problem, max_passes=500), brute_force(problem)
    scale = 1.0 + abs(known.minimum)
    assert result.lower_bound <= known.minimum + 1e-12 * scale
    assert known.minimum <= result.value <= known.minimum + result.gap + 1e-12 * scale
    assert result.gap <= 1e-6 * scale


def test_brute_force_of_twenty_elements() -> None:
    random = np.random.default_rng(0)
    grid = sm.GridCut((4, 5), 1.0)
    groups = sm.Cardinality.from_labels(np.arange(20) // 5, lambda k, m: 0.5 * k * (m - k))
    problem = sm.Problem(4.0 * random.normal(size=(4, 5)), [grid, groups])
    found = brute_force(problem)
    assert found.smallest.shape == (4, 5)
    assert sm.minimize(problem).value == pytest.approx(found.minimum, abs=1e-9)
    with pytest.raises(ValueError, match="21 elements: enumeration takes at most 20"):
        brute_force(sm.Problem(np.zeros(21)))


def test_brute_force_finds_both_extreme_minimisers() -> None:
    found = brute_force(sm.Problem([0.0, -1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(found.smallest, [False, True, False, False])
    np.testing.assert_array_equal(found.largest, [True, True, True, False])


@pytest.mark.parametrize(("scale", "minimum"), [(0.2, -3.2), (0.5, -2.0), (1.0, -1.0), (2.0, -1.0)])
def test_superpixel_term(scale, minimum) -> None:
    labels = np.zeros(4, dtype=int)
    term = sm.Cardinality.from_labels(labels, lambda k, m: scale * k * (m - k))
    problem = sm.Problem([-3.0, -1.0, 1.0, 2.0], [term])
    assert brute_force(problem).minimum == pytest.approx(minimum, abs=1e-12)
    assert sm.minimize(problem).value == pytest.approx(minimum, abs=1e-12)


@pytest.mark.parametrize(("scale", "minimum"), [(0.5, -3.5), (1.0, -3.0), (1.5, -2.5), (2.5, -1.5)])
def test_truncated_superpixel_term(scale, minimum) -> None:
    def truncated(k: np.ndarray, m: int) -> np.ndarray:
        return scale * np.minimum(np.minimum(k, m - k), 1.0)

    problem = sm.Problem(
        [-3.0, -1.0, 1.0, 2.0], [sm.Cardinality.from_labels(np.zeros(4, dtype=int), truncated)]
    )
    found = brute_force(problem)
    assert found.minimum == pytest.approx(minimum, abs=1e-12)
    np.testing.assert_array_equal(found.smallest, [True, True, False, False])
    assert sm.minimize(problem).value == pytest.approx(minimum, abs=1e-12)


def test_a_term_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match=r"13 elements, .* at most 12: give a smaller one"):
        check_term(sm.GridCut(13, 1.0))
    with pytest.raises(ValueError, match=r"n is 13: .* at most 12"):
        check_term(sm.GridCut(4, 1.0), n=13)
    with pytest.raises(ValueError, match="n is 3: it must be at least 4"):
        check_term(sm.GridCut(4, 1.0), n=3)


# Broken terms: one law each.


def class_name(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else "law"


class Path(Table):
    """A path of three tables, whose values are neither symmetric nor 0 on the whole support."""

    def __init__(
        self,
        members: Any = ((0, 1), (1, 2), (2, 3)),
        values: Any = (0.0, 1.0, 0.75, 1.5),
    ) -> None:
        super().__init__(members, values)


class StartsAtOne(Path):
    def evaluate(self, members):
        return super().evaluate(members) + 1.0


class Supermodular(Path):
    def evaluate(self, members):
        return float(members.sum() ** 2)


class NotANumber(Path):
    def evaluate(self, members):
        return float("nan") if members.all() else super().evaluate(members)


class Forgetful(Path):
    def evaluate(self, members):
        value = super().evaluate(members)
        members[:] = False
        return value


class IgnoresTheOrder(Path):
    def greedy(self, rank):
        return super().greedy(np.arange(rank.size, dtype=np.int32))


class ReversesTheOrder(Path):
    def greedy(self, rank):
        return super().greedy(rank.max() - rank)


class DoesNotSort(Path):
    def lovasz(self, x):
        dual, total = self.greedy(np.arange(x.size, dtype=np.int32)), np.zeros(x.size)
        self.accumulate(dual, total)
        return float(total @ x)


class Overwrites(Path):
    def accumulate(self, dual, s, scale=1.0):
        s[:] = 0.0
        super().accumulate(dual, s, scale)


class IgnoresTheScale(Path):
    def accumulate(self, dual, s, scale=1.0):
        super().accumulate(dual, s)


class AlwaysFeasible(Path):
    def violation(self, dual):
        return Violation(0.0, 0.0)


class LooksAtElementsOnly(Path):
    def violation(self, dual):
        part = dual.reshape(self.members.shape)
        excess = part - self.values[:, 1 << np.arange(self.arity)]
        return Violation(float(np.maximum(excess.max(axis=1), 0.0).sum()), 1e-12)


class ExaggeratesViolation(Path):
    def violation(self, dual):
        total, error = super().violation(dual)
        return Violation(2.0 * total, error)


class HidesBehindItsError(Path):
    def violation(self, dual):
        return Violation(0.0, 1e3)


class SwapsTheRange(Path):
    def marginal_range(self, n):
        low, high = super().marginal_range(n)
        return high, low


class RefusesExchangesWithoutReason(Path):
    def exchanges(self, dual):
        raise TypeError("no")


class TooCoarse(Path):
    def granularity(self):
        return 2.0 * super().granularity()


class StartsOutside(Path):
    def feasible_start(self):
        return np.ones(self.size)


class StartsBelow(Path):
    def feasible_start(self):
        return np.full(self.size, -5.0)


class SaysZeroIsFeasible(Path):
    def zero_is_feasible(self):
        return True


class SharesItsStart(Path):
    def feasible_start(self):
        if not hasattr(self, "start"):
            self.start = super().feasible_start()
        return self.start


class TooShallow(Path):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.depth = 1


class TooSmall(Path):
    def magnitude(self, dual):
        return 0.1 * super().magnitude(dual)


class LosesTheLastTable(Path):
    def blocks(self, decomposition, threads):
        if decomposition == "functions":
            return super().blocks(decomposition, threads)
        return [TableBlock(self, np.array([0, 1], dtype=np.int32)[::2], threads)]


class PutsAllInOneBlock(Path):
    def blocks(self, decomposition, threads):
        if decomposition == "functions":
            return super().blocks(decomposition, threads)
        return [TableBlock(self, np.arange(3, dtype=np.int32), threads)]


class ForgetsTheInside(Path):
    def minor(self, fixing):
        return super().minor(Fixing(np.zeros_like(fixing.inside), fixing.inside | fixing.outside))


class MixesUpItsSlots(Path):
    def minor(self, fixing):
        minor = super().minor(fixing)
        pieces = [Piece(piece.term, piece.slots[::-1]) for piece in minor.pieces]
        return minor._replace(pieces=pieces)


class LosesValues(Path):
    @classmethod
    def from_arrays(cls, arrays):
        return cls(arrays["members"], 0.5 * arrays["values"])


class SavesObjects(Path):
    def arrays(self):
        return {"members": self.members, "values": np.array([self, None])}


class RefusesWithoutReason(Path):
    def arrays(self):
        raise TypeError("no")


BROKEN_TERMS: list[tuple[type[Term], str]] = [
    (StartsAtOne, "the empty set"),
    (Supermodular, "submodularity"),
    (NotANumber, "evaluation"),
    (Forgetful, "evaluation"),
    (IgnoresTheOrder, "greedy prefixes"),
    (ReversesTheOrder, "greedy prefixes"),
    (DoesNotSort, "the Lovász extension"),
    (Overwrites, "linear accumulation"),
    (IgnoresTheScale, "linear accumulation"),
    (AlwaysFeasible, "violation: .*lower bounds would be wrong"),
    (LooksAtElementsOnly, "violation: .*lower bounds would be wrong"),
    (ExaggeratesViolation, "violation"),
    (HidesBehindItsError, "violation: its error bound"),
    (SwapsTheRange, "marginal ranges"),
    (RefusesExchangesWithoutReason, "exchange capacities: its refusal"),
    (TooCoarse, "granularity"),
    (StartsOutside, "the feasible start: the start exceeds"),
    (StartsBelow, "the feasible start: the start sums to"),
    (SaysZeroIsFeasible, "the feasible start: (the start|0) sums to"),
    (SharesItsStart, "the feasible start: changing"),
    (TooShallow, "depth"),
    (TooSmall, "magnitude"),
    (LosesTheLastTable, "covering the dual once"),
    (PutsAllInOneBlock, "disjoint supports"),
    (ForgetsTheInside, "minors: .*the minor costs"),
    (MixesUpItsSlots, "minors: a base of F"),
    (LosesValues, "storage"),
    (SavesObjects, "storage"),
    (RefusesWithoutReason, "storage"),
]


def test_the_unbroken_path_conforms() -> None:
    check_term(Path())


@pytest.mark.parametrize(("broken", "law"), BROKEN_TERMS, ids=class_name)
def test_a_broken_term_is_caught_by_the_right_law(broken, law) -> None:
    with pytest.raises(ConformanceError, match=f"^{broken.__name__} breaks the law of {law}"):
        check_term(broken())


# Broken blocks: the path with another block.


class HalfStep(TableBlock):
    def project(self, dual, s, c):
        return super().project(dual, 0.5 * s, c)


class IgnoresC(TableBlock):
    def project(self, dual, s, c):
        return super().project(dual, s, 1.0)


class Rounds(TableBlock):
    def project(self, dual, s, c):
        return super().project(dual, np.rint(1e6 * s) / 1e6, c)


class DoesNotProject(TableBlock):
    def project(self, dual, s, c):
        return self.take(dual) - s[self.support()] / c


class Shrinks(TableBlock):
    def project(self, dual, s, c):
        return 0.99 * super().project(dual, s, c)


class ChangesS(TableBlock):
    def project(self, dual, s, c):
        part = super().project(dual, s, c)
        s[0] += 1.0
        return part


class ForgetsS(TableBlock):
    def sweep(self, dual, s):
        super().sweep(dual, s.copy())


class SweepsTwiceAsFar(TableBlock):
    def sweep(self, dual, s):
        part = self.project(dual, s, 0.5)
        self.accumulate(part - self.take(dual), s)
        self.put(dual, part)


class SweepsOthersToo(TableBlock):
    def sweep(self, dual, s):
        super().sweep(dual, s)
        dual[:] = 0.5


class TakesAView(TableBlock):
    def take(self, dual):
        return dual[self.slots] if isinstance(self.slots, slice) else super().take(dual)


class PutsEverywhere(TableBlock):
    def put(self, dual, part):
        dual += 1.0
        super().put(dual, part)


class IgnoresScale(TableBlock):
    def accumulate(self, part, s, scale=1.0):
        super().accumulate(part, s)


class HidesItsSupport(TableBlock):
    def support(self):
        return super().support()[:-1]

    def accumulate(self, part, s, scale=1.0):
        s[super().support()] += scale * part


class IsNeverUndecided(TableBlock):
    def undecided(self, fixing):
        return None


class LeavesTheBlock(TableBlock):
    def undecided(self, fixing):
        return TableBlock(self.term, np.arange(3, dtype=np.int32), self.threads)


class IgnoresWeights(TableBlock):
    def project_weighted(self, dual, step, weights):
        return self.project(dual, step, 1.0)


class TurnsWeightsRound(TableBlock):
    def project_weighted(self, dual, step, weights):
        return super().project_weighted(dual, step, 1.0 / weights)


class TakesWeightsForC(TableBlock):
    def project_weighted(self, dual, step, weights):
        return super().project_weighted(dual, step / weights, weights)


class DependsOnThreads(TableBlock):
    def project(self, dual, s, c):
        return super().project(dual, s, c) * (1.0 + 2.0**-52 * (self.threads > 1))


BROKEN_BLOCKS: list[tuple[type[TableBlock], str]] = [
    (HalfStep, "projection"),
    (IgnoresC, "projection: .* with c = 0.25 is not the nearest"),
    (Rounds, "projection"),
    (DoesNotProject, "feasible projection"),
    (Shrinks, "feasible projection"),
    (ChangesS, "projection: .* changes its arguments"),
    (ForgetsS, "sweeping: .* leaves s wrong"),
    (SweepsTwiceAsFar, "sweeping: .* differs from its projection"),
    (SweepsOthersToo, "sweeping"),
    (TakesAView, "take and put"),
    (PutsEverywhere, "(covering the dual once|take and put)"),
    (IgnoresScale, "block accumulation"),
    (HidesItsSupport, "disjoint supports"),
    (IgnoresWeights, "projection: project_weighted of a block .* is not the nearest"),
    (TurnsWeightsRound, "projection: project_weighted of a block .* is not the nearest"),
    (TakesWeightsForC, "projection: project_weighted of a block .* is not the nearest"),
    (DependsOnThreads, "independence of threads"),
    (IsNeverUndecided, "undecided parts: .*leave out a function"),
    (LeavesTheBlock, "undecided parts: .*outside of the block"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN_BLOCKS, ids=class_name)
def test_a_broken_block_is_caught_by_the_right_law(broken, law) -> None:
    class PathOfBrokenBlocks(Path):
        def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
            blocks = super().blocks(decomposition, threads)
            if decomposition == "functions":
                return blocks
            return [broken(self, block.tables, threads) for block in blocks]

    with pytest.raises(ConformanceError, match=f"^PathOfBrokenBlocks breaks the law of {law}"):
        check_term(PathOfBrokenBlocks())


# Broken exchange capacities: the path with others.


class HalfCapacities(TableExchanges):
    def capacities(self, group, slots, place):
        return 0.5 * super().capacities(group, slots, place)


class TurnsTheArcs(TableExchanges):
    def capacities(self, group, slots, place):
        room = self.term.values[0] - subset_sums(self.dual[None, slots])[0]
        lacking = ~self.masks[:, place]
        return np.where(self.masks[lacking], room[lacking, None], np.inf).min(axis=0)


class ForgetsAnArc(TableExchanges):
    def arcs(self, element):
        return Arcs(*(column[element == 1 :] for column in super().arcs(element)))


class PushesTheWrongWay(TableExchanges):
    def push(self, function, tail, head, amount):
        return super().push(function, tail, head, -amount)


class PushesInOtherFunctions(TableExchanges):
    def push(self, function, tail, head, amount):
        self.dual[3 * (function == 0)] += 1e-3 * amount
        return super().push(function, tail, head, amount)


class ForgetsWhatChanged(TableExchanges):
    def push(self, function, tail, head, amount):
        return super().push(function, tail, head, amount)[:1]


BROKEN_EXCHANGES: list[tuple[type[TableExchanges], str]] = [
    (HalfCapacities, "exchange capacities"),
    (TurnsTheArcs, "exchange capacities"),
    (ForgetsAnArc, "exchange capacities"),
    (PushesTheWrongWay, "pushing: .* changes s by more or less"),
    (PushesInOtherFunctions, "pushing: .* changes s by more or less"),
    (ForgetsWhatChanged, "pushing: .* changes arcs"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN_EXCHANGES, ids=class_name)
def test_broken_exchange_capacities_are_caught_by_the_right_law(broken, law) -> None:
    class PathOfBrokenExchanges(Path):
        def exchanges(self, dual):
            return broken(self, dual)

    with pytest.raises(ConformanceError, match=f"^PathOfBrokenExchanges breaks the law of {law}"):
        check_term(PathOfBrokenExchanges())


# Broken solvers.


class DoesNothing(AP):
    def step(self, layout, state):
        return layout.r


class LeavesOutABlock(AP):
    def step(self, layout, state):
        for i in range(layout.r - 1):
            layout.put(i, state.y, layout.project(i, state.y, state.s, float(layout.r)))
        state.s = layout.total(state.y)
        return layout.r


class StepsTooFar(AP):
    """The first step leaves the base polytopes; later ones come back."""

    def step(self, layout, state):
        first = not hasattr(state, "stepped")
        state.stepped = True
        taken = super().step(layout, state)
        if first:
            for part in state.y:
                part *= 1.5
            state.s = layout.total(state.y)
        return taken


class ReturnsAnOldS(AP):
    def iterate(self, layout, state):
        old = getattr(state, "old", state.s)
        state.old = state.s.copy()
        return state.y, old


class IsNotSeeded(RCDM):
    def start(self, layout, dual):
        state = super().start(layout, dual)
        state.generator = np.random.default_rng()
        return state


class IgnoresTheWarmStart(AP):
    def start(self, layout, dual):
        return super().start(layout, layout.feasible_start())


class DoesNotStop(AP):
    def step(self, layout, state):
        return sum(super(DoesNotStop, self).step(layout, state) for _ in range(50))


@dataclass
class ChangesItself:
    steps: int = 0

    def start(self, layout, dual):
        return AP().start(layout, dual)

    def step(self, layout, state):
        self.steps += 1
        return AP().step(layout, state)

    def iterate(self, layout, state):
        return AP().iterate(layout, state)


class RefusesEverything(AP):
    def start(self, layout, dual):
        raise TypeError("RefusesEverything needs terms of a kind that does not exist")


BROKEN_SOLVERS: list[tuple[type[Any], str]] = [
    (DoesNothing, "(reaching the minimum|closing the gap)"),
    (LeavesOutABlock, "(reaching the minimum|closing the gap)"),
    (StepsTooFar, "feasible duals"),
    (ReturnsAnOldS, "(x = -s|closing the gap|feasible duals)"),
    (IsNotSeeded, "reproducibility"),
    (IgnoresTheWarmStart, "warm starts"),
    (DoesNotStop, "limits"),
    (ChangesItself, "constant settings"),
    (RefusesEverything, "acceptance"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN_SOLVERS, ids=class_name)
def test_a_broken_solver_is_caught_by_the_right_law(broken, law) -> None:
    with pytest.raises(ConformanceError, match=f"^{broken.__name__} breaks the law of {law}"):
        check_solver(broken(), max_passes=2000)
