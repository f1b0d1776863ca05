"""Forces of a medium on an ellipsoid that moves in it: inertia of the medium, lift, drag and viscous resistance.

With the semi-axes r, the volume V, the velocity v of the centre relative to the medium and the angular velocity ω, all
along the semi-axes, density ρ, viscosity β, coefficients c, virtual masses m and inertias I per density:

    added mass     f = ρ (m∘v) × ω,    n = ρ (m∘v) × v + ρ (I∘ω) × ω
    Magnus lift    f = c_M ρ V ω × v
    Kutta lift     f = c_K ρ (n_s·v / |v|) A (n_s × v) × v,    n_s = (r_y r_z, r_z r_x, r_x r_y)²∘v / its length
    drag           f = -ρ |v| (c_b A + c_s (A_max - A)) v,    n = -ρ |(c_a J + c_s (J_max - J))∘ω| ω
    viscosity      f = -3 π β D v,    n = -π β D³ ω,    D = 2 (r_x + r_y + r_z) / 3

A is the area that is seen along v, and J_x = 8/15 π r_x max(r_y, r_z)⁴. Forces of the medium's inertia that depend on
accelerations are left out, as in MuJoCo.

Source: MuJoCo documentation, "Computation", section on fluid forces, ellipsoid model; version 4.
"""

from __future__ import annotations

from math import pi

from kinetree.algorithms.fluid import Medium
from kinetree.expr import Scalar, less, maximum, select, sqrt
from kinetree.records import record
from kinetree.spatial import Force, Motion, Transform, Vec3

__all__ = ["ImmersedEllipsoid"]

_LEAST = 1e-15
"""The least denominator, as in MuJoCo: it counts for ellipsoids of a millimetre."""
_TINY = 1e-200


@record(frozen=True, slots=True)
class ImmersedEllipsoid:
    """An ellipsoid in a medium."""

    frame: Transform
    """From the moving body's coordinates to those of the ellipsoid."""
    axes: tuple[float, float, float]
    """Half of each axis, m"""
    blunt_drag: float
    slender_drag: float
    angular_drag: float
    kutta_lift: float
    magnus_lift: float
    masses: tuple[float, float, float]
    """Virtual masses per density, m³"""
    inertias: tuple[float, float, float]
    """Virtual inertias per density, m⁵"""

    def wrench(self, motion: Motion, medium: Medium) -> Force:
        """The force of the medium, from the motion relative to it; both in the ellipsoid's axes."""
        v, w = motion.linear, motion.angular
        rho, beta = medium.density, medium.viscosity
        x, y, z = self.axes
        volume, D = 4.0 / 3.0 * pi * x * y * z, 2.0 / 3.0 * (x + y + z)
        momentum, spin = _times(self.masses, v) * rho, _times(self.inertias, w) * rho
        force = momentum.cross(w) + w.cross(v) * (self.magnus_lift * rho * volume)
        torque = momentum.cross(v) + spin.cross(w)

        areas = ((y * z) ** 2, (z * x) ** 2, (x * y) ** 2)
        normal, speed = _times(areas, v), _length(v)
        across, squared = normal.dot(v), normal.dot(normal)
        area = pi * _root(squared / maximum(across, _LEAST))
        cosine = across / maximum(speed * squared, _LEAST)
        force = force + normal.cross(v).cross(v) * (self.kutta_lift * rho * cosine * area)

        _, middle, largest = sorted(self.axes)
        drag = self.blunt_drag * area + self.slender_drag * (pi * largest * middle - area)
        swept = [8.0 / 15.0 * pi * a * max(b, c) ** 4 for a, b, c in ((x, y, z), (y, z, x), (z, x, y))]
        most = 8.0 / 15.0 * pi * middle * largest**4
        resistance = [self.angular_drag * J + self.slender_drag * (most - J) for J in swept]
        force = force - v * (3.0 * pi * beta * D + rho * speed * drag)
        torque = torque - w * (pi * beta * D**3 + rho * _length(_times(resistance, w)))
        return Force(torque, force)


def _times(factors: tuple[float, ...] | list[float], v: Vec3) -> Vec3:
    a, b, c = factors
    return Vec3(a * v.x, b * v.y, c * v.z)


def _length(v: Vec3) -> Scalar:
    return _root(v.dot(v))


def _root(squared: Scalar) -> Scalar:
    is_there = less(_TINY, squared)
    root: Scalar = select(is_there, sqrt(select(is_there, squared, 1.0)), 0.0)
    return root
