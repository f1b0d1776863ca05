"""The color of an image on a surface, at a point of a triangle."""

from __future__ import annotations

from math import floor

from kinetree.codegen.loops.kinds import Bytes, Floats, Indices

__all__ = ["texel", "texels_apart"]


def texels_apart(
    edges: Floats,
    t: int,
    axis: int,
    textures: Indices,
    part: int,
    uv: Floats,
    i: int,
    j: int,
    k: int,
    u: float,
    v: float,
) -> float:
    """How many texels a sample is from the next along columns (axis 0) or rows (1), times the sum of edge functions.

    u is the quotient of the sum of e u and that of e, so this is how much the first changes, less u times the second.
    """
    a0, a1, a2 = edges[t, 0, axis], edges[t, 1, axis], edges[t, 2, axis]
    along_u = a0 * (uv[i, 0] - u) + a1 * (uv[j, 0] - u) + a2 * (uv[k, 0] - u)
    along_v = a0 * (uv[i, 1] - v) + a1 * (uv[j, 1] - v) + a2 * (uv[k, 1] - v)
    return float(max(abs(along_u) * int(textures[part, 1]), abs(along_v) * int(textures[part, 2])))


def texel(
    textures: Indices, texels: Bytes, linear: Floats, part: int, u: float, v: float, apart: float
) -> tuple[float, float, float]:
    """The color of a texture between four of its entries; it is repeated in both directions.

    Of the smaller and smaller ones it is the first of which samples are at most two entries apart, so that none is
    left out.
    """
    start, width, height = int(textures[part, 0]), int(textures[part, 1]), int(textures[part, 2])
    if not (abs(u) < 1e6 and abs(v) < 1e6):
        return 0.5, 0.5, 0.5
    smaller = int(textures[part, 3])
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
        between(texels, linear, p, q, r, s, 0, a, b),
        between(texels, linear, p, q, r, s, 1, a, b),
        between(texels, linear, p, q, r, s, 2, a, b),
    )


def between(texels: Bytes, linear: Floats, p: int, q: int, r: int, s: int, k: int, a: float, b: float) -> float:
    upper = (1.0 - a) * linear[int(texels[p, k])] + a * linear[int(texels[q, k])]
    lower = (1.0 - a) * linear[int(texels[r, k])] + a * linear[int(texels[s, k])]
    return float((1.0 - b) * upper + b * lower)
