"""The look of each sample, from the triangle that is nearest there.

Colors are amounts of red, green and blue light. The light: a key light with a highlight (Blinn and Phong) whose shadows
are looked up in the light's own picture, and light from the sky and the floor, by how far a surface faces upward.

How much of the key light reaches a point: from the light's own picture (shadow maps).

Source: L. Williams, "Casting curved shadows on curved surfaces", SIGGRAPH 1978; for the part of several places W. T.
Reeves, D. H. Salesin and R. L. Cook, "Rendering antialiased shadows with depth maps", SIGGRAPH 1987.
"""

from __future__ import annotations

from math import floor, sqrt
from typing import NamedTuple

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Bytes, Floats, Indices, Singles

__all__ = ["Lighting", "Shade", "Surfaces", "blur", "shade", "shadow_of"]

GLOSS = 0.10
"""Brightness of a highlight relative to its light."""
BRIGHT = 0.65
"""Brighter colors approach white slowly, so that highlights on white surfaces are seen."""


class Surfaces(NamedTuple):
    """Triangles, their vertices and the textures on them."""

    edges: Floats
    faces: Indices
    """The triangles, as in `triangles.py`."""
    world: Floats
    normals: Floats
    """(n, 3), of the vertices."""
    colors: Floats
    """(n, 4), the last the opacity."""
    part_of: Indices
    uv: Floats
    textures: Indices
    """(parts, 4): where the texture of each part begins in `texels`, its width and height, 0 for none, and how many
    follow it, each of half the width and height."""
    texels: Bytes
    """(…, 3), sRGB."""
    linear: Floats
    """(256,), the amounts of light that texels mean."""


class Lighting(NamedTuple):
    """The lights, and the parts they reach."""

    lights: Floats
    """(7, 3): direction of the key light, its color, the sky's, the floor's, where the camera is, and direction and
    color of the fill light, which has no shadow and reaches around corners."""
    lamp: Floats
    """(3, 4), from the world to columns, rows and nearness of the key light's picture."""
    shade: Shade
    ground: Floats
    """(4,), normal and height of the floor."""


