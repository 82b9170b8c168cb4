"""Faults that were found once: endless loops, refused float32, swallowed interrupts."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.labels import persistency
from submin.labels.label_costs import LabelCosts, _excess

RANDOM = np.random.default_rng(0).random((3, 8))


@pytest.mark.parametrize("price", [0.0, 1e-300, 1e-11, 1.0, 3.0, 1e12])
@pytest.mark.parametrize("size", [1e-300, 1.0, 1e12, 1e29])
def test_shares_are_cut_down_to_their_price(price, size):
    shares = size * np.random.default_rng(1).normal(size=50)
    left = np.maximum(shares - _excess(shares, price), 0.0).sum()
    whole = np.maximum(shares, 0.0).sum()
    assert left <= min(price, whole) + 1e-12 * whole
    if whole <= price:
        assert left == whole


@pytest.mark.parametrize("scale", [1e12, 1e29])
@pytest.mark.parametrize("prices", [1.0, [1e15, 1.0, 1.0]])
def test_prices_far_from_the_costs_end(scale, prices):
    terms = [sm.GridCut(8, 0.5 * scale), LabelCosts(prices)]
    result = sm.minimize_labels(RANDOM * scale, terms, max_passes=20)
    assert result.lower_bound <= result.value


def test_prices_are_as_small_as_costs():
    with pytest.raises(ValueError, match="less than 1e30"):
        LabelCosts(1e40)
    with pytest.raises(ValueError, match=r"caps.*less than 1e30"):
        sm.labels.RobustPotts([0, 2], [0, 1], 1.0, 1e39)


def test_convex_costs_of_single_precision():
    costs = np.float32([[0.1, 2], [0.4, 1], [0.7, 0]])
    terms = [sm.GridCut(2, 0.3)]
    single = sm.minimize_labels(costs, terms, sm.labels.Linear())
    double = sm.minimize_labels(costs.astype(float), terms, sm.labels.Linear(), time_limit=60)
    assert single.value == pytest.approx(double.value)
    rng = np.random.default_rng(2)
    for _ in range(40):
        slope, start = rng.normal(size=(2, 6)).astype(np.float32)
        table = (start + slope * np.arange(5, dtype=np.float32)[:, None]).astype(np.float32)
        result = sm.minimize_labels(table, [sm.GridCut(6, 0.3)], sm.labels.Linear())
        assert result.gap <= 1e-6


def test_an_interrupt_is_not_taken_for_nothing_proved(monkeypatch):
    problem = sm.LabelProblem(RANDOM, [sm.GridCut(8, 0.1)])

    class Interrupted:
        interrupted = True

    monkeypatch.setattr(persistency, "minimize", lambda *_, **__: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        sm.labels.proved_labels(problem)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda p: sm.labels.minimize_ordered(RANDOM), TypeError, "make a LabelProblem"),
        (lambda p: sm.labels.proved_labels(RANDOM), TypeError, "make a LabelProblem"),
        (lambda p: sm.labels.verify_labels(RANDOM, [0]), TypeError, "make a LabelProblem"),
        (lambda p: sm.minimize_labels(p, threads=2.5), TypeError, "threads is 2.5"),
        (lambda p: sm.minimize_labels(p, threads=-1), ValueError, "threads is -1"),
        (lambda p: sm.minimize_labels(p, relative_tol=-1.0), ValueError, "relative_tol is -1"),
        (lambda p: sm.labels.minimize_ordered(p, time_limit="a"), TypeError, "time_limit is 'a'"),
        (lambda p: sm.labels.minimize_ordered(p, memory=None), TypeError, "memory is None"),
        (lambda p: sm.GridCut(2, 1.0, offsets=[]), ValueError, "offsets is empty"),
    ],
)
def test_refusals_name_the_argument(call, error, words):
    problem = sm.LabelProblem(RANDOM, [sm.GridCut(8, 0.1)], sm.labels.Linear())
    with pytest.raises(error, match=words):
        call(problem)


def test_any_number_of_threads_is_taken():
    problem = sm.LabelProblem(RANDOM, [sm.GridCut(8, 0.1)])
    many = sm.minimize_labels(problem, threads=10**12, time_limit=None)
    assert many.value == sm.minimize_labels(problem, threads=1).value
