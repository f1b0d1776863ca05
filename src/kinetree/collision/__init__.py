"""Contact between shapes, on numbers of any kind: a fixed number of points per pair."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.collision.closest import closest
    from kinetree.collision.contact_point import FAR, ContactPoint
    from kinetree.collision.far_apart import contacts_nearby, is_beyond, reach
    from kinetree.collision.pairs import contacts, has_loops, in_order, is_supported, slots, unsupported
    from kinetree.collision.rays import MISSED, holds, ray_distance
    from kinetree.collision.shapes import (
        Box,
        Capsule,
        Cylinder,
        Ellipsoid,
        HeightField,
        Hull,
        Mesh,
        Plane,
        Shape,
        Sphere,
    )

__all__ = [
    "FAR",
    "MISSED",
    "Box",
    "Capsule",
    "ContactPoint",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "Hull",
    "Mesh",
    "Plane",
    "Shape",
    "Sphere",
    "closest",
    "contacts",
    "contacts_nearby",
    "has_loops",
    "holds",
    "in_order",
    "is_beyond",
    "is_supported",
    "ray_distance",
    "reach",
    "slots",
    "unsupported",
]
