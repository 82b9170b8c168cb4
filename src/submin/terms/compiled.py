"""Set functions that are compiled: C functions called by their address.

    double f(const uint8_t *member, int64_t size, void *data)

``member`` has one byte for each element of the support, 1 for a member of S and 0 for others.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from submin import kernels
from submin._typing import BoolArray, FloatArray


def _address(function: Any) -> int:
    """Return the address of a C function."""
    if isinstance(function, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    address = getattr(function, "address", function)
    if isinstance(address, bool) or not isinstance(address, int | np.integer):
        raise TypeError(
            f"function is a {type(function).__name__}: it must be a numba.cfunc, a ctypes function "
            "or the address of a C function"
        )
    return int(address)


@dataclass(frozen=True)
class CompiledValues:
    """The map from a matrix of sets, shape (b, k), to the b values of a C function.

    It keeps the function and the data alive.

    Raises
    ------
    TypeError
        If the function has no address, or data is not an array.
    ValueError
        If the address is null or impossible, or the data is not C-contiguous.
    """

    function: Any
    data: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        address, data = _address(self.function), self.data
        if not 0 < address < 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)):
            raise ValueError(f"function has the address {address}: no code can be there")
        if data is not None and not isinstance(data, np.ndarray):
            raise TypeError(f"data is a {type(data).__name__}: it must be an array, or None")
        if data is not None and not data.flags.c_contiguous:
            raise ValueError("data is not C-contiguous: give np.ascontiguousarray(data)")

    def __call__(self, sets: BoolArray) -> FloatArray:
        """Return the value of each row."""
        values, address = np.empty(sets.shape[0]), _address(self.function)
        data = 0 if self.data is None else self.data.ctypes.data
        masks = np.ascontiguousarray(sets).view(np.uint8)
        kernels.active.evaluate_sets(address, data, masks, values)
        return values