@compiled
def shade(
    found: Indices, top: int, columns: int, supersampling: int, seen: Surfaces, lit: Lighting, backdrop: Singles,
    covered: Bytes, light: Singles,
) -> None:  # fmt: skip
    """Add the visible surfaces at some rows of samples to the light there.

    Args:
        found: (rows, columns), the triangle at each sample, -1 for none.
        top: the first of these rows.
        columns: number of samples in a row.
        supersampling: samples per pixel in each direction.
        seen, lit: the surfaces, and their lighting.
        backdrop: (pixels, 4), in front of surfaces below the floor.
        covered: (pixels), result: 1 where `light` has something; only there it is more than the backdrop.
        light: (rows, columns, 3), result.
    """
    for row in range(len(found)):
        y = top + row + 0.5
        for column in range(columns):
            t = int(found[row, column])
            if t < 0:
                continue
            x = column + 0.5
            e0 = seen.edges[t, 0, 0] * x + (seen.edges[t, 0, 1] * y + seen.edges[t, 0, 2])
            e1 = seen.edges[t, 1, 0] * x + (seen.edges[t, 1, 1] * y + seen.edges[t, 1, 2])
            e2 = seen.edges[t, 2, 0] * x + (seen.edges[t, 2, 1] * y + seen.edges[t, 2, 2])
            total = e0 + e1 + e2
            b0, b1, b2 = e0 / total, e1 / total, e2 / total  # perspective-correct, as the edges are homogeneous
            i, j, k = int(seen.faces[t, 0]), int(seen.faces[t, 1]), int(seen.faces[t, 2])
            p_x, p_y, p_z = mixed(seen.world, i, j, k, b0, b1, b2)
            n_x, n_y, n_z = unit_of(*mixed(seen.normals, i, j, k, b0, b1, b2))
            r, g, b = mixed(seen.colors, i, j, k, b0, b1, b2)
            part = int(seen.part_of[i])
            if int(seen.textures[part, 1]) > 0:
                u = b0 * seen.uv[i, 0] + b1 * seen.uv[j, 0] + b2 * seen.uv[k, 0]
                v = b0 * seen.uv[i, 1] + b1 * seen.uv[j, 1] + b2 * seen.uv[k, 1]
                apart = max(
                    texels_apart(seen, t, 0, i, j, k, u, v),
                    texels_apart(seen, t, 1, i, j, k, u, v),
                )
                r, g, b = texel(seen, part, u, v, apart / total)
            v_x, v_y, v_z = unit_of(lit.lights[4, 0] - p_x, lit.lights[4, 1] - p_y, lit.lights[4, 2] - p_z)
            if is_back(seen.world, i, j, k, v_x, v_y, v_z, n_x, n_y, n_z):
                n_x, n_y, n_z = -n_x, -n_y, -n_z
            facing = n_x * lit.lights[0, 0] + n_y * lit.lights[0, 1] + n_z * lit.lights[0, 2]
            reached = 0.0
            highlight = 0.0
            if facing > 0.0:
                reached = facing * lit_part(lit.shade, lit.lamp, p_x, p_y, p_z, n_x, n_y, n_z)
                h_x, h_y, h_z = unit_of(lit.lights[0, 0] + v_x, lit.lights[0, 1] + v_y, lit.lights[0, 2] + v_z)
                h = max(n_x * h_x + n_y * h_y + n_z * h_z, 0.0)
                h = h * h * h * h
                h = h * h * h * h
                highlight = GLOSS * reached * h * h
            up = 0.5 + 0.5 * n_z
            rim = 1.0 - max(n_x * v_x + n_y * v_y + n_z * v_z, 0.0)
            rim = 0.10 * rim * rim * rim * rim
            fill = 0.5 + 0.5 * (n_x * lit.lights[5, 0] + n_y * lit.lights[5, 1] + n_z * lit.lights[5, 2])
            fill = fill * fill
            r = given_back(r, reached, highlight + rim, lit.lights[1, 0], soft_light(lit.lights, 0, up, fill))
            g = given_back(g, reached, highlight + rim, lit.lights[1, 1], soft_light(lit.lights, 1, up, fill))
            b = given_back(b, reached, highlight + rim, lit.lights[1, 2], soft_light(lit.lights, 2, up, fill))
            r, g, b = softened(r), softened(g), softened(b)
            opacity = b0 * seen.colors[i, 3] + b1 * seen.colors[j, 3] + b2 * seen.colors[k, 3]
            if lit.ground[0] * p_x + lit.ground[1] * p_y + lit.ground[2] * p_z < lit.ground[3]:
                opacity *= 1.0 - float(backdrop[row // supersampling, column // supersampling, 3])
            if int(covered[row // supersampling, column // supersampling]) == 0:
                cover(row // supersampling, column // supersampling, supersampling, backdrop, covered, light)
            light[row, column, 0] = float(light[row, column, 0]) + opacity * (r - float(light[row, column, 0]))
            light[row, column, 1] = float(light[row, column, 1]) + opacity * (g - float(light[row, column, 1]))
            light[row, column, 2] = float(light[row, column, 2]) + opacity * (b - float(light[row, column, 2]))


def soft_light(lights: Floats, k: int, up: float, fill: float) -> float:
    """The light without shadows, in red, green or blue."""
    return float(up * lights[2, k] + (1.0 - up) * lights[3, k] + fill * lights[6, k])


def given_back(color: float, reached: float, shine: float, key: float, soft: float) -> float:
    """Light reflected by a surface of this color, in red, green or blue; highlights have the key light's color."""
    return color * (reached * key + soft) + shine * key


def cover(row: int, column: int, supersampling: int, backdrop: Singles, covered: Bytes, light: Singles) -> None:
    """Begin a pixel with the backdrop at all its samples."""
    covered[row, column] = 1
    for i in range(row * supersampling, (row + 1) * supersampling):
        for j in range(column * supersampling, (column + 1) * supersampling):
            light[i, j, 0] = float(backdrop[row, column, 0])
            light[i, j, 1] = float(backdrop[row, column, 1])
            light[i, j, 2] = float(backdrop[row, column, 2])


def mixed(x: Floats, i: int, j: int, k: int, b0: float, b1: float, b2: float) -> tuple[float, float, float]:
    """The first three columns of x at a point of a triangle."""
    return (
        b0 * x[i, 0] + b1 * x[j, 0] + b2 * x[k, 0],
        b0 * x[i, 1] + b1 * x[j, 1] + b2 * x[k, 1],
        b0 * x[i, 2] + b1 * x[j, 2] + b2 * x[k, 2],
    )


def unit_of(x: float, y: float, z: float) -> tuple[float, float, float]:
    length = sqrt(x * x + y * y + z * z)
    scale = 1.0 / length if length > 0.0 else 0.0
    return scale * x, scale * y, scale * z


def is_back(
    world: Floats, i: int, j: int, k: int, v_x: float, v_y: float, v_z: float, n_x: float, n_y: float, n_z: float
) -> bool:
    """Whether a surface is seen from inside: its normal and the viewer are on different sides of the triangle."""
    a_x, a_y, a_z = world[j, 0] - world[i, 0], world[j, 1] - world[i, 1], world[j, 2] - world[i, 2]
    b_x, b_y, b_z = world[k, 0] - world[i, 0], world[k, 1] - world[i, 1], world[k, 2] - world[i, 2]
    g_x, g_y, g_z = a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x
    to_viewer = g_x * v_x + g_y * v_y + g_z * v_z
    return bool(to_viewer * (g_x * n_x + g_y * n_y + g_z * n_z) < 0.0)


def softened(x: float) -> float:
    if x <= BRIGHT:
        return x
    beyond = (x - BRIGHT) / (1.0 - BRIGHT)
    return BRIGHT + (1.0 - BRIGHT) * beyond / (1.0 + beyond)


def texels_apart(seen: Surfaces, t: int, axis: int, i: int, j: int, k: int, u: float, v: float) -> float:
    """How many texels a sample is from the next along columns (axis 0) or rows (1), times the sum of edge functions.

    u is the quotient of the sum of e u and that of e, so this is how much the first changes, less u times the second.
    """
    part = int(seen.part_of[i])
    a0, a1, a2 = seen.edges[t, 0, axis], seen.edges[t, 1, axis], seen.edges[t, 2, axis]
    along_u = a0 * (seen.uv[i, 0] - u) + a1 * (seen.uv[j, 0] - u) + a2 * (seen.uv[k, 0] - u)
    along_v = a0 * (seen.uv[i, 1] - v) + a1 * (seen.uv[j, 1] - v) + a2 * (seen.uv[k, 1] - v)
    return float(max(abs(along_u) * int(seen.textures[part, 1]), abs(along_v) * int(seen.textures[part, 2])))


def texel(seen: Surfaces, part: int, u: float, v: float, apart: float) -> tuple[float, float, float]:
    """The color of a texture between four of its entries; it is repeated in both directions.

    Of the smaller and smaller ones it is the first whose samples are at most two entries apart, so that none is left
    out.
    """
    start, width, height = int(seen.textures[part, 0]), int(seen.textures[part, 1]), int(seen.textures[part, 2])
    if not (abs(u) < 1e6 and abs(v) < 1e6):
        return 0.5, 0.5, 0.5
    smaller = int(seen.textures[part, 3])
    while apart > 2.0 and smaller > 0:
        start += width * height
        width, height = width // 2, height // 2
        apart *= 0.5
        smaller -= 1
    x, y = u * width - 0.5, (1.0 - v) * height - 0.5
    j, i = floor(x), floor(y)
    a, b = x - j, y - i
    row_0, row_1 = start + (i % height) * width, start + ((i + 1) % height) * width
    p, q, r, s = row_0 + j % width, row_0 + (j + 1) % width, row_1 + j % width, row_1 + (j + 1) % width
    return (
        between(seen.texels, seen.linear, p, q, r, s, 0, a, b),
        between(seen.texels, seen.linear, p, q, r, s, 1, a, b),
        between(seen.texels, seen.linear, p, q, r, s, 2, a, b),
    )


def between(texels: Bytes, linear: Floats, p: int, q: int, r: int, s: int, k: int, a: float, b: float) -> float:
    upper = (1.0 - a) * linear[int(texels[p, k])] + a * linear[int(texels[q, k])]
    lower = (1.0 - a) * linear[int(texels[r, k])] + a * linear[int(texels[s, k])]
    return float((1.0 - b) * upper + b * lower)


@compiled
def shadow_of(shade: Shade, floor: Floats, shadow: Floats) -> None:
    """The part of 2 × 2 samples of light that something above the floor takes away.

    Args:
        shade: (2 n, 2 n), depths are very negative where the light sees nothing opaque.
        floor: (3,), coefficients of column, row and 1 in the floor's nearness.
        shadow: (n, n), result, from 0 to 1.
    """
    n = len(shadow)
    for i in range(n):
        for j in range(n):
            taken = 0.0
            for k in range(4):
                row, column = 2 * i + k // 2, 2 * j + k % 2
                level = floor[0] * (column + 0.5) + floor[1] * (row + 0.5) + floor[2]
                if float(shade.depths[row, column]) > level:
                    taken += 0.25
                elif len(shade.veil) > 1 and float(shade.veil[row, column]) > level:
                    taken += 0.25 * float(shade.veiling[row, column])
            shadow[i, j] = taken


@compiled
def blur(shadow: Floats, radius: int, totals: Floats, between: Floats) -> None:
    """The mean over 2 `radius` + 1 neighbours along columns, then along rows; the outside has no shadow.

    Three such blurs are a good approximation of a Gaussian one.

    Args:
        shadow: (n, n), blurred in place.
        radius: less than n.
        totals, between: (n,) and (n, n), for intermediate results.
    """
    n = len(shadow)
    share = 1.0 / ((2 * radius + 1) * (2 * radius + 1))
    for j in range(n):
        totals[j] = 0.0
    for i in range(radius):
        for j in range(n):
            totals[j] += shadow[i, j]
    for i in range(n):
        if i + radius < n:
            for j in range(n):
                totals[j] += shadow[i + radius, j]
        if i - radius - 1 >= 0:
            for j in range(n):
                totals[j] -= shadow[i - radius - 1, j]
        for j in range(n):
            between[i, j] = totals[j]
    for i in range(n):
        total = 0.0
        for j in range(radius):
            total += between[i, j]
        for j in range(n):
            if j + radius < n:
                total += between[i, j + radius]
            if j - radius - 1 >= 0:
                total -= between[i, j - radius - 1]
            shadow[i, j] = total * share


class Shade(NamedTuple):
    """Obstacles of the light, in pictures of n × n samples."""

    depths: Singles
    """The nearness of opaque surfaces."""
    veil: Singles
    """The nearness of transparent surfaces: of several the nearest; (1, 1) without any."""
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
