"""Infinite weights: "p in S only with q in S", by enumeration, by PAV, and on a real pit."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import submin as sm
from submin.solvers import REGISTRY
from submin.terms.base.grid import grid_offsets
from submin.testing import brute_force

from .problems import all_sets

UNBOUNDED = [
    "frank_wolfe", "pairwise_frank_wolfe", "minimum_norm_point", "smoothed_lovasz", "schrijver",
]  # fmt: skip
ACCEPTING = [name for name in REGISTRY if name not in UNBOUNDED]
SHAPES = [(4,), (6,), (2, 3), (3, 2), (2, 2, 2), (2, 4)]
KINDS = ["cut", "grid", "hyperedge", "mixture"]


def weights(rng, shape, integers):
    """Finite and infinite weights, of either precision."""
    finite = rng.integers(0, 6, shape) if integers else 5.0 * rng.random(shape)
    chosen = np.where(rng.random(shape) < 0.35, inf, finite)
    return chosen.astype(rng.choice([np.float64, np.float32]))


def random_cut(rng, n, integers):
    count = int(rng.integers(1, 2 * n))
    tails = rng.integers(0, n, count)
    heads = (tails + rng.integers(1, n, count)) % n
    back = [None, 0.0, weights(rng, count, integers)][rng.integers(3)]
    return sm.Cut(tails, heads, weights(rng, count, integers), back)


def random_grid(rng, shape, integers):
    connectivity = int(rng.choice({1: [2], 2: [4, 8], 3: [6, 18, 26]}[len(shape)]))
    overlaps = [
        tuple(max(0, length - abs(step)) for length, step in zip(shape, offset, strict=True))
        for offset in grid_offsets(len(shape), connectivity)
    ]
    out, back = ([weights(rng, overlap, integers) for overlap in overlaps] for _ in range(2))
    if rng.random() < 0.3:
        out[0] = inf
    return sm.GridCut(shape, out, connectivity, back)


def random_hyperedges(rng, n, integers):
    count = int(rng.integers(1, 4))
    tails, heads = (
        [rng.permutation(n)[: rng.integers(1, 5)] for _ in range(count)] for _ in range(2)
    )
    own = weights(rng, count, integers)
    if rng.random() < 0.3:
        return sm.Hyperedge(*sm.list_groups(tails), own)
    return sm.Hyperedge.directed(*sm.list_groups(tails), *sm.list_groups(heads), own)


def random_data(seed, kind):
    """Costs, some of them hard constraints, and terms; whole numbers for even seeds."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    integers, shape = seed % 2 == 0, SHAPES[rng.integers(len(SHAPES))]
    n = int(np.prod(shape))
    terms = {
        "cut": lambda: [random_cut(rng, n, integers)],
        "grid": lambda: [random_grid(rng, shape, integers)],
        "hyperedge": lambda: [random_hyperedges(rng, n, integers)],
        "mixture": lambda: [
            random_hyperedges(rng, n, integers),
            random_cut(rng, n, integers),
            random_grid(rng, shape, integers),
        ],
    }[kind]()
    unary = rng.integers(-9, 10, shape) if integers else 5.0 * rng.normal(size=shape)
    signs = rng.choice([-inf, inf], shape)
    return np.where(rng.random(shape) < 0.12 * (seed % 3), signs, unary), terms


def definition(term, inside):
    """The sum over edges or hyperedges, one after the other."""
    total = 0.0
    if isinstance(term, sm.Hyperedge):
        roles = np.broadcast_to(term.roles, term.members.shape)
        for group, weight in enumerate(term.weights.tolist()):
            own = slice(*term.pointers[group : group + 2])
            members = inside[term.members[own]]
            tails, heads = members[roles[own] & 1 != 0], members[roles[own] & 2 != 0]
            total += weight if tails.any() and not heads.all() else 0.0
        return total
    for tail, head, out, back in zip(*term.edge_list(), *term.weights_by_edge(), strict=True):
        total += out if inside[tail] and not inside[head] else 0.0
        total += back if inside[head] and not inside[tail] else 0.0
    return total


def enumerated(unary, terms):
    """F of all sets, shape (2^n,)."""
    flat, sets = unary.ravel(), all_sets(unary.size)
    values = np.array([sum(definition(term, inside) for term in terms) for inside in sets])
    values += (sets & np.isfinite(flat)) @ np.where(np.isfinite(flat), flat, 0.0)
    broken = sets[:, np.isposinf(flat)].any(axis=1) | ~sets[:, np.isneginf(flat)].all(axis=1)
    return np.where(broken, inf, values)


