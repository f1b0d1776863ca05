"""Uniform shells of simple shape: areas, and principal moments of inertia per mass about the centre.

Sizes are those of MJCF: radii, half lengths and half edges, m. All are exact but the ellipsoid's, which are MuJoCo's
approximations: its area is Thomsen's, within 1.1 %, and its moments are those of the layer between the ellipsoid and
one whose half axes are a micrometre longer, which is not of the same thickness everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["box", "capsule", "cylinder", "ellipsoid", "sphere"]

Shell = tuple[float, tuple[float, float, float]]
_THOMSEN = 1.6075
_LAYER = 1e-6


def sphere(size: Sequence[float]) -> Shell:
    r = size[0]
    moment = 2.0 / 3.0 * r * r
    return 4.0 * math.pi * r * r, (moment, moment, moment)


def cylinder(size: Sequence[float]) -> Shell:
    """The mantle and the two discs that close it."""
    r, half = size[0], size[1]
    disc, mantle = math.pi * r * r, 4.0 * math.pi * r * half
    area = 2.0 * disc + mantle
    across = mantle * (0.5 * r * r + half * half / 3.0) + 2.0 * disc * (0.25 * r * r + half * half)
    along = mantle * r * r + disc * r * r
    return area, (across / area, across / area, along / area)


def capsule(size: Sequence[float]) -> Shell:
    r, half = size[0], size[1]
    ball, mantle = 4.0 * math.pi * r * r, 4.0 * math.pi * r * half
    area = ball + mantle
    # A hemisphere's centre of mass is r / 2 from its flat side; about the ball's centre its moments are 2/3 m r².
    across = mantle * (0.5 * r * r + half * half / 3.0) + ball * (2.0 / 3.0 * r * r + half * half + half * r)
    along = mantle * r * r + ball * 2.0 / 3.0 * r * r
    return area, (across / area, across / area, along / area)


def box(size: Sequence[float]) -> Shell:
    a, b, c = size[0], size[1], size[2]
    ab, bc, ca = 8.0 * a * b, 8.0 * b * c, 8.0 * c * a  # pairs of opposite sides
    area = ab + bc + ca
    # ∫ x² over the shell: two sides at a distance a, four that reach from -a to a; divided by the area.
    xx = a * a * (bc + (ab + ca) / 3.0) / area
    yy = b * b * (ca + (ab + bc) / 3.0) / area
    zz = c * c * (ab + (bc + ca) / 3.0) / area
    return area, (yy + zz, xx + zz, xx + yy)


def ellipsoid(size: Sequence[float]) -> Shell:
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
