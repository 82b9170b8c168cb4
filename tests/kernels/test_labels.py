"""The kernels of labellings against their twins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from submin.kernels import reference

native = pytest.importorskip("submin.kernels.native")


class Labelled(NamedTuple):
    """Costs by label, edges, distances of two kinds, and an array of no numbers."""

    costs: np.ndarray
    tails: np.ndarray
    heads: np.ndarray
    weights: np.ndarray
    kinds: np.ndarray
    distances: np.ndarray

    @property
    def edges(self) -> tuple[np.ndarray, ...]:
        """The arguments that kernels of edges have in common."""
        return self.tails, self.heads, self.weights, self.kinds, self.distances

    @property
    def rows(self) -> np.ndarray:
        """A row for each node, filled up."""
        rows = np.full((self.costs.shape[1], self.distances.shape[1]), np.inf, np.float32)
        rows[:, : len(self.costs)] = self.costs.T
        return rows

    def messages(self, kernels: Any) -> tuple[Any, np.ndarray]:
        """The kernel of messages, and its rows."""
        rows = np.zeros((self.tails.size, self.distances.shape[1]), np.float32)
        single = (self.weights.astype(np.float32), self.kinds, self.distances.astype(np.float32))
        return kernels.LabelMessages(self.rows, self.tails, self.heads, *single, rows), rows


def padded(distances: np.ndarray) -> np.ndarray:
    """Distances of whole lanes."""
    labels = len(distances)
    width = -(-labels // 8) * 8
    out = np.full((width, width), distances.max())
    out[:labels, :labels] = distances
    np.fill_diagonal(out, 0.0)
    return out


def labelled(seed: int, labels: int, nodes: int = 40) -> Labelled:
    """A random graph; distances are those of Potts and one of steps, squares or anything."""
    rng = np.random.default_rng(seed)
    tails = rng.integers(0, nodes, 3 * nodes).astype(np.int32)
    heads = ((tails + rng.integers(1, nodes, tails.size)) % nodes).astype(np.int32)
    steps = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels))).astype(float)
    upper = np.triu(rng.random((labels, labels)), 1)
    other = [np.minimum(steps, 3.0), np.minimum(steps**2, 7.0), upper + upper.T, steps][seed % 4]
    costs = rng.normal(size=(labels, nodes))
    costs[rng.random(costs.shape) < 0.1] = np.inf
    costs[0, np.isinf(costs).all(axis=0)] = 0.0
    kinds = rng.integers(0, 2, tails.size).astype(np.uint8)
    distances = np.stack([padded(1.0 - np.eye(labels)), padded(other)])
    return Labelled(costs, tails, heads, rng.random(tails.size), kinds, distances)


@pytest.mark.parametrize("labels", [2, 5, 8, 13, 20, 31])
@pytest.mark.parametrize("seed", range(4))
def test_messages_of_both(seed, labels):
    given = labelled(seed, labels)
    (one, rows), (two, others) = given.messages(native), given.messages(reference)
    for _ in range(3):
        first, second = (np.zeros(given.costs.shape[1], np.int32) for _ in range(2))
        one.forward(first)
        two.forward(second)
        assert np.allclose(rows[:, :labels], others[:, :labels], rtol=1e-4, atol=1e-5)
        assert one.backward() == pytest.approx(two.backward(), rel=1e-4, abs=1e-4)
    one.forward(np.zeros(0, np.int32))
    two.forward(np.zeros(0, np.int32))
    duals = [np.zeros((2, *rows.shape), np.float32) for _ in range(2)]
    bounds = one.dual(*duals[0]), two.dual(*duals[1])
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-4, abs=1e-4)
    assert np.allclose(*(dual[:, :, :labels] for dual in duals), rtol=1e-3, atol=1e-4)
    for kernel in (one, two):
        kernel.forward(np.zeros(0, np.int32))
    marginals = [np.zeros_like(given.rows) for _ in range(2)]
    found = [one.marginals(marginals[0]), two.marginals(marginals[1])]
    assert found[0] == pytest.approx(found[1], rel=1e-4, abs=1e-4)
    assert np.allclose(*(own[:, :labels] for own in marginals), rtol=1e-3, atol=1e-3)
    for dual, bound in zip(duals, bounds, strict=True):
        proved = native.label_bound(given.costs, *given.edges, *dual)
        assert proved == pytest.approx(bound, rel=1e-4, abs=1e-4)
        twin = reference.label_bound(given.costs, *given.edges, *dual)
        assert proved == pytest.approx(twin, rel=1e-12, abs=1e-12)
        double = dual.astype(np.float64)
        assert native.label_bound(given.costs, *given.edges, *double) == proved


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_of_costs_in_single_precision(seed):
    given = labelled(seed, 6)
    rng = np.random.default_rng(seed)
    dual = rng.normal(size=(2, given.tails.size, 8)).astype(np.float32)
    costs = given.costs.astype(np.float32)
    found = [kernels.label_bound(costs, *given.edges, *dual) for kernels in (native, reference)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_fusions_of_both(seed):
    """The arcs cost what the four combinations of an edge do."""
    given = labelled(seed, 6)
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, (2, given.costs.shape[1])).astype(np.int32)
    dual = rng.normal(size=(2, given.tails.size, 8)).astype(np.float32)
    answers = []
    for kernels in (native, reference):
        s, arcs = np.zeros(first.size), np.zeros((2, given.tails.size))
        raised = kernels.label_fusion(*given.edges, *dual, first, second, s, *arcs)
        answers.append((raised, np.concatenate([s, *arcs])))
    assert answers[0][0] == answers[1][0]
    assert np.allclose(answers[0][1], answers[1][1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(8))
def test_expansions_of_both(seed, kind):
    """One by one, from labels that either has reached: the same energy."""
    given = labelled(4 * seed, 5)._replace(kinds=np.zeros(120, np.uint8))
    costs = given.costs.astype(kind)
    messages, rows = given.messages(native)
    labels = np.zeros(costs.shape[1], np.int32)
    messages.forward(labels)
    dual = np.zeros((2, *rows.shape), np.float32)
    messages.dual(*dual)
    start = np.argmin(given.costs, axis=0).astype(np.int32)

    def energy(chosen: np.ndarray) -> float:
        own = given.costs[chosen, np.arange(chosen.size)].sum()
        return float(own + native.label_distances(*given.edges, chosen))

    for alpha in range(5):
        both = []
        for kernels in (native, reference):
            own = start.copy()
            kernels.LabelExpansions(costs, *given.edges, *dual, own).expand(alpha)
            both.append(energy(own))
        assert both[0] == pytest.approx(both[1], rel=1e-5, abs=1e-5)
        assert both[0] <= energy(start) + 1e-5


def test_strips_run_side_by_side():
    """A grid of three strips, whose twin runs them one after the other."""
    nodes, columns = 6_300, 60
    numbers = np.arange(nodes, dtype=np.int32)
    right, down = numbers[(numbers + 1) % columns > 0], numbers[: nodes - columns]
    tails = np.concatenate([right, down])
    heads = np.concatenate([right + 1, down + columns]).astype(np.int32)
    rng = np.random.default_rng(0)
    given = Labelled(
        rng.normal(size=(3, nodes)), tails, heads, np.full(tails.size, 0.5),
        np.zeros(tails.size, np.uint8), padded(1.0 - np.eye(3))[None],
    )  # fmt: skip
    twin, others = given.messages(reference)
    labels = np.zeros(nodes, np.int32)
    twin.forward(labels)
    bound, after = None, others.copy()
    for threads in (1, 2, 5):
        kernel, rows = given.messages(native)
        chosen = np.zeros(nodes, np.int32)
        kernel.forward(chosen, threads)
        assert np.allclose(rows[:, :3], after[:, :3], rtol=1e-5, atol=1e-6)
        assert (chosen != labels).mean() < 1e-3
        bound = twin.backward() if bound is None else bound
        assert kernel.backward(threads) == pytest.approx(bound, rel=1e-6)
