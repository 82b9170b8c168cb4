"""Exact minimisation end to end, arrays in and mask out, against every max-flow code that is there.

    python benchmarks/max_flow.py --group photographs [--repeats 3] [--limit 60] [--only WORD]

Groups: photographs, volume, graphs, mazes, instances.  The same data in one run; every code in
processes of its own, with the median of wall seconds, the seconds of its solve alone, the ratio to
ours, and bytes per element at its peak beyond its input arrays.  The values of all answers are
checked.

The code "edges" is ours with the edges of a grid as a list.  The others are optional and left out
where they are not installed: PyMaxflow (GPL), thinmaxflow (GPL), thinhpf (academic licence),
ortools, scipy, igraph, networkx.  A code that takes more than --limit seconds on an instance is
left out on larger ones of the group.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

import submin as sm
from max_flow_codes import CODES, Code, whole_scale
from max_flow_instances import CONNECTIVITIES, GROUPS, Instance
from processes import Outcome, apart


def timed(code: Code, instance: Instance, repeats: int, limit: float) -> Outcome | None:
    """Return medians of seconds and of the solve alone, and the mask; None beyond the limit."""
    data = code.prepare(instance)

    def repeat() -> tuple[float, float, np.ndarray]:
        seconds, solves = [], []
        for _ in range(repeats):
            start = time.perf_counter()
            mask, solve = code.solve(*data)
            seconds.append(time.perf_counter() - start)
            solves.append(solve)
        return float(np.median(seconds)), float(np.median(solves)), mask

    return apart(repeat, limit * repeats)


def check(code: Code, instance: Instance, mask: np.ndarray, minimum: float) -> str:
    """Compare a value with the minimum, within rounding, or that of the scaling; return a note."""
    value = instance.problem.evaluate(mask)
    allowed, note = 1e-9 * (1.0 + abs(minimum)), ""
    scale = whole_scale(instance, code.largest)
    if code.largest < np.inf and scale * instance.problem.granularity != 1.0:
        allowed += (instance.problem.n + instance.problem.terms[0].size) / scale
        note = f"capacities rounded: {max(0.0, value - minimum):.1g} above the minimum"
    if value - minimum > allowed:
        return f"WRONG: {value - minimum:.3g} above the minimum"
    if minimum - value > allowed:
        raise RuntimeError(f"{code.name} found {value}, below {minimum}")
    return note


class Comparison:
    """One group of instances: ratios so far, and how large an instance each code can take."""

    def __init__(self, codes: Sequence[Code], repeats: int, limit: float) -> None:
        self.codes, self.repeats, self.limit = codes, repeats, limit
        self.most = dict.fromkeys((code.name for code in codes), np.inf)
        self.ratios: dict[str, list[tuple[float, float]]] = {code.name: [] for code in codes}

    def run(self, name: str, instance: Instance) -> None:
        """Time all codes on an instance, ours first."""
        problem = instance.problem
        print(f"{name}: {problem.n:,} elements, {problem.terms[0].size:,} edges")
        own = self.measured(self.codes[0], instance)
        if own is None:
            return
        ours, _, mask = own.answer
        minimum = problem.evaluate(mask)
        if instance.minimum not in (None, minimum):
            raise RuntimeError(f"{name}: the minimum is {instance.minimum}; we found {minimum}")
        self.row(self.codes[0].name, own, ours, problem.n, "")
        for code in self.codes[1:]:
            if problem.n >= self.most[code.name]:
                continue
            outcome = self.measured(code, instance)
            if outcome is None:
                self.most[code.name] = problem.n
                continue
            seconds, solve, mask = outcome.answer
            self.ratios[code.name].append((seconds / ours, solve / ours))
            self.row(code.name, outcome, ours, problem.n, check(code, instance, mask, minimum))

    def measured(self, code: Code, instance: Instance) -> Outcome | None:
        """Time a code; where it fails, say why, and return None."""
        outcome = timed(code, instance, self.repeats, self.limit)
        if outcome is not None and outcome.error is None:
            return outcome
        reason = outcome.error if outcome else f"more than {self.limit:g} s"
        print(f"  {code.name:12} {reason}", flush=True)
        return None

    @staticmethod
    def row(name: str, outcome: Outcome, ours: float, n: int, note: str) -> None:
        """Print one line."""
        seconds, solve, _ = outcome.answer
        numbers = f"{seconds:10.4f} s, {solve:10.4f} s the solve, ratio {seconds / ours:8.2f}"
        peak = f"{outcome.peak_bytes / n:6.0f} bytes an element"
        print(f"  {name:12}{numbers}, {peak}  {note}", flush=True)

    def summary(self) -> None:
        """Print the geometric means and the smallest of the ratios of each code."""
        for name, pairs in list(self.ratios.items())[1:]:
            if not pairs:
                continue
            logs, least = np.exp(np.log(pairs).mean(axis=0)), np.min(pairs, axis=0)
            print(
                f"{name:12} {len(pairs):3} instances: ratio {logs[0]:.2f} (mean), {least[0]:.2f} "
                f"(least); of its solve alone to all of ours {logs[1]:.2f}, {least[1]:.2f}"
            )


def main() -> None:
    """Run the groups that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--group", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a solve")
    parser.add_argument("--only", default="", help="a part of the instances' names")
    parser.add_argument("--codes", nargs="+", help="names of the codes beside ours")
    parser.add_argument("--connectivity", nargs="+", type=int)
    arguments = parser.parse_args()
    wanted = [c for c in CODES[1:] if arguments.codes is None or c.name in arguments.codes]
    for code in wanted:
        if not code.is_there():
            print(f"{code.name} is not installed: left out")
    codes = [CODES[0], *(code for code in wanted if code.is_there())]
    sm.minimize(sm.Problem([0.0], [sm.GridCut(1, 1.0)]))  # what is imported at first use
    for group in arguments.group:
        print(f"\n# {group}")
        comparison = Comparison(codes, arguments.repeats, arguments.limit)
        connectivities = CONNECTIVITIES[group]
        if arguments.connectivity:
            connectivities = tuple(k for k in connectivities if k in arguments.connectivity)
        for name, build in GROUPS[group](connectivities):
            if arguments.only in name:
                comparison.run(name, build())
        comparison.summary()


if __name__ == "__main__":
    main()
