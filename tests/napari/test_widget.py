"""The widget under an offscreen Qt: strokes in, labels out, in another thread, in order."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
for package in ("napari", "pytestqt"):
    pytest.importorskip(package, reason='these tests need pip install "submin[napari]" pytest-qt')

from napari.components import ViewerModel
from napari.layers import Labels

from submin.napari import widget
from submin.napari.widget import Cutter

PATIENCE = 60_000


@pytest.fixture
def stage(qtbot):
    """A viewer of two halves in noise with a seed in each, and its widget."""
    rng = np.random.default_rng(0)
    image = rng.normal(scale=0.05, size=(6, 20, 30))
    image[:, :, 15:] += 1.0
    viewer = ViewerModel()
    viewer.add_image(image, name="scan", scale=(3.0, 1.0, 1.0), translate=(5.0, 0.0, 0.0))
    seeds = viewer.add_labels(np.zeros(image.shape, np.int32), name="seeds", scale=(3.0, 1.0, 1.0))
    cutter = Cutter(viewer)
    settle(qtbot, cutter)
    yield viewer, seeds, cutter
    if not cutter.closed:
        cutter.container.native.deleteLater()
        qtbot.waitUntil(lambda: cutter.closed, timeout=PATIENCE)


def settle(qtbot, cutter):
    qtbot.waitUntil(lambda: not cutter.busy, timeout=PATIENCE)


def stroke(layer, label, place):
    """Paint as a mouse does: one item of the history of undo."""
    layer.brush_size, layer.selected_label = 3, label
    layer.paint(place, label)


def test_a_stroke_becomes_labels(stage, qtbot):
    viewer, seeds, cutter = stage
    assert "at least two" in cutter.proof.value
    assert "graph cut" not in viewer.layers
    stroke(seeds, 1, (3, 10, 4))
    stroke(seeds, 4, (3, 10, 25))
    settle(qtbot, cutter)
    answer = viewer.layers["graph cut"]
    assert isinstance(answer, Labels)
    assert np.array_equal(answer.data == 1, np.broadcast_to(np.arange(30) < 15, answer.data.shape))
    assert set(np.unique(answer.data)) == {1, 4}
    assert "proved optimal" in cutter.proof.value
    assert tuple(answer.scale) == (3.0, 1.0, 1.0)
    assert tuple(answer.translate) == (5.0, 0.0, 0.0)
    assert answer not in cutter.seeds.choices
    assert cutter.last.order.settings["spacing"] == (3.0, 1.0, 1.0)


def test_undo_and_excluded_pixels_are_followed(stage, qtbot):
    viewer, seeds, cutter = stage
    stroke(seeds, 1, (3, 10, 4))
    stroke(seeds, 2, (3, 10, 25))
    settle(qtbot, cutter)
    stroke(seeds, -1, (3, 2, 25))
    settle(qtbot, cutter)
    excluded = np.asarray(seeds.data) == -1
    assert excluded.any()
    assert np.array_equal(viewer.layers["graph cut"].data == -1, excluded)
    seeds.undo()
    settle(qtbot, cutter)
    assert not (viewer.layers["graph cut"].data == -1).any()
    assert len([layer for layer in viewer.layers if layer.name.startswith("graph cut")]) == 1


def test_a_stroke_during_a_solve_is_answered_after_it(stage, qtbot, monkeypatch):
    """The solve waits, in a thread that is not the window's, while two more strokes are painted."""
    viewer, seeds, cutter = stage
    begun, go_on, threads = threading.Event(), threading.Event(), []

    def slow(*given, **settings):
        threads.append(threading.current_thread())
        begun.set()
        assert go_on.wait(60)
        return cut(*given, **settings)

    cut = widget.graph_cut
    monkeypatch.setattr(widget, "graph_cut", slow)
    stroke(seeds, 1, (3, 10, 4))
    qtbot.waitUntil(begun.is_set, timeout=PATIENCE)
    assert cutter.running
    stroke(seeds, 2, (3, 10, 25))
    stroke(seeds, 3, (0, 2, 2))
    qtbot.waitUntil(lambda: cutter.again, timeout=PATIENCE)
    assert "graph cut" not in viewer.layers
    go_on.set()
    settle(qtbot, cutter)
    assert set(np.unique(viewer.layers["graph cut"].data)) == {1, 2, 3}
    assert len(threads) == 2
    assert threading.main_thread() not in threads


