"""Li & Milenkovic 2018: metrics of incidence, samplings of blocks, and fewer passes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers import comparison
from submin.solvers.samplings import SAMPLINGS, GreedySampling, UniformSampling, greedy_partition
from submin.terms.base.term import Block
from submin.terms.table import Table, TableBlock
from submin.testing import check_solver

from .problems import dense_model

EACH_SAMPLING = pytest.mark.parametrize("sampling", sorted(SAMPLINGS))


def grid_of_lines(shape=(12, 12), seed=0) -> sm.Layout:
    """Edges between two lines of a grid are a block, so that an element is in 4 of many blocks."""
    unary = 2.0 * np.random.default_rng(seed).normal(size=shape)
    return sm.Layout(sm.Problem(unary, [sm.GridCut(shape, 1.0)]), "lines")


def star(leaves=39) -> sm.Layout:
    """One element in all blocks, each other in one."""
    unary = 2.0 * np.random.default_rng(0).normal(size=leaves + 1)
    edges = sm.Cut(np.zeros(leaves, dtype=int), np.arange(1, leaves + 1), 1.0)
    return sm.Layout(sm.Problem(unary, [edges]), "matchings")


def mixture(seed=0) -> sm.Layout:
    """Chains, a graph and groups, in which the blocks of an element differ in number."""
    return sm.Layout(dense_model(seed, False).problem)


LAYOUTS = {"lines": grid_of_lines, "star": star, "mixture": mixture}
EACH_LAYOUT = pytest.mark.parametrize("make", LAYOUTS.values(), ids=list(LAYOUTS))


# The number of blocks on each element.


@EACH_LAYOUT
def test_degrees_count_the_blocks_of_each_element(make):
    layout = make()
    counts = [
        sum(v in layout.support(i).tolist() for i in range(layout.r)) for v in range(layout.n)
    ]
    assert layout.degrees().tolist() == counts
    some = [0, layout.r - 1]
    counts = [sum(v in layout.support(i).tolist() for i in some) for v in range(layout.n)]
    assert layout.degrees(some).tolist() == counts


# Projections in a metric.


class WithoutMetrics(TableBlock):
    """A block of a user who wrote `project` alone."""

    project_weighted = Block.project_weighted


class Tables(Table):
    def blocks(self, decomposition, threads):
        chosen = super().blocks(decomposition, threads)
        return [WithoutMetrics(self, block.tables, threads) for block in chosen]


def path_of_tables() -> sm.Problem:
    tables = Tables([[0, 1], [1, 2], [2, 3], [0, 2]], [0.0, 1.0, 1.5, 1.0])
    return sm.Problem([0.3, -0.8, 0.7, -0.5], [tables])


def test_blocks_without_a_metric_say_so():
    layout = sm.Layout(path_of_tables())
    assert not layout.blocks[0].weighted
    assert all(block.weighted for block in mixture().blocks)
    with pytest.raises(TypeError, match="WithoutMetrics has no projection in a norm with weights"):
        layout.blocks[0].project_weighted(np.zeros(8), np.zeros(4), np.ones(4))


def test_blocks_without_a_metric_take_the_largest_weight():
    layout = sm.Layout(path_of_tables())
    dual, s = layout.feasible_start(), np.array([0.5, -1.0, 0.25, 2.0])
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    for i in range(layout.r):
        largest = weights[layout.support(i)].max()
        part = layout.project_weighted(i, dual, s, weights, 0.5)
        assert np.array_equal(part, layout.project(i, dual, s, 0.5 * largest))


@pytest.mark.parametrize(
    "solver",
    [
        comparison.IAP(),
        comparison.ParallelRCDM(),
        comparison.ParallelACDM(),
    ],
)
def test_blocks_without_a_metric_are_solved(solver):
    problem = path_of_tables()
    expected = sm.minimize(problem, "rcdm")
    result = sm.minimize(problem, solver)
    assert result.status is sm.Status.OPTIMAL
    assert result.value == pytest.approx(expected.value, abs=1e-12)


@EACH_LAYOUT
def test_a_weighted_projection_minimises_its_model(make):
    """No vertex of a block is lower than the part in <s, y'> + c/2 sum_v w_v (y'_v - y_v)^2."""
    layout, rng = make(), np.random.default_rng(1)
    dual = layout.feasible_start()
    s, weights, c = rng.normal(size=layout.n), rng.uniform(1.0, 4.0, layout.n), 0.7

    def vector(i, part):
        total = np.zeros(layout.n)
        layout.accumulate(i, part, total)
        return total

    for i in range(layout.r):
        before = vector(i, layout.take(i, dual))
        after = vector(i, layout.project_weighted(i, dual, s, weights, c))
        gradient = s + c * weights * (after - before)
        vertex = vector(i, layout.take(i, layout.greedy_vertex(-gradient)))
        assert gradient @ after <= gradient @ vertex + 1e-10


# IAP.


@given(st.integers(0, 100))
@settings(max_examples=10)
def test_iap_is_ap_where_every_block_has_every_element(seed):
    rng = np.random.default_rng(seed)
    members, pointers = np.tile(np.arange(7), 3), np.arange(4) * 7
    term = sm.Cardinality(pointers, members, lambda k, m: np.sqrt(k * (m - k)))
    layout = sm.Layout(sm.Problem(3.0 * rng.normal(size=7), [term]))
    assert layout.degrees().tolist() == 7 * [layout.r]
    states = [
        (solver, solver.start(layout, layout.feasible_start()))
        for solver in (sm.AP(), comparison.IAP())
    ]
    for _ in range(20):
        for solver, state in states:
            assert solver.step(layout, state) == 3
        (y, s), (other_y, other_s) = (solver.iterate(layout, state) for solver, state in states)
        assert np.array_equal(s, other_s)
        assert np.array_equal(y[0], other_y[0])


def test_iap_moves_each_edge_by_its_own_degrees():
    """On a star: the centre divides s by all edges, a leaf by one; steps by hand."""
    layout = star(3)
    (y,), s = layout.feasible_start(), layout.unary
    state = comparison.IAP().start(layout, [y])
    expected = np.clip(-(s[0] - s[1:]) / (3.0 + 1.0), -1.0, 1.0)
    comparison.IAP().step(layout, state)
    np.testing.assert_allclose(state.y[0], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("gap", [1.0, 0.1, 0.01])
def test_iap_takes_a_few_times_fewer_passes_than_ap(gap):
    """In proportion to the largest degree, 4, against all r blocks: 22 lines, and 39 edges."""
    for layout, blocks, factor in ((grid_of_lines(), "lines", 4), (star(), "matchings", 1.5)):
        ap, iap = (
            sm.minimize(layout.problem, solver, tol=gap, blocks=blocks, max_passes=2_000)
            for solver in (sm.AP(), comparison.IAP())
        )
        assert max(ap.gap, iap.gap) <= gap
        assert factor * iap.passes <= ap.passes


# Samplings.


@EACH_LAYOUT
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_greedy_partition_has_every_block_once(make, size):
    layout = make()
    parts = greedy_partition(layout, size)
    assert sorted(i for part in parts for i in part) == list(range(layout.r))
    assert max(len(part) for part in parts) <= size
    assert len(parts) == -(-layout.r // size)


def pairs_in_common(layout, parts) -> int:
    """Pairs of blocks of one part, counted once for each element that both touch."""
    supports = [set(layout.support(i).tolist()) for i in range(layout.r)]
    return sum(len(supports[i] & supports[j]) for part in parts for i, j in combinations(part, 2))


@EACH_LAYOUT
@pytest.mark.parametrize("size", [2, 4])
def test_the_greedy_partition_overlaps_less_than_random_ones_on_average(make, size):
    layout, rng = make(), np.random.default_rng(0)
    parts = greedy_partition(layout, size)
    others = [np.split(rng.permutation(layout.r), range(size, layout.r, size)) for _ in range(20)]
    overlaps = [pairs_in_common(layout, other) for other in others]
    assert pairs_in_common(layout, parts) <= np.mean(overlaps)


@EACH_LAYOUT
@EACH_SAMPLING
@pytest.mark.parametrize("batch", [1, 2, 3, 1000])
def test_weights_overestimate_the_steps_of_a_sampling(make, sampling, batch):
    """E || sum_{i in C} h_i ||^2 <= p sum_i sum_v w_v h_i(v)^2, with equality for equal steps."""
    layout, rng = make((3, 3)) if make is grid_of_lines else make(), np.random.default_rng(2)
    sample = SAMPLINGS[sampling](layout, batch)
    if isinstance(sample, GreedySampling):
        sets = sample.parts
    else:
        sets = list(combinations(range(layout.r), min(batch, layout.r)))
        if len(sets) > 20_000:
            pytest.skip("too many sets")
    touched = np.zeros((layout.r, layout.n))
    for i in range(layout.r):
        touched[i, layout.support(i)] = 1.0
    for h in (touched, touched * rng.normal(size=touched.shape)):
        mean = np.mean([np.sum(h[list(chosen)].sum(axis=0) ** 2) for chosen in sets])
        weighted = [
            np.sum(sample.weights(list(chosen)) * h[i] ** 2) for chosen in sets for i in chosen
        ]
        bound = np.sum(weighted) / len(sets)
        assert mean <= bound * (1.0 + 1e-12)
        if h is touched:
            assert mean == pytest.approx(bound, rel=1e-12)


@EACH_SAMPLING
def test_every_block_has_its_turn_once_in_a_period(sampling):
    layout, draws = mixture(), 6_000
    sample, generator = SAMPLINGS[sampling](layout, 3), np.random.default_rng(0)
    counts = np.zeros(layout.r)
    for _ in range(draws):
        chosen = sample.draw(generator)
        assert len(set(chosen)) == len(chosen)
        counts[chosen] += 1.0
    p = 1.0 / sample.period
    assert np.abs(counts / draws - p).max() <= 5.0 * np.sqrt(p * (1.0 - p) / draws)


def test_samplings_without_blocks():
    layout = sm.Layout(sm.Problem([1.0, -1.0]))
    assert greedy_partition(layout, 4) == []
    assert UniformSampling(layout, 4).draw(np.random.default_rng(0)) == []


@pytest.mark.parametrize("solver", [comparison.ParallelRCDM, comparison.ParallelACDM])
@pytest.mark.parametrize(
    ("given_settings", "error", "message"),
    [
        ({"batch": 0}, ValueError, "batch is 0: it must be 1 or more"),
        ({"batch": 2.0}, TypeError, "batch is 2.0: it must be a whole number"),
        ({"batch": True}, TypeError, "batch is True: it must be a whole number"),
        ({"sampling": "random"}, ValueError, "sampling is 'random': .* 'uniform', 'greedy'"),
        ({"sampling": None}, ValueError, "sampling is None"),
    ],
)
def test_settings_that_are_refused(solver, given_settings, error, message):
    with pytest.raises(error, match=message):
        solver(**given_settings)


# The solvers.


@EACH_SAMPLING
@pytest.mark.parametrize("solver", [comparison.ParallelRCDM, comparison.ParallelACDM])
def test_every_sampling_conforms(solver, sampling):
    assert check_solver(solver(batch=3, sampling=sampling), seed=2)


@EACH_LAYOUT
@EACH_SAMPLING
@pytest.mark.parametrize("batch", [1, 3, 8])
def test_every_parallel_step_descends(make, sampling, batch):
    layout = make()
    solver = comparison.ParallelRCDM(batch=batch, sampling=sampling)
    state = solver.start(layout, layout.feasible_start())
    norms = [layout.unary @ layout.unary]
    for _ in range(60):
        solver.step(layout, state)
        _, s = solver.iterate(layout, state)
        norms.append(s @ s)
    assert np.all(np.diff(norms) <= 1e-12 * norms[0])
    assert norms[-1] < norms[0]


def test_a_batch_of_one_is_rcdm():
    """The same projections as RCDM that picks the same blocks."""
    layout = mixture()
    solver = comparison.ParallelRCDM(batch=1)
    state = solver.start(layout, layout.feasible_start())
    generator = np.random.default_rng(solver.seed)
    dual = layout.feasible_start()
    s = layout.total(dual)
    for _ in range(5 * layout.r):
        (i,) = state.sampling.draw(generator)
        layout.sweep(i, dual, s)
        assert solver.step(layout, state) == 1
    for part, other in zip(state.y, dual, strict=True):
        np.testing.assert_allclose(part, other, rtol=0, atol=1e-10)


@EACH_LAYOUT
@EACH_SAMPLING
def test_parallel_acdm_is_approx(make, sampling):
    """All of z and u in full, and the step weights of the sampling; no epoch ends here."""
    layout = make()
    solver = comparison.ParallelACDM(batch=3, sampling=sampling, epoch_passes=1e6)
    state = solver.start(layout, layout.feasible_start())
    sample, generator = SAMPLINGS[sampling](layout, 3), np.random.default_rng(solver.seed)
    z = layout.feasible_start()
    u, p, theta = [np.zeros_like(part) for part in z], 1.0 / sample.period, 1.0 / sample.period
    for _ in range(30):
        at = [theta**2 * b + a for a, b in zip(z, u, strict=True)]
        s, chosen = layout.total(at), sample.draw(generator)
        weights, old = sample.weights(chosen), [part.copy() for part in z]
        for i in chosen:
            target = layout.project_weighted(i, old, s, weights, theta / p)
            move = target - layout.take(i, old)
            layout.put(i, z, target)
            layout.put(i, u, layout.take(i, u) - (1.0 - theta / p) / theta**2 * move)
        answer = [theta**2 * b + a for a, b in zip(z, u, strict=True)]
        theta = (np.sqrt(theta**4 + 4.0 * theta**2) - theta**2) / 2.0
        assert solver.step(layout, state) == len(chosen)
    y, _ = solver.iterate(layout, state)
    for part, other in zip(y, answer, strict=True):
        np.testing.assert_allclose(part, other, rtol=0, atol=1e-9)


@EACH_SAMPLING
def test_acceleration_takes_fewer_passes_late(sampling):
    """To the proximal point of a grid of lines, up to 1e-6."""
    layout = grid_of_lines()
    plain, accelerated = (
        sm.prox(
            layout.problem, solver=solver(sampling=sampling), blocks="lines", tol=1e-6,
            max_passes=2_000,
        )
        for solver in (comparison.ParallelRCDM, comparison.ParallelACDM)
    )  # fmt: skip
    assert plain.status is accelerated.status is sm.Status.CONVERGED
    assert 2 * accelerated.passes <= plain.passes
