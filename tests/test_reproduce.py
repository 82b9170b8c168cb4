"""The reproduction: theorems hold on small graphs; a quick run writes the same page twice."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import submin as sm

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
optimize = pytest.importorskip("scipy.optimize")
io = pytest.importorskip("scipy.io")
pillow = pytest.importorskip("PIL.Image")

from submin.reproduce import (  # noqa: E402
    claims,
    figures,
    gaps,
    instances,
    likeness,
    refitted,
    report,
    reproduce,
    small_cases,
    theory,
    verdicts,
)

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
def test_theorem_2_holds(graph, blocks):
    case = theory.condition(graph, blocks, 30)
    assert 0.0 < case.measured <= case.bound


@pytest.mark.parametrize("n", [3, 5, 8])
def test_the_condition_of_a_path_with_two_matchings_is_known(n):
    case = theory.condition(theory.path_graph(n, 0, interior=True), "matchings", 30)
    assert case.measured == pytest.approx(1.0 / np.sin(np.pi / (2 * n)), rel=1e-6)


@pytest.mark.parametrize(("graph", "blocks"), CASES, ids=NAMES)
def test_theorem_4_as_proved_holds_in_every_step(graph, blocks):
    case = theory.contraction(graph, blocks, (0, 1), 30)
    assert 0.0 < case.worst <= case.bound < 1.0


@pytest.mark.parametrize(("graph", "blocks"), CASES, ids=NAMES)
def test_theorems_6_and_8_hold(graph, blocks):
    case = theory.halving(graph, blocks, range(4), 2)
    assert case.worst <= 0.5
    assert np.all(np.array(case.within) <= np.array(case.within_bound))


@pytest.mark.parametrize("n", range(2, 12))
def test_theorem_4_as_printed_is_refuted_by_paths_of_five_nodes_or_more(n):
    """One step from the slowest mode, on dense vectors: s is averaged over a random matching."""
    case = theory.misprint(n)
    t = np.sin(np.pi * np.arange(1, n) / n)
    s = np.diff(t, prepend=0.0, append=0.0)
    after = []
    for first in range(case.r):
        moved, flow = s.copy(), t.copy()
        for edge in range(first, n - 1, 2):
            moved[edge : edge + 2] = s[edge : edge + 2].mean()
            flow[edge] -= 0.5 * (s[edge] - s[edge + 1])
        after.append((moved @ moved, 2.0 * flow @ flow))
    gap, distance = np.mean(after, axis=0)
    now = 2.0 * t @ t + s @ s
    assert case.as_printed == pytest.approx((2.0 * t @ t + gap) / now, abs=1e-12)
    assert case.as_proved == pytest.approx((distance + gap) / now, abs=1e-12)
    assert (case.as_printed > case.bound) == (n >= 5)
    assert case.as_proved <= case.bound


def test_the_counterexample_on_five_nodes_is_a_number_of_the_golden_ratio():
    case = theory.misprint(5)
    a = Fraction(381966011250105, 10**15)  # (3 - sqrt 5) / 2, the least eigenvalue
    assert case.as_printed == pytest.approx(float(1 - a**2 / (4 * (2 + a))), abs=1e-12)
    assert (round(case.as_printed, 5), round(case.bound, 5)) == (0.98469, 0.98039)


@pytest.mark.parametrize(("r", "omega"), [(1, 1), (2, 1), (2, 2), (4, 2), (5, 5)])
def test_lemma_7_is_met_by_equal_blocks(r, omega):
    """Its constant is that of the proof with the overlap counted; 1 with exactly one block."""
    case = small_cases.overapproximation(r, omega)
    assert case.independent == pytest.approx(1 + (omega - 1) / r, abs=1e-12)
    assert case.one_block == pytest.approx(1.0, abs=1e-12)


def test_the_expectation_over_all_subsets_is_that_of_rational_arithmetic():
    h, r = [[3, -1], [2, 5], [-4, 1]], 3
    mean = Fraction(0)
    for size in range(r + 1):
        for chosen in combinations(range(r), size):
            moved = [sum(h[i][v] for i in chosen) for v in range(2)]
            chance = Fraction(1, 3) ** size * Fraction(2, 3) ** (r - size)
            mean += chance * sum(value**2 for value in moved)
    constant = mean * r / sum(value**2 for row in h for value in row)
    subsets = np.array([[i >> k & 1 for k in range(r)] for i in range(2**r)])
    chances = np.array([2.0 ** (r - row.sum()) / 3**r for row in subsets])
    found = small_cases._constant(np.zeros((r, 2)), np.array(h, float), subsets, chances)
    assert found == pytest.approx(float(constant), abs=1e-14)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_the_best_threshold_costs_at_most_the_extension(graph):
    """Also for the library's own extension, a greedy vertex."""
    assert small_cases.threshold_excess(graph) <= 1e-12
    x = np.random.default_rng(1).uniform(size=graph.unary.size)
    layout = sm.Layout(graph.problem)
    lovasz = float(layout.total(layout.greedy_vertex(x)) @ x)
    best = min(graph.problem.evaluate(x >= theta) for theta in [*x, np.inf])
    assert small_cases._excess(graph, x) == pytest.approx(best - lovasz, abs=1e-12)


