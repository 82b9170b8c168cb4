"""The page in a real browser: milliseconds from the end of a stroke to its mask on the screen.

    python benchmarks/paint.py [--strokes 50] [--pause 0.5]

Needs Chromium with its driver, and selenium.  Strokes are the same in each run: half of them take
pixels away from the object and half add some, always against the mask of the moment, so that each
changes it.  Then the slider "less or more object" is moved through precomputed masks.  The page
measures by itself: from the event of the pointer to the frame that shows the mask.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.page.browser import Browser, browsing, serving

SAMPLES = {"coffee": (640, 480), "astronaut": (512, 512)}
STEPS = (5, -10, 20, 30, -35, 40, 12, -3, 0, 60)


def photograph(name: str, folder: Path) -> Path:
    """Write a sample in the size that is measured."""
    from PIL import Image

    from submin.vision import sample

    path = folder / f"{name}.png"
    Image.fromarray(sample(name).image()).resize(SAMPLES[name], Image.Resampling.LANCZOS).save(path)
    return path


def paint(browser: Browser, name: str, count: int, pause: float) -> None:
    """Paint the first strokes of either side, and then against the mask."""
    width, height = SAMPLES[name]
    rng = np.random.default_rng(0)
    browser.paint("object", [[0.45 * width, 0.4 * height], [0.5 * width, 0.55 * height]])
    browser.proved()
    browser.paint("background", [[20, 20], [25, height - 20]])
    browser.proved()
    browser.script("performance.clearMeasures()")
    while len(browser.strokes()) < count:
        x, y = int(rng.integers(20, width - 100)), int(rng.integers(20, height - 60))
        inside = browser.script(
            "return submin.picture.mask[arguments[0]]", (y + 10) * width + x + 30
        )
        points = [[x, y], [x + 20, y + 5], [x + 40, y + 20], [x + 60, y + 25]]
        browser.paint("background" if inside else "object", points)
        time.sleep(pause)


def slide(browser: Browser) -> None:
    """Move the slider, once everything is there."""
    browser.until("document.getElementById('more').dataset.ready === 'yes'")
    for value in STEPS:
        before = len(browser.durations("slider"))
        browser.script(
            "const m = document.getElementById('more'); m.value = arguments[0];"
            "m.dispatchEvent(new Event('input'))", value,
        )  # fmt: skip
        browser.until("performance.getEntriesByName('slider').length > arguments[0]", before)


def described(numbers: list[float]) -> str:
    """Return median, 95th percentile and maximum."""
    return (
        f"median {np.median(numbers):.0f} ms, 95th percentile {np.percentile(numbers, 95):.0f} ms, "
        f"largest {max(numbers):.0f} ms of {len(numbers)}"
    )


def main() -> None:
    """Print the milliseconds of strokes and slider steps for each photograph."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--strokes", type=int, default=50)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between strokes")
    arguments = parser.parse_args()
    for name, (width, height) in SAMPLES.items():
        with tempfile.TemporaryDirectory() as text:
            folder = Path(text)
            path = photograph(name, folder)
            with serving(str(path)) as address, browsing(folder) as browser:
                browser.open(address, None)
                browser.until("!!submin.picture.photo")
                paint(browser, name, arguments.strokes, arguments.pause)
                print(f"{name} {height} x {width}: strokes {described(browser.strokes())}")
                slide(browser)
                print(f"{name} {height} x {width}: slider {described(browser.durations('slider'))}")


if __name__ == "__main__":
    main()
