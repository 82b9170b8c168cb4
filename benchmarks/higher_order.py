"""Higher-order terms: a maximum flow on gadgets beside accelerated sweeps, to a closed gap.

    python benchmarks/higher_order.py [--group large] [--repeats 3] [--limit 60] [--only WORD]

Hypergraph cuts (zoo and mushroom of UCI, random ones), and photographs of scikit-image with 8
neighbours and higher-order potentials on about 600 superpixels.  Runs of both solvers take turns;
the seconds are medians, from a problem to a certified set; a "+" at the passes says that the time
was over.  The last columns are edges of the network for each number of the dual, and what
``solver="auto"`` chooses.  The docs' page on choosing a solver quotes the table.

The group "large" has one function of all elements, or a star of edges, beside a grid or a path: the
seconds of both solvers for both orders of the terms, and of PyMaxflow (GPL, optional) on the same
network, from its arrays to the set; it is left out once it took more than the limit.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

import submin as sm
from instances import data_folder, photograph_problem, superpixel_problem
from submin.solvers import choose
from submin.solvers.flows.network import FlowNetwork, network_size
from submin.solvers.max_flow import accepts
from submin.terms.table import Table

SUPERPIXELS = 600
SOLVERS = (sm.MaxFlow(), sm.AcceleratedSweeps())


def hypergraph(name: str) -> tuple[int, sm.Hyperedge]:
    """Load a hypergraph: the number of its nodes, and its hyperedges with random weights."""
    lines = (data_folder() / "hypergraph" / f"{name}.hmetis").read_text().splitlines()
    count, n = map(int, lines[0].split()[:2])
    groups = [np.array(line.split(), dtype=int) - 1 for line in lines[1 : count + 1]]
    weights = np.random.default_rng(0).random(count)
    return n, sm.Hyperedge(_pointers(groups), np.concatenate(groups), weights)


def labelled(name: str, share: float = 0.05) -> sm.Problem:
    """Tell the first class from the others, from a share of the labels as hard constraints."""
    n, cut = hypergraph(name)
    lines = (data_folder() / "hypergraph" / f"{name}.label").read_text().splitlines()
    label = np.array(lines[1 : n + 1])
    known = np.random.default_rng(1).random(n) < share
    side = np.where(label == label[np.argmax(known)], -np.inf, np.inf)
    return sm.Problem(np.where(known, side, 0.0), [cut])


def noisy(name: str) -> sm.Problem:
    """Give each node a random cost."""
    n, cut = hypergraph(name)
    return sm.Problem(3.0 * np.random.default_rng(1).normal(size=n), [cut])


def random_hypergraph(n: int, most: int, near: bool) -> sm.Problem:
    """Build as many hyperedges of 3 to `most` members as elements, among all or among 200 near."""
    random = np.random.default_rng(0)
    groups = []
    for size, centre in zip(random.integers(3, most + 1, n), random.integers(0, n, n), strict=True):
        drawn = centre + random.integers(-100, 101, size) if near else random.integers(0, n, size)
        groups.append(np.unique(drawn % n))
    weights = random.integers(1, 10, n).astype(float)
    cut = sm.Hyperedge(_pointers(groups), np.concatenate(groups), weights)
    return sm.Problem(random.integers(-2 * most, 2 * most + 1, n).astype(float), [cut])


def random_tables(n: int, k: int) -> sm.Problem:
    """Build 3 n pairs, or 2 n triples, of random elements, with submodular tables of their own."""
    random = np.random.default_rng(0)
    count = n * (5 - k)
    first, steps = random.integers(0, n, (count, 1)), random.integers(1, n // k, (count, k - 1))
    members = np.hstack([first, first + np.cumsum(steps, axis=1)]) % n
    inside = (np.arange(2**k)[:, None] >> np.arange(k) & 1).sum(axis=1)
    any_of, split = 2.0 * random.random((count, 1)), random.random((count, 1))
    values = any_of * np.minimum(inside, 1) + split * (inside * (k - inside))
    return sm.Problem(4.0 * random.normal(size=n) - 2.0, [Table(members, values)])


def _pointers(groups: list[np.ndarray]) -> np.ndarray:
    return np.append(0, np.cumsum([group.size for group in groups]))


@cache
def photograph(name: str, smoothness: float) -> tuple[sm.Problem, np.ndarray, np.ndarray]:
    """Build the grid cut of a photograph, and its superpixels."""
    import skimage.data
    from skimage.segmentation import slic

    image = getattr(skimage.data, name)()
    channels = -1 if image.ndim == 3 else None
    labels = slic(image, SUPERPIXELS, start_label=0, channel_axis=channels, compactness=10.0)
    return photograph_problem(name, smoothness), *sm.label_groups(labels)


def with_potential(
    name: str, smoothness: float, potential: Callable[[np.ndarray, np.ndarray], sm.Term]
) -> sm.Problem:
    """Add a term on the superpixels to the grid cut of a photograph."""
    problem, pointers, members = photograph(name, smoothness)
    return sm.Problem(problem.unary, [*problem.terms, potential(pointers, members)])


def robust(pointers: np.ndarray, members: np.ndarray) -> sm.Term:
    """Charge 1 for each pixel of the minority, up to a tenth of the superpixel."""
    tolerance = np.maximum(1.0, 0.1 * np.diff(pointers))
    return sm.robust_pn(pointers, members, tolerance, tolerance)


def potts(pointers: np.ndarray, members: np.ndarray) -> sm.Term:
    """Charge half of the size of each superpixel that is split."""
    return sm.potts_pn(pointers, members, 0.5 * np.diff(pointers))


def truncated(pointers: np.ndarray, members: np.ndarray) -> sm.Term:
    """Charge 1 for each pixel in S, up to a fifth of the superpixel."""
    return sm.Truncation(pointers, members, 1.0, 0.2 * np.diff(pointers))


def curved(turns: int) -> Callable[[np.ndarray, np.ndarray], sm.Term]:
    """Charge |S and R| |R without S| / |R|, linear between so many changes of slope."""

    def function(k: np.ndarray, m: int) -> np.ndarray:
        at = np.unique(np.rint(np.linspace(0, m, turns + 2)))
        return np.interp(k, at, at * (m - at) / m)

    return lambda pointers, members: sm.Cardinality(pointers, members, function)


def square(n: int) -> tuple[np.ndarray, sm.Term]:
    """Return costs with noise on about n pixels, and their grid."""
    side = round(n**0.5)
    shape = (side, side)
    return np.random.default_rng(1).normal(size=shape) - 0.5, sm.GridCut(shape, 0.5)


def large_hyperedge(n: int) -> tuple[np.ndarray, list[sm.Term]]:
    """Build a hyperedge of all pixels beside a grid."""
    unary, grid = square(n)
    n = unary.size
    return unary, [sm.Hyperedge([0, n], np.arange(n), 0.1 * n), grid]


def large_cardinality(n: int) -> tuple[np.ndarray, list[sm.Term]]:
    """Build a concave function of the number of all pixels, of three slopes, beside a grid."""
    unary, grid = square(n)
    n = unary.size
    return unary, [sm.Cardinality([0, n], np.arange(n), curved_table), grid]


def curved_table(k: np.ndarray, m: int) -> np.ndarray:
    """Return 4 k (m - k) / m, linear between three changes of slope."""
    at = np.unique(np.rint(np.linspace(0, m, 5)))
    return np.interp(k, at, 4.0 * at * (m - at) / m)


def large_truncation(n: int) -> tuple[np.ndarray, list[sm.Term]]:
    """Build a truncation of all elements beside a path."""
    unary = np.random.default_rng(0).normal(size=n) - 0.3
    return unary, [sm.Truncation([0, n], np.arange(n), 1.0, 0.1 * n), sm.GridCut(n, 0.5)]


def lone_hyperedge(n: int) -> tuple[np.ndarray, list[sm.Term]]:
    """Build a hyperedge of all elements alone."""
    return np.random.default_rng(0).normal(size=n), [sm.Hyperedge([0, n], np.arange(n), 0.3 * n)]


def large_star(n: int) -> tuple[np.ndarray, list[sm.Term]]:
    """Build a star of edges beside a path."""
    random = np.random.default_rng(0)
    unary = random.normal(size=n)
    unary[0] = -0.2 * n
    star = sm.Cut(np.zeros(n - 1, dtype=int), np.arange(1, n), random.random(n - 1))
    return unary, [star, sm.GridCut(n, 0.5)]


LARGE = {
    "hyperedge, grid": large_hyperedge,
    "3 turns, grid": large_cardinality,
    "truncation, path": large_truncation,
    "hyperedge alone": lone_hyperedge,
    "star, path": large_star,
}
LARGE_SIZES = (10_000, 90_000, 300_000, 1_000_000)


def pymaxflow_seconds(problem: sm.Problem) -> float:
    """Solve the network of a problem with PyMaxflow; return the seconds, or NaN without it."""
    try:
        import maxflow
    except ImportError:
        return float("nan")
    network = FlowNetwork(problem.terms, problem.unary.ravel(), sm.Layout(problem).feasible_start())
    network.flow[:] = 0.0
    costs = network.imbalance()
    weights = [np.broadcast_to(part, network.flow.size) for part in network.edges[2:]]
    started = time.perf_counter()
    graph = maxflow.Graph[float](costs.size, network.flow.size)
    nodes = graph.add_nodes(costs.size)
    graph.add_edges(*network.edges[:2], weights[1], weights[0])
    graph.add_grid_tedges(nodes, np.maximum(-costs, 0.0), np.maximum(costs, 0.0))
    graph.maxflow()
    graph.get_grid_segments(nodes)
    return time.perf_counter() - started


def large_rows(name: str, repeats: int, limit: float) -> Iterator[str]:
    """Compare the solvers and PyMaxflow on growing instances of one kind, for both orders."""
    beside = True
    for n in LARGE_SIZES:
        unary, terms = LARGE[name](n)
        for order in (terms, terms[::-1]) if len(terms) > 1 else (terms,):
            problem = sm.Problem(unary, order)
            (flow, exact), (sweeps, swept) = measured(problem, repeats, limit)
            other = pymaxflow_seconds(problem) if beside else float("nan")
            beside = beside and other <= limit
            first = type(order[0]).__name__
            passes = f"{swept.passes:.0f}" + "+" * (swept.status is not sm.Status.OPTIMAL)
            yield (
                f"{name:18} {problem.n:9,} {first:12} {flow:8.3f} {sweeps:8.3f} {passes:>6} "
                f"{other:9.3f}  {exact.status.name}, gap {exact.gap:.1g}"
            )


def print_large(repeats: int, limit: float, word: str) -> None:
    """Print the table of groups of all elements."""
    print(
        f"{'instance':18} {'elements':>9} {'first term':12} {'flow s':>8} {'sweeps s':>8} "
        f"{'passes':>6} {'PyMaxflow':>9}"
    )
    for name in LARGE:
        if word in name:
            for line in large_rows(name, repeats, limit):
                print(line, flush=True)


INSTANCES: dict[str, Callable[[], sm.Problem]] = {
    **{f"{name}, labels": lambda name=name: labelled(name) for name in ("zoo", "mushroom")},
    **{f"{name}, random costs": lambda name=name: noisy(name) for name in ("zoo", "mushroom")},
    **{
        f"random hypergraph {n:,}, <= {most}{', near' * near}": (
            lambda n=n, most=most, near=near: random_hypergraph(n, most, near)
        )
        for n in (1_000, 10_000, 100_000)
        for most, near in ((5, False), (20, False), (20, True))
    },
    **{f"tables of {k}": lambda k=k: random_tables(20_000, k) for k in (2, 3)},
    **{
        f"{name} {potential.__name__}, lambda {smoothness:g}": (
            lambda name=name, potential=potential, smoothness=smoothness: with_potential(
                name, smoothness, potential
            )
        )
        for name in ("astronaut", "coffee")
        for potential in (robust, potts, truncated)
        for smoothness in (5.0, 50.0)
    },
    **{
        f"astronaut, {turns} turns": lambda turns=turns: with_potential(
            "astronaut", 5.0, curved(turns)
        )
        for turns in (1, 3, 7, 15, 31)
    },
    "plant500 (quadratic)": lambda: superpixel_problem("plant500"),
}


def measured(problem: sm.Problem, repeats: int, limit: float) -> Iterator[tuple[float, sm.Result]]:
    """Return the median seconds and the last result of each solver, in turns."""
    seconds: list[list[float]] = [[] for _ in SOLVERS]
    results: dict[int, sm.Result] = {}
    for _ in range(repeats):
        for k, solver in enumerate(SOLVERS):
            started = time.perf_counter()
            results[k] = sm.minimize(problem, solver, time_limit=limit)
            seconds[k].append(time.perf_counter() - started)
    return zip(map(statistics.median, seconds), results.values(), strict=True)


def row(name: str, problem: sm.Problem, repeats: int, limit: float) -> str:
    """Compare the solvers on one instance, unless the network is far too large."""
    size, dual = network_size(problem.terms), sum(term.size for term in problem.terms)
    choice = type(choose(sm.Layout(problem)).solver).__name__
    head = f"{name:36} {problem.n:8,}"
    if size is None or not accepts(problem.terms):
        edges = "-" if size is None else f"{size.edges / dual:.0f}"
        return f"{head} {'-':>8} {'-':>8} {'-':>6} {'-':>7} {edges:>6}  {choice}"
    (flow, exact), (sweeps, swept) = measured(problem, repeats, limit)
    passes = f"{swept.passes:.0f}" + "+" * (swept.status is not sm.Status.OPTIMAL)
    proved = "" if exact.status is sm.Status.OPTIMAL else f"  {exact.status.name}"
    if exact.value > swept.value + 1e-9 * abs(swept.value):
        proved += f"  {exact.value} above {swept.value}"
    return (
        f"{head} {flow:8.3f} {sweeps:8.3f} {sweeps / flow:6.1f} {passes:>7} "
        f"{size.edges / dual:6.1f}  {choice}{proved}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--group", choices=("potentials", "large"), default="potentials")
    chosen = parser.parse_args()
    if chosen.group == "large":
        print_large(chosen.repeats, chosen.limit, chosen.only)
        return
    print(
        f"{'instance':36} {'elements':>8} {'flow s':>8} {'sweeps s':>8} {'ratio':>6} {'passes':>7} "
        f"{'edges':>6}  auto"
    )
    for name, make in INSTANCES.items():
        if chosen.only in name:
            print(row(name, make(), chosen.repeats, chosen.limit), flush=True)


if __name__ == "__main__":
    main()
