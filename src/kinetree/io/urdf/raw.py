"""Elements that say nothing about rigid bodies, kept as they are written."""

from __future__ import annotations

from kinetree.io.document import MAX_RAW, Element
from kinetree.model import extras
from kinetree.problems import place_of

__all__ = ["MAX_RAW", "as_written", "count"]

_LONGEST = 100_000
_DEEPEST = 60
"""The depth of records that texts, pickles and comparisons can go through."""


def as_written(element: Element, depth: int = 0) -> extras.Unused:
    """The element with all that is in it."""
    if depth > _DEEPEST:
        element.fail(f"elements that are kept as data are nested more than {_DEEPEST} deep here")
    text = element.content.strip()
    if len(text) > _LONGEST:
        element.fail(f"holds {len(text):,} characters of text; the limit is {_LONGEST:,}")
    inside = tuple([as_written(child, depth + 1) for child in element.children])
    return extras.Unused(element.tag, tuple(element.attributes.items()), inside, text, place_of(element))


def count(element: Element) -> int:
    """The number of elements in it, itself included."""
    total, pending = 0, [element]
    while pending:
        total += 1
        pending.extend(pending.pop().children)
    return total
