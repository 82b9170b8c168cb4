"""Kernels: the projections and searches of every family, behind one door.

``active`` is the kernel set in use: the compiled one where it can be imported, else the NumPy
reference (slow, the same results up to rounding). The environment variable
``SUBMIN_KERNELS=reference`` chooses the reference, and ``SUBMIN_VECTORS`` the width of the vectors
of the compiled ones (:mod:`submin.kernels.native`).
"""

from __future__ import annotations

import os
import warnings
from types import ModuleType
from typing import TYPE_CHECKING

from submin.kernels import reference

__all__ = ["active", "reference"]


def _select(choice: str) -> ModuleType:
    if choice == "reference":
        return reference
    if choice not in ("", "native"):
        raise ValueError(f"SUBMIN_KERNELS must be 'native' or 'reference', not {choice!r}")
    try:
        from submin.kernels import native
    except ImportError as error:
        message = f"submin runs on its slow NumPy kernels, the compiled ones do not load: {error}"
        warnings.warn(message, RuntimeWarning, stacklevel=3)
        return reference
    return native


if TYPE_CHECKING:  # the twins have the signatures of both sets
    from submin.kernels import reference as active
else:
    active = _select(os.environ.get("SUBMIN_KERNELS", ""))
