"""A robot as one library sees it, in kinetree's terms: the common form of all sides of a comparison.

Bodies are written in their own frames, which have the same names and places in all libraries; joints move one body
against another and are written by the motion that they allow. Angles and lengths are in rad and m.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from kinetree.joints import Continuous, JointKind, Placed, Prismatic, Revolute
from kinetree.records import record

__all__ = [
    "FIXED",
    "Array",
    "SeenBody",
    "SeenJoint",
    "Side",
    "Solid",
    "State",
    "UnfollowableError",
    "inverse",
    "word_for",
]

Array = NDArray[np.float64]
FIXED = ""
"""The carrier of bodies that no joint moves."""


class UnfollowableError(Exception):
    """A state that a side cannot have; the message says why, as the end of a sentence."""


@record(frozen=True, slots=True, eq=False)
class Solid:
    """Mass, first moment of mass and rotational inertia about the origin of a frame, in its axes."""

    mass: float
    moment: Array
    """(3,), kg·m."""
    about_origin: Array
    """(3, 3), kg·m²."""

    @staticmethod
    def nothing() -> Solid:
        return Solid(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def from_center(mass: float, center: Array, inertia: Array) -> Solid:
        """From the centre of mass and the inertia about it."""
        return Solid(float(mass), mass * center, inertia + mass * _spread(center))

    def __add__(self, other: Solid) -> Solid:
        return Solid(self.mass + other.mass, self.moment + other.moment, self.about_origin + other.about_origin)

    def seen_from(self, T: Array) -> Solid:
        """The solid in the axes and about the origin of another frame, in which this one is placed at T (4, 4)."""
        R, p = T[:3, :3], T[:3, 3]
        h = R @ self.moment
        cross = 2.0 * (p @ h) * np.eye(3) - np.outer(p, h) - np.outer(h, p)
        return Solid(self.mass, h + self.mass * p, R @ self.about_origin @ R.T + self.mass * _spread(p) + cross)

    @property
    def is_nothing(self) -> bool:
        return not (self.mass or self.moment.any() or self.about_origin.any())

    @property
    def center(self) -> Array:
        """(3,), m; zero without mass."""
        return np.asarray(self.moment / self.mass) if self.mass else np.zeros(3)

    @property
    def inertia(self) -> Array:
        """(3, 3), kg·m², about the centre of mass; about the origin without mass."""
        return np.asarray(self.about_origin - self.mass * _spread(self.center))


@record(frozen=True, slots=True, eq=False)
class SeenBody:
    """A body, moved by a joint or fixed to a body that is."""

    name: str
    carrier: str
    """The body whose joint moves it: itself, another, or FIXED."""
    placement: Array
    """(4, 4) in the carrier's frame, or in the world."""
    own: Solid | None
    """Without bodies fixed to it; None where the library does not report it."""


@record(frozen=True, slots=True, eq=False)
class SeenJoint:
    """A moving joint. Numbers are one per degree of freedom, and None where the library has no such thing."""

    name: str
    words: tuple[str, ...]
    """Its kind, for people; several where the library does not distinguish them."""
    parent: str
    """The carrier of the body that it is attached to."""
    child: str
    """The body that it moves."""
    nv: int
    follows: str = ""
    """The joint or coupling that it follows, with the numbers, if it has no coordinates of its own."""
    numbers: Mapping[str, Sequence[float] | None] = field(default_factory=dict)
    """Limits (lower, upper, velocity, effort), armature, damping, friction and stiffness, by these words."""


@record(frozen=True, slots=True, eq=False)
class State:
    """A robot in one state: numbers about its own coordinates in kinetree's sense."""

    placements: Mapping[str, Array]
    """(4, 4) of each body in the world."""
    twists: Mapping[str, Array]
    """(6, nv) of each joint: velocity of the point at the world's origin, and angular velocity, in its axes."""
    mass_matrix: Array
    bias_forces: Array
    gravity_forces: Array


class Side(ABC):
    """One side of a comparison."""

    name: str
    """"mujoco", or the name of a robot."""
    title: str
    """The name with a version or a file."""
    bodies: dict[str, SeenBody]
    joints: dict[str, SeenJoint]
    gravity: tuple[float, float, float]
    notes: list[str]
    """Changes and assumptions made for the comparison, one sentence each."""
    drops_fixed: bool = False
    """Whether the masses of bodies that no joint moves are not kept."""
    remarks: dict[str, str]
    """Reasons that are known beforehand, by the quantity that they explain."""

    @property
    @abstractmethod
    def spread(self) -> Array:
        """G with q̇ = G v: one row per degree of freedom of each joint in `joints`, one column per own coordinate."""

    @abstractmethod
    def accepts(self, joint: str, kind: JointKind) -> bool:
        """Whether it has a joint of this name, or of another for the same body, with the coordinates of this kind."""

    @abstractmethod
    def state(self, kinds: Mapping[str, JointKind], q: Mapping[str, Array], v: Mapping[str, Array]) -> State:
        """The state in which the joints that are given have these coordinates in their kinds, and others are neutral.

        Raises UnfollowableError if its own joints cannot have them.
        """

    def rows(self) -> dict[str, slice]:
        """The rows of `spread`, by joint."""
        places, start = {}, 0
        for name, joint in self.joints.items():
            places[name] = slice(start, start + joint.nv)
            start += joint.nv
        return places

    def reason(self, what: str, parts: Mapping[str, Solid], ours: Solid, theirs: Solid) -> str:  # noqa: ARG002
        """Its known changes of inertias, for a body that consists of these parts; empty if nothing explains it."""
        return ""

    def reason_for_limit(self, word: str, ours: Sequence[float], theirs: float) -> str:  # noqa: ARG002
        """Its known changes of limits, given our lower, upper, and the one that differs."""
        return ""

    def solid_of(self, carrier: str) -> Solid | None:
        """All that moves rigidly with a body, in its frame; None where that is not known."""
        total = Solid.nothing()
        for body in self.bodies.values():
            if body.carrier == carrier:
                if body.own is None:
                    return None
                total = total + body.own.seen_from(body.placement)
        return total


def inverse(T: Array) -> Array:
    """The inverse of a placement (4, 4)."""
    out = np.eye(4)
    out[:3, :3] = T[:3, :3].T
    out[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return out


def word_for(kind: JointKind) -> str:
    """A kind of joint in a word or two."""
    while isinstance(kind, Placed):
        kind = kind.kind
    words: dict[type[JointKind], str] = {Revolute: "revolute", Continuous: "continuous", Prismatic: "prismatic"}
    return words.get(type(kind), type(kind).__name__.lower())


def _spread(c: Array) -> Array:
    """The inertia about the origin of a unit mass at c."""
    return np.asarray((c @ c) * np.eye(3) - np.outer(c, c))
