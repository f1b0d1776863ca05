"""The friction of a robot's joints as a function of their velocities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.identification.friction.forms import SIGMOID, STRIBECK
from kinetree.identification.inertial_parameters import driven_names
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.model.changes.common import changed
from kinetree.records import record

__all__ = ["FrictionCurve", "curve_of", "has_own_friction", "with_friction_speeds"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False, repr=False)
class FrictionCurve:
    """Viscous and dry friction of each degree of freedom, as torques (…, nv) at velocities (…, nv).

    coulomb    d v + F tanh(v / v_s)
    sigmoid    the same, v_s found from the log
    stribeck   d v + (F + B exp(-(v / s)²)) tanh(v / v_s)
    """

    form: str
    """"coulomb", "sigmoid" or "stribeck"."""
    names: tuple[str, ...]
    """(nv,): the degrees of freedom."""
    damping: Array
    """d (nv,), N·m·s/rad or N·s/m."""
    friction: Array
    """F (nv,), N·m or N."""
    friction_speed: Array
    """v_s (nv,), rad/s or m/s."""
    stribeck: Array
    """B (nv,), N·m or N; zero where friction is Coulomb's."""
    stribeck_speed: Array
    """s (nv,), rad/s or m/s; one where friction is Coulomb's."""

    @property
    def is_in_robot(self) -> bool:
        """Whether a robot has a place for it: for damping, Coulomb friction and its speed, not for Stribeck's."""
        return not self.stribeck.any()

    def torques(self, v: ArrayLike) -> Any:
        """The torques (…, nv) that overcome friction at velocities (…, nv); also in programs.

        Raises:
            DTypeError: the velocities are not real numbers.
        """
        x: Any = real_array("v", v, f"(…, {len(self.names)})")
        force = self.friction + self.stribeck * np.exp(-((x / self.stribeck_speed) ** 2))
        return self.damping * x + force * np.tanh(x / self.friction_speed)

    def __repr__(self) -> str:
        width = max(map(len, self.names), default=0)
        heads = ["damping", "friction", "its speed"]
        columns = [self.damping, self.friction, self.friction_speed]
        if not self.is_in_robot:
            heads, columns = [*heads, "stribeck", "its speed"], [*columns, self.stribeck, self.stribeck_speed]
        lines = ["  ".join([f"{'':{width}}", *(f"{head:>10}" for head in heads)])]
        for k, name in enumerate(self.names):
            numbers = [f"{x[k]:10.4g}" for x in columns]
            if not self.is_in_robot and not self.stribeck[k]:
                numbers[3:] = [f"{'-':>10}"] * 2
            lines.append("  ".join([f"{name:{width}}", *numbers]))
        return "\n".join(lines)


def curve_of(robot: Model, form: str = "coulomb", numbers: Mapping[str, float] | None = None) -> FrictionCurve:
    """A robot's own damping and Coulomb friction, and the entries of `numbers` for Stribeck's: "stribeck(elbow)", …"""
    names, fitted = tuple(robot.v_names), numbers or {}
    drives = [joint.drive for joint in robot.driven_joints]
    parts = ([x for one in drives for x in getattr(one, part)] for part in ("damping", "friction", "friction_speed"))
    own = dict(zip(driven_names(robot), zip(*parts, strict=True), strict=True))
    damping, friction, speeds = np.array([own.get(name, (0.0, 0.0, 1.0)) for name in names]).reshape(-1, 3).T
    bump = np.array([fitted.get(f"{STRIBECK.bump}({name})", 0.0) for name in names])
    speed = np.array([fitted.get(f"{STRIBECK.speed}({name})", 1.0) for name in names])
    return FrictionCurve(form, names, damping, friction, speeds, bump, speed)


def has_own_friction(robot: Model) -> bool:
    """Whether the friction of each joint is a function of one velocity: joints do not share coordinates."""
    return set(driven_names(robot)) <= set(robot.v_names)


def with_friction_speeds(robot: Model, numbers: Mapping[str, float]) -> Model:
    """The robot with the speeds v_s that `numbers` has: "friction_speed(elbow)", …; the same robot if it has none."""
    names = [name for name in driven_names(robot) if f"{SIGMOID.speed}({name})" in numbers]
    if not names:
        return robot
    speeds = {
        joint.name: tuple(
            numbers.get(f"{SIGMOID.speed}({joint.name}{'.' * bool(suffix)}{suffix})", own)
            for suffix, own in zip(joint.kind.v_names, joint.friction_speed, strict=True)
        )
        for joint in robot.driven_joints
    }
    joints = tuple(
        replace(spec, drive=replace(spec.drive, friction_speed=speeds[spec.name]), where="")
        if spec.name in speeds
        else spec
        for spec in robot.parts.joints
    )
    return Model.of(changed(replace(robot.parts, joints=joints), f"other speeds of dry friction: {', '.join(names)}"))
