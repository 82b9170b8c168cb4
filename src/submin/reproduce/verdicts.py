"""What a claim and its verdict are, for the claims on experiments and on theorems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Numbers = Mapping[str, Any]

HOLDS, PARTLY, FAILS = "holds", "in part", "does not hold"
OTHER, NO_CLAIM = "not comparable", "no claim"
"""The verdicts on what is not judged: another picture, or a number beside the paper's claims."""


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
