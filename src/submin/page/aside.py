"""Exact answers for the sliders, ahead of time: a process of its own, which can be ended at once.

It reads a pickle of its own page on standard input, and writes one after another on standard
output, each after its length.  It runs at a lower priority, so that strokes come first.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from submin._typing import FloatArray
from submin.levels import path
from submin.model.problem import Problem
from submin.page.studio import entries
from submin.solve.api import minimize
from submin.terms import GridCut
from submin.vision.contrast import contrast_weights

LENGTH = struct.Struct("<Q")
NICE = 10


@dataclass(frozen=True)
class Order:
    """What is to be computed.

    Attributes
    ----------
    problem : Problem
        At level 0, with hard constraints.
    level : float
        That of the masks of other smoothness.
    features : float array, shape (H, W, channels)
        Of the photograph, for the weights of the cut, which is the first term.
    connectivity : int
    smoothness : tuple of float
        Those to be computed, in this order.
    """

    problem: Problem
    level: float
    features: FloatArray
    connectivity: int
    smoothness: tuple[float, ...]


def answers(order: Order) -> Iterator[tuple[str, float, Any]]:
    """Yield the mask of each smoothness, and the entries of the path of levels."""
    problem, connectivity = order.problem, order.connectivity
    shifted, shape = problem.unary - order.level, problem.shape
    yield "levels", 0.0, entries(path(problem, threads=1))
    for smoothness in order.smoothness:
        weights = contrast_weights(order.features, smoothness=smoothness, connectivity=connectivity)
        terms = [GridCut(shape, weights, connectivity), *problem.terms[1:]]
        mask = minimize(Problem(shifted, terms, problem.constant), threads=1).minimizer
        yield "smoothness", smoothness, np.packbits(mask)


def main() -> None:
    """Answer one order."""
    os.nice(NICE)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    order = pickle.load(source)
    for answer in answers(order):
        data = pickle.dumps(answer)
        target.write(LENGTH.pack(len(data)) + data)
        target.flush()


if __name__ == "__main__":
    main()
