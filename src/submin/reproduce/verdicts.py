"""What a claim and its verdict are, for the claims on experiments and on theorems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Numbers = Mapping[str, Any]

HOLDS, PARTLY, FAILS, OTHER = "holds", "in part", "does not hold", "not comparable"
ROUNDING_OF_GAPS = 1e-12
"""Rounding in a gap at most, in units of the first gap."""


class Claim(NamedTuple):
    """A claim of the paper, our number, the verdict, and the reason where there is one to give."""

    where: str
    claim: str
    ours: str
    verdict: str
    why: str = ""


def verdict(parts: Sequence[bool]) -> str:
    """Return the verdict on a claim with so many parts."""
    return HOLDS if all(parts) else PARTLY if any(parts) else FAILS
