"""Functions of one's own, and the minimum-norm point algorithm that projects the large ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin._typing import BoolArray, FloatArray
from submin.kernels import reference
from submin.terms.blocks.minimum_norm_point import Corral, nearest_point
from submin.terms.function import Function
from submin.terms.value_tables import greedy_vertices, subset_masks, subset_sums
from submin.testing import ConformanceError, brute_force, check_term

from .strategies import costs, functions, submodular_values


def iwata(n: int) -> Callable[[BoolArray], float]:
    """Iwata's function |S| |V - S| - sum over j in S of (5 j - 2 n), j = 1..n."""
    j = np.arange(1, n + 1)
    return lambda mask: float(mask.sum() * (n - mask.sum()) - (5 * j - 2 * n)[mask].sum())


def root(mask: BoolArray) -> float:
    return float(np.sqrt(mask.sum()))


def greedy_of(evaluate: Callable[[BoolArray], float], k: int) -> Callable[[FloatArray], FloatArray]:
    """Greedy vertices from values, written anew."""

    def greedy(weights: FloatArray) -> FloatArray:
        vertex, first = np.empty(k), np.zeros(k, dtype=bool)
        for element in sorted(range(k), key=lambda v: -weights[v]):
            before = evaluate(first)
            first[element] = True
            vertex[element] = evaluate(first) - before
        return vertex

    return greedy


def vertex_of(values: FloatArray) -> Callable[[FloatArray], FloatArray]:
    k = values.size.bit_length() - 1

    def vertex(weights: FloatArray) -> FloatArray:
        return greedy_vertices(values[None], np.argsort(np.argsort(-weights))[None])[0][:k]

    return vertex


@pytest.mark.parametrize(
    ("n", "minimum", "size"), [(10, -84, 7), (20, -301, 14), (50, -1751, 34), (100, -6834, 67)]
)
@pytest.mark.parametrize("split", [False, True], ids=["one function", "its modular part as unary"])
def test_iwata_function(n, minimum, size, split) -> None:
    if split:
        function = Function(range(n), lambda mask: float(mask.sum() * (n - mask.sum())))
        problem = sm.Problem(2.0 * n - 5.0 * np.arange(1, n + 1), [function])
    else:
        problem = sm.Problem(np.zeros(n), [Function(range(n), iwata(n))])
    result = sm.minimize(problem)
    assert result.value == minimum
    assert result.lower_bound == pytest.approx(minimum, rel=1e-9)
    assert result.minimizer.sum() == size
    assert result.certificate.closed


def test_iwata_minimiser_of_100_elements() -> None:
    result = sm.minimize(sm.Problem(np.zeros(100), [Function(range(100), iwata(100))]))
    np.testing.assert_array_equal(np.flatnonzero(result.minimizer) + 1, np.arange(34, 101))


def test_projection_onto_the_permutahedron() -> None:
    h = [-(z**2) / 2 + 4 * z + z / 2 for z in range(5)]
    values = np.array([h[mask.sum()] for mask in subset_masks(4)])
    target = np.array([3.0, 2.0, 5.0, 1.0])
    corral = nearest_point(vertex_of(values), target)
    np.testing.assert_allclose(corral.point, [3, 2, 4, 1], atol=1e-14)
    term = Function(range(4), lambda mask: h[int(mask.sum())])
    (block,) = term.blocks("auto", 1)
    np.testing.assert_allclose(block.project(np.zeros(4), -target, 1.0), [3, 2, 4, 1], atol=1e-14)


def test_greedy_vertex_in_the_order_of_the_weights() -> None:
    h = (0.0, 40.0, 70.0, 90.0, 100.0)
    term = Function(range(4), lambda mask: h[int(mask.sum())])
    vertex = term.greedy(np.argsort(np.argsort([-3, -2, -4, -1])).astype(np.int32))
    np.testing.assert_array_equal(vertex, [30, 20, 40, 10])


