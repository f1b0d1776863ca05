"""Effects along a joint besides rigid-body dynamics: friction, springs, and motor limits."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FRICTION_SPEED", "Drive"]

FRICTION_SPEED = 1e-2
"""The default speed within which Coulomb friction is smoothed: F tanh(v / speed); rad/s or m/s."""


@dataclass(frozen=True, slots=True)
class Drive:
    """Drive parameters of one joint: one number per degree of freedom; for `rest`, one per coordinate."""

    damping: tuple[float, ...]
    friction: tuple[float, ...]
    friction_speed: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
    effort: tuple[float, ...]
    velocity: tuple[float, ...]

    @staticmethod
    def none() -> Drive:
        """The drive of a joint without degrees of freedom."""
        return Drive((), (), (), (), (), (), ())
