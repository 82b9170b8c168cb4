"""A real browser on the page: headless Chromium, driven by Selenium."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PATIENCE = 90.0
"""Seconds to wait for anything: generous, since nothing waits longer than it must."""


def missing() -> str:
    """What a browser test lacks; "" if nothing."""
    if find_spec("selenium") is None:
        return "selenium is not installed"
    programs = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if not programs:
        return ""
    return f"no {' and '.join(programs)} (apt-get install chromium chromium-driver)"


def started(options: Any, attempts: int = 3) -> Any:
    """Start the browser; on a busy machine the first attempt may time out."""
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service

    service = Service(str(shutil.which("chromedriver")))
    try:
        return webdriver.Chrome(options=options, service=service)
    except WebDriverException:
        if attempts == 1:
            raise
        return started(options, attempts - 1)


class Browser:
    """One window."""

    def __init__(self, folder: Path, size: tuple[int, int] = (1200, 800)) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for argument in (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", f"--window-size={size[0]},{size[1]}",
            f"--user-data-dir={folder}/user",
        ):  # fmt: skip
            options.add_argument(argument)
        options.add_experimental_option(
            "prefs",
            {
                "download.default_directory": str(folder),
                "download.prompt_for_download": False,
                "profile.default_content_setting_values.automatic_downloads": 1,
            },
        )
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.folder = folder
        self.driver = started(options)

    def script(self, code: str, *arguments: Any) -> Any:
        """Run JavaScript."""
        return self.driver.execute_script(code, *arguments)

    def until(self, expression: str, *arguments: Any) -> Any:
        """Wait until an expression of JavaScript is true, and return it."""
        from selenium.webdriver.support.ui import WebDriverWait

        wait = WebDriverWait(self.driver, PATIENCE, 0.03)
        return wait.until(lambda _: self.script(f"return {expression}", *arguments), expression)

    def open(self, address: str, sample: str | None = "coffee") -> None:
        """Open the page, and a sample on it."""
        self.driver.get(address)
        self.until("document.querySelectorAll('#samples button').length > 0")
        if sample is not None:
            self.click(f"[data-sample={sample}]")
            self.until("!!submin.picture.photo && document.getElementById('start').hidden")

    def click(self, selector: str) -> None:
        """Click what a selector finds."""
        self.script("document.querySelector(arguments[0]).click()", selector)

    def tool(self, name: str) -> None:
        """Take a tool."""
        self.click(f"[name=tool][value={name}]")

    def places(self, points: Sequence[Sequence[float]]) -> list[list[int]]:
        """Where points of the photograph are on the screen."""
        return list(
            self.script(
                "const p = submin.picture, r = p.canvas.getBoundingClientRect();"
                "return arguments[0].map(([x, y]) =>"
                " [Math.round(r.left + p.x + x * p.scale), Math.round(r.top + p.y + y * p.scale)])",
                points,
            )
        )

    def drag(self, points: Sequence[Sequence[float]]) -> None:
        """Drag the pointer through points of the photograph."""
        from selenium.webdriver.common.action_chains import ActionChains

        places = self.places(points)
        chain = ActionChains(self.driver, duration=10)
        pointer = chain.w3c_actions.pointer_action
        pointer.move_to_location(*places[0])
        pointer.pointer_down()
        for place in places[1:]:
            pointer.move_to_location(*place)
        pointer.pointer_up()
        chain.perform()

    def paint(self, tool: str, points: Sequence[Sequence[float]]) -> None:
        """Paint a stroke, and wait for its mask."""
        before = self.strokes()
        self.tool(tool)
        self.drag(points)
        self.until("performance.getEntriesByName('stroke').length > arguments[0]", len(before))

    def strokes(self) -> list[float]:
        """Milliseconds from the end of each stroke to its mask on the screen."""
        return self.durations("stroke")

    def durations(self, name: str) -> list[float]:
        """Milliseconds of what the page measures."""
        return list(
            self.script(
                "return performance.getEntriesByName(arguments[0]).map(e => e.duration)", name
            )
        )

    def proved(self) -> None:
        """Wait until the mask is proved optimal and no lesson is on its way."""
        self.until(
            "document.getElementById('badge').dataset.state === 'proved'"
            " && !submin.state.follows && !(submin.state.work || {}).lesson"
        )

    def mask(self) -> list[int] | None:
        """Flat numbers of the mask's pixels: first, count and sum, which tell masks apart."""
        return self.script(
            "const m = submin.picture.mask; if (!m) return null;"
            "let n = 0, s = 0; for (let i = 0; i < m.length; i++) if (m[i]) { n++; s += i; }"
            "return [m.indexOf(1), n, s]"
        )

    def saved(self, what: str, name: str) -> Path:
        """Save a file, and wait for it."""
        from selenium.webdriver.support.ui import WebDriverWait

        path = self.folder / name
        path.unlink(missing_ok=True)
        self.click(f"[data-save={what}]")
        WebDriverWait(self.driver, PATIENCE, 0.05).until(lambda _: path.is_file())
        return path

    def complaints(self) -> list[str]:
        """What the console says."""
        return [str(line["message"]) for line in self.driver.get_log("browser")]

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()


@contextmanager
def browsing(folder: Path, size: tuple[int, int] = (1200, 800)) -> Iterator[Browser]:
    """Open a browser, and close it whatever happens."""
    browser = Browser(folder, size)
    try:
        yield browser
    finally:
        browser.close()


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Run ``submin paint``, and yield the address of its page."""
    command = [sys.executable, "-m", "submin", "paint", "--no-browser", "--quiet", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, "submin paint did not start"
            yield address
        finally:
            process.terminate()
            process.wait(timeout=30)