def minimisers(values, n):
    """The smallest and the largest of the sets of least value."""
    best = all_sets(n)[values <= values.min() + 1e-9]
    return best.all(axis=0), best.any(axis=0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(40))
def test_against_all_sets(seed, kind):
    """Values, both extreme minimisers, a proof, and a minor; or constraints that contradict."""
    unary, terms = random_data(seed, kind)
    values = enumerated(unary, terms)
    if np.isinf(values.min()):
        with pytest.raises(ValueError, match="the constraints contradict"):
            sm.Problem(unary, terms)
        return
    problem = sm.Problem(unary, terms)
    given = np.array([problem.evaluate(inside) for inside in all_sets(problem.n)])
    np.testing.assert_allclose(given, values, rtol=1e-12, atol=1e-12)
    smallest, largest = minimisers(values, problem.n)
    enumeration = brute_force(problem)
    np.testing.assert_array_equal(enumeration.smallest.ravel(), smallest)
    np.testing.assert_array_equal(enumeration.largest.ravel(), largest)
    for solver, expected in [
        (sm.MaxFlow(), smallest),
        (sm.MaxFlow(largest=True), largest),
        (sm.SubmodularFlow(), smallest),
    ]:
        result = sm.minimize(problem, solver)
        np.testing.assert_array_equal(result.minimizer.ravel(), expected)
        assert result.certificate.closed
        assert result.status is sm.Status.OPTIMAL or seed % 2
        assert sm.verify(problem, result) == result.certificate
    check_minor(problem, values.min(), sm.screen(problem))


def check_minor(problem, minimum, screened):
    """Fixing what is screened keeps the minimum, with what infinite weights tie to it."""
    if (screened.inside | screened.outside).all():
        assert problem.evaluate(screened.inside) == pytest.approx(minimum, abs=1e-9)
        return
    minor = problem.minor(*screened)
    found = sm.minimize(minor.problem)
    assert found.value == pytest.approx(minimum, abs=1e-9)
    assert problem.evaluate(minor.lift(found.minimizer)) == pytest.approx(minimum, abs=1e-9)


@pytest.mark.parametrize("name", ACCEPTING)
@pytest.mark.parametrize("kind", KINDS)
def test_all_solvers_that_take_them(name, kind):
    for seed in range(6):
        unary, terms = random_data(seed, kind)
        values = enumerated(unary, terms)
        if np.isinf(values.min()):
            continue
        problem = sm.Problem(unary, terms)
        result = sm.minimize(problem, name, max_passes=5000)
        assert result.value == pytest.approx(values.min(), abs=1e-6)
        assert result.lower_bound <= values.min() + 1e-9
        assert result.certificate.closed or result.gap < 1e-6


@pytest.mark.parametrize("name", UNBOUNDED)
def test_solvers_of_bounded_polytopes_name_the_term(name):
    terms = [sm.Cut([0], [1], 1.0), sm.Cut([0, 1], [1, 2], [1.0, inf], 0.0)]
    problem = sm.Problem([1.0, -2.0, 1.0], terms)
    with pytest.raises(TypeError, match=r"terms\[1\], a Cut, has infinite weights; MaxFlow"):
        sm.minimize(problem, name)


def test_together():
    """Infinite weights both ways, and an undirected hyperedge, keep elements on one side."""
    for term in (sm.Cut([0], [2], inf), sm.Hyperedge([0, 2], [0, 2], inf)):
        problem = sm.Problem([-3.0, 1.0, 2.0], [term])
        assert problem.evaluate([True, False, False]) == inf
        result = sm.minimize(problem)
        assert result.minimizer.tolist() == [True, False, True]
        assert (result.value, result.status) == (-1.0, sm.Status.OPTIMAL)


def test_closure_of_a_published_shape():
    """Seven jobs, of which some need others: all are chosen."""
    profits = np.array([12.5, -7.25, 8.0, -4.5, -6.0, 3.3, -1.1])
    arcs = sm.Cut([0, 0, 2, 2, 5, 5], [1, 3, 3, 4, 6, 4], inf, reverse_weights=0.0)
    result = sm.minimize(sm.Problem(-profits, [arcs]))
    assert result.value == pytest.approx(-4.95)
    assert result.minimizer.all()
    assert result.certificate.closed


