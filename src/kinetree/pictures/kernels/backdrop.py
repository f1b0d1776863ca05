"""What is behind everything, per pixel: the background, and the floor with its grid and the shadow on it."""

from __future__ import annotations

from math import floor, sqrt

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats

__all__ = ["paint_backdrop"]

FINE, COARSE = 0.022, 0.012
"""Widths of the lines of the grid, as parts of the distance between two of them."""
EVERY = 5
"""How many fine lines there are from a coarse one to the next."""
DARKEST = 0.62
"""The part of its light that the floor loses where the shadow is complete."""


@compiled
def paint_backdrop(
    top: int,
    bottom: int,
    columns: int,
    sky: Floats,
    plane: Floats,
    disc: Floats,
    colors: Floats,
    to_shadow: Floats,
    shadow: Floats,
    backdrop: Floats,
) -> None:
    """The colors behind the robot, and how much of them is the floor's.

    Args:
        top, bottom: rows of pixels.
        columns: number of columns.
        sky: (rows of the picture, 3), the background.
        plane: (3, 3), coefficients of column, row and 1 in the floor's nearness, and in its two coordinates times it.
        disc: (5,): the coordinates of the middle of the floor, the radii at which it begins to fade and is gone, and
            the distance between two lines. A radius of 0: there is no floor.
        colors: (2, 3), the floor and its lines.
        to_shadow: (2, 3), from the floor's coordinates to columns and rows of `shadow`.
        shadow: (n, n).
        backdrop: (bottom - top, columns, 4), result.
    """
    for row in range(top, bottom):
        for column in range(columns):
            r, g, b, share = sky[row, 0], sky[row, 1], sky[row, 2], 0.0
            x, y = column + 0.5, row + 0.5
            nearness = plane[0, 0] * x + plane[0, 1] * y + plane[0, 2]
            right, below = nearness + plane[0, 0], nearness + plane[0, 1]
            if nearness > 0.0 and right > 0.0 and below > 0.0 and disc[3] > 0.0:
                u_n = plane[1, 0] * x + plane[1, 1] * y + plane[1, 2]
                v_n = plane[2, 0] * x + plane[2, 1] * y + plane[2, 2]
                u, v = u_n / nearness, v_n / nearness
                away = sqrt((u - disc[0]) * (u - disc[0]) + (v - disc[1]) * (v - disc[1]))
                if away < disc[3]:
                    share = 1.0 - smooth((away - disc[2]) / (disc[3] - disc[2]))
                    du = max(abs((u_n + plane[1, 0]) / right - u), abs((u_n + plane[1, 1]) / below - u))
                    dv = max(abs((v_n + plane[2, 0]) / right - v), abs((v_n + plane[2, 1]) / below - v))
                    s, t = u / disc[4], v / disc[4]
                    ds, dt = du / disc[4], dv / disc[4]
                    fine = max(line_share(s, ds, FINE), line_share(t, dt, FINE))
                    coarse = max(line_share(s / EVERY, ds / EVERY, COARSE), line_share(t / EVERY, dt / EVERY, COARSE))
                    lines = max(0.45 * fine, coarse)
                    dark = shadow_at(
                        shadow,
                        to_shadow[0, 0] * u + to_shadow[0, 1] * v + to_shadow[0, 2],
                        to_shadow[1, 0] * u + to_shadow[1, 1] * v + to_shadow[1, 2],
                    )
                    kept = 1.0 - DARKEST * dark
                    r += share * ((colors[0, 0] + lines * (colors[1, 0] - colors[0, 0])) * kept - r)
                    g += share * ((colors[0, 1] + lines * (colors[1, 1] - colors[0, 1])) * kept - g)
                    b += share * ((colors[0, 2] + lines * (colors[1, 2] - colors[0, 2])) * kept - b)
            backdrop[row - top, column, 0] = r
            backdrop[row - top, column, 1] = g
            backdrop[row - top, column, 2] = b
            backdrop[row - top, column, 3] = share


def line_share(u: float, length: float, width: float) -> float:
    """How much of an interval around u is within lines of this width around the whole numbers."""
    length = max(length, 1e-9)
    low, high = u - 0.5 * length + 0.5 * width, u + 0.5 * length + 0.5 * width
    return (lines_up_to(high, width) - lines_up_to(low, width)) / length


def lines_up_to(u: float, width: float) -> float:
    whole = float(floor(u))
    return whole * width + min(u - whole, width)


def shadow_at(shadow: Floats, x: float, y: float) -> float:
    """Between four entries; 0 outside."""
    n = len(shadow)
    if not (x > 0.5 and y > 0.5 and x < n - 0.5 and y < n - 0.5):
        return 0.0
    j, i = floor(x - 0.5), floor(y - 0.5)
    j, i = min(j, n - 2), min(i, n - 2)
    a, b = x - 0.5 - j, y - 0.5 - i
    upper = shadow[i, j] + a * (shadow[i, j + 1] - shadow[i, j])
    lower = shadow[i + 1, j] + a * (shadow[i + 1, j + 1] - shadow[i + 1, j])
    return upper + b * (lower - upper)


def smooth(x: float) -> float:
    """From 0 to 1 without corners."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)
