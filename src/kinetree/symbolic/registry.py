"""The tables of rules, from NumPy's functions to ours, and the decorator that fills them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy

__all__ = ["FUNCTIONS", "NP", "UFUNCS", "rule"]

NP: Any = numpy
"""NumPy without its types, which know nothing of symbolic arrays and of rules."""

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Rules of NumPy's functions; they have the same parameters, as far as these are supported."""
UFUNCS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Rules of NumPy's universal functions, called with operands alone."""

_Rule = TypeVar("_Rule", bound=Callable[..., Any])


def rule(*functions: Callable[..., Any]) -> Callable[[_Rule], _Rule]:
    """A decorator: the rule of these NumPy functions."""

    def register(ours: _Rule) -> _Rule:
        FUNCTIONS.update(dict.fromkeys(functions, ours))
        return ours

    return register
