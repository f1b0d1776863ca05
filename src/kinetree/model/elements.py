"""The named parts of a robot, as plain frozen records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import FrozenError, NameNotFoundError, OptionError, nearest_names, quoted
from kinetree.joints import JointKind
from kinetree.model.extras.contacts import ContactParameters
from kinetree.record_text import call_text
from kinetree.records import record
from kinetree.spatial import Inertia, Transform, Vec3
from kinetree.tree.drive import Drive, HasDrive, Limits

__all__ = ["CHANGED", "Body", "Coupling", "Frame", "Geometry", "Joint", "Mimic", "Named", "Rotor"]

T = TypeVar("T")

CHANGED = "make another: robot.lock, with_gravity, scaled, kt.ModelBuilder.of(robot) (`kinetree docs changing_models`)"
"""Ways to another robot, for messages about changes of one."""


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
                f"this robot has no {self._what} {quoted(name)}: {nearest_names(str(name), self._parts)}"
            ) from None

    def __setitem__(self, name: str, part: object) -> None:
        raise FrozenError(f"cannot set {self._what} {name!r}: a robot does not change; {CHANGED}")

    def __delitem__(self, name: str) -> None:
        raise FrozenError(f"cannot delete {self._what} {name!r}: a robot does not change; {CHANGED}")

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def matching(self, pattern: str) -> Named[T]:
        """The parts whose names match, in the same order, ignoring case; perhaps none.

        `*` stands for any characters, `?` for one and `[ab]` for one of these; a pattern without any of them is looked
        for anywhere in the name.

        >>> import kinetree as kt
        >>> dog = kt.zoo.load("quadruped")
        >>> dog.frames.matching("front*foot")
        frame names: ['front_left_foot', 'front_right_foot']
        >>> len(dog.joints.matching("knee"))
        4
        """
        if not isinstance(pattern, str):
            raise OptionError(f"matching takes a pattern such as '*foot*', not {pattern!r:.60}")
        sought = pattern.lower()
        if not any(sign in sought for sign in "*?["):
            sought = f"*{sought}*"
        return Named(
            self._what, {name: part for name, part in self._parts.items() if fnmatchcase(name.lower(), sought)}
        )

    def _ipython_key_completions_(self) -> list[str]:
        """The names that interactive shells offer after an opening bracket."""
        return list(self._parts)

    def __repr__(self) -> str:
        return f"{self._what} names: {list(self._parts)}"


@record(frozen=True, slots=True, repr=False)
class Geometry:
    """A shape attached to a body, kept as a reference for viewers; nothing is loaded.

    `shape` is "box", "cylinder", "sphere", "capsule", "cone", "ellipsoid", "plane", "heightfield" or "mesh".
    `size` holds its lengths in metres (box: x, y, z; cylinder, capsule and cone: radius, length along z; sphere:
    radius; ellipsoid: half axes along x, y, z; plane, whose normal is z: lengths along x and y, infinite where they are
    not bounded; heightfield: lengths along x and y, greatest height, depth of the ground below; mesh: scale x, y, z).
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
    contact: ContactParameters | None = None
    """How it touches others, if the file says so."""

    @property
    def may_touch(self) -> bool:
        """Whether it is there for contacts, and not only to be seen."""
        return self.contact is not None or self.role == "collision"

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class Body:
    """A link of the file, moving by itself or fixed to another."""

    INSTEAD: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("mass", "inertia", "center_of_mass"),
            "give parameters={'body.NAME.mass': …} with a call, or use kt.identification.with_inertial_parameters",
        ),
        "": CHANGED,
    }

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
    alternatives: tuple[Body, ...] = ()
    """The objects that it may be, itself among them, if there are several (`Model.with_alternatives`)."""
    present: int = 0
    """The number of the one that it is."""

    def __repr__(self) -> str:
        center = ", ".join(f"{x:.6g}" for x in self.center_of_mass)
        mass = f"{self.mass:.6g} kg, center of mass ({center}) m" if self.mass else "massless"
        return f"<Body {self.name!r}: {mass}{', on a fixed joint' if self.is_fixed else ''}>"

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

    @property
    def every_shape(self) -> list[tuple[int, Geometry]]:
        """Its shapes, then those of its other alternatives, each with the number of the alternative."""
        others = [(k, shape) for k, one in enumerate(self.alternatives) if k != self.present for shape in one.geometry]
        return [*((self.present, shape) for shape in self.geometry), *others]


