"""Functions as C99, for microcontrollers, for real-time loops and for whatever else has a C compiler."""

from kinetree.interop.c.export import to_c
from kinetree.interop.c.source import CSource

__all__ = ["CSource", "to_c"]
