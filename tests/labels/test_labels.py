"""What ``minimize_labels`` promises beside its answers: limits, bits, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.labels import moves
from submin.solve.certificate import Status


@pytest.fixture(scope="module")
def picture():
    """Costs of five labels of a noisy picture of 80 by 120, and a grid."""
    rng = np.random.default_rng(0)
    truth = (np.indices((80, 120)) // 30).sum(axis=0) % 5
    noisy = truth + rng.normal(size=truth.shape)
    return (noisy - np.arange(5)[:, None, None]) ** 2, sm.GridCut((80, 120), 1.2)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_bits(picture, kind):
    costs, grid = picture[0].astype(kind), picture[1]
    first, *others = (
        sm.minimize_labels(costs, [grid], sm.labels.Linear(cap=2), threads=threads)
        for threads in (1, 2, 5)
    )
    assert first.gap <= 0.005 * first.value
    for other in others:
        assert np.array_equal(first.labels, other.labels)
        assert (first.value, first.lower_bound) == (other.value, other.lower_bound)
        assert np.array_equal(first.dual.at_tail, other.dual.at_tail)


def test_a_grid_and_its_edges_have_one_energy(picture):
    costs, grid = picture
    graph = sm.Cut(*grid.edge_list(), 1.2)
    one, two = sm.LabelProblem(costs, [grid]), sm.LabelProblem(costs, [graph])
    labels = np.argmin(costs, axis=0)
    assert one.evaluate(labels) == two.evaluate(labels)
    found = [sm.minimize_labels(problem).value for problem in (one, two)]
    assert found[0] == pytest.approx(found[1], rel=5e-3)


def test_integers_are_proved_to_be_optimal():
    rng = np.random.default_rng(3)
    costs = rng.integers(0, 9, (3, 12, 12)).astype(float)
    result = sm.minimize_labels(costs, [sm.GridCut((12, 12), 1.0)], relative_tol=0.0)
    assert result.value == round(result.value)
    if result.status is Status.OPTIMAL:
        assert result.gap == 0.0
        assert result.lower_bound == result.value
    assert result.gap < 3.0


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e24])
def test_scaled_costs_have_scaled_answers(picture, scale):
    costs, grid = picture[0][:, :20, :30], sm.GridCut((20, 30), 1.2)
    plain = sm.minimize_labels(costs, [grid])
    scaled = sm.minimize_labels(scale * costs, [sm.GridCut((20, 30), 1.2 * scale)])
    assert scaled.value == pytest.approx(scale * plain.value, rel=0.01)
    assert scaled.lower_bound <= scaled.value
    assert scaled.gap <= 0.01 * scaled.value


def test_limits_leave_an_answer_with_its_bound(picture):
    costs, grid = picture
    cheapest = sm.LabelProblem(costs, [grid]).evaluate(np.argmin(costs, axis=0))
    none = sm.minimize_labels(costs, [grid], max_passes=0)
    assert none.value == cheapest
    assert none.passes == 0
    assert none.lower_bound <= costs.min(axis=0).sum() + 1e-9
    assert none.status is Status.STOPPED
    few = sm.minimize_labels(costs, [grid], relative_tol=0.0, max_passes=7)
    assert few.passes <= 7
    assert few.value < cheapest
    timeless = sm.minimize_labels(costs, [grid], time_limit=0.0)
    assert timeless.value == cheapest


def test_ctrl_c_keeps_the_best_labels(picture, monkeypatch):
    costs, grid = picture
    improve = moves.improve

    def interrupted(*arguments):
        for k, moved in enumerate(improve(*arguments)):
            if k == 2:
                raise KeyboardInterrupt
            yield moved

    monkeypatch.setattr(moves, "improve", interrupted)
    result = sm.minimize_labels(costs, [grid])
    assert result.interrupted
    assert result.value == sm.LabelProblem(costs, [grid]).evaluate(result.labels)
    assert result.lower_bound < result.value


def test_a_start_is_never_made_worse(picture):
    costs, grid = picture
    good = sm.minimize_labels(costs, [grid])
    again = sm.minimize_labels(costs, [grid], start=good.labels, max_passes=0)
    assert again.value == good.value


def test_verification_computes_the_certificate_anew(picture):
    costs, grid = picture
    problem = sm.LabelProblem(costs, [grid])
    result = sm.minimize_labels(problem)
    assert sm.labels.verify_labels(problem, result) == result.certificate
    worse = result.labels.copy()
    worse[0, 0] = (worse[0, 0] + 1) % 5
    assert sm.labels.verify_labels(problem, worse, result.dual).value > result.value
    with pytest.raises(TypeError, match="verify_labels"):
        sm.verify(problem, result)
    spoilt = result.dual.at_tail.copy()
    spoilt[3, 1] = np.nan
    dual = type(result.dual)(spoilt, result.dual.at_head)
    with pytest.raises(ValueError, match="not finite"):
        sm.labels.verify_labels(problem, worse, dual)
    short = type(result.dual)(result.dual.at_tail[:5], result.dual.at_head)
    with pytest.raises(ValueError, match="rows of shape"):
        sm.labels.verify_labels(problem, worse, short)


COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
CHAIN = sm.GridCut(3, 1.0)
UNEVEN = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), []), r"costs has shape \(3,\)"),
        ((np.zeros((0, 3)), []), r"costs has shape \(0, 3\)"),
        ((np.zeros((1001, 2)), []), "1001 labels"),
        ((np.where(COSTS == 2, np.nan, COSTS), []), r"costs\[0\]\[2\] is nan"),
        ((np.where(COSTS == 2, -np.inf, COSTS), []), r"costs\[0\]\[2\] is -inf"),
        ((np.where(COSTS == 2, 1e31, COSTS), []), r"costs\[0\]\[2\] is 1e\+31"),
        ((np.array([[1.0, np.inf], [0.0, np.inf]]), []), r"costs\[:, 1\] are all infinite"),
        ((COSTS, [sm.GridCut(4, 1.0)]), r"terms\[0\] has 4 elements, but costs has 3"),
        ((COSTS, [sm.Cut([0], [5], 1.0)]), r"terms\[0\] has 6 elements"),
        ((COSTS, [sm.GridCut(3, 1.0, reverse_weights=2.0)]), "one way and 2.0 the other"),
        ((COSTS, [sm.GridCut(3, np.inf)]), "must be finite"),
        ((COSTS, [sm.GridCut(3, 1e29)], 20.0 * (1 - np.eye(3))), "an edge costs up to"),
        ((COSTS, [CHAIN], UNEVEN), r"distance of terms\[0\]\[0, 2\] is 2.0 and .* is 3.0"),
        ((COSTS, [CHAIN], np.ones((3, 3))), r"\[0, 0\] is 1.0: .* itself must be 0"),
        ((COSTS, [CHAIN], np.eye(3) - 1), r"\[0, 1\] is -1.0: .* not below 0"),
        ((COSTS, [CHAIN], np.zeros((2, 2))), r"has shape \(2, 2\), but there are 3 labels"),
        ((COSTS, [(CHAIN, np.zeros((4, 4)))]), r"has shape \(4, 4\)"),
        ((COSTS, [sm.labels.RobustPotts([0, 1], [7], 1.0, 1.0)]), r"members\[0\] is 7"),
    ],
)
def test_values_that_do_not_fit_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        sm.minimize_labels(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sm.minimize_labels(COSTS, [sm.Hyperedge([0, 2], [0, 1], 1.0)]), "is a Hyperedge"),
        (lambda: sm.minimize_labels(COSTS, [CHAIN], "potts"), "must hold real numbers"),
        (lambda: sm.minimize_labels([["a"]]), "costs must hold real numbers"),
        (lambda: sm.minimize_labels(COSTS, start=[0.5, 1, 1]), "start must hold integers"),
        (lambda: sm.labels.Linear(cap="2"), "cap is '2'"),
        (lambda: sm.minimize_labels(np.ma.masked_array(COSTS)), "masked array"),
    ],
)
def test_values_of_other_types_are_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("start", "message"),
    [([0, 1], "shape"), ([0, 1, 3], r"start\[2\] is 3"), ([0, 0, 0], r"start\[1\] is 0: .* forb")],
)
def test_starts_that_do_not_fit(start, message):
    costs = COSTS.copy()
    costs[0, 1] = np.inf
    with pytest.raises(ValueError, match=message):
        sm.minimize_labels(costs, [CHAIN], start=start)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [0, 1], 1.0, 1.0), "start with 0"),
        (([0, 2, 1], [0], 1.0, 1.0), "must not decrease"),
        (([0, 3], [0, 1], 1.0, 1.0), "ends with 3, but there are 2 members"),
        (([0, 2], [0, 1], [1.0, 2.0], 1.0), r"weights has shape \(2,\)"),
        (([0, 2], [0, 1], -1.0, 1.0), "weights is -1.0"),
    ],
)
def test_groups_that_do_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        sm.labels.RobustPotts(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0,), "costs is -1.0"),
        (([1.0, 2.0],), r"terms\[0\] has 2 costs, but there are 3 labels"),
        (([1.0, 2.0], [[0]]), r"costs has shape \(2,\); it must be one number, or \(1,\)"),
        ((1.0, [[]]), r"subsets\[0\] must list one label or more"),
        ((1.0, [[0, 3]]), r"subsets\[0\] of terms\[0\]\[1\] is 3: labels are 0 to 2"),
    ],
)
def test_label_costs_that_do_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        sm.LabelProblem(COSTS, [sm.labels.LabelCosts(*arguments)])


def test_prices_keep_bits_and_empty_the_picture(picture):
    costs, grid = picture
    terms = [grid, sm.labels.LabelCosts(3000.0)]
    one, two = (sm.minimize_labels(costs, terms, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert one.lower_bound == two.lower_bound
    assert len(np.unique(one.labels)) < 5
    assert one.gap <= 0.05 * one.value
    dual = type(one.dual)(one.dual.at_tail, one.dual.at_head, one.dual.shares[:2])
    problem = sm.LabelProblem(costs, terms)
    with pytest.raises(ValueError, match="shares of shape"):
        sm.labels.verify_labels(problem, one.labels, dual)


def test_which_triangle_is_broken():
    from submin.labels.distances import broken_triangle

    prices = np.array([[0.0, 5.0, 1.0], [5.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert broken_triangle(prices) == (0, 1, 2)
    assert sm.LabelProblem(COSTS, [CHAIN], prices).breaks_triangles
    assert not sm.LabelProblem(COSTS, [CHAIN]).breaks_triangles
