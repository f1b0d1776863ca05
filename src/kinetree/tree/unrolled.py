"""The tree whose bodies are known one by one: algorithms on it are written out, or run on floats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

from kinetree import expr
from kinetree.expr import Scalar, is_zero
from kinetree.records import record
from kinetree.spatial import Inertia, Motion, Transform, Vec3
from kinetree.tree.clusters import Cluster, clusters
from kinetree.tree.drive import Drive, Limits
from kinetree.tree.matrices import JointBlocks, JointColumns, JointDiagonal, JointRows, JointSquare, JointSquares
from kinetree.tree.topology import Topology

__all__ = ["UnrolledTree"]

T = TypeVar("T")


@record(frozen=True, slots=True, kw_only=True)
class UnrolledTree(Topology):
    """A `Topology` with the constants of its joints and bodies; see `Tree` for its interface."""

    X_T: tuple[Transform, ...]
    """From body λ(i) to the fixed side of joint i."""
    I: tuple[Inertia, ...]
    """Inertia of everything fixed to body i, in its frame. I[0] is that of bodies fixed to the root."""
    armature: tuple[tuple[Scalar, ...], ...]
    """Rotor inertia seen at the joint, including geared rotors."""
    gravity: Motion
    """The acceleration of free fall."""
    rotor: tuple[tuple[Vec3, ...], ...] = ()
    """Ratio times inertia times axis of each geared rotor, in the joint's fixed frame; one vector per degree of
    freedom, or none without a rotor."""
    drive: tuple[Drive, ...] = ()
    limits: tuple[Limits, ...] = ()

    @overload
    def slots(self, kind: type[T]) -> list[T]: ...
    @overload
    def slots(self, kind: type[T], count: int) -> list[list[T]]: ...
    def slots(self, kind: type[Any], count: int | None = None) -> list[Any]:  # noqa: ARG002
        """An empty array with one place per slot, or `count` of them, for quantities of one type."""
        return self._empty(count)

    @overload
    def scalars(self) -> list[Scalar]: ...
    @overload
    def scalars(self, count: int) -> list[list[Scalar]]: ...
    def scalars(self, count: int | None = None) -> list[Any]:
        """The same for one number per slot."""
        return self._empty(count)

    @overload
    def pieces(self) -> list[Sequence[Scalar]]: ...
    @overload
    def pieces(self, count: int) -> list[list[Sequence[Scalar]]]: ...
    def pieces(self, count: int | None = None) -> list[Any]:
        """The same for some numbers per slot: those of its joint."""
        return self._empty(count)

    def _empty(self, count: int | None) -> list[Any]:
        return [None] * self.size if count is None else [[None] * self.size for _ in range(count)]

    def blocks(self) -> JointBlocks:
        """A symmetric matrix of joints, initially zero."""
        return JointBlocks(self)

    def square(self) -> JointSquare:
        """An unsymmetric matrix of joints, initially zero."""
        return JointSquare(self)

    def squares(self, count: int) -> JointSquares:
        """`count` unsymmetric matrices of joints, initially zero."""
        return JointSquares(self, count)

    def diagonal(self) -> JointDiagonal:
        """A matrix with a block for each joint on its diagonal, zero elsewhere."""
        return JointDiagonal(self)

    def columns(self, rows: int, *, apart: bool = False) -> JointColumns:  # noqa: ARG002
        """A matrix with one column per degree of freedom, initially zero; `apart` if it is not a function's result."""
        return JointColumns(self, rows)

    def rows(self, columns: int) -> JointRows:
        """A matrix with one row per degree of freedom, initially zero."""
        return JointRows(self, columns)

    def grid(self, rows: int, columns: int, /, *, clear: bool = True, is_scratch: bool = False) -> expr.Grid:  # noqa: ARG002
        """A matrix that is processed row by row, initially zero."""
        return expr.Grid(rows, columns)

    def shared(self, function: expr.Shared, numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        """The results of a function of numbers."""
        return function(expr.Grid, numbers)

    def of_some(self, values: Mapping[int, T], zero: T) -> Mapping[int, T]:  # noqa: ARG002
        """Values that some bodies have; `zero` is that of the others, for trees that cannot leave them out."""
        return values

    def some(self, slots: Collection[int]) -> Collection[int]:
        """Slots that an algorithm treats differently from the rest; `i in` is true for these."""
        return slots

    def stacked(self, *rows: tuple[Sequence[Sequence[Scalar]], str]) -> list[Scalar]:
        """Pieces from slot 1 on, each with its space, as one row after the other."""
        return [x for pieces, space in rows for x in self.joined(pieces, space)]

    def stacked_matrices(self, *matrices: JointBlocks | JointSquare) -> list[Scalar]:
        """The entries of the matrices, row by row, one matrix after the other."""
        return [x for matrix in matrices for x in matrix.flat()]

    def rebuilt(self, change: Callable[[UnrolledTree], UnrolledTree]) -> UnrolledTree:
        """The tree with some of its constants changed."""
        return change(self)

    def in_chains(self, coupled: Sequence[Collection[int]]) -> UnrolledTree:  # noqa: ARG002
        """Itself: its mass matrix is a `SparseMatrix` first."""
        return self

    def with_armature(self, armature: Sequence[Sequence[Scalar]]) -> UnrolledTree:
        """The tree with other armatures, computed by an algorithm."""
        return replace(self, armature=tuple(map(tuple, armature)))

    def with_gravity(self, gravity: Motion) -> UnrolledTree:
        """The tree with another acceleration of free fall, which an algorithm has computed."""
        return replace(self, gravity=gravity)

    @property
    def carrier(self) -> int:
        """The one body that carries all others, if the root has neither mass nor another rotor; else the root."""
        carried = [i for i, p in self.outward if p == 0]
        if len(carried) != 1:
            return 0
        I, (i,) = self.I[0], carried
        spins = (x for couple in self.rotor[i] for x in couple.components())
        return i if all(map(is_zero, (I.mass, *I.h.components(), *I.I.components(), *spins))) else 0

    @property
    def is_one_system(self) -> bool:
        """Whether to solve by the mass matrix where there is a choice between it and articulated bodies or clusters."""
        return False

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Joints that share coordinates, with those between them; none if they are solved as one system."""
        return clusters(self)

    def factor_operations(self) -> int:
        """Approximate number of multiplications in the L D Lᵀ of all clusters."""
        return sum(cluster.size**3 for cluster in clusters(self)) // 6
