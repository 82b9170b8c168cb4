"""What the laws of terms and of solvers share: the error that a broken law raises, its words."""

from __future__ import annotations

import numpy as np

from submin._typing import BoolArray, FloatArray, IndexArray

RELATIVE_TOLERANCE = 1e-9
"""Agreement that the laws ask for, relative to the size of the numbers that enter."""


class ConformanceError(AssertionError):
    """A term or solver breaks a law; the message names the law and the input."""


def require(holds: object, who: object, law: str, detail: str) -> None:
    """Raise `ConformanceError` unless `holds`."""
    if not holds:
        name = who if isinstance(who, str) else type(who).__name__
        raise ConformanceError(f"{name} breaks the law of {law}: {detail}")


def named(members: BoolArray) -> str:
    """Write a set with the numbers of its elements.

    Examples
    --------
    >>> named(np.array([True, False, True]))
    '{0, 2}'
    """
    return "{" + ", ".join(str(element) for element in np.flatnonzero(members)) + "}"


def listed(numbers: FloatArray | IndexArray) -> str:
    """Write a vector shortly."""
    return "[" + ", ".join(f"{number:.6g}" for number in numbers.tolist()) + "]"
