"""How often a controller runs."""

from __future__ import annotations

import math
from numbers import Real
from typing import Literal

from kinetree.errors import OptionError

__all__ = ["ControlDt", "control_period"]

ControlDt = float | Literal["stages"] | None
"""Seconds between two calls of a controller, whose result is held in between; None for each step."""


def control_period(control_dt: object, dt: float) -> int | None:
    """How many steps lie between calls of a controller; None if it runs at every stage. Raises `OptionError`."""
    if control_dt is None:
        return 1
    if isinstance(control_dt, str) and control_dt == "stages":
        return None
    if isinstance(control_dt, bool) or not isinstance(control_dt, Real) or not 0.0 < float(control_dt) < math.inf:
        raise OptionError(f"control_dt must be a positive number of seconds or 'stages', not {control_dt!r:.60}")
    period = round(float(control_dt) / dt)
    if period < 1 or abs(period * dt - float(control_dt)) > 1e-9 * float(control_dt):
        raise OptionError(f"control_dt must be a multiple of dt ({dt:g} s), and is {float(control_dt):g} s")
    return period