@record(frozen=True, slots=True, repr=False)
class Mimic:
    """q = multiplier * q_of(joint) + offset: the joint follows, and has no coordinate of its own in q and v."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class Rotor:
    """A motor's rotor on the body that carries the joint, geared to it: it spins at `ratio` times the joint's rate.

    Its mass, and its inertia as if it did not spin, belong to that body. `inertia` is that about its own axis, kg·m²;
    `axis` is in the joint's fixed frame, by default the joint's own. In addition to armature (ratio² inertia) it has
    gyroscopic terms (RBDA section 9.6).
    """

    inertia: float
    ratio: float
    axis: tuple[float, float, float] | None = None

    def __repr__(self) -> str:
        return call_text(self)

    def axis_on(self, kind: JointKind) -> Vec3:
        """Its axis on a joint of this kind."""
        axis = kind.rotor_axis if self.axis is None else Vec3(*self.axis)
        assert axis is not None  # the checks of a robot's parts refuse such a rotor
        return axis


@record(frozen=True, slots=True, repr=False)
class Joint(HasDrive):
    """A moving joint."""

    INSTEAD: ClassVar[Mapping[str, str]] = {"": CHANGED}

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

    def __repr__(self) -> str:
        if self.mimic is not None:
            place = f"{self.mimic!r}"
        elif self.coupling is not None:
            place = f"by coupling {self.coupling!r}"
        else:
            place = f"{_places(self.q_slice, self.v_slice)}{_range_of(self.kind, self.limits)}"
        carrier = repr(self.parent) if self.parent else "the world"
        return f"<Joint {self.name!r}: {self.kind.description}, {carrier} → {self.child!r}, {place}>"

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


@record(frozen=True, slots=True, repr=False)
class Coupling:
    """Coordinates shared by several joints: the joints' are matrix z + offset, and q contains z."""

    INSTEAD: ClassVar[Mapping[str, str]] = {"": CHANGED}

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

    def __repr__(self) -> str:
        names, joints = ", ".join(self.coordinates), ", ".join(map(repr, self.joints))
        return f"<Coupling {self.name!r}: {names} → {joints}, {_places(self.q_slice, self.v_slice)}>"

    @property
    def q_slice(self) -> slice:
        return slice(self.q_start, self.q_start + len(self.coordinates))

    @property
    def v_slice(self) -> slice:
        return slice(self.v_start, self.v_start + len(self.coordinates))


@record(frozen=True, slots=True, repr=False)
class Frame:
    """A named coordinate frame on a body: every body's own, and those added by name."""

    INSTEAD: ClassVar[Mapping[str, str]] = {"": CHANGED}

    name: str
    body: str
    slot: int
    """The moving body it is fixed to; 0 is the root."""
    placement: Transform
    """Relative to that moving body's frame."""

    def __repr__(self) -> str:
        return f"<Frame {self.name!r}: on body {self.body!r}>"


def _places(q: slice, v: slice) -> str:
    """The places of coordinates in q and v."""
    return " ".join(
        f"{letter}[{part.start}]" if part.stop == part.start + 1 else f"{letter}[{part.start}:{part.stop}]"
        for letter, part in (("q", q), ("v", v))
    )


def _range_of(kind: JointKind, limits: Limits) -> str:
    """The limits of a joint with one coordinate, if it has any."""
    if kind.nq != 1 or not np.isfinite((*limits.lower, *limits.upper)).any():
        return ""
    unit = f" {kind.q_units[0]}" if kind.q_units[0] else ""
    return f", {limits.lower[0]:.6g} … {limits.upper[0]:.6g}{unit}"
