"""A small term under examination: its values on all sets, and random inputs for the laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from submin._lazy import lazy
from submin._orders import ranks
from submin._typing import BoolArray, FloatArray
from submin.terms.base.term import Block, Term
from submin.terms.capabilities.fixing import Fixing
from submin.terms.value_tables import subset_masks
from submin.testing.laws import RELATIVE_TOLERANCE, named, require

MOST_ELEMENTS = 12
VECTORS = 6


@dataclass(eq=False)
class Specimen:
    """A term with n elements, and ``values[i]`` = F of the set ``masks[i]`` by ``evaluate``.

    ``functions`` are its blocks of one function each, or None if it has no such decomposition.
    ``scale`` is the size of its numbers.
    """

    term: Term
    n: int
    masks: BoolArray
    values: FloatArray
    random: np.random.Generator
    functions: Sequence[Block] | None
    scale: float

    @classmethod
    def of(cls, term: Term, n: int | None, seed: int) -> Self:
        """Evaluate a term on all subsets of its ground set."""
        if term.elements > MOST_ELEMENTS:
            raise ValueError(
                f"the term has {term.elements} elements, but laws are checked on all subsets of "
                f"at most {MOST_ELEMENTS}: give a smaller one of its kind"
            )
        size = n if n is not None else term.elements + (term.shape is None)
        if not term.elements <= size <= MOST_ELEMENTS:
            fitting = f"from {term.elements}, what the term needs, to {MOST_ELEMENTS}"
            if term.elements == MOST_ELEMENTS:
                fitting = f"n={MOST_ELEMENTS}, what the term needs and the most"
            raise ValueError(
                f"n is {size}: it must be {fitting}, because all subsets are enumerated"
            )
        masks = subset_masks(size)
        values = np.array([_evaluate(term, mask) for mask in masks])
        functions = term.blocks("functions", 1) if "functions" in term.decompositions else None
        start = term.greedy(np.arange(size, dtype=np.int32))
        scale = float(np.max(np.abs(values))) + float(np.max(np.abs(start), initial=0.0))
        random = np.random.default_rng(seed)
        return cls(term, size, masks, values, random, functions, scale)

    def tolerance(self, *arrays: FloatArray) -> float:
        """Return the agreement to ask for, for numbers of the size of F and of the arrays."""
        largest = [float(np.max(np.abs(array), initial=0.0)) for array in arrays]
        return RELATIVE_TOLERANCE * max(self.scale, *largest, 1e-290)

    def value(self, mask: BoolArray) -> float:
        """Look F(S) up."""
        return float(self.values[int(mask @ (1 << np.arange(self.n)))])

    def vector(self, dual: FloatArray) -> FloatArray:
        """Return the n-vector sum_i y_i of a dual."""
        total = np.zeros(self.n)
        self.term.accumulate(dual, total)
        return total

    def block_vector(self, block: Block, part: FloatArray) -> FloatArray:
        """Return the n-vector of a block's part."""
        total = np.zeros(self.n)
        block.accumulate(part, total)
        return total

    def random_vectors(self) -> list[FloatArray]:
        """Return vectors of several sizes and signs, some with equal entries."""
        vectors = [self.random.normal(size=self.n) for _ in range(VECTORS)]
        vectors[0] = np.arange(self.n, dtype=np.float64)
        vectors[1] = np.rint(vectors[1])
        return vectors

    def random_fixing(self, share: float) -> Fixing:
        """Fix a share of the elements, each on a random side."""
        sides = [-1, 0, 1]
        side = self.random.choice(sides, self.n, p=[share / 2.0, 1.0 - share, share / 2.0])
        return Fixing(side == 1, side == -1)

    def random_dual(self) -> FloatArray:
        """Return a dual that is most likely far outside the base polytopes."""
        return (self.scale + 1e-3) * self.random.normal(size=self.term.size)

    def lovasz(self, x: FloatArray) -> float:
        """Return f(x) from the values of the sets of the largest entries."""
        order = np.argsort(-x, kind="stable")
        chain = self.values[np.concatenate([[0], np.cumsum(1 << order)])]
        return float(x[order] @ np.diff(chain))

    def function_vectors(self, dual: FloatArray) -> FloatArray:
        """Return y_i(v) of each function, shape (functions, n)."""
        blocks = self.functions or []
        vectors = [self.block_vector(block, block.take(dual)) for block in blocks]
        return np.array(vectors).reshape(len(vectors), self.n)

    @lazy
    def function_values(self) -> FloatArray:
        """F_i(S) of each function, shape (functions, 2^n), from vertices that start with S."""
        columns = []
        for mask in self.masks:
            vertex = self.term.greedy(ranks(mask.astype(np.float64)))
            columns.append(self.function_vectors(vertex)[:, mask].sum(axis=1))
        return np.array(columns).T

    def violation(self, dual: FloatArray) -> float:
        """Return sum_i max_S (y_i(S) - F_i(S)) by enumeration.

        Without a decomposition into functions, the violation of their sum, which is smaller.
        """
        if self.functions is None:
            return float(np.max(self.masks @ self.vector(dual) - self.values))
        excess = self.function_vectors(dual) @ self.masks.T - self.function_values
        return float(np.sum(np.max(excess, axis=1)))


def _evaluate(term: Term, mask: BoolArray) -> float:
    """Evaluate a set, and see that the value is a number and the set stays as it is."""
    given = mask.copy()
    value = term.evaluate(given)
    require(np.array_equal(given, mask), term, "evaluation", f"it changes the set {named(mask)}")
    finite = np.ndim(value) == 0 and np.isfinite(value)
    require(finite, term, "evaluation", f"F is {value!r} at {named(mask)}")
    return float(value)
