"""Small labelling problems at random, and their energies by definition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import submin as sm


class Small(NamedTuple):
    """The arguments of a problem, and its energy by definition."""

    costs: np.ndarray
    terms: list[Any]
    distance: Any
    energy: Callable[[Any], float]

    @property
    def labellings(self) -> list[tuple[int, ...]]:
        """All labellings that are allowed."""
        labels, size = self.costs.shape
        every = product(range(labels), repeat=size)
        return [x for x in every if np.isfinite(self.costs[list(x), range(size)]).all()]

    def least(self) -> float:
        """The least energy of all labellings."""
        return min(map(self.energy, self.labellings))


def distances(labels: int, rng: np.random.Generator) -> Any:
    """A distance of any kind."""
    upper = np.triu(rng.random((labels, labels)), 1)
    choices = [
        sm.labels.Potts(), sm.labels.Linear(), sm.labels.Linear(cap=2.0),
        sm.labels.Quadratic(cap=5.0), upper + upper.T,
    ]  # fmt: skip
    return choices[rng.integers(len(choices))]


def matrix(distance: Any, labels: int) -> np.ndarray:
    """The distances of all pairs."""
    return distance if isinstance(distance, np.ndarray) else distance.matrix(labels)


def small(rng: np.random.Generator, most: int = 7, with_prices: bool = False) -> Small:
    """A problem of up to seven elements and four labels."""
    size, labels = int(rng.integers(1, most + 1)), int(rng.integers(1, 5))
    costs = rng.normal(size=(labels, size)) * 10.0 ** rng.integers(-2, 3)
    if rng.random() < 0.3:
        costs = np.round(costs)
    if rng.random() < 0.3:
        forbidden = rng.random(costs.shape) < 0.3
        forbidden[rng.integers(0, labels, size), np.arange(size)] = False
        costs[forbidden] = np.inf
    if rng.random() < 0.3:
        costs = costs.astype(np.float32)
    distance, terms = distances(labels, rng), list[Any]()
    if rng.random() < 0.7:
        terms.append(sm.GridCut(size, float(rng.integers(0, 4))))
    if size > 1 and rng.random() < 0.6:
        count = int(rng.integers(1, 8))
        tails = rng.integers(0, size, count)
        heads = (tails + 1 + rng.integers(0, size - 1, count)) % size
        terms.append(sm.Cut(tails, heads, np.round(3 * rng.random(count), rng.integers(0, 3))))
    if rng.random() < 0.4:
        groups = [rng.choice(size, int(rng.integers(1, size + 1)), False) for _ in range(2)]
        pointers = np.cumsum([0, *map(len, groups)])
        prices = 2 * rng.random(2), 3 * rng.random(2)
        terms.append(sm.labels.RobustPotts(pointers, np.concatenate(groups), *prices))
    if with_prices:
        terms.append(sm.labels.LabelCosts(np.abs(costs[np.isfinite(costs)]).mean() * rng.random()))
        subsets = [rng.choice(labels, int(rng.integers(1, labels + 1)), False) for _ in range(2)]
        terms.append(sm.labels.LabelCosts(2 * rng.random(2), subsets))
    return Small(costs, terms, distance, definition(costs, terms, matrix(distance, labels)))


def definition(costs: np.ndarray, terms: list[Any], prices: np.ndarray) -> Callable[[Any], float]:
    """The energy as a formula has it."""

    def energy(x: Any) -> float:
        total = sum(float(costs[label, v]) for v, label in enumerate(x))
        for term in terms:
            if isinstance(term, sm.labels.LabelCosts):
                total += labels_cost(term, x)
            else:
                total += groups_cost(term, x) if hasattr(term, "caps") else cut_cost(term, x)
        return total

    def labels_cost(term: Any, x: Any) -> float:
        subsets = [[p] for p in range(len(costs))] if term.subsets is None else term.subsets
        prices = np.broadcast_to(term.costs, len(subsets))
        return sum(price for price, own in zip(prices, subsets, strict=True) if {*x} & {*own})

    def groups_cost(term: Any, x: Any) -> float:
        return sum(
            min(term.caps[k], min(
                term.weights[k] * sum(x[v] != p for v in term.members[first:last])
                for p in range(len(costs))
            ))
            for k, (first, last) in enumerate(zip(term.pointers, term.pointers[1:], strict=False))
        )  # fmt: skip

    def cut_cost(term: Any, x: Any) -> float:
        ends = zip(*term.edge_list(), term.weights_by_edge()[0], strict=True)
        return sum(weight * prices[x[tail], x[head]] for tail, head, weight in ends)

    return energy
