"""Functions that are compiled, by their address."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray

__all__ = ["evaluate_sets"]


def evaluate_sets(address: int, data: int, sets: npt.NDArray[np.uint8], out: FloatArray) -> None:
    """Call a C function for each row of a matrix of masks, one byte for each element.

    ``double (*)(const uint8_t *member, int64_t size, void *data)`` is at ``address``, and ``data``
    is what its last argument points to, or 0. Trusted: address, data.
    """
    if not address:
        raise ValueError("the address of the function is null")
    if out.shape != sets.shape[:1]:
        raise ValueError(f"out has size {out.size}, expected {sets.shape[0]}")
    pointer, size = ctypes.c_void_p, ctypes.c_int64
    function = ctypes.CFUNCTYPE(ctypes.c_double, pointer, size, pointer)(address)
    for row, members in enumerate(np.ascontiguousarray(sets)):
        out[row] = function(members.ctypes.data, members.size, data or None)
