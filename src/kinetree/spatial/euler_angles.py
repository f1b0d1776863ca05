"""Euler angles in all twelve orders: R = R_a(q1) R_b(q2) R_c(q3), each turn about an axis as moved by those before it.

With the half angles of q1 + q3 and q1 - q3, s and d, the unit quaternion of a repeated axis (a = c) has the components

    w = cos(q2/2) cos s,   a: cos(q2/2) sin s,   b: sin(q2/2) cos d,   k: e sin(q2/2) sin d,

with k the remaining axis and e = 1 where a, b, k are in cyclic order, -1 otherwise. For three different axes the sums
and differences w ± e b and a ± k take the place of these four. So s and d are each an arc tangent, accurate at every
angle, and only one of them is undefined at gimbal lock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.expr import Scalar, atan2, cos, less, less_equal, select, sin, sqrt
from kinetree.spatial.rotations import Quaternion, quaternion_product
from kinetree.spatial.turn import Turn
from kinetree.spatial.vectors import Mat3, Vec3

__all__ = ["ORDERS", "euler_from_quaternion", "euler_jacobian", "quaternion_from_euler"]

ORDERS = tuple(a + b + c for a in "XYZ" for b in "XYZ" if b != a for c in "XYZ" if c != b)
"""All twelve: no axis appears twice in succession."""
_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


def quaternion_from_euler(angles: Sequence[Scalar], order: str) -> Quaternion:
    """The product of the three turns' quaternions."""
    turns: list[Quaternion] = []
    for axis, angle in zip(_axes(order), angles, strict=True):
        s = sin(0.5 * angle)
        x, y, z = (s if k == axis else 0.0 for k in range(3))
        turns.append((x, y, z, cos(0.5 * angle)))
    first, second, third = turns
    return quaternion_product(quaternion_product(first, second), third)


def euler_from_quaternion(q: Quaternion, order: str, locked_below: float = 0.0) -> tuple[Scalar, Scalar, Scalar]:
    """The angles of a quaternion of any nonzero length.

    The first and third are within (-π, π], the second is within ±π/2, or within [0, π] if the first axis is repeated.
    At gimbal lock the third is zero; half the distance from it, in radians, counts as zero up to `locked_below`.
    """
    a, b, c = _axes(order)
    k = 3 - a - b
    e = 1.0 if (b - a) % 3 == 1 else -1.0
    w, qa, qb, qk = q[3], q[a], q[b], q[k]
    if c == a:
        (ss, cs), (sd, cd) = (qa, w), (e * qk, qb)
    else:
        (ss, cs), (sd, cd) = (qa + qk, w + e * qb), (qa - qk, w - e * qb)
    sums, differences = ss * ss + cs * cs, sd * sd + cd * cd
    if c == a:
        middle = 2.0 * atan2(sqrt(differences), sqrt(sums))
    else:
        middle = atan2(4.0 * (w * qb + e * (qa * qk)), 2.0 * (sqrt(sums) * sqrt(differences)))
    s, d = atan2(ss, cs), atan2(sd, cd)
    least = (sums + differences) * (locked_below * locked_below)
    s, d = select(less_equal(sums, least), d, s), select(less_equal(differences, least), s, d)
    return _within_half_turn(s + d), middle, _within_half_turn(s - d)


def euler_jacobian(angles: Sequence[Scalar], order: str) -> Mat3:
    """J with ω = J q̇ in rotated coordinates; it has no inverse at gimbal lock."""
    a, b, c = _axes(order)
    _, second, third = (Turn(k, sin(x), cos(x)).R for k, x in zip((a, b, c), angles, strict=True))
    return Mat3(third.T @ (second.T @ _AXES[a]), third.T @ _AXES[b], _AXES[c]).T


def _axes(order: str) -> tuple[int, int, int]:
    a, b, c = ("XYZ".index(letter) for letter in order)
    return a, b, c


def _within_half_turn(angle: Scalar) -> Scalar:
    """An angle within two turns as one in (-π, π]."""
    below: Scalar = select(less_equal(angle, -math.pi), angle + 2.0 * math.pi, angle)
    wrapped: Scalar = select(less(math.pi, angle), angle - 2.0 * math.pi, below)
    return wrapped
