"""Elements that say nothing about rigid bodies, kept as they are written."""

from __future__ import annotations

from kinetree.io.document import Element
from kinetree.model.extras import Unused

__all__ = ["MAX_RAW", "as_written", "count"]

MAX_RAW = 200_000
_LONGEST = 100_000


def as_written(element: Element) -> Unused:
    """The element with all that is in it."""
    text = element.content.strip()
    if len(text) > _LONGEST:
        element.fail(f"holds {len(text):,} characters of text; the limit is {_LONGEST:,}")
    return Unused(
        element.tag, tuple(element.attributes.items()), tuple(map(as_written, element.children)), text, str(element)
    )


def count(element: Element) -> int:
    """The number of elements in it, itself included."""
    return 1 + sum(map(count, element.children))
