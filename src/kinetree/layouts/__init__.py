"""States in other libraries' layouts: orders of numbers, quaternions, and the axes that velocities are in."""

from kinetree.layouts.layout import Layout

__all__ = ["Layout"]
