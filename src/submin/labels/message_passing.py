"""A lower bound, and labellings near it: sequential tree-reweighted message passing.

    For each edge a message, 0 at first
    Until the bound hardly rises:
        Pass through the nodes in their order; each sends its share of what it knows to later nodes,
            and takes the label that is best beside those of earlier nodes
        Pass back; the least values that are taken off sum to a lower bound

The bound is the dual of the usual linear relaxation of labellings, raised one node at a time
(Kolmogorov 2006, doi:10.1109/TPAMI.2006.200).  For Potts distances it is the bound that one binary
cut for each label would give at the best prices (Osokin and Vetrov 2015,
doi:10.1109/TPAMI.2014.2369046).  On chains one pass and back are exact.
What elements pay for the labels that they use is renewed after each pass back (``label_costs``).
"""

from __future__ import annotations

import numpy as np

from submin import kernels
from submin.labels.problem import Dual, LabelProblem, Labels, Rows


class MessagePassing:
    """The passes of one energy; messages are in single precision.

    Memory: 4 bytes for each label of each node and of each edge, and twice the latter for a dual.
    """

    def __init__(self, energy: LabelProblem, threads: int) -> None:
        self.energy, self.threads, self.passes, self.gap = energy, threads, 0, 0.0
        edges = energy.edges
        self._messages = np.zeros((edges.tails.size, energy.width), dtype=np.float32)
        self._costs = energy.rows()
        self._shares = energy.prices.no_shares(energy.n)
        self._kernel = kernels.active.LabelMessages(
            self._costs,
            edges.tails,
            edges.heads,
            edges.weights.astype(np.float32),
            edges.kinds,
            energy.distances.astype(np.float32),
            self._messages,
        )

    def forward(self) -> None:
        """Pass through the nodes."""
        self._kernel.forward(np.zeros(0, dtype=np.int32), self.threads)

    def labelling(self) -> Labels:
        """Pass through the nodes, and return the labels that they take."""
        labels = np.zeros(self.energy.nodes, dtype=np.int32)
        self._kernel.forward(labels, self.threads)
        return labels

    def backward(self) -> float:
        """Pass back, after a pass forward; return the bound, up to rounding."""
        self.passes += 1
        if not len(self._shares):
            return float(self._kernel.backward(self.threads))
        marginals = np.empty_like(self._costs)
        bound = float(self._kernel.marginals(marginals, self.threads))
        self._share(marginals)
        return bound

    def _share(self, marginals: Rows) -> None:
        """Let elements pay for labels what these are worth to them."""
        energy, own = self.energy, marginals[: self.energy.n]
        new = (
            energy.prices.climbed(self._shares, own, self.gap)
            if self._shares.any()
            else energy.prices.first_shares(own)
        )
        for members, own in zip(energy.prices.members, new - self._shares, strict=True):
            self._costs[: energy.n, : energy.labels][:, members] += own[:, None]
        self._shares = new

    def dual(self) -> Dual:
        """Pass back, after a pass forward, and return the dual that proves the bound."""
        self.passes += 1
        at_tail, at_head = (np.empty_like(self._messages) for _ in range(2))
        self._kernel.dual(at_tail, at_head, self.threads)
        return Dual(at_tail, at_head, self._shares if len(self._shares) else None)
