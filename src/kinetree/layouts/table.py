"""The joint that each kind corresponds to in each library, and how its numbers are written there: one row per kind.

A kind without a row for a library is written unchanged if v is the rate of its q: its counterpart there, one joint or
several in a chain, has those coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kinetree.joints import (
    Composite,
    Continuous,
    ExponentialMap,
    FloatingBase,
    Free,
    FreeRPY,
    JointKind,
    Placed,
    Planar,
    Spherical,
)
from kinetree.layouts.bases import Basis, ChainBasis, SubspaceBasis, TurnedBasis, rotation_of
from kinetree.layouts.coordinates import Coordinates, Numbers, quaternion_of_vector, vector_of_quaternion
from kinetree.spatial import Mat3, Motion, Vec3
from kinetree.spatial.rotations import from_axis_angle

__all__ = ["LIBRARIES", "Written", "written"]

LIBRARIES = {
    "dart": "DART",
    "dart-6.16": "DART up to 6.16",
    "drake": "Drake",
    "mujoco": "MuJoCo",
    "pinocchio": "Pinocchio",
    "rbdl": "RBDL",
}
"""The names of the libraries. DART 6.17 changed the velocity of its free joint."""


class Written(NamedTuple):
    """How one joint is written in one library."""

    coordinates: Coordinates
    basis: Basis


Row = Callable[[JointKind], Written | None]


def written(kind: JointKind, library: str) -> Written | None:
    """How a kind is written in a library; None if it is not known."""
    row = _TABLE.get(type(kind), {}).get(library)
    if row is not None:
        return row(kind)
    return _in_order()(kind) if kind.is_flat else None


def _in_order(
    q_order: Sequence[int] | None = None, v_order: Sequence[int] | None = None, late: Sequence[int] = ()
) -> Row:
    """The same numbers in another order."""
    return lambda kind: Written(Coordinates.of(kind, q_order, late), Basis(kind.v_names, v_order))


def _turned(
    into: str,
    vectors: Sequence[Sequence[int]],
    spin: Sequence[int],
    q_order: Sequence[int] | None = None,
    v_order: Sequence[int] | None = None,
    late: Sequence[int] = (),
) -> Row:
    """The same numbers, with some of the vectors in v in the axes of the other side."""
    return lambda kind: Written(
        Coordinates.of(kind, q_order, late),
        TurnedBasis(kind.v_names, into, vectors, spin, rotation_of(kind), v_order),
    )


def _by_vector(into: str | None, vectors: Sequence[Sequence[int]] = ()) -> Row:
    """DART's free joint: a rotation vector, then the position; angular, then linear velocity."""
    by_twist = (
        _in_order(v_order=_ANGULAR_FIRST) if into is None else _turned(into, vectors, _ANGULAR, v_order=_ANGULAR_FIRST)
    )

    def row(kind: JointKind) -> Written:
        way = by_twist(kind)
        assert way is not None
        return Written(Coordinates.vector_and_position(), way.basis)

    return row


def _angle(kind: JointKind) -> Written:
    return Written(Coordinates.circle(), Basis(kind.v_names))


def _planar(kind: JointKind) -> Written:
    """A planar joint, with its velocity in the moving side's axes."""

    def turn(q: Numbers) -> Mat3:
        return from_axis_angle(Vec3(0.0, 0.0, 1.0), q[2])

    basis = TurnedBasis(kind.v_names, "moving", [(0, 1, None)], (None, None, 2), turn)
    return Written(Coordinates.plane(), basis)


def _own(library: str) -> Row:
    """A joint between placements, written like the joint inside."""

    def row(kind: JointKind) -> Written | None:
        assert isinstance(kind, Placed)
        return written(kind.kind, library)

    return row


def _parts(library: str) -> Row:
    """A composite, each part by its own row."""

    def row(kind: JointKind) -> Written | None:
        assert isinstance(kind, Composite)
        kinds = [part for part, _ in kind.parts]
        ways = [way for part in kinds if (way := written(part, library)) is not None]
        if len(ways) < len(kinds):
            return None
        nq = [part.nq for part in kinds]
        coordinates = Coordinates.chain([way.coordinates for way in ways], nq)
        return Written(coordinates, ChainBasis([way.basis for way in ways], nq, [part.nv for part in kinds]))

    return row


def _ball_rpy(kind: JointKind) -> Written:
    """A ball joint with three angles, and its angular velocity in the fixed side's axes."""
    turned = TurnedBasis(kind.v_names, "fixed", [(0, 1, 2)], (0, 1, 2), rotation_of(kind))
    return Written(Coordinates.roll_pitch_yaw(), turned)