@given(submodular_values(6), st.lists(costs, min_size=6, max_size=6), st.sampled_from([1.0, 1e3]))
def test_nearest_point_against_decomposition(values, target, size) -> None:
    target = size * np.array(target)
    corral = nearest_point(vertex_of(values), target)
    scale = 1.0 + np.abs(values).max() + np.abs(target).max()
    exact = np.empty(6)
    reference.table_project(
        np.arange(6, dtype=np.int32)[None], values[None], np.zeros(1, dtype=np.int32),
        np.zeros(6), -target, 1.0, exact, 1,
    )  # fmt: skip
    np.testing.assert_allclose(corral.point, exact, rtol=0.0, atol=1e-11 * scale)
    assert corral.weights.min() > 0.0
    assert corral.weights.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.max(subset_sums(corral.point[None])[0] - values) <= 1e-12 * scale


@given(submodular_values(6), st.lists(st.lists(costs, min_size=6, max_size=6), min_size=2))
@settings(max_examples=50)
def test_a_kept_corral_gives_the_same_points(values, targets) -> None:
    vertex, corral = vertex_of(values), None
    for target in targets:
        corral = nearest_point(vertex, np.array(target), corral)
        fresh = nearest_point(vertex, np.array(target))
        scale = 1.0 + np.abs(values).max() + np.abs(target).max()
        np.testing.assert_allclose(corral.point, fresh.point, rtol=0.0, atol=1e-11 * scale)


def test_a_corral_with_repeated_vertices_does_no_harm() -> None:
    values = np.array([np.sqrt(mask.sum()) for mask in subset_masks(5)])
    vertex, target = vertex_of(values), np.array([0.3, 0.1, 0.5, 0.2, 0.4])
    expected = nearest_point(vertex, target)
    corners = np.array([vertex(w) for w in np.eye(5)])
    repeated = Corral(np.vstack([corners, corners, corners]), np.full(15, 1.0 / 15.0))
    found = nearest_point(vertex, target, repeated)
    np.testing.assert_allclose(found.point, expected.point, rtol=0.0, atol=1e-12)


def test_a_kept_corral_saves_calls() -> None:
    n, random, calls = 40, np.random.default_rng(0), [0]
    weights = np.triu(random.random((n, n)) < 0.2, 1) * random.random((n, n))

    def cut(mask: BoolArray) -> float:
        return float(weights[mask][:, ~mask].sum() + weights[~mask][:, mask].sum())

    def vertex(order_weights: FloatArray) -> FloatArray:
        calls[0] += 1
        return greedy_of(cut, n)(order_weights)

    target = 5.0 * random.normal(size=n)
    corral = nearest_point(vertex, target)
    cold, calls[0] = calls[0], 0
    nearest_point(vertex, target, corral)
    assert calls[0] == 1 < cold


@pytest.mark.parametrize("seed", range(3))
def test_a_target_inside_ends_without_a_stall(seed) -> None:
    """With no distance left, all that is left of the gap is rounding: about k vertices suffice."""
    size, random, calls = 64, np.random.default_rng(seed), [0]
    gains = 2.0 * np.diff(np.sqrt(np.arange(size + 1.0)))

    def vertex(weights: FloatArray) -> FloatArray:
        calls[0] += 1
        found = np.empty(size)
        found[np.argsort(-weights, kind="stable")] = gains
        return found

    target = np.mean([random.permutation(gains) for _ in range(40)], axis=0)
    np.testing.assert_allclose(nearest_point(vertex, target).point, target, rtol=0.0, atol=1e-14)
    assert calls[0] <= size + 16


def test_a_function_with_noise_ends_with_a_feasible_point() -> None:
    random = np.random.default_rng(0)
    noise = 1e-7 * random.normal(size=1 << 10)
    values = np.array([np.sqrt(mask.sum()) for mask in subset_masks(10)]) + noise
    values[0] = 0.0
    corral = nearest_point(vertex_of(values), random.normal(size=10))
    assert np.max(subset_sums(corral.point[None])[0] - values) <= 1e-5


