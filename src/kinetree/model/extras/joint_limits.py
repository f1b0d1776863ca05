"""Limits and reference positions of joints, for controllers."""

from __future__ import annotations

import math
from dataclasses import replace

from kinetree.model.extras.change import Change
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Calibration", "MotionLimits", "SafetyLimits"]


@record(frozen=True, slots=True, repr=False)
class MotionLimits:
    """The largest acceleration, deceleration and jerk of a joint, of each of its degrees of freedom.

    In rad/s² and rad/s³, or m/s² and m/s³; infinite without a limit.
    """

    joint: str
    acceleration: float = math.inf
    deceleration: float = math.inf
    jerk: float = math.inf

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> MotionLimits | None:
        factors = set(change.factors.get(self.joint, ()))
        if len(factors) != 1 or self.joint not in change.joints:
            return None
        size = abs(factors.pop())
        return MotionLimits(
            change.joints[self.joint], self.acceleration * size, self.deceleration * size, self.jerk * size
        )


@record(frozen=True, slots=True, repr=False)
class SafetyLimits:
    """Soft limits of a joint, which a controller keeps by its gains (URDF's `<safety_controller>`).

    At position q the velocity stays between -k_position (q - soft_lower) and -k_position (q - soft_upper), and the
    effort within k_velocity times the distance of the velocity to these bounds.
    """

    joint: str
    k_velocity: float
    k_position: float | None = None
    soft_lower: float | None = None
    """Rad or m; None if the file has none."""
    soft_upper: float | None = None

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> SafetyLimits | None:
        factor = change.factor(self.joint)
        if factor is None or self.joint not in change.joints:
            return None
        lower, upper = _times(self.soft_lower, factor), _times(self.soft_upper, factor)
        if factor < 0.0:
            lower, upper = upper, lower
        return replace(self, joint=change.joints[self.joint], soft_lower=lower, soft_upper=upper)


@record(frozen=True, slots=True, repr=False)
class Calibration:
    """Positions at which a joint's reference switch changes, rad or m; None where the file has none."""

    joint: str
    rising: float | None = None
    """Where it turns on as the joint moves in the positive direction."""
    falling: float | None = None
    reference_position: float | None = None
    """An older form of either."""

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> Calibration | None:
        factor = change.factor(self.joint)
        if factor is None or factor < 0.0 or self.joint not in change.joints:
            return None
        return Calibration(
            change.joints[self.joint],
            _times(self.rising, factor),
            _times(self.falling, factor),
            _times(self.reference_position, factor),
        )


def _times(x: float | None, factor: float) -> float | None:
    return None if x is None else x * factor
