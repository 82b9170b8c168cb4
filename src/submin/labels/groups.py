"""Groups of elements that should have one label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import FloatArray
from submin.labels.distances import LARGEST


class RobustPotts:
    """Groups whose elements should have one label: min(cap, weight · elements of other labels).

    The robust P^n Potts model (Kohli, Ladický and Torr 2009, doi:10.1007/s11263-008-0202-0) with a
    linear price up to a cap; without one it is the P^n Potts model of a price for each element.

    Parameters
    ----------
    indptr, members : int array_like, shapes (groups + 1,) and (sizes' sum,)
        Group k has the elements ``members[indptr[k]:indptr[k + 1]]``; ``sm.label_groups`` and
        ``sm.list_groups`` make them.
    weights : float or array_like, shape (groups,)
        The cost of an element that has another label than most.
    caps : float or array_like, shape (groups,)
        The most that a group costs.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> groups = sm.labels.RobustPotts([0, 3], [0, 1, 2], weights=1.0, caps=1.5)
    >>> result = sm.minimize_labels([[0.0, 3.0, 0.0], [3.0, 0.0, 0.4]], [groups])
    >>> result.labels, result.value
    (array([0, 1, 0], dtype=int32), 1.0)
    """

    def __init__(
        self,
        indptr: npt.ArrayLike,
        members: npt.ArrayLike,
        weights: npt.ArrayLike,
        caps: npt.ArrayLike,
    ) -> None:
        self.members = _checks.indices("members", members)
        pointers = _checks.indices("indptr", indptr).astype(np.int64)
        if pointers.ndim != 1 or pointers.size < 1 or pointers[0] != 0:
            raise ValueError("indptr must start with 0")
        shrinks = np.diff(pointers) < 0
        _checks.refuse_where("indptr", pointers[1:], shrinks, "indptr must not decrease")
        if pointers[-1] != self.members.size:
            raise ValueError(
                f"indptr ends with {pointers[-1]}, but there are {self.members.size} members"
            )
        self.pointers = pointers
        self.weights = self._price("weights", weights)
        self.caps = self._price("caps", caps)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.pointers.size - 1

    def _price(self, name: str, given: npt.ArrayLike) -> FloatArray:
        prices = _checks.weights(name, given)
        if prices.shape not in ((), (self.groups,)):
            raise ValueError(
                f"{name} has shape {prices.shape}, but there are {self.groups} groups: it must be "
                f"one number or {(self.groups,)}"
            )
        _checks.refuse_where(name, prices, ~(prices < LARGEST), "it must be less than 1e30")
        return np.broadcast_to(prices, (self.groups,)).astype(np.float64)
