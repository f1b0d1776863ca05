"""Elements of symbolic arrays by constant indices: numbers, slices, None, `...`, arrays of integers, masks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import KinetreeError
from kinetree.expr import Symbol
from kinetree.symbolic.counters import row_at
from kinetree.symbolic.refusals import misfit

__all__ = ["element"]


def element(elements: NDArray[np.object_], key: Any) -> Any:
    """elements[key]. A key that depends on data raises an error by itself when NumPy asks for its values."""
    first = key[0] if type(key) is tuple and key else key
    if hasattr(first, "flat_elements") and first.dtype.kind == "i" and not first.ndim and elements.ndim:
        place = first.flat_elements()[0]
        if isinstance(place, Symbol):
            row = row_at(elements, place)
            return row if first is key else element(row, key[1:])
    try:
        return elements[key]
    except KinetreeError:
        raise
    except IndexError as error:
        _ask(key)
        misfit(f"index {_brief(key)} into an array", (elements.shape,), error)


def _ask(key: Any) -> None:
    """Ask a symbolic key for its value, which raises the error with the remedy; NumPy has hidden it."""
    for k in key if isinstance(key, tuple) else (key,):
        if hasattr(k, "flat_elements") and k.dtype.kind in "ib":
            np.asarray(k)


def _brief(key: Any) -> str:
    text = repr(key)
    return text if len(text) <= 60 else f"{text[:57]}…"
