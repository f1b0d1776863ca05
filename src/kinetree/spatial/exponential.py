"""The exponential map of rotations and of rigid motions, its inverse, and the derivatives of both.

A rotation vector w is a rotation by |w| about itself; [v; w] also translates as it rotates. With b = (1 - cos a) / a²
and c = (a - sin a) / a³ at a = |w|, the translation of exp([v; w]) is Jₗ(w) v with Jₗ(w) = 1 + b w x + c w x w x, the
left Jacobian of rotations; the right one, Jᵣ(w), is its transpose (Solà, Deray and Atchuthan, "A micro Lie theory for
state estimation in robotics", arXiv:1812.01537, appendices B and D). Displacements are applied at the moving end, in
its axes: exp(w + ε) = exp(w) exp(Jᵣ(w) ε), to first order.

Nothing branches: `select` chooses between a series near zero and the closed form, and each is harmless where the other
is chosen.
"""

from __future__ import annotations

import math

from kinetree.expr import Scalar, atan2, cos, less, minimum, select, sin, sqrt
from kinetree.spatial.rotations import Quaternion
from kinetree.spatial.vectors import Mat3, Vec3

__all__ = [
    "motion_log",
    "quaternion_exp",
    "quaternion_log",
    "rotation_exp",
    "rotation_exp_jacobian",
    "rotation_log_jacobian",
    "rotation_polynomial",
    "series",
    "translation_exp",
    "translation_exp_jacobian",
    "translation_log",
]


def quaternion_exp(w: Vec3) -> Quaternion:
    """The unit quaternion of the rotation vector w."""
    angle, _ = _safe_length(w)
    half = 0.5 * angle
    s = sin(half) / angle
    return w.x * s, w.y * s, w.z * s, cos(half)


def quaternion_log(q: Quaternion) -> Vec3:
    """The rotation vector, of length at most pi, of a unit quaternion."""
    x, y, z, w = q
    n, _ = _safe_length(Vec3(x, y, z))
    sign = select(less(w, 0.0), -1.0, 1.0)
    s = 2.0 * sign * atan2(n, w * sign) / n
    return Vec3(x * s, y * s, z * s)


def motion_log(q: Quaternion, p: Vec3) -> tuple[Vec3, Vec3]:
    """`quaternion_log` of q, and `translation_log` of p by it; the cotangent of half the angle is in q already."""
    x, y, z, w = q
    n, _ = _safe_length(Vec3(x, y, z))
    sign = select(less(w, 0.0), -1.0, 1.0)
    c = w * sign
    half = atan2(n, c)
    s = 2.0 * sign * half / n
    turn = Vec3(x * s, y * s, z * s)
    across = turn.cross(p)
    return turn, p - across * 0.5 + turn.cross(across) * _log_coefficient_of(4.0 * half * half, half * c / n)


def rotation_exp(w: Vec3) -> Mat3:
    """The rotation of the rotation vector w: 1 + (sin a / a) w x + b w x w x."""
    angle, angle2 = _safe_length(w)
    half = 0.5 * angle
    s = sin(half)
    return rotation_polynomial(w, 2.0 * s * cos(half) / angle, 2.0 * s * s / angle2)


def rotation_exp_jacobian(w: Vec3) -> Mat3:
    """Jᵣ(w) = 1 - b w x + c w x w x: how a change of w displaces the rotation of w."""
    b, c, _ = _coefficients(w)
    return rotation_polynomial(w, -b, c)


def rotation_log_jacobian(w: Vec3) -> Mat3:
    """The inverse of Jᵣ(w), for |w| <= pi: 1 + w x / 2 + d w x w x."""
    return rotation_polynomial(w, 0.5, _log_coefficient(w))


def translation_exp(w: Vec3, v: Vec3) -> Vec3:
    """The translation of the rigid motion exp([v; w]): (1 + b w x + c w x w x) v."""
    b, c, _ = _coefficients(w)
    wv = w.cross(v)
    return v + wv * b + w.cross(wv) * c


def translation_log(w: Vec3, p: Vec3) -> Vec3:
    """The v for which `translation_exp(w, v)` is p, for |w| <= pi: (1 - w x / 2 + d w x w x) p."""
    wp = w.cross(p)
    return p - wp * 0.5 + w.cross(wp) * _log_coefficient(w)


