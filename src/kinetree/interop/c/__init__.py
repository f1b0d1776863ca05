"""Functions as C99, for microcontrollers, for real-time loops and for other targets with a C compiler."""

from kinetree.interop.c.export import to_c
from kinetree.interop.c.source import CSource

__all__ = ["CSource", "to_c"]
