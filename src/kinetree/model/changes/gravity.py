"""Another acceleration of free fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kinetree.model.changes.common import Changed, changed
from kinetree.model.given import gravity_of
from kinetree.model.robot import Robot

__all__ = ["with_gravity"]


def with_gravity(model: Robot, gravity: Sequence[float]) -> Changed:
    """See `Model.with_gravity`."""
    given = gravity_of(gravity)
    return changed(replace(model.parts, gravity=given), f"gravity is {_text(given)} m/s², not {_text(model.gravity)}")


def _text(numbers: Sequence[float]) -> str:
    return f"({', '.join(f'{x:.12g}' for x in numbers)})"