def test_gaps_are_measured_as_they_stand():
    """By their definitions on a feasible dual; and below zero on one that is not feasible."""
    graph = GRAPHS[2]
    problem, layout = graph.problem, sm.Layout(graph.problem, "matchings")
    flow = 0.5 * graph.weights
    s = graph.unary + graph.incidence @ flow
    smooth, discrete, members = gaps.measured(layout, s)
    lovasz = graph.unary @ -s + graph.weights @ np.abs(s[graph.tails] - s[graph.heads])
    levels = [problem.evaluate(-s >= theta) for theta in [*-s, np.inf]]
    assert smooth == pytest.approx(lovasz + s @ s, abs=1e-12)
    assert discrete == pytest.approx(min(levels) - np.minimum(s, 0.0).sum(), abs=1e-12)
    assert problem.evaluate(members) == pytest.approx(min(levels), abs=1e-12)
    assert gaps.measured(layout, np.abs(graph.unary))[1] < -0.1


def test_a_negative_gap_is_reported():
    for least, expected in ((-1e-15, verdicts.HOLDS), (-1e-3, verdicts.FAILS)):
        numbers = {"gaps": {"penguin": {"AP": {"least_gap_share": least}}}}
        assert claims._weak_duality(numbers).verdict == expected


@pytest.mark.parametrize(
    ("shares", "words", "expected"),
    [
        ((0.9, 0.8, 0.7), "", verdicts.HOLDS),
        ((0.9, 0.2, 0.7), "in ACDM,", verdicts.PARTLY),
        ((0.9, 0.2, 0.3), "in ACDM and AP,", verdicts.PARTLY),
        ((0.1, 0.2, 0.3), "in RCDM and ACDM and AP,", verdicts.FAILS),
    ],
)
def test_methods_that_spend_their_time_elsewhere_are_named(shares, words, expected):
    """No other method is said to, and the row is called a timing whatever it shows."""
    costs = {
        name: {"projection_seconds_share": share}
        for name, share in zip(gaps.METHODS, shares, strict=True)
    }
    found = claims._projection_cost({"iterations": costs})
    assert found.verdict == expected
    assert words in found.why
    assert ("more time in" in found.why) == bool(words)
    assert "timing" in found.why


def curves(**last: float) -> dict:
    """Gaps of three methods that start alike and end as told."""
    passes = [0.0, 1.0, 2.0]
    return {name: {"passes": passes, "smooth_gap": [[9.0, 3.0, end]]} for name, end in last.items()}


def test_the_order_of_the_methods_is_read_from_the_curves():
    assert claims.ordered_from(curves(ACDM=1.0, RCDM=2.0, AP=3.0), "smooth_gap", 2) == 0.0
    assert claims.ordered_from(curves(ACDM=2.0, RCDM=1.0, AP=3.0), "smooth_gap", 2) is None
    assert claims.ordered_from(curves(ACDM=2.0, RCDM=1.0, AP=3.0), "smooth_gap", 1) == 0.0


def test_passes_to_a_gap_are_interpolated_in_its_logarithm():
    found = curves(RCDM=1.0)
    assert claims.passes_to(found, "RCDM", "smooth_gap", 9.0) == 0.0
    assert claims.passes_to(found, "RCDM", "smooth_gap", 3.0**1.5) == pytest.approx(0.5)
    assert claims.passes_to(found, "RCDM", "smooth_gap", 1.0) == pytest.approx(2.0)
    assert claims.passes_to(found, "RCDM", "smooth_gap", 0.5) == float("inf")


