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


def converged(meta, arrays):
    """A gap of some tenths, and a tolerance of 0."""
    meta["result"]["status"] = "CONVERGED"


def nearly_converged(meta, arrays):
    gap = meta["result"]["certificate"]["gap"]
    meta["result"] |= {"status": "CONVERGED", "tol": 0.999 * gap}


def covered(meta, arrays):
    """Hide any claim behind the rounding errors of a huge dual."""
    arrays["dual_0"] = np.full_like(arrays["dual_0"], 1e307)
    meta["result"]["certificate"] |= {
        "value": -1000.0, "lower_bound": -1001.0, "gap": 1.0, "violation": 1e308, "rounding": 1e308
    }  # fmt: skip


def overflowing(meta, arrays):
    """A dual whose bound overflows proves no bound at all."""
    arrays["dual_0"] = np.full_like(arrays["dual_0"], 1.7e308)


def other_set(meta, arrays):
    arrays["minimizer"] = np.roll(arrays["minimizer"], 1)


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


def hostile_dual(meta, arrays):
    """Hide a false bound behind rounding errors that a huge dual may have."""
    arrays["dual_0"] = arrays["dual_0"] + 1e16
    certificate = meta["result"]["certificate"]
    certificate.update(lower_bound=certificate["value"], gap=0.0, rounding=1e3, violation=1e20)
    meta["result"]["status"] = "CLOSED"


def other_point(meta, arrays):
    arrays["x"] = arrays["x"] + 0.5


FORGERIES = {
    "hostile dual": hostile_dual,
    "point": other_point,
    "value": claims("value", lambda value: value - 1.0),
    "value by a little": claims("value", lambda value: np.nextafter(value, -9.0) - 1e-9),
    "value nan": claims("value", lambda _: float("nan")),
    "lower bound": claims("lower_bound", lambda bound: bound + 1.0),
    "lower bound nan": claims("lower_bound", lambda _: float("nan")),
    "gap": claims("gap", lambda gap: gap / 2.0),
    "gap nan": claims("gap", lambda _: float("nan")),
    "optimal": claims("optimal", lambda _: True),
    "rounding understated": claims("rounding", lambda rounding: rounding / 4.0),
    "no rounding": claims("rounding", lambda _: 0.0),
    "negative violation": claims("violation", lambda _: -1.0),
    "granularity": claims("granularity", lambda _: 0.25),
    "granularity nan": claims("granularity", lambda _: float("nan")),
    "negative granularity": claims("granularity", lambda _: -0.25),
    "status": status,
    "converged": converged,
    "nearly converged": nearly_converged,
    "covered by rounding": covered,
    "overflowing": overflowing,
    "other set": other_set,
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


def test_the_failing_claim_is_named(invoke, result_file):
    rewrite(result_file, converged)
    fields = json.loads(invoke("verify", result_file, "--json").stdout)
    (fault,) = fields["faults"]
    assert "CONVERGED" in fault
    assert repr(fields["proved"]["gap"]) in fault
    assert "tolerance of 0.0" in fault


def test_convergence_within_the_tolerance_holds(invoke, problem, tmp_path):
    for tol in (5.0, 20.0):
        result = sm.minimize(problem, "frank_wolfe", tol=tol)
        assert result.status is sm.Status.CONVERGED
        result.save(tmp_path / "converged.npz", problem)
        assert invoke("verify", tmp_path / "converged.npz").exit_code == 0


def test_granularity_that_divides_the_granularity_holds(invoke, tmp_path):
    problem = sm.Problem([2.0, -4.0, 2.0], [sm.GridCut(3, 2.0)])
    path = tmp_path / "steps.npz"
    for step, code in ((2.0, 0), (1.0, 0), (0.5, 0), (0.0, 0), (4.0, 1), (1.5, 1)):
        sm.minimize(problem).save(path, problem)
        rewrite(path, claims("granularity", lambda _, step=step: step))
        assert invoke("verify", path).exit_code == code


def test_a_proximal_point_is_verified_with_its_set(invoke, problem, tmp_path):
    path = tmp_path / "point.npz"
    sm.prox(problem).save(path, problem)
    run = invoke("verify", path)
    assert run.exit_code == 0
    assert "all hold" in run.stdout
    rewrite(path, claims("value", lambda value: value - 1.0))
    assert invoke("verify", path).exit_code == 1


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

    @pytest.mark.parametrize("byte", [2, 3, 200, 255])
    def test_a_set_of_bytes_that_are_no_booleans(self, invoke, result_file, byte):
        def change(meta, arrays):
            arrays["minimizer"].view(np.uint8)[0, 3] = byte

        rewrite(result_file, change)
        assert_refused(invoke("verify", result_file), "minimizer[0, 3]", str(byte))

    def test_a_point_of_another_shape(self, invoke, result_file):
        rewrite(result_file, lambda meta, arrays: arrays.update(x=arrays["x"].ravel()))
        assert_refused(invoke("verify", result_file), "another problem")

    def test_problem_of_another_shape(self, invoke, result_file, tmp_path):
        path = tmp_path / "other.npz"
        sm.Problem([1.0, -2.0]).save(path)
        assert_refused(invoke("verify", result_file, "--problem", path), "another problem")


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (lambda result: result.update(status="CONVERGED"), "within the tolerance"),
        (lambda result: result.update(status="OPTIMAL"), "is never OPTIMAL"),
        (lambda result: result.update(status="CLOSED"), "claimed to be right up to rounding"),
        (lambda result: result["point"].update(gap=0.0), "the smooth gap is"),
        (lambda result: result["point"].update(value=-1e9), "the value of the point"),
        (lambda result: result["point"].update(lower_bound=1e9), "the lower_bound of the point"),
        (lambda result: result["point"].update(distance=0.0), "the distance of the point"),
        (lambda result: result["point"].update(rounding=0.0), "the rounding of the point"),
        (lambda result: result["point"].update(violation=-1.0), "the violation of the point"),
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


@pytest.mark.parametrize("solve", [sm.minimize, sm.prox])
def test_other_last_digits_are_no_fault(invoke, problem, tmp_path, solve):
    """Another processor, or the kernels of NumPy, add in another order."""
    path = tmp_path / "result.npz"
    solve(problem).save(path, problem)
    rewrite(path, lambda meta, arrays: blur(meta["result"]))
    assert invoke("verify", path).exit_code == 0


def blur(result):
    for part in ("certificate", "point"):
        numbers = result[part] or {}
        numbers.update({name: 0.999 * numbers[name] for name in ("rounding",) if name in numbers})
    if result["point"]:
        result["point"]["gap"] -= 0.5 * result["point"]["rounding"]
        result["point"]["distance"] = float(np.sqrt(2.0 * result["point"]["gap"]))


def test_a_dual_that_overflows_is_refuted(invoke, problem, tmp_path):
    path = tmp_path / "result.npz"
    sm.prox(problem).save(path, problem)
    rewrite(path, lambda meta, arrays: arrays.update(dual_0=np.full_like(arrays["dual_0"], 1e300)))
    assert invoke("verify", path).exit_code == 1
