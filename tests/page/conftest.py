"""A small photograph that every test of the page can paint on."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("skimage")
pytest.importorskip("sklearn")


def scene(height: int = 40, width: int = 60) -> np.ndarray:
    """An orange disc on a blue ground, both noisy."""
    rng = np.random.default_rng(0)
    y, x = np.ogrid[:height, :width]
    disc = (y - height / 2) ** 2 + (x - width / 2) ** 2 < (height / 4) ** 2
    colours = np.where(disc[:, :, None], (230, 140, 30), (40, 90, 170))
    return np.clip(colours + rng.normal(0.0, 12.0, (height, width, 3)), 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def photograph():
    from submin.page.photograph import Photograph

    return Photograph.of("scene.png", scene())