@pytest.mark.parametrize("factor", [0.25, 1.0, 3.0])
def test_the_factor_of_the_printed_gaps_is_found(factor):
    """Gaps of the paper's penguin divided by c^2 and c are those of the instance divided by c."""
    passes = np.array([1.0, 20.0, 100.0])
    found = {}
    for method, name in likeness.OURS.items():
        rows = np.array([figures.PRINTED[method][k] for k in (1, 20, 100)])
        found[name] = gaps.Curve(passes, rows[None, :, 0] / factor**2, rows[None, :, 1] / factor, 0)
    fitted = likeness.fit(10.0, found, True)
    assert fitted.scale == pytest.approx(factor)
    assert fitted.rms_log_error == pytest.approx(0.0, abs=1e-12)
    assert min(fitted.lead_after_1) > 1.0
    assert likeness.fit(10.0, found, False).scale is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (0.1, verdicts.HOLDS),
        (0.33, verdicts.PARTLY),
        (None, verdicts.OTHER),
    ],
)
def test_sizes_are_judged_where_they_were_fitted_alone(error, expected):
    """A quarter picture shows nothing about the sizes that the paper prints, whatever its order."""
    passes = [1.0, 20.0, 100.0]
    found = {
        name: {kind: [values] for kind in ("smooth_gap", "discrete_gap")} | {"passes": passes}
        for name, values in ((gaps.ACDM_RESTARTED, [9.0, 2.0, 1.0]), ("AP", [8.0, 7.0, 6.0]))
    }
    like = {
        "gaps": found, "rms_log_error": error, "width": 10.0, "scale": 1.0, "smoothing": 40.0
    }  # fmt: skip
    assert claims._likeness({"likeness": like}).verdict == expected


def test_undecided_pixels_of_the_ground_truth_do_not_count():
    truth = np.array([[255, 255, 128, 0, 0]])
    mask = np.array([[True, False, True, True, False]])
    assert refitted.overlap(mask, truth) == pytest.approx(1 / 3)


STATEMENT = re.compile(r"\\begin\{(theorem|lemma|proposition)\}.*?\\label\{(.*?)\}", re.DOTALL)


