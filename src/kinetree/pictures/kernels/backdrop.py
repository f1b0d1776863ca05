"""The backdrop, per pixel: the background, and the floor with its grid and the shadow on it."""

from __future__ import annotations

from math import floor, sqrt

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Bytes, Floats, Singles

__all__ = ["cast_shadow", "develop", "paint_backdrop"]

FINE, COARSE = 0.022, 0.012
"""Widths of the lines of the grid, as parts of the distance between two of them."""
RARER = 0.2
"""How many coarse lines there are per fine one."""
FAINT = 0.45
"""Visibility of a fine line relative to a coarse one."""
DARKEST = 0.55
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
    backdrop: Singles,
) -> None:
    """The colors behind the robot without its shadow, and how much of them is the floor's.

    Args:
        top, bottom: rows of pixels.
        columns: number of columns.
        sky: (rows of the picture, 3), the background.
        plane: (3, 3), coefficients of column, row and 1 in the floor's nearness, and in its two coordinates times it.
        disc: (5,): the coordinates of the middle of the floor, the radii at which it begins to fade and is gone, and
            the distance between two lines. A radius of 0 means no floor.
        colors: (2, 3), the floor and its lines.
        backdrop: (bottom - top, columns, 4), result.
    """
    fading, density = 0.0, 0.0
    if disc[3] > 0.0:
        fading, density = 1.0 / (disc[3] - disc[2]), 1.0 / disc[4]
    for row in range(top, bottom):
        for column in range(columns):
            r, g, b, share = sky[row, 0], sky[row, 1], sky[row, 2], 0.0
            x, y = column + 0.5, row + 0.5
            nearness = plane[0, 0] * x + plane[0, 1] * y + plane[0, 2]
            if nearness > 0.0 and disc[3] > 0.0:
                depth = 1.0 / nearness
                u = (plane[1, 0] * x + plane[1, 1] * y + plane[1, 2]) * depth
                v = (plane[2, 0] * x + plane[2, 1] * y + plane[2, 2]) * depth
                away = (u - disc[0]) * (u - disc[0]) + (v - disc[1]) * (v - disc[1])
                if away < disc[3] * disc[3]:
                    share = 1.0
                    if away > disc[2] * disc[2]:
                        share = 1.0 - smooth((sqrt(away) - disc[2]) * fading)
                    # What one pixel sees of the floor, from the derivatives of u and v by column and row.
                    du = max(abs(plane[1, 0] - u * plane[0, 0]), abs(plane[1, 1] - u * plane[0, 1])) * depth
                    dv = max(abs(plane[2, 0] - v * plane[0, 0]), abs(plane[2, 1] - v * plane[0, 1])) * depth
                    lines = grid_lines(u * density, max(du * density, 1e-9), v * density, max(dv * density, 1e-9))
                    r += share * (colors[0, 0] + lines * (colors[1, 0] - colors[0, 0]) - r)
                    g += share * (colors[0, 1] + lines * (colors[1, 1] - colors[0, 1]) - g)
                    b += share * (colors[0, 2] + lines * (colors[1, 2] - colors[0, 2]) - b)
            backdrop[row - top, column, 0] = r
            backdrop[row - top, column, 1] = g
            backdrop[row - top, column, 2] = b
            backdrop[row - top, column, 3] = share


@compiled
def cast_shadow(
    top: int,
    bottom: int,
    columns: int,
    sky: Floats,
    plane: Floats,
    to_shadow: Floats,
    shadow: Floats,
    backdrop: Singles,
) -> None:
    """Darken the floor's part of a backdrop.

    Args:
        top, bottom, columns, sky, plane: as for `paint_backdrop`.
        to_shadow: (2, 3), from the floor's coordinates to columns and rows of `shadow`.
        shadow: (n, n), the part of its light that the floor loses.
        backdrop: (bottom - top, columns, 4), changed in place.
    """
    for row in range(top, bottom):
        y = row + 0.5
        for column in range(columns):
            share = float(backdrop[row - top, column, 3])
            if share > 0.0:
                x = column + 0.5
                depth = 1.0 / (plane[0, 0] * x + plane[0, 1] * y + plane[0, 2])
                u = (plane[1, 0] * x + plane[1, 1] * y + plane[1, 2]) * depth
                v = (plane[2, 0] * x + plane[2, 1] * y + plane[2, 2]) * depth
                dark = DARKEST * shadow_at(
                    shadow,
                    to_shadow[0, 0] * u + to_shadow[0, 1] * v + to_shadow[0, 2],
                    to_shadow[1, 0] * u + to_shadow[1, 1] * v + to_shadow[1, 2],
                )
                if dark > 0.0:
                    for k in range(3):
                        color = float(backdrop[row - top, column, k])
                        backdrop[row - top, column, k] = color - dark * (color - (1.0 - share) * sky[row, k])


def grid_lines(u: float, du: float, v: float, dv: float) -> float:
    """How much of a place on the floor is lines, in a rectangle (du, dv) around it; fine lines are at whole numbers."""
    fine = max(on_lines(u, du, FINE), on_lines(v, dv, FINE))
    coarse = max(on_lines(RARER * u, RARER * du, COARSE), on_lines(RARER * v, RARER * dv, COARSE))
    return max(FAINT * fine, coarse)


def on_lines(u: float, length: float, width: float) -> float:
    """The part of an interval around u that is within lines of this width around the whole numbers."""
    low = u - 0.5 * length + 0.5 * width
    after = low - float(floor(low))
    if after >= width and after + length < 1.0:  # between two lines
        return 0.0
    return (lines_up_to(low + length, width) - lines_up_to(low, width)) / length


def lines_up_to(u: float, width: float) -> float:
    periods = float(floor(u))
    return periods * width + min(u - periods, width)


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
    return float(upper + b * (lower - upper))


def smooth(x: float) -> float:
    """From 0 to 1 without corners."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@compiled
def develop(
    backdrop: Singles,
    covered: Bytes,
    light: Singles,
    supersampling: int,
    top: int,
    bottom: int,
    columns: int,
    encoded: Bytes,
    picture: Bytes,
) -> None:
    """The mean of the samples of each pixel, in sRGB.

    Args:
        backdrop: (pixels, 4), visible where nothing covers it.
        covered: (pixels), 1 where something does.
        light: (rows, columns, 3) of samples; rows begin at that of pixel row `top`.
        supersampling: samples per pixel in each direction.
        top, bottom: rows of pixels.
        columns: number of columns of pixels.
        encoded: (n,), the byte of each amount of light from 0 to 1.
        picture: (height, width, 3), result.
    """
    most = float(len(encoded) - 1)
    scale = most / (supersampling * supersampling)
    for row in range(top, bottom):
        for column in range(columns):
            r = float(backdrop[row - top, column, 0])
            g = float(backdrop[row - top, column, 1])
            b = float(backdrop[row - top, column, 2])
            unit = most
            if int(covered[row - top, column]) == 1:
                unit = scale
                r, g, b = 0.0, 0.0, 0.0
                for i in range((row - top) * supersampling, (row - top + 1) * supersampling):
                    for j in range(column * supersampling, (column + 1) * supersampling):
                        r += float(light[i, j, 0])
                        g += float(light[i, j, 1])
                        b += float(light[i, j, 2])
            picture[row, column, 0] = int(encoded[int(min(max(0.0, r * unit + 0.5), most))])
            picture[row, column, 1] = int(encoded[int(min(max(0.0, g * unit + 0.5), most))])
            picture[row, column, 2] = int(encoded[int(min(max(0.0, b * unit + 0.5), most))])
