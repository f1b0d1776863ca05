"""Points fixed to a frame at positions that are inputs: where they are and how they move, as functions of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.options import ExpressedIn, classical, expressed_in_option, frame_option
from kinetree.model import Frame, Model
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["point_acceleration", "point_jacobian", "point_position", "point_velocity"]


def _position(model: Form, q: Slots, point: Sequence[Scalar], *, frame: Frame) -> Sequence[Scalar]:
    X = frame.placement @ algorithms.placements(model.tree, q)[frame.slot]
    return (X.r + X.E.T @ Vec3(*point)).components()


def _velocity(
    model: Form, q: Slots, v: Slots, point: Sequence[Scalar], *, frame: Frame, expressed_in: str
) -> Sequence[Scalar]:
    twist = _at(point) @ frame.placement @ algorithms.velocities(model.tree, q, v)[frame.slot]
    return _turned(model, q, frame, twist.linear, expressed_in)


def _acceleration(
    model: Form, q: Slots, v: Slots, qdd: Slots, point: Sequence[Scalar], *, frame: Frame, expressed_in: str
) -> Sequence[Scalar]:
    X = _at(point) @ frame.placement
    a = X @ algorithms.accelerations(model.tree, q, v, qdd)[frame.slot]
    twist = X @ algorithms.velocities(model.tree, q, v)[frame.slot]
    return _turned(model, q, frame, classical(a, twist).linear, expressed_in)


def _jacobian(model: Form, q: Slots, point: Sequence[Scalar], *, frame: Frame, expressed_in: str) -> list[Scalar]:
    axes = "local" if expressed_in == "local" else "local_world_aligned"
    transforms = algorithms.bodies_seen(model.tree, q, frame.slot, _at(point) @ frame.placement, axes)
    columns = algorithms.jacobian(model.tree, q, frame.slot, transforms)
    J = model.tree.columns(3)
    for j, _ in model.tree.toward_root(frame.slot):
        J[j] = [m.linear.components() for m in columns[j]]
    return J.flat()


def _at(point: Sequence[Scalar]) -> Transform:
    """The transform from a frame's coordinates to the same axes at the point."""
    return Transform(Mat3.identity(), Vec3(*point))


def _turned(model: Form, q: Slots, frame: Frame, x: Vec3, expressed_in: str) -> Sequence[Scalar]:
    """Express a vector, given in the frame's axes, in the requested ones."""
    if expressed_in == "local":
        return x.components()
    E = (frame.placement @ algorithms.placements(model.tree, q)[frame.slot]).E
    return (E.T @ x).components()


_Q, _V, _QDD, _POINT = ("q", "nq"), ("v", "nv"), ("qdd", "nv"), ("point", 3)
_FRAME = {"frame": frame_option, "expressed_in": expressed_in_option}
POINT_POSITION = Definition("point_position", (_Q, _POINT), (3,), _position, {"frame": frame_option})
POINT_VELOCITY = Definition("point_velocity", (_Q, _V, _POINT), (3,), _velocity, _FRAME)
POINT_ACCELERATION = Definition("point_acceleration", (_Q, _V, _QDD, _POINT), (3,), _acceleration, _FRAME)
POINT_JACOBIAN = Definition("point_jacobian", (_Q, _POINT), (3, "nv"), _jacobian, _FRAME)


@defined_by(POINT_POSITION)
def point_position(
    robot: Model,
    q: ArrayLike,
    point: ArrayLike,
    frame: str,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The position of a point fixed to a frame.

    Returns:
        Position (…, 3) in the world; m.

    Source: Featherstone, RBDA (2008), section 5.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.kinematics.point_position(robot, [0.3, 0.1], [1.0, 2.0, 3.0], robot.root).tolist()
    [1.0, 2.0, 3.0]
    """
    return run(
        POINT_POSITION,
        robot,
        (q, point),
        frame=frame,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(POINT_VELOCITY)
def point_velocity(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    point: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The velocity of a point fixed to a frame.

    Args:
        expressed_in: "local" (the frame's axes), "world" or "local_world_aligned" (both mean the world's axes, as a
            point's velocity does not depend on an origin).

    Returns:
        Velocity (…, 3); m/s.

    Source: Featherstone, RBDA (2008), eq. 2.3: v + ω × r.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v, point = [0.3, 0.1], [0.0, 1.0], [1.0, 2.0, 3.0]
    >>> kt.kinematics.point_velocity(robot, q, v, point, robot.root, expressed_in="world").tolist()
    [0.0, 0.0, 0.0]
    """
    return run(
        POINT_VELOCITY,
        robot,
        (q, v, point),
        frame=frame,
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(POINT_ACCELERATION)
def point_acceleration(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    point: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The acceleration of a point fixed to a frame: the second derivative of its position, gravity not included.

    Args:
        expressed_in: "local" (the frame's axes), "world" or "local_world_aligned" (both mean the world's axes, as a
            point's velocity does not depend on an origin).

    Returns:
        Acceleration (…, 3), the classical one; m/s².

    Source: Featherstone, RBDA (2008), eqs. 5.8 and 2.45.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v, qdd, point = [0.3, 0.1], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0, -0.5]
    >>> a = kt.kinematics.point_acceleration(robot, q, v, qdd, point, "lower_rod", expressed_in="local")
    >>> (a + 0.0).tolist()
    [0.0, 0.0, 0.5]
    """
    return run(
        POINT_ACCELERATION,
        robot,
        (q, v, qdd, point),
        frame=frame,
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(POINT_JACOBIAN)
def point_jacobian(
    robot: Model,
    q: ArrayLike,
    point: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix that takes v to the velocity of a point fixed to a frame: J v = point_velocity.

    Args:
        expressed_in: "local" (the frame's axes), "world" or "local_world_aligned" (both mean the world's axes, as a
            point's velocity does not depend on an origin).

    Returns:
        J (…, 3, nv).

    Source: Featherstone, RBDA (2008), section 4.1.4, with the point as the origin.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> J = kt.kinematics.point_jacobian(robot, [0.3, 0.1], [0.0, 0.0, -0.5], "lower_rod", expressed_in="local")
    >>> (J[:, 1] + 0.0).tolist()
    [-0.5, 0.0, 0.0]
    """
    return run(
        POINT_JACOBIAN,
        robot,
        (q, point),
        frame=frame,
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
    )
