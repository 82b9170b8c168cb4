"""The whole study: measure, draw, write."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from submin import __version__
from submin._files import whole_file
from submin._json import to_json
from submin._typing import BoolArray
from submin.api import minimize, prox
from submin.problem import Problem
from submin.reproduce import beyond, figures, gaps, report, theory
from submin.reproduce.claims import judge
from submin.reproduce.instances import PUBLIC, QUICK_STEP, SAMPLES, Instance, load
from submin.terms import GridCut

Progress = Callable[[str], object]

SEEDS = (0, 1, 2, 3, 4)
QUICK_SEEDS = (0, 1)
PASSES = 100
"""The paper's longest run: 100 projections per block."""
SCALES = {"octopus": (1.0, 10.0, 100.0), "penguin": (0.1, 1.0, 10.0)}
"""Factors on lambda, which the paper does not publish, on two of the instances."""


class Study(NamedTuple):
    """What was measured, before it becomes figures and JSON."""

    instances: Sequence[Instance]
    curves: Mapping[str, Mapping[str, gaps.Curve]]
    exact: Mapping[str, BoolArray]
    numbers: dict[str, Any]


def reproduce(
    output: str | PathLike[str],
    data: str | PathLike[str] | None = None,
    quick: bool = False,
    seeds: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run the paper's experiments again and write a report.

    Parameters
    ----------
    output : path
        Folder for ``index.html``, the figures (``*.png``) and ``numbers.json``; made if missing.
    data : path, optional
        Folder of the public instances (``coopcut/*.mat``, ``grabcut/images``,
        ``grabcut/scribbles``); by default four photographs of scikit-image take their place.
    quick : bool, optional
        Every fourth pixel along each axis, two seeds and fewer graphs: under a minute.
    seeds : sequence of int, optional
        Seeds of the random methods; 0 to 4 by default, 0 and 1 for a quick run.
    progress : callable (line), optional
        Told what is being done.

    Returns
    -------
    dict
        All numbers of the report; those with ``seconds`` in their name are the only ones that
        differ between two runs.

    Raises
    ------
    FileNotFoundError
        If the data folder lacks a file.
    ValueError
        If no seed is given.
    ImportError
        If a package of ``submin[vision]`` is not installed.
    """
    chosen = tuple(seeds) if seeds is not None else (QUICK_SEEDS if quick else SEEDS)
    if not chosen:
        raise ValueError("seeds is empty: give one seed or more")
    started = time.perf_counter()
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    study = measure(None if data is None else Path(data), quick, chosen, progress or _silent)
    study.numbers["seconds"] = time.perf_counter() - started
    write(folder, study)
    return study.numbers


def _silent(_: str) -> None:
    """Say nothing."""


def measure(data: Path | None, quick: bool, seeds: Sequence[int], progress: Progress) -> Study:
    """Measure everything that the report shows."""
    progress("building the instances")
    instances = load(data, quick)
    curves = {
        instance.key: gaps.compare(instance, gaps.METHODS, seeds, PASSES, progress)
        for instance in instances
    }
    optima = {instance.key: minimize(instance.problem) for instance in instances}
    step = QUICK_STEP if quick else 1
    progress("theorems against measurement")
    numbers: dict[str, Any] = {
        "version": __version__, "quick": quick, "seeds": list(seeds), "passes": PASSES,
        "data": PUBLIC if data else SAMPLES,
        "instances": {one.key: _facts(one) for one in instances},
        "gaps": {key: {n: c.numbers() for n, c in found.items()} for key, found in curves.items()},
        "theory": {
            name: [asdict(case) for case in cases] for name, cases in theory.measure(quick).items()
        },
        "variants": _variants(instances, curves, seeds[:1], progress),
        "smoothing": _smoothing(instances, curves, seeds[:1], progress),
        "iterations": gaps.iteration_costs(_penguin(instances).problem, 400),
        "thresholding": _thresholding(_penguin(instances), progress),
        "beyond": {one.key: beyond.finish(one, progress) for one in instances},
        "superpixels": beyond.superpixels(data, step, progress) if data else {},
    }  # fmt: skip
    numbers["claims"] = judge(numbers)
    exact = {key: result.minimizer for key, result in optima.items()}
    return Study(instances, curves, exact, numbers)


def _penguin(instances: Sequence[Instance]) -> Instance:
    return next(one for one in instances if one.key == "penguin")


def _facts(instance: Instance) -> dict[str, Any]:
    problem = instance.problem
    (grid,) = problem.terms
    blocks = grid.blocks("matchings", 1)
    return {
        "title": instance.title, "source": instance.source, "smoothing": instance.smoothing,
        "shape": list(problem.shape), "pixels": problem.n, "edges": grid.size,
        "connectivity": instance.connectivity, "matchings": len(blocks),
        "blocks_are_matchings": _are_matchings(grid),
    }  # fmt: skip


def _are_matchings(grid: Any) -> bool:
    """Say whether the blocks take every edge once, and no block a pixel twice."""
    tails, heads = grid.edge_list()
    taken = np.zeros(grid.size, dtype=np.int64)
    slots = np.arange(grid.size, dtype=np.float64)
    for block in grid.blocks("matchings", 1):
        edges = block.take(slots).astype(np.int64)
        taken[edges] += 1
        pixels = np.concatenate([tails[edges], heads[edges]])
        if np.bincount(pixels).max() > 1:
            return False
    return bool(np.all(taken == 1))


def _variants(
    instances: Sequence[Instance],
    curves: Mapping[str, Mapping[str, gaps.Curve]],
    seeds: Sequence[int],
    progress: Progress,
) -> dict[str, Any]:
    """Return the gaps of variants of ACDM at the last pass, beside the paper's, of one seed."""
    found: dict[str, Any] = {}
    for instance in instances:
        variants = gaps.compare(instance, gaps.VARIANTS, seeds, PASSES, progress)
        known = {name: curves[instance.key][name].first_seed() for name in ("RCDM", "ACDM")}
        found[instance.key] = {
            name: dict(zip(("smooth_gap", "discrete_gap"), curve.at(PASSES), strict=True))
            for name, curve in {**known, **variants}.items()
        }
    return found


def _smoothing(
    instances: Sequence[Instance],
    curves: Mapping[str, Mapping[str, gaps.Curve]],
    seeds: Sequence[int],
    progress: Progress,
) -> list[dict[str, Any]]:
    """Return the three methods' gaps at the last pass for several factors of the weights."""
    rows = []
    for instance in instances:
        for scale in SCALES.get(instance.key, ()):
            title = f"{instance.title}, lambda times {scale:g}"
            scaled = replace(instance, problem=_scaled(instance.problem, scale), title=title)
            found = (
                {name: curve.first_seed() for name, curve in curves[instance.key].items()}
                if scale == 1.0
                else gaps.compare(scaled, gaps.METHODS, seeds, PASSES, progress)
            )
            rows.append({
                "instance": instance.key, "smoothing": scale * instance.smoothing,
                "gaps": {name: curve.at(PASSES) for name, curve in found.items()},
            })  # fmt: skip
    return rows


def _scaled(problem: Problem, scale: float) -> Problem:
    """Multiply the weights of a grid cut."""
    (grid,) = problem.terms
    arrays = grid.arrays()
    connectivity = int(arrays["connectivity"])
    weights = [scale * arrays[f"weights_{k}"] for k in range(connectivity // 2)]
    return Problem(problem.unary, [GridCut(problem.shape, weights, connectivity)])


def _thresholding(instance: Instance, progress: Progress) -> dict[str, float]:
    """Threshold a nearly optimal proximal point at 0, and compare with the exact minimum."""
    progress(f"{instance.title}: proximal point")
    found = prox(instance.problem, tol=1e-6, max_passes=400)
    (smallest, largest) = (instance.problem.evaluate(x) for x in (found.x > 0, found.x >= 0))
    return {
        "smooth_gap": float(found.history[-1].smooth_gap), "passes": found.passes,
        "value_above": smallest, "value_at_or_above": largest,
        "minimum": minimize(instance.problem).value,
    }  # fmt: skip


def write(folder: Path, study: Study) -> None:
    """Write figures, page and numbers."""
    pictures = figures.draw(study.instances, study.curves, study.exact, study.numbers)
    for name, figure in pictures.items():
        with whole_file(folder / f"{name}.png") as file:
            figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    images = {name: (folder / f"{name}.png").read_bytes() for name in pictures}
    texts = {
        "numbers.json": to_json(study.numbers, indent=1),
        "index.html": report.page(study.numbers, images),
    }
    for name, text in texts.items():
        with whole_file(folder / name) as file:
            file.write(text.encode())
