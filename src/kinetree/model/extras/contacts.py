"""Contacts of shapes: their parameters, pairs that touch regardless of these, and bodies that never touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from kinetree.model.extras.change import Change
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = [
    "BodySpheres",
    "CollisionPair",
    "ContactExclusion",
    "ContactPair",
    "ContactParameters",
    "Sphere",
    "UncheckedBody",
]


@record(frozen=True, slots=True, repr=False)
class ContactParameters:
    """How a shape touches others, with MuJoCo's meaning and defaults of each number."""

    contype: int = 1
    """Two shapes may touch if one's `contype` and the other's `conaffinity` share a bit."""
    conaffinity: int = 1
    condim: int = 3
    """Dimension of the contact force: 1 normal, 3 with sliding, 4 with torsional, 6 with rolling friction."""
    priority: int = 0
    friction: tuple[float, float, float] = (1.0, 0.005, 0.0001)
    """Coefficients of sliding, torsional (m) and rolling (m) friction."""
    solmix: float = 1.0
    solref: tuple[float, float] = (0.02, 1.0)
    solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    margin: float = 0.0
    """The distance below which a contact is considered, m."""
    gap: float = 0.0
    surface_velocity: tuple[float, ...] = ()
    adhesion: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class ContactPair:
    """Two shapes whose contacts are computed regardless of their own parameters."""

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "shape1": "geom", "shape2": "geom"}

    shape1: str
    shape2: str
    name: str = ""
    condim: int = 3
    friction: tuple[float, ...] = (1.0, 1.0, 0.005, 0.0001, 0.0001)
    """Coefficients of sliding in two directions, of torsional (m) and of rolling friction in two directions (m)."""
    solref: tuple[float, float] = (0.02, 1.0)
    solref_friction: tuple[float, float] = (0.0, 0.0)
    """0 0: as `solref`."""
    solimp: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)
    margin: float = 0.0
    gap: float = 0.0
    adhesion: float = 0.0

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class ContactExclusion:
    """Two bodies whose shapes never touch each other."""

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "body1": "body", "body2": "body"}

    body1: str
    body2: str
    name: str = ""

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class CollisionPair:
    """Whether collisions between two bodies are checked."""

    body1: str
    body2: str
    checked: bool = False
    reason: str = ""
    """Such as "Adjacent" or "Never"."""

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> CollisionPair | None:
        bodies = change.bodies
        if self.body1 not in bodies or self.body2 not in bodies:
            return None
        return replace(self, body1=bodies[self.body1], body2=bodies[self.body2])


@record(frozen=True, slots=True, repr=False)
class UncheckedBody:
    """A body whose collisions are checked only with those of its `CollisionPair`s that say so."""

    body: str

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> UncheckedBody | None:
        return UncheckedBody(change.bodies[self.body]) if self.body in change.bodies else None


@record(frozen=True, slots=True, repr=False)
class Sphere:
    """A ball in a body's frame, m."""

    center: tuple[float, float, float]
    radius: float

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class BodySpheres:
    """Balls that together approximate a body's shape; one of radius zero means that it touches nothing."""

    body: str
    spheres: tuple[Sphere, ...]

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> BodySpheres | None:
        if self.body not in change.bodies or self.body in change.moved:
            return None
        spheres = []
        for ball in self.spheres:
            x, y, z = (-c if k == change.mirror else c for k, c in enumerate(ball.center))
            L = change.length
            spheres.append(Sphere((x * L, y * L, z * L), ball.radius * L))
        return BodySpheres(change.bodies[self.body], tuple(spheres))
