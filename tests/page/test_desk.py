"""One page without a server: what it is sent, and that nothing blocks or is mixed up."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

import numpy as np
import pytest

from submin.page.desk import Desk, packed, unpacked
from submin.page.photograph import Photograph
from tests.page.conftest import scene

PATIENCE = 90.0


class Sheet:
    """A desk with all that it has sent."""

    def __init__(self, photograph: Photograph) -> None:
        self.messages: list[tuple[dict, bytes]] = []
        self.news = asyncio.Event()
        self.desk = Desk(self._take, {"scene": lambda: photograph})
        self.serial = 0

    async def _take(self, message: bytes) -> None:
        size = int.from_bytes(message[:4], "little")
        self.messages.append((json.loads(message[4 : 4 + size]), message[4 + size :]))
        self.news.set()

    async def ask(self, what: str, data: bytes = b"", **head: object) -> int:
        """Ask for something; return how many messages had come before."""
        self.serial += 1
        since = len(self.messages)
        await self.desk.receive(packed({"do": what, "serial": self.serial, **head}, data))
        return since

    async def until(self, kind: str, since: int = 0, **head: object) -> tuple[dict, bytes]:
        """Wait for a message with these entries."""
        end = time.monotonic() + PATIENCE
        while True:
            for own, data in self.messages[since:]:
                if own["kind"] == kind and all(own.get(k) == v for k, v in head.items()):
                    return own, data
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), max(0.0, end - time.monotonic()))

    async def paint(self, label: int, *points: tuple[float, float], **head: object) -> int:
        return await self.ask(
            "stroke", label=label, points=points, radius=2, stroke=self.serial, **head
        )

    async def mask(self, since: int = 0) -> np.ndarray:
        """Wait for the mask that answers all that was asked."""
        _, data = await self.until("mask", since, serial=self.serial, finished=True)
        shape = self.desk.photograph.shape
        bits = np.unpackbits(np.frombuffer(data, np.uint8))
        return bits[: shape[0] * shape[1]].reshape(shape).astype(bool)


@pytest.fixture
def run(photograph) -> Callable[[Callable[..., Awaitable[None]]], None]:
    """Run a test on a desk, and close it."""

    def call(test: Callable[..., Awaitable[None]], count: int = 1) -> None:
        async def whole() -> None:
            sheets = [Sheet(photograph) for _ in range(count)]
            for sheet in sheets:
                await sheet.desk.open()
                await sheet.ask("open", sample="scene")
            try:
                await test(*sheets)
            finally:
                for sheet in sheets:
                    await sheet.desk.close()

        asyncio.run(whole())

    return call


def disc(photograph: Photograph) -> np.ndarray:
    return photograph.pixels[:, :, 0] > 135


async def settled(sheet: Sheet) -> np.ndarray:
    """Wait until nothing goes on, and return the mask."""
    desk = sheet.desk
    while desk._lesson or desk._eager or desk._dirty.is_set() or desk.studio is None:
        await asyncio.sleep(0.01)
    return await sheet.mask()


async def both(sheet: Sheet) -> np.ndarray:
    """Paint some of either side, and wait until its colours are learned, and the proof."""
    await sheet.paint(2, (30, 20))
    await settled(sheet)
    since = await sheet.paint(1, (5, 5), (5, 35))
    await sheet.mask(since)
    await settled(sheet)
    await sheet.until("proof", since, proved=True)
    return sheet.desk.mask


def test_strokes_get_masks_and_proofs(run, photograph):
    async def test(sheet):
        mask = await both(sheet)
        assert mask[20, 30]
        assert not mask[5, 5]
        head, _ = await sheet.until("proof", proved=True)
        assert head["gap"] <= 1e-6 * abs(head["value"])

    run(test)


def test_undo_takes_back_the_mask_too(run, photograph):
    async def test(sheet):
        first = await both(sheet)
        since = await sheet.paint(2, (55, 3))
        assert (await sheet.mask(since))[3, 55]
        await settled(sheet)
        second = sheet.desk.mask
        since = await sheet.ask("undo")
        await settled(sheet)
        assert np.array_equal(sheet.desk.mask, first)
        since = await sheet.ask("redo")
        await settled(sheet)
        assert np.array_equal(sheet.desk.mask, second)
        for _ in range(9):
            since = await sheet.ask("undo")
        await sheet.until("empty", since)

    run(test)


def test_a_box_alone_finds_the_object(run, photograph):
    async def test(sheet):
        await sheet.ask("box", box=[15, 5, 45, 35])
        mask = await sheet.mask()
        assert (mask != disc(photograph)).mean() < 0.02

    run(test)


def test_sliders_are_computed_ahead_when_all_is_quiet(run, photograph):
    async def test(sheet):
        await both(sheet)
        _, data = await sheet.until("levels")
        first = np.frombuffer(data, np.uint8).reshape(photograph.shape)
        since = await sheet.ask("set", settings={"more": 40})
        assert np.array_equal(await sheet.mask(since), first <= 140)

    run(test)


def test_a_refit_says_what_it_changed_and_can_be_undone(run, photograph):
    async def test(sheet):
        await both(sheet)
        before = sheet.desk.marks.learned
        since = await sheet.ask("refit")
        head, _ = await sheet.until("note", since)
        assert head["text"].startswith("Colours refitted in ")
        assert sheet.desk.studio.lesson == sheet.desk.marks.learned
        assert len(sheet.desk.marks.done) == 3
        await sheet.ask("undo")
        assert sheet.desk.marks.learned == before
        while sheet.desk.studio.lesson != before:
            await asyncio.sleep(0.01)

    run(test)


def test_pages_do_not_mix(run, photograph):
    async def test(one, other):
        await both(one)
        await other.paint(2, (3, 3))
        await other.paint(1, (30, 20))
        await settled(other)
        mask = other.desk.mask
        assert mask[3, 3]
        assert not mask[20, 30]
        assert one.desk.mask[20, 30]
        assert not one.desk.mask[3, 3]

    run(test, 2)


def test_the_stop_button_ends_a_solve_that_does_not_end(run, photograph, monkeypatch):
    from submin.page import studio as module

    real = module.Studio.solve
    slow = {"on": False}

    def solve(self, seconds):
        answer = real(self, seconds)
        if slow["on"]:
            time.sleep(min(seconds, 0.05))
            return module.Answer(answer.result, False)
        return answer

    monkeypatch.setattr(module.Studio, "solve", solve)

    async def test(sheet):
        await both(sheet)
        await sheet.ask("set", settings={"learn": False})
        slow["on"] = True
        since = await sheet.paint(2, (50, 20))
        await sheet.until("proof", since, finished=False)
        since = await sheet.paint(1, (52, 30))
        await sheet.until("mask", since, serial=sheet.serial)
        since = await sheet.ask("stop")
        await sheet.until("proof", since, finished=True)
        slow["on"] = False
        since = await sheet.paint(1, (3, 30))
        await sheet.mask(since)

    run(test)


def test_a_stuck_page_does_not_block_another(run, photograph, monkeypatch):
    from threading import Event

    from submin.page import studio as module

    real, stuck, held = module.Studio.solve, Event(), {}

    def solve(self, seconds):
        if held.get("studio") is self:
            stuck.wait(PATIENCE)
        return real(self, seconds)

    monkeypatch.setattr(module.Studio, "solve", solve)

    async def test(one, other):
        await both(one)
        await one.ask("set", settings={"learn": False})
        held["studio"] = one.desk.studio
        since = await one.paint(2, (50, 20))
        await both(other)
        assert not [h for h, _ in one.messages[since:] if h["kind"] == "mask"]
        stuck.set()
        await one.mask(since)

    run(test, 2)


def test_closing_ends_all_work(photograph):
    async def test():
        sheet = Sheet(photograph)
        await sheet.desk.open()
        await sheet.ask("open", sample="scene")
        await both(sheet)
        await sheet.until("work", what="ahead", text="Preparing the sliders")
        await sheet.desk.close()
        count = len(sheet.messages)
        assert not sheet.desk._tasks
        await asyncio.sleep(0.2)
        assert len(sheet.messages) == count

    asyncio.run(test())


def test_a_page_that_comes_back_has_its_strokes(run, photograph):
    async def test(sheet):
        first = await both(sheet)
        labels, lesson = sheet.desk.marks.labels.tobytes(), sheet.desk.marks.learned
        await sheet.ask("open", sample="scene")
        assert not sheet.desk.marks.labels.any()
        await sheet.ask("restore", labels + lesson, box=None, settings={"smoothness": 50.0})
        await settled(sheet)
        assert np.array_equal(sheet.desk.mask, first)

    run(test)


@pytest.mark.parametrize(
    "message",
    [b"", b"abc", b"\xff\xff\xff\xff{}", packed([1]), packed({"do": "dance"}), packed({"do": 1}),
     packed({"do": "stroke"}),
     packed({"do": "stroke", "label": 7, "points": [[1, 1]], "radius": 1}),
     packed({"do": "stroke", "label": 2, "points": "x", "radius": 1}),
     packed({"do": "stroke", "label": 2, "points": [[1, 1]], "radius": [1]}),
     packed({"do": "stroke", "label": 2, "points": [[1, 1]], "radius": float("nan")}),
     packed({"do": "set", "settings": {"more": 1000}}), packed({"do": "set", "settings": 3}),
     packed({"do": "save", "what": "../../etc/passwd"}), packed({"do": "save", "what": ["mask"]}),
     packed({"do": "open", "sample": "../x"}), packed({"do": "open", "sample": {}}),
     packed({"do": "open", "name": "x.png"}, b"broken"), packed({"do": "refit"}),
     packed({"do": "restore"}, b"12"), packed({"do": "box", "box": {"a": 1}})],
    ids=range(21),
)  # fmt: skip
def test_nonsense_is_answered_in_one_sentence(run, message):
    async def test(sheet):
        since = len(sheet.messages)
        await sheet.desk.receive(message)
        head, _ = await sheet.until("error", since)
        assert head["text"]
        assert "\n" not in head["text"]
        since = await sheet.paint(2, (30, 20))
        await sheet.until("labels", since)

    run(test)


def test_messages_come_back():
    head, data = unpacked(packed({"do": "x", "n": 1}, b"data"))
    assert (head, data) == ({"do": "x", "n": 1}, b"data")


def test_uploads_open(run, photograph):
    from tests.page.test_studio import encoded

    async def test(sheet):
        since = await sheet.ask("open", encoded(scene(21, 33)), name="C:\\x\\mine.png")
        head, data = await sheet.until("photo", since)
        assert (head["name"], head["width"], head["height"]) == ("mine.png", 33, 21)
        assert len(data) == 4 * 33 * 21

    run(test)
