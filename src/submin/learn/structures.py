"""Graphs and hypergraphs of samples: their cut functions, and how new samples join them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse
from sklearn.neighbors import NearestNeighbors

from submin import _checks
from submin._typing import FloatArray
from submin.terms import Cut, Hyperedge


class Join(Protocol):
    """How new samples get scores."""

    def __call__(self, new: Any, scores: FloatArray) -> FloatArray:
        """Return the scores of new samples from those of the known ones."""


def nearest_neighbours(samples: FloatArray, count: int) -> tuple[Cut, Join]:
    """Return the graph of nearest neighbours, at worst O(n^2).

    Two samples are joined if one is among the nearest of the other, by exp(-d^2 / (2 sigma^2)) for
    their distance d and the mean square sigma^2 of the distances of neighbours.
    """
    n = len(samples)
    search = NearestNeighbors(n_neighbors=min(count, n)).fit(samples)
    distances, neighbours = search.kneighbors(samples, min(count + 1, n))
    scale = 2.0 * float(np.mean(distances[:, 1:] ** 2)) if n > 1 else 0.0
    join = ByNeighbours(search, scale or 1.0)
    if n == 1:
        return Cut([], [], []), join
    own = np.repeat(np.arange(n), neighbours.shape[1])
    weights = np.exp(-(distances.ravel() ** 2) / join.scale)
    one_way = scipy.sparse.csr_array((weights, (own, neighbours.ravel())), shape=(n, n))
    return Cut.from_sparse(one_way.maximum(one_way.T)), join


@dataclass(frozen=True)
class ByNeighbours:
    """The weighted mean of the scores of the nearest samples."""

    search: NearestNeighbors
    scale: float

    def __call__(self, new: FloatArray, scores: FloatArray) -> FloatArray:
        """Weigh the nearest sample by 1, so that far ones have weights too."""
        distances, neighbours = self.search.kneighbors(new)
        weights = np.exp((distances[:, :1] ** 2 - distances**2) / self.scale)
        weights /= weights.sum(axis=1, keepdims=True)
        means: FloatArray = np.einsum("ij,ij...->i...", weights, scores[neighbours])
        return means


def given_graph(weights: Any) -> tuple[Cut, Join]:
    """Return the graph of a symmetric matrix of weights, O(edges)."""
    matrix = scipy.sparse.csr_array(weights)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"X has shape {matrix.shape}: a graph needs a square matrix of weights")
    _checks.refuse_where("X.data", matrix.data, ~(matrix.data >= 0.0), "a weight is 0 or more")
    unlike = abs(matrix - matrix.T)
    if unlike.nnz and unlike.max() > 0.0:
        raise ValueError("X is not symmetric: X.maximum(X.T) makes a graph of arcs of one way")
    return Cut.from_sparse(matrix), WeightedMean()


class WeightedMean:
    """The mean of the scores of the known samples, by a row of weights to them."""

    def __call__(self, new: Any, scores: FloatArray) -> FloatArray:
        """Give 0 to samples without weights."""
        return weighted_means(scipy.sparse.csr_array(new), scores)


def weighted_means(matrix: Any, values: FloatArray) -> FloatArray:
    """Return the mean of some values by each row of weights, 0 where it is empty."""
    total = np.asarray(matrix.sum(axis=1)).ravel()
    sums: FloatArray = matrix @ values
    return sums / np.where(total > 0.0, total, 1.0).reshape(-1, *(1,) * (sums.ndim - 1))


def given_hypergraph(incidences: Any) -> tuple[Hyperedge, Join]:
    """Return the hypergraph of a matrix with a column for each hyperedge, O(incidences).

    Samples with an entry that is not 0 belong to the hyperedge; each weighs 1.
    """
    members = _pattern(incidences).T.tocsr()
    members.sort_indices()
    return Hyperedge(members.indptr, members.indices, 1.0), ByHyperedges(members)


def _pattern(incidences: Any) -> Any:
    matrix = scipy.sparse.csr_array(incidences)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if (matrix.data < 0).any():
        raise ValueError("incidences has negative entries: a sample is in a hyperedge, or 0")
    return scipy.sparse.csr_array(
        (np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape
    )


@dataclass(frozen=True)
class ByHyperedges:
    """The mean over the hyperedges of a sample of the mean scores of their known samples."""

    members: Any

    def __call__(self, new: Any, scores: FloatArray) -> FloatArray:
        """Give 0 to samples without hyperedges."""
        return weighted_means(_pattern(new), weighted_means(self.members, scores))
