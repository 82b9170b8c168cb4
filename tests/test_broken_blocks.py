"""Blocks and exchange capacities that break one law each, caught by that law."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from submin.terms.base.term import Block
from submin.terms.capabilities.exchanges import Arcs
from submin.terms.table import TableBlock, TableExchanges
from submin.terms.value_tables import subset_sums
from submin.testing import (
    ConformanceError,
    check_term,
)

from .broken_path import Path, class_name

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
