"""A robot user on twelve photographs: strokes until 1 % of the pixels are wrong.

    python benchmarks/robot_user.py DATA [--strokes 20] [--only WORD]

DATA is the folder of the GrabCut photographs (images/, ground_truth/).  The robot paints where the
mask is most wrong: at the deepest point of the largest wrong region it draws a straight stroke, as
long as the region lets it, and asks again.  It starts without a mask, so the first stroke is on the
object.  Wrong pixels are counted among those that the ground truth decides.  The same robot uses
OpenCV's grabCut (one iteration for each stroke), if opencv-python-headless is installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import ndimage

from submin import vision
from submin.page.marks import Marks
from submin.page.photograph import Photograph
from submin.page.studio import Settings, Studio

GOAL = 0.01
RADIUS = 5.0
LONGEST = 150
DIRECTIONS = 16
UNDECIDED = 128

Follow = Callable[[Marks], np.ndarray]


def stroke(wrong: np.ndarray) -> np.ndarray | None:
    """Return two points of a stroke in the largest wrong region, x and y; None if none is left."""
    regions, count = ndimage.label(wrong)
    if not count:
        return None
    largest = regions == 1 + int(np.argmax(np.bincount(regions.ravel())[1:]))
    depth = ndimage.distance_transform_edt(np.pad(largest, 1))[1:-1, 1:-1]
    centre = np.array(np.unravel_index(int(depth.argmax()), depth.shape))
    least = min(RADIUS + 1.0, 0.6 * depth.max())
    best = max(
        (ray(depth, centre, angle, least) for angle in np.arange(DIRECTIONS) * np.pi / DIRECTIONS),
        key=lambda ends: float(np.abs(ends[0] - ends[1]).sum()),
    )
    return best[:, ::-1] + 0.5


def ray(depth: np.ndarray, centre: np.ndarray, angle: float, least: float) -> np.ndarray:
    """Return both ends of the line through the centre that stays deep in the region."""
    along = np.array([np.sin(angle), np.cos(angle)])
    ends = []
    for sign in (1.0, -1.0):
        place = centre.astype(float)
        for _ in range(LONGEST // 2):
            ahead = np.rint(place + sign * along).astype(int)
            outside = (ahead < 0).any() or (ahead >= depth.shape).any()
            if outside or depth[tuple(ahead)] < least:
                break
            place = place + sign * along
        ends.append(place)
    return np.array(ends)


def strokes_needed(truth: np.ndarray, most: int, follow: Follow) -> tuple[int, list[float]]:
    """Return after how many strokes the goal is reached (most + 1 if never), and all errors."""
    decided, marks = truth != UNDECIDED, Marks(truth.shape)
    mask, errors = np.zeros(truth.shape, bool), []
    for count in range(1, most + 1):
        line = stroke((mask != (truth > UNDECIDED)) & decided & (marks.labels == 0))
        if line is None:
            return count - 1, errors
        x, y = line.mean(axis=0).astype(int)
        marks.paint(count, 2 if truth[y, x] > UNDECIDED else 1, line, RADIUS)
        marks.labels[~decided & (marks.labels > 0)] = 0  # a stroke says nothing false
        mask = follow(marks)
        errors.append(float((mask != (truth > UNDECIDED))[decided].mean()))
        if errors[-1] <= GOAL:
            return count, errors
    return most + 1, errors


def page(photograph: Photograph, learn: bool) -> Follow:
    """Return what answers as the page does, whether every stroke teaches its colours or not."""
    settings, now = Settings(learn=learn), {"studio": None, "sides": None}

    def follow(marks: Marks) -> np.ndarray:
        some_object, some_background, _ = sides = marks.painted
        both = some_object and some_background
        if now["studio"] is None or not both or (sides != now["sides"] and not learn):
            now["studio"] = Studio(photograph, settings, marks.lesson())
        now["sides"] = sides
        mask = solved(now["studio"], marks)
        if learn and both:
            now["studio"] = Studio(photograph, settings, marks.lesson(mask))
            mask = solved(now["studio"], marks)
        return mask

    return follow


def solved(studio: Studio, marks: Marks) -> np.ndarray:
    """Return the mask of a studio."""
    studio.follow(marks.seeds(), studio.settings)
    return studio.solve_whole(lambda: False).result.minimizer


def grabcut(pixels: np.ndarray) -> Follow:
    """Return what OpenCV answers, going on from its last mask."""
    import cv2

    bgr = np.ascontiguousarray(pixels[:, :, ::-1])
    state: dict[str, np.ndarray] = {}

    def follow(marks: Marks) -> np.ndarray:
        cv2.setRNGSeed(0)
        mask = state.get("mask", np.full(marks.shape, cv2.GC_PR_BGD, np.uint8)).copy()
        mask[marks.labels == 1], mask[marks.labels == 2] = cv2.GC_BGD, cv2.GC_FGD
        models = np.zeros((1, 65)), np.zeros((1, 65))
        mask, _, _ = cv2.grabCut(bgr, mask, None, *models, 1, cv2.GC_INIT_WITH_MASK)
        state["mask"] = mask
        return (mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)

    return follow


def photographs(folder: Path, only: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, pixels and truth."""
    for path in sorted((folder / "images").iterdir()):
        truth = next((folder / "ground_truth").glob(f"{path.stem}.*"), None)
        if only in path.stem and truth is not None:
            labels = vision.read_photograph(truth)
            yield (
                path.stem,
                vision.read_photograph(path),
                labels if labels.ndim == 2 else labels[..., 0],
            )


def main() -> None:
    """Print the strokes that each photograph needs, and medians."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--strokes", type=int, default=20, help="the most for a photograph")
    parser.add_argument("--only", default="", help="a part of the photographs' names")
    arguments = parser.parse_args()
    rows = []
    for name, pixels, truth in photographs(arguments.data, arguments.only):
        photograph = Photograph.of(name, pixels)
        ways = {"page": page(photograph, True), "colours kept": page(photograph, False)}
        if find_spec("cv2"):
            ways["opencv"] = grabcut(pixels)
        row = {}
        for way, follow in ways.items():
            row[way], errors = strokes_needed(truth, arguments.strokes, follow)
            if row[way] > arguments.strokes:
                print(f"    {name} {way}: {100 * errors[-1]:.2f} % wrong")
        rows.append(row)
        print(name, row, flush=True)
    for way in rows[0]:
        print(f"{way}: median {np.median([row[way] for row in rows]):g} strokes")


if __name__ == "__main__":
    main()
