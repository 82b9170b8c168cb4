"""The answer of ``minimize_labels``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from submin.labels.certificate import LabelCertificate
from submin.labels.problem import Dual
from submin.solve.certificate import Status


class LabelRecord(NamedTuple):
    """The state of a solve after some passes; value and bound are the best so far."""

    passes: int
    seconds: float
    value: float
    lower_bound: float


@dataclass(frozen=True, eq=False, repr=False)
class LabelResult:
    """A labelling, with its certificate.

    Attributes
    ----------
    labels : int32 array, the shape of the elements
    certificate : LabelCertificate
        Its energy, the lower bound, and what they prove.
    status : Status
        ``OPTIMAL`` (proved), ``CONVERGED`` (gap within the tolerance) or ``STOPPED``.
    dual : Dual or None
        What proves the bound; None if every element has its cheapest label in it.
    history : list of LabelRecord
        After each round of passes and of moves.
    interrupted : bool
        Whether Ctrl-C ended the solve.
    """

    labels: npt.NDArray[np.int32]
    certificate: LabelCertificate
    status: Status
    dual: Dual | None
    history: list[LabelRecord]
    interrupted: bool = field(default=False)

    @property
    def value(self) -> float:
        """The energy, in units of cost."""
        return self.certificate.value

    @property
    def lower_bound(self) -> float:
        """No labelling costs less than this."""
        return self.certificate.lower_bound

    @property
    def gap(self) -> float:
        """``value - lower_bound``."""
        return self.certificate.gap

    @property
    def passes(self) -> int:
        """Passes through all nodes and back."""
        return self.history[-1].passes if self.history else 0

    def __repr__(self) -> str:
        return (
            f"<LabelResult {self.status.name}: value {self.value:.12g}, gap {self.gap:.3g}, "
            f"{self.passes} passes>"
        )
