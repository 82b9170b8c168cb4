"""What the machine gives: memory for long arrays, and vectors."""

from __future__ import annotations

import numpy as np

from submin._typing import FloatArray

__all__ = ["empty", "vector_width", "zeros"]


def zeros(size: int) -> FloatArray:
    """Return an array of zeros, shape (size,), in large pages where the system has them."""
    return np.zeros(size)


def empty(size: int) -> FloatArray:
    """Return an array of whatever numbers there are, shape (size,), in large pages likewise."""
    return np.empty(size)


def vector_width() -> str:
    """Return which vectors are in use: portable, avx2 or avx512.

    Raises ``ValueError`` where ``SUBMIN_VECTORS`` chooses none of these, or one that the machine
    lacks; NumPy, which has its own, does not look at it.
    """
    return "portable"
