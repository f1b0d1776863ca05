"""Sensors as records: all that their numbers depend on, other than the rigid bodies."""

from __future__ import annotations

from dataclasses import replace

from kinetree.actuation import Actuation
from kinetree.actuation.tendons import PulledTendon
from kinetree.collision import Shape
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.spatial import Transform

__all__ = ["ContactSensing", "Place", "PlacedShape", "SensorChoice", "SensorSpec", "Side"]


@record(frozen=True, slots=True)
class Place:
    """The place of a frame on a body, or by its own name."""

    body: str = ""
    frame: str = ""
    offset: Transform = Transform.identity()
    """From the body's frame."""
    is_center: bool = False
    """Whether it is at the body's centre of mass, and at the offset only if the body has no mass."""


@record(frozen=True, slots=True)
class PlacedShape:
    """A shape, and where it is."""

    shape: Shape
    place: Place


@record(frozen=True, slots=True)
class Side:
    """One side of the contacts that a sensor is about: some bodies, or a shape by its name; all if both are empty."""

    bodies: tuple[str, ...] = ()
    shape: str = ""

    @property
    def is_any(self) -> bool:
        return not self.bodies and not self.shape

    def has(self, body: str | None, shape: str) -> bool:
        """Whether a shape on a body is one of them."""
        return self.is_any or (bool(self.shape) and shape == self.shape) or body in self.bodies


@record(frozen=True, slots=True)
class ContactSensing:
    """The contacts that a sensor is about, and the quantities it measures."""

    sides: tuple[Side, Side]
    data: tuple[str, ...]
    reduction: str
    count: int


@record(frozen=True, slots=True)
class SensorSpec:
    """A sensor."""

    kind: str
    cutoff: float = 0.0
    joint: str = ""
    tendon: str = ""
    terms: tuple[tuple[str, float], ...] = ()
    """The joints and factors of a tendon."""
    actuators: tuple[int, ...] = ()
    """The numbers of the actuators that it is about."""
    place: Place = Place()
    reference: Place | None = None
    bodies: tuple[str, ...] = ()
    """The bodies that it is about: one with all that it carries."""
    field: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The magnetic field, in the world."""
    zone: PlacedShape | None = None
    """The site whose inside is sensed."""
    contact: ContactSensing | None = None
    shapes: tuple[tuple[PlacedShape, ...], tuple[PlacedShape, ...]] = ((), ())
    """The shapes whose distance it measures, or that its ray may meet."""
    data: tuple[str, ...] = ()
    """The quantities it measures of a ray."""
    springs: tuple[PulledTendon, ...] = ()
    """Tendons with springs, whose energy counts."""
    has_springs: bool = True
    """Whether the energy of springs counts."""


@record(frozen=True, slots=True)
class SensorChoice:
    """Sensors of a robot, by their numbers in its file."""

    numbers: tuple[int, ...]
    specs: tuple[SensorSpec, ...]
    actuation: Actuation = Actuation()
    """The actuators, if a sensor is on one."""

    def with_parameters(self, given: GivenNumbers) -> SensorChoice:
        """A copy with the numbers that a call gives."""
        return replace(self, actuation=self.actuation.with_parameters(given))

    @property
    def has_clock(self) -> bool:
        """Whether a sensor measures the time."""
        return any(spec.kind == "clock" for spec in self.specs)
