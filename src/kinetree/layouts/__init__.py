"""States in other libraries' layouts: the order of numbers, quaternions, and the axes of velocities."""

from kinetree.layouts.layout import Layout

__all__ = ["Layout"]
