"""Every solver on every family: brute force, laws of the minimum, and equal bits."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers import REGISTRY, resolve

from .laws import assert_in_base_polytope
from .problems import (
    FAMILIES,
    SEEDS,
    SHAPES,
    SLOW,
    Model,
    Part,
    all_sets,
    dense_model,
    general_solvers,
    is_exact,
    model,
    models,
    no_family,
    parts,
    small_layout,
    vectors,
)

SOLVERS = general_solvers()
SPECIAL = [name for name in REGISTRY if name not in SOLVERS]  # of what becomes cuts
BECOME_CUTS = [family for family in FAMILIES if family != "function"]
MIXED_SHAPES = [shape for shape in SHAPES if np.prod(shape) <= 9]
FEW, FEWER = settings(max_examples=20), settings(max_examples=5)


def assert_solved(case: Model, result: sm.Result) -> None:
    """Check value, set, bound and dual against brute force."""
    assert result.value == pytest.approx(case.minimum, abs=1e-11 * case.scale)
    assert case.problem.evaluate(result.minimizer) == result.value
    assert result.lower_bound <= case.minimum + 1e-15 * case.scale
    assert result.certificate.violation <= 1e-9 * case.scale
    for part, y in zip(case.parts, result.dual, strict=True):
        total = np.zeros(case.problem.n)
        part.term.accumulate(y, total)
        assert_in_base_polytope(total, part.values, 1e-9 * case.scale)


def assert_solved_exactly(case: Model, result: sm.Result) -> None:
    """Check whole numbers: gap exactly 0, and the bound is a value."""
    assert_solved(case, result)
    assert result.status is sm.Status.OPTIMAL
    assert result.value == result.lower_bound == case.minimum
    assert result.gap == 0.0


# Brute force.


@pytest.mark.parametrize(
    ("solver", "family"), [*product(SOLVERS, FAMILIES), *product(SPECIAL, BECOME_CUTS)]
)
@FEWER
@given(data=st.data())
def test_each_family(solver, family, data):
    count = data.draw(st.integers(1, 2))
    case = data.draw(models([family] * count, whole=True))
    assert_solved_exactly(case, sm.minimize(case.problem, solver))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("blocks", ["auto", "functions"])
@FEWER
@given(data=st.data())
def test_mixtures_of_whole_numbers(solver, blocks, data):
    case = data.draw(models(whole=True, hard=data.draw(st.booleans())))
    assert_solved_exactly(case, sm.minimize(case.problem, solver, blocks=blocks))


@pytest.mark.parametrize("solver", SOLVERS)
@FEWER
@given(data=st.data())
def test_mixtures_of_floats(solver, data):
    case = data.draw(models(hard=data.draw(st.booleans()), shapes=MIXED_SHAPES))
    result = sm.minimize(case.problem, solver, tol=1e-7, max_passes=3_000)
    assert result.lower_bound <= case.minimum + 1e-15 * case.scale
    assert result.value <= case.minimum + max(1e-7, result.gap)
    assert_solved(case, sm.minimize(case.problem, solver, max_passes=1_000))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("blocks", ["auto", "functions"])
@pytest.mark.parametrize("seed", SEEDS)
def test_dense_problems(solver, blocks, seed):
    """Four edges, groups and arcs on every element, with the marginal costs around 0."""
    whole, floats = dense_model(seed, True), dense_model(seed, False)
    assert_solved_exactly(whole, sm.minimize(whole.problem, solver, blocks=blocks))
    result = sm.minimize(floats.problem, solver, blocks=blocks, max_passes=2_000)
    assert_solved(floats, result)
    if solver not in SLOW:
        assert result.status is sm.Status.OPTIMAL


@pytest.mark.parametrize("blocks", ["matchings", "lines", "functions"])
@FEWER
@given(data=st.data())
def test_every_decomposition_of_grids(blocks, data):
    case = data.draw(models(["grid_cut"], whole=True))
    assert_solved_exactly(case, sm.minimize(case.problem, blocks=blocks))


@FEWER
@given(models(hard=True, shapes=MIXED_SHAPES))
def test_all_solvers_agree(case: Model):
    values = [sm.minimize(case.problem, name, max_passes=500).value for name in SOLVERS]
    assert max(values) - min(values) <= 1e-11 * case.scale


@FEWER
@given(models(shapes=MIXED_SHAPES))
def test_the_proximal_point_is_that_of_brute_force(case: Model):
    """s = -x is the least-norm point of B(F) if <s, v - s> >= 0 for all vertices v (Wolfe)."""
    problem = sm.Problem(case.problem.unary, case.problem.terms)
    x = sm.prox(problem, tol=1e-12).x.ravel()
    values = case.values - case.problem.constant
    order = np.argsort(-x)
    vertex = np.empty(x.size)
    vertex[order] = np.diff(values[np.cumsum(1 << order)], prepend=0.0)
    assert x @ x + vertex @ x <= 1e-5 * case.scale
    assert_in_base_polytope(-x, values, 1e-5 * case.scale)


# Laws of the minimum.


@FEW
@given(models(whole=True, shapes=MIXED_SHAPES), st.integers(-50, 50))
def test_a_constant_is_added(case: Model, constant):
    moved = sm.Problem(case.problem.unary, case.problem.terms, case.problem.constant + constant)
    first, second = sm.minimize(case.problem), sm.minimize(moved)
    assert second.value == first.value + constant
    assert np.array_equal(first.minimizer, second.minimizer)
    assert second.lower_bound == second.value


@FEW
@given(parts("cardinality", (6,), False), parts("cut", (6,), False), vectors(False, 6), st.data())
def test_scaling_by_any_factor(regions: Part, edges: Part, unary, data):
    factor = data.draw(st.floats(1e-6, 1e6))
    term, group_values = regions.term, {}
    for start, stop, first in zip(
        term.pointers, term.pointers[1:], term.value_pointers, strict=False
    ):
        group_values[int(stop - start)] = term.values[first : first + stop - start + 1]
    scaled = [
        sm.Cardinality(term.pointers, term.members, lambda k, m: factor * group_values[m]),
        sm.Cut(edges.term.tails, edges.term.heads, factor * edges.term.forward,
               factor * edges.term.backward),
    ]  # fmt: skip
    case = model(unary, [regions, edges])
    result = sm.minimize(sm.Problem(factor * unary, scaled), max_passes=3_000)
    assert result.value == pytest.approx(factor * case.minimum, abs=1e-11 * factor * case.scale)


@FEW
@given(parts("cut", (7,), True), vectors(True, 7), st.data())
def test_splitting_and_merging_terms(part: Part, unary, data):
    """Edges in two terms, and weights in two halves, are the same problem."""
    case, term = model(unary, [part]), part.term
    m = term.size
    some = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)), bool)
    in_two = [
        sm.Cut(term.tails[which], term.heads[which], term.forward[which], term.backward[which])
        for which in (some, ~some)
    ]
    halves = [sm.Cut(term.tails, term.heads, term.forward / 2, term.backward / 2)] * 2
    for terms in (in_two, halves):
        result = sm.minimize(sm.Problem(unary, terms))
        assert result.value == result.lower_bound == case.minimum


@FEW
@given(parts("cut", (6,), True), parts("cardinality", (6,), True), vectors(True, 6), st.data())
def test_permuting_elements(edges: Part, regions: Part, unary, data):
    names = np.array(data.draw(st.permutations(range(6))))
    case = model(unary, [edges, regions])
    moved = np.empty(6)
    moved[names] = unary
    cut, groups = edges.term, regions.term
    tables = {
        int(stop - start): groups.values[first : first + stop - start + 1]
        for start, stop, first in zip(
            groups.pointers, groups.pointers[1:], groups.value_pointers, strict=False
        )
    }
    problem = sm.Problem(
        moved,
        [
            sm.Cut(names[cut.tails], names[cut.heads], cut.forward, cut.backward),
            sm.Cardinality(groups.pointers, names[groups.members], lambda k, m: tables[m]),
        ],
    )
    assert sm.minimize(problem).value == case.minimum


@FEW
@given(parts("cut", (7,), True), vectors(True, 7))
def test_complements(part: Part, unary):
    """F'(S) = F(V without S) has the same minimum: arcs turn round, costs change sign."""
    case, term = model(unary, [part]), part.term
    turned = sm.Cut(term.tails, term.heads, term.backward, term.forward)
    result = sm.minimize(sm.Problem(-unary, [turned], constant=unary.sum()))
    assert result.value == result.lower_bound == case.minimum
    assert case.problem.evaluate(~result.minimizer) == case.minimum


