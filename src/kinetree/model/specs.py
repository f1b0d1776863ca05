"""The parts of a robot as they are collected, before they are checked and frozen.

The records are not frozen only because that would triple the time to create one; nothing changes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields, replace

from kinetree import joints
from kinetree.errors import ModelError, ModelWarning
from kinetree.joints import JointKind
from kinetree.model.elements import Geometry, Mimic, Rotor
from kinetree.model.extras import NO_EXTRAS, Extras
from kinetree.problems import problem
from kinetree.records import record
from kinetree.spatial import Inertia, Transform
from kinetree.tree.drive import Drive, HasDrive, Limits

__all__ = [
    "CouplingSpec",
    "FrameSpec",
    "JointSpec",
    "LinkSpec",
    "Parts",
    "at",
    "fault",
    "floating_joint",
    "shortest",
    "suspicion",
    "usual_motors",
]


@record(slots=True)
class LinkSpec:
    """A body; `where` prints as its place in a file, for messages."""

    name: str
    inertia: Inertia
    geometry: tuple[Geometry, ...]
    where: object = field(default="", compare=False)
    alternatives: tuple[LinkSpec, ...] = ()
    """The objects that it may be, in order; in the place of the present one its name alone. () for one object."""
    present: int = 0

    def changed(self, change: Callable[[LinkSpec], LinkSpec]) -> LinkSpec:
        """The body after a change of its inertia and shapes, which its alternatives undergo as well."""
        return replace(change(self), alternatives=tuple(map(change, self.alternatives)))


@record(slots=True)
class JointSpec(HasDrive):
    """A joint, fixed ones included."""

    name: str
    kind: JointKind
    parent: str
    child: str
    placement: Transform
    limits: Limits
    drive: Drive
    armature: tuple[float, ...]
    rotor: Rotor | None = None
    mimic: Mimic | None = None
    actuated: tuple[bool, ...] | None = None
    """Whether each degree of freedom has a motor; None where it is as for any joint of this kind (`usual_motors`)."""
    where: object = field(default="", compare=False)

    @staticmethod
    def bare(
        name: str, kind: JointKind, parent: str, child: str, placement: Transform, *, where: object = ""
    ) -> JointSpec:
        """A joint without limits, friction, spring, armature or rotor."""
        return JointSpec(
            name, kind, parent, child, placement, Limits.none(kind), Drive.none(kind), (0.0,) * kind.nv, where=where
        )

    def additions(self) -> list[str]:
        """The names of the fields, those of its drive among them, in which it differs from a bare joint."""
        bare = JointSpec.bare(self.name, self.kind, self.parent, self.child, self.placement)
        names = [entry.name for entry in fields(self) if entry.compare and entry.name != "drive"]
        return [name for name in (*names, *Drive.__slots__) if getattr(self, name) != getattr(bare, name)]


@record(slots=True)
class FrameSpec:
    """A named frame."""

    name: str
    body: str
    placement: Transform
    where: object = field(default="", compare=False)


@record(slots=True)
class CouplingSpec:
    """Joints whose coordinates are `matrix` times fewer (or other) coordinates, plus `offset`."""

    name: str
    joints: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    """One row per coordinate of the joints, in their order."""
    offset: tuple[float, ...]
    coordinates: tuple[str, ...]
    """One short name per column."""
    actuated: tuple[bool, ...] | None = None
    """Whether each of its coordinates has a motor; None where all have."""
    where: object = field(default="", compare=False)


@record(frozen=True, slots=True)
class Parts:
    """All parts of a robot, as they were given: a changed robot is built from these."""

    name: str
    gravity: tuple[float, float, float]
    links: tuple[LinkSpec, ...]
    joints: tuple[JointSpec, ...]
    frames: tuple[FrameSpec, ...]
    couplings: tuple[CouplingSpec, ...]
    floating_base: bool
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Assumptions made before it was built."""
    source: str = field(default="", compare=False)
    extras: Extras = NO_EXTRAS
    """Anything else that the file says, for simulations and for other libraries."""


def usual_motors(kind: JointKind, mimic: Mimic | None) -> tuple[bool, ...]:
    """Whether each degree of freedom of a joint has a motor, unless the robot says otherwise: a follower's has none."""
    return (kind.has_motor and mimic is None,) * kind.nv


def shortest(motors: tuple[bool, ...]) -> bool | list[bool]:
    """One flag where all are equal."""
    return motors[0] if len(set(motors)) == 1 else list(motors)


def floating_joint(name: str, world: str, root: str, where: object = "") -> JointSpec:
    """The joint of a floating base."""
    return JointSpec.bare(name, joints.Free(), world, root, Transform.identity(), where=where)


def at(where: object, message: str) -> str:
    """A message that begins with the place it refers to, if known."""
    return f"{where}: {message}" if where else message


def fault(where: object, message: str, code: str = "invalid", *, repair: str = "") -> ModelError:
    """The error that names a place and its fault; `repair` describes how the caller mends it if it may."""
    return ModelError(at(where, message), problems=(problem(where, message, code, repair=repair),))


def suspicion(where: object, message: str, code: str = "invalid", *, repair: str = "") -> ModelWarning:
    """Something that is suspicious but possible."""
    found = problem(where, message, code, severity="warning", repair=repair)
    return ModelWarning(at(where, message), problems=(found,))
