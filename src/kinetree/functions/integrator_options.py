"""The option that names an integrator."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

from kinetree import algorithms
from kinetree.errors import OptionError, nearest_names
from kinetree.model import Model

__all__ = ["Integrator", "integrator_option"]

Integrator = Literal["semi_implicit_euler", "rk4"]


def integrator_option(_: Model, value: Any) -> Hashable:
    """The name of an integrator."""
    if not isinstance(value, str):
        raise OptionError(f"integrator must be {' or '.join(map(repr, algorithms.INTEGRATORS))}, not {value!r:.60}")
    if value not in algorithms.INTEGRATORS:
        raise OptionError(f"there is no integrator {value!r:.60}: {nearest_names(str(value), algorithms.INTEGRATORS)}")
    return value
