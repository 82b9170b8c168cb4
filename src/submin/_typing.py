"""Array types that every module shares."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IndexArray: TypeAlias = npt.NDArray[np.int32]
PointerArray: TypeAlias = npt.NDArray[np.int64]

WeightArray: TypeAlias = npt.NDArray[np.float32 | np.float64]
"""Weights of edges: in double precision, or in single precision and widened when they are read."""

Dual: TypeAlias = list[FloatArray]
"""One flat array for each term of a problem, in the term's natural coordinates."""