CHAIN = sm.Cut([0, 1, 2], [1, 2, 3], inf, reverse_weights=0.0)


def test_constraints_that_contradict_name_their_elements():
    with pytest.raises(ValueError, match="want element 1 in S only with element 3"):
        sm.Problem([0.0, -inf, 0.0, inf], [CHAIN])
    assert sm.minimize(sm.Problem([0.0, inf, 0.0, -inf], [CHAIN])).minimizer[3]


def test_elements_that_are_implied():
    """An element kept in S takes all that it needs with it, whatever that costs."""
    problem = sm.Problem([7.0, -inf, 1e9, 2.0], [CHAIN])
    for name in ("max_flow", "accelerated_sweeps"):
        result = sm.minimize(problem, name)
        assert result.minimizer.tolist() == [False, True, True, True]
        assert (result.value, result.gap) == (1e9 + 2.0, 0.0)
    forbidden = sm.minimize(sm.Problem([-5.0, -1e9, inf, -2.0], [CHAIN]))
    assert (forbidden.minimizer.tolist(), forbidden.value) == ([False, False, False, True], -2.0)


def test_minors_fix_what_is_tied_to_the_fixed():
    problem = sm.Problem([-1.0, 2.0, 3.0, 4.0], [CHAIN])
    minor = problem.minor(inside=[False, True, False, False])
    assert minor.elements.tolist() == [0]
    assert minor.problem.constant == 9.0
    for inside, outside in (([0, 1, 0, 0], [0, 0, 0, 1]), ([1, 0, 0, 0], [0, 1, 0, 0])):
        masks = np.array(inside, dtype=bool), np.array(outside, dtype=bool)
        with pytest.raises(ValueError, match="in S only with"):
            problem.minor(*masks)


def test_values_by_hand():
    """Lovász extensions are infinite where x falls along a precedence, and finite elsewhere."""
    arcs = sm.Cut([0, 1], [1, 2], [inf, 2.0], reverse_weights=[0.5, 0.0])
    edges = sm.Hyperedge.directed([0, 2, 3], [0, 1, 0], [0, 1, 2], [2, 1], [inf, 2.0])
    grid = sm.GridCut(3, [np.array([inf, 2.0])], reverse_weights=[np.array([0.5, 0.0])])
    for term in (arcs, grid):
        assert term.lovasz([3.0, 3.0, 1.0]) == 4.0
        assert term.lovasz([1.0, 3.0, 3.0]) == 1.0
        assert term.lovasz([3.0, 1.0, 1.0]) == inf
        assert term.granularity() == 0.5
        assert term.violation(np.array([1e6, 0.0])).total == 0.0
        assert term.violation(np.array([-1.0, 3.0])).total == 1.5
        low, high = term.marginal_range(3)
        assert (low.tolist(), high.tolist()) == ([-0.5, -inf, -2.0], [inf, 2.5, 0.0])
    assert edges.lovasz([3.0, 1.0, 3.0]) == 4.0
    assert edges.lovasz([3.0, 1.0, 2.0]) == inf
    assert edges.granularity() == 2.0


def test_weights_that_change_in_place_are_seen():
    own = np.array([inf, 1.0])
    problem = sm.Problem([-3.0, 1.0, 1.0], [sm.Cut([0, 1], [1, 2], own, reverse_weights=0.0)])
    assert sm.minimize(problem).value == -1.0
    own[:] = 1.0, inf
    assert sm.minimize(problem).value == -2.0
    own[1] = np.nan
    with pytest.raises(ValueError, match=r"weights\[1\] is nan"):
        sm.minimize(problem)


@pytest.mark.parametrize("kind", KINDS)
def test_files(kind, tmp_path):
    unary, terms = random_data(4, kind)
    problem = sm.Problem(np.where(np.isinf(unary), 1.0, unary), terms)
    problem.save(tmp_path / "problem.npz")
    again, result = sm.Problem.load(tmp_path / "problem.npz"), sm.minimize(problem)
    assert sm.verify(again, result) == result.certificate
    assert "infinite" not in sm.describe(again)
    for inside in all_sets(problem.n):
        assert problem.evaluate(inside) == again.evaluate(inside)


