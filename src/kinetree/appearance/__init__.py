"""How robots look: the shapes of their files as triangles with colours, whatever is drawn with them."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names

if typing.TYPE_CHECKING:
    from kinetree.appearance.footing import floor_height
    from kinetree.appearance.ground import Ground, ground_of
    from kinetree.appearance.looks import Looks, Part, Unseen
    from kinetree.appearance.placements import bounds_of, placements_of
    from kinetree.appearance.robots import Role, looks_of
    from kinetree.appearance.surface import Surface
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "footing": "floor_height",
            "ground": "Ground ground_of",
            "looks": "Looks Part Unseen",
            "placements": "bounds_of placements_of",
            "robots": "Role looks_of",
            "surface": "Surface",
        },
    )

__all__ = [
    "Ground",
    "Looks",
    "Part",
    "Role",
    "Surface",
    "Unseen",
    "bounds_of",
    "floor_height",
    "ground_of",
    "looks_of",
    "placements_of",
]
