"""What revolute, continuous and prismatic joints share: one axis, one coordinate on a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.joints.base import JointKind
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["OneAxisJoint"]


class OneAxisJoint(JointKind):
    """A joint with a unit axis; the axis is normalised when it is made."""

    nq = nv = 1
    word: ClassVar[str]
    span: ClassVar[float]
    """Random coordinates without limits lie within plus or minus this."""

    def __init__(self, axis: Sequence[float]) -> None:
        self.axis = unit_axis(axis)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.axis.components())})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.axis == self.axis

    def __hash__(self) -> int:
        return hash((type(self), self.axis))

    def aligned(self) -> tuple[JointKind, Transform]:
        """About, or along, z."""
        turned = copy(self)
        turned.axis = Vec3(0.0, 0.0, 1.0)
        return turned, Transform(_rows_ending_in(self.axis), Vec3.zero())

    @property
    def description(self) -> str:
        return f"{self.word} {_axis_name(self.axis)}"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("",)

    @property
    def v_names(self) -> tuple[str, ...]:
        return ("",)

    def neutral(self) -> tuple[float, ...]:
        return (0.0,)

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        low = lower[0] if math.isfinite(lower[0]) else -self.span
        high = upper[0] if math.isfinite(upper[0]) else self.span
        return (float(rng.uniform(min(low, high), max(low, high))),)

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [q[0] + v[0]]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        return [q1[0] - q0[0]]


def _rows_ending_in(z: Vec3) -> Mat3:
    """A rotation whose last row is the unit vector z: the coordinates it leads to have z as their third axis."""
    components = [float(z_k) for z_k in z.components()]
    least = min((1, 0, 2), key=lambda k: abs(components[k]))
    across = Vec3(*(float(k == least) for k in range(3))).cross(z)
    x = unit_axis([float(x_k) for x_k in across.components()])
    return Mat3(x, z.cross(x), z)


def unit_axis(axis: Sequence[float]) -> Vec3:
    """The axis at length one."""
    x, y, z = (float(a) for a in axis)
    length = math.sqrt(x * x + y * y + z * z)
    if not math.isfinite(length) or length == 0.0:
        raise ModelError(f"a joint axis must be three finite numbers that are not all zero, not {[x, y, z]}")
    return Vec3(x / length, y / length, z / length)


def _axis_name(axis: Vec3) -> str:
    for name, unit in (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0)), ("z", (0.0, 0.0, 1.0))):
        if axis.components() == unit:
            return name
        if tuple(-a + 0.0 for a in axis.components()) == unit:
            return "-" + name
    return "(" + ", ".join(f"{a:.4g}" for a in axis.components()) + ")"
