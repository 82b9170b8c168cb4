"""Ctrl-C from outside, while a step is under way: no further step, and a valid answer.

How many seconds that takes is measured by ``benchmarks/interruption.py``.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import submin as sm
from submin.solvers import comparison, max_flow

WEIGHT = 0.17


def grid(n: int = 60) -> sm.Problem:
    unary = np.random.default_rng(0).normal(size=(n, n))
    return sm.Problem(unary, [sm.GridCut(unary.shape, WEIGHT, 8)])


def graph() -> sm.Problem:
    problem = grid()
    return sm.Problem(problem.unary, [sm.Cut(*problem.terms[0].edge_list(), WEIGHT)])


def groups() -> sm.Problem:
    problem = grid(40)
    rows, columns = np.indices(problem.shape)
    labels = rows // 7 * 6 + columns // 7
    squares = sm.Cardinality.from_labels(labels, lambda k, m: 0.1 * k * (m - k))
    return sm.Problem(problem.unary, [*problem.terms, squares])


@contextmanager
def interrupted_in_step(monkeypatch: Any, family: type, number: int) -> Iterator[list[int]]:
    """Let another thread send SIGINT during step `number`; yield the list of the steps begun."""
    original, steps = family.step, []
    entered = threading.Event()

    def press() -> None:
        if entered.wait(60.0):
            os.kill(os.getpid(), signal.SIGINT)

    keyboard = threading.Thread(target=press)

    def step(self, layout, state):
        steps.append(len(steps) + 1)
        if len(steps) == number:
            entered.set()
        projections = original(self, layout, state)
        if len(steps) == number:
            keyboard.join()
        return projections

    monkeypatch.setattr(family, "step", step)
    keyboard.start()
    yield steps
    assert entered.is_set()


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize(
    ("make", "solver"),
    [
        (grid, sm.MaxFlow()),
        (graph, sm.MaxFlow()),
        (grid, sm.AcceleratedSweeps()),
        (groups, sm.AcceleratedSweeps()),
        (groups, sm.RCDM()),
        (groups, sm.ACDM()),
        (groups, comparison.FrankWolfe()),
    ],
)
def test_a_signal_ends_the_solve_with_a_valid_answer(monkeypatch, make, solver, number):
    monkeypatch.setattr(max_flow, "SLICE", 200)  # many steps
    problem = make()
    minimum = sm.minimize(problem).value
    with interrupted_in_step(monkeypatch, type(solver), number) as steps:
        result = sm.minimize(problem, solver)
    assert result.interrupted
    assert steps[-1] == number
    assert sm.verify(problem, result) == result.certificate
    assert problem.evaluate(result.minimizer) == result.value
    slack = 1e-9 * abs(minimum)
    assert result.lower_bound - slack <= minimum <= result.value + slack


@pytest.mark.parametrize("solver", [sm.MaxFlow(), sm.RCDM(seed=0)])
def test_a_callback_that_always_interrupts_leaves_an_answer(solver):
    def interrupt(record, minimizer):
        raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    problem = sm.Problem(rng.normal(size=(30, 40)), [sm.GridCut((30, 40), 1.0, 8)])
    result = sm.minimize(problem, solver, callback=interrupt)
    assert result.interrupted
    assert sm.verify(problem, result).gap == pytest.approx(result.gap)