def translation_exp_jacobian(w: Vec3, v: Vec3) -> Mat3:
    """The derivative of `translation_exp(w, v)` in w: -b v x - c ((w x v) x + w x v x) + (b' w x v + c' w x w x v) wᵀ.

    b' and c' are twice the derivatives of b and c in a², so that b' w is the gradient of b.
    """
    b, c, angle2 = _coefficients(w)
    small = less(angle2, _SERIES_BELOW)
    near = minimum(angle2, _SERIES_BELOW)
    # From sin a / a = 1 - c a² and cos a = 1 - b a².
    b_slope: Scalar = select(small, series(near, _B_SLOPE), (1.0 - c * angle2 - 2.0 * b) / angle2)
    c_slope: Scalar = select(small, series(near, _C_SLOPE), (b - 3.0 * c) / angle2)
    wv = w.cross(v)
    skew_v = Mat3.skew(v)
    linear = _scaled(skew_v, -b) - _scaled(Mat3.skew(wv) + Mat3.skew(w).times(skew_v), c)
    return linear + (wv * b_slope + w.cross(wv) * c_slope).outer(w)


_SERIES_BELOW = 0.25
_C = tuple((-1.0) ** k / math.factorial(2 * k + 3) for k in range(8))
_B_SLOPE = tuple((-1.0) ** (k + 1) * 2.0 * (k + 1) / math.factorial(2 * k + 4) for k in range(8))
_C_SLOPE = tuple((-1.0) ** (k + 1) * 2.0 * (k + 1) / math.factorial(2 * k + 5) for k in range(8))
# x/2 cot(x/2) = sum of (-1)^k B_2k x^2k / (2k)!: Bernoulli numbers B_2 to B_18.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
_D = tuple((-1.0) ** k * b / math.factorial(2 * k + 2) for k, b in enumerate(_BERNOULLI))


def _coefficients(w: Vec3) -> tuple[Scalar, Scalar, Scalar]:
    """b, c and a²."""
    angle, angle2 = _safe_length(w)
    s_half = sin(0.5 * angle)
    b: Scalar = 2.0 * s_half * s_half / angle2
    # c = (a - sin a) / a³ cancels near zero; its series is accurate there to the last bit.
    small = less(angle2, _SERIES_BELOW)
    c: Scalar = select(small, series(minimum(angle2, _SERIES_BELOW), _C), (1.0 - sin(angle) / angle) / angle2)
    return b, c, angle2


def _log_coefficient(w: Vec3) -> Scalar:
    """d = (1 - a/2 cot(a/2)) / a²."""
    angle, angle2 = _safe_length(w)
    half = 0.5 * angle
    return _log_coefficient_of(angle2, half * cos(half) / sin(half))


def _log_coefficient_of(angle2: Scalar, half_cot: Scalar) -> Scalar:
    """The coefficient of the logarithm, from a² and a/2 cot(a/2)."""
    small = less(angle2, _SERIES_BELOW)
    d: Scalar = select(small, series(minimum(angle2, _SERIES_BELOW), _D), (1.0 - half_cot) / angle2)
    return d


def rotation_polynomial(w: Vec3, s: Scalar, t: Scalar) -> Mat3:
    """1 + s w x + t w x w x."""
    x, y, z = w.components()
    sx, sy, sz = s * x, s * y, s * z
    tx, ty, tz = t * x, t * y, t * z
    xx, yy, zz, xy, xz, yz = tx * x, ty * y, tz * z, tx * y, tx * z, ty * z
    return Mat3(
        Vec3(1.0 - (yy + zz), xy - sz, xz + sy),
        Vec3(xy + sz, 1.0 - (xx + zz), yz - sx),
        Vec3(xz - sy, yz + sx, 1.0 - (xx + yy)),
    )


def _scaled(m: Mat3, s: Scalar) -> Mat3:
    return Mat3(m.x * s, m.y * s, m.z * s)


def series(x: Scalar, coefficients: tuple[float, ...]) -> Scalar:
    """Σ c_k xᵏ."""
    total: Scalar = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def _safe_length(w: Vec3) -> tuple[Scalar, Scalar]:
    """Length and its square; a length too small to matter is replaced by a tiny one that is safe to divide by."""
    squared = w.dot(w)
    squared = select(less(squared, _TINY), _TINY, squared)
    return sqrt(squared), squared


_TINY = 1e-36
"""The square of an angle whose sine rounds to the angle itself; a quarter of it is still nonzero in float32."""
