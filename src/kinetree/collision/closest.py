"""The one place where two shapes are nearest, or where they overlap most.

The distance of two boxes: exact when they are apart, and the least depth when they overlap.

Of boxes that are apart, the nearest points are a corner of one and any point of the other, or they are on two edges
that support the boxes along the product of these: 16 corners and nine products of edges. All candidates are points of
the boxes, so the smallest distance among them is right even where some candidate is not a local minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from kinetree.collision.box_axes import EdgeAxis, TwoBoxes, best_edge, best_face, edge_axes, two_boxes
from kinetree.collision.box_box import box_contacts, edge_points
from kinetree.collision.capsules import capsule_capsule_nearest
from kinetree.collision.contact_point import FAR, ContactPoint, along, chosen, clipped, either, nearest, unit
from kinetree.collision.convex import convex_convex
from kinetree.collision.pairs import ITERATIVE, contacts, in_order
from kinetree.collision.shapes import Box, Capsule, Shape
from kinetree.expr import Scalar, less, less_equal, maximum, select
from kinetree.spatial import Transform, Vec3

__all__ = ["closest"]


def box_box_nearest(a: Box, X_a: Transform, b: Box, X_b: Transform) -> ContactPoint:
    boxes = two_boxes(a, X_a, b, X_b)
    axes = list(edge_axes(boxes))
    face = best_face(boxes, X_a, X_b)
    edge, _ = best_edge(axes, face.separation)
    separation = maximum(face.separation, edge.separation)
    by_edges = less(face.separation, edge.separation)
    deepest = nearest(box_contacts(boxes, face, edge, by_edges, X_a, X_b))
    deepest = ContactPoint(separation, deepest.position, deepest.normal, deepest.tangent)
    return either(less_equal(separation, 0.0), deepest, _apart(boxes, axes, X_a))


def capsule_box_nearest(a: Capsule, X_a: Transform, b: Box, X_b: Transform) -> ContactPoint:
    """The place of the capsule's segment, a box without width, moved by the radius.

    The contacts look at the segment's ends and the box's edges alone, as MuJoCo's do, and miss one that goes through.
    """
    core = box_box_nearest(Box(0.0, 0.0, a.half_length), X_a, b, X_b)
    return along(core.normal, core.distance - a.radius, core.position + core.normal * (0.5 * a.radius))


def _apart(boxes: TwoBoxes, axes: list[EdgeAxis], X_a: Transform) -> ContactPoint:
    """The nearest points of boxes that do not overlap."""
    R, center = boxes.R, boxes.center
    pairs: list[tuple[Vec3, Vec3]] = []
    for corner in _corners(boxes.half_b):
        point = center + R @ corner
        pairs.append((_into(point, boxes.half_a), point))
    pairs += [(corner, center + R @ _into(R.T @ (corner - center), boxes.half_b)) for corner in _corners(boxes.half_a)]
    for edge in axes:
        axis = edge.axis * select(less(edge.axis.dot(center), 0.0), -1.0, 1.0)
        pairs.append(edge_points(boxes, axis, edge.edge_a, edge.edge_b))
    on_a, on_b = pairs[0]
    least: Scalar = _squared(on_b - on_a)
    for p, q in pairs[1:]:
        squared = _squared(q - p)
        nearer = less(squared, least)
        least = select(nearer, squared, least)
        on_a, on_b = chosen(nearer, p, on_a), chosen(nearer, q, on_b)
    direction, distance = unit(on_b - on_a)
    return along(X_a.E.T @ direction, distance, X_a.r + X_a.E.T @ ((on_a + on_b) * 0.5))


def _corners(half: Vec3) -> list[Vec3]:
    return [Vec3(x * half.x, y * half.y, z * half.z) for x, y, z in product((-1.0, 1.0), repeat=3)]


def _into(p: Vec3, half: Vec3) -> Vec3:
    """The nearest point of a box about the origin."""
    return Vec3(clipped(p.x, -half.x, half.x), clipped(p.y, -half.y, half.y), clipped(p.z, -half.z, half.z))


def _squared(v: Vec3) -> Scalar:
    return v.dot(v)


_OWN: dict[tuple[str, str], Callable[[Any, Transform, Any, Transform], ContactPoint]] = {
    ("capsule", "capsule"): capsule_capsule_nearest,
    ("capsule", "box"): capsule_box_nearest,
    ("box", "box"): box_box_nearest,
    **dict.fromkeys(ITERATIVE, lambda a, X_a, b, X_b: convex_convex(a, X_a, b, X_b)[0]),
}
"""The pairs whose nearest place is not always among their contacts."""


def closest(a: Shape, X_a: Transform, b: Shape, X_b: Transform) -> ContactPoint:
    """The place of the smallest signed distance of two shapes, with the normal from a to b."""
    if not in_order(a.kind, b.kind):
        return closest(b, X_b, a, X_a).flipped()
    own = _OWN.get((a.kind, b.kind))
    return own(a, X_a, b, X_b) if own is not None else nearest(contacts(a, X_a, b, X_b, FAR))
