"""A body's Coriolis matrix, from its inertia and its velocity.

Of all maps B with B v = v x* I v, it is one for which İ - B - Bᵀ vanishes for a body that moves at v:

    B = ½ [(v x*) I - I (v x) + (I v) x̄*],    where f x̄* is the map m ↦ m x* f.

Written out in angular and linear parts, half of it is zero, for any symmetric rotational inertia Ī:

    B = | A    0 |,    A = ω x (Ī - ½ tr Ī) - h x v x,    p = m v + ω x h, the linear momentum.
        | -p x 0 |

Source: Echeandia and Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body
systems", J. Comput. Nonlinear Dyn. 16 (2021), eq. 11.

It vanishes for other maps B, too. The Newton-Euler equations about the centre of mass, with the inertia Ī_c there, give
[ω̃] Ī_c for the rotation (Liu and Jain, "A Quick Tutorial on Multibody Dynamics" (2012), eq. 59). Seen from the origin
of the body's frame, it has the same p, and

    A = ω x (Ī - (h . h / m) 1) - h x v x,

which is ½ tr(Ī_c) (ω x) more than above.
"""

from __future__ import annotations

from kinetree.expr import less, select
from kinetree.records import record
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion_force import Force, Motion
from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = ["CoriolisInertia"]


@record(frozen=True, slots=True)
class CoriolisInertia:
    """A map from motions to forces: n = A ω, f = -p x ω. The maps of the parts of a composite body add up."""

    A: Mat3
    p: Vec3

    @staticmethod
    def zero() -> CoriolisInertia:
        return CoriolisInertia(Mat3.zero(), Vec3.zero())

    @staticmethod
    def of(inertia: Inertia, velocity: Motion) -> CoriolisInertia:
        """The Coriolis matrix of a moving rigid body."""
        I = inertia.I
        return _of(inertia, velocity, I - Sym3.scalar((I.xx + I.yy + I.zz) * 0.5))

    @staticmethod
    def about_center(inertia: Inertia, velocity: Motion) -> CoriolisInertia:
        """The Coriolis matrix by Euler's equations about the centre of mass; a body without mass has h = 0."""
        h, m = inertia.h, inertia.mass
        return _of(inertia, velocity, inertia.I - Sym3.scalar(h.dot(h) * (1.0 / select(less(0.0, m), m, 1.0))))

    @staticmethod
    def spinning(momentum: Force) -> CoriolisInertia:
        """2 B of rotors whose momentum, a pure couple, moves with the body: the map m ↦ m x* momentum."""
        return CoriolisInertia(Mat3.skew(-momentum.angular), Vec3.zero())

    def __add__(self, other: CoriolisInertia) -> CoriolisInertia:
        if not isinstance(other, CoriolisInertia):
            return NotImplemented
        return CoriolisInertia(self.A + other.A, self.p + other.p)

    def __matmul__(self, m: Motion) -> Force:
        if not isinstance(m, Motion):
            return NotImplemented
        return Force(self.A @ m.angular, m.angular.cross(self.p))

    def transposed_times(self, m: Motion) -> Force:
        """Bᵀ m, a pure couple."""
        return Force(self.A.T @ m.angular + self.p.cross(m.linear), Vec3.zero())


def _of(inertia: Inertia, velocity: Motion, J: Sym3) -> CoriolisInertia:
    """The map with A = ω x J - h x v x."""
    w, v, h = velocity.angular, velocity.linear, inertia.h
    x, y, z = (w.cross(column) for column in (J.full.x, J.full.y, J.full.z))
    A = Mat3(x, y, z).T - v.outer(h) + Sym3.scalar(h.dot(v)).full  # h x v x = v hᵀ - (h . v) 1
    return CoriolisInertia(A, v * inertia.mass + w.cross(h))
