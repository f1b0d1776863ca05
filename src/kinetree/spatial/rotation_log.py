"""The quaternion and the logarithm of a rotation matrix, for every angle.

Source: Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1 (1978): the largest of the four
components is found first, and the others are divided by it.
"""

from __future__ import annotations

from kinetree.expr import Scalar, less, select
from kinetree.spatial.exponential import quaternion_log
from kinetree.spatial.rotations import Quaternion
from kinetree.spatial.vectors import Mat3, Vec3

__all__ = ["quaternion_from_matrix", "rotation_log"]


def rotation_log(R: Mat3) -> Vec3:
    """The rotation vector, of length at most pi: R = exp([w])."""
    return quaternion_log(quaternion_from_matrix(R))


def quaternion_from_matrix(R: Mat3) -> Quaternion:
    """x, y, z, w of the rotation, of a length between 2 and 4, on which the logarithm does not depend."""
    xx, yy, zz = R.x.x, R.y.y, R.z.z
    trace = xx + yy + zz
    a, b, c = R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y
    xy, xz, yz = R.x.y + R.y.x, R.x.z + R.z.x, R.y.z + R.z.y
    by_x = (1.0 + xx - yy - zz, xy, xz, a)
    by_y = (xy, 1.0 + yy - xx - zz, yz, b)
    by_z = (xz, yz, 1.0 + zz - xx - yy, c)
    by_w = (a, b, c, 1.0 + trace)
    x_or_y = _either(less(yy, xx), by_x, by_y)
    largest = select(less(yy, xx), xx, yy)
    axis = _either(less(largest, zz), by_z, x_or_y)
    largest = select(less(largest, zz), zz, largest)
    return _either(less(largest, trace), by_w, axis)


def _either(first: Scalar, a: Quaternion, b: Quaternion) -> Quaternion:
    x, y, z, w = (select(first, p, q) for p, q in zip(a, b, strict=True))
    return x, y, z, w
