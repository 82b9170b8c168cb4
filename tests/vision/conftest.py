"""Small photographs with a known object."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

for package in ("skimage", "sklearn", "PIL"):
    pytest.importorskip(package, reason='these tests need pip install "submin[vision]"')


class Scene(NamedTuple):
    """A noisy photograph (uint8 RGB), its true object, and a loose box."""

    image: np.ndarray
    truth: np.ndarray
    box: tuple[int, int, int, int]

    @property
    def scribbles(self) -> np.ndarray:
        """A stroke through the object (2) and one along the left border (1)."""
        labels = np.zeros(self.truth.shape, dtype=np.int64)
        rows, columns = np.nonzero(self.truth)
        labels[round(rows.mean()), columns.min() + 3 : columns.max() - 2] = 2
        labels[2:-2, 1] = 1
        return labels


@pytest.fixture(scope="session")
def scene() -> Scene:
    """An orange ellipse on a bluish background."""
    rng = np.random.default_rng(5)
    rows, columns = np.mgrid[:40, :56]
    truth = ((rows - 19) / 11.0) ** 2 + ((columns - 29) / 16.0) ** 2 < 1.0
    colour = np.where(truth[..., None], (200.0, 110.0, 40.0), (70.0, 100.0, 150.0))
    image = np.clip(colour + rng.normal(0.0, 12.0, colour.shape), 0, 255).astype(np.uint8)
    return Scene(image, truth, (9, 5, 50, 34))
