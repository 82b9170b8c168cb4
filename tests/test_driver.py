"""The loop: limits, history, callbacks, interrupts, and results."""

from __future__ import annotations

import copy
import pickle
import threading
from itertools import product

import numpy as np
import pytest

import submin as sm
from submin.solve.driver import Limits
from submin.solvers import REGISTRY

from .driver_problems import (
    GENERAL,
    PROXIMAL,
    SOLVERS,
    SPECIAL,
    assert_valid,
    hard_problem,
    problem_for,
)

# Limits.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tol": -1.0}, "tol is -1.0"),
        ({"tol": np.nan}, "tol is nan"),
        ({"max_passes": -1}, "max_passes is -1"),
        ({"max_passes": np.nan}, "max_passes is nan"),
        ({"time_limit": -0.1}, "time_limit is -0.1"),
        ({"time_limit": np.nan}, "time_limit is nan"),
        ({"check_every": 0}, "check_every is 0"),
        ({"check_every": -5}, "check_every is -5"),
    ],
)
@pytest.mark.parametrize("function", [sm.minimize, sm.prox])
def test_limits_that_are_refused(function, settings, message):
    with pytest.raises(ValueError, match=message):
        function(sm.Problem([1.0, 2.0]), **settings)


@pytest.mark.parametrize("function", [sm.minimize, sm.prox])
@pytest.mark.parametrize("problem", [[1.0, 2.0], np.zeros(3), None, "problem"])
def test_problems_are_problems(function, problem):
    with pytest.raises(TypeError, match="problem"):
        function(problem)


@pytest.mark.parametrize("limit", [{"max_passes": 0}, {"time_limit": 0}])
@pytest.mark.parametrize("solver", SOLVERS + SPECIAL)
def test_no_time_at_all_is_a_valid_answer(solver, limit):
    problem = problem_for(solver)
    result = sm.minimize(problem, solver, **limit)
    assert_valid(problem, result)
    assert result.status is sm.Status.STOPPED
    assert result.passes == result.projections == 0
    assert len(result.history) == 1
    assert not result.interrupted


@pytest.mark.parametrize("passes", [1, 2.5, 3, 7, 0.25])
def test_passes_are_counted_in_projections(passes):
    problem = hard_problem()
    r = sm.Layout(problem).r
    result = sm.minimize(problem, sm.RCDM(), max_passes=passes)
    assert result.projections == np.ceil(passes * r)
    assert result.passes == result.projections / r


@pytest.mark.parametrize("solver", ["ap", "accelerated_sweeps"])
def test_solvers_of_whole_passes_finish_the_pass(solver):
    assert sm.minimize(hard_problem(), solver, max_passes=1.5).passes == 2


def test_a_tolerance_is_kept():
    problem = hard_problem()
    best = sm.minimize(problem).value
    for tol in (5.0, 1.0, 0.1):
        result = sm.minimize(problem, sm.RCDM(), tol=tol)
        assert result.gap <= tol
        assert result.value - best <= tol
        assert result.status in (sm.Status.CONVERGED, sm.Status.OPTIMAL)


def test_an_infinite_tolerance_stops_at_once():
    result = sm.minimize(hard_problem(), "accelerated_sweeps", tol=np.inf)
    assert result.passes == 0
    assert result.status is sm.Status.CONVERGED


def test_checks_follow_their_beat():
    result = sm.minimize(hard_problem(), sm.AP(), max_passes=23, check_every=4)
    assert result.history.passes.tolist() == [0, 1, 2, 3, 4, 5, 8, 12, 16, 20, 23]


@pytest.mark.parametrize("check_every", [1, 2, 5, 7, 100])
def test_the_next_check_is_ahead_and_on_the_beat(check_every):
    limits = Limits(check_every=check_every)
    for passes in np.arange(0, 40, 0.3):
        ahead = limits.next_check(passes)
        assert ahead > passes
        assert ahead <= max(5, passes + check_every + 1)
        assert ahead <= 5 or ahead % check_every == 0


# History.


@pytest.mark.parametrize("solver", SOLVERS)
def test_history(solver):
    problem = hard_problem()
    result = sm.minimize(problem, solver, max_passes=20)
    history = result.history
    assert np.all(np.diff(history.passes) > 0)
    assert np.all(np.diff(history.seconds) >= 0)
    assert np.all(np.diff(history.value) <= 0)
    assert np.all(np.diff(history.lower_bound) >= 0)
    assert np.all(history.smooth_gap >= -1e-9)
    assert np.all(history.discrete_gap >= -1e-9)
    assert np.all(history.projections == history.passes * sm.Layout(problem).r)
    assert result.history[-1].value == pytest.approx(result.value, abs=1e-12)
    assert result.passes == history.passes[-1]
    assert result.seconds == history.seconds[-1]
    with pytest.raises(AttributeError, match="no column 'gap'"):
        _ = history.gap


