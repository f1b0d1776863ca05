"""Simulators' properties of bodies, shapes and sites that a rigid-body model does not use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from kinetree.model.extras.change import Change, Unused, renamed
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["AbsentShape", "BodySettings", "ShapeSettings", "Site"]


@record(frozen=True, slots=True, repr=False)
class BodySettings:
    """Settings of a body."""

    REFERS: ClassVar[Mapping[str, str]] = {"body": "body"}

    body: str
    gravity_compensation: float = 0.0
    """How much of its weight is carried by a force at its centre of mass; 1 is all of it."""
    mocap: bool = False
    """Whether it is moved from outside; it is fixed to the world here."""
    sleep: str = "auto"
    """"auto", "never", "allowed" or "init": whether a simulation may stop computing it."""
    simple: str = "auto"
    principal_axes: tuple[float, ...] = ()
    """The principal axes of its inertia that the file's simulator uses, three numbers each, in the body's axes; known
    where forces of a medium depend on them."""
    user: tuple[float, ...] = ()
    plugin: Unused | None = None
    massless_center: tuple[float, ...] = ()
    """Where the file's simulator puts the centre of mass of a body without mass, in the body's frame; known where
    sensors measure it. () is the origin."""

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class ShapeSettings:
    """Settings of a shape, the geometry of this index of its body."""

    REFERS: ClassVar[Mapping[str, str]] = {"body": "body", "name": "own"}

    body: str
    index: int
    name: str = ""
    group: int = 0
    material: str = ""
    fluid_shape: str = "none"
    """"none" or "ellipsoid": how forces of a medium on it are computed."""
    fluid_coefficients: tuple[float, ...] = (0.5, 0.25, 1.5, 1.0, 1.0)
    """Drag of a blunt and of a slender body, of rotation; lift by Kutta and by Magnus."""
    casts_shadow: bool = True
    asset: str = ""
    """The mesh or height field that it shows, where that has no address because it is made in the file itself."""
    user: tuple[float, ...] = ()
    plugin: Unused | None = None
    smooth: bool = False
    """Whether things touch a smooth surface through the heights of a height field, instead of triangles."""

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class AbsentShape:
    """A shape whose data the robot has: of another object that a body may be (`Model.with_alternatives`)."""

    REFERS: ClassVar[Mapping[str, str]] = {"body": "body"}

    body: str
    alternative: str
    """The object's name."""
    index: int
    """The shape's place in its geometry."""
    asset: str
    """As in `ShapeSettings`; so is `smooth`."""
    smooth: bool = False

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class Site:
    """The shape of a site, whose frame is among the robot's; sensors of touch and tendons use it."""

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "body": "body", "frame": "frame"}

    name: str
    body: str
    frame: str
    """The name of its frame."""
    shape: str = "sphere"
    size: tuple[float, float, float] = (0.005, 0.005, 0.005)
    """Radius and half lengths, m."""
    mesh: str = ""
    group: int = 0
    material: str = ""
    color: tuple[float, ...] = (0.5, 0.5, 0.5, 1.0)
    user: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> Site | None:
        if self.mesh and (change.length != 1.0 or change.mirror is not None):
            return None
        other: Site | None = renamed(self, change)
        if other is None or change.length == 1.0:
            return other
        radius, y, z = (x * change.length for x in self.size)
        return replace(other, size=(radius, y, z))
