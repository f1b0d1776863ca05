"""Volume, or area, and moments of inertia of geoms of simple shape, uniform solids or shells.

Sizes are those of MJCF: radii, half lengths and half edges, m. All are exact but those of the ellipsoid's shell, which
are MuJoCo's approximations: its area is Thomsen's, within 1.1 %, and its moments are those of the layer between the
ellipsoid and one whose half axes are a micrometre longer, which is not of the same thickness everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kinetree.errors import ModelError, OptionError
from kinetree.solids import shapes
from kinetree.spatial import Inertia

__all__ = ["primitive"]

Amount = tuple[float, tuple[float, float, float]]
_THOMSEN = 1.6075
_LAYER = 1e-6


def primitive(where: object, shape: str, size: Sequence[float], *, shell: bool = False) -> Amount:
    """The mass per density and the principal moments of inertia per mass of a geom, about its centre along its axes.

    Args:
        where: the geom, for messages.
        shape: its type: "sphere", "capsule", "cylinder", "ellipsoid" or "box"; a height field counts as the box
            around it. A plane has no mass.
        size: its sizes as MuJoCo has them: radii, half lengths and half edges, m.
        shell: whether all of the mass is on its surface, so that the density is per area.

    Returns:
        The volume, m³, or the area, m², and the three moments per mass, m².

    Raises:
        ModelError: for sizes that are not positive, and other types.
    """
    if shape == "plane":
        return 0.0, (0.0, 0.0, 0.0)
    name = "box" if shape == "hfield" else shape
    if name not in _SOLIDS:
        raise ModelError(
            f"{where}: a geom of the type {shape!r} has no inertia by its sizes; known: {', '.join(_SOLIDS)}"
        )
    try:
        body = _SOLIDS[name](size)
    except OptionError as error:
        raise ModelError(f"{where}: {error}") from None
    if shell:
        return _SHELLS[name](size)
    mass, (xx, yy, zz, *_) = float(body.mass), map(float, body.I.components())
    return mass, (xx / mass, yy / mass, zz / mass)


def _sphere_shell(size: Sequence[float]) -> Amount:
    r = size[0]
    moment = 2.0 / 3.0 * r * r
    return 4.0 * math.pi * r * r, (moment, moment, moment)


def _cylinder_shell(size: Sequence[float]) -> Amount:
    """The mantle and the two discs that close it."""
    r, half = size[0], size[1]
    disc, mantle = math.pi * r * r, 4.0 * math.pi * r * half
    area = 2.0 * disc + mantle
    across = mantle * (0.5 * r * r + half * half / 3.0) + 2.0 * disc * (0.25 * r * r + half * half)
    along = mantle * r * r + disc * r * r
    return area, (across / area, across / area, along / area)


def _capsule_shell(size: Sequence[float]) -> Amount:
    r, half = size[0], size[1]
    ball, mantle = 4.0 * math.pi * r * r, 4.0 * math.pi * r * half
    area = ball + mantle
    # A hemisphere's centre of mass is r / 2 from its flat side; about the ball's centre its moments are 2/3 m r².
    across = mantle * (0.5 * r * r + half * half / 3.0) + ball * (2.0 / 3.0 * r * r + half * half + half * r)
    along = mantle * r * r + ball * 2.0 / 3.0 * r * r
    return area, (across / area, across / area, along / area)


def _box_shell(size: Sequence[float]) -> Amount:
    a, b, c = size[0], size[1], size[2]
    ab, bc, ca = 8.0 * a * b, 8.0 * b * c, 8.0 * c * a  # pairs of opposite sides
    area = ab + bc + ca
    # ∫ x² over the shell: two sides at a distance a, four that reach from -a to a; divided by the area.
    xx = a * a * (bc + (ab + ca) / 3.0) / area
    yy = b * b * (ca + (ab + bc) / 3.0) / area
    zz = c * c * (ab + (bc + ca) / 3.0) / area
    return area, (yy + zz, xx + zz, xx + yy)


def _ellipsoid_shell(size: Sequence[float]) -> Amount:
    a, b, c = size[0], size[1], size[2]
    mean = ((a * b) ** _THOMSEN + (b * c) ** _THOMSEN + (c * a) ** _THOMSEN) / 3.0
    # In this order of operations: the difference of the volumes has lost ten digits.
    inner = 4.0 * math.pi * a * b * c / 3.0
    x, y, z = a + _LAYER, b + _LAYER, c + _LAYER
    outer = 4.0 * math.pi * x * y * z / 3.0
    density = 1.0 / (outer - inner)
    inner, outer = inner * density, outer * density
    moments = (
        outer * (y * y + z * z) / 5.0 - inner * (b * b + c * c) / 5.0,
        outer * (x * x + z * z) / 5.0 - inner * (a * a + c * c) / 5.0,
        outer * (x * x + y * y) / 5.0 - inner * (a * a + b * b) / 5.0,
    )
    return 4.0 * math.pi * mean ** (1.0 / _THOMSEN), moments


_SOLIDS: dict[str, Callable[[Sequence[float]], Inertia]] = {
    "sphere": lambda s: shapes.sphere(s[0], density=1.0),
    "capsule": lambda s: shapes.capsule(s[0], 2.0 * s[1], density=1.0),
    "cylinder": lambda s: shapes.cylinder(s[0], 2.0 * s[1], density=1.0),
    "ellipsoid": lambda s: shapes.ellipsoid(s[0], s[1], s[2], density=1.0),
    "box": lambda s: shapes.box(2.0 * s[0], 2.0 * s[1], 2.0 * s[2], density=1.0),
}
_SHELLS: dict[str, Callable[[Sequence[float]], Amount]] = {
    "sphere": _sphere_shell,
    "capsule": _capsule_shell,
    "cylinder": _cylinder_shell,
    "ellipsoid": _ellipsoid_shell,
    "box": _box_shell,
}
