"""The options of `simulate` that a study's motions have; in its file, as far as they are numbers, words and lists."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.sim.simulate import simulate

__all__ = ["DEFAULTS", "are_kept_options", "kept_options"]

_LEFT_OUT = ("robot", "resume", "stream", "progress", "view", "speed")
"""Arguments of `simulate` that studies do not have."""
DEFAULTS = {name: one.default for name, one in inspect.signature(simulate).parameters.items() if name not in _LEFT_OUT}


_LONGEST = 100_000
"""Numbers in an array that is kept as text."""


def kept_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """`{"options": …}` for JSON; and `{"missing": names}` of those that are not data, such as controllers, or long."""
    texts, missing = {}, []
    for name, x in options.items():
        if name not in ("record", "every"):
            try:
                texts[name] = _as_data(x)
            except TypeError:
                missing.append(name)
    return {"options": texts, "missing": missing}


def _as_data(x: Any) -> Any:
    if x is None or isinstance(x, bool | str):
        return x
    if isinstance(x, int | float | np.integer | np.floating | np.bool_):
        return x.item() if isinstance(x, np.generic) else x
    if isinstance(x, np.ndarray) and x.dtype.kind in "fiub" and x.size <= _LONGEST:
        return x.tolist()
    if isinstance(x, list | tuple):
        return [_as_data(y) for y in x]
    if isinstance(x, Mapping) and all(isinstance(name, str) for name in x):
        return {name: _as_data(y) for name, y in x.items()}
    raise TypeError(type(x).__name__)


def are_kept_options(entries: Any) -> bool:
    """Whether a file's entries are as `kept_options` gives them."""
    return (
        isinstance(entries, dict)
        and isinstance(options := entries.get("options"), dict)
        and isinstance(missing := entries.get("missing"), list)
        and all(name in DEFAULTS for name in options)
        and all(isinstance(name, str) for name in missing)
    )
