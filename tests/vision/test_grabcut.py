"""Photographs of the GrabCut set, with ground truth."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.vision import read_photograph

UNDECIDED = 128


@pytest.mark.parametrize(("name", "largest_error"), [("106024", 0.02), ("teddy", 0.02)])
def test_error_rate(name, largest_error, data_folder):
    folder = data_folder / "grabcut"
    image = read_photograph(folder / "images" / f"{name}.jpg")
    box = folder / "boxes" / f"{name}.txt"
    if box.exists():
        marks = {"box": [int(number) for number in box.read_text().split()]}
    else:
        marks = {"scribbles": read_photograph(folder / "scribbles" / f"{name}.png")}
    found = sm.segment(image, **marks)
    truth = read_photograph(folder / "ground_truth" / f"{name}.png")
    decided = truth != UNDECIDED
    assert np.mean((found.mask != (truth > UNDECIDED))[decided]) < largest_error
    assert np.all(np.diff(found.energies) <= 0)
    assert found.status is sm.Status.OPTIMAL
