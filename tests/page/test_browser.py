"""The page in a real browser, with the server as a process of its own."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("typer")

from submin import vision
from tests.page import browser as module
from tests.page.conftest import HEIGHT, INSIDE, OUTSIDE, WIDTH, scene

if lacking := module.missing():
    pytest.skip(f"browser tests: {lacking}", allow_module_level=True)


def test_strokes_are_followed_and_taken_back(page):
    page.paint("object", INSIDE)
    page.paint("background", OUTSIDE)
    page.proved()
    first, disc = page.mask(), scene(HEIGHT, WIDTH)[:, :, 0] > 135
    assert abs(first[1] - disc.sum()) < 0.02 * disc.sum()
    page.paint("object", [[20, 60], [30, 70]])
    page.proved()
    second = page.mask()
    assert second[1] > first[1]
    page.click("#undo")
    page.until("submin.picture.labels[60 * 180 + 20] === 0")
    page.proved()
    assert page.mask() == first
    page.click("#redo")
    page.until("submin.picture.labels[60 * 180 + 20] === 2")
    page.proved()
    assert page.mask() == second
    assert page.script("return document.getElementById('gap').textContent") != "–"


def test_keys_alone_cut_the_object_out(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    canvas = page.driver.find_element(By.ID, "canvas")
    assert page.script("return document.activeElement.id") == "canvas"
    canvas.send_keys(
        "o", Keys.ARROW_LEFT, Keys.ENTER, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ENTER
    )
    page.until("!!submin.picture.mask")
    canvas.send_keys("b", *[Keys.ARROW_LEFT] * 60, Keys.ENTER, *[Keys.ARROW_UP] * 5, Keys.ENTER)
    page.until("submin.picture.labels.includes(1)")
    page.proved()
    assert page.mask()[1] > 1000
    size = page.script("return Number(document.getElementById('radius').value)")
    canvas.send_keys("]")
    assert page.script("return Number(document.getElementById('radius').value)") > size
    canvas.send_keys("v")
    assert page.script("return submin.picture.view") == "overlay"
    canvas.send_keys(Keys.CONTROL, "z")
    page.until("!submin.picture.labels.includes(1)")


def test_a_box_and_the_slider(page):
    page.tool("box")
    page.drag([[40, 10], [140, 110]])
    page.until("!!submin.picture.mask")
    page.proved()
    before = page.mask()
    page.until("document.getElementById('more').dataset.ready === 'yes'")
    move = "const m = document.getElementById('more'); m.value = -100;"
    move += "m.dispatchEvent(new Event('input'))"
    page.script(move)
    page.until("performance.getEntriesByName('slider').length > 0")
    ahead = page.mask()
    assert ahead[1] < before[1]
    page.script("document.getElementById('more').dispatchEvent(new Event('change'))")
    page.proved()
    assert page.mask() == ahead, "what was shown ahead is what the solve proves"


def test_saved_files_hold_what_the_page_shows(page):
    page.paint("object", INSIDE)
    page.paint("background", OUTSIDE)
    page.proved()
    shown = page.mask()
    mask = vision.read_mask(page.saved("mask", "mask.png"))
    assert [int(mask.argmax()), int(mask.sum()), int(np.flatnonzero(mask).sum())] == shown
    proof = page.saved("proof", "result.npz")
    run = subprocess.run(
        [sys.executable, "-m", "submin", "verify", str(proof)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr + run.stdout
    strokes = page.saved("strokes", "strokes.png")
    labels = vision.scribble_labels(vision.read_photograph(strokes), (HEIGHT, WIDTH))
    assert {1, 2} <= set(np.unique(labels))
    with zipfile.ZipFile(io.BytesIO(page.saved("all", "cutout.zip").read_bytes())) as archive:
        assert "reproduce.py" in archive.namelist()
    cutout = vision.read_photograph(page.saved("cutout", "cutout.png"))
    assert cutout.shape == (HEIGHT, WIDTH, 4)


def choose_file(page, path: Path) -> None:
    from selenium.webdriver.common.by import By

    page.driver.find_element(By.ID, "file").send_keys(str(path))


def test_a_broken_upload_is_refused_and_the_page_goes_on(page, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and then nothing")
    choose_file(page, tmp_path / "broken.png")
    page.until("!document.getElementById('error').hidden")
    text = page.script("return document.getElementById('error').textContent")
    assert "broken.png" in text
    page.paint("object", INSIDE)
    vision.save_picture(scene(50, 70), tmp_path / "small.png")
    choose_file(page, tmp_path / "small.png")
    page.until("submin.picture.width === 70")
    assert page.mask() is None


def test_two_pages_do_not_mix(page, address):
    page.paint("object", INSIDE)
    page.proved()
    mask = page.mask()
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    try:
        page.open(address, None)
        page.until("!!submin.picture.photo")
        assert page.mask() is None
        page.paint("background", INSIDE)
        page.paint("object", OUTSIDE)
        page.proved()
        assert page.mask()[0] < mask[0]
    finally:
        page.driver.close()
        page.driver.switch_to.window(first)
    assert page.mask() == mask


def test_the_views_and_the_settings_are_drawn_without_complaint(page):
    page.paint("object", INSIDE)
    page.click("[name=view][value=cutout]")
    page.click("[name=view][value=overlay]")
    page.proved()
    page.script(
        "submin.state.lesson = null;"
        "const s = document.getElementById('superpixels'); s.value = 200;"
        "s.dispatchEvent(new Event('change'))"
    )
    page.until("submin.state.lesson !== null")
    page.proved()
    page.click("#refit")
    page.until("!document.getElementById('note').hidden")
    for _ in range(8):
        page.click("#zoom-in")
    page.click("#zoom-fit")


def test_every_control_has_a_name_and_focus_shows(page):
    nameless = page.script(
        "const named = (e) => e.getAttribute('aria-label') || e.textContent.trim() || e.title"
        " || [...(e.labels || [])].some((label) => label.textContent.trim());"
        "return [...document.querySelectorAll('button, input, select, canvas')]"
        ".filter((e) => !e.hidden && !named(e)).map((e) => e.outerHTML)"
    )
    assert nameless == []
    assert page.script("return document.querySelector('[aria-live=polite]') !== null")


def test_a_server_that_comes_back_goes_on_with_the_strokes(window, photo):
    """The page keeps looking for its server: here one with the same secret at the same port."""
    code = (
        "import sys; from submin.page import server; from submin.page.photograph import Photograph;"
        "from submin import vision;"
        "guard = server.Guard('s' * 32);"
        "listener = server.listening('127.0.0.1', int(sys.argv[1]));"
        "print(server.address(listener, guard), flush=True);"
        "opener = lambda: Photograph.of('scene', vision.read_photograph(sys.argv[2]));"
        "server.server(server.application(guard, opener)).run(sockets=[listener])"
    )

    def started(port):
        return subprocess.Popen(
            [sys.executable, "-c", code, str(port), str(photo)], stdout=subprocess.PIPE, text=True
        )

    first = started(0)
    try:
        address = first.stdout.readline().strip()
        window.open(address, None)
        window.until("!!submin.picture.photo")
        window.paint("object", INSIDE)
        window.paint("background", OUTSIDE)
        window.proved()
        mask = window.mask()
    finally:
        first.terminate()
        first.communicate(timeout=30)
    window.until("document.body.dataset.wire === 'away' && !document.getElementById('away').hidden")
    second = started(address.split(":")[2].split("/")[0])
    try:
        window.until("document.body.dataset.wire === 'here'")
        window.until("document.getElementById('away').hidden")
        window.proved()
        assert window.mask() == mask
        window.paint("object", [[20, 60], [30, 70]])
    finally:
        window.driver.get("about:blank")
        second.terminate()
        second.communicate(timeout=30)
    window.complaints()


def test_ctrl_c_ends_the_server(photo):
    command = [sys.executable, "-m", "submin", "paint", "--no-browser", str(photo)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert errors.endswith("the page has ended\n")