def pooled(values):
    """The nearest vector that does not fall: adjacent violators are pooled."""
    means, counts = [], []
    for value in values:
        means.append(value)
        counts.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            mean, count = means.pop(), counts.pop()
            joined = counts[-1] + count
            means[-1] = (means[-1] * counts[-1] + mean * count) / joined
            counts[-1] = joined
    return np.repeat(means, counts)


@pytest.mark.parametrize("n", [1, 2, 50, 2000])
@pytest.mark.parametrize("family", ["grid", "list", "against"])
def test_a_chain_is_isotonic_regression(n, family):
    y = 0.01 * np.arange(n) + np.random.default_rng(1).normal(size=n)
    nodes = np.arange(n)
    term = {
        "grid": lambda: sm.GridCut(n, inf, reverse_weights=0.0),
        "list": lambda: sm.Cut(nodes[:-1], nodes[1:], inf, reverse_weights=0.0),
        "against": lambda: sm.Cut(nodes[1:], nodes[:-1], 0.0, reverse_weights=inf),
    }[family]()
    result = sm.prox(sm.Problem(-y, [term]))
    assert result.status is sm.Status.CONVERGED
    assert len(result.history.passes) <= 3
    np.testing.assert_allclose(result.x, pooled(y), rtol=0, atol=1e-10)
    assert np.all(np.diff(result.x) >= 0.0)
    assert sm.verify(sm.Problem(-y, [term]), result) == result.point


def test_isotonic_regression_of_scikit_learn():
    isotonic = pytest.importorskip("sklearn.isotonic")
    y = 0.01 * np.arange(400) + np.random.default_rng(2).normal(size=400)
    expected = isotonic.IsotonicRegression().fit_transform(np.arange(400), y)
    result = sm.prox(sm.Problem(-y, [sm.GridCut(400, inf, reverse_weights=0.0)]))
    np.testing.assert_allclose(result.x, expected, rtol=0, atol=1e-10)


def min_max(y):
    """Isotonic regression on a partial order: max over upper sets of min over lower ones."""
    n, sets = y.size, all_sets(y.size)
    rows, columns = np.divmod(np.arange(n), y.shape[1])
    above = (rows[:, None] <= rows) & (columns[:, None] <= columns)
    upper = [inside for inside in sets if not (inside[:, None] & above & ~inside).any()]
    x = np.empty(n)
    for element in range(n):
        least = []
        for up in (inside for inside in upper if inside[element]):
            lower = (up & ~inside for inside in upper if not inside[element])
            least.append(min(y.ravel()[both].mean() for both in lower if both[element]))
        x[element] = max(least)
    return x.reshape(y.shape)


@pytest.mark.parametrize("name", ["auto", "rcdm", "acdm", "ap", "cyclic_sweeps"])
@pytest.mark.parametrize("blocks", ["auto", "matchings"])
def test_isotonic_regression_in_two_dimensions(name, blocks):
    """Against Robertson's formula of means over upper and lower sets."""
    y = np.random.default_rng(5).normal(size=(3, 4))
    problem = sm.Problem(-y, [sm.GridCut((3, 4), inf, reverse_weights=0.0)])
    result = sm.prox(problem, name, blocks=blocks, tol=1e-14, max_passes=20_000)
    assert result.point.distance < 1e-6
    np.testing.assert_allclose(result.x, min_max(y), rtol=0, atol=1e-6)


@pytest.mark.parametrize("scale", [1, 1000, 10**6])
@pytest.mark.parametrize("family", ["grid", "list"])
def test_ultimate_pit(data_folder, scale, family):
    """Bauxite: a block needs the nine above it; three codes agree on the value, two on the size."""
    values = np.loadtxt(data_folder / "mining" / "bauxitemed.dat").reshape(26, 120, 120)
    offsets = grid_offsets(3, 26)
    above = [inf if offset[0] == 1 else 0.0 for offset in offsets]
    term = sm.GridCut(values.shape, above, connectivity=26, reverse_weights=0.0)
    if family == "list":
        (tails, heads), (out, _) = term.edge_list(), term.weights_by_edge()
        term = sm.Cut(tails[out > 0.0], heads[out > 0.0], inf, reverse_weights=0.0)
    problem = sm.Problem(-scale * values, [term])
    for largest, blocks in ((False, 77_677), (True, 125_024)):
        result = sm.minimize(problem, sm.MaxFlow(largest=largest))
        assert result.status is sm.Status.OPTIMAL
        assert result.value == -25_697_179.0 * scale
        assert result.minimizer.sum() == blocks
