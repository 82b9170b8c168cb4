"""One open page: what its person does, and what is sent back; nothing is shared with other pages.

Three things go on at once.  The *hand* answers strokes, in slices, so that the next stroke or the
stop button is heard.  *Lessons* make a new studio for other colours or settings; the hand goes on
with the old one until it is there.  When all is quiet, *ahead* computes what the sliders may ask
for, in a process that ends with the next stroke.
"""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import struct
import sys
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any

import numpy as np

from submin._typing import BoolArray
from submin.page import files
from submin.page.aside import LENGTH, Order
from submin.page.marks import Marks, Patch, unpacked_lesson
from submin.page.photograph import WORK_PIXELS, Photograph
from submin.page.studio import (
    SMOOTHNESS,
    Answer,
    CancelledError,
    Settings,
    Studio,
    changes,
    level_of,
    refitted,
    slices,
)
from submin.solve.certificate import Status
from submin.vision.seeds import OBJECT

HEAD = struct.Struct("<I")
QUIET = 0.12
"""Seconds without a stroke after which the proof of a mask is computed."""
CALM = 0.8
"""Seconds without anything after which the sliders are computed ahead."""

Send = Callable[[bytes], Awaitable[None]]
logger = logging.getLogger("submin.page")


def packed(head: Mapping[str, Any], data: bytes = b"") -> bytes:
    """Return a message: the length of its head, the head in JSON, data."""
    text = json.dumps(head).encode()
    return HEAD.pack(len(text)) + text + data


def unpacked(message: bytes) -> tuple[dict[str, Any], bytes]:
    """Return head and data of a message.

    Raises
    ------
    ValueError
        If it is none.
    """
    if len(message) < HEAD.size:
        raise ValueError("the message is too short")
    end = HEAD.size + HEAD.unpack_from(message)[0]
    try:
        head = json.loads(message[HEAD.size : end])
    except (ValueError, RecursionError):
        raise ValueError("the head of the message is no JSON") from None
    if not isinstance(head, dict) or not isinstance(head.get("do"), str):
        raise ValueError("the message does not say what to do")
    return head, message[end:]


