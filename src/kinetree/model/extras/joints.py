"""Simulators' properties of joints that a rigid-body model does not use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["JointSettings"]


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
