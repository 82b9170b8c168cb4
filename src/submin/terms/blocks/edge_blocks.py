"""Blocks of the cut function of a graph: matchings, and paths without common elements."""

from __future__ import annotations

import numpy as np

from submin import kernels
from submin._typing import FloatArray, IndexArray, WeightArray
from submin.terms.base.edges import GraphTerm, clip_flow
from submin.terms.base.term import Block
from submin.terms.blocks.linear_forests import Paths


class EdgeMatching(Block):
    """Edges of a general graph without common ends, given by their numbers."""

    def __init__(self, cut: GraphTerm, edges: IndexArray, threads: int) -> None:
        self.cut, self.edges, self.threads = cut, edges, threads
        self.slots, self.size = edges, edges.size

    def support(self) -> IndexArray:
        """Return the ends of the edges."""
        return np.concatenate([self.cut.tails[self.edges], self.cut.heads[self.edges]])

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Clip the value of every edge, O(edges)."""
        cut, out = self.cut, np.empty(self.size)
        kernels.active.edges_project(
            cut.tails, cut.heads, cut.backward, cut.forward, self.edges, dual, s, c, out,
            self.threads,
        )  # fmt: skip
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Clip the value of every edge in place, O(edges)."""
        cut = self.cut
        kernels.active.edges_sweep(
            cut.tails, cut.heads, cut.backward, cut.forward, self.edges, dual, s, self.threads
        )

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Clip the value of every edge, O(edges)."""
        cut, edges = self.cut, self.edges
        tails, heads = cut.tails[edges], cut.heads[edges]
        backward, forward = (
            np.broadcast_to(limit, cut.tails.shape)[edges] for limit in (cut.backward, cut.forward)
        )
        return clip_flow(
            dual[edges], (backward, forward), (step[tails], step[heads]),
            (weights[tails], weights[heads]),
        )  # fmt: skip

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the values to their tails and take them from their heads, O(edges)."""
        s[self.cut.tails[self.edges]] += scale * part
        s[self.cut.heads[self.edges]] -= scale * part


class EdgePaths(Block):
    """Edges of a general graph that form paths without a common element."""

    def __init__(self, cut: GraphTerm, paths: Paths, threads: int) -> None:
        self.cut, self.paths, self.threads = cut, paths, threads
        self.slots, self.size = paths.edges, paths.edges.size

    def support(self) -> IndexArray:
        """Return the elements of the paths."""
        return self.paths.nodes

    def _selected(self, weights: WeightArray) -> WeightArray:
        return weights if weights.size == 1 else weights[self.paths.edges]

    def project(self, dual: FloatArray, s: FloatArray, c: float) -> FloatArray:
        """Solve every path by the taut string, O(edges)."""
        (indptr, nodes, _, orientation), out = self.paths, np.empty(self.size)
        kernels.active.path_chains_project(
            indptr, nodes, np.arange(self.size, dtype=np.int32), orientation,
            self._selected(self.cut.backward), self._selected(self.cut.forward),
            self.take(dual), s, c, out, self.threads,
        )  # fmt: skip
        return out

    def sweep(self, dual: FloatArray, s: FloatArray) -> None:
        """Solve every path in place, O(edges)."""
        kernels.active.path_chains_sweep(
            *self.paths, self.cut.backward, self.cut.forward, dual, s, self.threads
        )

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Solve every path, with values and bounds turned to run along it, O(edges)."""
        (indptr, nodes, _, orientation), out = self.paths, np.empty(self.size)
        along = orientation > 0
        forward, backward = (
            np.broadcast_to(self._selected(w), along.shape).astype(np.float64, copy=False)
            for w in (self.cut.forward, self.cut.backward)
        )
        kernels.active.weighted_chains(
            indptr, step[nodes], 1.0 / weights[nodes], np.where(along, backward, forward),
            np.where(along, forward, backward), orientation * self.take(dual), out, self.threads,
        )  # fmt: skip
        return orientation * out

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add the net flow out of each element, O(edges)."""
        indptr, nodes, _, orientation = self.paths
        flow = scale * orientation * part
        s[np.delete(nodes, indptr[1:] - 1)] += flow
        s[np.delete(nodes, indptr[:-1])] -= flow
