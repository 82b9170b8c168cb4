"""NumPy twin of the kernel that closes two sets under arcs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin._typing import IndexArray


def close_sides(tails: IndexArray, heads: IndexArray, side: npt.NDArray[np.int8]) -> None:
    """Decide elements by arcs, in place: 1 is inside, -1 outside, 0 open, shape (n,).

    The head of an arc from an element inside is inside, the tail of one to an element outside is
    outside; what is decided stays as it is.  Open elements that both say something of go either
    way.  O(n + arcs), and here for each arc of the longest path.
    """
    changed = True
    while changed:
        inward = (side[tails] == 1) & (side[heads] == 0)
        side[heads[inward]] = 1
        outward = (side[heads] == -1) & (side[tails] == 0)
        side[tails[outward]] = -1
        changed = bool(inward.any() or outward.any())
