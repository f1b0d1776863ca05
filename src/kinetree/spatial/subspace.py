"""Joint motion subspaces S, the forces U = Iᴬ S that belong to them, and the joint-space inertia D = Sᵀ U."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.expr import Scalar
from kinetree.spatial.inertia import ArticulatedInertia, Inertia
from kinetree.spatial.linear import LDLT
from kinetree.spatial.motion_force import Force, Motion
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = ["ForceBasis", "Subspace"]


@dataclass(frozen=True, slots=True)
class Subspace:
    """The motions a joint allows: one column a degree of freedom."""

    columns: tuple[Motion, ...]

    def __matmul__(self, x: Sequence[Scalar]) -> Motion:
        """S x, the motion of joint rates x."""
        total = Motion.zero()
        for column, x_k in zip(self.columns, x, strict=True):
            total = total + column * x_k
        return total

    def project(self, f: Force) -> list[Scalar]:
        """Sᵀ f."""
        return [column.dot(f) for column in self.columns]

    def carried_by(self, inertia: ArticulatedInertia | Inertia) -> ForceBasis:
        """U = I S."""
        return ForceBasis(tuple(inertia @ column for column in self.columns))

    def inertia(self, U: ForceBasis, armature: Sequence[Scalar] = ()) -> list[list[Scalar]]:
        """D = Sᵀ U, with the rotors' inertia on its diagonal."""
        D = [[s.dot(u) for u in U.columns] for s in self.columns]
        for k, a in enumerate(armature):
            D[k][k] = D[k][k] + a
        return D


@dataclass(frozen=True, slots=True)
class ForceBasis:
    """Forces, one a degree of freedom."""

    columns: tuple[Force, ...]

    @staticmethod
    def couples(vectors: Sequence[Vec3], X: Transform) -> ForceBasis:
        """Pure couples, given in the coordinates X comes from, in those it leads to."""
        return ForceBasis(tuple(Force(X.E @ n, Vec3.zero()) for n in vectors))

    def __add__(self, other: ForceBasis) -> ForceBasis:
        if not isinstance(other, ForceBasis):
            return NotImplemented
        return ForceBasis(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))

    def __matmul__(self, x: Sequence[Scalar]) -> Force:
        """U x."""
        total = Force.zero()
        for column, x_k in zip(self.columns, x, strict=True):
            total = total + column * x_k
        return total

    def dot(self, m: Motion) -> list[Scalar]:
        """Uᵀ m."""
        return [m.dot(column) for column in self.columns]

    def taken_back(self, X: Transform) -> ForceBasis:
        """Each force in the coordinates X comes from."""
        return ForceBasis(tuple(X.back(column) for column in self.columns))

    def times_inverse(self, D: LDLT) -> ForceBasis:
        """U D⁻¹."""
        rows = zip(*(_six(column) for column in self.columns), strict=True)
        solved = zip(*(D.solve(row) for row in rows), strict=True)
        return ForceBasis(tuple(_force(column) for column in solved))

    def outer(self, other: ForceBasis) -> ArticulatedInertia:
        """U Wᵀ, for a W = U D⁻¹ that makes it symmetric."""
        I, H, M = Mat3.zero(), Mat3.zero(), Mat3.zero()
        for u, w in zip(self.columns, other.columns, strict=True):
            I = I + u.angular.outer(w.angular)
            H = H + u.angular.outer(w.linear)
            M = M + u.linear.outer(w.linear)
        return ArticulatedInertia(Sym3.upper(I), H, Sym3.upper(M))


def _six(f: Force) -> tuple[Scalar, ...]:
    return (*f.angular.components(), *f.linear.components())


def _force(six: Sequence[Scalar]) -> Force:
    return Force(Vec3(*six[:3]), Vec3(*six[3:]))
