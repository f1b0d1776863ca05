"""The named parts of a robot, as plain frozen records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from kinetree.errors import NameNotFoundError, nearest_names
from kinetree.model.joints import JointKind
from kinetree.spatial import Inertia, Transform

__all__ = ["Body", "Frame", "Geometry", "Joint", "Limits", "Mimic", "Named"]

T = TypeVar("T")


class Named(Mapping[str, T], Generic[T]):
    """Parts by name, in the order of the file; a wrong name is answered with the nearest right ones."""

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


@dataclass(frozen=True, slots=True)
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
    """In the body's frame."""
    name: str = ""
    mesh: str | None = None
    """The mesh's address as the file has it."""
    mesh_path: Path | None = None
    """Where that is on disk, if it lies inside the given roots."""
    color: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """A link of the file, moving on its own or fixed to another."""

    name: str
    inertia: Inertia
    """Its own, in its own frame; merging leaves it as the file has it."""
    slot: int
    """The moving body it belongs to; 0 is the root."""
    placement: Transform
    """Its frame in that moving body's frame."""
    is_fixed: bool
    """Whether it is merged into another body, because no joint moves it."""
    geometry: tuple[Geometry, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Position limits a coordinate, velocity and effort limits a degree of freedom; infinite where there are none."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]

    @staticmethod
    def none(kind: JointKind) -> Limits:
        inf = math.inf
        return Limits((-inf,) * kind.nq, (inf,) * kind.nq, (inf,) * kind.nv, (inf,) * kind.nv)


@dataclass(frozen=True, slots=True)
class Mimic:
    """q = multiplier * q_of(joint) + offset: read and kept, not yet enforced."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True)
class Joint:
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
    damping: tuple[float, ...]
    """Viscous, N·m·s/rad or N·s/m."""
    friction: tuple[float, ...]
    """Coulomb, N·m or N."""
    armature: tuple[float, ...]
    """Rotor inertia seen at the joint, kg·m² or kg."""
    mimic: Mimic | None = None

    @property
    def q_slice(self) -> slice:
        return slice(self.q_start, self.q_start + self.kind.nq)

    @property
    def v_slice(self) -> slice:
        return slice(self.v_start, self.v_start + self.kind.nv)


@dataclass(frozen=True, slots=True)
class Frame:
    """A named coordinate frame on a body: every body's own, and those added by name."""

    name: str
    body: str
    slot: int
    """The moving body it sits on; 0 is the root."""
    placement: Transform
    """In that moving body's frame."""
