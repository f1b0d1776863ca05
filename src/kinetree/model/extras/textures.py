"""Images on shapes."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path

from kinetree.model.extras.change import Change
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Texture"]


@record(frozen=True, slots=True, repr=False)
class Texture:
    """An image on a shape of a body."""

    body: str
    shape: int
    """The shape's place in the body's `geometry`."""
    file: str
    """Its address, as it is in the file."""
    material: str = ""
    path: Path | None = field(default=None, compare=False)
    """Its path on disk, if it lies inside the given roots."""

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> Texture | None:
        return replace(self, body=change.bodies[self.body]) if self.body in change.bodies else None