def test_bounds_in_the_history_are_bounds():
    problem = hard_problem()
    best = sm.minimize(problem).value
    for solver in SOLVERS:
        history = sm.minimize(problem, solver, max_passes=15).history
        assert np.all(history.lower_bound <= best + 1e-9)
        assert np.all(history.value >= best - 1e-9)


def test_the_gaps_are_those_of_the_paper():
    """nu_s = f(x) + |x|^2 / 2 + |s|^2 / 2, nu_d = F(best level set) - sum min(0, s), x = -s."""
    problem = hard_problem()
    layout = sm.Layout(problem)
    record = sm.minimize(problem, sm.RCDM(), max_passes=0).history[0]
    s = layout.total(layout.feasible_start())
    x = -s
    lovasz = problem.unary.ravel() @ x + sum(term.lovasz(x) for term in problem.terms)
    values = [problem.evaluate(x > a) for a in [-np.inf, *np.unique(x)]]
    assert record.smooth_gap == pytest.approx(lovasz + s @ s)
    assert record.discrete_gap == pytest.approx(min(0.0, *values) - np.minimum(0, s).sum())


# Trivial problems.


@pytest.mark.parametrize(
    ("function", "solver"), [*product([sm.minimize], SOLVERS), *product([sm.prox], PROXIMAL)]
)
def test_problems_without_terms(function, solver):
    problem = sm.Problem([[1.5, -2.0], [0.0, -0.5]], constant=3.0)
    result = function(problem, solver)
    assert result.value == 0.5
    proved = sm.Status.OPTIMAL if function is sm.minimize else sm.Status.CONVERGED
    assert result.status is proved
    assert result.certificate.optimal
    assert result.minimizer.tolist() == [[False, True], [False, True]]
    assert result.x.tolist() == [[-1.5, 2.0], [0.0, 0.5]]
    assert result.passes == 0
    assert result.dual == ()


@pytest.mark.parametrize("solver", GENERAL)
@pytest.mark.parametrize(
    "term", [sm.Cut([], [], []), sm.GridCut((1,), 2.0), sm.Cardinality([0], [], lambda k, m: k)]
)
def test_one_element(solver, term):
    for unary, value in ((-2.0, -2.0), (2.0, 0.0), (0.0, 0.0), (-np.inf, 0.0), (np.inf, 0.0)):
        result = sm.minimize(sm.Problem([unary], [term]), solver)
        assert result.value == value
        assert result.minimizer.tolist() == [unary < 0]
        assert result.status is sm.Status.OPTIMAL


def test_hard_constraints_of_every_element():
    unary = np.where(np.arange(6) % 2, np.inf, -np.inf).reshape(2, 3)
    result = sm.minimize(sm.Problem(unary, [sm.GridCut((2, 3), 1.0)]))
    assert result.value == 7.0
    assert result.minimizer.tolist() == (unary < 0).tolist()
    assert result.status is sm.Status.OPTIMAL


def test_hard_constraints_have_no_proximal_point():
    with pytest.raises(ValueError, match=r"unary.flat\[1\] is inf.*finite cost"):
        sm.prox(sm.Problem([1.0, np.inf]))


# Callbacks.


def test_callbacks_see_every_check():
    records, masks = [], []
    problem = hard_problem()
    result = sm.minimize(
        problem, callback=lambda record, mask: records.append(record) or masks.append(mask.copy())
    )
    assert records == list(result.history)
    assert all(mask.shape == problem.shape and mask.dtype == bool for mask in masks)
    for record, mask in zip(records, masks, strict=True):
        assert problem.evaluate(mask) == record.value
    assert not result.interrupted


@pytest.mark.parametrize("answer", [True, np.True_, 1])
def test_callbacks_stop_the_solve(answer):
    problem = hard_problem()
    result = sm.minimize(
        problem,
        "accelerated_sweeps",
        callback=lambda record, _: answer if record.passes >= 2 else None,
    )
    assert result.passes == 2
    assert result.interrupted
    assert_valid(problem, result)
    assert result.status is sm.Status.STOPPED


@pytest.mark.parametrize("answer", [None, False, np.False_, 0])
def test_callbacks_that_do_not_stop_the_solve(answer):
    assert sm.minimize(hard_problem(), callback=lambda *_: answer).status is sm.Status.OPTIMAL


@pytest.mark.parametrize("progress", [False, True])
def test_errors_of_callbacks_are_passed_on(progress, capsys):
    def fail(record, mask):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        sm.minimize(hard_problem(), callback=fail, progress=progress)


def test_callbacks_may_write_to_their_mask():
    """What a callback does to the mask that it is shown does not reach the answer."""

    def scribble(record, mask):
        mask[...] = True

    problem = hard_problem()
    try:
        result = sm.minimize(problem, callback=scribble, max_passes=200)
    except ValueError:
        return  # a read-only mask is as good
    assert_valid(problem, result)
    assert result.status is sm.Status.OPTIMAL


