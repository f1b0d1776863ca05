"""How robots look: the shapes of their files as triangles with colours, for every way of drawing."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.appearance.ground import Ground, floor_height, ground_of
    from kinetree.appearance.looks import Looks, Part, Surface, Unseen
    from kinetree.appearance.placements import bounds_of, placements_of
    from kinetree.appearance.robots import Role, looks_of

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
