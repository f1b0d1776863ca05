"""Principal axes of meshes as MuJoCo's compiler finds them.

Jacobi rotations about the axes, each a quaternion, at the largest product of inertia first, until it is below 1e-7 of
the largest entry; then swaps until the moments decrease. The remaining products are dropped, which changes the inertia
of a mesh in the seventh digit; a robot that moves as in MuJoCo must drop it as well. The order and the signs of the
axes matter where a geom is fitted to a mesh.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["principal_axes", "rotation"]

_SMALL = 1e-7
"""Relative to the largest entry of the matrix: a smaller product of inertia counts as zero, moments as equal."""
_ROUNDS = 500
_HALF_TURN = 0.707106781186548


def principal_axes(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The moments of inertia (3,), the largest first, and the quaternion (4,) of their axes, scalar part first.

    `matrix` (3, 3) is symmetric.
    """
    q: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    size = float(np.abs(matrix).max())
    if not (size > 0.0 and math.isfinite(size)):
        return np.full(3, size), np.array(q)
    m: list[list[float]] = (np.asarray(matrix, dtype=np.float64) / size).tolist()
    moments = [0.0, 0.0, 0.0]
    for _ in range(_ROUNDS):
        D = _rotated(m, q)
        moments = [D[0][0], D[1][1], D[2][2]]
        xy, xz, yz = abs(D[0][1]), abs(D[0][2]), abs(D[1][2])
        row, column, axis = (0, 1, 2) if xy > xz and xy > yz else (0, 2, 1) if xz > yz else (1, 2, 0)
        product = D[row][column]
        if not abs(product) >= _SMALL:
            break
        tau = (D[column][column] - D[row][row]) / (2.0 * product)
        t = math.copysign(1.0, tau) / (abs(tau) + math.sqrt(1.0 + tau * tau)) if tau else 1.0
        half = 0.5 * math.atan(t)
        q = _turned(q, axis, math.cos(half), math.sin(half) if axis == 1 else -math.sin(half))
    for k in (0, 1, 0):
        if moments[k] + _SMALL < moments[k + 1]:
            moments[k], moments[k + 1] = moments[k + 1], moments[k]
            q = _turned(q, (k + 2) % 3, _HALF_TURN, _HALF_TURN)
    return size * np.array(moments), np.array(q)


def rotation(quaternion: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix (3, 3) of a unit quaternion, scalar part first."""
    return np.array(_matrix(tuple(map(float, quaternion))))


def _matrix(q: tuple[float, ...]) -> list[list[float]]:
    w, x, y, z = q
    return [
        [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]


def _rotated(m: list[list[float]], q: tuple[float, ...]) -> list[list[float]]:
    """Rᵀ m R."""
    R = _matrix(q)
    left = [[sum(R[k][i] * m[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    return [[sum(left[i][k] * R[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def _turned(q: tuple[float, ...], axis: int, cosine: float, sine: float) -> tuple[float, ...]:
    """The product of q and a rotation about one axis, given by the cosine and sine of half its angle; normalized."""
    r = [cosine, 0.0, 0.0, 0.0]
    r[axis + 1] = sine
    w = q[0] * r[0] - q[1] * r[1] - q[2] * r[2] - q[3] * r[3]
    x = q[0] * r[1] + q[1] * r[0] + q[2] * r[3] - q[3] * r[2]
    y = q[0] * r[2] - q[1] * r[3] + q[2] * r[0] + q[3] * r[1]
    z = q[0] * r[3] + q[1] * r[2] - q[2] * r[1] + q[3] * r[0]
    size = math.sqrt(w * w + x * x + y * y + z * z)
    return (w / size, x / size, y / size, z / size)
