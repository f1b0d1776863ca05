"""The options of `simulate` that a study's motions have; in its file, as far as they are numbers, words and lists."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.functions.integrator_options import ADAPTIVE
from kinetree.sim.setting import RK45
from kinetree.sim.simulate import simulate

__all__ = ["DEFAULTS", "IN_FILES", "are_kept_options", "kept_options"]

_OTHERS = ("robot", "view", "deprecated")
DEFAULTS = {name: one.default for name, one in inspect.signature(simulate).parameters.items() if name not in _OTHERS}
"""The arguments of `simulate` for motions of studies."""
IN_FILES = (*(name for name in DEFAULTS if name not in ("record", "resume")), "rtol", "atol")
"""The names of a study's options in files: the tolerances of `RK45` have entries of their own."""
_LONGEST = 100_000
"""Numbers in an array that is kept as text."""


def kept_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """`{"options": …}` for JSON; and `{"missing": names}` of those that are not data, such as controllers, or long."""
    texts, missing = {}, []
    if isinstance(own := options["integrator"], RK45):
        options = {**options, "integrator": ADAPTIVE, "rtol": own.rtol, "atol": own.atol}
    for name, x in options.items():
        if name in IN_FILES:
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
        and all(name in IN_FILES for name in options)
        and all(isinstance(name, str) for name in missing)
    )