def _ball_by_vector(library: str) -> Row:
    """The library's own ball joint, which has a quaternion or angles: none has the rates of a rotation vector as v."""

    def row(kind: JointKind) -> Written:
        ball = written(Spherical(), library)
        assert ball is not None

        def to(q: Numbers) -> Numbers:
            return quaternion_of_vector(_signed(kind, q))

        def back(q: Numbers) -> Numbers:
            return _signed(kind, vector_of_quaternion(q))

        def angular(m: Motion) -> Numbers:
            return list(m.angular.components())

        return Written(ball.coordinates.after(to, back), SubspaceBasis(kind, angular, to, ball.basis))

    return row


def _vector(kind: JointKind) -> Written:
    """DART's ball joint: a rotation vector."""
    return Written(Coordinates.rotation_vector(), Basis(kind.v_names))


def _vector_as_it_is(kind: JointKind) -> Written:
    """The same rotation vector, of any length, and the angular velocity in the moving side's axes."""

    def signed(q: Numbers) -> Numbers:
        return _signed(kind, q)

    def angular(m: Motion) -> Numbers:
        return list(m.angular.components())

    coordinates = Coordinates.unchanged(kind.q_names).after(signed, signed)
    return Written(coordinates, SubspaceBasis(kind, angular, signed, Basis(Spherical().v_names)))


def _rpy_and_twist(kind: JointKind) -> Written:
    """A free joint with its angles first, and an angular, then a linear velocity in the fixed side's axes."""
    names = Free().v_names
    twist = TurnedBasis(names, "fixed", [_LINEAR, _ANGULAR], _ANGULAR, rotation_of(kind), _ANGULAR_FIRST)

    def signed(q: Numbers) -> Numbers:
        return _signed(kind, q)

    def six(m: Motion) -> Numbers:
        return list(m.linear_first())

    coordinates = Coordinates.of(kind, _ANGULAR_FIRST).after(signed, signed)
    return Written(coordinates, SubspaceBasis(kind, six, list, twist))


def _signed(kind: JointKind, q: Numbers) -> Numbers:
    """Apply the signs that a kind's mirror images have."""
    assert isinstance(kind, ExponentialMap | FreeRPY)
    return [x * sign for x, sign in zip(q, kind.signs, strict=True)]


_POSITION = (0, 1, 2)
_W_FIRST = (6, 3, 4, 5)
_YAW_FIRST = (0, 1, 2, 5, 4, 3)
_LINEAR, _ANGULAR = (0, 1, 2), (3, 4, 5)
_ANGULAR_FIRST = (*_ANGULAR, *_LINEAR)
_DART = ("dart", "dart-6.16")

_TABLE: Mapping[type[JointKind], Mapping[str, Row]] = {
    Composite: {library: _parts(library) for library in LIBRARIES},
    Continuous: {"pinocchio": _angle},
    ExponentialMap: {
        library: _vector_as_it_is if library in _DART else _ball_by_vector(library) for library in LIBRARIES
    },
    FloatingBase: {
        "dart": _by_vector("fixed", [_ANGULAR]),
        "dart-6.16": _by_vector("moving", [_LINEAR]),
        "drake": _turned("fixed", [_ANGULAR], _ANGULAR, (*_W_FIRST, *_POSITION), _ANGULAR_FIRST),
        "mujoco": _in_order((*_POSITION, *_W_FIRST)),
        "pinocchio": _turned("moving", [_LINEAR], _ANGULAR),
        "rbdl": _in_order(late=[6]),
    },
    Free: {
        "dart": _by_vector("fixed", [_LINEAR, _ANGULAR]),
        "dart-6.16": _by_vector(None),
        "drake": _turned("fixed", [_LINEAR, _ANGULAR], _ANGULAR, (*_W_FIRST, *_POSITION), _ANGULAR_FIRST),
        "mujoco": _turned("fixed", [_LINEAR], _ANGULAR, (*_POSITION, *_W_FIRST)),
        "pinocchio": _in_order(),
        "rbdl": _turned("fixed", [_LINEAR], _ANGULAR, late=[6]),
    },
    FreeRPY: {
        **{library: _in_order(_YAW_FIRST, _YAW_FIRST) for library in _DART},
        "drake": _rpy_and_twist,
        "mujoco": _in_order(_YAW_FIRST, _YAW_FIRST),
        "pinocchio": _in_order(_YAW_FIRST, _YAW_FIRST),
        "rbdl": _in_order(_YAW_FIRST, _YAW_FIRST),
    },
    Placed: {library: _own(library) for library in LIBRARIES},
    Planar: {"pinocchio": _planar},
    Spherical: {
        **dict.fromkeys(_DART, _vector),
        "drake": _ball_rpy,
        "mujoco": _in_order((3, 0, 1, 2)),
        "pinocchio": _in_order(),
        "rbdl": _in_order(late=[3]),
    },
}
