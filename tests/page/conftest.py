"""A small photograph that every test of the page can paint on, and a browser that shows it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("skimage")
pytest.importorskip("sklearn")

from submin import vision
from tests.page.browser import browsing, serving

HEIGHT, WIDTH = 120, 180
INSIDE = [[85, 55], [95, 62]]
OUTSIDE = [[10, 10], [12, 100]]


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


@pytest.fixture(scope="session")
def photo(tmp_path_factory):
    path = tmp_path_factory.mktemp("photo") / "scene.png"
    vision.save_picture(scene(HEIGHT, WIDTH), path)
    return path


@pytest.fixture(scope="session")
def address(photo):
    with serving(str(photo)) as address:
        yield address


@pytest.fixture(scope="session")
def window(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def page(window, address):
    """The photograph, freshly open."""
    window.open(address, None)
    window.until("!!submin.picture.photo && document.getElementById('start').hidden")
    yield window
    assert window.complaints() == []
