"""Fingers, and photographs that are dropped or pasted on the page, in a real browser."""

from __future__ import annotations

import base64

import pytest

pytest.importorskip("starlette")
pytest.importorskip("typer")

from submin import vision
from tests.page import browser
from tests.page.conftest import INSIDE, OUTSIDE, scene

if lacking := browser.missing():
    pytest.skip(f"browser tests: {lacking}", allow_module_level=True)


def fingers(page, *paths):
    """Move fingers along paths through the photograph, all at once."""
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.common.actions.pointer_input import PointerInput

    builder = ActionBuilder(page.driver, duration=20)
    builder.devices = []
    for number, path in enumerate(paths):
        places = page.places(path)
        finger = PointerInput("touch", f"finger {number}")
        builder.devices.append(finger)
        finger.create_pointer_move(duration=0, x=places[0][0], y=places[0][1])
        finger.create_pointer_down(button=0)
        for x, y in places[1:]:
            finger.create_pointer_move(duration=20, x=x, y=y)
        finger.create_pointer_up(0)
    builder.perform()


def test_one_finger_paints(page):
    page.tool("object")
    fingers(page, INSIDE)
    page.until("submin.picture.labels.includes(2)")
    page.tool("background")
    fingers(page, OUTSIDE)
    page.until("submin.picture.labels.includes(1)")
    page.proved()
    disc = scene(120, 180)[:, :, 0] > 135
    assert abs(page.mask()[1] - disc.sum()) < 0.02 * disc.sum()


def test_two_fingers_zoom_and_paint_nothing(page):
    before = page.script("return submin.picture.scale")
    page.tool("object")
    fingers(page, [[80, 60], [60, 60], [40, 60]], [[100, 60], [120, 60], [140, 60]])
    page.until("submin.picture.scale > 1.5 * arguments[0]", before)
    assert page.script("return submin.state.pointers.size === 0")
    assert not page.script("return submin.picture.labels.includes(2)")


DROP = """
const bytes = Uint8Array.from(atob(arguments[0]), (c) => c.charCodeAt(0));
const data = new DataTransfer();
data.items.add(new File([bytes], arguments[1], { type: "image/png" }));
"""


@pytest.mark.parametrize(
    "event",
    [
        'window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }))',
        'window.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data }))',
    ],
)
def test_photographs_are_dropped_and_pasted(page, tmp_path, event):
    vision.save_picture(scene(50, 70), tmp_path / "small.png")
    content = base64.b64encode((tmp_path / "small.png").read_bytes()).decode()
    page.script(DROP + event, content, "small.png")
    page.until("submin.picture.width === 70")
    assert "small.png" in page.script("return document.title")
