"""The reproduction: theorems hold on small graphs; a quick run writes the same page twice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import submin as sm

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
optimize = pytest.importorskip("scipy.optimize")
io = pytest.importorskip("scipy.io")
pillow = pytest.importorskip("PIL.Image")

from submin.reproduce import claims, gaps, instances, report, reproduce, theory  # noqa: E402

GRAPHS = [
    theory.path_graph(4, 1),
    theory.path_graph(5, 2, interior=True),
    theory.random_graph(4, 5, 3),
    theory.random_graph(5, 8, 4),
]
CASES = [(graph, blocks) for graph in GRAPHS for blocks in ("functions", "matchings")]
NAMES = [f"{graph.name}, {blocks}" for graph, blocks in CASES]


def brute_distance(graph: theory.Graph, flow: np.ndarray, s: np.ndarray) -> float:
    """Distance to the flows with sum s by an independent solver of quadratic programs."""
    found = optimize.minimize(
        lambda t: np.sum((t - flow) ** 2), np.zeros(flow.size), jac=lambda t: 2.0 * (t - flow),
        method="SLSQP", bounds=list(zip(-graph.weights, graph.weights, strict=True)),
        constraints={"type": "eq", "fun": lambda t: (graph.incidence @ t + graph.unary - s)[1:]},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert found.success, found.message
    return 2.0 * float(found.fun)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_the_distance_to_the_optimal_duals_is_that_of_another_solver(graph):
    optimum = theory.Optimum.of(graph)
    generator = np.random.default_rng(0)
    for _ in range(5):
        flow = generator.uniform(-graph.weights, graph.weights)
        expected = brute_distance(graph, flow, optimum.s)
        assert optimum.squared_distance(flow) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_the_optimum_is_a_fixed_point_of_every_projection(graph):
    optimum, problem = theory.Optimum.of(graph), graph.problem
    found = sm.prox(problem, tol=1e-18, max_passes=2000)
    np.testing.assert_allclose(-found.x, optimum.s, atol=1e-8)
    assert optimum.squared_distance(found.dual[0]) < 1e-12


@pytest.mark.parametrize(("graph", "blocks"), CASES, ids=NAMES)
def test_theorem_3_holds(graph, blocks):
    case = theory.condition(graph, blocks, 30)
    assert 0.0 < case.measured <= case.bound


@pytest.mark.parametrize("n", [3, 5, 8])
def test_the_condition_of_a_path_with_two_matchings_is_known(n):
    case = theory.condition(theory.path_graph(n, 0, interior=True), "matchings", 30)
    assert case.measured == pytest.approx(1.0 / np.sin(np.pi / (2 * n)), rel=1e-6)


@pytest.mark.parametrize(("graph", "blocks"), CASES, ids=NAMES)
def test_theorem_4_holds_in_every_step(graph, blocks):
    case = theory.contraction(graph, blocks, (0, 1), 30)
    assert 0.0 < case.worst <= case.bound < 1.0


@pytest.mark.parametrize(("graph", "blocks"), CASES, ids=NAMES)
def test_theorems_5_and_6_hold(graph, blocks):
    case = theory.halving(graph, blocks, range(4), 2)
    assert case.worst <= 0.5
    assert np.all(np.array(case.within) <= np.array(case.within_bound))


def curves(**last: float) -> dict:
    """Gaps of three methods that start alike and end as told."""
    passes = [0.0, 1.0, 2.0]
    return {name: {"passes": passes, "smooth_gap": [[9.0, 3.0, end]]} for name, end in last.items()}


def test_the_order_of_the_methods_is_read_from_the_curves():
    assert claims.ordered_from(curves(ACDM=1.0, RCDM=2.0, AP=3.0), "smooth_gap") == 0.0
    assert claims.ordered_from(curves(ACDM=2.0, RCDM=1.0, AP=3.0), "smooth_gap") is None


def test_the_page_escapes_and_aligns():
    assert "&lt;b&gt;" in report.table(["<b>"], [["x"]])
    assert report.number(None) == "–"
    assert report.number(gaps.TINY) == "0"


def write_photograph(folder: Path, name: str, seed: int) -> None:
    """Write a small photograph of a bright square, with scribbles."""
    generator = np.random.default_rng(seed)
    picture = generator.integers(0, 90, size=(48, 56, 3))
    picture[12:36, 16:40] += 150
    marks = np.zeros(picture.shape, np.uint8)
    marks[20:28, 20:36] = (255, 255, 207)
    marks[2:6, 4:50] = (219, 0, 0)
    for kind, pixels in (("images", picture.astype(np.uint8)), ("scribbles", marks)):
        (folder / "grabcut" / kind).mkdir(parents=True, exist_ok=True)
        ending = "jpg" if kind == "images" else "png"
        pillow.fromarray(pixels).save(folder / "grabcut" / kind / f"{name}.{ending}")


@pytest.fixture(scope="module")
def tiny_data(tmp_path_factory) -> Path:
    """Make a data folder of the public layout, with tiny pictures."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "coopcut").mkdir()
    generator = np.random.default_rng(0)
    for name in ("001_oct", "020_smallplant"):
        arrays = {
            "unary": generator.normal(size=40 * 44),
            "W1": generator.uniform(1, 5, size=(39, 44)),
            "W2": generator.uniform(1, 5, size=(40, 43)),
        }
        io.savemat(folder / "coopcut" / f"{name}_wts.mat", arrays)
        for count in ("p200", "p500"):
            labels = 1 + np.arange(40)[:, None] // 8 * 6 + np.arange(44)[None, :] // 8
            io.savemat(folder / "coopcut" / f"{name}_{count}.mat", {"sup_img": labels})
    for number, entry in enumerate(instances.PHOTOGRAPHS):
        write_photograph(folder, entry.file, number)
    return folder


