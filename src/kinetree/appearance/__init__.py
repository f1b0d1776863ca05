"""How robots look: the shapes of their files as triangles with colours, whatever is drawn with them."""

from kinetree.appearance.looks import Looks, Part, Unseen
from kinetree.appearance.surface import Surface

__all__ = ["Looks", "Part", "Surface", "Unseen"]
