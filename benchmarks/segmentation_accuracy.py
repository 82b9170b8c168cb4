"""Error rates of `submin.segment` on photographs with ground truth.

    python benchmarks/segmentation_accuracy.py DATA [NAME ...] [--pictures FOLDER] [--superpixels N]
                                              [--seeds N]

DATA holds `images/*.jpg`, `ground_truth/*.png` (0 background, 128 undecided, 255 object), and
`boxes/*.txt` or `scribbles/*.png`.  A photograph with a box is segmented from the box alone, the
others from scribbles.  The error rate is the share of wrong pixels among the decided ones.  Colour
models begin at random means, so more seeds than one show how much is chance.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from submin.vision import Segmentation, read_photograph, segment, write_pictures

UNDECIDED = 128


def main() -> None:
    options = parsed_arguments()
    for seed in range(options.seeds):
        measure(options, seed)


def measure(options: argparse.Namespace, seed: int) -> None:
    names = options.names or sorted(path.stem for path in (options.data / "images").glob("*.jpg"))
    print(f"{'photograph':12} {'input':10} {'error':>7} {'energy':>16} {'gap':>9} "
          f"{'status':10} {'rounds':>6} {'passes':>7} {'seconds':>8}")  # fmt: skip
    errors, seconds = [], []
    for name in names:
        image = read_photograph(options.data / "images" / f"{name}.jpg")
        marks = marks_of(options.data, name, options.scribbles)
        found = segment(image, **marks, superpixels=options.superpixels, tol=options.tol,
                        seed=seed)  # fmt: skip
        errors.append(error_rate(options.data, name, found))
        seconds.append(found.seconds)
        print(row(name, "+".join(marks), errors[-1], found), flush=True)
        if options.pictures:
            write_pictures(options.pictures / name, image, found)
    print(
        f"seed {seed}: mean {100 * np.mean(errors):.2f} %, median {100 * np.median(errors):.2f} %; "
        f"{sum(seconds):.1f} seconds, median {np.median(seconds):.2f}"
    )


def parsed_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pictures", type=Path, help="write mask, cut-out, overlay, plot here")
    parser.add_argument("--scribbles", action="store_true", help="add the scribbles to each box")
    parser.add_argument("--superpixels", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tol", type=float, default=0.0)
    return parser.parse_args()


def marks_of(data: Path, name: str, both: bool) -> dict[str, Any]:
    """Return the box if there is one, and the scribbles if there is none or `both` is set."""
    marks: dict[str, Any] = {}
    box = data / "boxes" / f"{name}.txt"
    if box.exists():
        marks["box"] = [int(number) for number in box.read_text().split()]
    if both or not marks:
        marks["scribbles"] = read_photograph(data / "scribbles" / f"{name}.png")
    return marks


def error_rate(data: Path, name: str, found: Segmentation) -> float:
    truth = read_photograph(data / "ground_truth" / f"{name}.png")
    truth = truth if truth.ndim == 2 else truth[:, :, 0]
    return float(np.mean((found.mask != (truth > UNDECIDED))[truth != UNDECIDED]))


def row(name: str, marks: str, error: float, found: Segmentation) -> str:
    return (
        f"{name:12} {marks:10} {100 * error:6.2f}% {found.energies[-1]:16.4f} "
        f"{found.result.gap:9.2g} {found.status.name:10} {found.rounds:6d} {found.passes:7.0f} "
        f"{found.seconds:8.1f}"
    )


if __name__ == "__main__":
    main()
