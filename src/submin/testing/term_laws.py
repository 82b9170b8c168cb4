"""The laws of a term, each checked on all 2^n sets or on seeded random vectors.

``evaluate`` defines the functions; everything else must agree with it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import permutations

import numpy as np

from submin._orders import ranks
from submin._typing import FloatArray
from submin.terms.base.term import Term, TermMinor, Violation
from submin.terms.capabilities.fixing import Fixing
from submin.terms.value_tables import find_non_submodular, subset_masks
from submin.testing.block_laws import check_blocks
from submin.testing.gadget_laws import check_gadgets
from submin.testing.laws import listed, named, require
from submin.testing.specimen import Specimen


def check_term(term: Term, n: int | None = None, seed: int = 0) -> None:
    """Check that a term keeps every law that submin relies on.

    Parameters
    ----------
    term : Term
        A small one: the checks enumerate all subsets of the ground set.
    n : int, optional
        Size of the ground set, at most 12; by default one element more than the term needs, or what
        its shape asks for.
    seed : int, optional
        Seed of the random orders, vectors and targets.

    Raises
    ------
    ConformanceError
        For the first law that is broken; the message names the law and the input.
    ValueError
        If the term is too large to be enumerated.

    Notes
    -----
    The laws: F of the empty set is 0; F is submodular, and so is each function of the term; greedy
    vertices sum to F over the prefixes of their order and lie in B(F); the Lovász extension agrees
    with F on indicators and with its sorted form elsewhere; ``accumulate`` is linear; ``violation``
    is 0 on feasible duals and exact on others; marginal ranges, granularity and starting point say
    the truth; exchange capacities, where there are any, are those of enumeration, and pushing along
    an arc keeps the dual feasible; gadgets, where there are any, are cuts whose cheapest has the
    value of F; blocks cover the dual once with disjoint supports; a projection
    is feasible and satisfies the variational inequality that characterises the nearest point; a
    sweep is a projection with c = 1 that keeps s; a minor costs F(S + A) and shares bases with F; a
    saved term comes back.

    Examples
    --------
    >>> import submin as sm
    >>> check_term(sm.GridCut((2, 3), 1.5))
    """
    specimen = Specimen.of(term, n, seed)
    for law in LAWS:
        law(specimen)


def _empty_set(specimen: Specimen) -> None:
    empty = specimen.values[0]
    require(empty == 0.0, specimen.term, "the empty set", f"evaluate of no element is {empty}")


def _submodular(specimen: Specimen) -> None:
    tolerance = specimen.tolerance()
    witness = find_non_submodular(specimen.values[None], tolerance)
    if witness is not None:
        a, b, c, d = (named(specimen.masks[index]) for index in witness[1:])
        detail = f"F({b}) + F({c}) < F({a}) + F({d})"
        require(False, specimen.term, "submodularity", detail)


def _accumulate(specimen: Specimen) -> None:
    """Check that accumulate(y, s, scale) adds a linear image of y to s."""
    term, random = specimen.term, specimen.random
    first, second = specimen.random_dual(), specimen.random_dual()
    start = random.normal(size=specimen.n)
    total = start.copy()
    term.accumulate(first, total)
    term.accumulate(second, total, -2.5)
    expected = start + specimen.vector(first - 2.5 * second)
    allowed = specimen.tolerance(total, first, second)
    agree = np.allclose(total, expected, rtol=0.0, atol=allowed)
    detail = "y1 and -2.5 times y2 added to s differ from y1 - 2.5 y2 added at once"
    require(agree, term, "linear accumulation", detail)
    vertex = specimen.vector(term.greedy(ranks(start)))
    agree = abs(vertex.sum() - specimen.values[-1]) <= specimen.tolerance()
    detail = f"a greedy vertex sums to {vertex.sum()} over V, where F is {specimen.values[-1]}"
    require(agree, term, "greedy prefixes", detail)


def _greedy(specimen: Specimen) -> None:
    """Check that a vertex sums to F over the prefixes of its order and is below F elsewhere."""
    for weights in specimen.random_vectors():
        rank = ranks(weights)
        dual = specimen.term.greedy(rank)
        shaped = dual.shape == (specimen.term.size,)
        require(shaped, specimen.term, "greedy prefixes", f"the dual has shape {dual.shape}")
        vertex, allowed = specimen.vector(dual), specimen.tolerance()
        for count in range(1, specimen.n + 1):
            prefix = rank < count
            total, value = float(vertex[prefix].sum()), specimen.value(prefix)
            where = f"for rank {listed(rank)}, over {named(prefix)}"
            detail = f"{where}, it sums to {total}, where F is {value}"
            require(abs(total - value) <= allowed, specimen.term, "greedy prefixes", detail)
        excess = specimen.masks @ vertex - specimen.values
        worst = int(np.argmax(excess))
        where = f"for rank {listed(rank)}, at {named(specimen.masks[worst])}"
        detail = f"{where}, it exceeds F by {excess[worst]}"
        require(excess[worst] <= allowed, specimen.term, "greedy feasibility", detail)


def _lovasz(specimen: Specimen) -> None:
    """Check f(1_S) = F(S), and f(x) = sum_k x_(k) (F(first k) - F(first k - 1)), sorted."""
    for mask, value in zip(specimen.masks, specimen.values, strict=True):
        extension = specimen.term.lovasz(mask.astype(np.float64))
        detail = f"f is {extension} on the indicator of {named(mask)}, where F is {value}"
        agree = abs(extension - value) <= specimen.tolerance()
        require(agree, specimen.term, "the Lovász extension", detail)
    for x in specimen.random_vectors():
        extension, value = specimen.term.lovasz(x), specimen.lovasz(x)
        agree = abs(extension - value) <= specimen.tolerance() * (1.0 + np.sum(np.abs(x)))
        detail = f"f is {extension} at {listed(x)}, where the sorted form of F gives {value}"
        require(agree, specimen.term, "the Lovász extension", detail)


def _functions(specimen: Specimen) -> None:
    """Check each function alone, and that depth counts those of an element."""
    if specimen.functions is None:
        return
    term = specimen.term
    witness = find_non_submodular(specimen.function_values, specimen.tolerance())
    detail = "" if witness is None else f"function {witness.row} alone is not"
    require(witness is None, term, "submodularity", detail)
    touching = np.zeros(specimen.n, dtype=np.int64)
    for block in specimen.functions:
        touching[np.unique(block.support())] += 1
    most = int(touching.max(initial=0))
    detail = f"depth is {term.depth}, but {most} functions touch element {int(touching.argmax())}"
    require(term.depth >= most, term, "depth", detail)
    dual = specimen.random_dual()
    size = float(np.sum(np.abs(specimen.function_vectors(dual))))
    detail = f"magnitude is {term.magnitude(dual)}, but sum_i sum_v |y_i(v)| is {size}"
    enough = term.magnitude(dual) >= size * (1.0 - 1e-12)
    require(enough, term, "magnitude", detail)


def _checked_violation(specimen: Specimen, dual: FloatArray) -> Violation:
    """Return violation(y) after looking at its error bound."""
    found = specimen.term.violation(dual)
    small = 0.0 <= found.error <= 1e3 * specimen.tolerance(dual)
    detail = (
        f"its error bound is {found.error} for a dual of size {np.max(np.abs(dual), initial=0)}"
    )
    require(small, specimen.term, "violation", detail)
    return found


def _violation(specimen: Specimen) -> None:
    """Check the violation: 0 inside the base polytopes, else sum_i max_S (y_i(S) - F_i(S))."""
    vertices = [specimen.term.greedy(ranks(x)) for x in specimen.random_vectors()]
    for dual in [*vertices, np.mean(vertices, axis=0)]:
        found = _checked_violation(specimen, dual)
        small = -found.error <= found.total <= found.error + specimen.tolerance(dual)
        detail = f"it is {found.total} for a feasible dual, a mean of greedy vertices"
        require(small, specimen.term, "violation", detail)
    for dual in [specimen.random_dual() for _ in range(4)]:
        found, excess = _checked_violation(specimen, dual), specimen.violation(dual)
        allowed = found.error + specimen.tolerance(dual)
        detail = (
            f"it is {found.total} for the dual {listed(dual)}, where enumeration gives {excess}"
        )
        sound = found.total >= excess - allowed
        require(sound, specimen.term, "violation", detail + ": lower bounds would be wrong")
        exact = specimen.functions is None or found.total <= excess + allowed
        require(exact, specimen.term, "violation", detail)


def _marginal_range(specimen: Specimen) -> None:
    """Check that the range of an element is from F(V) - F(V - v) to F({v})."""
    term, bits = specimen.term, 1 << np.arange(specimen.n)
    low, high = term.marginal_range(specimen.n)
    whole = (1 << specimen.n) - 1
    for name, found, expected in (
        ("smallest", low, specimen.values[whole] - specimen.values[whole - bits]),
        ("largest", high, specimen.values[bits]),
    ):
        shaped = found.shape == (specimen.n,)
        require(shaped, term, "marginal ranges", f"the {name} values have shape {found.shape}")
        worst = int(np.argmax(np.abs(found - expected)))
        detail = f"the {name} marginal of element {worst} is {expected[worst]}, not {found[worst]}"
        agree = abs(found[worst] - expected[worst]) <= specimen.tolerance()
        require(agree, term, "marginal ranges", detail)


def _exchanges(specimen: Specimen) -> None:
    """Check the exchange capacities against enumeration, and that pushing does what it says."""
    term = specimen.term
    vertices = [term.greedy(ranks(x)) for x in specimen.random_vectors()]
    mean: FloatArray = np.mean(vertices, axis=0)
    try:
        term.exchanges(mean.copy())
    except TypeError as refusal:
        detail = f"its refusal says only {refusal!s:.20}"
        require(len(str(refusal)) > 20, term, "exchange capacities", detail)
        return
    for dual in (vertices[0], mean, term.feasible_start()):
        _exchange_capacities(specimen, dual)
    for element in range(specimen.n):
        _pushes(specimen, mean, element)


def _exchange_capacities(specimen: Specimen, dual: FloatArray) -> None:
    """Check c(u, v) = min {F_i(S) - y_i(S) : u in S, v not in S} in each function that has both."""
    allowed = specimen.tolerance(dual)
    room = specimen.function_values - specimen.function_vectors(dual) @ specimen.masks.T
    elements, blocks = np.arange(specimen.n), specimen.functions or []
    supports = np.array([np.isin(elements, block.support()) for block in blocks])
    exchanges = specimen.term.exchanges(dual.copy())
    for u, v in permutations(range(specimen.n), 2):
        arcs = exchanges.arcs(u)
        found = np.sort(arcs.capacities[arcs.heads == v])
        apart = specimen.masks[:, u] & ~specimen.masks[:, v]
        joint = np.flatnonzero(supports[:, u] & supports[:, v]) if blocks else elements[:0]
        expected = np.sort([room[i, apart].min() for i in joint])
        found, expected = found[found > allowed], expected[expected > allowed]
        agree = found.size == expected.size and np.allclose(found, expected, 0.0, allowed)
        detail = f"from {u} to {v} they are {listed(found)}, where enumeration has "
        require(agree, specimen.term, "exchange capacities", detail + listed(expected))


def _pushes(specimen: Specimen, dual: FloatArray, u: int) -> None:
    """Push along every arc from u as far as it goes, and see the dual, s, and all other arcs."""
    term, allowed, pushed = specimen.term, specimen.tolerance(dual), dual.copy()
    exchanges = term.exchanges(pushed)
    before = [exchanges.arcs(w).capacities for w in range(specimen.n)]
    for v, function, room in zip(*exchanges.arcs(u), strict=True):
        pushed[:] = dual
        support = exchanges.push(int(function), u, int(v), float(room))
        where = f"pushing {room} from {u} to {v} in function {function}"
        moved = specimen.vector(pushed) - specimen.vector(dual)
        moved[[u, v]] -= room, -room
        agree = np.max(np.abs(moved)) <= allowed
        require(agree, term, "pushing", f"{where} changes s by more or less")
        excess = term.violation(pushed)
        detail = f"{where} leaves the base polytopes by {excess.total}"
        require(excess.total <= allowed + excess.error, term, "pushing", detail)
        others = np.setdiff1d(np.arange(specimen.n), support)
        kept = all(np.array_equal(exchanges.arcs(w).capacities, before[w]) for w in others)
        detail = f"{where} changes arcs of elements outside {support.tolist()}"
        require(kept, term, "pushing", detail)


def _granularity(specimen: Specimen) -> None:
    step = specimen.term.granularity()
    require(step >= 0.0, specimen.term, "granularity", f"it is {step}")
    if step > 0.0:
        steps = specimen.values / step
        off = np.abs(steps - np.rint(steps))
        worst = int(np.argmax(off))
        where = named(specimen.masks[worst])
        detail = f"F is {specimen.values[worst]} at {where}, no multiple of {step}"
        require(off[worst] <= 1e-6, specimen.term, "granularity", detail)


def _start(specimen: Specimen) -> None:
    """Check that the start is feasible and its own array; 0 too if the term says so."""
    term = specimen.term
    duals = [("the start", term.feasible_start())]
    if term.zero_is_feasible():
        duals.append(("0", np.zeros(term.size)))
    for name, dual in duals:
        shaped = dual.shape == (term.size,)
        require(shaped, term, "the feasible start", f"{name} has shape {dual.shape}")
        excess, total = specimen.violation(dual), float(specimen.vector(dual).sum())
        allowed = specimen.tolerance(dual)
        detail = f"{name} exceeds the functions by {excess}"
        require(excess <= allowed, term, "the feasible start", detail)
        detail = f"{name} sums to {total} over V, where F is {specimen.values[-1]}"
        require(abs(total - specimen.values[-1]) <= allowed, term, "the feasible start", detail)
    start = duals[0][1]
    kept = start.copy()
    start += 1.0
    fresh = np.array_equal(term.feasible_start(), kept)
    require(fresh, term, "the feasible start", "changing the returned array changes the next one")


def _minors(specimen: Specimen) -> None:
    """Check F(S + A) on all sets S of free elements, for random A and B, or the refusal."""
    for share in (0.0, 0.2, 0.5, 0.8, 1.0):
        fixing = specimen.random_fixing(share)
        try:
            minor = specimen.term.minor(fixing)
        except TypeError as refusal:
            detail = f"its refusal says only {refusal!s:.20}"
            require(len(str(refusal)) > 20, specimen.term, "minors", detail)
            return
        _minor_values(specimen, fixing, minor)
        _minor_duals(specimen, fixing, minor)


def _minor_values(specimen: Specimen, fixing: Fixing, minor: TermMinor) -> None:
    where = f"with {named(fixing.inside)} in S and {named(fixing.outside)} out of it"
    shaped = minor.modular.shape == fixing.elements.shape
    detail = f"{where}, the modular part has shape {minor.modular.shape}"
    require(shaped, specimen.term, "minors", detail)
    for mask in subset_masks(fixing.elements.size):
        whole = fixing.inside.copy()
        whole[fixing.elements] = mask
        value = minor.constant + float(minor.modular @ mask)
        value += sum(piece.term.evaluate(mask) for piece in minor.pieces)
        expected = specimen.value(whole)
        detail = f"{where}, the minor costs {value} at {named(whole)}, where F is {expected}"
        require(abs(value - expected) <= specimen.tolerance(), specimen.term, "minors", detail)


def _minor_duals(specimen: Specimen, fixing: Fixing, minor: TermMinor) -> None:
    """Check that a base that adds A, the free elements, B in turn is a base of the minor."""
    order = np.where(fixing.inside, 2.0, np.where(fixing.outside, -1.0, 0.0))
    order[fixing.elements] = specimen.random.random(fixing.elements.size)
    dual = specimen.term.greedy(ranks(order))
    total, allowed = minor.modular.copy(), specimen.tolerance()
    for piece in minor.pieces:
        fits = piece.slots.shape == (piece.term.size,)
        detail = f"a piece of {piece.term.size} coordinates has slots of shape {piece.slots.shape}"
        require(fits, specimen.term, "minors", detail)
        part = dual[piece.slots]
        excess = piece.term.violation(part)
        piece.term.accumulate(part, total)
        detail = f"a base of F exceeds the minor by {excess.total} on the free elements"
        require(excess.total <= excess.error + allowed, specimen.term, "minors", detail)
    off = float(np.max(np.abs(total - specimen.vector(dual)[fixing.elements]), initial=0.0))
    detail = f"a base of F differs from one of the minor by {off} on the free elements"
    require(off <= allowed, specimen.term, "minors", detail)


def _storage(specimen: Specimen) -> None:
    """Check that a term comes back from a file without pickle, or says that it can not."""
    term = specimen.term
    try:
        arrays = term.arrays()
    except TypeError as refusal:
        require(len(str(refusal)) > 20, term, "storage", f"its refusal says only {refusal!s:.20}")
        return
    try:
        file = io.BytesIO()
        np.savez(file, **{name: np.asarray(array) for name, array in arrays.items()})  # type: ignore[arg-type]
        file.seek(0)
        with np.load(file, allow_pickle=False) as loaded:
            copy = type(term).from_arrays(dict(loaded))
    except Exception as error:
        require(False, term, "storage", f"what arrays() returns does not come back: {error}")
    values = np.array([copy.evaluate(mask) for mask in specimen.masks])
    same = np.array_equal(values, specimen.values)
    same &= (copy.size, copy.elements, copy.shape) == (term.size, term.elements, term.shape)
    require(same, term, "storage", "the loaded term has other values, sizes or shape")


LAWS: tuple[Callable[[Specimen], None], ...] = (
    _empty_set,
    _submodular,
    _accumulate,
    _greedy,
    _lovasz,
    _functions,
    _violation,
    _marginal_range,
    _exchanges,
    check_gadgets,
    _granularity,
    _start,
    check_blocks,
    _minors,
    _storage,
)
