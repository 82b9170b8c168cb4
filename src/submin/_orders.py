"""Orders of the elements, as every greedy algorithm here needs them."""

from __future__ import annotations

import numpy as np

from submin import kernels
from submin._typing import FloatArray, IndexArray


def ranks(x: FloatArray) -> IndexArray:
    """Return the position of each element in the decreasing order of x, ties by element number.

    Examples
    --------
    >>> ranks(np.array([0.5, 2.0, 0.5])).tolist()
    [1, 0, 2]
    """
    rank = np.empty(x.size, dtype=np.int32)
    kernels.active.descending_ranks(x, rank)
    return rank
