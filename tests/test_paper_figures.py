"""The figures of Ene & Nguyen 2015 step by step, on dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.solvers import REGISTRY, comparison
from submin.solvers.acdm import SAMPLINGS, IndependentSampling

from .problems import (
    small_layout,
)


class Dense:
    """All y^(i) as rows of an (r, n) matrix, projected by the layout's blocks."""

    def __init__(self, layout: sm.Layout) -> None:
        self.layout = layout
        self.dual = layout.feasible_start()

    def rows(self, parts: list[np.ndarray]) -> np.ndarray:
        rows = np.zeros((self.layout.r, self.layout.n))
        for i, part in enumerate(parts):
            self.layout.accumulate(i, part, rows[i])
        return rows

    def parts(self) -> list[np.ndarray]:
        return [self.layout.take(i, self.dual) for i in range(self.layout.r)]

    def project(self, i: int, part: np.ndarray, gradient: np.ndarray, weight: float) -> np.ndarray:
        """argmin over y in B(F_i) of <gradient, y - y^(i)> + weight |y - y^(i)|^2, as a part."""
        dual = [y.copy() for y in self.dual]
        self.layout.put(i, dual, part)
        return self.layout.project(i, dual, gradient, 2.0 * weight)


def test_rcdm_is_figure_1():
    """With g = |sum y|^2 the gradient is 2 s and L_i = 2, so the quadratic has the weight 1."""
    layout = small_layout()
    dense = Dense(layout)
    parts = dense.parts()
    solver = sm.RCDM(seed=4)
    state = solver.start(layout, layout.feasible_start())
    picks = np.random.default_rng(4)
    chosen = np.concatenate([picks.integers(layout.r, size=layout.r) for _ in range(6)])
    for i in chosen:
        s = layout.unary + dense.rows(parts).sum(axis=0)
        parts[i] = dense.project(i, parts[i], 2.0 * s, 1.0)
        assert solver.step(layout, state) == 1
    y, s = solver.iterate(layout, state)
    for i, part in enumerate(parts):
        assert np.allclose(layout.take(i, y), part, atol=1e-10), f"block {i}"
    assert np.abs(s - layout.total(y)).max() == 0.0


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("step_constant", [2.0, 1.3])
@pytest.mark.parametrize("epoch_passes", [None, 2])
def test_acdm_is_figures_2_and_3(sampling, step_constant, epoch_passes):
    """APPROX with u and z of every block, gradients 2 s at theta^2 u + z, and epochs."""
    layout = small_layout()
    r, n = layout.r, layout.n
    dense = Dense(layout)
    z = dense.parts()
    u = [np.zeros_like(part) for part in z]
    solver = sm.ACDM(7, epoch_passes, step_constant, sampling)
    length = 2 * r if epoch_passes else int(np.ceil(4 * n * r**1.5)) + 1
    assert solver.epoch_iterations(n, r, 0) == length
    state = solver.start(layout, layout.feasible_start())
    generator, theta = np.random.default_rng(7), 1.0 / r
    answer = list(z)
    for iteration in range(5 * r):
        chosen = SAMPLINGS[sampling](layout, step_constant).draw(generator)
        at = [theta**2 * b + a for a, b in zip(z, u, strict=True)]
        gradient = 2.0 * (layout.unary + dense.rows(at).sum(axis=0))
        weight = step_constant * r * theta  # 2 r theta in the paper
        moves = {i: dense.project(i, z[i], gradient, weight) - z[i] for i in chosen}
        for i, t in moves.items():
            z[i] = z[i] + t
            u[i] = u[i] - (1 - r * theta) / theta**2 * t
        answer = [theta**2 * b + a for a, b in zip(z, u, strict=True)]
        theta = (np.sqrt(theta**4 + 4 * theta**2) - theta**2) / 2
        if (iteration + 1) % length == 0:
            z, u, theta = answer, [np.zeros_like(part) for part in z], 1.0 / r
        assert solver.step(layout, state) == len(moves)
    y, s = solver.iterate(layout, state)
    for i, part in enumerate(answer):
        assert np.allclose(layout.take(i, y), part, atol=1e-8), f"block {i}"
    assert np.abs(s - layout.total(y)).max() == 0.0


def test_ap_alternates_between_its_two_sets():
    """y <- Proj_Y(a), a <- y - s / r, with the unary on the side."""
    layout = small_layout()
    dense, solver = Dense(layout), sm.AP()
    state = solver.start(layout, layout.feasible_start())
    parts = dense.parts()
    for _ in range(7):
        s = layout.unary + dense.rows(parts).sum(axis=0)
        parts = [dense.project(i, part, s, 0.5 * layout.r) for i, part in enumerate(parts)]
        assert solver.step(layout, state) == layout.r
    y, _ = solver.iterate(layout, state)
    for i, part in enumerate(parts):
        assert np.allclose(layout.take(i, y), part, atol=1e-10), f"block {i}"


@pytest.mark.parametrize(
    "solver",
    [
        "rcdm",
        "accelerated_sweeps",
        "ap",
        "iap",
        "parallel_rcdm",
        "cyclic_sweeps",
        "permuted_sweeps",
        "anderson_sweeps",
        "frank_wolfe",
        "pairwise_frank_wolfe",
        "minimum_norm_point",
    ],
)
def test_the_norm_never_rises(solver):
    layout = small_layout()
    method = REGISTRY[solver]()
    state = method.start(layout, layout.feasible_start())
    norms = []
    for _ in range(60):
        method.step(layout, state)
        y, s = method.iterate(layout, state)
        norms.append(s @ s)
        for term, part in zip(layout.problem.terms, y, strict=True):
            assert term.violation(part).total <= 1e-12
    assert np.all(np.diff(norms) <= 1e-12 * norms[0])


