"""Robots whose bodies are looped over, for kernels of big trees from the same algorithm files."""

from kinetree.model.rolled.memory import Knowledge, NotYetKnown
from kinetree.model.rolled.model import RolledModel, RolledSource
from kinetree.model.rolled.tree import RolledTree

__all__ = ["Knowledge", "NotYetKnown", "RolledModel", "RolledSource", "RolledTree"]
