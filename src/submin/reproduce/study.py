"""The whole study: measure, draw, write."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from submin import __version__
from submin._files import whole_file
from submin._json import to_json
from submin._typing import BoolArray
from submin.reproduce import beyond, figures, gaps, report, theory
from submin.reproduce.claims import judge
from submin.reproduce.instances import (
    PUBLIC,
    QUICK_STEP,
    SAMPLES,
    Instance,
    load,
    penguin_picture,
)
from submin.reproduce.likeness import like_the_paper
from submin.reproduce.refitted import refitted
from submin.reproduce.small_cases import overapproximation, threshold_excess
from submin.solve.api import minimize, prox

Progress = Callable[[str], object]

SEEDS = (0, 1, 2, 3, 4)
QUICK_SEEDS = (0, 1)
PASSES = 100
"""The paper's longest run: 100 projections per block."""
QUICK_JUDGED_AT = 25
"""On quarter pictures the methods have converged after 100, and their order means nothing."""
SCALES = {"octopus": (1 / 30, 1 / 3, 1.0, 10 / 3), "penguin": (0.1, 1.0, 10.0)}
"""Factors on lambda, which the paper does not publish, on two of the instances."""
ESO_BLOCKS, QUICK_ESO_BLOCKS = 10, 6
"""Lemma 7 is checked over all subsets of so many blocks."""


class Study(NamedTuple):
    """What was measured, before it becomes figures and JSON."""

    instances: Sequence[Instance]
    curves: Mapping[str, Mapping[str, gaps.Curve]]
    exact: Mapping[str, BoolArray]
    refitted: BoolArray
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
        ``grabcut/scribbles``, ``grabcut/ground_truth``); by default four photographs of
        scikit-image take their place.
    quick : bool, optional
        Every fourth pixel along each axis, two seeds and fewer graphs: about a minute.
    seeds : sequence of int, optional
        Seeds of the random methods; 0 to 4 by default, 0 and 1 for a quick run.
    progress : callable (line), optional
        Told what is being done.

    Returns
    -------
    dict
        All numbers of the report.  Those with ``seconds`` in their name, and the claim on the time
        that projections take, are the only ones that differ between two runs.

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
    penguin = next(one for one in instances if one.key == "penguin")
    curves = {
        instance.key: gaps.compare(instance, gaps.METHODS, seeds, PASSES, progress)
        for instance in instances
    }
    exact = {one.key: minimize(one.problem).minimizer for one in instances}
    step = QUICK_STEP if quick else 1
    segmented, mask = refitted(penguin_picture(data), exact["penguin"], step, progress)
    judged_at = QUICK_JUDGED_AT if quick else PASSES
    comparable = data is not None and not quick
    numbers: dict[str, Any] = {
        "version": __version__, "quick": quick, "seeds": list(seeds), "passes": PASSES,
        "judged_at": judged_at, "data": PUBLIC if data else SAMPLES,
        "comparable": comparable,
        "instances": {one.key: _facts(one) for one in instances},
        "gaps": {key: {n: c.numbers() for n, c in found.items()} for key, found in curves.items()},
        "segmented": segmented,
        "likeness": like_the_paper(penguin, comparable, step, seeds, PASSES, progress),
        "theory": _theory(quick, progress),
        "variants": _variants(instances, curves, seeds[:1], progress),
        "smoothing": _smoothing(instances, curves, seeds[:1], judged_at, progress),
        "iterations": gaps.iteration_costs(penguin.problem, 400),
        "thresholding": _thresholding(penguin, progress),
        "beyond": {one.key: beyond.finish(one, progress) for one in instances},
        "superpixels": beyond.superpixels(data, step, progress) if data else {},
    }  # fmt: skip
    numbers["claims"] = judge(numbers)
    return Study(instances, curves, exact, mask, numbers)


def _theory(quick: bool, progress: Progress) -> dict[str, Any]:
    """Return theorems and lemmas against measurement, as JSON fields."""
    progress("theorems against measurement")
    found = {
        name: [asdict(case) for case in cases] for name, cases in theory.measure(quick).items()
    }
    blocks = QUICK_ESO_BLOCKS if quick else ESO_BLOCKS
    return {
        **found,
        "overapproximation": [
            asdict(overapproximation(r, omega))
            for r in range(1, blocks + 1)
            for omega in sorted({1, (r + 1) // 2, r})
        ],
        "threshold_excess": max(map(threshold_excess, theory.graphs(quick))),
    }


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
    judged_at: int,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Return the three methods' gaps when they are judged, for several factors of the weights."""
    rows = []
    for instance in instances:
        for scale in SCALES.get(instance.key, ()):
            title = f"{instance.title}, lambda times {scale:g}"
            scaled = instance.changed(title, instance.problem.unary, scale)
            found = (
                {name: curve.first_seed() for name, curve in curves[instance.key].items()}
                if scale == 1.0
                else gaps.compare(scaled, gaps.METHODS, seeds, PASSES, progress)
            )
            rows.append({
                "instance": instance.key, "smoothing": scale * instance.smoothing,
                "gaps": {name: curve.at(judged_at) for name, curve in found.items()},
            })  # fmt: skip
    return rows


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
    pictures = figures.draw(
        study.instances, study.curves, study.exact, study.refitted, study.numbers
    )
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
