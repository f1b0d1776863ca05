"""How exact the steps of an integrator are that chooses their length."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from kinetree.contact_model import SoftConstraints
from kinetree.errors import OptionError
from kinetree.functions.integrator_options import ADAPTIVE
from kinetree.records import record

__all__ = ["Tolerances", "tolerances_of"]

_RTOL, _ATOL = 1e-6, 1e-8
_FINEST = 1e-13
"""Smaller relative tolerances are below what rounding leaves."""


@record(frozen=True, slots=True)
class Tolerances:
    """What the error of one step may be: of a velocity v, atol + rtol |v|; of a configuration, atol + rtol (rad, m)."""

    rtol: float
    atol: float


def tolerances_of(integrator: Any, rtol: Any, atol: Any, contact: SoftConstraints | None) -> Tolerances | None:
    """The tolerances of a motion; None for an integrator of fixed steps. Raises OptionError."""
    if integrator != ADAPTIVE:
        for name, value in (("rtol", rtol), ("atol", atol)):
            if value is not None:
                raise OptionError(
                    f"simulate: {name}= is for the integrator {ADAPTIVE!r}, which chooses its steps by it; leave it "
                    f'out, or give integrator="{ADAPTIVE}"'
                )
        return None
    if contact is not None and contact.setting is not None:
        raise OptionError(
            f"simulate: contacts of this setting are laws of a whole step, but {ADAPTIVE!r} divides it into stages; "
            'take integrator="discrete", or the setting "mujoco"'
        )
    return Tolerances(_checked("rtol", rtol, _RTOL, _FINEST), _checked("atol", atol, _ATOL, 0.0))


def _checked(name: str, value: Any, default: float, least: float) -> float:
    if value is None:
        return default
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0.0:
        raise OptionError(f"simulate: {name} must be a positive number, such as {default:g}, not {value!r:.60}")
    if value < least:
        raise OptionError(f"simulate: {name} must be at least {least:g}, which is near rounding, not {value:g}")
    return float(value)
