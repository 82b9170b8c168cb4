"""The point of a base polytope nearest to a target, from greedy vertices alone.

    Wolfe 1976, doi:10.1007/BF01580381; Fujishige & Isotani 2011 (Pacific J. Optim. 7, 3-17), on the
    polytope B(F) - target, whose minimum-norm point is x = z - target:

    Q <- {a vertex of B(F)},  z <- that vertex
    Repeat (major cycle):
        x <- z - target
        q <- argmin over B(F) of <x, q>                       Edmonds' greedy vertex for weights -x
        If <x, z - q> is 0 up to rounding: return z           no vertex is nearer: z is nearest
        Add q to Q with weight 0
        Repeat (minor cycle):
            mu <- weights, of any sign, of the point of the affine hull of Q nearest to the target
            If mu > 0: weights <- mu; leave the minor cycle
            weights <- the last point with weights >= 0 on the way from weights to mu
            Drop the vertices whose weight became 0
        z <- weights applied to Q

The set Q is the *corral*.  It can be kept for the next target: its weights are then solved again in
minor cycles, and few new vertices are needed if the target moved little.

After each cycle all vertices of the corral have the same <x, q>, so the gap <x, z - q> bounds the
distance to the nearest point from above, times a width of the polytope (Lacoste-Julien & Jaggi
2015): stopping at the rounding level of the gap leaves an error of the same kind in z.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from submin._typing import FloatArray, PointerArray

Vertex = Callable[[FloatArray], FloatArray]
EPSILON = float(np.finfo(np.float64).eps)


def times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the product, by NumPy's own loops: each call of a threaded BLAS waits for its threads.

    On a busy machine that takes a thousand times longer than these small and many products.
    """
    product: FloatArray = np.einsum("ij,j->i", matrix, vector)
    return product


class Corral(NamedTuple):
    """Vertices, shape (m, k), and their positive weights, shape (m,), which sum to 1."""

    vertices: FloatArray
    weights: FloatArray

    @property
    def point(self) -> FloatArray:
        """The convex combination, shape (k,)."""
        return times(self.vertices.T, self.weights)


def nearest_point(vertex: Vertex, target: FloatArray, corral: Corral | None = None) -> Corral:
    """Find the point of a base polytope nearest to a target.

    Parameters
    ----------
    vertex : callable (weights (k,)) -> vertex (k,)
        Maximises <weights, y> over the base polytope.
    target : float array, shape (k,)
    corral : Corral, optional
        What an earlier call on the same polytope returned.

    Returns
    -------
    Corral
        Its ``point`` is the nearest point up to rounding.  Vertices and weights prove that the
        point lies in the polytope.

    Notes
    -----
    O(k^3) and one call of `vertex` for each major cycle.  The number of cycles is finite, and of
    the order of k in practice; after 20 k + 100 of them the point so far is returned, which is
    feasible but maybe not nearest.
    """
    if corral is None:
        corral = Corral(vertex(target)[None, :], np.ones(1))
    else:
        corral, _ = _solve_weights(corral, target)
    stalls = 0
    for _ in range(20 * target.size + 100):
        cycle = major_cycle(corral, vertex(target - corral.point), target)
        if cycle is None:
            break
        before, corral = corral, cycle[0]
        stalls = 0 if _progress(before.point, corral.point, target) > 0.0 else stalls + 1
        if stalls > target.size:
            break
    return corral


def major_cycle(
    corral: Corral, new: FloatArray, target: FloatArray
) -> tuple[Corral, PointerArray] | None:
    """Add the greedy vertex for the weights target - z to the corral and solve for its weights.

    Returns
    -------
    tuple or None
        The new corral and which vertices, `new` counted last, are in it, O(m^3 + m^2 k) for each
        minor cycle; None if z is the nearest point up to rounding.
    """
    x = corral.point - target
    if x @ (corral.point - new) <= _gap_rounding(corral, target, new):
        return None
    if np.any(np.all(corral.vertices == new, axis=1)):
        return None
    larger = Corral(np.vstack([corral.vertices, new]), np.append(corral.weights, 0.0))
    return _solve_weights(larger, target)


def _gap_rounding(corral: Corral, target: FloatArray, new: FloatArray) -> float:
    """Bound the error of <x, z - q>: rounding in the vertices, in z, in the product, and in x.

    The last is that of z and of the target, and it is all that is left where the target is in B(F).
    """
    point = corral.point
    scale = max(float(np.max(np.abs(corral.vertices))), float(np.max(np.abs(new))))
    size = np.abs(point) + np.abs(target)
    lost = 8.0 * scale * np.abs(point - target) + 4.0 * size * np.abs(point - new)
    return EPSILON * float(np.sum(lost))


def _progress(before: FloatArray, after: FloatArray, target: FloatArray) -> float:
    """Return ||before - target||^2 - ||after - target||^2, with less cancellation.

    In exact arithmetic it is positive in each cycle.  Steps in z below the square root of the unit
    roundoff are lost in its rounding, so a few values that are not positive are no reason to stop.
    """
    return float((before - after) @ ((before - target) + (after - target)))


def _solve_weights(corral: Corral, target: FloatArray) -> tuple[Corral, PointerArray]:
    """Do minor cycles until the nearest point of the affine hull has positive weights.

    Returns the new corral, and which vertices stayed.
    """
    vertices, weights = corral
    kept = np.arange(weights.size)
    while weights.size > 1:
        free = _affine_weights(vertices, target)
        outside = free <= 0.0
        if not outside.any():
            weights = free
            break
        fall = weights[outside] - free[outside]
        steps = np.where(fall > 0.0, weights[outside] / np.where(fall > 0.0, fall, 1.0), 0.0)
        first = np.flatnonzero(outside)[np.argmin(steps)]
        weights = np.maximum(weights + steps.min() * (free - weights), 0.0)
        weights[first] = 0.0
        stay = weights > 0.0
        vertices, weights, kept = vertices[stay], weights[stay], kept[stay]
    return Corral(vertices, weights / weights.sum()), kept


def _affine_weights(vertices: FloatArray, target: FloatArray) -> FloatArray:
    """Return the weights of the point of the affine hull of the vertices nearest to the target.

    Least squares for the weights of the differences to the first vertex: normal equations, whose
    error one refinement brings down to rounding, or the pseudo-inverse where the vertices are
    nearly dependent.
    """
    differences = (vertices[1:] - vertices[0]).T
    solve = _least_squares(differences)
    residual = target - vertices[0]
    weights = solve(residual)
    weights += solve(residual - times(differences, weights))
    return np.concatenate([[1.0 - weights.sum()], weights])


def _least_squares(matrix: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return an approximate map from a right-hand side to its least-squares solution."""
    if matrix.shape[1] <= matrix.shape[0]:
        gram = np.einsum("ij,ik->jk", matrix, matrix)
        with contextlib.suppress(np.linalg.LinAlgError):
            pivots = np.diagonal(np.linalg.cholesky(gram))
            if pivots.min() > 1e-4 * pivots.max():
                return lambda right: np.asarray(np.linalg.solve(gram, times(matrix.T, right)))
    inverse = np.linalg.pinv(matrix, rcond=EPSILON * max(matrix.shape))
    return lambda right: np.asarray(inverse @ right)
