"""Robots as text and back: the versioned text form of docs/model_text.md."""

from kinetree.io.native.text import from_text, native_text

__all__ = ["from_text", "native_text"]
