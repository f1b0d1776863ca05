"""What each sample looks like, from the triangle that is nearest there.

Colors are amounts of red, green and blue light. The light: a key light with a highlight (Blinn and Phong) whose shadows
are looked up in the light's own picture, and light from the sky and the floor, by how far a surface faces upward.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Bytes, Floats, Indices, Singles
from kinetree.pictures.kernels.key_light import lit_part
from kinetree.pictures.kernels.texels import texel, texels_apart

__all__ = ["shade"]

GLOSS = 0.10
"""How bright a highlight is beside its light."""
BRIGHT = 0.65
"""Brighter colors approach white slowly, so that highlights on white surfaces are seen."""


@compiled
def shade(
    found: Indices,
    top: int,
    columns: int,
    supersampling: int,
    edges: Floats,
    faces: Indices,
    world: Floats,
    normals: Floats,
    colors: Floats,
    part_of: Indices,
    uv: Floats,
    textures: Indices,
    texels: Bytes,
    linear: Floats,
    lights: Floats,
    lamp: Floats,
    depths: Singles,
    veil: Singles,
    veiling: Singles,
    ground: Floats,
    backdrop: Singles,
    covered: Bytes,
    light: Singles,
) -> None:
    """Add what is seen at some rows of samples to the light there.

    Args:
        found: (rows, columns), the triangle at each sample, -1 for none.
        top: the first of these rows.
        columns: number of samples in a row.
        supersampling: samples per pixel in each direction.
        edges, faces: the triangles, as in `triangles.py`.
        world, normals, colors, part_of, uv: their vertices; colors are (n, 4), the last the opacity.
        textures: (parts, 4): where the texture of each part begins in `texels`, its width and height, 0 for none, and
            how many follow it, each of half the width and height.
        texels: (…, 3), sRGB.
        linear: (256,), the amounts of light that texels mean.
        lights: (7, 3): direction of the key light, its color, the sky's, the floor's, where the camera is, and
            direction and color of the fill light, which has no shadow and reaches around corners.
        lamp: (3, 4), from the world to columns, rows and nearness of `depths`.
        depths: (n, n), the light's picture of what is opaque.
        veil: (n, n), its picture of what can be seen through, or (1, 1) if there is nothing.
        veiling: of the same shape, the opacity there.
        ground: (4,), normal and height of the floor.
        backdrop: (pixels, 4), what is in front of surfaces below the floor.
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
            e0 = edges[t, 0, 0] * x + (edges[t, 0, 1] * y + edges[t, 0, 2])
            e1 = edges[t, 1, 0] * x + (edges[t, 1, 1] * y + edges[t, 1, 2])
            e2 = edges[t, 2, 0] * x + (edges[t, 2, 1] * y + edges[t, 2, 2])
            total = e0 + e1 + e2
            b0, b1, b2 = e0 / total, e1 / total, e2 / total  # perspective-correct, as the edges are homogeneous
            i, j, k = int(faces[t, 0]), int(faces[t, 1]), int(faces[t, 2])
            p_x, p_y, p_z = mixed(world, i, j, k, b0, b1, b2)
            n_x, n_y, n_z = unit_of(*mixed(normals, i, j, k, b0, b1, b2))
            r, g, b = mixed(colors, i, j, k, b0, b1, b2)
            part = int(part_of[i])
            if int(textures[part, 1]) > 0:
                u = b0 * uv[i, 0] + b1 * uv[j, 0] + b2 * uv[k, 0]
                v = b0 * uv[i, 1] + b1 * uv[j, 1] + b2 * uv[k, 1]
                apart = max(
                    texels_apart(edges, t, 0, textures, part, uv, i, j, k, u, v),
                    texels_apart(edges, t, 1, textures, part, uv, i, j, k, u, v),
                )
                r, g, b = texel(textures, texels, linear, part, u, v, apart / total)
            v_x, v_y, v_z = unit_of(lights[4, 0] - p_x, lights[4, 1] - p_y, lights[4, 2] - p_z)
            if is_back(world, i, j, k, v_x, v_y, v_z, n_x, n_y, n_z):
                n_x, n_y, n_z = -n_x, -n_y, -n_z
            facing = n_x * lights[0, 0] + n_y * lights[0, 1] + n_z * lights[0, 2]
            reached = 0.0
            highlight = 0.0
            if facing > 0.0:
                reached = facing * lit_part(depths, veil, veiling, lamp, p_x, p_y, p_z, n_x, n_y, n_z)
                h_x, h_y, h_z = unit_of(lights[0, 0] + v_x, lights[0, 1] + v_y, lights[0, 2] + v_z)
                h = max(n_x * h_x + n_y * h_y + n_z * h_z, 0.0)
                h = h * h * h * h
                h = h * h * h * h
                highlight = GLOSS * reached * h * h
            up = 0.5 + 0.5 * n_z
            rim = 1.0 - max(n_x * v_x + n_y * v_y + n_z * v_z, 0.0)
            rim = 0.10 * rim * rim * rim * rim
            fill = 0.5 + 0.5 * (n_x * lights[5, 0] + n_y * lights[5, 1] + n_z * lights[5, 2])
            fill = fill * fill
            r = given_back(r, reached, highlight + rim, lights[1, 0], soft_light(lights, 0, up, fill))
            g = given_back(g, reached, highlight + rim, lights[1, 1], soft_light(lights, 1, up, fill))
            b = given_back(b, reached, highlight + rim, lights[1, 2], soft_light(lights, 2, up, fill))
            r, g, b = softened(r), softened(g), softened(b)
            opacity = b0 * colors[i, 3] + b1 * colors[j, 3] + b2 * colors[k, 3]
            if ground[0] * p_x + ground[1] * p_y + ground[2] * p_z < ground[3]:
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
    """What a surface of this color gives back, in red, green or blue; what shines has the color of the key light."""
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
    world: Floats,
    i: int,
    j: int,
    k: int,
    v_x: float,
    v_y: float,
    v_z: float,
    n_x: float,
    n_y: float,
    n_z: float,
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
