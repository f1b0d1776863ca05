"""Actuators as records, before a configuration is known; their targets are given by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.algorithms.actuators import ActuatorLaw
    from kinetree.algorithms.muscles import Muscle

__all__ = [
    "Actuation",
    "ActuatorSpec",
    "BallSpec",
    "CoordinateSpec",
    "FreeSpec",
    "GravityCompensation",
    "SiteSpec",
    "SliderCrankSpec",
    "TendonSpec",
    "TransmissionSpec",
]

Axis = tuple[float, float, float]
Range = tuple[float, float]


@record(frozen=True, slots=True)
class CoordinateSpec:
    """A joint with one coordinate."""

    joint: str
    gear: float


@record(frozen=True, slots=True)
class BallSpec:
    """An axis of a ball joint."""

    joint: str
    axis: Axis
    in_parent: bool
    """Whether the axis is one of the joint's fixed side; otherwise of its moving side."""


@record(frozen=True, slots=True)
class FreeSpec:
    """A force and a torque on the body of a free joint."""

    joint: str
    force: Axis
    torque: Axis
    in_parent: bool


@record(frozen=True, slots=True)
class TendonSpec:
    """A tendon whose length is a weighted sum of joint coordinates."""

    tendon: str
    terms: tuple[tuple[str, float], ...]
    gear: float


@record(frozen=True, slots=True)
class SiteSpec:
    """A force and a torque at a site, in its axes; or along those of another site, as which sees its motion counts."""

    site: str
    """The name of its frame."""
    force: Axis
    torque: Axis
    reference: str = ""
    """The name of the other site's frame; empty without one."""


@record(frozen=True, slots=True)
class SliderCrankSpec:
    """A slider along the z axis of one site, whose rod ends at another one, on the crank."""

    crank: str
    """The name of that site's frame."""
    slider: str
    rod: float
    """m"""
    gear: float


TransmissionSpec = CoordinateSpec | BallSpec | FreeSpec | TendonSpec | SiteSpec | SliderCrankSpec


@record(frozen=True, slots=True)
class ActuatorSpec:
    """An actuator: its transmission, and the law of its force."""

    name: str
    transmission: TransmissionSpec
    law: ActuatorLaw
    is_disabled: bool = False
    muscle: Muscle | None = None
    """Its force and activation, where it is a muscle; the law then has the ranges."""
    ease: float = 0.0
    """How fast a force of 1 accelerates the length in the reference configuration; 0 unless the force depends on it."""


@record(frozen=True, slots=True)
class GravityCompensation:
    """The parts of bodies' weights that are carried, by the names of the bodies."""

    bodies: tuple[tuple[str, float], ...] = ()
    by_actuators: tuple[str, ...] = ()
    """The joints whose actuators carry them; at the others it is a passive force."""


@record(frozen=True, slots=True)
class Actuation:
    """All actuators of a robot, in the order of the file."""

    actuators: tuple[ActuatorSpec, ...] = ()
    is_on: bool = True
    tendon_ranges: tuple[tuple[str, Range], ...] = ()
    """Ranges of the sum of the forces along a tendon."""
    joint_ranges: tuple[tuple[str, Range], ...] = ()
    """Ranges of the force of all actuators on a joint with one coordinate."""
    compensation: GravityCompensation = GravityCompensation()
    timestep: float = 0.002
    """The time step of the file, s."""

    @property
    def with_activation(self) -> list[int]:
        """The actuators that have an activation, by their numbers."""
        return [k for k, one in enumerate(self.actuators) if one.law.dynamics != "none"]

    @property
    def looks_ahead(self) -> bool:
        """Whether a force depends on the length of the time step."""
        return any(one.law.acts_early and one.law.dynamics != "none" for one in self.actuators)
