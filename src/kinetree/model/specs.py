"""The parts of a robot as they are collected, before they are checked and frozen.

The records are not frozen themselves only because that triples the time to make one; nothing changes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.model.elements import Geometry, Limits, Mimic
from kinetree.model.joints import JointKind
from kinetree.spatial import Inertia, Transform

__all__ = ["FrameSpec", "JointSpec", "LinkSpec", "at"]


@dataclass(slots=True)
class LinkSpec:
    """A body; `where` prints as its place in a file, for messages."""

    name: str
    inertia: Inertia
    geometry: tuple[Geometry, ...]
    where: object


@dataclass(slots=True)
class JointSpec:
    """A joint, fixed ones included."""

    name: str
    kind: JointKind
    parent: str
    child: str
    placement: Transform
    limits: Limits
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    armature: tuple[float, ...]
    mimic: Mimic | None
    where: object


@dataclass(slots=True)
class FrameSpec:
    """A named frame."""

    name: str
    body: str
    placement: Transform
    where: object


def at(where: object, message: str) -> str:
    """A message that begins with the place it speaks of, if that is known."""
    return f"{where}: {message}" if where else message
