"""The public instances: published minima, published curves, and a published solution."""

from __future__ import annotations

import bz2
import pickle
from pathlib import Path

import numpy as np
import pytest

import submin as sm
from submin.files import read_dimacs

from .instances import fused_lasso, superpixel_problem

FUSED_LASSO_WEIGHT = 0.8685272417128072


@pytest.mark.parametrize(
    ("photograph", "superpixels", "cut", "consistency", "minimum", "size", "most_passes"),
    [
        ("001_oct", "p500", 0.01, 0.008, -4644857.732315713, 233465, 25),
        ("020_smallplant", "p500", 0.08, 0.008, -3015702.7204441344, 252223, 75),
        ("020_smallplant", "p200", 0.3, 0.002, -3004377.0839169645, 253715, 150),
    ],
)
def test_published_minima(
    data_folder, photograph, superpixels, cut, consistency, minimum, size, most_passes
):
    """Exact max-flow on a clique expansion took 187 to 1886 seconds to find these."""
    problem = superpixel_problem(data_folder, photograph, superpixels, cut, consistency)
    result = sm.minimize(problem, sm.AcceleratedSweeps(), max_passes=most_passes)
    assert result.status is sm.Status.OPTIMAL
    assert result.value == pytest.approx(minimum, rel=1e-13)
    assert result.minimizer.sum() == size
    assert result.gap <= 1e-7
    assert sm.verify(problem, result) == result.certificate


# The public implementation on smallplant p500, superpixels 1..500, blocks per column, row and
# superpixel: (smooth gap, discrete gap) after 5, 10 and 20 passes.
PUBLISHED = {
    "rcdm": [(1.84e5, 2768), (9.57e4, 1218), (4.28e4, 454)],
    "acdm": [(2.71e5, 3491), (1.00e5, 1104), (2.53e4, 206)],
    "ap": [(2.24e6, 40663), (2.22e6, 40312), (2.19e6, 39573)],
}


@pytest.fixture(scope="module")
def curves(data_folder):
    """The histories of the paper's three methods on the blocks of the public implementation."""
    problem = superpixel_problem(data_folder, "020_smallplant", "p500", 0.08, 0.008, 500)
    blocks = ("lines", "functions")
    assert sm.Layout(problem, blocks).r == 1565
    solvers = {
        "rcdm": sm.RCDM(),
        "acdm": sm.ACDM(epoch_passes=10, step_constant=None),
        "ap": sm.AP(),
    }
    return {
        name: sm.minimize(problem, solver, blocks=blocks, max_passes=20).history
        for name, solver in solvers.items()
    }


def at(history: sm.History, passes: float) -> int:
    """The record at a number of passes."""
    return int(np.argmin(np.abs(history.passes - passes)))


@pytest.mark.parametrize("solver", list(PUBLISHED))
def test_published_curves(curves, solver):
    """Same order of magnitude: within a factor of 2, of one random run each."""
    history = curves[solver]
    for passes, (smooth, discrete) in zip((5, 10, 20), PUBLISHED[solver], strict=True):
        record = history[at(history, passes)]
        assert record.passes == pytest.approx(passes, abs=0.01)
        assert 0.5 <= record.smooth_gap / smooth <= 2.0
        assert 0.5 <= record.discrete_gap / discrete <= 2.0


def test_the_order_of_the_methods(curves):
    """ACDM is ahead of RCDM from 15 passes on, and AP is far behind."""
    for passes in (15, 20):
        smooth = {name: history[at(history, passes)].smooth_gap for name, history in curves.items()}
        assert smooth["acdm"] < smooth["rcdm"] < 0.1 * smooth["ap"]


