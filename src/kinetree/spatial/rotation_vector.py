"""Rotation vectors q: the rotation exp([q]), its rates, and the edge of the chart.

With t = |q|, everything is made of five functions of t² that are smooth even where t is zero:

    S = sin t / t,   A = (1 - cos t) / t²,   B = (t - sin t) / t³,   A' = dA/dt / t,   B' = dB/dt / t.

Source: Liu and Jain, "A Quick Tutorial on Multibody Dynamics" (2012), eqs. 53-56, which gives the angular velocity in
fixed coordinates; here it is in rotated ones, so A has the opposite sign.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinetree.expr import Scalar, atan2, cos, less, select, sin, sqrt
from kinetree.spatial.exponential import rotation_polynomial, series
from kinetree.spatial.vectors import Mat3, Vec3

__all__ = ["RECHART_ABOVE", "RotationVector", "recharted"]

RECHART_ABOVE = 1.5 * math.pi
"""A rotation vector longer than this is replaced; the margin above π prevents switching back and forth."""

_SERIES_BELOW = 4.0
"""The t² up to which the series are accurate to the last bit; above, the closed forms lose a bit or two at most.
"""
_SERIES_LENGTH = 11
# (1/2 - A) / t² = 1/4! - t²/6! + …  and  (1/6 - B) / t² = 1/5! - t²/7! + …
_A_REST = tuple((-1.0) ** k / math.factorial(2 * k + 4) for k in range(_SERIES_LENGTH))
_B_REST = tuple((-1.0) ** k / math.factorial(2 * k + 5) for k in range(_SERIES_LENGTH))


class RotationVector(NamedTuple):
    """q, and the five functions of its length."""

    q: Vec3
    S: Scalar
    A: Scalar
    B: Scalar
    dA: Scalar
    dB: Scalar

    @staticmethod
    def of(q: Vec3) -> RotationVector:
        t2 = q.dot(q)
        small = less(t2, _SERIES_BELOW)
        # Near zero: with a = (1/2 - A) / t² and b = (1/6 - B) / t², dA = 2 a - B and dB = 3 b - a.
        near = select(small, t2, _SERIES_BELOW)
        a, b = series(near, _A_REST), series(near, _B_REST)
        A_near, B_near = 0.5 - near * a, 1.0 / 6.0 - near * b
        # Far from zero: the derivatives of the closed forms, in terms of these forms.
        far = select(small, _SERIES_BELOW, t2)
        t = sqrt(far)
        inverse = 1.0 / far
        S_far = sin(t) / t
        A_far, B_far = (1.0 - cos(t)) * inverse, (1.0 - S_far) * inverse
        return RotationVector(
            q,
            select(small, 1.0 - near * B_near, S_far),
            select(small, A_near, A_far),
            select(small, B_near, B_far),
            select(small, 2.0 * a - B_near, (S_far - 2.0 * A_far) * inverse),
            select(small, 3.0 * b - a, (A_far - 3.0 * B_far) * inverse),
        )

    def rotation(self) -> Mat3:
        """exp([q]) = 1 + S [q] + A [q]², from rotated coordinates to fixed ones."""
        return rotation_polynomial(self.q, self.S, self.A)

    def jacobian(self) -> Mat3:
        """J with ω = J q̇ in rotated coordinates: 1 - A [q] + B [q]²."""
        return rotation_polynomial(self.q, -self.A, self.B)

    def bias(self, v: Vec3) -> Vec3:
        """J̇ v for q̇ = v, in rotated coordinates."""
        q = self.q
        qv = q.cross(v)
        along = q.dot(v)
        return qv * (-self.dA * along) + q.cross(qv) * (self.dB * along) + v.cross(qv) * self.B

    def rates(self, w: Vec3) -> Vec3:
        """q̇ = J⁻¹ ω for an angular velocity in rotated coordinates, for |q| < 2 π: ω + q x ω / 2 + d q x (q x ω)."""
        qw = self.q.cross(w)
        # d = (1 - S / (2 A)) / t², and S - 2 A = t² dA.
        return w + qw * 0.5 + self.q.cross(qw) * (self.dA / (-2.0 * self.A))


def recharted(q: Vec3, v: Vec3) -> tuple[Vec3, Vec3]:
    """The same rotation and angular velocity with |q| <= π, if |q| was more than `RECHART_ABOVE`."""
    t2 = q.dot(q)
    long = less(RECHART_ABOVE * RECHART_ABOVE, t2)
    t = sqrt(select(long, t2, 1.0))
    # t minus its whole turns, however many: t - 2 π for one.
    factor = select(long, atan2(sin(t), cos(t)) / t, 1.0)
    moved = q * factor
    rates = RotationVector.of(moved).rates(RotationVector.of(q).jacobian() @ v)
    return moved, Vec3(*(select(long, a, b) for a, b in zip(rates.components(), v.components(), strict=True)))
