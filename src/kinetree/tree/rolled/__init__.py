"""Trees whose bodies are looped over, so that large robots run the same algorithm files."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names

if typing.TYPE_CHECKING:
    from kinetree.tree.rolled.memory import Knowledge, NotYetKnown, Slot
    from kinetree.tree.rolled.tree import RolledTree
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "memory": "Knowledge NotYetKnown Slot",
            "tree": "RolledTree",
        },
    )

__all__ = ["Knowledge", "NotYetKnown", "RolledTree", "Slot"]
