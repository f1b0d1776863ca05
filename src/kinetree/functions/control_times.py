"""How often a controller runs."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.tracing import is_symbolic
from kinetree.errors import OptionError

__all__ = ["ControlDt", "check_forward", "control_period"]

ControlDt = float | Literal["stages"] | None
"""Seconds between two calls of a controller, whose result is held in between; None for each step."""
_MOST = 2**53
"""Beyond this whole numbers are not distinguished."""


def control_period(control_dt: object, dt: float | np.floating[Any]) -> int | None:
    """How many steps lie between calls of a controller; None if it runs at every stage. Raises `OptionError`."""
    if control_dt is None:
        return 1
    if isinstance(control_dt, str) and control_dt == "stages":
        return None
    if isinstance(control_dt, bool) or not isinstance(control_dt, Real) or not 0.0 < float(control_dt) < math.inf:
        raise OptionError(f"control_dt must be a positive number of seconds or 'stages', not {control_dt!r:.60}")
    if not 0.0 < dt < math.inf:
        raise OptionError(f"control_dt is a multiple of dt, which must be a positive number of seconds, not {dt:g}")
    # A number of single precision is as far from a multiple as it is rounded.
    slack = 1e-6 if np.float32 in (type(control_dt), type(dt)) else 1e-9
    exact = float(control_dt) / float(dt)
    period = round(exact) if exact < _MOST else 0
    if period < 1 or abs(period - exact) > slack * exact:
        raise OptionError(f"control_dt must be a multiple of dt ({dt:g} s), and is {float(control_dt):g} s")
    return period


def check_forward(function: str, dt: ArrayLike) -> None:
    """Raise for steps back in time: contacts would pull there, and drive."""
    if is_symbolic([dt]):
        return
    steps = np.asarray(dt)
    if (steps < 0.0).any():
        least = float(steps[steps < 0.0].flat[0])
        raise OptionError(
            f"{function}: dt must not be negative: contacts cannot be integrated backwards; it is {least:g} s"
        )
