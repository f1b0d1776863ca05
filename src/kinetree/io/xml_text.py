"""XML text for people: one element per line, two blanks per level, attributes in the order given."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinetree.errors import ModelError

__all__ = ["Tag", "flag", "shown_number", "shown_numbers"]

_CANNOT_BE_WRITTEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = str.maketrans({
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;",
})  # fmt: skip


class Tag:
    """An element to be written; attributes whose value is None are left out."""

    __slots__ = ("attributes", "children", "tag", "text")

    def __init__(self, tag: str, text: str | None = None, /, **attributes: str | None) -> None:
        self.tag: str = tag
        self.text: str | None = text
        self.attributes: dict[str, str] = {name.rstrip("_"): x for name, x in attributes.items() if x is not None}
        self.children: list[Tag] = []

    def add(self, tag: str, text: str | None = None, /, **attributes: str | None) -> Tag:
        """Append a child and return it."""
        child = Tag(tag, text, **attributes)
        self.children.append(child)
        return child

    def document(self) -> str:
        """The text of a file whose root this is.

        Raises `ModelError` for a text that holds a character that XML has no place for.
        """
        lines = ['<?xml version="1.0" encoding="utf-8"?>']
        waiting: list[tuple[str, Tag | str]] = [("", self)]
        while waiting:  # not by recursion: a tree may be thousands of bodies deep
            indent, element = waiting.pop()
            if isinstance(element, str):
                lines.append(f"{indent}</{element}>")
                continue
            attributes = "".join(f' {name}="{_escaped(value)}"' for name, value in element.attributes.items())
            text = "" if element.text is None else _within(element.text)
            if not element.children and element.text is not None:
                lines.append(f"{indent}<{element.tag}{attributes}>{text}</{element.tag}>")
            elif not element.children:
                lines.append(f"{indent}<{element.tag}{attributes}/>")
            else:
                lines.append(f"{indent}<{element.tag}{attributes}>{text}")
                waiting.append((indent, element.tag))
                waiting += [(indent + "  ", child) for child in reversed(element.children)]
        return "\n".join(lines) + "\n"


def shown_number(x: float) -> str:
    """The shortest decimal that is read as the same number.

    >>> shown_number(0.1), shown_number(2.0), shown_number(-0.0)
    ('0.1', '2', '0')
    """
    text = repr(float(x) + 0.0)
    return text[:-2] if text.endswith(".0") else text


def shown_numbers(numbers: Sequence[float]) -> str:
    """Several numbers, separated by blanks."""
    return " ".join(map(shown_number, numbers))


def flag(value: bool) -> str:
    """`true` or `false`."""
    return "true" if value else "false"


def _within(text: str) -> str:
    """Text between tags, where only these characters have another meaning."""
    return _escaped(text).replace("&#10;", "\n").replace("&#9;", "\t").replace("&quot;", '"')


def _escaped(text: str) -> str:
    if wrong := _CANNOT_BE_WRITTEN.search(text):
        raise ModelError(f"{text!r:.60} holds the character {wrong[0]!r}, which XML has no place for; rename the part")
    return text.translate(_ESCAPES)
