"""``submin solve``."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest

import submin as sm
from submin.solvers import REGISTRY

from .conftest import assert_refused

KEYS = {
    "command", "version", "value", "lower_bound", "gap", "violation", "rounding", "granularity",
    "optimal", "proof", "status", "interrupted", "elements_in_set", "elements", "shape", "solver",
    "passes", "projections", "seconds", "files",
}  # fmt: skip


def test_json_is_the_whole_of_standard_output(invoke, problem_file, problem, tmp_path):
    target = tmp_path / "result.npz"
    run = invoke("solve", problem_file, "-o", target, "--json")
    assert run.exit_code == 0
    fields = json.loads(run.stdout)
    assert set(fields) == KEYS
    expected = sm.minimize(problem)
    assert fields["value"] == expected.value
    assert fields["status"] == "OPTIMAL"
    assert fields["elements_in_set"] == int(expected.minimizer.sum())
    assert fields["shape"] == [12, 15]
    assert fields["files"] == {"result": str(target)}
    assert sm.verify(sm.Problem.load(target), sm.Result.load(target)).optimal


def test_table_shows_every_number_in_full(invoke, problem_file, problem):
    run = invoke("solve", problem_file)
    assert run.exit_code == 0
    value = f"{sm.minimize(problem).value:.12g}"
    rows = dict(line.split("  ", 1) for line in run.stdout.splitlines())
    assert rows["value"].strip() == value
    assert "OPTIMAL" in rows["status"]
    assert "Proved optimal" in rows["proof"]


@pytest.mark.parametrize("options", [[], ["--solver", "rcdm", "--max-passes", 3]])
def test_progress_ends_with_what_the_table_says(invoke, problem_file, options):
    run = invoke("solve", problem_file, *options)
    rows = {line[:14].strip(): line[14:].strip() for line in run.stdout.splitlines()}
    words = run.stderr.splitlines()[-1].split()
    shown = dict(zip(words[0:6:2], words[1:6:2], strict=True))
    assert shown["pass"] == rows["passes"]
    assert shown["value"] == f"{float(rows['value']):.9g}"
    assert float(shown["gap"]) == pytest.approx(float(rows["gap"]), rel=0.01)
    assert float(words[-2]) == pytest.approx(float(rows["seconds"]), abs=0.06)


def test_quiet_prints_nothing(invoke, problem_file):
    run = invoke("solve", problem_file, "--quiet")
    assert (run.exit_code, run.output) == (0, "")


@pytest.mark.parametrize("options", [("--max-passes", 1), ("--time-limit", 0)])
def test_a_limit_is_no_failure(invoke, problem_file, options):
    run = invoke("solve", problem_file, "--solver", "rcdm", "--json", *options)
    fields = json.loads(run.stdout)
    assert run.exit_code == 0
    assert fields["status"] == "STOPPED"
    assert fields["lower_bound"] <= fields["value"]
    assert "at most" in fields["proof"] or "no lower bound" in fields["proof"]


@pytest.mark.parametrize("name", ["auto", *REGISTRY])
def test_every_solver_can_be_named_and_seeded(invoke, problem_file, name):
    run = invoke("solve", problem_file, "--solver", name, "--seed", 7, "--max-passes", 2, "--json")
    assert run.exit_code == 0
    if "seed=" in json.loads(run.stdout)["solver"]:
        assert "seed=7" in json.loads(run.stdout)["solver"]


def test_tolerance(invoke, problem_file):
    run = invoke("solve", problem_file, "--solver", "rcdm", "--tol", 5, "--json")
    fields = json.loads(run.stdout)
    assert fields["gap"] <= 5
    assert fields["status"] in ("CONVERGED", "OPTIMAL")


def test_dimacs(invoke, tmp_path):
    path = tmp_path / "tiny.max"
    path.write_text("p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 4\n")
    fields = json.loads(invoke("solve", path, "--json").stdout)
    assert (fields["value"], fields["status"]) == (4.0, "OPTIMAL")


def test_infinite_numbers_become_null(invoke, tmp_path):
    path = tmp_path / "forced.npz"
    sm.Problem([np.inf, 1.0]).save(path)
    run = invoke("solve", path, "--json")
    assert run.exit_code == 0
    assert "Infinity" not in run.stdout
    assert json.loads(run.stdout)["value"] == 0.0


@pytest.mark.parametrize("options", [[], ["--json"], ["--quiet"]])
def test_a_full_disk_loses_neither_the_answer_nor_the_old_file(
    invoke, problem_file, problem, tmp_path, monkeypatch, options
):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    target = tmp_path / "result.npz"
    target.write_bytes(b"old")
    monkeypatch.setattr("os.fsync", full)
    run = invoke("solve", problem_file, "-o", target, *options)
    value = f"{sm.minimize(problem).value:.12g}"
    assert run.exit_code == 2
    assert run.stderr.splitlines()[-1] == (
        f"submin: {target}: No space left on device; the answer (OPTIMAL, value {value}, gap "
        f"{sm.minimize(problem).gap:.3g}) is not saved"
    )
    assert (value in run.stdout) == (options == [])
    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["problem.npz", "result.npz"]


class TestRefusals:
    def test_missing_file(self, invoke, tmp_path):
        assert_refused(invoke("solve", tmp_path / "none.npz"), "none.npz", "No such file")

    def test_not_an_archive(self, invoke, tmp_path):
        path = tmp_path / "text.npz"
        path.write_text("not an archive")
        assert_refused(invoke("solve", path), "text.npz", "not a submin file")

    def test_archive_of_something_else(self, invoke, tmp_path):
        path = tmp_path / "else.npz"
        np.savez(path, numbers=np.arange(3))
        assert_refused(invoke("solve", path), "else.npz", "not a submin file")

    def test_damaged_archive(self, invoke, tmp_path):
        path = tmp_path / "damaged.npz"
        np.savez(path, meta=np.array('{"format": 1, "problem": {"terms": ["no such term"]}}'))
        assert_refused(invoke("solve", path), "damaged.npz")

    def test_result_without_a_problem(self, invoke, problem, tmp_path):
        path = tmp_path / "result.npz"
        sm.minimize(problem).save(path)
        assert_refused(invoke("solve", path), "without its problem")

    def test_folder(self, invoke, tmp_path):
        assert_refused(invoke("solve", tmp_path), str(tmp_path))

    def test_bad_dimacs_line(self, invoke, tmp_path):
        path = tmp_path / "bad.max"
        path.write_text("p max 3 2\nn 1 s\nn 3 t\na 1 9 5\n")
        assert_refused(invoke("solve", path), "line 4", "9")

    def test_unknown_solver(self, invoke, problem_file):
        assert_refused(invoke("solve", problem_file, "--solver", "magic"), "magic", *REGISTRY)

    @pytest.mark.parametrize("option", ["--tol", "--max-passes", "--time-limit"])
    def test_negative_limit(self, invoke, problem_file, option):
        assert_refused(invoke("solve", problem_file, option, -1), "-1")

    @pytest.mark.parametrize("option", ["--seed", "--threads"])
    def test_negative_number(self, invoke, problem_file, option):
        run = invoke("solve", problem_file, option, -1)
        assert run.exit_code == 2
        assert option in run.stderr

    def test_output_in_a_missing_folder(self, invoke, problem_file, tmp_path):
        target = tmp_path / "missing" / "result.npz"
        assert_refused(invoke("solve", problem_file, "-o", target), str(target))

    def test_output_that_is_a_folder(self, invoke, problem_file, tmp_path):
        assert_refused(invoke("solve", problem_file, "-o", tmp_path), "folder")

    @pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000, "missing/new.npz"])
    def test_output_of_a_name_that_can_not_be(self, invoke, problem_file, tmp_path, name):
        run = invoke("solve", problem_file, "-o", f"{tmp_path}/{name}")
        assert_refused(run, "can not write")

    def test_output_without_permission(self, invoke, problem_file, tmp_path):
        folder = tmp_path / "closed"
        folder.mkdir(0o555)
        if os.access(folder, os.W_OK):
            pytest.skip("root may write everywhere")
        assert_refused(invoke("solve", problem_file, "-o", folder / "new.npz"), "Permission denied")

    @pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000, "missing/old.npz"])
    def test_input_of_a_name_that_can_not_be(self, invoke, tmp_path, name):
        assert_refused(invoke("solve", f"{tmp_path}/{name}"))

    def test_numbers_that_a_solve_finds_too_large(self, invoke, problem_file, monkeypatch):
        def large(*_, callback, **__):
            callback()
            raise FloatingPointError("s[3] is inf: the costs are too large for float64; scale them")

        monkeypatch.setattr("submin.solve.api.minimize", large)
        assert_refused(invoke("solve", problem_file), "s[3] is inf")

    def test_more_memory_than_there_is(self, invoke, problem_file, monkeypatch):
        def large(*_, callback, **__):
            callback()
            raise MemoryError("Unable to allocate 8.00 TiB")

        monkeypatch.setattr("submin.solve.api.minimize", large)
        assert_refused(invoke("solve", problem_file), "more memory", "8.00 TiB")

    def test_output_below_a_file(self, invoke, problem_file):
        assert_refused(invoke("solve", problem_file, "-o", problem_file / "result.npz"), "write")


def test_an_internal_error_keeps_its_traceback(invoke, problem_file, monkeypatch):
    def broken(*_, callback, **__):
        callback(sm.Record(0.0, 0, 0.0, 0.0, 0.0, 0.0, 0.0), None)
        raise ValueError("a fault of the library")

    monkeypatch.setattr("submin.solve.api.minimize", broken)
    with pytest.raises(ValueError, match="a fault of the library"):
        invoke("solve", problem_file)
