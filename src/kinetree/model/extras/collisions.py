"""Which bodies are checked for collisions with which, and spheres that replace their shapes, as SRDF files say."""

from __future__ import annotations

from dataclasses import replace

from kinetree.model.extras.change import Change
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["BodySpheres", "CollisionPair", "Sphere", "UncheckedBody"]


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
