"""A brush on a photograph: seconds of a solve after a stroke of hard constraints.

    python benchmarks/session.py [--repeats 15] [--only WORD] [--against]

Each repeat draws a new stroke of 240 pixels on a photograph with 8 neighbours, and solves from
nothing, from the last result as a warm start, and in a session that is kept.  The stroke takes
pixels away from the object or adds them to it, by turns; with --against always the way that most of
them are not yet, so that every stroke changes the answer.  Prints medians, with and without the
certificate of the session's answer; the values of all answers are checked.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import submin as sm
from instances import photograph_problem

PHOTOGRAPHS = ("astronaut", "camera")
SMOOTHNESS = (5.0, 50.0)
STROKE = 240


def stroke(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Return the flat numbers of the pixels of a straight stroke, three pixels wide."""
    length, angle = STROKE // 3, rng.uniform(0.0, np.pi)
    along = np.array([np.cos(angle), np.sin(angle)])
    centre = rng.uniform(length, np.array(shape) - length)
    places = centre + (np.arange(length)[:, None] - length / 2) * along
    across = np.abs(along).argmin()
    rows = [places + k * np.eye(2)[across] for k in (-1, 0, 1)]
    pixels = np.rint(np.concatenate(rows)).astype(int)
    return np.ravel_multi_index(tuple(pixels.T), shape)


def timed(call: Callable[[], sm.Result]) -> tuple[float, sm.Result]:
    """Return the milliseconds of a call and its result."""
    start = time.perf_counter()
    result = call()
    return 1e3 * (time.perf_counter() - start), result


def again(session: sm.Session, pixels: np.ndarray, cost: float) -> sm.Result:
    """Change the costs of some pixels and solve."""
    session.change_unary(pixels, cost)
    return session.solve()


def compare(problem: sm.Problem, repeats: int, against: bool) -> str:
    """Return a row of medians."""
    rng, session, rows = np.random.default_rng(0), sm.Session(problem), []
    unary, last = problem.unary.copy(), session.solve()
    for repeat in range(repeats):
        pixels, cost = stroke(problem.shape, rng), -np.inf if repeat % 2 else np.inf
        if against:
            cost = np.inf if last.minimizer.ravel()[pixels].mean() > 0.5 else -np.inf
        unary.ravel()[pixels] = cost
        changed = sm.Problem(unary.copy(), problem.terms)
        own, result = timed(lambda pixels=pixels, cost=cost: again(session, pixels, cost))
        certified, _ = timed(lambda result=result: result.certificate)
        cold, expected = timed(lambda changed=changed: sm.minimize(changed))
        warm, _ = timed(lambda changed=changed, last=last: sm.minimize(changed, warm_start=last))
        last = expected
        if not np.isclose(result.value, expected.value, rtol=1e-12, atol=0.0):
            raise RuntimeError(f"the session found {result.value}, not {expected.value}")
        rows.append((cold, warm, own, own + certified, own / cold))
    cold, warm, own, certified, ratio = np.median(rows, axis=0)
    return (
        f"from nothing {cold:6.1f} ms, warm start {warm:6.1f} ms, session {own:5.1f} ms "
        f"({ratio:.3f} of the first), with certificate {certified:5.1f} ms"
    )


def main() -> None:
    """Print a row for each problem."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", default="", help="a part of the photographs' names")
    parser.add_argument("--against", action="store_true", help="strokes against the answer")
    arguments = parser.parse_args()
    for name in PHOTOGRAPHS:
        for smoothness in SMOOTHNESS:
            if arguments.only in name:
                problem = photograph_problem(name, smoothness, 8)
                row = compare(problem, arguments.repeats, arguments.against)
                print(f"{name} 512^2, smoothness {smoothness:g}: {row}", flush=True)


if __name__ == "__main__":
    main()
