"""Run a function in a process of its own: with a time limit, and with its peak of memory."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """What a function returned, or the exception it raised; bytes at its peak beyond its inputs."""

    answer: Any
    error: Exception | None
    peak_bytes: int


def apart(function: Callable[[], Any], seconds: float = float("inf")) -> Outcome | None:
    """Call a function in a forked process, which sees all data of this one; None if too slow.

    The answer must pickle.  The peak is that of resident memory, counted from the fork.
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
    with contextlib.suppress(AttributeError):  # give freed memory back, so that it counts again
        ctypes.CDLL(None).malloc_trim(0)
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    answer, error = None, None
    try:
        answer = function()
    except Exception as caught:
        error = caught
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sender.send(Outcome(answer, error, max(0, peak - before)))