# Ctrl-C.


@pytest.mark.parametrize("solver", SOLVERS + SPECIAL)
@pytest.mark.parametrize("method", ["start", "step", "iterate"])
@pytest.mark.parametrize("count", [1, 3])
def test_ctrl_c_in_a_solver(monkeypatch, solver, method, count):
    family = REGISTRY[solver]
    original, calls = getattr(family, method), []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == count:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(family, method, interrupted)
    problem = problem_for(solver)
    result = sm.minimize(problem, solver, tol=0.0, max_passes=40)
    assert_valid(problem, result)
    assert result.interrupted == (len(calls) >= count)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_ctrl_c_between_two_blocks(monkeypatch, solver, count):
    """In the middle of a step, with the solver's arrays half written."""
    calls = []

    def interrupt_after(name):
        original = getattr(sm.Layout, name)

        def interrupted(self, *arguments):
            calls.append(name)
            if len(calls) == count:
                raise KeyboardInterrupt
            return original(self, *arguments)

        monkeypatch.setattr(sm.Layout, name, interrupted)

    for name in ("sweep", "project", "put"):
        interrupt_after(name)
    problem = hard_problem()
    result = sm.minimize(problem, solver, max_passes=30)
    monkeypatch.undo()
    assert_valid(problem, result)
    assert result.interrupted == (len(calls) >= count)


@pytest.mark.parametrize("name", ["best_level_set", "certify"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_ctrl_c_while_measuring(monkeypatch, name, count):
    import submin.solve.driver

    original, calls = getattr(submin.solve.driver, name), []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == count:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(submin.solve.driver, name, interrupted)
    problem = hard_problem()
    result = sm.minimize(problem, max_passes=100)
    monkeypatch.undo()
    assert_valid(problem, result)


def test_ctrl_c_in_a_callback():
    problem = hard_problem()

    def press(record, mask):
        if record.passes == 3:
            raise KeyboardInterrupt

    result = sm.minimize(problem, "accelerated_sweeps", callback=press, progress=True)
    assert result.interrupted
    assert result.passes == 3
    assert_valid(problem, result)


def test_interrupted_answers_respect_hard_constraints(monkeypatch):
    monkeypatch.setattr(sm.AcceleratedSweeps, "start", _press)
    problem = sm.Problem([-np.inf, 1.0, np.inf], [sm.GridCut(3, 1.0)])
    result = sm.minimize(problem, sm.AcceleratedSweeps())
    assert result.interrupted
    assert np.isfinite(result.value)
    assert result.minimizer[0]
    assert not result.minimizer[2]


def _press(*_):
    raise KeyboardInterrupt


# Results are values.


def test_results_can_be_copied_and_pickled():
    result = sm.minimize(hard_problem(shape=(3, 4)), "accelerated_sweeps")
    for twin in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert twin.certificate == result.certificate
        assert list(twin.history) == list(result.history)
        assert np.array_equal(twin.minimizer, result.minimizer)


def test_results_can_be_compared():
    problem = hard_problem(shape=(3, 4))
    first, second = sm.minimize(problem), sm.minimize(problem)
    assert isinstance(first == second, bool)
    assert {first: 1}[first] == 1


def test_a_result_reads_as_a_sentence():
    text = str(sm.minimize(hard_problem(shape=(3, 4))))
    assert text.startswith("OPTIMAL: value")
    assert "of 12 elements in S" in text


def test_solves_in_two_python_threads_at_once():
    problems = [hard_problem(seed, (260, 270)) for seed in range(2)]
    shared = problems[0]
    expected = [sm.minimize(problem, "rcdm", max_passes=3) for problem in problems]
    jobs = [(shared, 0), (problems[1], 1), (shared, 0), (problems[1], 1)]
    results: list[sm.Result | None] = [None] * len(jobs)

    def solve(k: int) -> None:
        results[k] = sm.minimize(jobs[k][0], "rcdm", max_passes=3, threads=2)

    threads = [threading.Thread(target=solve, args=(k,)) for k in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (_, k), result in zip(jobs, results, strict=True):
        assert result is not None
        assert result.x.tobytes() == expected[k].x.tobytes()
        assert result.certificate == expected[k].certificate


@pytest.mark.parametrize("largest", [False, True])
def test_max_flow_returns_the_extreme_minimiser(largest):
    """Integer data has many minimisers; the flow is exact there, so the extreme one is found."""
    rng = np.random.default_rng(0)
    for trial in range(100):
        weight = int(rng.integers(0, 3))
        grid = sm.GridCut((2, 3), weight, connectivity=8 if trial % 2 else 4)
        problem = sm.Problem(rng.integers(-3, 4, (2, 3)), [grid])
        exact = sm.testing.brute_force(problem)
        found = sm.minimize(problem, sm.MaxFlow(largest=largest)).minimizer
        np.testing.assert_array_equal(found, exact.largest if largest else exact.smallest)
