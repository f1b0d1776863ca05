"""The parts of a robot as they are collected, before they are checked and frozen.

The records are not frozen themselves only because that triples the time to make one; nothing changes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kinetree.model.elements import Geometry, Limits, Mimic, Rotor
from kinetree.model.joints import JointKind
from kinetree.spatial import Inertia, Transform

__all__ = ["CouplingSpec", "FrameSpec", "JointSpec", "LinkSpec", "Parts", "at"]


@dataclass(slots=True)
class LinkSpec:
    """A body; `where` prints as its place in a file, for messages."""

    name: str
    inertia: Inertia
    geometry: tuple[Geometry, ...]
    where: object = field(default="", compare=False)


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
    friction_speed: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
    armature: tuple[float, ...]
    rotor: Rotor | None = None
    mimic: Mimic | None = None
    where: object = field(default="", compare=False)


@dataclass(slots=True)
class FrameSpec:
    """A named frame."""

    name: str
    body: str
    placement: Transform
    where: object = field(default="", compare=False)


@dataclass(slots=True)
class CouplingSpec:
    """Joints whose coordinates are `matrix` times fewer (or other) coordinates, plus `offset`."""

    name: str
    joints: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    """A row a coordinate of the joints, in their order."""
    offset: tuple[float, ...]
    coordinates: tuple[str, ...]
    """A short name a column."""
    where: object = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Parts:
    """All that a robot is made of, as it was given: what a changed robot is built from."""

    name: str
    gravity: tuple[float, float, float]
    links: tuple[LinkSpec, ...]
    joints: tuple[JointSpec, ...]
    frames: tuple[FrameSpec, ...]
    couplings: tuple[CouplingSpec, ...]
    floating_base: bool
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was assumed before it was built."""
    source: str = field(default="", compare=False)


def at(where: object, message: str) -> str:
    """A message that begins with the place it speaks of, if that is known."""
    return f"{where}: {message}" if where else message
