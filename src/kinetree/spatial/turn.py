"""A turn about a coordinate axis: the cheapest way to rotate an inertia.

For the part of a matrix in the plane of the turn, with δ = a_xx - a_yy, σ = a_xy + a_yx and w = s δ + c σ,

    a_xx' = a_xx - s w,   a_yy' = a_yy + s w,   a_xy' = c w - a_yx,   a_yx' = c w - a_xy,

which is R a Rᵀ for s² + c² = 1 in 8 operations (7 if a is symmetric) instead of 16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.spatial.coriolis import CoriolisInertia
from kinetree.spatial.inertia import ArticulatedInertia, Inertia
from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = ["Turn"]


@record(frozen=True, slots=True)
class Turn:
    """A rotation about coordinate axis 0, 1 or 2 by an angle of sine s and cosine c."""

    axis: int
    s: Scalar
    c: Scalar

    @property
    def R(self) -> Mat3:
        """From the turned coordinates to the fixed ones."""
        about_z = Mat3(Vec3(self.c, -self.s, 0.0), Vec3(self.s, self.c, 0.0), Vec3(0.0, 0.0, 1.0))
        return _renamed(about_z, _cycle_matrix, (self.axis + 1) % 3)

    def back_rigid(self, inertia: Inertia) -> Inertia:
        """A rigid body's inertia, from turned coordinates to fixed ones."""
        return Inertia(inertia.mass, self.R @ inertia.h, self._symmetric(inertia.I))

    def back_articulated(self, inertia: ArticulatedInertia) -> ArticulatedInertia:
        """An articulated inertia, from turned coordinates to fixed ones."""
        return ArticulatedInertia(
            self._symmetric(inertia.I),
            _about_z(self.axis, inertia.H, _cycle_matrix, self._matrix_z),
            self._symmetric(inertia.M),
        )

    def back_coriolis(self, coriolis: CoriolisInertia) -> CoriolisInertia:
        """A Coriolis matrix, from turned coordinates to fixed ones."""
        A = _about_z(self.axis, coriolis.A, _cycle_matrix, self._matrix_z)
        return CoriolisInertia(A, self.R @ coriolis.p)

    def _symmetric(self, S: Sym3) -> Sym3:
        return _about_z(self.axis, S, _cycle_symmetric, self._symmetric_z)

    def _symmetric_z(self, S: Sym3) -> Sym3:
        s, c = self.s, self.c
        w = s * (S.xx - S.yy) + (c + c) * S.xy
        return Sym3(
            S.xx - s * w, S.yy + s * w, S.zz,
            c * w - S.xy, c * S.xz - s * S.yz, s * S.xz + c * S.yz,
        )  # fmt: skip

    def _matrix_z(self, A: Mat3) -> Mat3:
        s, c = self.s, self.c
        x, y, z = A.x, A.y, A.z
        w = s * (x.x - y.y) + c * (x.y + y.x)
        return Mat3(
            Vec3(x.x - s * w, c * w - y.x, c * x.z - s * y.z),
            Vec3(c * w - x.y, y.y + s * w, s * x.z + c * y.z),
            Vec3(c * z.x - s * z.y, s * z.x + c * z.y, z.z),
        )


T = TypeVar("T")


def _about_z(axis: int, a: T, cycle: Callable[[T], T], turn: Callable[[T], T]) -> T:
    """Apply a turn written for z about another axis, by renaming the axes there and back."""
    return _renamed(turn(_renamed(a, cycle, 2 - axis)), cycle, (axis + 1) % 3)


def _renamed(a: T, cycle: Callable[[T], T], times: int) -> T:
    for _ in range(times):
        a = cycle(a)
    return a


def _cycle_vector(a: Vec3) -> Vec3:
    """Rename the axes x to y, y to z, z to x."""
    return Vec3(a.z, a.x, a.y)


def _cycle_matrix(a: Mat3) -> Mat3:
    return Mat3(_cycle_vector(a.z), _cycle_vector(a.x), _cycle_vector(a.y))


def _cycle_symmetric(a: Sym3) -> Sym3:
    return Sym3(a.zz, a.xx, a.yy, a.xz, a.yz, a.xy)
