"""What acts along a joint besides rigid bodies: friction, springs, and what its motor can do at most."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FRICTION_SPEED", "Drive"]

FRICTION_SPEED = 1e-2
"""The default speed within which Coulomb friction is rounded off: F tanh(v / speed); rad/s or m/s."""


@dataclass(frozen=True, slots=True)
class Drive:
    """Numbers of one joint, a number a degree of freedom; `rest` a number a coordinate."""

    damping: tuple[float, ...]
    friction: tuple[float, ...]
    friction_speed: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
    effort: tuple[float, ...]
    velocity: tuple[float, ...]

    @staticmethod
    def none() -> Drive:
        """Of no degree of freedom."""
        return Drive((), (), (), (), (), (), ())
