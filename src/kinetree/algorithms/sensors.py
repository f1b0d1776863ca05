"""Measurements of sensors on bodies: places, velocities and accelerations of frames, and motions of groups of bodies.

Accelerations are those that an accelerometer feels: gravity is an acceleration of the world the other way.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), sections 2.2 and 2.11 (eq. 2.45 for the acceleration of a
point); MuJoCo documentation, "XML Reference", section on sensors; version 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.expr import Scalar, less, select, sqrt
from kinetree.spatial import Force, Inertia, Mat3, Motion, Transform, Vec3
from kinetree.spatial.rotation_log import quaternion_from_matrix

__all__ = [
    "FrameMotion",
    "acceleration_in_world",
    "angular_momentum_of",
    "axes_seen",
    "center_of",
    "center_velocity_of",
    "felt_acceleration",
    "place_seen",
    "quaternion_seen",
    "velocity_seen",
]


class FrameMotion(NamedTuple):
    """Where a frame is, and how it moves; motions are in the frame's own coordinates."""

    X: Transform
    """From the world's coordinates."""
    v: Motion
    a: Motion


def place_seen(frame: FrameMotion, reference: FrameMotion | None) -> Vec3:
    """The origin of a frame, in the world or as seen from another frame."""
    return frame.X.r if reference is None else reference.X.E @ (frame.X.r - reference.X.r)


def axes_seen(frame: FrameMotion, reference: FrameMotion | None) -> Mat3:
    """The axes of a frame, one per row, in the world's axes or in those of another frame."""
    return frame.X.E if reference is None else frame.X.E.times(reference.X.E.T)


def quaternion_seen(frame: FrameMotion, reference: FrameMotion | None) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The attitude of a frame as a unit quaternion w, x, y, z whose first number is not negative."""
    x, y, z, w = quaternion_from_matrix(axes_seen(frame, reference).T)
    scale = select(less(w, 0.0), -1.0, 1.0) / sqrt(x * x + y * y + z * z + w * w)
    return w * scale, x * scale, y * scale, z * scale


def velocity_seen(frame: FrameMotion, reference: FrameMotion | None) -> tuple[Vec3, Vec3]:
    """The angular velocity of a frame and the velocity of its origin, in the world or as seen from another frame."""
    back = frame.X.E.T
    w, v = back @ frame.v.angular, back @ frame.v.linear
    if reference is None:
        return w, v
    back = reference.X.E.T
    w_r, v_r = back @ reference.v.angular, back @ reference.v.linear
    offset = frame.X.r - reference.X.r
    return reference.X.E @ (w - w_r), reference.X.E @ (v - v_r - w_r.cross(offset))


def felt_acceleration(frame: FrameMotion) -> Vec3:
    """The acceleration of the frame's origin less gravity, in the frame's axes."""
    return frame.a.linear + frame.v.angular.cross(frame.v.linear)


def acceleration_in_world(frame: FrameMotion) -> tuple[Vec3, Vec3]:
    """The angular acceleration, and that of the origin less gravity, in the world's axes."""
    back = frame.X.E.T
    return back @ frame.a.angular, back @ felt_acceleration(frame)


def center_of(parts: Sequence[tuple[Inertia, FrameMotion]]) -> Vec3:
    """The centre of mass of inertias in frames, in the world."""
    mass: Scalar = 0.0
    moment = Vec3.zero()
    for inertia, frame in parts:
        mass = mass + inertia.mass
        moment = moment + frame.X.r * inertia.mass + frame.X.E.T @ inertia.h
    return moment * (1.0 / mass)


def center_velocity_of(parts: Sequence[tuple[Inertia, FrameMotion]]) -> Vec3:
    """The velocity of that centre, in the world's axes."""
    mass: Scalar = 0.0
    momentum = Vec3.zero()
    for inertia, frame in parts:
        mass = mass + inertia.mass
        own = frame.v.linear * inertia.mass + frame.v.angular.cross(inertia.h)
        momentum = momentum + frame.X.E.T @ own
    return momentum * (1.0 / mass)


def angular_momentum_of(parts: Sequence[tuple[Inertia, FrameMotion]], center: Vec3) -> Vec3:
    """The angular momentum about that centre, in the world's axes."""
    total = Force.zero()
    for inertia, frame in parts:
        total = total + frame.X.back(inertia @ frame.v)
    return total.angular - center.cross(total.linear)
