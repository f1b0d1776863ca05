"""Trees whose bodies are looped over, so that large robots run the same algorithm files."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.tree.rolled.memory import Knowledge, NotYetKnown, Slot
    from kinetree.tree.rolled.tree import RolledTree

__all__ = ["Knowledge", "NotYetKnown", "RolledTree", "Slot"]
