"""The one place where two shapes are nearest, or where they overlap most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.collision.box_distance import box_box_nearest
from kinetree.collision.capsules import capsule_capsule_nearest
from kinetree.collision.contact_point import FAR, ContactPoint, nearest
from kinetree.collision.convex import convex_convex
from kinetree.collision.pairs import ITERATIVE, contacts, in_order
from kinetree.collision.shapes import Shape
from kinetree.spatial import Transform

__all__ = ["closest"]

_OWN: dict[tuple[str, str], Callable[[Any, Transform, Any, Transform], ContactPoint]] = {
    ("capsule", "capsule"): capsule_capsule_nearest,
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
