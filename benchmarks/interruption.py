"""How fast Ctrl-C is answered: seconds from SIGINT to the return of ``minimize``.

    python benchmarks/interruption.py [--signals 20] [--only WORD]

The signals come at times spread evenly over a solve.  Prints median and maximum, how much of them
is the wait for the code at work, and where the slowest waits were.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple

import numpy as np

import submin as sm
from instances import photograph_problem
from max_flow_instances import blob_problem
from mazes import PROBLEMS

INSTANCES: dict[str, Callable[[], sm.Problem]] = {
    "astronaut 1024^2": lambda: photograph_problem("astronaut", 50.0, 8, 2),
    "astronaut 2048^2": lambda: photograph_problem("astronaut", 50.0, 8, 4),
    "volume 128^3": lambda: blob_problem(128, 26),
    "graph of 262,144 nodes": lambda: as_graph(photograph_problem("camera", 50.0, 8)),
    "snake 1000^2": lambda: PROBLEMS["snake"](1000),
    "snake 1000^2 8-nb": lambda: PROBLEMS["snake 8-nb"](1000),
    "maze 1000^2": lambda: PROBLEMS["maze"](1000),
    "512^2 in squares": lambda: in_squares(photograph_problem("astronaut", 5.0, 8), 22),
    "1024^2 in squares": lambda: in_squares(photograph_problem("astronaut", 5.0, 8, 2), 22),
    "512^2 in two halves": lambda: in_squares(photograph_problem("astronaut", 5.0, 8), 256),
}


def as_graph(problem: sm.Problem) -> sm.Problem:
    """Return the same problem with its edges as a list."""
    (grid,) = problem.terms
    weights = np.concatenate([forward for _, forward, _ in grid.segments])
    return sm.Problem(problem.unary, [sm.Cut(*grid.edge_list(), weights)])


def in_squares(problem: sm.Problem, side: int) -> sm.Problem:
    """Return the problem with a consistency term over squares."""
    rows, columns = np.indices(problem.shape)
    labels = rows // side * (problem.shape[1] // side + 1) + columns // side
    squares = sm.Cardinality.from_labels(labels, lambda k, m: k * (m - k) / m)
    return sm.Problem(problem.unary, [*problem.terms, squares])


class Delay(NamedTuple):
    """Seconds until Python saw the signal, until the result was there, and who was at work."""

    noticed: float
    returned: float
    place: str


def delay(problem: sm.Problem, after: float) -> Delay | None:
    """Interrupt a solve after some seconds; None if it was over by then."""
    seen: dict[str, float | str] = {}

    def note(_: int, frame: FrameType | None) -> None:
        seen["noticed"], seen["place"] = time.perf_counter(), place_of(frame)
        raise KeyboardInterrupt

    def press() -> None:
        seen["sent"] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    before = signal.signal(signal.SIGINT, note)
    try:
        timer.start()
        result = sm.minimize(problem)
        end = time.perf_counter()
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        return None
    finally:
        signal.signal(signal.SIGINT, before)
    if not result.interrupted:
        return None
    sent = float(seen["sent"])
    return Delay(float(seen["noticed"]) - sent, end - sent, str(seen["place"]))


def place_of(frame: FrameType | None) -> str:
    """Name the innermost function of the library that a frame is in."""
    while frame is not None and "submin" not in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None:
        return "outside"
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_code.co_qualname}"


def main() -> None:
    """Print a row for each instance."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--signals", type=int, default=20)
    parser.add_argument("--only", default="", help="a part of the instances' names")
    arguments = parser.parse_args()
    for name, build in INSTANCES.items():
        if arguments.only not in name:
            continue
        problem, start = build(), time.perf_counter()
        sm.minimize(problem, time_limit=20.0)
        seconds = time.perf_counter() - start
        times = seconds * (np.arange(arguments.signals) + 0.5) / arguments.signals
        delays = [found for after in times if (found := delay(problem, after)) is not None]
        report(name, seconds, delays)


def report(name: str, seconds: float, delays: list[Delay]) -> None:
    """Print median and maximum, and the three slowest in each respect."""
    noticed, returned = (np.array([d[k] for d in delays]) for k in (0, 1))
    print(
        f"{name}: a solve takes {seconds:.2f} s; {len(delays)} signals, answered after "
        f"{np.median(returned):.3f} s (median), {returned.max():.3f} s (maximum); "
        f"noticed after {np.median(noticed):.3f} s, {noticed.max():.3f} s"
    )
    for d in sorted(delays, key=lambda d: d.returned)[:-4:-1]:
        print(f"  {d.returned:.3f} s, noticed after {d.noticed:.3f} s in {d.place}", flush=True)


if __name__ == "__main__":
    main()
