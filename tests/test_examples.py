"""The scripts of `examples/` run from start to end and print a certified answer."""

import itertools
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(script, capsys, monkeypatch):
    pytest.importorskip("skimage")
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    output = capsys.readouterr().out
    assert "CONVERGED" in output or "proved to be" in output


def potts_energy(labels, costs, weight):
    """Sum the energy of a labelling, without any of the library."""
    unary = sum(costs[label][place] for place, label in np.ndenumerate(labels))
    changes = np.count_nonzero(np.diff(labels, axis=0)) + np.count_nonzero(np.diff(labels, axis=1))
    return unary + weight * changes


def test_an_expansion_is_the_best_of_all_moves():
    example = runpy.run_path(str(EXAMPLES[0].with_name("several_labels.py")))
    rng = np.random.default_rng(0)
    for alpha, weight in itertools.product(range(3), (0.1, 0.5)):
        labels, costs = rng.integers(0, 3, (3, 3)), rng.random((3, 3, 3))
        moves = (np.array(bits).reshape(3, 3) for bits in itertools.product((0, 1), repeat=9))
        best = min(potts_energy(np.where(move, alpha, labels), costs, weight) for move in moves)
        found = example["expand"](labels, alpha, costs, weight)
        assert found.value == pytest.approx(best, abs=1e-12)
        reached = np.where(found.minimizer, alpha, labels)
        assert potts_energy(reached, costs, weight) == pytest.approx(best, abs=1e-12)


def test_expansions_end_where_none_helps():
    example = runpy.run_path(str(EXAMPLES[0].with_name("several_labels.py")))
    costs = np.random.default_rng(0).random((4, 5, 6))
    labels, _ = example["label"](costs, 0.2)
    energy = potts_energy(labels, costs, 0.2)
    moves = [example["expand"](labels, alpha, costs, 0.2).value for alpha in range(4)]
    assert moves == pytest.approx([energy] * 4, abs=1e-12)
