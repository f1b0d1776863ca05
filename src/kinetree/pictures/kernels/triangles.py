"""Which triangle is nearest at each sample: edge functions and a buffer of depths.

Edges are functions of homogeneous coordinates (Olano and Greer, "Triangle scan conversion using 2D homogeneous
coordinates", 1997): e₀ = (v₁ × v₂)·(column, row, 1) is 0 on the edge between corners 1 and 2, and positive on the side
of corner 0. A corner may be behind the camera, so no triangle has to be cut at the near plane. An edge that two
triangles share has coefficients that differ in their sign alone, to the last bit: no sample between them is missed, and
the rule for samples on an edge gives each to one triangle.

"Nearness" is 1/depth for a camera and minus the depth for parallel light: either is linear in column and row.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats, Indices, Singles

__all__ = ["Placed", "find_nearest", "place_vertices", "set_up"]

SLACK = 1e-6
"""Samples by which the box around a triangle is larger: more than its corners are rounded by."""
FAR = 1e18
WIDE = 8
"""Columns from which it is worth to find out which of them a row of a triangle covers."""


@compiled
def set_up(
    faces: Indices,
    seen: Floats,
    first: int,
    last: int,
    columns: int,
    rows: int,
    near: float,
    boxes: Indices,
    edges: Floats,
) -> None:
    """The samples that triangles may cover, and the coefficients of their edges.

    Args:
        faces: (m, 3), rows of `seen` (n, 4), which is (x·w, y·w, w, nearness·w) per vertex.
        first, last: the triangles to set up.
        columns, rows: number of samples in the picture.
        near: the smallest w that is seen.
        boxes: (m, 4), result: first and last column and row, the last exclusive.
        edges: (m, 4, 3), result: coefficients of column, row and 1 in e₀, e₁, e₂, and in nearness.
    """
    for t in range(first, last):
        boxes[t, 0] = 0
        boxes[t, 1] = 0
        boxes[t, 2] = 0
        boxes[t, 3] = 0
        x_low, x_high, y_low, y_high = FAR, -FAR, FAR, -FAR
        for k in range(3):
            i, j = int(faces[t, k]), int(faces[t, (k + 1) % 3])
            w_i, w_j = seen[i, 2], seen[j, 2]
            if w_i >= near:
                x, y = seen[i, 0] / w_i, seen[i, 1] / w_i
                x_low, x_high, y_low, y_high = min(x_low, x), max(x_high, x), min(y_low, y), max(y_high, y)
            if (w_i < near and w_j > near) or (w_i > near and w_j < near):  # the edge passes through the near plane
                s = (near - w_i) / (w_j - w_i)
                x = (seen[i, 0] + s * (seen[j, 0] - seen[i, 0])) / near
                y = (seen[i, 1] + s * (seen[j, 1] - seen[i, 1])) / near
                x_low, x_high, y_low, y_high = min(x_low, x), max(x_high, x), min(y_low, y), max(y_high, y)
        if not (x_low < columns and x_high > 0.0 and y_low < rows and y_high > 0.0):
            continue
        i, j, k = int(faces[t, 0]), int(faces[t, 1]), int(faces[t, 2])
        a0, b0, c0 = cross(seen[j, 0], seen[j, 1], seen[j, 2], seen[k, 0], seen[k, 1], seen[k, 2])
        a1, b1, c1 = cross(seen[k, 0], seen[k, 1], seen[k, 2], seen[i, 0], seen[i, 1], seen[i, 2])
        a2, b2, c2 = cross(seen[i, 0], seen[i, 1], seen[i, 2], seen[j, 0], seen[j, 1], seen[j, 2])
        determinant = seen[i, 0] * a0 + seen[i, 1] * b0 + seen[i, 2] * c0
        if not (determinant > 0.0 or determinant < 0.0):  # seen from its edge, without area, or not a number
            continue
        boxes[t, 0] = -floor(0.5 - max(x_low - SLACK, 0.0))  # a sample is at the middle of its column and row
        boxes[t, 1] = floor(0.5 + min(x_high + SLACK, float(columns)))
        boxes[t, 2] = -floor(0.5 - max(y_low - SLACK, 0.0))
        boxes[t, 3] = floor(0.5 + min(y_high + SLACK, float(rows)))
        side = 1.0 if determinant > 0.0 else -1.0  # a triangle is seen from both sides
        edges[t, 0, 0], edges[t, 0, 1], edges[t, 0, 2] = side * a0, side * b0, side * c0
        edges[t, 1, 0], edges[t, 1, 1], edges[t, 1, 2] = side * a1, side * b1, side * c1
        edges[t, 2, 0], edges[t, 2, 1], edges[t, 2, 2] = side * a2, side * b2, side * c2
        n0, n1, n2 = seen[i, 3] / determinant, seen[j, 3] / determinant, seen[k, 3] / determinant
        edges[t, 3, 0] = n0 * a0 + n1 * a1 + n2 * a2
        edges[t, 3, 1] = n0 * b0 + n1 * b1 + n2 * b2
        edges[t, 3, 2] = n0 * c0 + n1 * c1 + n2 * c2


@compiled
def find_nearest(
    boxes: Indices,
    edges: Floats,
    first: int,
    last: int,
    top: int,
    bottom: int,
    nearest: float,
    nearness: Singles,
    found: Indices,
) -> None:
    """Put triangles into the buffers of some rows, where they are nearer than the present ones.

    Args:
        boxes, edges: as `set_up` made them.
        first, last: the triangles.
        top, bottom: the rows of the picture that the buffers have.
        nearest: the largest nearness that is seen.
        nearness, found: (bottom - top, columns): the nearness at each sample, and the triangle that is seen there.
    """
    for t in range(first, last):
        row_0, row_1 = max(int(boxes[t, 2]), top), min(int(boxes[t, 3]), bottom)
        if row_0 >= row_1:
            continue
        column_0, column_1 = int(boxes[t, 0]), int(boxes[t, 1])
        a0, a1, a2, a_n = edges[t, 0, 0], edges[t, 1, 0], edges[t, 2, 0], edges[t, 3, 0]
        owns_0 = a0 > 0.0 or (a0 == 0.0 and edges[t, 0, 1] > 0.0)  # the rule for left and upper edges
        owns_1 = a1 > 0.0 or (a1 == 0.0 and edges[t, 1, 1] > 0.0)
        owns_2 = a2 > 0.0 or (a2 == 0.0 and edges[t, 2, 1] > 0.0)
        for row in range(row_0, row_1):
            y = row + 0.5
            e0_y = edges[t, 0, 1] * y + edges[t, 0, 2]
            e1_y = edges[t, 1, 1] * y + edges[t, 1, 2]
            e2_y = edges[t, 2, 1] * y + edges[t, 2, 2]
            n_y = edges[t, 3, 1] * y + edges[t, 3, 2]
            low, high = column_0, column_1
            if column_1 - column_0 > WIDE:  # where the edges cross the row bounds what it covers
                low, high = narrowed(low, high, a0, e0_y)
                low, high = narrowed(low, high, a1, e1_y)
                low, high = narrowed(low, high, a2, e2_y)
            for column in range(low, high):
                x = column + 0.5
                e0, e1, e2 = a0 * x + e0_y, a1 * x + e1_y, a2 * x + e2_y
                if min(e0, e1, e2) < 0.0:
                    continue
                if (e0 > 0.0 or owns_0) and (e1 > 0.0 or owns_1) and (e2 > 0.0 or owns_2):
                    n = a_n * x + n_y
                    if n > float(nearness[row - top, column]) and n <= nearest:
                        nearness[row - top, column] = n
                        found[row - top, column] = t


def narrowed(low: int, high: int, a: float, e: float) -> tuple[int, int]:
    """The columns of low to high, and a few more, for which a·column + e is not negative."""
    if a > 0.0:
        first = -e / a - 2.0
        if first > low:
            return (int(first) if first < high else high), high
    elif a < 0.0:
        last = -e / a + 2.0
        if last < high:
            return low, (int(last) if last > low else low)
    return low, high


def cross(x0: float, y0: float, z0: float, x1: float, y1: float, z1: float) -> tuple[float, float, float]:
    return y0 * z1 - z0 * y1, z0 * x1 - x0 * z1, x0 * y1 - y0 * x1


class Placed(NamedTuple):
    """Where vertices are."""

    world: Floats
    turned: Floats
    """(n, 3), the vertices and their normals."""
    seen: Floats
    lit: Floats
    """(n, 4), homogeneous coordinates (x·w, y·w, w, nearness·w) in the pictures of the camera and of the light."""


@compiled
def place_vertices(
    vertices: Floats, normals: Floats, part_of: Indices, placements: Floats, nearer: Floats, camera: Floats,
    lamp: Floats, first: int, last: int, placed: Placed,
) -> None:  # fmt: skip
    """Place vertices and their normals.

    Args:
        vertices, normals: (n, 3), in the axes of their parts.
        part_of: (n,), rows of `placements` (k, 4, 4).
        nearer: (k,), by which the nearness of each part to the camera is multiplied.
        camera: (3, 4), `Camera.matrix`, in samples; its nearness is 1/w.
        lamp: (3, 4), column, row and nearness of a parallel projection, whose w is 1.
        first, last: the vertices to place.
        placed: results.
    """
    for v in range(first, last):
        p = int(part_of[v])
        for k in range(3):
            placed.world[v, k] = (
                placements[p, k, 0] * vertices[v, 0]
                + placements[p, k, 1] * vertices[v, 1]
                + placements[p, k, 2] * vertices[v, 2]
                + placements[p, k, 3]
            )
            placed.turned[v, k] = (
                placements[p, k, 0] * normals[v, 0]
                + placements[p, k, 1] * normals[v, 1]
                + placements[p, k, 2] * normals[v, 2]
            )
        x, y, z = placed.world[v, 0], placed.world[v, 1], placed.world[v, 2]
        for k in range(3):
            placed.seen[v, k] = camera[k, 0] * x + camera[k, 1] * y + camera[k, 2] * z + camera[k, 3]
        placed.seen[v, 3] = nearer[p]
        placed.lit[v, 0] = lamp[0, 0] * x + lamp[0, 1] * y + lamp[0, 2] * z + lamp[0, 3]
        placed.lit[v, 1] = lamp[1, 0] * x + lamp[1, 1] * y + lamp[1, 2] * z + lamp[1, 3]
        placed.lit[v, 2] = 1.0
        placed.lit[v, 3] = lamp[2, 0] * x + lamp[2, 1] * y + lamp[2, 2] * z + lamp[2, 3]
