"""Uniform solids of simple shape, each with its frame at its centre."""

from __future__ import annotations

import math

from kinetree.solids.amounts import length as checked_length
from kinetree.solids.amounts import solid
from kinetree.spatial import Inertia, Sym3
from kinetree.spatial.poses import Pose

__all__ = ["box", "capsule", "cylinder", "ellipsoid", "sphere"]


def box(
    x: float,
    y: float,
    z: float,
    *,
    mass: float | None = None,
    density: float | None = None,
    placement: Pose | None = None,
) -> Inertia:
    """A box, given its edge lengths along x, y and z, m.

    Exactly one of `mass` (kg) and `density` (kg/m³) is given. `placement` is that of its centre and axes in the body's
    frame; by default they coincide. Raises `OptionError` for numbers that are not positive.

    >>> import kinetree as kt
    >>> round(kt.solids.box(0.1, 0.2, 0.3, density=1000.0).mass, 12)
    6.0
    """
    x, y, z = (
        checked_length("box", f"length along {axis}", value) for axis, value in zip("xyz", (x, y, z), strict=True)
    )
    xx, yy, zz = x * x / 12.0, y * y / 12.0, z * z / 12.0
    return solid("box", x * y * z, _diagonal(yy + zz, xx + zz, xx + yy), mass, density, placement)


def sphere(
    radius: float, *, mass: float | None = None, density: float | None = None, placement: Pose | None = None
) -> Inertia:
    """A solid ball, given its radius, m. The other arguments are those of `box`.

    >>> import kinetree as kt
    >>> round(kt.solids.sphere(0.5, mass=2.0).I.xx, 12)
    0.2
    """
    r = checked_length("sphere", "radius", radius)
    return solid("sphere", _ball(r), Sym3.scalar(0.4 * r * r), mass, density, placement)


def cylinder(
    radius: float,
    length: float,
    *,
    mass: float | None = None,
    density: float | None = None,
    placement: Pose | None = None,
) -> Inertia:
    """A solid cylinder about its z axis, given its radius and length, m. The other arguments are those of `box`.

    >>> import kinetree as kt
    >>> round(kt.solids.cylinder(0.1, 0.6, mass=12.0).I.zz, 12)
    0.06
    """
    r, l = checked_length("cylinder", "radius", radius), checked_length("cylinder", "length", length)
    across = (3.0 * r * r + l * l) / 12.0
    return solid("cylinder", _rod(r, l), _diagonal(across, across, 0.5 * r * r), mass, density, placement)


def capsule(
    radius: float,
    length: float,
    *,
    mass: float | None = None,
    density: float | None = None,
    placement: Pose | None = None,
) -> Inertia:
    """A solid cylinder about its z axis with a hemisphere at each end.

    `length` is that of the cylindrical part, so from end to end it measures length + 2 radius; m. The other arguments
    are those of `box`.

    >>> import kinetree as kt
    >>> capsule = kt.solids.capsule(0.1, 0.3, density=1000.0)
    >>> parts = kt.solids.cylinder(0.1, 0.3, density=1000.0).mass + kt.solids.sphere(0.1, density=1000.0).mass
    >>> round(capsule.mass - parts, 12)
    0.0
    """
    r, l = checked_length("capsule", "radius", radius), checked_length("capsule", "length", length)
    volume = _rod(r, l) + _ball(r)
    rod = _rod(r, l) / volume
    ends = 1.0 - rod
    # A hemisphere's centre of mass is 3 r / 8 from its flat side; about the ball's centre its inertia is 2/5 m r².
    across = rod * (3.0 * r * r + l * l) / 12.0 + ends * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r)
    along = rod * 0.5 * r * r + ends * 0.4 * r * r
    return solid("capsule", volume, _diagonal(across, across, along), mass, density, placement)


def ellipsoid(
    a: float,
    b: float,
    c: float,
    *,
    mass: float | None = None,
    density: float | None = None,
    placement: Pose | None = None,
) -> Inertia:
    """A solid ellipsoid, given its half axes along x, y and z, m. The other arguments are those of `box`.

    >>> import kinetree as kt
    >>> kt.solids.ellipsoid(0.2, 0.2, 0.2, mass=1.0) == kt.solids.sphere(0.2, mass=1.0)
    True
    """
    a, b, c = (checked_length("ellipsoid", f"half axis {name}", x) for name, x in zip("abc", (a, b, c), strict=True))
    aa, bb, cc = 0.2 * a * a, 0.2 * b * b, 0.2 * c * c
    volume = 4.0 / 3.0 * math.pi * a * b * c
    return solid("ellipsoid", volume, _diagonal(bb + cc, aa + cc, aa + bb), mass, density, placement)


def _diagonal(xx: float, yy: float, zz: float) -> Sym3:
    return Sym3(xx, yy, zz, 0.0, 0.0, 0.0)


def _ball(r: float) -> float:
    return 4.0 / 3.0 * math.pi * r**3


def _rod(r: float, length: float) -> float:
    return math.pi * r * r * length
