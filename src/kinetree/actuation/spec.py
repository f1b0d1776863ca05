"""Actuators as records, before a configuration is known; their targets are given by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from kinetree.expr import Scalar
from kinetree.model.actuator_parameters import given_law
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.algorithms.actuators import ActuatorLaw
    from kinetree.algorithms.muscles import Muscle
    from kinetree.model.extras import Actuator
    from kinetree.model.parameters import GivenNumbers

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
    gear: Scalar


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
    gear: Scalar


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
    gear: Scalar


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
    ease: Scalar = 0.0
    """How fast a force of 1 accelerates the length in the reference configuration; 0 unless the force depends on it."""
    settings: Actuator | None = field(default=None, compare=False, repr=False)
    """The record of the file, whose numbers all of that has."""

    def with_parameters(self, given: Mapping[str, Sequence[Scalar]]) -> ActuatorSpec:
        """A copy with the numbers that a call gives."""
        if not given:
            return self
        assert self.settings is not None
        gain, bias = given_law(self.settings, self.law.gain, self.law.bias, given)
        limits = self.law.force_range
        if "force_range" in given:
            low, high = given["force_range"]
            limits = low, high
        transmission, ease = self.transmission, self.ease
        if "gear" in given and isinstance(transmission, CoordinateSpec | TendonSpec | SliderCrankSpec):
            (gear,), own = given["gear"], transmission.gear
            transmission = replace(transmission, gear=gear)
            ease = ease * (gear * gear * (1.0 / (own * own))) if own else ease
        law = replace(self.law, gain=gain, bias=bias, force_range=limits)
        return replace(self, transmission=transmission, law=law, ease=ease)


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
    kept_ranges: tuple[tuple[int, tuple[str, Range]], ...] = ()
    """Other ranges of joints, with the number of the only actuator there, whose own range and gear keep them."""

    def with_parameters(self, numbers: GivenNumbers) -> Actuation:
        """A copy with the numbers that a call gives."""
        given = numbers.actuators
        actuators = tuple(one.with_parameters(given.get(k, {})) for k, one in enumerate(self.actuators))
        ranges = (x for k, x in self.kept_ranges if {"gear", "force_range"} & given.get(k, {}).keys())
        return replace(self, actuators=actuators, joint_ranges=(*self.joint_ranges, *ranges))

    @property
    def with_activation(self) -> list[int]:
        """The actuators that have an activation, by their numbers."""
        return [k for k, one in enumerate(self.actuators) if one.law.dynamics != "none"]

    @property
    def looks_ahead(self) -> bool:
        """Whether a force depends on the length of the time step."""
        return any(actuator.law.acts_early and actuator.law.dynamics != "none" for actuator in self.actuators)