class Desk:
    """One page.

    Parameters
    ----------
    send : coroutine function (bytes)
    gallery : mapping
        Functions that return a photograph, by name: samples, and that of the command line.
    most_pixels : int, optional
        Beyond these a photograph is scaled down.
    """

    def __init__(
        self,
        send: Send,
        gallery: Mapping[str, Callable[[], Photograph]],
        most_pixels: int = WORK_PIXELS,
    ) -> None:
        self._send, self.gallery, self.most_pixels = send, gallery, most_pixels
        self._hand_thread = ThreadPoolExecutor(1, "submin-hand")
        self._lesson_thread = ThreadPoolExecutor(1, "submin-lesson")
        self._tasks: set[asyncio.Task[None]] = set()
        self._dirty, self._closed, self._stopped = asyncio.Event(), Event(), Event()
        self._lesson: tuple[asyncio.Task[None], Event] | None = None
        self._lesson_is = ""
        self._ahead: asyncio.Task[None] | None = None
        self._slices = slices()
        self._shown: tuple[Studio | None, int] = (None, -1)
        self._saves: list[str] = []
        self.photograph: Photograph | None = None
        self.marks = Marks((1, 1))
        self.settings = Settings()
        self.studio: Studio | None = None
        self.mask: BoolArray | None = None
        self.taught: tuple[bool, bool, Any] = (False, False, None)
        self._eager = False
        self.serial = 0
        """Number of the last thing that the page has asked for; masks say what they answer."""

    async def open(self) -> None:
        """Greet the page and begin to work."""
        self._keep(self._hand())
        await self.send({"kind": "hello", "gallery": list(self.gallery), "smoothness": SMOOTHNESS})

    async def close(self) -> None:
        """End everything, solves too."""
        self._closed.set()
        self._stopped.set()
        self._drop_lesson()
        await self._drop_ahead()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for pool in (self._hand_thread, self._lesson_thread):
            pool.shutdown(wait=False, cancel_futures=True)

    async def send(self, head: Mapping[str, Any], data: bytes = b"") -> None:
        """Send a message to the page."""
        await self._send(packed(head, data))

    async def receive(self, message: bytes) -> None:
        """Do what the page asks for; what it can not have is answered in one sentence."""
        try:
            head, data = unpacked(message)
            action = self.ACTIONS.get(head["do"])
            if action is None:
                raise ValueError(f"there is nothing called {head['do'][:40]!r} to do")
            if self.photograph is None and head["do"] != "open":
                raise ValueError("no photograph is open")
            if isinstance(head.get("serial"), int):
                self.serial = head["serial"]
            await action(self, head, data)
        except (ValueError, TypeError, KeyError, ImportError, OSError) as error:
            await self.send({"kind": "error", "text": _sentence(error)})
            self._dirty.set()  # the page awaits a proof

    # What the page asks for.

    async def _open(self, head: Mapping[str, Any], data: bytes) -> None:
        make: Callable[[], Photograph]
        if "name" in head:
            make = partial(Photograph.decoded, str(head["name"]), data, self.most_pixels)
        else:
            if head.get("sample") not in self.gallery:
                raise ValueError("there is no photograph of that name")
            make = self.gallery[head["sample"]]
        await self._say("open", "Opening the photograph")
        try:
            photograph = await self._in(self._lesson_thread, _prepared, make)
        finally:
            await self._say("open")
        self._drop_lesson()
        await self._drop_ahead()
        self.photograph, self.marks = photograph, Marks(photograph.shape)
        self.studio = self.mask = None
        self.taught, self._eager = (False, False, None), False
        self.settings = Settings()
        height, width = photograph.shape
        await self.send(
            {"kind": "photo", "name": photograph.name, "width": width, "height": height,
             "factor": photograph.factor},
            photograph.rgba(),
        )  # fmt: skip

    async def _stroke(self, head: Mapping[str, Any], _: bytes) -> None:
        label = head["label"]
        if isinstance(label, bool) or not isinstance(label, int):
            raise ValueError("label must be 0, 1 or 2")
        key = ("stroke", head.get("stroke"))
        patch = self.marks.paint(key, label, head["points"], float(head["radius"]))
        await self._marked(patch)
        if head.get("last", True):
            self._after_stroke()

    async def _box(self, head: Mapping[str, Any], _: bytes) -> None:
        self.marks.set_box(head.get("box"))
        await self._marked(Patch(0, 0, 0, 0))
        self._begin_anew()

    async def _undo(self, *_: Any) -> None:
        await self._marked(self.marks.undo())
        self._after_undo()

    async def _redo(self, *_: Any) -> None:
        await self._marked(self.marks.redo())
        self._after_undo()

    async def _clear(self, *_: Any) -> None:
        await self._marked(self.marks.clear())

    async def _set(self, head: Mapping[str, Any], _: bytes) -> None:
        settings = self.settings.changed(head["settings"])
        await self._drop_ahead()
        before, self.settings = self.settings, settings
        self._stopped.clear()
        if self.studio is not None and not before.same_models(settings):
            self._teach("settings")
        self._dirty.set()

    async def _refit(self, *_: Any) -> None:
        if self.mask is None:
            raise ValueError("there is no mask yet: paint the object first")
        self._stopped.clear()
        self._teach("refit")

    async def _stop(self, *_: Any) -> None:
        self._stopped.set()
        self._drop_lesson()
        self._dirty.set()
        await self._say("lesson")

    async def _save(self, head: Mapping[str, Any], _: bytes) -> None:
        if head.get("what") not in files.NAMES:
            raise ValueError("there is no such file to save")
        self._saves.append(head["what"])
        self._dirty.set()

    async def _restore(self, head: Mapping[str, Any], data: bytes) -> None:
        """Take what a page has kept while the server was away: its strokes, and the lesson."""
        marks, size = self.marks, self.marks.labels.size
        labels = np.frombuffer(data[:size], np.uint8)
        if labels.size != size or labels.max(initial=0) > 2:
            raise ValueError("these strokes are of another photograph")
        lesson = data[size:]
        if lesson:
            unpacked_lesson(lesson, marks.shape)
        self.settings = self.settings.changed(head.get("settings", {}))
        marks.labels = labels.reshape(marks.shape).copy()
        if head.get("box") is not None:
            marks.set_box(head["box"])
        height, width = marks.shape
        await self._marked(Patch(0, 0, width, height))
        marks.learned = lesson or None
        self._after_undo()

    ACTIONS: Mapping[str, Callable[..., Awaitable[None]]] = {
        "open": _open, "stroke": _stroke, "box": _box, "undo": _undo, "redo": _redo,
        "clear": _clear, "set": _set, "refit": _refit, "stop": _stop, "save": _save,
        "restore": _restore,
    }  # fmt: skip

    async def _marked(self, patch: Patch) -> None:
        """Send marks that have changed, and have them answered."""
        await self._drop_ahead()
        self._stopped.clear()
        self._dirty.set()
        x, y, width, height = patch
        marks = self.marks
        await self.send(
            {"kind": "labels", "serial": self.serial, **patch._asdict(), "box": marks.box,
             "undo": bool(marks.done), "redo": bool(marks.undone)},
            marks.labels[y : y + height, x : x + width].tobytes(),
        )  # fmt: skip
        if not any(marks.painted):
            self._drop_lesson()
            self.studio = self.mask = marks.learned = None
            await self.send({"kind": "empty", "serial": self.serial})

    def _after_stroke(self) -> None:
        """Learn: from strokes until both sides are known, and then from the mask."""
        some_object, some_background, box = sides = self.marks.painted
        before, self.taught = self.taught, sides
        if not any(sides):
            return
        if self.studio is None or not (box or (some_object and some_background)):
            self._teach("strokes")
        elif self.settings.learn:
            self._eager = True
            self._drop_eager()
        elif before != sides:
            self._teach("strokes")

    def _after_undo(self) -> None:
        """Go back to the models that there were."""
        self._drop_lesson()
        self._eager = False
        self.taught = self.marks.painted
        if any(self.taught) and self.marks.learned is None:
            self._teach("strokes")
        elif self.marks.learned is not None and (
            self.studio is None or self.studio.lesson != self.marks.learned
        ):
            self._teach("settings")

    def _begin_anew(self) -> None:
        """Learn what a new box says."""
        self.taught = self.marks.painted
        if any(self.taught):
            self._teach("strokes")

    # The hand.

    async def _hand(self) -> None:
        while not self._closed.is_set():
            await self._dirty.wait()
            self._dirty.clear()
            try:
                await self._answer()
            except Exception as error:  # a fault, which must not end the page
                logger.exception("the answer to a stroke failed")
                await self.send({"kind": "error", "text": _sentence(error)})

    async def _answer(self) -> None:
        """Answer what is marked, prove it, and think ahead; a new stroke ends each of them."""
        await self._drop_ahead()
        studio = self.studio
        if studio is not None:
            answer = await self._solved(studio)
            if not answer.finished and not self._stopped.is_set():
                self._dirty.set()
                return
        if studio is not None and not self._saves and await self._disturbed(QUIET):
            return
        if studio is not None and self.studio is studio and studio.last is not None:
            await self._prove(studio.last)
            if self._eager and self._lesson is None:
                self._eager = False
                self._teach("mask")
        await self._write_files()
        if studio is None or await self._disturbed(CALM) or self._lesson is not None:
            return
        if studio.last is not None and studio.last.finished:
            self._ahead = self._keep(self._think_ahead(studio))

    async def _solved(self, studio: Studio) -> Answer:
        """Solve for one slice and show the mask; of a solve that goes on, the gap too."""
        serial, seeds = self.serial, self.marks.seeds()
        if not np.array_equal(seeds, studio.seeds) or self.settings != studio.settings:
            await self._in(self._hand_thread, studio.follow, seeds, self.settings)
            self._slices = slices()
        elif studio.last is not None and studio.last.finished:
            if self._shown != (studio, serial):
                await self._show(studio, studio.last, serial)
            return studio.last
        seconds = 0.0 if self._stopped.is_set() else next(self._slices)
        answer: Answer = await self._in(self._hand_thread, studio.solve, seconds)
        if self.studio is studio:
            await self._show(studio, answer, serial)
        return answer

    async def _show(self, studio: Studio, answer: Answer, serial: int) -> None:
        self.mask = mask = answer.result.minimizer
        self._shown = studio, serial
        await self.send(
            {"kind": "mask", "serial": serial, "count": int(np.count_nonzero(mask)),
             "finished": answer.finished, "more": self.settings.more,
             "smoothness": self.settings.smoothness},
            np.packbits(mask).tobytes(),
        )  # fmt: skip
        if not answer.finished:
            await self._prove(answer)

    async def _prove(self, answer: Answer) -> None:
        """Send what is proved of the mask that is shown."""
        _, serial = self._shown
        certificate = await self._in(self._hand_thread, lambda: answer.certificate)
        status = answer.result.status
        await self.send(
            {"kind": "proof", "serial": serial, "value": certificate.value,
             "bound": certificate.lower_bound, "gap": max(0.0, certificate.gap),
             "optimal": status is Status.OPTIMAL, "proved": answer.proved,
             "finished": answer.finished or self._stopped.is_set(),
             "lesson": self._eager or self._lesson is not None},
        )  # fmt: skip

    async def _write_files(self) -> None:
        saves, self._saves = self._saves, []
        for what in saves:
            assert self.photograph is not None
            make = partial(
                files.written, what, self.photograph, self.marks, self.settings, self.studio
            )
            try:
                name, kind, data = await self._in(self._hand_thread, make)
            except ValueError as error:
                await self.send({"kind": "error", "text": _sentence(error)})
            else:
                await self.send({"kind": "file", "what": what, "name": name, "type": kind}, data)

    async def _disturbed(self, seconds: float) -> bool:
        """Wait, unless there is something to do."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._dirty.wait()
        return self._dirty.is_set()

    # Lessons.

    def _teach(self, what: str) -> None:
        """Begin a new studio, in place of one that is not ready yet."""
        self._drop_lesson()
        dropped, self._lesson_is = Event(), what
        self._lesson = self._keep(self._learn(what, dropped)), dropped

    def _drop_eager(self) -> None:
        """End a lesson from a mask that is out of date; the next one comes when all is quiet."""
        if self._lesson is not None and self._lesson_is == "mask":
            self._drop_lesson()

    def _drop_lesson(self) -> None:
        if self._lesson is not None:
            self._lesson[1].set()
        self._lesson = None

    async def _learn(self, what: str, dropped: Event) -> None:
        text = {
            "refit": "Refitting colours", "settings": "Applying settings",
            "strokes": "Learning colours", "mask": "Learning colours",
        }[what]  # fmt: skip
        await self._say("lesson", text)
        before = self.mask
        try:
            studio, rounds = await self._in(self._lesson_thread, self._work(what, dropped))
        except CancelledError:
            return
        except ValueError as error:
            studio = None
            await self.send({"kind": "error", "text": _sentence(error)})
        except Exception as error:
            logger.exception("a lesson failed")
            studio = None
            await self.send({"kind": "error", "text": _sentence(error)})
        if dropped.is_set():
            return
        self._lesson = None
        await self._say("lesson")
        if studio is None:
            self._dirty.set()
            return
        self.studio = studio
        if what != "settings":
            self.marks.learn(studio.lesson, own_step=what == "refit")
        await self.send({"kind": "lesson"}, studio.lesson)
        await self._marked(Patch(0, 0, 0, 0))
        if what == "refit" and studio.last is not None:
            times = "1 round" if rounds == 1 else f"{rounds} rounds"
            mask = studio.last.result.minimizer
            text = f"Colours refitted in {times}: {changes(before, mask)}."
            await self.send({"kind": "note", "text": text})
        self._dirty.set()

    def _work(self, what: str, dropped: Event) -> Callable[[], tuple[Studio | None, int]]:
        """Return what a lesson computes, with copies of all that may change meanwhile."""
        photograph, settings, marks = self.photograph, self.settings, self.marks
        assert photograph is not None
        seeds, mask, cancelled = marks.seeds(), self.mask, dropped.is_set
        learned = marks.learned if what == "settings" else None
        lesson = marks.lesson(mask if what == "mask" else None)
        boxed = marks.box is not None

        def work() -> tuple[Studio | None, int]:
            if cancelled():
                raise CancelledError
            if what == "refit" and mask is not None:
                return refitted(photograph, settings, seeds, mask, cancelled)
            own = lesson if learned is None else unpacked_lesson(learned, photograph.shape)
            if own is None:
                return None, 0
            if boxed and what == "strokes":
                inside: BoolArray = own == OBJECT
                return refitted(photograph, settings, seeds, inside, cancelled)
            studio = Studio(photograph, settings, own, cancelled)
            studio.follow(seeds, settings)
            studio.solve_whole(cancelled)
            return studio, 1

        return work

    # Ahead of the sliders.

    async def _think_ahead(self, studio: Studio) -> None:
        """Let a process compute masks of other levels and smoothness, and send them."""
        settings = self.settings
        here = SMOOTHNESS.index(settings.smoothness)
        others = sorted(SMOOTHNESS, key=lambda value: abs(SMOOTHNESS.index(value) - here))
        problem = await self._in(self._hand_thread, studio.base_problem)
        order = Order(
            problem, level_of(settings.more), studio.photograph.features,
            settings.connectivity, tuple(others[1:]),
        )  # fmt: skip
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "submin.page.aside",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            await self._say("ahead", "Preparing the sliders")
            process.stdin.write(await self._in(self._lesson_thread, pickle.dumps, order))
            await process.stdin.drain()
            process.stdin.close()
            for _ in range(len(SMOOTHNESS)):
                (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
                what, value, data = pickle.loads(await process.stdout.readexactly(length))
                await self.send({"kind": what, "value": value}, data.tobytes())
        except (asyncio.IncompleteReadError, ConnectionError):
            logger.warning("the sliders could not be prepared")
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        await self._say("ahead")

    async def _drop_ahead(self) -> None:
        task, self._ahead = self._ahead, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if not self._closed.is_set():
                await self._say("ahead")

    # Common.

    async def _say(self, what: str, text: str = "") -> None:
        """Say what goes on in the background, or that it is over."""
        await self.send({"kind": "work", "what": what, "text": text})

    async def _in(self, pool: ThreadPoolExecutor, work: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(pool, partial(work, *args))

    def _keep(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _prepared(make: Callable[[], Photograph]) -> Photograph:
    """Return a photograph whose features are computed."""
    photograph = make()
    _ = photograph.features
    return photograph


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())[:500]
    return text if text else type(error).__name__
