"""``submin verify``: honest files pass, forged ones do not."""

from __future__ import annotations

import json

import numpy as np
import pytest

import submin as sm

from .conftest import assert_refused, rewrite

KEYS = {"command", "version", "holds", "faults", "claimed", "proved"}


@pytest.fixture(params=["result_file", "optimal_file"])
def honest(request):
    return request.getfixturevalue(request.param)


def test_an_honest_file_holds(invoke, honest):
    run = invoke("verify", honest)
    assert run.exit_code == 0
    assert "all hold" in run.stdout
    assert "Proved" in run.stdout


def test_json(invoke, honest):
    fields = json.loads(invoke("verify", honest, "--json").stdout)
    assert set(fields) == KEYS
    assert fields["holds"] is True
    assert fields["faults"] == []
    assert fields["proved"]["value"] == fields["claimed"]["value"] == sm.Result.load(honest).value


def test_quiet_answers_by_exit_code(invoke, honest):
    run = invoke("verify", honest, "--quiet")
    assert (run.exit_code, run.output) == (0, "")


def test_problem_in_a_file_of_its_own(invoke, problem, problem_file, tmp_path):
    path = tmp_path / "alone.npz"
    sm.minimize(problem).save(path)
    assert invoke("verify", path, "--problem", problem_file).exit_code == 0
    assert_refused(invoke("verify", path), "without its problem")


def claims(name, change):
    def forge(meta, arrays):
        meta["result"]["certificate"][name] = change(meta["result"]["certificate"][name])

    return forge


def status(meta, arrays):
    meta["result"]["status"] = "OPTIMAL"


def rounding(meta, arrays):
    """Claim a smaller value under the cover of a large rounding error."""
    meta["result"]["certificate"] |= {"rounding": 100.0, "value": -1000.0}


def flipped(meta, arrays):
    arrays["minimizer"] = ~arrays["minimizer"]


def other_dual(meta, arrays):
    arrays["dual_0"] = arrays["dual_0"] * 3.0


def no_dual(meta, arrays):
    arrays["dual_0"][0] = np.nan


def other_problem(meta, arrays):
    arrays["unary"] = arrays["unary"] - 0.1


FORGERIES = {
    "value": claims("value", lambda value: value - 1.0),
    "value by a little": claims("value", lambda value: np.nextafter(value, -9.0) - 1e-9),
    "value nan": claims("value", lambda _: float("nan")),
    "lower bound": claims("lower_bound", lambda bound: bound + 1.0),
    "lower bound nan": claims("lower_bound", lambda _: float("nan")),
    "gap": claims("gap", lambda gap: gap / 2.0),
    "optimal": claims("optimal", lambda _: True),
    "status": status,
    "rounding": rounding,
    "set": flipped,
    "dual": other_dual,
    "dual nan": no_dual,
    "problem": other_problem,
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_file_is_refuted(invoke, result_file, name):
    rewrite(result_file, FORGERIES[name])
    run = invoke("verify", result_file)
    assert run.exit_code == 1
    assert "claim refuted" in run.stdout
    fields = json.loads(invoke("verify", result_file, "--json").stdout)
    assert fields["holds"] is False
    assert fields["faults"]


def test_a_modest_claim_holds(invoke, result_file):
    def modest(meta, arrays):
        meta["result"]["certificate"]["lower_bound"] -= 1.0
        meta["result"]["certificate"]["gap"] += 1.0

    rewrite(result_file, modest)
    assert invoke("verify", result_file).exit_code == 0


def test_another_problem_of_the_same_shape_is_refuted(invoke, optimal_file, problem, tmp_path):
    path = tmp_path / "other.npz"
    sm.Problem(-problem.unary, problem.terms).save(path)
    assert invoke("verify", optimal_file, "--problem", path).exit_code == 1


class TestRefusals:
    def test_missing_file(self, invoke, tmp_path):
        assert_refused(invoke("verify", tmp_path / "none.npz"), "none.npz", "No such file")

    def test_not_a_submin_file(self, invoke, tmp_path):
        path = tmp_path / "text.npz"
        path.write_text("not an archive")
        assert_refused(invoke("verify", path), "not a submin file")

    def test_problem_without_a_result(self, invoke, problem_file):
        assert_refused(invoke("verify", problem_file), "without a result")

    def test_missing_entries(self, invoke, result_file):
        rewrite(result_file, lambda meta, arrays: arrays.pop("dual_0"))
        assert_refused(invoke("verify", result_file), "dual_0")

    def test_problem_of_another_shape(self, invoke, result_file, tmp_path):
        path = tmp_path / "other.npz"
        sm.Problem([1.0, -2.0]).save(path)
        assert_refused(invoke("verify", result_file, "--problem", path), "another problem")


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (lambda result: result.update(status="CONVERGED"), "within the tolerance"),
        (lambda result: result["point"].update(gap=0.0), "the smooth gap is"),
    ],
)
def test_claims_about_a_proximal_point(invoke, problem, tmp_path, forge, fault):
    path = tmp_path / "point.npz"
    sm.prox(problem, tol=0.0, max_passes=1).save(path, problem)
    assert invoke("verify", path).exit_code == 0
    rewrite(path, lambda meta, arrays: forge(meta["result"]))
    run = invoke("verify", path)
    assert run.exit_code == 1
    assert fault in " ".join(run.stdout.split())
