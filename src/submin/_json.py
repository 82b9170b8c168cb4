"""JSON of numbers that may not be finite, for the applications."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_json(fields: Mapping[str, Any], indent: int) -> str:
    """Return JSON text; numbers that JSON does not have are null.

    Examples
    --------
    >>> to_json({"gap": float("inf"), "passes": [1.0, 2.0]}, indent=0).replace(chr(10), "")
    '{"gap": null,"passes": [1.0,2.0]}'
    """
    return json.dumps(_finite(fields), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
