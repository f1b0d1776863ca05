"""Plain records as text that makes an equal one when it is evaluated."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from operator import attrgetter
from typing import Any

import numpy as np

__all__ = ["call_text", "copyable"]

_MOST = 24
"""Numbers of an array that are written out."""


def call_text(record: Any) -> str:
    """The call that makes an equal record: names first, then other fields by keyword where they differ from a default.

    Fields that do not count in comparisons are left out.
    """
    parts = []
    by_keyword = False
    for entry in sorted(fields(record), key=attrgetter("kw_only")):
        value = getattr(record, entry.name)
        is_array = isinstance(value, np.ndarray)
        if not entry.compare or (entry.default is not MISSING and not is_array and value == entry.default):
            by_keyword = True
        elif isinstance(value, str) and entry.default is MISSING and not by_keyword:
            parts.append(repr(value))
        else:
            by_keyword = True
            parts.append(f"{entry.name}={copyable(value)}")
    return f"{type(record).__qualname__}({', '.join(parts)})"


def copyable(value: Any) -> str:
    """A value as text that Python can evaluate, also if it is or holds a number that is not finite."""
    if isinstance(value, np.number):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= _MOST else f"<array of shape {value.shape}>"
    if type(value) is tuple:
        inside = ", ".join(map(copyable, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(value)
