"""Elements that are kept as they are written."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.model.extras import Unused
from kinetree.problems import place_of

__all__ = ["as_it_is", "with_defaults"]


def as_it_is(element: Element, keep: Sequence[str] | None = None) -> Unused:
    """An element with all in it; of its own attributes only those in `keep`, if it is given."""
    made: dict[int, Unused] = {}
    pending = [(element, False)]
    while pending:
        one, is_open = pending.pop()
        if not is_open:
            pending.append((one, True))
            pending += [(child, False) for child in one.children]
            continue
        chosen = keep if one is element else None
        attributes = tuple((key, text) for key, text in one.attributes.items() if chosen is None or key in chosen)
        children = tuple(made[id(child)] for child in one.children)
        made[id(one)] = Unused(one.tag, attributes, children, one.content.strip(), place_of(one))
    return made[id(element)]


def with_defaults(a: Attributes) -> Unused:
    """An element with the attributes that its default classes give it, which need not be kept then."""
    plain = as_it_is(a.element)
    attributes = {**a.texts(), **a.element.attributes}
    attributes.pop("class", None)
    return Unused(plain.tag, tuple(attributes.items()), plain.children, plain.text, plain.where)
