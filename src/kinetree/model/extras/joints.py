"""Simulators' properties of joints that a rigid-body model does not use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from kinetree.model.extras.change import Change
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Calibration", "JointProperty", "JointSettings", "MotionLimits", "PassiveJoint", "SafetyLimits"]


@record(frozen=True, slots=True, repr=False)
class JointSettings:
    """Settings of a joint beyond those of `Joint`."""

    REFERS: ClassVar[Mapping[str, str]] = {"joint": "joint"}

    joint: str
    limited: bool = False
    range: tuple[float, float] = (0.0, 0.0)
    """For a ball joint, 0 and the largest angle of rotation, rad; for others `Joint.limits` has it."""
    margin: float = 0.0
    """How far from a limit the limit begins to act, rad or m."""
    solref_limit: tuple[float, float] = (0.02, 1.0)
    solimp_limit: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)
    solref_friction: tuple[float, float] = (0.02, 1.0)
    solimp_friction: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)
    spring_damper: tuple[float, float] = (0.0, 0.0)
    """Time constant, s, and damping ratio that stiffness and damping are to give with the inertia that the joint moves
    in the reference configuration; they are in force if both are positive."""
    stiffness: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Coefficients of the linear, quadratic and cubic force of its spring. `Joint` has the first, except of free joints
    and of ball joints."""
    spring_yield: float = 0.0
    """How far the spring is stretched before it yields, rad or m; 0: never."""
    damping: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Coefficients of the linear, quadratic and cubic damping force. `Joint` has the first."""
    actuator_force_limited: bool = False
    actuator_force_range: tuple[float, float] = (0.0, 0.0)
    """Range of the sum of its actuators' forces; `Joint.limits` has the larger of both absolute values."""
    actuators_carry_gravity: bool = False
    """Whether the compensation of gravity counts among its actuators' forces."""
    group: int = 0
    user: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class PassiveJoint:
    """A joint that a planner does not move. The robot's motors are in `robot.actuated`, regardless of this."""

    joint: str

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> PassiveJoint | None:
        return PassiveJoint(change.joints[self.joint]) if self.joint in change.joints else None


@record(frozen=True, slots=True, repr=False)
class JointProperty:
    """A named property of a joint, for one planner or another."""

    joint: str
    name: str
    value: str

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> JointProperty | None:
        # What the value means is not known, so it cannot be scaled or mirrored.
        if self.joint not in change.joints or not change.is_rigid:
            return None
        return replace(self, joint=change.joints[self.joint])


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
