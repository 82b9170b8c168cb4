"""Run a function in a process of its own: with a time limit, and with its peak of memory."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

QUIET = 0.1
"""Seconds to wait in a new process: at a fork, NumPy's OpenBLAS starts its threads in the parent
anew, and they look for work on all cores for some 40 milliseconds before they sleep."""


class Outcome(NamedTuple):
    """What a function returned, or the exception it raised; bytes at its peak beyond its inputs."""

    answer: Any
    error: Exception | None
    peak_bytes: int


def apart(function: Callable[[], Any], seconds: float = float("inf")) -> Outcome | None:
    """Call a function in a forked process, which sees all data of this one; None if too slow.

    The answer must pickle.  The peak is that of resident memory, counted from the fork (on Linux).
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(function, sender))
    process.start()
    sender.close()
    try:
        in_time = receiver.poll(None if seconds == float("inf") else seconds)
        return receiver.recv() if in_time else None
    except EOFError:
        return Outcome(None, RuntimeError("the process died"), 0)
    finally:
        process.kill()
        process.join()


def _call(function: Callable[[], Any], sender: Connection) -> None:
    time.sleep(QUIET)
    with contextlib.suppress(AttributeError):  # give freed memory back, so that it counts again
        ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
    before = _resident("VmRSS")
    answer, error = None, None
    try:
        answer = function()
    except Exception as caught:
        error = caught
    sender.send(Outcome(answer, error, max(0, _resident("VmHWM") - before)))


def _resident(field: str) -> int:
    """Return resident bytes: VmRSS, those now; VmHWM, the most since the peak was reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))