@pytest.mark.parametrize("k", [4, 9], ids=["tabulated", "by vertices"])
@pytest.mark.parametrize("given_by", ["evaluate", "greedy", "both", "value", "vertex", "batched"])
def test_each_way_of_giving_a_function_conforms(k, given_by) -> None:
    random = np.random.default_rng(k)
    linear, sizes = random.normal(size=k), random.random(k)
    support = random.permutation(k)

    def evaluate(mask: BoolArray) -> float:
        return float(linear[mask].sum() + np.sqrt(sizes[mask].sum()))

    class ByValue(Function):
        def value(self, members: BoolArray) -> float:
            return evaluate(members)

    class ByVertex(Function):
        def vertex(self, weights: FloatArray) -> FloatArray:
            return greedy_of(evaluate, k)(weights)

    greedy = greedy_of(evaluate, k)
    term = {
        "evaluate": lambda: Function(support, evaluate),
        "greedy": lambda: Function(support, greedy=greedy),
        "both": lambda: Function(support, evaluate, greedy),
        "value": lambda: ByValue(support),
        "vertex": lambda: ByVertex(support),
        "batched": lambda: Function.batched(
            support, lambda sets: sets @ linear + np.sqrt(sets @ sizes)
        ),
    }[given_by]()
    check_term(term)
    mask = random.random(k) < 0.5
    assert term.evaluate(mask) == pytest.approx(evaluate(mask[support]), abs=1e-13)