def test_anderson_finds_the_fixed_point_of_linear_sweeps():
    """On a path whose limits are never reached: 3 flows, so that 5 passes determine the point."""
    unary = np.array([4.0, -1.0, 2.0, -3.0])
    layout = sm.Layout(sm.Problem(unary, [sm.GridCut(4, 100.0)]), "functions")
    errors = []
    for solver, passes in (
        (comparison.AndersonSweeps(window=5), 6),
        (sm.CyclicSweeps(), 12),
    ):
        state = solver.start(layout, layout.feasible_start())
        taken = 0
        while taken < passes * layout.r:
            taken += solver.step(layout, state)
        errors.append(np.abs(solver.iterate(layout, state)[1] - unary.mean()).max())
    assert errors[0] <= 1e-6
    assert errors[1] >= 1e-4


def layout_of(r: int) -> sm.Layout:
    """A path with one edge in each of r blocks."""
    return sm.Layout(sm.Problem(np.zeros(r + 1), [sm.GridCut(r + 1, 1.0)]), "functions")


@pytest.mark.parametrize("r", [1, 2, 7, 40])
def test_blocks_are_sampled_independently(r):
    """Each with probability 1 / r, and any two together with 1 / r^2: 5 sigma over 4000 draws."""
    generator, draws = np.random.default_rng(0), 4_000
    sampling = IndependentSampling(layout_of(r), 2.0)
    chosen = np.zeros((draws, r))
    for row in chosen:
        blocks = sampling.draw(generator)
        assert len(set(blocks)) == len(blocks)
        row[blocks] = 1.0
    p = 1.0 / r
    assert np.abs(chosen.mean(axis=0) - p).max() <= 5 * np.sqrt(p * (1 - p) / draws)
    if r > 1:
        together = (chosen[:, 0] * chosen[:, 1]).mean()
        assert abs(together - p**2) <= 5 * np.sqrt(p**2 * (1 - p**2) / draws)
        assert abs(chosen.sum(axis=1).var() - r * p * (1 - p)) <= 0.3


@pytest.mark.parametrize("r", [1, 2, 7, 40])
def test_exactly_one_block_is_sampled_uniformly(r):
    """Each with probability 1 / r: 5 sigma over 4000 draws."""
    generator, draws = np.random.default_rng(0), 4_000
    sampling = SAMPLINGS["uniform"](layout_of(r))
    blocks = np.array([sampling.draw(generator) for _ in range(draws)])
    assert blocks.shape == (draws, 1)
    p = 1.0 / r
    shares = np.bincount(blocks[:, 0], minlength=r) / draws
    assert np.abs(shares - p).max() <= 5 * np.sqrt(p * (1 - p) / draws)


def mean_square(layout: sm.Layout, moves: np.ndarray, chances: dict[int, float]) -> float:
    """E |sum over R of h_i|^2 over all subsets R, whose chance depends on their size alone."""
    subsets = (np.arange(2**layout.r)[:, None] >> np.arange(layout.r)) & 1
    weights = np.array([chances.get(size, 0.0) for size in subsets.sum(axis=1)])
    return float(weights @ np.square(subsets @ moves).sum(axis=1))


def test_the_step_constants_are_overapproximations():
    """Lemma 7 on blocks that share elements, over all subsets; with independent blocks, 1 fails."""
    layout, random = small_layout(), np.random.default_rng(0)
    r = layout.r
    touching = np.zeros((r, layout.n))
    for i in range(r):
        touching[i, layout.support(i)] = 1.0
    chances = {
        "independent": {k: (1 / r) ** k * (1 - 1 / r) ** (r - k) for k in range(r + 1)},
        "uniform": {1: 1 / r},
    }
    for name, sampling in SAMPLINGS.items():
        constant = sampling(layout).weights([])
        constants = []
        for moves in [touching, *(touching * random.normal(size=(20, r, layout.n)))]:
            mean = mean_square(layout, moves, chances[name])
            constants.append(mean * r / np.square(moves).sum())
        assert max(constants) <= constant + 1e-12, name
        assert (constant, max(constants) > 1.0 + 1e-12) == {
            "independent": (1 + 4 / r, True), "uniform": (1.0, False)
        }[name]  # fmt: skip


def test_overlap_gives_the_step_constant():
    """1 + (omega - 1) / r, with omega the largest number of blocks on one element."""
    layout = small_layout()
    touching = np.zeros(12, dtype=int)
    for i in range(layout.r):
        touching[layout.support(i)] += 1
    assert touching.reshape(3, 4)[1].tolist() == [4, 5, 5, 4]  # edges in 4 directions, a group
    state = sm.ACDM(step_constant=None).start(layout, layout.feasible_start())
    assert state.sampling.weights([]) == 1 + 4 / layout.r


@pytest.mark.parametrize(
    ("settings_given", "message"),
    [
        ({"epoch_passes": 0}, "epoch_passes is 0"),
        ({"epoch_passes": -1.0}, "epoch_passes is -1.0"),
        ({"epoch_passes": np.nan}, "epoch_passes is nan"),
        ({"step_constant": 0.5}, "step_constant is 0.5"),
        ({"step_constant": 0.0}, "step_constant is 0.0"),
        ({"step_constant": np.nan}, "step_constant is nan"),
        ({"step_constant": np.inf}, "step_constant is inf"),
        (
            {"sampling": "greedy"},
            "sampling is 'greedy': the samplings are 'independent', 'uniform'",
        ),
    ],
)
def test_settings_that_are_refused(settings_given, message):
    with pytest.raises(ValueError, match=message):
        sm.ACDM(**settings_given)
