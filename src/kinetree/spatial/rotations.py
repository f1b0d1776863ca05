"""Rotations about an axis, from roll-pitch-yaw and from a quaternion, and the algebra of quaternions.

All return the rotation R that takes coordinates of the rotated frame to those of the fixed one; a Transform's E is its
transpose.
"""

from __future__ import annotations

import math

from kinetree.expr import Scalar, cos, sin, sqrt
from kinetree.spatial.vectors import Mat3, Vec3

__all__ = [
    "Quaternion",
    "from_axis_angle",
    "from_quaternion",
    "from_rpy",
    "quaternion_conjugate",
    "quaternion_normalize",
    "quaternion_product",
    "quaternion_rates",
]

Quaternion = tuple[Scalar, Scalar, Scalar, Scalar]
"""x, y, z, w."""


def from_axis_angle(axis: Vec3, angle: Scalar) -> Mat3:
    """Rodrigues' formula for a unit axis: c 1 + s [axis x] + (1 - c) axis axisᵀ."""
    s, c = sin(angle), cos(angle)
    t = 1.0 - c
    a = axis
    # c + t a_k², written so that a_k = 1 leaves exactly 1 and a_k = 0 exactly c.
    diagonal = [1.0 if a_k * a_k == 1.0 else c + t * (a_k * a_k) for a_k in a.components()]
    xy, xz, yz = t * (a.x * a.y), t * (a.x * a.z), t * (a.y * a.z)
    return Mat3(
        Vec3(diagonal[0], xy - s * a.z, xz + s * a.y),
        Vec3(xy + s * a.z, diagonal[1], yz - s * a.x),
        Vec3(xz - s * a.y, yz + s * a.x, diagonal[2]),
    )


def from_rpy(roll: float, pitch: float, yaw: float) -> Mat3:
    """Rz(yaw) Ry(pitch) Rx(roll), as in URDF. The sines and cosines of quarter turns are exact."""
    sr, cr = _sin_cos(roll)
    sp, cp = _sin_cos(pitch)
    sy, cy = _sin_cos(yaw)
    return Mat3(
        Vec3(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        Vec3(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        Vec3(0.0 - sp, cp * sr, cp * cr),  # no negative zero without rotation
    )


def _sin_cos(angle: float) -> tuple[float, float]:
    """Sine and cosine; an angle that is the float nearest to k pi/2 is taken as that quarter turn.

    The float nearest to pi/2 differs from it by 6e-17, and so would its cosine from zero.
    """
    quarters = round(angle / (math.pi / 2)) if abs(angle) < 100.0 else 0
    if quarters and angle == quarters * (math.pi / 2):
        return ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[quarters % 4]
    return math.sin(angle), math.cos(angle)


def from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Mat3:
    """The rotation of a quaternion of any nonzero length: the length divides out."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    sx, sy, sz = s * x, s * y, s * z
    xx, yy, zz = x * sx, y * sy, z * sz
    xy, xz, yz = x * sy, x * sz, y * sz
    wx, wy, wz = w * sx, w * sy, w * sz
    return Mat3(
        Vec3(1.0 - (yy + zz), xy - wz, xz + wy),
        Vec3(xy + wz, 1.0 - (xx + zz), yz - wx),
        Vec3(xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


def quaternion_product(p: Quaternion, q: Quaternion) -> Quaternion:
    """p q: first q's rotation, then p's."""
    px, py, pz, pw = p
    qx, qy, qz, qw = q
    return (
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
        pw * qw - px * qx - py * qy - pz * qz,
    )


def quaternion_conjugate(q: Quaternion) -> Quaternion:
    """The conjugate: for a unit quaternion, the inverse rotation."""
    x, y, z, w = q
    return -x, -y, -z, w


def quaternion_rates(q: Quaternion, w: Vec3) -> Quaternion:
    """The derivative of a quaternion at the angular velocity w in the rotated frame: q w / 2."""
    half = w * 0.5
    return quaternion_product(q, (half.x, half.y, half.z, 0.0))


def quaternion_normalize(q: Quaternion) -> Quaternion:
    """The unit quaternion of the same rotation."""
    x, y, z, w = q
    s = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return x * s, y * s, z * s, w * s
