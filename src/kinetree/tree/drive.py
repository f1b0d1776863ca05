"""Effects along a joint outside rigid-body dynamics: friction, springs, and limits."""

from __future__ import annotations

import math

from kinetree.joints import JointKind
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["FRICTION_SPEED", "Drive", "HasDrive", "Limits"]

FRICTION_SPEED = 1e-2
"""The default speed within which Coulomb friction is smoothed, rad/s or m/s."""


@record(frozen=True, slots=True)
class Drive:
    """Friction and spring of one joint: one number per degree of freedom; for `rest`, one per coordinate."""

    damping: tuple[float, ...]
    friction: tuple[float, ...]
    friction_speed: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]

    @staticmethod
    def none(kind: JointKind) -> Drive:
        """No friction and no spring, with default values for their other parameters."""
        nothing = (0.0,) * kind.nv
        return Drive(nothing, nothing, (FRICTION_SPEED,) * kind.nv, nothing, kind.neutral())


class HasDrive:
    """The numbers of a joint's `drive` as attributes of the joint."""

    __slots__ = ()
    drive: Drive

    @property
    def damping(self) -> tuple[float, ...]:
        """Viscous damping, N·m·s/rad or N·s/m."""
        return self.drive.damping

    @property
    def friction(self) -> tuple[float, ...]:
        """Coulomb friction, N·m or N."""
        return self.drive.friction

    @property
    def friction_speed(self) -> tuple[float, ...]:
        """The speed s within which Coulomb friction F is smoothed, F tanh(v / s); rad/s or m/s."""
        return self.drive.friction_speed

    @property
    def stiffness(self) -> tuple[float, ...]:
        """Spring stiffness, N·m/rad or N/m."""
        return self.drive.stiffness

    @property
    def rest(self) -> tuple[float, ...]:
        """The coordinates at which the spring is at rest."""
        return self.drive.rest


@record(frozen=True, slots=True, repr=False)
class Limits:
    """Position limits per coordinate, velocity and effort limits per degree of freedom; infinite without limits."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]

    def __repr__(self) -> str:
        return call_text(self)

    @staticmethod
    def none(kind: JointKind) -> Limits:
        inf = math.inf
        return Limits((-inf,) * kind.nq, (inf,) * kind.nq, (inf,) * kind.nv, (inf,) * kind.nv)
