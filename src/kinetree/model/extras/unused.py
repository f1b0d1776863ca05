"""Parts of files that have no meaning in kinetree."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Unused"]


@record(frozen=True, slots=True, repr=False)
class Unused:
    """A part of a file that has no meaning in kinetree, as it is written there."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Unused, ...] = ()
    text: str = ""
    """The text in it, without blanks around it."""
    where: object = field(default="", compare=False)
    """Its place in the file: `str` of it is file, line and element."""
    path: Path | None = field(default=None, compare=False)
    """The path on disk of the image of a texture, if it lies inside the given roots."""

    def __repr__(self) -> str:
        return call_text(self)
