"""Joint motion subspaces S, the forces U = Iᴬ S that belong to them, and the joint-space inertia D = Sᵀ U."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar, Symbol, is_zero
from kinetree.records import record
from kinetree.spatial.coriolis import CoriolisInertia
from kinetree.spatial.inertia import ArticulatedInertia, Inertia
from kinetree.spatial.linear import LDLT
from kinetree.spatial.motion_force import Force, Motion
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = ["ForceBasis", "Subspace"]


@record(frozen=True, slots=True)
class Subspace:
    """The motions a joint allows: one column per degree of freedom."""

    columns: tuple[Motion, ...]

    def __matmul__(self, x: Sequence[Scalar]) -> Motion:
        """S x, the motion at joint rates x."""
        total = Motion.zero()
        for column, x_k in zip(self.columns, x, strict=True):
            total = total + column * x_k
        return total

    def __add__(self, other: Subspace) -> Subspace:
        if not isinstance(other, Subspace):
            return NotImplemented
        return Subspace(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))

    def crossed_by(self, v: Motion) -> Subspace:
        """v x S."""
        return Subspace(tuple(v.cross(column) for column in self.columns))

    def parted(self, motions: Subspace) -> tuple[list[list[Scalar]], Subspace]:
        """Split motions into S x + rest, a column of x for each: its components along columns that are unit motions."""
        units = {k: _six(s).index(1.0) for k, s in enumerate(self.columns) if _is_unit(_six(s))}
        numbers = [_six(m) for m in motions.columns]
        x = [[six[units[k]] if k in units else 0.0 for six in numbers] for k in range(len(self.columns))]
        taken = set(units.values())
        rest = [[0.0 if r in taken else m_r for r, m_r in enumerate(six)] for six in numbers]
        return x, Subspace(tuple(Motion(Vec3(*six[:3]), Vec3(*six[3:])) for six in rest))

    def project(self, f: Force) -> list[Scalar]:
        """Sᵀ f."""
        return [column.dot(f) for column in self.columns]

    def freed(self, Ia: ArticulatedInertia, armature: Sequence[Scalar], rotors: ForceBasis) -> ArticulatedInertia:
        """Iᵃ with exact zeros in all directions that S spans, if no rotor resists, as Iᵃ S = 0 is then known."""
        spanned = [
            r for r, row in enumerate(zip(*(_six(s) for s in self.columns), strict=True)) if not all(map(is_zero, row))
        ]
        resisted = (*armature, *(x for couple in rotors.columns for x in _six(couple)))
        return Ia.without(spanned) if len(spanned) == len(self.columns) and all(map(is_zero, resisted)) else Ia

    def carried_by(self, inertia: ArticulatedInertia | Inertia | CoriolisInertia) -> ForceBasis:
        """U = I S."""
        return ForceBasis(tuple(inertia @ column for column in self.columns))

    def inertia(self, U: ForceBasis, armature: Sequence[Scalar] = ()) -> list[list[Scalar]]:
        """D = Sᵀ U, with the rotors' inertia on its diagonal."""
        D = [[s.dot(u) for u in U.columns] for s in self.columns]
        for k, a in enumerate(armature):
            D[k][k] = D[k][k] + a
        return D


@record(frozen=True, slots=True)
class ForceBasis:
    """Forces, one per degree of freedom."""

    columns: tuple[Force, ...]

    @staticmethod
    def couples(vectors: Sequence[Vec3], X: Transform) -> ForceBasis:
        """Pure couples, given in the coordinates that X comes from, in those that it leads to."""
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

    def numbers(self) -> tuple[Scalar, ...]:
        """All components."""
        return tuple(x for column in self.columns for x in _six(column))

    def taken_back(self, X: Transform) -> ForceBasis:
        """Each force in the coordinates that X comes from."""
        return ForceBasis(tuple(X.back(column) for column in self.columns))

    def times_inverse(self, D: LDLT, matrix: Sequence[Sequence[Scalar]] = ()) -> ForceBasis:
        """U D⁻¹, with D the factors of `matrix`: rows of U that are rows of `matrix` become those of the identity."""
        known = {tuple(row): k for k, row in enumerate(matrix) if any(isinstance(x, Symbol) for x in row)}
        rows = list(zip(*(_six(column) for column in self.columns), strict=True))
        inverse = [
            [float(j == known[row]) for j in range(len(row))] if known and row in known else D.solve(row)
            for row in rows
        ]
        return ForceBasis(tuple(_force(column) for column in zip(*inverse, strict=True)))

    def outer(self, other: ForceBasis) -> ArticulatedInertia:
        """U Wᵀ, for W = U D⁻¹, which makes it symmetric."""
        if not self.columns:
            return ArticulatedInertia.zero()
        U, W = ([*zip(*(_six(column) for column in basis.columns), strict=True)] for basis in (self, other))

        def entry(r: int, s: int) -> Scalar:
            if not any(isinstance(w, Symbol) for w in W[r]):  # a constant row, which costs less
                r, s = s, r
            first, *others = (u * w for u, w in zip(U[r], W[s], strict=True))
            total: Scalar = sum(others, first)
            return total

        xx, yy, zz, xy, xz, yz = (entry(r, s) for r, s in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        H = Mat3(*(Vec3(*(entry(r, s) for s in (3, 4, 5))) for r in (0, 1, 2)))
        M = Sym3(*(entry(r, s) for r, s in ((3, 3), (4, 4), (5, 5), (3, 4), (3, 5), (4, 5))))
        return ArticulatedInertia(Sym3(xx, yy, zz, xy, xz, yz), H, M)


def _is_unit(numbers: Sequence[Scalar]) -> bool:
    """Whether all are constants: a single one, and zeros."""
    known = [x for x in numbers if isinstance(x, float)]
    return len(known) == len(numbers) and sorted(known) == [0.0] * (len(known) - 1) + [1.0]


def _six(f: Force | Motion) -> tuple[Scalar, ...]:
    return (*f.angular.components(), *f.linear.components())


def _force(six: Sequence[Scalar]) -> Force:
    return Force(Vec3(*six[:3]), Vec3(*six[3:]))