def test_published_fused_lasso(data_folder):
    """10,000 values, 19,800 edges, published objective 1645.6193837496705.

    Ours is lower by 0.0037, and its smooth gap proves that it is within 1e-6 of the minimum; by
    strong convexity the published solution is then within sqrt(2 * 0.0037) of ours.
    """
    y, edges, solution = fused_lasso(data_folder)
    assert (y.size, len(edges)) == (10_000, 19_800)

    def objective(x: np.ndarray) -> float:
        variation = np.abs(x[edges[:, 0]] - x[edges[:, 1]]).sum()
        return float(0.5 * np.sum((y - x) ** 2) + FUSED_LASSO_WEIGHT * variation)

    grid = sm.GridCut((100, 100), FUSED_LASSO_WEIGHT)
    result = sm.prox(sm.Problem(-y, [grid]), sm.AcceleratedSweeps(), tol=1e-6, max_passes=500)
    assert result.history[-1].smooth_gap <= 1e-6
    assert objective(solution) == pytest.approx(1645.6193837496705, abs=1e-6)
    excess = objective(solution) - objective(result.x)
    assert -1e-6 <= excess <= 0.01
    assert np.linalg.norm(solution - result.x) <= np.sqrt(2 * (excess + 1e-6)) + np.sqrt(2e-6)


@pytest.mark.parametrize("level", [0.9, 2.0, 3.3])
def test_level_sets_of_the_published_solution(data_folder, level):
    """Its level sets equal the minimum cuts exactly."""
    y, _, solution = fused_lasso(data_folder)
    grid = sm.GridCut((100, 100), FUSED_LASSO_WEIGHT)
    result = sm.minimize(sm.Problem((level - y).reshape(100, 100), [grid]))
    assert result.status is sm.Status.OPTIMAL
    assert np.array_equal(result.minimizer.ravel(), solution > level)


@pytest.mark.parametrize(("name", "flow"), [("gl1", 156545), ("gw1", 1202018), ("wlm3", 11875108)])
def test_flows_of_networkx(name, flow):
    """The networks in the tests of networkx: the arcs of node 1 out, those of the last node in."""
    package = pytest.importorskip("networkx.algorithms.flow")
    path = Path(package.__file__).parent / "tests" / f"{name}.gpickle.bz2"
    if not path.is_file():
        pytest.skip("this networkx comes without its tests")
    with bz2.open(path) as stream:
        graph = pickle.load(stream)
    tails, heads, capacities = np.array(list(graph.edges(data="capacity"))).T
    unary = np.zeros(len(graph))
    unary[0], unary[-1] = -np.inf, np.inf
    result = sm.minimize(sm.Problem(unary, [sm.Cut(tails - 1, heads - 1, capacities, 0.0)]))
    assert (result.value, result.gap, result.status) == (flow, 0.0, sm.Status.OPTIMAL)


def test_the_flow_of_igraph(data_folder):
    result = sm.minimize(read_dimacs(data_folder / "maxflow" / "igraph_ak-4102.max"))
    assert (result.value, result.gap, result.status) == (8207.0, 0.0, sm.Status.OPTIMAL)


def test_the_magnetic_resonance_volume(data_folder):
    """The stored answer of a graph-cut code in float32 costs 297344.8170: ours costs no more."""
    nibabel = pytest.importorskip("nibabel")
    folder = data_folder / "volume"
    image, initial, stored = (
        nibabel.load(folder / f"simplecrf_{name}.nii.gz").get_fdata()
        for name in ("2013_12_1_img", "2013_12_1_init", "seg_auto")
    )
    weights = [
        10.0 * np.exp(-(np.diff(image, axis=axis) ** 2) / (2.0 * 15.0**2)) for axis in (2, 1, 0)
    ]
    inside = 0.5 + 0.8 * (initial - 0.5)
    cut = sm.GridCut(image.shape, weights, 6)
    problem = sm.Problem.from_costs(-np.log(inside), -np.log(1.0 - inside), [cut])
    assert problem.evaluate(stored > 0) == pytest.approx(297344.8170, abs=1e-3)
    result = sm.minimize(problem)
    assert result.status is sm.Status.OPTIMAL
    assert result.value <= problem.evaluate(stored > 0)