def test_statements_have_the_numbers_of_the_paper(data_folder):
    """One counter for all; and nothing here names a theorem or lemma that it does not have."""
    paper = data_folder.parent / "paper" / "ene-nguyen-2015.tex"
    if not paper.exists():
        pytest.skip("the paper's source is not beside the data folder")
    found = STATEMENT.findall(paper.read_text(encoding="utf-8"))
    labels = [label for _, label in found]
    assert labels[:8] == [
        "lem:dual-prox", "thm:projection", "thm:kappa-upper-bound", "thm:rcdm-convergence",
        "lem:first-order-optimality", "thm:acdm-convergence", "lem:eso", "thm:approx",
    ]  # fmt: skip
    numbers = {
        kind.capitalize(): {str(k) for k, (one, _) in enumerate(found, 1) if one == kind}
        for kind, _ in found
    }
    root = Path(sm.__file__).parent
    for path in [*(root / "reproduce").glob("*.py"), *(root / "solvers").glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for kind, listed in re.findall(r"(Theorem|Lemma)s? ((?:\d+(?:, | and )?)+)", text):
            assert set(re.findall(r"\d+", listed)) <= numbers[kind], f"{path.name}: {kind} {listed}"
        assert "Section 1.2" not in text


def test_numbers_of_the_page():
    assert report.number(None) == "–"
    assert report.number(gaps.TINY) == "0"
    assert report.number(1234.5, 2) == "1.2e+03"


@pytest.mark.parametrize(
    ("leads", "words"),
    [
        ([(0.8, 0.9), (1.1, 1.2)], "σ = 5, and at no other"),
        ([(0.8, 1.2), (1.1, 0.9)], "no σ"),
        ([(1.1, 1.2), (1.1, 1.2)], "every σ"),
    ],
)
def test_the_widths_at_which_ap_leads_are_read_from_the_numbers(leads, words):
    search = [
        {"width": width, "lead_after_1": lead} for width, lead in zip((0, 5), leads, strict=True)
    ]
    assert report.where_ap_leads(search) == words


def write_photograph(folder: Path, name: str, seed: int) -> None:
    """Write a small photograph of a bright square, with scribbles."""
    generator = np.random.default_rng(seed)
    picture = generator.integers(0, 90, size=(48, 56, 3))
    picture[12:36, 16:40] += 150
    marks = np.zeros(picture.shape, np.uint8)
    marks[20:28, 20:36] = (255, 255, 207)
    marks[2:6, 4:50] = (219, 0, 0)
    truth = np.zeros(picture.shape[:2], np.uint8)
    truth[12:36, 16:40] = 255
    kinds = {"images": picture.astype(np.uint8), "scribbles": marks, "ground_truth": truth}
    for kind, pixels in kinds.items():
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
    assert "0.98469" in page, "the counterexample to Theorem 4 as printed is always shown"
    assert numbers["judged_at"] == 25, "quarter pictures converge before 100 passes"
    assert not numbers["comparable"]
    assert (numbers["likeness"]["scale"], numbers["likeness"]["rms_log_error"]) == (1.0, None)


def test_two_runs_give_the_same_numbers(two_runs):
    folders, numbers, _ = two_runs
    first, second = (without_seconds(found) for found in numbers)
    assert first == second
    first, second = (
        [claim for claim in found["claims"] if "dominated by projecting" not in claim["claim"]]
        for found in numbers
    )
    assert len(first) == len(numbers[0]["claims"]) - 1
    assert first == second
    pictures = [(f / "gaps.png").read_bytes() for f in folders]
    assert pictures[0] == pictures[1]


def test_every_theorem_holds_as_proved_and_every_instance_is_solved(two_runs):
    _, (numbers, _), _ = two_runs
    found = {claim["where"]: claim["verdict"] for claim in numbers["claims"]}
    for where in (
        "Theorem 2", "Theorem 4, as proved", "Theorems 6 and 8", "Lemma 7", "Duality gaps",
        "Section 1.1, best threshold", "Section 1.1, threshold at 0",
    ):  # fmt: skip
        assert found[where] == verdicts.HOLDS
    assert found["Theorem 4, as printed"] == verdicts.FAILS
    assert found["Theorem 6, as printed"] == verdicts.PARTLY
    for where in ("Penguin, AP ahead after 1", "Penguin, with a blurred unary"):
        assert found[where] == verdicts.OTHER, "a quick run has no gaps to set beside the paper's"
    for solved in numbers["beyond"].values():
        values = [one["value"] for one in solved.values()]
        assert values == pytest.approx([values[0]] * len(values))
        assert {one["status"] for one in solved.values()} == {"OPTIMAL"}
    assert {one["status"] for one in numbers["superpixels"].values()} == {"OPTIMAL"}


def test_published_times_stand_beside_the_published_instances_alone(two_runs):
    """A quarter picture has no published minimum and no published time to be compared with."""
    folders, (numbers, _), _ = two_runs
    images = {path.stem: path.read_bytes() for path in folders[0].glob("*.png")}
    page = report.page(numbers, images)
    assert not re.search("SparseCard|push-relabel|published exact", page)
    published = {
        "published_value": -1.0, "published_exact_seconds": 187.2, "published_arcs": 1e6,
        "approximate": [
            {"relative_error": 0.1, "published_seconds": 2.3, "seconds": 1.0, "passes": 1.0}
        ],
    }  # fmt: skip
    found = {key: one | published for key, one in numbers["superpixels"].items()}
    likeness = numbers["likeness"] | {"rms_log_error": 0.144}
    changed = {"comparable": True, "superpixels": found, "likeness": likeness}
    full = report.page({**numbers, **changed}, images)
    assert re.search("SparseCard.*187.2.*2.3", full, re.DOTALL)
    assert "an RMS log\nerror of 0.14" in full


def test_the_page_escapes_what_it_is_told(two_runs):
    folders, (numbers, _), _ = two_runs
    images = {path.stem: path.read_bytes() for path in folders[0].glob("*.png")}
    claims = [{**numbers["claims"][0], "claim": "<b>"}]
    page = report.page({**numbers, "claims": claims}, images)
    assert "<td>&lt;b&gt;</td>" in page


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
