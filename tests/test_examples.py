"""The scripts of `examples/`, which are the gallery of the site, run and print a proof."""

import ast
import itertools
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))
PROVED = re.compile(r"proved to be|\bgap\b")


@pytest.fixture
def run(monkeypatch):
    """Run a script in this process, without a display, and return its names."""
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("skimage")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    yield lambda script, name="__main__": runpy.run_path(str(script), run_name=name)
    plt.close("all")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs(script, run, capsys):
    figures = run(script)["plt"].get_fignums()
    assert figures
    assert PROVED.search(capsys.readouterr().out)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_is_a_page_of_the_gallery(script):
    """It begins with a title, belongs to a part with a heading, and is short."""
    text = script.read_text(encoding="utf-8")
    title, rule = ast.get_docstring(ast.parse(text)).splitlines()[:2]
    assert set(rule) == {"="}
    assert len(rule) == len(title)
    assert (script.parent / "GALLERY_HEADER.rst").is_file()
    assert len(text.splitlines()) <= 100


def test_names_of_examples_are_unique():
    names = [script.name for script in SCRIPTS]
    assert len(set(names)) == len(names)


def potts_energy(labels, costs, weight):
    """Sum the energy of a labelling, without any of the library."""
    unary = sum(costs[label][place] for place, label in np.ndenumerate(labels))
    changes = np.count_nonzero(np.diff(labels, axis=0)) + np.count_nonzero(np.diff(labels, axis=1))
    return unary + weight * changes


def test_an_expansion_is_the_best_of_all_moves(run):
    example = run(EXAMPLES / "images" / "several_labels.py", "functions")
    rng = np.random.default_rng(0)
    for alpha, weight in itertools.product(range(3), (0.1, 0.5)):
        labels, costs = rng.integers(0, 3, (3, 3)), rng.random((3, 3, 3))
        moves = (np.array(bits).reshape(3, 3) for bits in itertools.product((0, 1), repeat=9))
        best = min(potts_energy(np.where(move, alpha, labels), costs, weight) for move in moves)
        found = example["expand"](labels, alpha, costs, weight)
        assert found.value == pytest.approx(best, abs=1e-12)
        reached = np.where(found.minimizer, alpha, labels)
        assert potts_energy(reached, costs, weight) == pytest.approx(best, abs=1e-12)


def test_expansions_end_where_none_helps(run):
    example = run(EXAMPLES / "images" / "several_labels.py", "functions")
    costs = np.random.default_rng(0).random((4, 5, 6))
    labels, _ = example["label"](costs, 0.2)
    energy = potts_energy(labels, costs, 0.2)
    moves = [example["expand"](labels, alpha, costs, 0.2).value for alpha in range(4)]
    assert moves == pytest.approx([energy] * 4, abs=1e-12)
