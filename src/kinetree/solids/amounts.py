"""The mass of a solid, given or from its density, and its placement in the body."""

from __future__ import annotations

import math

from kinetree.errors import OptionError
from kinetree.spatial import Inertia, Sym3, Vec3
from kinetree.spatial.poses import Pose, pose

__all__ = ["LARGEST", "length", "positive", "solid"]

_CENTRED = Vec3.zero()
LARGEST = 1e100
"""The largest length, m; its inverse is the smallest. Beyond them, the cube would overflow or vanish."""


def solid(
    name: str,
    volume: float,
    gyration: Sym3,
    mass: float | None,
    density: float | None,
    placement: Pose | None,
    com: Vec3 = _CENTRED,
) -> Inertia:
    """The inertia of a uniform solid.

    `gyration` is its rotational inertia per mass about `com`, its centre of mass in its own frame; m².
    """
    if (mass is None) == (density is None):
        count = "neither" if mass is None else "both"
        raise OptionError(f"{name}: give either its mass (kg) or its density (kg/m³), not {count}")
    m = positive(name, "mass", mass) if mass is not None else positive(name, "density", density) * volume
    own = Inertia.from_com(m, com, Sym3(*(m * x for x in gyration.components())))
    return own if placement is None else pose(f"{name}: its placement", placement).back(own)


def positive(name: str, what: str, value: object) -> float:
    """Check and return a positive finite number."""
    try:
        if isinstance(value, str | bytes):  # float would parse it
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{name}: its {what} must be a number, not {value!r:.60}") from None
    if not (math.isfinite(number) and number > 0.0):
        raise OptionError(f"{name}: its {what} must be positive and finite, not {number:g}")
    return number


def length(name: str, what: str, value: object) -> float:
    """Check and return a positive number whose cube is positive and finite, too."""
    number = positive(name, what, value)
    if not 1.0 / LARGEST <= number <= LARGEST:
        raise OptionError(f"{name}: its {what} is {number:g} m, whose cube overflows or vanishes; give it in metres")
    return number
