"""The laws of the blocks of a term.

A projection P of the target T onto the base polytope B of a block, in the norm sum_v w_v (.)_v^2 of
positive weights (w = 1 for ``project``), is recognised by

    P in B   and   <w (T - P), V - P> <= 0   for every V in B,

and since the left side is linear in V it is enough to look at the greedy vertex for the weights
w (T - P).  This needs no other way of projecting.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from submin._orders import ranks
from submin._typing import FloatArray
from submin.terms.base.term import Block
from submin.testing.laws import named, require
from submin.testing.specimen import Specimen

SIZES = (0.02, 0.3, 3.0, 50.0)
"""Sizes of s / c relative to that of F: in small faces and large ones of the base polytopes."""


def check_blocks(specimen: Specimen) -> None:
    """Check every decomposition of a term."""
    for name in specimen.term.decompositions:
        blocks = specimen.term.blocks(name, 1)
        _partition(specimen, name, blocks)
        for block in blocks:
            _parts(specimen, name, block)
            _accumulate(specimen, name, block)
            _projections(specimen, name, block)
            _sweeps(specimen, name, block)
            _weighted_projections(specimen, name, block)
        _threads(specimen, name)


def _partition(specimen: Specimen, name: str, blocks: Sequence[Block]) -> None:
    """Check that blocks cover each entry of the dual once, with disjoint supports inside."""
    term, uses = specimen.term, np.zeros(specimen.term.size)
    for block in blocks:
        block.put(uses, block.take(uses) + 1.0)
        support = block.support()
        elements, counts = np.unique(support, return_counts=True)
        inside = elements.size == 0 or (elements[0] >= 0 and elements[-1] < specimen.n)
        require(inside, term, "disjoint supports", f"a block of {name!r} leaves the ground set")
        shared = elements[counts > 1][:1]
        detail = f"two functions of one block of {name!r} share element {shared}"
        require(np.all(counts == 1), term, "disjoint supports", detail)
    entry = int(np.argmax(uses != 1.0)) if uses.size else 0
    detail = f"{name!r} has entry {entry} of the dual in {uses[entry:][:1]} blocks"
    require(np.all(uses == 1.0), term, "covering the dual once", detail)


def _parts(specimen: Specimen, name: str, block: Block) -> None:
    """Check that ``take`` copies, and ``put`` writes the same numbers and nothing else."""
    dual = specimen.random_dual()
    given, part = dual.copy(), block.take(dual)
    shaped = part.shape == (block.size,)
    detail = f"take of a block of {name!r} has shape {part.shape}, but its size is {block.size}"
    require(shaped, specimen.term, "take and put", detail)
    part += 1.0
    detail = f"changing what take returns changes the dual (blocks {name!r})"
    require(np.array_equal(dual, given), specimen.term, "take and put", detail)
    block.put(dual, part)
    detail = f"take does not return what put wrote (blocks {name!r})"
    require(np.array_equal(block.take(dual), part), specimen.term, "take and put", detail)
    block.put(dual, part - 1.0)
    back = np.allclose(dual, given, rtol=1e-12, atol=1e-12)
    detail = f"put changes entries outside the block (blocks {name!r})"
    require(back, specimen.term, "take and put", detail)


def _accumulate(specimen: Specimen, name: str, block: Block) -> None:
    """Check that a block adds to s what the term does, on its support."""
    dual = np.zeros(specimen.term.size)
    part = block.take(specimen.random_dual())
    block.put(dual, part)
    total = np.zeros(specimen.n)
    block.accumulate(part, total, 2.0)
    expected, allowed = 2.0 * specimen.vector(dual), specimen.tolerance(dual)
    agree = np.allclose(total, expected, rtol=0.0, atol=allowed)
    detail = f"a block of {name!r} adds to s what the term does not"
    require(agree, specimen.term, "block accumulation", detail)
    outside = np.setdiff1d(np.flatnonzero(total), block.support())
    detail = f"a block of {name!r} adds to element {outside[:1]} outside of its support"
    require(outside.size == 0, specimen.term, "disjoint supports", detail)


def _projections(specimen: Specimen, name: str, block: Block) -> None:
    """Project feasible and infeasible duals, near and far, for several c; project twice."""
    term, random = specimen.term, specimen.random
    start = term.feasible_start()
    vertex = term.greedy(ranks(random.normal(size=specimen.n)))
    infeasible = start.copy()
    block.put(infeasible, block.take(specimen.random_dual()))
    for dual in (start, 0.5 * (start + vertex), infeasible):
        for size, c in product(SIZES, (1.0, 0.25, 8.0)):
            s = c * size * (specimen.scale + 1e-3) * random.normal(size=specimen.n)
            _check_projection(specimen, name, block, dual, s, c)
    inside = block.take(0.5 * (start + vertex))
    again = block.project(0.5 * (start + vertex), np.zeros(specimen.n), 1.0)
    moved = specimen.block_vector(block, again) - specimen.block_vector(block, inside)
    detail = f"a block of {name!r} moves a feasible dual by {np.max(np.abs(moved), initial=0.0)}"
    still = np.max(np.abs(moved), initial=0.0) <= specimen.tolerance(start, vertex)
    require(still, term, "projection", detail)


def _check_projection(
    specimen: Specimen, name: str, block: Block, dual: FloatArray, s: FloatArray, c: float
) -> None:
    """Check that one projection changes nothing, is feasible, and is the nearest point."""
    term, given_dual, given_s = specimen.term, dual.copy(), s.copy()
    part = block.project(dual, s, c)
    pure = np.array_equal(dual, given_dual) and np.array_equal(s, given_s)
    require(pure, term, "projection", f"project of a block of {name!r} changes its arguments")
    what = f"project of a block of {name!r} with c = {c}"
    _check_point(specimen, name, what, block, part, _target(specimen, block, dual, s / c))


def _target(specimen: Specimen, block: Block, dual: FloatArray, step: FloatArray) -> FloatArray:
    """Return y - step on the support of a block, 0 elsewhere."""
    where = np.unique(block.support())
    target = specimen.block_vector(block, block.take(dual))
    target[where] -= step[where]
    return target


def _check_point(
    specimen: Specimen, name: str, what: str, block: Block, part: FloatArray, target: FloatArray,
    weights: FloatArray | float = 1.0,
) -> None:  # fmt: skip
    """Check shape, feasibility and the variational inequality of a projected part."""
    shaped = part.shape == (block.size,)
    detail = f"a block of {name!r} returns shape {part.shape}"
    require(shaped, specimen.term, "projection", detail)
    _check_feasible(specimen, name, block, part, target)
    point = specimen.block_vector(block, part)
    _check_nearest(specimen, what, block, point, target, weights)


def _weighted_projections(specimen: Specimen, name: str, block: Block) -> None:
    """Project in norms with weights of several sizes, and with equal weights."""
    if not block.weighted:
        return
    term, random, n = specimen.term, specimen.random, specimen.n
    dual, what = term.feasible_start(), f"project_weighted of a block of {name!r}"
    norms = [random.uniform(0.5, 2.0, n), random.integers(1, 4, n).astype(np.float64)]
    norms += [np.exp(3.0 * random.normal(size=n)), np.full(n, 3.0)]
    for size, weights in product(SIZES, norms):
        step = size * (specimen.scale + 1e-3) * random.normal(size=n)
        given = dual.copy(), step.copy(), weights.copy()
        part = block.project_weighted(dual, step, weights)
        pure = all(map(np.array_equal, given, (dual, step, weights)))
        require(pure, term, "projection", f"{what} changes its arguments")
        target = _target(specimen, block, dual, step)
        _check_point(specimen, name, what, block, part, target, weights)
        block.put(dual, part)
    same = part - block.project(given[0], step, 1.0)
    detail = f"{what} with equal weights is not project: they differ by {np.max(np.abs(same))}"
    agree = np.all(np.abs(same) <= specimen.tolerance(step, given[0]))
    require(agree, term, "projection", detail)


def _check_feasible(
    specimen: Specimen, name: str, block: Block, part: FloatArray, target: FloatArray
) -> None:
    """Check that a part lies in the base polytope: no violation, and the sum of a vertex."""
    term, dual = specimen.term, specimen.term.feasible_start()
    vertex = specimen.block_vector(block, block.take(term.greedy(ranks(target))))
    block.put(dual, part)
    found, allowed = term.violation(dual), specimen.tolerance(dual, target)
    detail = f"a block of {name!r} returns a point that is outside by {found.total}"
    require(found.total <= found.error + allowed, term, "feasible projection", detail)
    total, value = float(specimen.block_vector(block, part).sum()), float(vertex.sum())
    detail = f"a block of {name!r} returns a point with y(V) = {total}, where F(V) is {value}"
    require(abs(total - value) <= allowed, term, "feasible projection", detail)


def _check_nearest(
    specimen: Specimen, what: str, block: Block, point: FloatArray, target: FloatArray,
    weights: FloatArray | float = 1.0,
) -> None:  # fmt: skip
    """Check that no vertex V has <w (T - P), V - P> > 0."""
    residual = weights * (target - point)
    vertex = specimen.block_vector(block, block.take(specimen.term.greedy(ranks(residual))))
    gap = float(residual @ (vertex - point))
    allowed = specimen.tolerance(target) * (1e-300 + float(np.sum(np.abs(residual))))
    allowed = max(allowed, specimen.tolerance() ** 2)
    detail = f"{what} is not the nearest point: <w (T - P), V - P> = {gap} for a greedy vertex V"
    require(gap <= allowed, specimen.term, "projection", detail)


def _sweeps(specimen: Specimen, name: str, block: Block) -> None:
    """Sweep from the start, with s near to and far from it."""
    for size in SIZES:
        s = size * (specimen.scale + 1e-3) * specimen.random.normal(size=specimen.n)
        _check_sweep(specimen, name, block, s)


def _check_sweep(specimen: Specimen, name: str, block: Block, s: FloatArray) -> None:
    """Check that a sweep is the projection with c = 1, keeps s, and leaves no descent."""
    term, dual = specimen.term, specimen.term.feasible_start()
    expected = dual.copy()
    block.put(expected, block.project(dual, s, 1.0))
    swept, swept_s = dual.copy(), s.copy()
    block.sweep(swept, swept_s)
    allowed = specimen.tolerance(s, expected)
    what = f"sweep of a block of {name!r}"
    moved = specimen.vector(swept) - specimen.vector(expected)
    detail = f"{what} differs from its projection by {np.max(np.abs(moved))}"
    require(np.max(np.abs(moved)) <= allowed, term, "sweeping", detail)
    outside = np.ones(term.size)
    block.put(outside, np.zeros(block.size))
    detail = f"{what} changes the dual of other blocks"
    kept = np.array_equal(swept[outside == 1.0], dual[outside == 1.0])
    require(kept, term, "sweeping", detail)
    drift = swept_s - (s + specimen.vector(swept) - specimen.vector(dual))
    off = np.abs(drift) > allowed
    detail = f"{what} leaves s wrong at the elements {named(off)}"
    require(not off.any(), term, "sweeping", detail)
    where = np.unique(block.support())
    point = specimen.block_vector(block, block.take(swept))
    target = point.copy()
    target[where] -= swept_s[where]
    _check_nearest(specimen, what, block, point, target)


def _threads(specimen: Specimen, name: str) -> None:
    """Check that the bits of a projection do not depend on the number of threads."""
    term, dual = specimen.term, specimen.random_dual()
    s = specimen.random.normal(size=specimen.n)
    for one, two in zip(term.blocks(name, 1), term.blocks(name, 2), strict=True):
        same = np.array_equal(one.project(dual, s, 1.0), two.project(dual, s, 1.0))
        detail = f"a block of {name!r} projects differently with 1 and 2 threads"
        require(same, term, "independence of threads", detail)
