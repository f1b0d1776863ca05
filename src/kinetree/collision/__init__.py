"""Contact between shapes, on numbers of any kind: a fixed number of points per pair, without branches."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names

if typing.TYPE_CHECKING:
    from kinetree.collision.closest import closest
    from kinetree.collision.contact_point import FAR, ContactPoint
    from kinetree.collision.far_apart import contacts_nearby
    from kinetree.collision.pairs import contacts, has_loops, in_order, is_supported, slots, unsupported
    from kinetree.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Plane, Shape, Sphere
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "closest": "closest",
            "contact_point": "FAR ContactPoint",
            "far_apart": "contacts_nearby",
            "pairs": "contacts has_loops in_order is_supported slots unsupported",
            "shapes": "Box Capsule Cylinder Ellipsoid HeightField Hull Plane Shape Sphere",
        },
    )

__all__ = [
    "FAR",
    "Box",
    "Capsule",
    "ContactPoint",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "Hull",
    "Plane",
    "Shape",
    "Sphere",
    "closest",
    "contacts",
    "contacts_nearby",
    "has_loops",
    "in_order",
    "is_supported",
    "slots",
    "unsupported",
]