def test_a_closed_widget_leaves_the_layers_alone(stage, qtbot, monkeypatch):
    viewer, seeds, cutter = stage
    begun, go_on, over = threading.Event(), threading.Event(), threading.Event()

    def slow(*given, **settings):
        begun.set()
        assert go_on.wait(60)
        try:
            return cut(*given, **settings)
        finally:
            over.set()

    cut = widget.graph_cut
    monkeypatch.setattr(widget, "graph_cut", slow)
    stroke(seeds, 1, (3, 10, 4))
    qtbot.waitUntil(begun.is_set, timeout=PATIENCE)
    cutter.container.native.close()
    cutter.container.native.deleteLater()
    qtbot.waitUntil(lambda: cutter.closed, timeout=PATIENCE)
    stroke(seeds, 2, (3, 10, 25))
    go_on.set()
    qtbot.waitUntil(lambda: over.is_set() and not cutter.running, timeout=PATIENCE)
    assert not cutter.due
    assert "graph cut" not in viewer.layers


def test_without_live_the_button_asks(stage, qtbot):
    viewer, seeds, cutter = stage
    cutter.live.value = False
    stroke(seeds, 1, (3, 10, 4))
    stroke(seeds, 2, (3, 10, 25))
    assert not cutter.busy
    cutter.button.changed.emit(True)
    settle(qtbot, cutter)
    first = viewer.layers["graph cut"].data
    cutter.live.value = True
    cutter.smoothness.value, cutter.neighbours.value = 2.0, "all"
    settle(qtbot, cutter)
    assert cutter.last.order.settings["connectivity"] == 26
    assert cutter.last.found.problem.terms[0].connectivity == 26
    assert np.array_equal(first, viewer.layers["graph cut"].data)


def test_colours_and_other_layers(qtbot):
    viewer = ViewerModel()
    cutter = Cutter(viewer)
    qtbot.addWidget(cutter.container.native)
    cutter.ask()
    settle(qtbot, cutter)
    assert cutter.last is None
    picture = np.zeros((12, 20, 3), np.uint8)
    picture[:, 10:] = (200, 40, 10)
    viewer.add_image(picture, rgb=True)
    small = viewer.add_labels(np.zeros((4, 4), np.int32))
    settle(qtbot, cutter)
    assert "shape" in cutter.proof.value
    seeds = np.zeros((12, 20), np.int32)
    seeds[5, [3, 16]] = 1, 2
    viewer.layers.remove(small)
    viewer.add_labels(seeds)
    settle(qtbot, cutter)
    assert np.array_equal(viewer.layers["graph cut"].data[0], np.repeat([1, 2], 10))


def test_the_manifest_names_the_widget(make_napari_viewer):
    """The command of the plugin, in a window: it is docked, and works on that window's layers."""
    from importlib.resources import files

    from npe2 import PluginManifest

    manifest = PluginManifest.from_file(str(files("submin.napari") / "napari.yaml"))
    manifest.validate_imports()
    (command,), (shown,) = manifest.contributions.commands, manifest.contributions.widgets
    assert shown.command == command.id
    assert command.python_name == f"{widget.__name__}:{widget.graph_cut_widget.__name__}"
    viewer = make_napari_viewer()
    container = widget.graph_cut_widget()
    viewer.window.add_dock_widget(container, name=shown.display_name)
    assert container.cutter.viewer.layers is viewer.layers
    viewer.add_labels(np.zeros((4, 5), np.int32))
    assert container.cutter.seeds.value is viewer.layers[0]
