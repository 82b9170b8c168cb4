"""Long arrays, in large pages where the system has them.

A system gives memory page by page when it is touched first, which for small pages takes longer than
a solver takes for the numbers in them.  Up to 64 MB that a solve is done with are kept for the next
one, unless the system needs them.
"""

from __future__ import annotations

import numpy as np

from submin import kernels
from submin._typing import FloatArray

LEAST_SIZE = 2**17
"""Numbers that fill half of a large page; shorter arrays come from NumPy."""


def zeros(size: int) -> FloatArray:
    """Return an array of zeros, shape (size,)."""
    return np.zeros(size) if size < LEAST_SIZE else kernels.active.zeros(size)


def empty(size: int) -> FloatArray:
    """Return an array of whatever numbers there are, shape (size,)."""
    return np.empty(size) if size < LEAST_SIZE else kernels.active.empty(size)


def copied(values: FloatArray) -> FloatArray:
    """Return a copy of a flat array."""
    copy = empty(values.size)
    copy[:] = values
    return copy
