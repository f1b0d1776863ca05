"""The face of a shape that is turned toward a direction, as a few corners in their order around it.

A box has the face whose normal is nearest to the direction. A cylinder has four points of a rim, or the line of its
side that is farthest along the direction where this is nearly across the axis; a capsule the ends of its axis. A hull
has the corners that are farthest along four directions around the given one: those of its face, if that has no more
than four and they are not much flatter than right angles, and four corners of a surface that is divided finely.
"""

from __future__ import annotations

import math

from kinetree.collision.guarded import chosen, sign_of, unit
from kinetree.collision.repeated import farthest_each
from kinetree.collision.shapes import Box, Capsule, Cylinder, Hull, Shape
from kinetree.expr import absolute, less, maximum, select
from kinetree.spatial import Vec3

__all__ = ["face_toward", "tangents"]

_NEARLY = 0.05
"""The sine of an angle: sides that are turned by less count as turned toward a direction."""
_UPRIGHT = 1e-9
"""The sine below which a cylinder's own axes say which points of its rim are taken."""
_TURN = 1.0
"""The angle from the first tangent to the first of the four directions: usual edges are at other angles."""


def face_toward(shape: Shape, n: Vec3) -> list[Vec3]:
    """Two or four corners in the shape's axes, for a unit vector in these."""
    if isinstance(shape, Box):
        return _of_box(shape, n)
    if isinstance(shape, Cylinder):
        return _of_cylinder(shape, n)
    if isinstance(shape, Capsule):
        return _of_capsule(shape, n)
    if isinstance(shape, Hull):
        return _of_hull(shape, n)
    raise TypeError(f"a {shape.kind} has no faces")


def tangents(n: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors across a third one, and across each other."""
    x_is_across = less(absolute(n.x), 0.6)
    axis = Vec3(select(x_is_across, 1.0, 0.0), select(x_is_across, 0.0, 1.0), 0.0)
    a, _length = unit(axis - n * n.dot(axis))
    return a, n.cross(a)


def _of_box(box: Box, n: Vec3) -> list[Vec3]:
    x, y, z = absolute(n.x), absolute(n.y), absolute(n.z)
    toward = Vec3(sign_of(n.x) * box.x, sign_of(n.y) * box.y, sign_of(n.z) * box.z)
    is_z = less(maximum(x, y), z)
    is_y = less(x, y)

    def picked(of_x: Vec3, of_y: Vec3, of_z: Vec3) -> Vec3:
        return chosen(is_z, of_z, chosen(is_y, of_y, of_x))

    along = Vec3(toward.x, 0.0, 0.0), Vec3(0.0, toward.y, 0.0), Vec3(0.0, 0.0, toward.z)
    middle = picked(along[0], along[1], along[2])
    u, v = picked(along[1], along[2], along[0]), picked(along[2], along[0], along[1])
    return [middle + u + v, middle - u + v, middle - u - v, middle + u - v]


def _of_cylinder(cylinder: Cylinder, n: Vec3) -> list[Vec3]:
    radial, sine = unit(Vec3(n.x, n.y, 0.0))
    radial = chosen(less(sine, _UPRIGHT), Vec3(1.0, 0.0, 0.0), radial) * cylinder.radius
    lies = less(absolute(n.z), _NEARLY)
    up = Vec3(0.0, 0.0, sign_of(n.z) * cylinder.half_length)
    across = Vec3(-radial.y, radial.x, 0.0)
    return [
        radial + up,
        chosen(lies, radial + up, across + up),
        chosen(lies, radial - up, up - radial),
        chosen(lies, radial - up, up - across),
    ]


def _of_capsule(capsule: Capsule, n: Vec3) -> list[Vec3]:
    end = Vec3(0.0, 0.0, sign_of(n.z) * capsule.half_length)
    return [end, chosen(less(absolute(n.z), _NEARLY), -end, end)]


def _of_hull(hull: Hull, n: Vec3) -> list[Vec3]:
    a, b = tangents(n)
    directions: list[Vec3] = []
    for k in range(4):
        angle = _TURN + 0.5 * math.pi * k
        directions.append(n + a * (_NEARLY * math.cos(angle)) + b * (_NEARLY * math.sin(angle)))
    return farthest_each(hull.vertices, directions)