@given(functions(9), st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_random_functions_conform(term, seed) -> None:
    check_term(term, n=9, seed=seed)


@given(functions(10), st.lists(costs, min_size=10, max_size=10))
@settings(max_examples=50)
def test_minimum_against_enumeration(term, unary) -> None:
    problem = sm.Problem(unary, [term])
    result, known = sm.minimize(problem, max_passes=200), brute_force(problem)
    assert result.value == pytest.approx(known.minimum, abs=1e-8)
    assert result.lower_bound <= known.minimum + 1e-9
    assert result.gap <= 1e-8


def test_violation_of_a_large_function_is_the_maximum() -> None:
    random = np.random.default_rng(1)
    term = Function(range(11), lambda mask: float(np.sqrt(mask @ np.arange(1.0, 12.0))))
    masks = subset_masks(11)
    values = np.array([term.evaluate(mask) for mask in masks])
    for size in (0.0, 0.1, 1.0, 30.0):
        dual = size * random.normal(size=11)
        found = term.violation(dual)
        assert found.total == pytest.approx(np.max(masks @ dual - values), abs=1e-12 * (1 + size))
        assert 0.0 < found.error < 1e-11 * (1.0 + size)


@pytest.mark.parametrize("k", [3, 9])
def test_not_submodular_is_refused_with_the_sets(k) -> None:
    with pytest.raises(ValueError, match=r"F is not submodular: .*\{"):
        Function(range(5, 5 + k), lambda mask: float(mask.sum() ** 2))


def test_a_rare_violation_among_eight_elements_is_found() -> None:
    def almost(mask: BoolArray) -> float:
        lowered = np.array_equal(np.flatnonzero(mask), [0, 3, 5])
        return float(np.sqrt(mask.sum())) - 0.5 * lowered

    with pytest.raises(ValueError, match=r"not submodular: .*F\(\{(10, 13, 15|.*)\}\)"):
        Function(range(10, 18), almost)


@pytest.mark.parametrize("k", [3, 9])
@pytest.mark.parametrize(
    ("evaluate", "message"),
    [
        (
            lambda mask: 1.0 + mask.sum(),
            "F is 1.0 at the empty set, a mask of .*a constant goes to the problem",
        ),
        (lambda mask: float("nan") if mask[1] else 0.0, r"F is nan at the set \{.*21.*\}"),
        (lambda mask: float("inf") if mask[1] else 0.0, r"F is inf at the set \{.*21.*\}"),
        (lambda mask: mask.astype(float), r"array of shape \(\d,\) for the set \{\}"),
        (lambda mask: None, r"evaluate returned a NoneType for the set \{\}"),
        (lambda mask: "no", r"evaluate returned a str for the set \{\}"),
    ],
)
def test_bad_values_are_refused(evaluate, message, k) -> None:
    with pytest.raises(ValueError, match=message):
        Function(range(20, 20 + k), evaluate)


@pytest.mark.parametrize("k", [3, 9])
@pytest.mark.parametrize(
    ("greedy", "message"),
    [
        (lambda w: w[:2], r"greedy returned an array of shape \(2,\) for the weights \(0"),
        (lambda w: 0.0 * w + np.nan, "not finite for element 20"),
        (lambda w: np.abs(w), "greedy is not the greedy vertex of F|not submodular"),
        (lambda w: np.arange(w.size)[np.argsort(np.argsort(-w))], "not submodular|not the greedy"),
    ],
)
def test_bad_vertices_are_refused(greedy, message, k) -> None:
    with pytest.raises(ValueError, match=message):
        Function(range(20, 20 + k), greedy=greedy)


def test_values_and_vertices_that_do_not_agree_are_refused() -> None:
    other = greedy_of(lambda mask: 2.0 * root(mask), 9)
    with pytest.raises(ValueError, match=r"greedy is not the greedy vertex of F: .* sums to 6"):
        Function(range(9), root, other)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 1],), TypeError, "needs evaluate or greedy"),
        (([0, 1, 0], root), ValueError, r"support\[2\] is 0: .* once"),
        (([], root), ValueError, "support is empty"),
        (([0, -2], root), ValueError, r"support\[1\] is -2"),
        (([0.5], root), TypeError, "support must hold integers"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        Function(*arguments)


class DatabaseGoneError(Exception):
    pass


def test_an_exception_of_user_code_goes_through_untouched() -> None:
    down = [False]

    def evaluate(mask: BoolArray) -> float:
        if down[0]:
            raise DatabaseGoneError("no answer")
        return root(mask)

    problem = sm.Problem(np.linspace(-1.0, 1.0, 9), [Function(range(9), evaluate)])
    down[0] = True
    with pytest.raises(DatabaseGoneError, match=r"^no answer$"):
        sm.minimize(problem)
    with pytest.raises(DatabaseGoneError):
        Function(range(3), evaluate)


def test_small_functions_are_called_in_the_constructor_only() -> None:
    calls = [0]

    def evaluate(mask: BoolArray) -> float:
        calls[0] += 1
        return root(mask)

    term = Function(range(6), evaluate)
    assert calls[0] <= 2**6 + 1
    made = calls[0]
    sm.minimize(sm.Problem(np.linspace(-1.0, 1.0, 6), [term]))
    assert calls[0] == made


@pytest.mark.parametrize(("k", "batch", "each"), [(20, 2**22, 1), (20, 60, 7)])
def test_a_batched_function_is_called_once_for_a_vertex(monkeypatch, k, batch, each) -> None:
    monkeypatch.setattr("submin.terms.function.BATCH_ENTRIES", batch)
    calls: list[tuple[int, ...]] = []

    def evaluate(sets: BoolArray) -> FloatArray:
        calls.append(sets.shape)
        return np.sqrt(sets.sum(axis=1))

    term = Function.batched(range(k), evaluate)
    calls.clear()
    vertex = term.greedy(np.arange(k, dtype=np.int32)[::-1].copy())
    np.testing.assert_allclose(vertex, np.diff(np.sqrt(np.arange(k + 1.0)))[::-1], rtol=1e-14)
    assert len(calls) == each
    assert sum(rows for rows, _ in calls) == k
    calls.clear()
    assert term.evaluate(np.arange(k) < 4) == 2.0
    assert calls == [(1, k)]


def test_a_small_batched_function_is_tabulated_in_one_call() -> None:
    calls: list[int] = []

    def evaluate(sets: BoolArray) -> FloatArray:
        calls.append(len(sets))
        return np.sqrt(sets.sum(axis=1))

    Function.batched(range(6), evaluate)
    assert sorted(calls) == [1, 2**6]


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize(
    ("evaluate", "message"),
    [
        (lambda sets: sets.sum(), r"returned a int for 1 sets: it must return one number for each"),
        (lambda sets: sets.astype(float), r"an array of shape \(1, \d+\) for 1 sets"),
        (lambda sets: sets.sum(axis=0), r"an array of shape \(\d+,\) for 1 sets"),
        (lambda sets: [None] * len(sets), "must return one number for each row"),
        (lambda sets: np.where(sets[:, 1], np.nan, 0.0), r"F is nan at the set \{.*21.*\}"),
        (lambda sets: 1.0 + sets.sum(axis=1), "F is 1.0 at the empty set"),
        (lambda sets: sets.sum(axis=1) ** 2.0, r"F is not submodular: .*\{"),
    ],
)
def test_bad_batches_are_refused(evaluate, message, k) -> None:
    with pytest.raises(ValueError, match=message):
        Function.batched(range(20, 20 + k), evaluate)


def test_user_code_can_not_change_what_it_is_given() -> None:
    def evaluate(mask: BoolArray) -> float:
        value = root(mask)
        mask[:] = True
        return value

    def greedy(weights: FloatArray) -> FloatArray:
        order = np.argsort(-weights)
        weights[order] = np.diff(np.sqrt(np.arange(10.0)))
        return weights

    def evaluate_many(sets: BoolArray) -> FloatArray:
        values = np.sqrt(sets.sum(axis=1))
        sets[:] = True
        return values

    for term in (
        Function(range(9), evaluate),
        Function(range(9), greedy=greedy),
        Function.batched(range(9), evaluate_many),
    ):
        check_term(term)


def test_solves_repeat_bit_by_bit_on_the_same_term() -> None:
    random = np.random.default_rng(5)
    sizes = random.random(20)
    term = Function(range(20), lambda mask: float(np.sqrt(mask @ sizes)))
    problem = sm.Problem(random.normal(size=20) * 0.3, [term, sm.GridCut(20, 0.1)])
    first, second = sm.minimize(problem), sm.minimize(problem)
    np.testing.assert_array_equal(first.x, second.x)
    np.testing.assert_array_equal(first.dual[0], second.dual[0])
    assert first.certificate == second.certificate


def test_every_name_of_a_decomposition_is_one_block() -> None:
    term = Function(range(9), root)
    for name in ("auto", "functions", "matchings", "chains"):
        assert len(term.blocks(name, 1)) == 1
    with pytest.raises(ValueError, match="is not a decomposition of Function"):
        term.blocks("rows", 1)


def test_a_function_says_that_it_can_not_be_saved(tmp_path) -> None:
    problem = sm.Problem(np.zeros(3), [Function(range(3), root)])
    with pytest.raises(TypeError, match="holds Python code and can not be saved"):
        problem.save(tmp_path / "problem.npz")


def test_integer_functions_close_the_gap_by_granularity() -> None:
    term = Function(range(5), lambda mask: int(mask.any()))
    assert term.granularity() == 1.0
    assert Function(range(9), lambda mask: int(mask.any())).granularity() == 0.0


def test_a_function_that_changes_later_is_caught_by_the_suite() -> None:
    factor = [1.0]
    term = Function(range(9), lambda mask: factor[0] * root(mask))
    factor[0] = -1.0
    with pytest.raises(ConformanceError, match="the law of submodularity"):
        check_term(term)
