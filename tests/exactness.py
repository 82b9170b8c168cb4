"""Random small problems with their values in exact arithmetic, and what must hold of every result.

Run as a script for many of them:  python -m tests.exactness --problems 1000000 --seed 0
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import submin as sm
from submin.solvers import REGISTRY

SLOW = ("schrijver", "douglas_rachford", "parallel_rcdm", "parallel_acdm")
SOLVERS = ["auto", *(name for name in REGISTRY if name not in SLOW)]
FLOW = ("auto", "max_flow")

Random = np.random.Generator
Exact = list[int]

UNIT = 1074
"""Exact numbers are integers in units of 2**-1074: every float is one."""


def exact(number: float) -> int:
    """Return a finite float in units of 2**-1074."""
    numerator, denominator = float(number).as_integer_ratio()
    return numerator << (UNIT + 1 - denominator.bit_length())


def exactly(numbers: np.ndarray) -> np.ndarray:
    return np.array([exact(number) for number in numbers], dtype=object)


class Case(NamedTuple):
    """A problem, and the exact value of each set, or None where it breaks a hard constraint."""

    problem: sm.Problem
    values: list[int | None]

    @property
    def minimum(self) -> int:
        return min(value for value in self.values if value is not None)

    def exact(self, members: np.ndarray) -> int | None:
        return self.values[int(np.dot(members.ravel(), 1 << np.arange(members.size)))]


# Numbers, of the kinds that break things.


def small_integers(random: Random, size: int) -> np.ndarray:
    return random.integers(-4, 5, size).astype(float)


def large_integers(random: Random, size: int) -> np.ndarray:
    """Of magnitudes from 1 to 2**53, a few of them exactly there."""
    bits = random.integers(0, 54, size)
    numbers = np.floor(random.random(size) * 2.0**bits)
    numbers = np.where(random.random(size) < 0.1, 2.0**53, numbers)
    return numbers * random.choice([-1.0, 1.0], size)


def one_scale_integers(random: Random, size: int) -> np.ndarray:
    top = 2 ** int(random.integers(1, 53))
    return random.integers(-top, top + 1, size).astype(float)


def tenths(random: Random, size: int) -> np.ndarray:
    return random.integers(-9, 10, size) / 10.0


def normals(random: Random, size: int) -> np.ndarray:
    return random.normal(size=size) * 10.0 ** float(random.integers(-30, 31))


def mixed_scales(random: Random, size: int) -> np.ndarray:
    return random.normal(size=size) * 10.0 ** random.integers(-15, 16, size)


def neighbours(random: Random, size: int) -> np.ndarray:
    """Floats that differ in their last bits."""
    numbers = random.choice([0.1, 0.3, 1.0, 2.5], size)
    return np.nextafter(numbers, numbers + random.integers(-1, 2, size)) * random.choice([-1, 1])


KINDS: tuple[Callable[[Random, int], np.ndarray], ...] = (
    small_integers, large_integers, one_scale_integers, tenths, normals, mixed_scales, neighbours,
)  # fmt: skip


# Terms, with the exact value of each set.


def a_cut(random: Random, n: int, numbers: Callable[[int], np.ndarray]) -> tuple[sm.Term, Exact]:
    m = int(random.integers(1, 2 * n))
    tails, heads = random.integers(0, n, (2, m))
    kept = tails != heads
    tails, heads = tails[kept], heads[kept]
    out, back = np.abs(numbers(tails.size)), np.abs(numbers(tails.size))
    if random.random() < 0.5:
        back = out
    inside = sets(n)
    leaving, entering = inside[:, tails] & ~inside[:, heads], inside[:, heads] & ~inside[:, tails]
    values = list(leaving @ exactly(out) + entering @ exactly(back)) if tails.size else [0] * 2**n
    return sm.Cut(tails, heads, out, back), values


def a_grid(random: Random, n: int, numbers: Callable[[int], np.ndarray]) -> tuple[sm.Term, Exact]:
    weights = np.abs(numbers(n - 1))
    inside = sets(n)
    values = list((inside[:, 1:] ^ inside[:, :-1]) @ exactly(weights))
    return sm.GridCut(n, [weights]), values


def a_hyperedge(
    random: Random, n: int, numbers: Callable[[int], np.ndarray]
) -> tuple[sm.Term, Exact]:
    members = random.permutation(n)[: int(random.integers(2, n + 1))]
    weight = float(np.abs(numbers(1))[0])
    values = [exact(weight) * int(s[members].any() and not s[members].all()) for s in sets(n)]
    return sm.Hyperedge([0, members.size], members, weight), values


def a_truncation(
    random: Random, n: int, numbers: Callable[[int], np.ndarray]
) -> tuple[sm.Term, Exact]:
    members = random.permutation(n)[: int(random.integers(2, n + 1))]
    masses = np.abs(numbers(members.size))
    cap = float(random.random() * masses.sum())
    values = [min(exact(cap), mass) for mass in sets(n)[:, members] @ exactly(masses)]
    return sm.Truncation([0, members.size], members, masses, cap), values


def a_count(random: Random, n: int, numbers: Callable[[int], np.ndarray]) -> tuple[sm.Term, Exact]:
    members = random.permutation(n)[: int(random.integers(2, n + 1))]
    weight = float(np.abs(numbers(1))[0])
    term = sm.Cardinality([0, members.size], members, lambda k, m: weight * np.minimum(k, m - k))
    return term, [exact(term.values[int(s[members].sum())]) for s in sets(n)]


def a_table(random: Random, n: int, numbers: Callable[[int], np.ndarray]) -> tuple[sm.Term, Exact]:
    members = random.permutation(n)[:2]
    first, second, saved = numbers(3)
    both = first + second - abs(saved)
    while exact(both) > exact(first) + exact(second):
        both = np.nextafter(both, -np.inf)
    row = np.array([0.0, first, second, both])
    return sm.Table([members], row), [exact(row[k]) for k in sets(n)[:, members] @ [1, 2]]


TERMS = (a_cut, a_cut, a_grid, a_hyperedge, a_truncation, a_count, a_table)


@functools.cache
def sets(n: int) -> np.ndarray:
    """Return all sets, one a row, element v of set k at bit v of k."""
    return ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1).astype(bool)


def random_case(random: Random, most: int = 5) -> Case:
    """Draw a problem of 2 to `most` elements, with hard constraints now and then."""
    n = int(random.integers(2, most + 1))
    kind = KINDS[int(random.integers(len(KINDS)))]
    shift = 2.0 ** int(random.integers(-8, 9)) if kind is not large_integers else 1.0
    unary, parts = kind(random, n) * shift, []
    for _ in range(int(random.integers(1, 3))):
        other = kind if random.random() < 0.8 else KINDS[int(random.integers(len(KINDS)))]
        make = TERMS[int(random.integers(len(TERMS)))]
        parts.append(make(random, n, lambda size, own=other: own(random, size)))
    if random.random() < 0.1:
        unary[random.integers(n)] = random.choice([-(2.0**53), 1e20, -1e140])
    if random.random() < 0.15:
        unary[random.integers(n)] = random.choice([-np.inf, np.inf])
    constant = float(kind(random, 1)[0]) if random.random() < 0.2 else 0.0
    constant = constant if random.random() < 0.95 else float(random.choice([2.0**53, -1e20]))
    problem = sm.Problem(unary, [term for term, _ in parts], constant)
    inside = sets(n)
    broken = (inside & np.isposinf(unary) | ~inside & np.isneginf(unary)).any(axis=1)
    own = inside @ exactly(np.where(np.isfinite(unary), unary, 0.0)) + exact(constant)
    values = [
        sum(value, start) for start, *value in zip(own, *(part for _, part in parts), strict=True)
    ]
    return Case(problem, [None if b else v for b, v in zip(broken, values, strict=True)])


# What must hold.


def faults(case: Case, result: sm.Result) -> list[str]:
    """Return what is wrong with a result, by name."""
    problem, found = case.problem, []
    value, minimum = case.exact(result.minimizer), case.minimum
    if value is None:
        return ["a hard constraint is broken"]
    if result.value != problem.evaluate(result.minimizer):
        found.append("value is not evaluate(minimizer)")
    if np.isfinite(result.lower_bound) and exact(result.lower_bound) > minimum:
        found.append("the bound is above the minimum")
    if np.isfinite(result.gap) and exact(result.gap) < value - minimum:
        found.append("the gap is too small")
    if result.status is sm.Status.OPTIMAL and value != minimum:
        found.append("OPTIMAL, and not minimal")
    return found


def sums_are_exact(case: Case) -> bool:
    """Say whether all data are integers whose sums float64 holds."""
    unit = case.problem.granularity
    sizes = [np.abs(case.problem.unary[np.isfinite(case.problem.unary)]).sum()]
    for term in case.problem.terms:
        sizes += [float(np.abs(a).sum()) for a in term.arrays().values() if a.dtype.kind == "f"]
    return unit > 0.0 and 4.0 * sum(sizes) < 2.0**53 * unit


def extreme_faults(case: Case) -> list[str]:
    """Compare the smallest and the largest minimiser of a maximum flow with the exact ones."""
    values = np.array([value == case.minimum for value in case.values])
    best = sets(case.problem.n)[values]
    wanted = {False: best.all(axis=0), True: best.any(axis=0)}
    found = []
    for largest, members in wanted.items():
        result = sm.minimize(case.problem, sm.MaxFlow(largest=largest))
        if not np.array_equal(result.minimizer, members):
            found.append(f"MaxFlow(largest={largest}) is another set")
        if result.status is not sm.Status.OPTIMAL:
            found.append(f"MaxFlow(largest={largest}) ends {result.status.name}")
    return found


def check(seed: int) -> tuple[Counter[str], list[str]]:
    """Draw a problem by its seed and solve it; return what was met and what was wrong."""
    random = np.random.default_rng(seed)
    case = random_case(random)
    name = SOLVERS[int(random.integers(len(SOLVERS)))] if random.random() < 0.5 else "auto"
    try:
        result = sm.minimize(case.problem, name, max_passes=200)
    except TypeError:  # of this solver, or of a term
        name = "accelerated_sweeps"
        result = sm.minimize(case.problem, name, max_passes=200)
    wrong, further = faults(case, result), random.random()
    if further < 0.3 and sm.verify(case.problem, result) != result.certificate:
        wrong.append("verify says something else")
    if further > 0.85:
        watched = sm.minimize(case.problem, name, max_passes=200, callback=lambda *_: False)
        wrong += [f"watched: {fault}" for fault in faults(case, watched)]
        if not np.array_equal(watched.minimizer, result.minimizer):
            wrong.append("watching changes the answer")
    if name in FLOW and random.random() < 0.4 and sums_are_exact(case):
        wrong += extreme_faults(case)
    met = Counter({f"{name} {result.status.name}": 1, result.status.name: 1})
    return met, [f"seed {seed}, {name}: {fault}" for fault in wrong]


def check_many(seeds: range) -> tuple[Counter[str], list[str]]:
    met, wrong = Counter[str](), []
    with np.errstate(all="ignore"):
        for seed in seeds:
            try:
                own, faulty = check(seed)
            except Exception as error:
                own, faulty = Counter(), [f"seed {seed}: {type(error).__name__}: {error}"]
            met += own
            wrong += faulty
    return met, wrong


def main() -> int:
    """Check many problems on all cores, and print what was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    chosen = parser.parse_args()
    started, met, wrong = time.perf_counter(), Counter[str](), []
    stop = chosen.seed + chosen.problems
    pieces = [range(k, min(k + 500, stop)) for k in range(chosen.seed, stop, 500)]
    with multiprocessing.get_context("spawn").Pool(chosen.processes) as pool:
        for own, faulty in pool.imap_unordered(check_many, pieces):
            met += own
            wrong += faulty
            for line in faulty:
                print(line, flush=True)
    seconds = time.perf_counter() - started
    print(
        f"{chosen.problems} problems from seed {chosen.seed}: {len(wrong)} faults, {seconds:.0f} s"
    )
    for status in sm.Status:
        print(f"  {status.name:10} {met[status.name]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