def without_seconds(value):
    """Drop what a clock measured: the only numbers that may differ between two runs."""
    if isinstance(value, dict):
        return {
            name: without_seconds(part)
            for name, part in value.items()
            if "seconds" not in name and name != "claims"
        }
    return [without_seconds(part) for part in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def two_runs(tiny_data, tmp_path_factory):
    folders = [tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")]
    lines: list[str] = []
    numbers = [
        reproduce(folder, tiny_data, quick=True, seeds=(0,), progress=lines.append)
        for folder in folders
    ]
    return folders, numbers, lines


def test_a_quick_run_writes_page_figures_and_numbers(two_runs):
    (folder, _), (numbers, _), lines = two_runs
    page = (folder / "index.html").read_text(encoding="utf-8")
    pictures = {path.name for path in folder.glob("*.png")}
    assert pictures == {f"{n}.png" for n in ("gaps", "segmentations", "theory", "beyond")}
    assert page.count("data:image/png;base64,") == len(pictures)
    assert 'src="http' not in page
    assert all(claim["verdict"] in page for claim in numbers["claims"])
    assert json.loads((folder / "numbers.json").read_text())["seeds"] == [0]
    assert lines


def test_two_runs_give_the_same_numbers(two_runs):
    folders, numbers, _ = two_runs
    first, second = (without_seconds(found) for found in numbers)
    assert first == second
    pictures = [(f / "gaps.png").read_bytes() for f in folders]
    assert pictures[0] == pictures[1]


def test_every_theorem_holds_and_every_instance_is_solved(two_runs):
    _, (numbers, _), _ = two_runs
    verdicts = {claim["where"]: claim["verdict"] for claim in numbers["claims"]}
    for where in ("Theorem 3", "Theorem 4", "Theorems 5 and 6", "Section 1.2"):
        assert verdicts[where] == claims.HOLDS
    for found in numbers["beyond"].values():
        values = [one["value"] for one in found.values()]
        assert values == pytest.approx([values[0]] * len(values))
        assert {one["status"] for one in found.values()} == {"OPTIMAL"}
    assert {one["status"] for one in numbers["superpixels"].values()} == {"OPTIMAL"}


def test_without_data_photographs_of_scikit_image_stand_in():
    found = instances.load(None, quick=True)
    assert [one.key for one in found] == list(instances.ORDER)
    assert all("scikit-image" in one.source for one in found)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"001_oct_wts\.mat does not exist.*coopcut"):
        instances.load(tmp_path)


def test_no_seed_is_refused(tmp_path):
    with pytest.raises(ValueError, match="seeds is empty"):
        reproduce(tmp_path, seeds=())


def test_the_command_refuses_an_incomplete_folder_before_any_work(tmp_path):
    testing = pytest.importorskip("typer.testing")
    from submin.cli.application import application

    output = tmp_path / "report"
    for folder, words in ((tmp_path, "001_oct_wts.mat does not exist"), ("none", "not a folder")):
        arguments = ["reproduce", "-o", str(output), "--data", str(folder)]
        result = testing.CliRunner().invoke(application, arguments, catch_exceptions=False)
        assert result.exit_code == 2
        assert words in result.stderr
        assert not output.exists()
