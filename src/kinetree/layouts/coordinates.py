"""How other libraries write the coordinates of one joint. Numbers are arrays, one per coordinate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from kinetree.expr import atan2, cos, sin
from kinetree.joints import JointKind
from kinetree.records import record
from kinetree.spatial import Vec3
from kinetree.spatial.euler_angles import euler_from_quaternion, quaternion_from_euler
from kinetree.spatial.exponential import quaternion_exp, quaternion_log

__all__ = ["Coordinates", "Map", "Numbers", "quaternion_of_vector", "vector_of_quaternion"]

Numbers = list[Any]
"""One array per coordinate; their shapes broadcast."""
Map = Callable[[Numbers], Numbers]


@record(frozen=True)
class Coordinates:
    """The map q' = f(q) of one joint, and its inverse."""

    names: tuple[str, ...]
    """A short name for each of their coordinates."""
    to: Map
    back: Map
    directions: tuple[tuple[int, ...], ...] = ()
    """Groups of their coordinates, by place, whose length divides out and may not be zero."""
    late: tuple[int, ...] = ()
    """The coordinates, by place, that come after those of all other joints."""

    @staticmethod
    def unchanged(names: Sequence[str]) -> Coordinates:
        return Coordinates(tuple(names), list, list)

    @staticmethod
    def of(kind: JointKind, order: Sequence[int] | None = None, late: Sequence[int] = ()) -> Coordinates:
        """A kind's own coordinates in another order: entry k of theirs is entry `order[k]` of ours."""
        places = list(range(kind.nq)) if order is None else list(order)
        back = [places.index(k) for k in range(kind.nq)]
        names = tuple(kind.q_names[k] for k in places)
        quaternions = tuple(tuple(sorted(back[start : start + 4])) for start in kind.quaternions)
        return Coordinates(
            names, lambda q: [q[k] for k in places], lambda q: [q[k] for k in back], quaternions, tuple(late)
        )

    @staticmethod
    def circle() -> Coordinates:
        """An angle as its cosine and sine."""
        return Coordinates(
            ("cos", "sin"), lambda q: [cos(q[0]), sin(q[0])], lambda q: [atan2(q[1], q[0])], directions=((0, 1),)
        )

    @staticmethod
    def plane() -> Coordinates:
        """Two displacements, and an angle as its cosine and sine."""
        circle = Coordinates.circle()
        return Coordinates(
            ("x", "y", *circle.names),
            lambda q: [*q[:2], *circle.to(q[2:])],
            lambda q: [*q[:2], *circle.back(q[2:])],
            directions=((2, 3),),
        )

    @staticmethod
    def roll_pitch_yaw() -> Coordinates:
        """A quaternion as the angles of Rz(yaw) Ry(pitch) Rx(roll)."""
        return Coordinates(("roll", "pitch", "yaw"), _rpy_from_quaternion, _quaternion_from_rpy)

    @staticmethod
    def rotation_vector() -> Coordinates:
        """A quaternion as a rotation vector."""
        return Coordinates(("rx", "ry", "rz"), vector_of_quaternion, quaternion_of_vector)

    @staticmethod
    def vector_and_position() -> Coordinates:
        """A position and a quaternion as a rotation vector and the position."""
        ball = Coordinates.rotation_vector()
        return Coordinates(
            (*ball.names, "x", "y", "z"),
            lambda q: [*ball.to(q[3:]), *q[:3]],
            lambda q: [*q[3:], *ball.back(q[:3])],
        )

    @staticmethod
    def chain(parts: Sequence[Coordinates], nq: Sequence[int]) -> Coordinates:
        """The coordinates of several joints in series; `nq` are the sizes of our q of each."""
        ours = [0, *accumulate(nq)]
        theirs = [0, *accumulate(len(part.names) for part in parts)]

        def each(maps: Sequence[Map], starts: Sequence[int], q: Numbers) -> Numbers:
            return [x for k, f in enumerate(maps) for x in f(q[starts[k] : starts[k + 1]])]

        return Coordinates(
            tuple(f"{k}.{name}" if name else str(k) for k, part in enumerate(parts, 1) for name in part.names),
            lambda q: each([part.to for part in parts], ours, q),
            lambda q: each([part.back for part in parts], theirs, q),
            tuple(
                tuple(s + k for k in group) for part, s in zip(parts, theirs, strict=False) for group in part.directions
            ),
            tuple(s + k for part, s in zip(parts, theirs, strict=False) for k in part.late),
        )

    def after(self, to: Map, back: Map) -> Coordinates:
        """The coordinates of a joint whose q is converted by `to` before these apply, and by `back` after them."""
        return Coordinates(
            self.names, lambda q: self.to(to(q)), lambda q: back(self.back(q)), self.directions, self.late
        )


def _rpy_from_quaternion(q: Numbers) -> Numbers:
    yaw, pitch, roll = euler_from_quaternion((q[0], q[1], q[2], q[3]), "ZYX")
    return [roll, pitch, yaw]


def _quaternion_from_rpy(q: Numbers) -> Numbers:
    return list(quaternion_from_euler(q[::-1], "ZYX"))


def quaternion_of_vector(q: Numbers) -> Numbers:
    """The quaternion of a rotation vector."""
    return list(quaternion_exp(Vec3(*q)))


def vector_of_quaternion(q: Numbers) -> Numbers:
    """The rotation vector of a quaternion, of at most half a turn."""
    return list(quaternion_log((q[0], q[1], q[2], q[3])).components())
