"""A term for the broken ones to inherit from."""

from __future__ import annotations

from typing import Any

from submin.terms.table import Table


def class_name(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else "law"


class Path(Table):
    """A path of three tables, whose values are neither symmetric nor 0 on the whole support."""

    def __init__(
        self,
        members: Any = ((0, 1), (1, 2), (2, 3)),
        values: Any = (0.0, 1.0, 0.75, 1.5),
    ) -> None:
        super().__init__(members, values)
