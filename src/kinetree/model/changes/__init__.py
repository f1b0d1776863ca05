"""Changed robots: each change takes the parts of a robot and builds another from them."""

from kinetree.model.changes.methods import Changes

__all__ = ["Changes"]
