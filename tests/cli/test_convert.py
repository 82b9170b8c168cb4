"""``submin convert``, and files of other formats in ``submin solve``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import submin as sm
from submin.files import read

from .conftest import assert_refused

HYPERGRAPH = "2 4 1\n2 1 2 3\n1 3 4\n"


@pytest.mark.parametrize("binary", [False, True])
def test_a_hypergraph_with_costs(invoke, tmp_path, binary):
    path, costs = tmp_path / "graph", tmp_path / "costs"
    path.write_text(HYPERGRAPH)
    if binary:
        with costs.open("wb") as file:
            np.save(file, np.array([-4.0, 1, 0.5, 2]))
    else:
        costs.write_text("-4\n1 0.5\n% last\n2\n")
    fields = json.loads(invoke("solve", path, "--unary", costs, "--json").stdout)
    assert (fields["value"], fields["status"]) == (-2.0, "OPTIMAL")


def test_a_graph_alone_has_no_answer(invoke, tmp_path):
    path = tmp_path / "graph"
    path.write_text(HYPERGRAPH)
    assert_refused(invoke("solve", path), "no costs of its nodes", "--unary")


def test_costs_twice(invoke, problem_file, tmp_path):
    costs = tmp_path / "costs"
    costs.write_text("1")
    assert_refused(invoke("solve", problem_file, "--unary", costs), "has costs already")


def test_a_triangle_needs_its_format(invoke, tmp_path):
    path, costs = tmp_path / "graph", tmp_path / "costs"
    path.write_text("3 3\n2 3\n1 3\n1 2\n")
    costs.write_text("-5 1 1")
    assert_refused(invoke("solve", path, "--unary", costs), "may be a hypergraph")
    run = invoke("solve", path, "--unary", costs, "--format", "metis", "--json")
    assert json.loads(run.stdout)["value"] == -3.0


def test_conversions(invoke, problem_file, problem, tmp_path):
    value = sm.minimize(problem).value
    for name in ("a.max", "a.uai", "a.npz"):
        assert invoke("convert", problem_file, tmp_path / name).exit_code == 0
    comment = (tmp_path / "a.max").read_text().split("\n")[0].split()
    least = sm.minimize(read(tmp_path / "a.max")).value + float("".join(comment[-2:]))
    assert least == pytest.approx(value, abs=1e-9)
    assert sm.minimize(read(tmp_path / "a.npz")).value == value
    members = sm.minimize(read(tmp_path / "a.uai")).minimizer
    assert problem.evaluate(members.reshape(problem.shape)) == pytest.approx(value, abs=1e-9)


def test_refused_conversions(invoke, problem_file, tmp_path):
    assert_refused(invoke("convert", problem_file, tmp_path / "a.hgr"), "does not hold")
    assert_refused(invoke("convert", problem_file, tmp_path / "a.b"), "a.b", "neither ending")
    assert_refused(invoke("convert", tmp_path / "none", tmp_path / "a.max"), "No such file")
    assert not (tmp_path / "a.hgr").exists()
