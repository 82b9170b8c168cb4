"""A widget of napari: an image and a layer of seeds, to a layer of labels, live.

Every change is noted in the thread of the window and answered in another one, by ``graph_cut``.
One answer is sought at a time; what changes meanwhile is answered after it, by one more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from submin.solve.certificate import Status
from submin.vision.graph_cut import GraphCut, graph_cut
from submin.vision.optional import require

PLACE = ("scale", "translate", "rotate", "shear", "affine", "units")
"""What says where a layer lies, which the answer has from the image."""
WATCHED = ("paint", "data", "set_data")
"""Events of a layer of seeds: a stroke, another array, undo and redo."""
LISTED = ("inserted", "removed", "reordered")
LABELS_KIND = np.int32


@dataclass(frozen=True, eq=False)
class Order:
    """What is asked: references to the arrays of the layers, read in the thread that answers."""

    image: Any
    seeds: Any
    settings: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Answer:
    """What was found, or why nothing was; ``seeds`` are those that it is about."""

    order: Order
    seeds: npt.NDArray[Any] | None = None
    found: GraphCut | None = None
    fault: str = ""

    def is_about(self, order: Order, seeds: npt.NDArray[Any]) -> bool:
        """Say whether another order asks the same."""
        return (
            order.image is self.order.image
            and order.settings == self.order.settings
            and self.seeds is not None
            and np.array_equal(seeds, self.seeds)
        )


def answer(order: Order, last: Answer | None = None) -> Answer:
    """Answer an order; the last answer is returned if nothing has changed."""
    seeds = np.array(order.seeds)
    if last is not None and last.is_about(order, seeds):
        return last
    try:
        found = graph_cut(np.asarray(order.image), seeds, **order.settings)
    except (ImportError, MemoryError, TypeError, ValueError) as error:
        return Answer(order, seeds, fault=str(error) or type(error).__name__)
    return Answer(order, seeds, found)


def sentence(given: Answer) -> str:
    """Say what an answer proves, or why there is none."""
    if given.found is None:
        return given.fault
    found = given.found
    if found.status in (Status.OPTIMAL, Status.CLOSED):
        proof = "proved optimal"
    else:
        share = found.gap / abs(found.value) if found.value else float("inf")
        proof = f"proved to be within {share:.2%} of the optimum"
    return f"{len(found.values)} labels, energy {found.value:.6g}: {proof}"


class Cutter:
    """The widget: ``container`` holds its parts.

    Parameters
    ----------
    viewer : napari.components.ViewerModel

    Raises
    ------
    ImportError
        If napari is missing: ``pip install "submin[napari]"``.
    """

    def __init__(self, viewer: Any) -> None:
        widgets = require("magicgui.widgets")
        self.viewer = viewer
        self.due, self.running, self.again = False, False, False
        self.closed = False
        self.last: Answer | None = None
        self._watched: Any = None
        self._target: Any = None
        self.image = widgets.ComboBox(label="image", choices=self._images)
        self.seeds = widgets.ComboBox(
            label="seeds", choices=self._seed_layers,
            tooltip="0: unknown; 1, 2, ...: a label; -1: takes no part",
        )  # fmt: skip
        self.smoothness = widgets.FloatSpinBox(
            label="smoothness", value=10.0, min=0.0, max=1e6, step=1.0,
            tooltip="cost of a boundary where neighbours look alike",
        )  # fmt: skip
        self.neighbours = widgets.ComboBox(label="neighbours", choices=("few", "all"), value="few")
        self.components = widgets.SpinBox(
            label="Gaussians", value=5, min=0, max=20,
            tooltip="in the model of each label; 0: seeds and edges alone decide",
        )  # fmt: skip
        self.live = widgets.CheckBox(text="follow every stroke", value=True)
        self.button = widgets.PushButton(text="Cut")
        self.proof = widgets.Label(value="")
        self.container = widgets.Container(
            widgets=[
                self.image, self.seeds, self.smoothness, self.neighbours, self.components,
                self.live, self.button, self.proof,
            ]
        )  # fmt: skip
        self.container.cutter = self  # signals hold bound methods weakly
        self._timer = require("qtpy.QtCore").QTimer(self.container.native)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._begin)
        self.container.native.destroyed.connect(self._close)
        self._connect()

    def _connect(self) -> None:
        for event in LISTED:
            getattr(self.viewer.layers.events, event).connect(self._layers_changed)
        self.seeds.changed.connect(self._watch)
        for part in (self.image, self.smoothness, self.neighbours, self.components, self.live):
            part.changed.connect(self._changed)
        self.button.changed.connect(self.ask)
        self._watch()

    def _close(self, *_: Any) -> None:
        """Leave the layers alone when the window is gone; an answer on its way is dropped."""
        self.closed = True
        for event in LISTED:
            getattr(self.viewer.layers.events, event).disconnect(self._layers_changed)
        if self._watched is not None:
            for name in WATCHED:
                getattr(self._watched.events, name).disconnect(self._changed)

    def _images(self, *_: Any) -> list[Any]:
        kind = require("napari.layers").Image
        return [x for x in self.viewer.layers if isinstance(x, kind) and not x.multiscale]

    def _seed_layers(self, *_: Any) -> list[Any]:
        kind = require("napari.layers").Labels
        return [x for x in self.viewer.layers if isinstance(x, kind) and x is not self._target]

    def _layers_changed(self, *_: Any) -> None:
        if self._target is not None and self._target not in self.viewer.layers:
            self._target = None
        self.image.reset_choices()
        self.seeds.reset_choices()
        self._watch()

    def _watch(self, *_: Any) -> None:
        """Follow the layer of seeds that is chosen."""
        chosen = self.seeds.value
        if chosen is self._watched:
            return
        for name in WATCHED:
            if self._watched is not None:
                getattr(self._watched.events, name).disconnect(self._changed)
            if chosen is not None:
                getattr(chosen.events, name).connect(self._changed)
        self._watched = chosen
        self._changed()

    def _changed(self, *_: Any) -> None:
        if self.live.value:
            self.ask()

    def order(self) -> Order | None:
        """Return what is asked now; None while a layer lacks, or there is no seed yet."""
        image, seeds = self.image.value, self.seeds.value
        if image is None or seeds is None:
            return None
        dimensions = image.ndim
        settings = {
            "smoothness": float(self.smoothness.value),
            "connectivity": None if self.neighbours.value == "few" else 3**dimensions - 1,
            "components": int(self.components.value),
            "spacing": tuple(float(abs(size)) for size in image.scale),
            "channel_axis": -1 if image.rgb else None,
        }
        return Order(image.data, seeds.data, settings)

    def ask(self, *_: Any) -> None:
        """Seek an answer, once what is going on is over: layers tell of strokes ahead of them."""
        if not (self.due or self.closed):
            self.due = True
            self._timer.start(0)

    def _begin(self) -> None:
        """Seek an answer, or note that one is to be sought after the one that is."""
        self.due = False
        order = self.order()
        if order is None:
            return
        if self.running:
            self.again = True
            return
        self.running, self.again = True, False
        require("napari.qt.threading").create_worker(
            answer, order, self.last, _start_thread=True, _connect={"returned": self._answered}
        )

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return self.due or self.running or self.again

    def _answered(self, given: Answer) -> None:
        """Show an answer, in the thread of the window, and seek the next one."""
        self.running = False
        if self.closed:
            return
        self.proof.value = sentence(given)
        if given is not self.last and given.found is not None:
            self._show(given)
        self.last = given
        if self.again:
            self.ask()

    def _show(self, given: Answer) -> None:
        """Put labels into the layer of the answer, which is made where it lacks."""
        assert given.found is not None
        labels = given.found.labels.astype(LABELS_KIND)
        if self._target is not None and self._target.data.shape == labels.shape:
            self._target.data = labels
            return
        image = self.image.value
        place = {name: getattr(image, name) for name in PLACE if hasattr(image, name)}
        layer = require("napari.layers").Labels(labels, name="graph cut", opacity=0.4, **place)
        active = self.viewer.layers.selection.active
        self._target = layer
        self.viewer.add_layer(layer)
        self.viewer.layers.selection.active = active  # the brush stays on the seeds


def graph_cut_widget() -> Any:
    """Return the widget for the viewer at hand, as the manifest names it."""
    return Cutter(require("napari").current_viewer()).container
