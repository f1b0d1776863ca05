"""How much of the key light reaches a point: from the light's own picture (shadow maps).

Source: L. Williams, "Casting curved shadows on curved surfaces", SIGGRAPH 1978; for the part of several places W. T.
Reeves, D. H. Salesin and R. L. Cook, "Rendering antialiased shadows with depth maps", SIGGRAPH 1987.
"""

from __future__ import annotations

from math import floor, sqrt
from typing import NamedTuple

from kinetree.codegen.loops.kinds import Floats, Singles

__all__ = ["Shade", "lit_part"]


class Shade(NamedTuple):
    """Obstacles of the light, in pictures of n × n samples."""

    depths: Singles
    """The nearness of opaque surfaces."""
    veil: Singles
    """The same of transparent surfaces: of several the nearest; (1, 1) without any."""
    veiling: Singles
    """The opacity of the veil."""


def lit_part(
    shade: Shade, lamp: Floats, p_x: float, p_y: float, p_z: float, n_x: float, n_y: float, n_z: float
) -> float:
    """The part of 3 × 3 places around a point, in the light's picture, that the light reaches.

    The point is moved along its normal by two columns of that picture, so that no surface shades itself.
    """
    n = len(shade.depths)
    step = 2.0 / sqrt(lamp[0, 0] * lamp[0, 0] + lamp[0, 1] * lamp[0, 1] + lamp[0, 2] * lamp[0, 2])
    x, y, z = p_x + step * n_x, p_y + step * n_y, p_z + step * n_z
    column = lamp[0, 0] * x + lamp[0, 1] * y + lamp[0, 2] * z + lamp[0, 3] - 0.5
    row = lamp[1, 0] * x + lamp[1, 1] * y + lamp[1, 2] * z + lamp[1, 3] - 0.5
    nearness = lamp[2, 0] * x + lamp[2, 1] * y + lamp[2, 2] * z + lamp[2, 3]
    if not (column > 1.0 and row > 1.0 and column < n - 2.0 and row < n - 2.0):
        return 1.0
    j, i = floor(column), floor(row)
    a, b = column - j, row - i
    reached = 0.0
    for d in range(3):
        weight = 1.0 - b if d == 0 else (1.0 if d == 1 else b)
        along = (1.0 - a) * let_through(shade, i + d - 1, j - 1, nearness)
        along += let_through(shade, i + d - 1, j, nearness)
        along += a * let_through(shade, i + d - 1, j + 1, nearness)
        reached += weight * along
    return 0.25 * reached


def let_through(shade: Shade, i: int, j: int, nearness: float) -> float:
    """The part of the light, at a place in its picture, that comes as far as this."""
    if float(shade.depths[i, j]) > nearness:
        return 0.0
    if len(shade.veil) > 1 and float(shade.veil[i, j]) > nearness:
        return 1.0 - float(shade.veiling[i, j])
    return 1.0
