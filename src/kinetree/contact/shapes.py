"""The shapes of a robot that may touch others, in the order of its file."""

from __future__ import annotations

from kinetree.collision import Shape
from kinetree.collision.shapes import simple_shape
from kinetree.model import Geometry, Model
from kinetree.model.extras import ContactParameters
from kinetree.records import record

__all__ = ["Surface", "surfaces"]

_USUAL = ContactParameters()


@record(frozen=True, slots=True)
class Surface:
    """A shape of a body, and how it touches."""

    place: tuple[int, int]
    """The body's place in `robot.bodies`, and the shape's in the body's `geometry`."""
    body: str
    name: str
    """Its own, or the body's with its place in the body's `geometry`, such as "foot[0]"."""
    geometry: Geometry
    contact: ContactParameters
    is_plain: bool
    """Whether its file says nothing of contacts; then these are the usual parameters."""


def surfaces(robot: Model) -> list[Surface]:
    """All shapes with contact parameters, and those for collisions of files that have none."""
    found = []
    for i, body in enumerate(robot.bodies.values()):
        for k, shape in enumerate(body.geometry):
            if shape.may_touch:
                name = shape.name or f"{body.name}[{k}]"
                found.append(
                    Surface((i, k), body.name, name, shape, shape.contact or _USUAL, is_plain=shape.contact is None)
                )
    return found


def kind_of(geometry: Geometry) -> str:
    """Its kind among those of collisions."""
    return _KINDS.get(geometry.shape, geometry.shape)


def shape_of(geometry: Geometry) -> Shape | None:
    """The shape as collisions see it; None where that is not possible."""
    return simple_shape(geometry.shape, geometry.size)


_KINDS = {"mesh": "hull"}
