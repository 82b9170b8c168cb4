"""The laws of the gadgets of a term (see ``capabilities.gadgets``), with auxiliaries enumerated."""

from __future__ import annotations

import numpy as np

from submin._orders import ranks
from submin._sums import scatter_sum
from submin._typing import BoolArray, FloatArray, PointerArray
from submin.terms.capabilities.gadgets import Gadget
from submin.terms.value_tables import subset_masks
from submin.testing.laws import named, require
from submin.testing.specimen import Specimen

MOST_JOINED = 10
"""Auxiliaries that edges join to one another: 2^10 subsets of them are enumerated."""


def check_gadgets(specimen: Specimen) -> None:
    """Check what a term says of its gadgets, or that it refuses in words."""
    term, size = specimen.term, specimen.term.gadget_size()
    if size is None:
        try:
            term.gadget(np.zeros(term.size))
        except TypeError as refusal:
            detail = f"its refusal says only {refusal!s:.20}"
            require(len(str(refusal)) > 20, term, "gadgets", detail)
        return
    vertices = [term.greedy(ranks(x)) for x in specimen.random_vectors()]
    mean: FloatArray = np.mean(vertices, axis=0)
    for dual in (vertices[0], mean, term.feasible_start()):
        gadget = term.gadget(dual.copy())
        counts = (gadget.costs.size, gadget.tails.size)
        detail = f"there are {counts} auxiliaries and edges, where gadget_size says {tuple(size)}"
        require(counts == size, term, "gadgets", detail)
        _weights(specimen, gadget)
        _values(specimen, gadget)


def _weights(specimen: Specimen, gadget: Gadget) -> None:
    """Check weights, the flow, and that imbalance can leave each auxiliary by its own edges."""
    term, allowed = specimen.term, specimen.tolerance(gadget.forward, gadget.backward)
    forward, backward, flow = gadget.forward, gadget.backward, gadget.flow
    signs = np.all(forward >= 0.0) and np.all(backward >= 0.0) and np.all(gadget.costs >= 0.0)
    require(signs, term, "gadgets", "a weight or the cost of an auxiliary is negative")
    inside = np.all(-backward <= flow) and np.all(flow <= forward)
    require(inside, term, "gadgets", "the flow exceeds the weights")
    tail, head = gadget.tails - term.size, gadget.heads - term.size
    into, out = np.zeros((2, 2, gadget.costs.size))
    for end, other, outward, inward in (
        (tail, head, forward, backward), (head, tail, backward, forward)
    ):  # fmt: skip
        for kind, far in enumerate((other < 0, other >= 0)):
            own = (end >= 0) & far
            out[kind] += scatter_sum(end[own], outward[own], gadget.costs.size)
            into[kind] += scatter_sum(end[own], inward[own], gadget.costs.size)
    room = (gadget.costs + out[1] <= into[0] + allowed) & (
        into[1] - gadget.costs <= out[0] + allowed
    )
    detail = "imbalance can not leave an auxiliary: its edges to elements are too light"
    require(np.all(room), term, "gadgets", detail)


def _values(specimen: Specimen, gadget: Gadget) -> None:
    """Check F(S) = m(S) + min over T of C(S ∪ T)."""
    term, n = specimen.term, specimen.n
    modular = scatter_sum(gadget.elements, gadget.modular, n)
    places = specimen.masks[:, gadget.elements]
    values = specimen.masks @ modular
    label = _joined_auxiliaries(gadget, term.size)
    last = np.maximum(gadget.tails, gadget.heads) - term.size
    plain = last < 0
    values = values + _cut(gadget, places, plain)
    for component in np.unique(label):
        members = np.flatnonzero(label == component)
        own = ~plain & np.isin(last, members)
        costs = []
        for chosen in subset_masks(members.size):
            auxiliaries = np.zeros(label.size, dtype=np.bool_)
            auxiliaries[members[chosen]] = True
            nodes = np.hstack([places, np.broadcast_to(auxiliaries, (len(places), label.size))])
            costs.append(_cut(gadget, nodes, own) + gadget.costs[members[chosen]].sum())
        values = values + np.min(costs, axis=0)
    allowed = specimen.tolerance(values)
    worst = int(np.argmax(np.abs(values - specimen.values)))
    detail = (
        f"the cheapest cut with {named(specimen.masks[worst])} is {values[worst]}, where F is "
        f"{specimen.values[worst]}"
    )
    require(np.max(np.abs(values - specimen.values)) <= allowed, term, "gadgets", detail)


def _cut(gadget: Gadget, nodes: BoolArray, edges: BoolArray) -> FloatArray:
    """Return what the chosen edges cost for each row of nodes."""
    tail, head = nodes[:, gadget.tails[edges]], nodes[:, gadget.heads[edges]]
    forward, backward = gadget.forward[edges], gadget.backward[edges]
    cost: FloatArray = (tail & ~head) @ forward + (head & ~tail) @ backward
    return cost


def _joined_auxiliaries(gadget: Gadget, size: int) -> PointerArray:
    """Return the least auxiliary that edges join to each, which stands for its component."""
    label = np.arange(gadget.costs.size)
    between = (gadget.tails >= size) & (gadget.heads >= size)
    ends = np.stack([gadget.tails[between], gadget.heads[between]]) - size
    while np.any(label[ends[0]] != label[ends[1]]):
        least = np.minimum(label[ends[0]], label[ends[1]])
        np.minimum.at(label, ends[0], least)
        np.minimum.at(label, ends[1], least)
    most = int(np.max(np.bincount(label), initial=0))
    if most > MOST_JOINED:
        raise ValueError(
            f"edges join {most} auxiliaries of a gadget, and at most {MOST_JOINED} are enumerated: "
            "give a smaller term of its kind"
        )
    return label
