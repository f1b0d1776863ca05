"""Three-dimensional vectors and matrices, on numbers of any kind.

Components are named, never indexed, so that a trace records each product separately and a zero can vanish.
"""

from __future__ import annotations

from kinetree.expr import Scalar
from kinetree.records import record

__all__ = ["Mat3", "Sym3", "Vec3"]


@record(frozen=True, slots=True)
class Vec3:
    """A vector."""

    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def zero() -> Vec3:
        return Vec3(0.0, 0.0, 0.0)

    def __add__(self, b: Vec3) -> Vec3:
        return Vec3(self.x + b.x, self.y + b.y, self.z + b.z)

    def __sub__(self, b: Vec3) -> Vec3:
        return Vec3(self.x - b.x, self.y - b.y, self.z - b.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, s: Scalar) -> Vec3:
        return Vec3(self.x * s, self.y * s, self.z * s)

    def dot(self, b: Vec3) -> Scalar:
        return self.x * b.x + self.y * b.y + self.z * b.z

    def cross(self, b: Vec3) -> Vec3:
        return Vec3(
            self.y * b.z - self.z * b.y,
            self.z * b.x - self.x * b.z,
            self.x * b.y - self.y * b.x,
        )

    def outer(self, b: Vec3) -> Mat3:
        return Mat3(b * self.x, b * self.y, b * self.z)

    def components(self) -> tuple[Scalar, Scalar, Scalar]:
        return self.x, self.y, self.z


@record(frozen=True, slots=True)
class Mat3:
    """A matrix, by its rows."""

    x: Vec3
    y: Vec3
    z: Vec3

    @staticmethod
    def zero() -> Mat3:
        return Mat3(Vec3.zero(), Vec3.zero(), Vec3.zero())

    @staticmethod
    def identity() -> Mat3:
        return Mat3(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))

    @staticmethod
    def skew(a: Vec3) -> Mat3:
        """The matrix of a x."""
        return Mat3(Vec3(0.0, -a.z, a.y), Vec3(a.z, 0.0, -a.x), Vec3(-a.y, a.x, 0.0))

    @property
    def T(self) -> Mat3:
        a, b, c = self.x, self.y, self.z
        return Mat3(Vec3(a.x, b.x, c.x), Vec3(a.y, b.y, c.y), Vec3(a.z, b.z, c.z))

    def __add__(self, b: Mat3) -> Mat3:
        return Mat3(self.x + b.x, self.y + b.y, self.z + b.z)

    def __sub__(self, b: Mat3) -> Mat3:
        return Mat3(self.x - b.x, self.y - b.y, self.z - b.z)

    def __matmul__(self, b: Vec3) -> Vec3:
        return Vec3(self.x.dot(b), self.y.dot(b), self.z.dot(b))

    def times(self, b: Mat3) -> Mat3:
        """The matrix product."""
        columns = b.T
        return Mat3(columns @ self.x, columns @ self.y, columns @ self.z)

    def components(self) -> tuple[Scalar, ...]:
        return (*self.x.components(), *self.y.components(), *self.z.components())


@record(frozen=True, slots=True)
class Sym3:
    """A symmetric matrix."""

    xx: Scalar
    yy: Scalar
    zz: Scalar
    xy: Scalar
    xz: Scalar
    yz: Scalar

    @staticmethod
    def zero() -> Sym3:
        return Sym3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @staticmethod
    def scalar(s: Scalar) -> Sym3:
        """s times the identity."""
        return Sym3(s, s, s, 0.0, 0.0, 0.0)

    @staticmethod
    def upper(m: Mat3) -> Sym3:
        """A matrix known to be symmetric, from its upper triangle."""
        return Sym3(m.x.x, m.y.y, m.z.z, m.x.y, m.x.z, m.y.z)

    @property
    def full(self) -> Mat3:
        return Mat3(
            Vec3(self.xx, self.xy, self.xz),
            Vec3(self.xy, self.yy, self.yz),
            Vec3(self.xz, self.yz, self.zz),
        )

    def rotated(self, R: Mat3) -> Sym3:
        """R S Rᵀ."""
        half = R.times(self.full)
        return Sym3(
            half.x.dot(R.x), half.y.dot(R.y), half.z.dot(R.z),
            half.x.dot(R.y), half.x.dot(R.z), half.y.dot(R.z),
        )  # fmt: skip

    def __add__(self, b: Sym3) -> Sym3:
        return Sym3(
            self.xx + b.xx, self.yy + b.yy, self.zz + b.zz, self.xy + b.xy, self.xz + b.xz, self.yz + b.yz
        )  # fmt: skip

    def __sub__(self, b: Sym3) -> Sym3:
        return Sym3(
            self.xx - b.xx, self.yy - b.yy, self.zz - b.zz, self.xy - b.xy, self.xz - b.xz, self.yz - b.yz
        )  # fmt: skip

    def __matmul__(self, b: Vec3) -> Vec3:
        return self.full @ b

    def components(self) -> tuple[Scalar, ...]:
        """xx, yy, zz, xy, xz, yz."""
        return self.xx, self.yy, self.zz, self.xy, self.xz, self.yz
