"""Settings: laws for how hard contacts and limits push (`kinetree docs contact_models`). All make rows of one kind."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any, Literal

from kinetree.errors import OptionError, nearest_names
from kinetree.inputs import flag
from kinetree.records import record

__all__ = ["SETTINGS", "Compliant", "Rigid", "Setting", "SettingName", "friction_number", "setting_named"]

SettingName = Literal["mujoco", "compliant", "rigid"]

_USUAL_CORRECTION = 0.02


@record(frozen=True, slots=True)
class Compliant:
    """Springs and dampers in physical units, implicit at the end of a step."""

    timestep: float
    """The step where none is taken, s."""
    stiffness: float = 1e5
    """k of each point of contact, N/m."""
    dissipation: float = _USUAL_CORRECTION
    """Damping over stiffness, s."""


@record(frozen=True, slots=True)
class Rigid:
    """Rigid contacts with Coulomb's friction, per step."""

    timestep: float
    """The step where none is taken, s."""
    restitution: float = 0.0
    """The speed after an impact over that before."""
    accurate: bool = False
    """Whether friction and the normal motion of a step agree, or friction's lift is that of the step before."""
    correction: float = _USUAL_CORRECTION
    """The time in which overlaps are corrected, s."""
    fastest_correction: float = 1.0
    """The largest speed at which they are, m/s (of joints, rad/s)."""
    tolerance: float = 1e-8
    """The residual at which rounds end, m/s."""
    reach: float = 0.02
    """How far contacts look ahead, m."""


Setting = Compliant | Rigid | None
"""None is MuJoCo's, whose numbers are those of each row."""

SETTINGS: dict[str, type[Compliant] | type[Rigid] | None] = {"mujoco": None, "compliant": Compliant, "rigid": Rigid}


def setting_named(name: Any, timestep: float, options: Mapping[str, Any]) -> Setting:
    """A setting with the numbers that are given for it; None stands for its usual ones."""
    if not isinstance(name, str) or name not in SETTINGS:
        if isinstance(name, str):
            raise OptionError(f"there is no contact setting {name!r:.60}: {nearest_names(name, SETTINGS)}")
        raise OptionError(f"setting must be one of {', '.join(map(repr, SETTINGS))}, not {name!r:.60}")
    kind, numbers = SETTINGS[name], {key: value for key, value in options.items() if value is not None}
    for key in numbers:
        if kind is None or key not in kind.__annotations__:
            of = [other for other, one in SETTINGS.items() if one is not None and key in one.__annotations__]
            raise OptionError(f"{key}= belongs to the setting {' or '.join(map(repr, of))}, not to {name!r}")
    for key, value in numbers.items():
        numbers[key] = value if key == "accurate" else _number(key, value)
    flag("accurate", numbers.get("accurate", False))
    return None if kind is None else kind(timestep, **numbers)


_RANGES = {
    "stiffness": (0.0, inf, False, "a positive number of N/m"),
    "dissipation": (0.0, inf, True, "a number of seconds from 0 on"),
    "restitution": (0.0, 1.0, True, "a number from 0 to 1"),
    "correction": (0.0, inf, True, "a number of seconds from 0 on"),
    "fastest_correction": (0.0, inf, True, "a speed from 0 on"),
    "tolerance": (0.0, inf, False, "a positive speed"),
    "reach": (0.0, inf, True, "a distance from 0 on"),
    "friction": (0.0, inf, True, "a number from 0 on"),
}


def _number(name: str, value: Any) -> float:
    """A number that is in its range."""
    low, high, including, meant = _RANGES[name]
    try:
        number = float(value) if not isinstance(value, bool | str) else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number) or not (low < number or (including and low == number)) or number > high:
        raise OptionError(f"{name} must be {meant}, not {value!r:.60}")
    return number


def friction_number(value: Any) -> float:
    """A coefficient of friction that is given for all contacts."""
    return _number("friction", value)
