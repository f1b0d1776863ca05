"""Robots as text and back: the versioned text form of docs/model_text.md."""

from kinetree.model.serial.methods import TextForm

__all__ = ["TextForm"]
