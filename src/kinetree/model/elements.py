"""The named parts of a robot, as plain frozen records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import NameNotFoundError, nearest_names
from kinetree.joints import JointKind
from kinetree.records import record
from kinetree.spatial import Inertia, Transform, Vec3
from kinetree.tree.drive import Drive, HasDrive, Limits

__all__ = ["Body", "Coupling", "Frame", "Geometry", "Joint", "Mimic", "Named", "Rotor"]

T = TypeVar("T")


class Named(Mapping[str, T], Generic[T]):
    """Parts by name, in the order of the file; the error for a wrong name suggests the nearest right ones."""

    def __init__(self, what: str, parts: Mapping[str, T]) -> None:
        self._what = what
        self._parts = dict(parts)

    def __getitem__(self, name: str) -> T:
        try:
            return self._parts[name]
        except (KeyError, TypeError):
            raise NameNotFoundError(
                f"this robot has no {self._what} {name!r}: {nearest_names(str(name), self._parts)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"{self._what} names: {list(self._parts)}"


@record(frozen=True, slots=True)
class Geometry:
    """A shape attached to a body, kept as a reference for viewers; nothing is loaded.

    `shape` is "box", "cylinder", "sphere", "capsule" or "mesh"; `size` holds its lengths in metres (box: x, y, z;
    cylinder and capsule: radius, length; sphere: radius; mesh: scale x, y, z).
    """

    role: str
    """"visual" or "collision"."""
    shape: str
    size: tuple[float, ...]
    placement: Transform
    """Relative to the body's frame."""
    name: str = ""
    mesh: str | None = None
    """The mesh's address as given in the file."""
    mesh_path: Path | None = field(default=None, compare=False)
    """Its path on disk, if it lies inside the given roots."""
    color: tuple[float, float, float, float] | None = None


@record(frozen=True, slots=True)
class Body:
    """A link of the file, moving by itself or fixed to another."""

    name: str
    inertia: Inertia
    """Its own, in its own frame; merging leaves it as in the file."""
    slot: int
    """The moving body it belongs to; 0 is the root."""
    placement: Transform
    """Its frame in that moving body's frame."""
    is_fixed: bool
    """Whether it is merged into another body, because no joint moves it."""
    geometry: tuple[Geometry, ...] = ()

    @property
    def mass(self) -> float:
        """Its own mass, kg; `robot.rigid_inertia(name).mass` is that of all that moves rigidly with it."""
        return float(self.inertia.mass)

    @property
    def center_of_mass(self) -> NDArray[np.float64]:
        """Its own centre of mass, (3,), m, in its own frame; NaN if it has no mass."""
        return self.inertia.center_of_mass

    @property
    def rotational_inertia(self) -> NDArray[np.float64]:
        """Its own rotational inertia, (3, 3), kg·m², about its centre of mass and in its own axes."""
        return self.inertia.about_center_of_mass


@record(frozen=True, slots=True)
class Mimic:
    """q = multiplier * q_of(joint) + offset: the joint follows, and has no coordinate of its own in q and v."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@record(frozen=True, slots=True)
class Rotor:
    """A motor's rotor on the body that carries the joint, geared to it: it spins at `ratio` times the joint's rate.

    Its mass, and its inertia as if it did not spin, belong to that body. `inertia` is that about its own axis, kg·m²;
    `axis` is in the joint's fixed frame, by default the joint's own. Besides armature (ratio² inertia) it has
    gyroscopic terms (RBDA section 9.6).
    """

    inertia: float
    ratio: float
    axis: tuple[float, float, float] | None = None

    def axis_on(self, kind: JointKind) -> Vec3:
        """Its axis on a joint of this kind."""
        axis = kind.rotor_axis if self.axis is None else Vec3(*self.axis)
        assert axis is not None  # the checks of a robot's parts refuse such a rotor
        return axis


@record(frozen=True, slots=True)
class Joint(HasDrive):
    """A moving joint."""

    name: str
    kind: JointKind
    slot: int
    parent: str
    """The body it is attached to."""
    child: str
    """The body it moves."""
    placement: Transform
    """The joint's frame in the frame of the body named `parent`."""
    q_start: int
    v_start: int
    limits: Limits
    drive: Drive
    """Its friction and spring, whose numbers are also attributes of the joint."""
    armature: tuple[float, ...]
    """Rotor inertia seen at the joint, kg·m² or kg; that of `rotor` is added to it."""
    rotor: Rotor | None = None
    mimic: Mimic | None = None
    coupling: str | None = None
    """The coupling that computes its coordinates; None if they are its own."""
    actuated: tuple[bool, ...] = ()
    """Whether each of its degrees of freedom has a motor; a follower's or coupled joint's has none of its own."""

    @property
    def has_coordinates(self) -> bool:
        """Whether its coordinates are in q and v; a follower's are computed from others."""
        return self.mimic is None and self.coupling is None

    @property
    def q_slice(self) -> slice:
        """Its coordinates in q; empty for a follower."""
        return slice(self.q_start, self.q_start + (self.kind.nq if self.has_coordinates else 0))

    @property
    def v_slice(self) -> slice:
        """Its degrees of freedom in v; empty for a follower."""
        return slice(self.v_start, self.v_start + (self.kind.nv if self.has_coordinates else 0))


@record(frozen=True, slots=True)
class Coupling:
    """Coordinates shared by several joints: the joints' are matrix z + offset, and q contains z."""

    name: str
    joints: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    """One row per coordinate of the joints, in their order."""
    offset: tuple[float, ...]
    coordinates: tuple[str, ...]
    """A short name for each entry of z."""
    q_start: int
    v_start: int
    actuated: tuple[bool, ...]
    """Whether each entry of z has a motor."""

    @property
    def q_slice(self) -> slice:
        return slice(self.q_start, self.q_start + len(self.coordinates))

    @property
    def v_slice(self) -> slice:
        return slice(self.v_start, self.v_start + len(self.coordinates))


@record(frozen=True, slots=True)
class Frame:
    """A named coordinate frame on a body: every body's own, and those added by name."""

    name: str
    body: str
    slot: int
    """The moving body it is fixed to; 0 is the root."""
    placement: Transform
    """Relative to that moving body's frame."""
