"""The MR volume of the data folder, cut by scribbles: energies beside that of its stored answer.

    python benchmarks/volume.py DATA [--strokes FILE.nii.gz]

The stored answer is that of a graph-cut code in single precision, under the energy of
``DATA/README.md``: probabilities that a network left, and weights by contrast.  ``graph_cut``
minimises the same energy exactly.  Then scribbles alone, drawn in three slices after the stored
answer, are all that is known: the mask that ``submin segment`` finds costs what it costs under that
energy, and is compared with the stored one voxel by voxel.  ``--strokes`` writes the scribbles.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from submin.vision import graph_cut
from submin.volumes import Volume, read_volume, segment_volume

SLICES = (35, 55, 75)
"""Where scribbles are drawn, along the last axis."""
CLEAR = 4
"""Voxels between a scribble and the boundary of the stored answer."""


def scribbles_after(answer: np.ndarray) -> np.ndarray:
    """Return a stroke through the object and two beside it, in each of three slices."""
    from scipy.ndimage import binary_erosion

    inner = binary_erosion(answer, iterations=CLEAR)
    outer = binary_erosion(~answer, iterations=CLEAR, border_value=1)
    marks = np.zeros(answer.shape, dtype=np.uint8)
    for place in SLICES:
        inside = np.argwhere(inner[:, :, place])
        middle = inside[np.argmin(((inside - inside.mean(axis=0)) ** 2).sum(axis=1))]
        marks[middle[0], inner[middle[0], :, place], place] = 2
        low, high = (f(np.argwhere(answer[:, :, place]), axis=0) for f in (np.min, np.max))
        for column in (max(low[1] - 6, 0), min(high[1] + 6, answer.shape[1] - 1)):
            rows = np.arange(low[0], high[0] + 1)
            rows = rows[outer[rows, column, place]]
            marks[rows, column, place] = 1
    return marks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--strokes", type=Path, help="write the scribbles there")
    options = parser.parse_args()
    image, initial, stored = (read(options.data, name) for name in (
        "2013_12_1_img", "2013_12_1_init", "seg_auto"
    ))  # fmt: skip
    answer = stored.voxels > 0
    marks = scribbles_after(answer)
    if options.strokes:
        image.save(options.strokes, marks)
    print("| mask | energy | voxels | overlap (Dice) | seconds |\n|---|---|---|---|---|")
    exact = minimised(image.voxels, initial.voxels)
    row = ("the stored answer", exact.problem.evaluate(answer), answer)
    print_row(*row, answer)
    start = time.perf_counter()
    exact = minimised(image.voxels, initial.voxels)
    seconds = time.perf_counter() - start
    best = exact.labels == 2
    print_row(f"the same energy, {proved(exact)}", exact.value, best, answer, seconds)
    above = exact.problem.evaluate(answer) - exact.value
    for connectivity in (6, 26):
        for whole in (False, True):
            start = time.perf_counter()
            found = segment_volume(
                image.voxels, marks, spacing=image.spacing, connectivity=connectivity, whole=whole
            )
            seconds = time.perf_counter() - start
            part = " x ".join(map(str, found.result.minimizer.shape))
            name = (
                f"{np.count_nonzero(marks)} voxels of scribbles, {connectivity} neighbours, {part}"
            )
            value = exact.problem.evaluate(found.mask)
            print_row(f"{name}, {proved(found)}", value, found.mask, answer, seconds)
    print(
        f"\nThe stored answer costs {above:.1e} more than the minimum, which differs in "
        f"{np.count_nonzero(best != answer)} voxels."
    )


def read(folder: Path, name: str) -> Volume:
    return read_volume(folder / "volume" / f"simplecrf_{name}.nii.gz")


def minimised(image: np.ndarray, initial: np.ndarray):
    """Minimise the energy of the stored answer."""
    chance = 0.5 + 0.8 * (initial - 0.5)
    return graph_cut(
        image, np.zeros(image.shape, dtype=int), probabilities=np.stack([1.0 - chance, chance]),
        smoothness=10.0, contrast=15.0, connectivity=6,
    )  # fmt: skip


def proved(found) -> str:
    result = found.result
    return f"{result.status.name}, gap {result.gap:.2g}"


def print_row(
    name: str, energy: float, mask: np.ndarray, answer: np.ndarray, seconds: float | None = None
) -> None:
    overlap = 2.0 * np.count_nonzero(mask & answer) / (mask.sum() + answer.sum())
    time_ = "" if seconds is None else f"{seconds:.1f}"
    print(f"| {name} | {energy:.4f} | {int(mask.sum())} | {overlap:.3f} | {time_} |", flush=True)


if __name__ == "__main__":
    main()
