"""The table of representations: how each is made from a unit quaternion and back, and the effect of small rotations.

A displacement δ turns an attitude in its own axes: R becomes R exp([δ]). Numbers are arrays, or any other scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kinetree.expr import absolute, less, less_equal, select
from kinetree.records import record
from kinetree.spatial import Mat3, Vec3
from kinetree.spatial.euler_angles import ORDERS, euler_from_quaternion, euler_jacobian, quaternion_from_euler
from kinetree.spatial.exponential import quaternion_exp, quaternion_log, rotation_log_jacobian
from kinetree.spatial.rotation_log import quaternion_from_matrix
from kinetree.spatial.rotation_vector import RotationVector
from kinetree.spatial.rotations import Quaternion, from_quaternion, quaternion_normalize

__all__ = ["REPRESENTATIONS", "Numbers", "Representation"]

Numbers = Sequence[Any]
"""Its numbers, one array each, row by row."""


@record(frozen=True)
class Representation:
    """One way to write an attitude. `eps` is the precision of the numbers that were given."""

    called: str
    """Its name in error messages."""
    shape: tuple[int, ...]
    to_quaternion: Callable[[Numbers], Quaternion]
    """The unit quaternion of its numbers."""
    from_quaternion: Callable[[Quaternion, float], Numbers]
    """Its numbers from a unit quaternion."""
    displacement: Callable[[Numbers], Sequence[Vec3]]
    """The derivative of δ by each of its numbers."""
    rates: Callable[[Quaternion, float], Sequence[Vec3]]
    """The derivative of each of its numbers by δ."""

    def reordered(self, called: str, order: Sequence[int]) -> Representation:
        """The same numbers in another order: entry k of the new one is entry `order[k]` of this one."""
        back = [order.index(k) for k in range(len(order))]

        def moved(x: Sequence[Any], places: Sequence[int]) -> list[Any]:
            return [x[k] for k in places]

        return Representation(
            called,
            self.shape,
            lambda x: self.to_quaternion(moved(x, back)),
            lambda q, eps: moved(self.from_quaternion(q, eps), order),
            lambda x: moved(self.displacement(moved(x, back)), order),
            lambda q, eps: moved(self.rates(q, eps), order),
        )


def _rows(x: Numbers) -> Mat3:
    return Mat3(Vec3(*x[0:3]), Vec3(*x[3:6]), Vec3(*x[6:9]))


def _columns(m: Mat3) -> tuple[Vec3, Vec3, Vec3]:
    columns = m.T
    return columns.x, columns.y, columns.z


def _quaternion_of_matrix(x: Numbers) -> Quaternion:
    """The quaternion with w >= 0; at exactly half a turn its largest component is positive."""
    q = quaternion_normalize(quaternion_from_matrix(_rows(x)))
    sign = select(less(q[3], 0.0), -1.0, 1.0)
    return q[0] * sign, q[1] * sign, q[2] * sign, q[3] * sign


def _matrix_rates(R: Mat3) -> list[Vec3]:
    """The derivative of entry ij is (row i of R) · (δ × e_j)."""
    return [e.cross(row) for row in (R.x, R.y, R.z) for e in _AXES]


def _matrix_displacement(x: Numbers) -> list[Vec3]:
    """[δ] is the skew part of Rᵀ dR; a symmetric part would make a matrix that is not a rotation."""
    return [rate * 0.5 for rate in _matrix_rates(_rows(x))]


def _quaternion_rates(q: Numbers) -> list[Vec3]:
    """dq = q (δ, 0) / 2."""
    x, y, z, w = (0.5 * x for x in q)
    return [Vec3(w, -z, y), Vec3(z, w, -x), Vec3(-y, x, w), Vec3(-x, -y, -z)]


def _quaternion_displacement(q: Numbers) -> list[Vec3]:
    """The vector part of 2 q* dq / |q|²; a change of the length alone has no effect."""
    x, y, z, w = q
    s = 4.0 / (x * x + y * y + z * z + w * w)
    return [rate * s for rate in _quaternion_rates(q)]


def _vector_rates(q: Quaternion) -> list[Vec3]:
    J = rotation_log_jacobian(quaternion_log(q))
    return [J.x, J.y, J.z]


def _euler_rates(order: str, q: Quaternion, eps: float) -> list[Vec3]:
    """The inverse of the matrix with the axes of the three turns as columns; NaN at gimbal lock."""
    first, second, third = _columns(euler_jacobian(euler_from_quaternion(q, order, _locked(eps)), order))
    normals = second.cross(third), third.cross(first), first.cross(second)
    volume = first.dot(normals[0])
    inverse = 1.0 / select(less_equal(absolute(volume), 2.0 * _locked(eps)), float("nan"), volume)
    return [normal * inverse for normal in normals]


def _locked(eps: float) -> float:
    """Half the distance from gimbal lock, in radians, that numbers of this precision cannot distinguish from zero."""
    return 8.0 * eps


def _euler(order: str) -> Representation:
    return Representation(
        f"the Euler angles {order}",
        (3,),
        lambda x: quaternion_from_euler(x, order),
        lambda q, eps: euler_from_quaternion(q, order, _locked(eps)),
        lambda x: _columns(euler_jacobian(x, order)),
        partial(_euler_rates, order),
    )


_AXES = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
_QUATERNION = Representation(
    "the quaternion",
    (4,),
    lambda x: quaternion_normalize((x[0], x[1], x[2], x[3])),
    lambda q, _: q,
    _quaternion_displacement,
    lambda q, _: _quaternion_rates(q),
)
REPRESENTATIONS = {
    "matrix": Representation(
        "the matrix",
        (3, 3),
        _quaternion_of_matrix,
        lambda q, _: from_quaternion(*q).components(),
        _matrix_displacement,
        lambda q, _: _matrix_rates(from_quaternion(*q)),
    ),
    "quaternion": _QUATERNION,
    "quaternion_wxyz": _QUATERNION.reordered("the quaternion", (3, 0, 1, 2)),
    "rotation_vector": Representation(
        "the rotation vector",
        (3,),
        lambda x: quaternion_exp(Vec3(*x)),
        lambda q, _: quaternion_log(q).components(),
        lambda x: _columns(RotationVector.of(Vec3(*x)).jacobian()),
        lambda q, _: _vector_rates(q),
    ),
    **{order: _euler(order) for order in ORDERS},
}
