"""Small random problems, each with F of every set computed by plain loops over its definition.

Nothing here calls the library to compute a value: `Model.values` is what the tests compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product

import numpy as np
from hypothesis import strategies as st

import submin as sm
from submin.solvers import REGISTRY
from submin.solvers.solver import ExactSolver
from submin.terms.function import Function
from submin.terms.table import Table

SHAPES = [
    (1,), (2,), (3,), (5,), (7,), (1, 4), (4, 1), (2, 2), (2, 3), (3, 3), (1, 1, 1), (1, 2, 3),
    (2, 2, 2), (2, 1, 2, 2), (3, 4), (12,),
]  # fmt: skip
SEEDS = range(4)
SLOW = ("frank_wolfe", "smoothed_lovasz")  # O(1/k): they may not close the gap of floats
FAMILIES = ("cut", "grid_cut", "cardinality", "table", "function")


@cache
def all_sets(n: int) -> np.ndarray:
    """All subsets of n elements as masks, shape (2^n, n); element v is bit v of the row."""
    sets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    sets.flags.writeable = False
    return sets


@dataclass
class Part:
    """A term, and F of all sets."""

    term: sm.Term
    values: np.ndarray


@dataclass
class Model:
    """A problem, F of all sets (`inf` where a hard constraint is broken), and its parts."""

    problem: sm.Problem
    values: np.ndarray
    parts: list[Part] = field(default_factory=list)

    @property
    def minimum(self) -> float:
        return float(self.values.min())

    @property
    def scale(self) -> float:
        """A size that rounding errors are measured by."""
        unary = self.problem.unary[np.isfinite(self.problem.unary)]
        parts = sum(float(np.abs(part.values).max()) for part in self.parts)
        return 1.0 + abs(self.problem.constant) + float(np.abs(unary).sum()) + parts


def edge_values(
    sets: np.ndarray, tails: Sequence[int], heads: Sequence[int], forward: Sequence[float],
    backward: Sequence[float],
) -> np.ndarray:  # fmt: skip
    """Sum over edges of forward [i in S, j not] + backward [j in S, i not]."""
    total = np.zeros(len(sets))
    for i, j, out, back in zip(tails, heads, forward, backward, strict=True):
        total += out * (sets[:, i] & ~sets[:, j]) + back * (sets[:, j] & ~sets[:, i])
    return total


def group_values(sets: np.ndarray, groups: Sequence[Sequence[int]], tables: dict) -> np.ndarray:
    """Sum over groups R of g(|S and R|), g a table for each size of group."""
    total = np.zeros(len(sets))
    for group in groups:
        total += tables[len(group)][sets[:, list(group)].sum(axis=1)]
    return total


def grid_neighbours(shape: tuple[int, ...], axes: int) -> list[tuple[tuple[int, ...], ...]]:
    """All ordered pairs (p, q) of pixels that differ by 1 in 1 to `axes` axes, p before q."""
    pixels = list(product(*map(range, shape)))
    pairs = []
    for p in pixels:
        for q in pixels:
            steps = [abs(a - b) for a, b in zip(p, q, strict=True)]
            if p < q and max(steps) == 1 and sum(steps) <= axes:
                pairs.append((p, q))
    return pairs


def vectors(whole: bool, size: int, low: float = -8.0, high: float = 8.0) -> st.SearchStrategy:
    """Vectors in [low, high], low = 0 or -high: whole numbers, or mostly other numbers.

    Bytes are drawn in place of lists of numbers, which is an order of magnitude faster.
    """

    def whole_numbers(data: bytes) -> np.ndarray:
        k = np.frombuffer(data, dtype=np.uint8) % int(high - low + 1)
        return k.astype(float) if low == 0 else np.where(k % 2, -1.0, 1.0) * ((k + 1) // 2)

    def fractions(data: bytes) -> np.ndarray:
        values = np.frombuffer(data, dtype=np.int16) / 32769.0 * high
        return np.abs(values) if low == 0 else values

    of_bytes = st.binary(min_size=size, max_size=size).map(whole_numbers)
    if whole:
        return of_bytes
    return st.binary(min_size=2 * size, max_size=2 * size).map(fractions) | of_bytes


@st.composite
def cuts(draw: st.DrawFn, n: int, whole: bool, directed: bool | None = None) -> Part:
    m = draw(st.integers(0, 2 * n)) if n > 1 else 0
    numbers = np.frombuffer(draw(st.binary(min_size=2 * m, max_size=2 * m)), dtype=np.uint8)
    tails = numbers[:m].astype(int) % n
    heads = (tails + 1 + numbers[m:].astype(int) % max(n - 1, 1)) % n
    forward, backward = draw(vectors(whole, m, 0.0)), draw(vectors(whole, m, 0.0))
    if not (draw(st.booleans()) if directed is None else directed):
        return Part(
            sm.Cut(tails, heads, forward), edge_values(all_sets(n), tails, heads, forward, forward)
        )
    return Part(
        sm.Cut(tails, heads, forward, backward),
        edge_values(all_sets(n), tails, heads, forward, backward),
    )


def grid_choices(dimensions: int) -> list[int]:
    """The connectivities of a grid: neighbours that differ in at most 1, 2, ... axes."""
    return [
        sum(1 for d in product((-1, 0, 1), repeat=dimensions) if 0 < sum(map(abs, d)) <= axes)
        for axes in range(1, dimensions + 1)
    ]


@st.composite
def grid_cuts(draw: st.DrawFn, shape: tuple[int, ...], whole: bool) -> Part:
    axes = draw(st.integers(1, len(shape)))
    connectivity = grid_choices(len(shape))[axes - 1]
    offsets = sm.grid_offsets(len(shape), connectivity)
    overlaps = [tuple(a - abs(d) for a, d in zip(shape, offset, strict=True)) for offset in offsets]

    def weights() -> list[np.ndarray]:
        return [
            draw(vectors(whole, max(0, int(np.prod(overlap))), 0.0)).reshape(overlap)
            for overlap in overlaps
        ]

    forward, backward = weights(), weights()
    if draw(st.booleans()):
        backward = forward
    term = sm.GridCut(shape, forward, connectivity, None if backward is forward else backward)
    return Part(term, grid_values(shape, axes, offsets, forward, backward))


def grid_values(
    shape: tuple[int, ...], axes: int, offsets: list[tuple[int, ...]],
    forward: Sequence[np.ndarray], backward: Sequence[np.ndarray],
) -> np.ndarray:  # fmt: skip
    tails, heads, out, back = [], [], [], []
    for p, q in grid_neighbours(shape, axes):
        k = offsets.index(tuple(b - a for a, b in zip(p, q, strict=True)))
        place = tuple(np.minimum(p, q))
        tails.append(np.ravel_multi_index(p, shape))
        heads.append(np.ravel_multi_index(q, shape))
        out.append(forward[k][place])
        back.append(backward[k][place])
    return edge_values(all_sets(int(np.prod(shape))), tails, heads, out, back)


@st.composite
def concave_tables(draw: st.DrawFn, m: int, whole: bool) -> np.ndarray:
    gains = np.sort(draw(vectors(whole, m, -4.0, 4.0)))[::-1]
    return np.concatenate([[0.0], np.cumsum(gains)])


@st.composite
def cardinalities(draw: st.DrawFn, n: int, whole: bool) -> Part:
    group = st.lists(st.integers(0, n - 1), unique=True, max_size=n)
    groups = draw(st.lists(group, max_size=4))
    sizes = sorted({len(group) for group in groups})
    tables = {m: draw(concave_tables(m, whole)) for m in sizes}
    pointers = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(int)
    members = [element for group in groups for element in group]
    term = sm.Cardinality(pointers, members, lambda k, m: tables[m])
    return Part(term, group_values(all_sets(n), groups, tables))


@st.composite
def submodular_tables(draw: st.DrawFn, k: int, whole: bool) -> np.ndarray:
    """Values of a modular function, a directed cut, and a concave function of the cardinality."""
    sets = all_sets(k)
    values = sets @ draw(vectors(whole, k, -4.0, 4.0))
    values = values + draw(concave_tables(k, whole))[sets.sum(axis=1)]
    if k > 1:
        values = values + draw(cuts(k, whole)).values
    return values


@st.composite
def tables(draw: st.DrawFn, n: int, whole: bool) -> Part:
    k = draw(st.integers(1, min(n, 3)))
    row = st.lists(st.integers(0, n - 1), min_size=k, max_size=k, unique=True)
    members = np.array(draw(st.lists(row, max_size=3)), dtype=int).reshape(-1, k)
    values = np.array([draw(submodular_tables(k, whole)) for _ in members]).reshape(-1, 2**k)
    total = np.zeros(2**n)
    for row_members, row_values in zip(members, values, strict=True):
        total += row_values[all_sets(n)[:, row_members] @ (1 << np.arange(k))]
    return Part(Table(members, values), total)


@st.composite
def functions(draw: st.DrawFn, n: int, whole: bool) -> Part:
    k = draw(st.integers(1, min(n, 4)))
    support = draw(st.lists(st.integers(0, n - 1), min_size=k, max_size=k, unique=True))
    values = draw(submodular_tables(k, whole))
    term = Function(support, evaluate=lambda mask: float(values[mask @ (1 << np.arange(k))]))
    return Part(term, values[all_sets(n)[:, support] @ (1 << np.arange(k))])


def parts(family: str, shape: tuple[int, ...], whole: bool) -> st.SearchStrategy[Part]:
    """One random term of a family."""
    if family == "grid_cut":
        return grid_cuts(shape, whole)
    makers: dict[str, Callable[..., st.SearchStrategy[Part]]] = {
        "cut": cuts, "cardinality": cardinalities, "table": tables, "function": functions,
    }  # fmt: skip
    return makers[family](int(np.prod(shape)), whole)


@st.composite
def models(
    draw: st.DrawFn,
    families: Sequence[str] | None = None,
    whole: bool = False,
    hard: bool = False,
    shapes: Sequence[tuple[int, ...]] = SHAPES,
) -> Model:
    """A random problem: of the given families, or of a random mixture of up to three terms."""
    shape = draw(st.sampled_from(list(shapes)))
    if families is None:
        families = draw(st.lists(st.sampled_from(FAMILIES), max_size=3))
    chosen = [draw(parts(family, shape, whole)) for family in families]
    n = int(np.prod(shape))
    unary = draw(vectors(whole, n))
    if hard:
        limits = draw(
            st.lists(st.sampled_from((0.0, 0.0, -np.inf, np.inf)), min_size=n, max_size=n)
        )
        unary = unary + np.array(limits)
    return model(unary.reshape(shape), chosen, float(draw(vectors(whole, 1))[0]))


def model(unary: np.ndarray, chosen: Sequence[Part], constant: float = 0.0) -> Model:
    """Put a problem together from its unary and parts."""
    sets, flat = all_sets(unary.size), unary.ravel()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    values = sets @ finite + constant + sum(part.values for part in chosen)
    broken = (sets & np.isposinf(flat)) | (~sets & np.isneginf(flat))
    values = np.where(broken.any(axis=1), np.inf, values)
    problem = sm.Problem(unary, [part.term for part in chosen], constant)
    return Model(problem, values, list(chosen))


def set_index(mask: np.ndarray) -> int:
    """The row of a set in `all_sets`."""
    return int(mask.ravel() @ (1 << np.arange(mask.size)))


def dense_model(seed: int, whole: bool, shape: tuple[int, ...] = (3, 4)) -> Model:
    """A problem with a grid, a graph, groups and tables on every element, far from trivial."""
    random = np.random.default_rng(seed)
    n, sets = int(np.prod(shape)), all_sets(int(np.prod(shape)))

    def numbers(size: int, high: int) -> np.ndarray:
        values = random.integers(0, high + 1, size) if whole else high * random.random(size)
        return values.astype(float)

    offsets = sm.grid_offsets(len(shape), grid_choices(len(shape))[-1])
    overlaps = [tuple(a - abs(d) for a, d in zip(shape, o, strict=True)) for o in offsets]
    weights = [numbers(int(np.prod(overlap)), 3).reshape(overlap) for overlap in overlaps]
    grid = sm.GridCut(shape, weights, grid_choices(len(shape))[-1])
    tails = random.integers(0, n, 2 * n)
    heads = (tails + random.integers(1, n, 2 * n)) % n
    forward, backward = numbers(2 * n, 3), numbers(2 * n, 1)
    groups = [random.permutation(n)[: n // 2] for _ in range(3)]
    gains = np.sort(random.integers(-3, 4, n // 2) if whole else random.normal(size=n // 2) * 2)
    table = np.concatenate([[0.0], np.cumsum(gains[::-1])])
    pointers = np.arange(4) * (n // 2)
    chosen = [
        Part(grid, grid_values(shape, len(shape), offsets, weights, weights)),
        Part(
            sm.Cut(tails, heads, forward, backward),
            edge_values(sets, tails, heads, forward, backward),
        ),
        Part(
            sm.Cardinality(pointers, np.concatenate(groups), lambda k, m: table),
            group_values(sets, groups, {n // 2: table}),
        ),
    ]
    total = sum(part.values for part in chosen)
    slope = np.array([total[1 << v] - total[-1 - (1 << v)] + total[-1] for v in range(n)]) / 2
    unary = numbers(n, 16) - 8.0 - (np.rint(slope / 2) if whole else slope / 2)
    return model(unary.reshape(shape), chosen)


def is_exact(name: str) -> bool:
    """Whether a solver runs to its end by itself, at which it knows a minimiser."""
    return isinstance(REGISTRY[name](), ExactSolver)


def no_family() -> Function:
    """A function of which nothing is known but its values."""
    return Function([0, 1], evaluate=lambda mask: float(mask.any()))


def general_solvers() -> list[str]:
    """The names of the solvers that accept every problem; the others refuse with `TypeError`."""
    dense = dense_model(0, True, (2, 2)).problem
    problem, names = sm.Problem(dense.unary, [*dense.terms, no_family()]), []
    for name in REGISTRY:
        try:
            sm.minimize(problem, name, max_passes=1)
        except TypeError:
            continue
        names.append(name)
    return names


def small_layout() -> sm.Layout:
    """A grid with groups, of few elements, in small blocks."""
    random = np.random.default_rng(3)
    return sm.Layout(
        sm.Problem(
            random.normal(size=(3, 4)) * 3,
            [
                sm.GridCut((3, 4), 0.7),
                sm.Cardinality.from_labels(np.arange(12) // 5, lambda k, m: 0.3 * k * (m - k)),
            ],
        ),
        ("lines", "functions"),
    )
