"""Constraints of frames and tendons, as records: connections, welds, closed loops, limits of lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kinetree.algorithms.softness import Softness
from kinetree.contact_model.overrides import margin_again, softened_again
from kinetree.expr import Scalar
from kinetree.model.constraints import Constraint
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.spatial import Transform

if TYPE_CHECKING:
    from kinetree.algorithms.soft_equalities import Turning

__all__ = [
    "ConnectionSpec",
    "HeldFrame",
    "LengthSpec",
    "LoopSpec",
    "RoundShape",
    "TendonCoupling",
    "TendonFriction",
    "TendonInertia",
    "TendonLimit",
    "TendonRow",
]


@record(frozen=True, slots=True)
class HeldFrame:
    """A frame on a body."""

    body: str
    placement: Transform
    """From the body's frame to this one."""


@record(frozen=True, slots=True)
class ConnectionSpec:
    """Two frames whose origins are held together softly, and with `turning` their attitudes as well: a weld."""

    name: str
    first: HeldFrame
    second: HeldFrame
    softness: Softness
    turning: Turning | None

    def with_parameters(self, numbers: GivenNumbers) -> ConnectionSpec:
        """A copy with the softness that a call gives."""
        return replace(self, softness=softened_again(self.softness, numbers.rows.get(self.name, {})))


@record(frozen=True, slots=True)
class LoopSpec:
    """A closed loop, or a frame held to the world, that is almost rigid."""

    constraint: Constraint
    softness: Softness
    rotation: float
    """The inverse inertia of the rows that hold attitudes."""


@record(frozen=True, slots=True)
class RoundShape:
    """A sphere, or a cylinder about its frame's z, that a tendon goes around, on the side of a point if it has one.

    A tendon goes through the inside if that point is there.
    """

    frame: HeldFrame
    radius: float
    is_sphere: bool
    side: HeldFrame | None
    is_inside: bool


@record(frozen=True, slots=True)
class LengthSpec:
    """The length of a tendon: a weighted sum of joint coordinates, or of a way through points and around shapes."""

    tendon: str
    terms: tuple[tuple[str, float], ...]
    """Joints and factors."""
    stretches: tuple[tuple[tuple[HeldFrame | RoundShape, ...], float], ...] = ()
    """The points and shapes of each part between pulleys, and its divisor."""


@record(frozen=True, slots=True)
class TendonLimit:
    """The smallest and the largest length of a tendon."""

    length: LengthSpec
    lower: float
    upper: float
    margin: Scalar
    softness: Softness

    def with_parameters(self, numbers: GivenNumbers) -> TendonLimit:
        """A copy with the margin and the softness that a call gives."""
        own = numbers.rows.get(self.length.tendon, {})
        return replace(
            self, margin=margin_again(self.margin, own), softness=softened_again(self.softness, own, "_limit")
        )


@record(frozen=True, slots=True)
class TendonFriction:
    """Dry friction of a tendon."""

    length: LengthSpec
    loss: Scalar
    softness: Softness

    def with_parameters(self, numbers: GivenNumbers) -> TendonFriction:
        """A copy with the friction and the softness that a call gives."""
        own = numbers.rows.get(self.length.tendon, {})
        (loss,) = own.get("friction", (self.loss,))
        return replace(self, loss=loss, softness=softened_again(self.softness, own, "_friction"))


@record(frozen=True, slots=True)
class TendonCoupling:
    """A tendon that follows another one softly, or is held; as `CouplingSpec`, with lengths."""

    name: str
    first: LengthSpec
    second: LengthSpec | None
    coefficients: tuple[float, float, float, float, float]
    reference: tuple[float, float]
    softness: Softness

    def with_parameters(self, numbers: GivenNumbers) -> TendonCoupling:
        """A copy with the softness that a call gives."""
        return replace(self, softness=softened_again(self.softness, numbers.rows.get(self.name, {})))


@record(frozen=True, slots=True)
class TendonInertia:
    """Armature of a tendon that several joints move, kg: ½ m ℓ̇² of kinetic energy."""

    length: LengthSpec
    armature: float

    def with_parameters(self, _: GivenNumbers) -> TendonInertia:
        """The same: its number is not a parameter."""
        return self


TendonRow = TendonLimit | TendonFriction | TendonCoupling | TendonInertia
