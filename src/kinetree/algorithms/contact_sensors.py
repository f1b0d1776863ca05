"""Sensors of contacts: touch, the contacts of some shapes, and the wrench that a body's support carries.

If there are several contacts, the first few are reported in the order of a criterion: the rank of contact i is how many
others come before it, so that no index depends on data.

Source: MuJoCo documentation, "XML Reference", sections on the sensors touch, contact, force and torque; version 4. The
wrench is the sum of the equations of motion of all that a body carries (Featherstone, *Rigid Body Dynamics Algorithms*
(2008), eq. 2.62).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.sensors import FrameMotion
from kinetree.expr import Scalar, less, maximum, select, sqrt
from kinetree.spatial import Force, Inertia, Mat3, Vec3

__all__ = ["Push", "carried_wrench", "in_order", "together", "wrench_in"]

_TINY = 1e-15


class Push(NamedTuple):
    """A contact as a sensor sees it, and the first shape's force on the second one."""

    is_there: Scalar
    position: Vec3
    axes: Mat3
    """The normal from the first shape to the second, and two directions across it, as rows."""
    distance: Scalar
    force: Vec3
    """Along the axes."""
    torque: Vec3
    """About the point, along the axes."""

    def turned(self) -> Push:
        """The same contact from the other side: the axes are turned about the third one."""
        n, t, b = self.axes.x, self.axes.y, self.axes.z
        f, m = self.force, self.torque
        return self._replace(axes=Mat3(-n, -t, b), force=Vec3(f.x, f.y, -f.z), torque=Vec3(m.x, m.y, -m.z))

    def wrench(self) -> Force:
        """On the second shape, about the world's origin; zero without a contact."""
        f, m = self.axes.T @ self.force, self.axes.T @ self.torque
        return Force(m + self.position.cross(f), f)

    def numbers(self) -> dict[str, Sequence[Scalar]]:
        """By the names of sensors' data, except for the number found."""
        return {
            "force": self.force.components(),
            "torque": self.torque.components(),
            "dist": [self.distance],
            "pos": self.position.components(),
            "normal": self.axes.x.components(),
            "tangent": self.axes.y.components(),
        }


def found_by(pushes: Sequence[Push]) -> Scalar:
    """How many there are."""
    count: Scalar = 0.0
    for push in pushes:
        count = count + push.is_there
    return count


def in_order(pushes: Sequence[Push], criterion: str, count: int) -> list[dict[str, Sequence[Scalar]]]:
    """The numbers of the first few: the nearest ("mindist"), the strongest ("maxforce"), or as given ("none")."""
    keys: list[Scalar] = [0.0] * len(pushes)
    if criterion == "mindist":
        keys = [push.distance for push in pushes]
    elif criterion == "maxforce":
        keys = [-(push.force.dot(push.force) + push.torque.dot(push.torque)) for push in pushes]
    found_before: list[Scalar] = []
    for i, key in enumerate(keys):
        before: Scalar = 0.0
        for j, other in enumerate(keys):
            if j != i:
                comes_first = less(other, key) if j > i else 1.0 - less(key, other)
                before = before + pushes[j].is_there * comes_first
        found_before.append(before)
    total = found_by(pushes)
    slots = []
    for place in range(count):
        numbers: dict[str, Sequence[Scalar]] = {"found": [select(less(place, total), total, 0.0)]}
        for i, push in enumerate(pushes):
            is_it = push.is_there * less(found_before[i], place + 0.5) * less(place - 0.5, found_before[i])
            for name, own in push.numbers().items():
                old = numbers.get(name, [0.0] * len(own))
                numbers[name] = [select(is_it, x, y) for x, y in zip(own, old, strict=True)]
        slots.append(numbers)
    return slots


def together(pushes: Sequence[tuple[Push, Scalar]]) -> dict[str, Sequence[Scalar]]:
    """One contact instead of several, each with the sign of its side: in the world's axes, at the centre of forces."""
    weights = [push.is_there * _length(push.force) for push, _ in pushes]
    total: Scalar = 0.0
    center = Vec3.zero()
    for (push, _), weight in zip(pushes, weights, strict=True):
        center = center + push.position * weight
        total = total + weight
    center = center * (1.0 / maximum(total, _TINY))
    sum_of_all = Force.zero()
    for push, sign in pushes:
        sum_of_all = sum_of_all + push.wrench() * (sign * push.is_there)
    force = sum_of_all.linear
    count = found_by([push for push, _ in pushes])
    there = less(0.0, count)
    return {
        "found": [count],
        "force": force.components(),
        "torque": (sum_of_all.angular - center.cross(force)).components(),
        "dist": [0.0],
        "pos": center.components(),
        "normal": [there, 0.0, 0.0],
        "tangent": [0.0, there, 0.0],
    }


def carried_wrench(parts: Sequence[tuple[Inertia, FrameMotion]], pushes: Sequence[tuple[Push, float]]) -> Force:
    """The wrench that holds some bodies, about the world's origin: that of their motion less that of contacts.

    Accelerations have gravity in them. Each contact has the sign of its side.
    """
    total = Force.zero()
    for inertia, frame in parts:
        total = total + frame.X.back(inertia @ frame.a + frame.v.cross(inertia @ frame.v))
    for push, sign in pushes:
        total = total - push.wrench() * sign
    return total


def wrench_in(frame: FrameMotion, wrench: Force) -> Force:
    """A wrench about the world's origin, in the axes of a frame and about its origin."""
    moment = wrench.angular - frame.X.r.cross(wrench.linear)
    return Force(frame.X.E @ moment, frame.X.E @ wrench.linear)


def _length(v: Vec3) -> Scalar:
    squared = v.dot(v)
    none = less(squared, _TINY * _TINY)
    length: Scalar = select(none, 0.0, sqrt(select(none, 1.0, squared)))
    return length
