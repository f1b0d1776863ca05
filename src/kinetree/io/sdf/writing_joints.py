"""Joints as <joint>: types, axes, limits, friction, springs, mimics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from kinetree.io.decimals import shortest
from kinetree.io.losses import Losses
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import (
    Continuous,
    Fixed,
    Free,
    Helical,
    JointKind,
    Placed,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from kinetree.model.specs import JointSpec, usual_motors
from kinetree.spatial import Transform, Vec3
from kinetree.tree.drive import Drive, Limits

__all__ = ["has_word", "write_joint"]

_NO_BOUND = 1e16
"""Numbers from here on mean an absent bound; here such an element is left out."""
_HERE = Transform.identity()
_HELD = "limits", "damping", "friction", "stiffness", "rest", "armature", "actuated", "mimic"
_TYPES = {
    Revolute: "revolute", Continuous: "continuous", Prismatic: "prismatic", Fixed: "fixed", Spherical: "ball",
    Universal: "universal", Helical: "screw",
}  # fmt: skip


def has_word(kind: JointKind) -> bool:
    """Whether SDF has a type for a kind, or for that which is placed in it."""
    if type(kind) is Placed and isinstance(kind, Placed):
        return type(kind.kind) in _TYPES and not isinstance(kind.kind, Fixed)
    return type(kind) in _TYPES or type(kind) is Free


def write_joint(element: Tag, joint: JointSpec, names: Mapping[str, str], losses: Losses) -> None:
    """Fill the element of a joint, which has its pose already; `names` are those of joints in the file."""
    kind = joint.kind
    if isinstance(kind, Placed):
        _report_placed(joint, kind, losses)
        joint = replace(joint, kind=kind.kind)
    _Joint(element, joint, names, losses).write()


def _report_placed(joint: JointSpec, placed: Placed, losses: Losses) -> None:
    moves_alike = isinstance(placed.kind, Prismatic) or placed.after.r == _HERE.r
    if placed.before != _HERE or placed.after == _HERE or (moves_alike and not isinstance(placed.kind, Spherical)):
        losses.changed.append(f"joint {joint.name!r}: placements in its kind become part of those around it")


class _Joint:
    def __init__(self, element: Tag, joint: JointSpec, names: Mapping[str, str], losses: Losses) -> None:
        self._element = element
        self._joint = joint
        self._names = names
        self._losses = losses
        self._lose = losses.lost.append

    def write(self) -> None:
        element, joint, kind = self._element, self._joint, self._joint.kind
        element.attributes["type"] = _TYPES[type(kind)]
        element.add("parent", joint.parent)
        element.add("child", joint.child)
        if isinstance(kind, Helical):
            turn = 2.0 * math.pi
            pitch = shortest(kind.pitch * turn, lambda x: x / turn == kind.pitch)
            element.add("screw_thread_pitch", shown_number(pitch))
        if isinstance(kind, Revolute | Prismatic | Helical):
            self._axis("axis", kind.axis, 0)
        elif isinstance(kind, Universal):
            self._axis("axis", kind.axis1, 0)
            self._axis("axis2", kind.axis2, 1)
        elif isinstance(kind, Spherical):
            self._ball()
        self._rest_of_it()

    def _axis(self, tag: str, direction: Vec3, k: int) -> None:
        joint = self._joint
        axis = self._element.add(tag)
        axis.add("xyz", shown_numbers([float(x) for x in direction.components()]))
        self._limit(axis, k)
        drive = joint.drive
        _write_dynamics(
            axis,
            damping=drive.damping[k],
            friction=drive.friction[k],
            spring_reference=drive.rest[k],
            spring_stiffness=drive.stiffness[k],
        )
        if joint.mimic is not None:
            element = axis.add("mimic", joint=self._names[joint.mimic.joint])
            element.add("multiplier", shown_number(joint.mimic.multiplier))
            element.add("offset", shown_number(joint.mimic.offset))
            element.add("reference", "0")

    def _limit(self, axis: Tag, k: int) -> None:
        joint, limits = self._joint, self._joint.limits
        bounds = {
            "lower": limits.lower[k], "upper": limits.upper[k], "effort": limits.effort[k],
            "velocity": limits.velocity[k],
        }  # fmt: skip
        if any(_NO_BOUND <= abs(x) < math.inf for x in bounds.values()):
            self._lose(f"joint {joint.name!r} has a limit of 1e16 or more, which SDF takes for none")
        if bounds["lower"] >= _NO_BOUND or bounds["upper"] <= -_NO_BOUND:  # equal infinite limits would be refused
            del bounds["lower"], bounds["upper"]
        elif isinstance(joint.kind, Continuous) and (math.isfinite(bounds["lower"]) or math.isfinite(bounds["upper"])):
            self._lose(f"joint {joint.name!r} is continuous, but has position limits, for which SDF then has no place")
            del bounds["lower"], bounds["upper"]
        written = {name: shown_number(x) for name, x in bounds.items() if math.isfinite(x)}
        if written:
            limit = axis.add("limit")
            for name, text in written.items():
                limit.add(name, text)

    def _ball(self) -> None:
        """A ball joint has no axis; where there is one, its damping and friction are those of all rotations."""
        joint, drive = self._joint, self._joint.drive
        if joint.limits != Limits.none(joint.kind):
            self._lose(f"joint {joint.name!r} has limits, for which a ball joint of SDF has no place")
        if any(drive.stiffness) or drive.rest != Drive.none(joint.kind).rest:
            self._lose(f"joint {joint.name!r} has a spring, for which a ball joint of SDF has no place")
        if len(set(drive.damping)) > 1 or len(set(drive.friction)) > 1:
            self._lose(f"joint {joint.name!r} has damping or friction that differs between its rotations: it has none")
        elif any((*drive.damping, *drive.friction)):
            axis = self._element.add("axis")
            axis.add("xyz", "0 0 1")
            _write_dynamics(axis, damping=drive.damping[0], friction=drive.friction[0])

    def _rest_of_it(self) -> None:
        """Motors, armature, and data without a place in SDF."""
        joint = self._joint
        efforts = joint.limits.effort
        usual = usual_motors(joint.kind, joint.mimic)
        motors = usual if joint.actuated is None else joint.actuated
        driven = usual if joint.mimic is not None or joint.kind.nv > 2 else tuple(x != 0.0 for x in efforts)
        if motors != driven:
            self._lose(
                f"joint {joint.name!r} has a motor or none other than SDF would say: no effort limit of zero, a motor"
            )
        if any(joint.armature):
            if joint.kind.nv == 1 and efforts[0] != 0.0:
                self._element.add("drake:rotor_inertia", shown_number(joint.armature[0]))
            else:
                self._lose(f"joint {joint.name!r} has armature, for which SDF has no place here")
        self._losses.lose_numbers(joint, _HELD)


def _write_dynamics(axis: Tag, **numbers: float) -> None:
    if any(numbers.values()):
        dynamics = axis.add("dynamics")
        for name, x in numbers.items():
            if x:
                dynamics.add(name, shown_number(x))