@FEW
@given(models(whole=True, shapes=MIXED_SHAPES), st.data())
def test_hard_constraints_are_minima_over_fewer_sets(case: Model, data):
    n = case.problem.n
    fixed = np.array(data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n)))
    unary = case.problem.unary.ravel().copy()
    constant = case.problem.constant + unary[fixed == 1].sum()
    unary[fixed == 1], unary[fixed == -1] = -np.inf, np.inf
    sets = all_sets(n)
    allowed = sets[:, fixed == 1].all(axis=1) & ~sets[:, fixed == -1].any(axis=1)
    problem = sm.Problem(unary.reshape(case.problem.shape), case.problem.terms, constant)
    result = sm.minimize(problem)
    assert result.value == case.values[allowed].min()
    assert result.lower_bound == result.value


# Equal bits.


def image_problem(seed: int = 0) -> sm.Problem:
    """Large enough for blocks of every family to be worked on by several threads."""
    random = np.random.default_rng(seed)
    n = 260 * 270
    labels = np.arange(n).reshape(260, 270) // 37
    return sm.Problem(
        random.normal(size=(260, 270)),
        [
            sm.GridCut((260, 270), 0.4, 8),
            sm.Cut(np.arange(n // 2), np.arange(n // 2) + n // 2, 0.3),
            sm.Cardinality.from_labels(labels, lambda k, m: 0.02 * k * (m - k)),
        ],
    )


def bits(result: sm.Result) -> tuple[bytes, ...]:
    return (result.minimizer.tobytes(), result.x.tobytes(), *(y.tobytes() for y in result.dual))


@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_and_repetition_do_not_change_a_bit(solver):
    problem = small_layout().problem if is_exact(solver) else image_problem()  # to the end
    results = [sm.minimize(problem, solver, threads=threads, max_passes=2) for threads in (1, 2, 3)]
    assert len({bits(result) for result in results}) == 1
    assert len({result.certificate for result in results}) == 1


@pytest.mark.parametrize("family", [sm.RCDM, sm.ACDM])
def test_seeds(family):
    problem = small_layout().problem
    first, again, other = (
        sm.minimize(problem, family(seed=seed), max_passes=3) for seed in (5, 5, 6)
    )
    assert bits(first) == bits(again)
    assert bits(first) != bits(other)


PROBLEM = """
import numpy as np
import submin as sm
random = np.random.default_rng(0)
labels = np.arange(20).reshape(4, 5) // 6
problem = sm.Problem(random.integers(-6, 7, (4, 5)), [
    sm.GridCut((4, 5), 2, 8),
    sm.Cut([0, 3, 7], [19, 11, 2], [4, 5, 6], [1, 0, 2]),
    sm.Cardinality.from_labels(labels, lambda k, m: k * (m - k)),
])
"""
SOLVE_ALL = """
import sys
from submin import kernels
assert kernels.active is kernels.reference
for solver in sys.argv[1:]:
    result = sm.minimize(problem, solver)
    print(solver, result.value, result.lower_bound, result.status.name)
"""


def test_reference_kernels_give_the_same_answers():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBLEM + SOLVE_ALL, *SOLVERS],
        env={**os.environ, "SUBMIN_KERNELS": "reference"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    space: dict[str, sm.Problem] = {}
    exec(PROBLEM, space)
    expected = sm.minimize(space["problem"])
    assert run.stdout.splitlines() == [
        f"{solver} {expected.value} {expected.lower_bound} OPTIMAL" for solver in SOLVERS
    ]


def test_unknown_kernels_are_refused():
    run = subprocess.run(
        [sys.executable, "-c", PROBLEM + "sm.minimize(problem)"],
        env={**os.environ, "SUBMIN_KERNELS": "gpu"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode != 0
    assert "SUBMIN_KERNELS must be 'native' or 'reference', not 'gpu'" in run.stderr


# Names.


@pytest.mark.parametrize("solver", SPECIAL)
def test_solvers_that_do_not_take_every_term_say_so(solver):
    problem = sm.Problem(np.ones(3), [sm.Cut([0], [1], 1.0), no_family()])
    with pytest.raises(TypeError, match=r"terms\[1\] is a Function"):
        sm.minimize(problem, solver)


@pytest.mark.parametrize("name", list(REGISTRY))
def test_solvers_by_name(name):
    layout = small_layout()
    assert type(resolve(name, layout)) is REGISTRY[name]
    assert resolve(REGISTRY[name](), layout) == REGISTRY[name]()
    if name in SOLVERS:
        assert sm.minimize(layout.problem, name).solver == repr(REGISTRY[name]())


@pytest.mark.parametrize("name", ["RCDMM", "simplex", ""])
def test_unknown_names_are_refused(name):
    with pytest.raises(ValueError, match=r"is not known; the solvers are 'auto', 'rcdm'"):
        sm.minimize(sm.Problem([1.0]), name)


@pytest.mark.parametrize("solver", [sm.RCDM, None, 3, object()])
def test_solvers_are_solvers(solver):
    with pytest.raises(TypeError, match="solver must be a name or a solver such as RCDM"):
        sm.minimize(sm.Problem([1.0]), solver)


def test_a_solver_of_one_s_own():
    class Sweeps:
        """Plain cyclic sweeps, in three short methods."""

        def start(self, layout, dual):
            return [dual, layout.total(dual)]

        def step(self, layout, state):
            for i in range(layout.r):
                layout.sweep(i, *state)
            return layout.r

        def iterate(self, layout, state):
            return state[0], layout.total(state[0])

    problem = small_layout().problem
    assert sm.minimize(problem, Sweeps()).value == pytest.approx(sm.minimize(problem).value)


@pytest.mark.parametrize(("shape", "connectivity"), [((3, 4, 2, 3), 80), ((4, 5, 3), 26)])
def test_max_flow_takes_grids_of_any_dimension(shape, connectivity):
    """Beyond 26 neighbours the grid is a general graph to the kernel, with the same minimum."""
    unary = np.random.default_rng(1).normal(size=shape)
    problem = sm.Problem(unary, [sm.GridCut(shape, 0.1, connectivity=connectivity)])
    flow, sweeps = sm.minimize(problem, "max_flow"), sm.minimize(problem, "accelerated_sweeps")
    assert flow.status is sweeps.status is sm.Status.OPTIMAL
    assert flow.value == pytest.approx(sweeps.value, abs=1e-10)


@pytest.mark.parametrize("seed", [0, 2, 4, 5])
def test_smoothing_ends_before_the_digits_of_the_dual_do(seed):
    unary = np.random.default_rng(seed).normal(size=(5, 4))
    problem = sm.Problem(unary, [sm.GridCut((5, 4), 0.3)])
    result = sm.minimize(problem, "smoothed_lovasz", max_passes=2_000)
    assert result.value == pytest.approx(sm.minimize(problem, "max_flow").value, abs=1e-12)
    assert np.all(np.isfinite(result.history.smooth_gap))
    assert result.gap < 1e-3 * abs(result.value)
