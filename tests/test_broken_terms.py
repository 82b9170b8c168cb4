"""Terms that break one law each, caught by that law."""

from __future__ import annotations

import numpy as np
import pytest

from submin.terms.base.term import Piece, Term, Violation
from submin.terms.capabilities.fixing import Fixing
from submin.terms.table import TableBlock
from submin.testing import (
    ConformanceError,
    check_term,
)

from .broken_path import Path, class_name


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
