"""The tree as an algorithm sees it: the book's arrays (RBDA section 4.4), with slot 0 for the root.

An algorithm's loops run over `tree.outward` and `tree.inward`. On an `UnrolledTree` i and p are numbers, and everything
is written out; on a `RolledTree` they are where a loop of the program is, and the arrays are its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, overload

from kinetree.expr import Grid, Scalar, Shared
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Motion, Transform, Vec3
from kinetree.tree.clusters import Cluster
from kinetree.tree.coordinate_map import CoordinateMap
from kinetree.tree.drive import Drive, Limits
from kinetree.tree.matrices import JointBlocks, JointColumns, JointDiagonal, JointRows, JointSquare, JointSquares
from kinetree.tree.topology import Topology

__all__ = ["Tree"]

T = TypeVar("T")
Pair = tuple[int, int]
Numbers = Sequence[Scalar]


class Tree(Protocol):
    """An algorithm's interface to a robot. Slot i holds body i and the joint that carries it; slot 0 is the root."""

    @property
    def outward(self) -> Iterable[Pair]:
        """(i, λ(i)), each parent before its children."""

    @property
    def inward(self) -> Iterable[Pair]:
        """(i, λ(i)), each parent after its children."""

    @property
    def joint(self) -> Sequence[JointKind]: ...
    @property
    def X_T(self) -> Sequence[Transform]:
        """From body λ(i) to the fixed side of joint i."""

    @property
    def I(self) -> Sequence[Inertia]:  # noqa: E743
        """Everything fixed to body i, in its frame. I[0] is that of bodies fixed to the root."""

    @property
    def armature(self) -> Sequence[Numbers]:
        """Rotor inertia seen at the joint, geared rotors' included."""

    @property
    def rotor(self) -> Sequence[Sequence[Vec3]]:
        """Ratio times inertia times axis of each geared rotor, in the joint's fixed frame; one vector per degree of
        freedom, or none without a rotor."""

    @property
    def drive(self) -> Sequence[Drive]: ...
    @property
    def limits(self) -> Sequence[Limits]: ...
    @property
    def gravity(self) -> Motion:
        """The acceleration of free fall."""

    @property
    def coordinates(self) -> CoordinateMap | None:
        """How joints share coordinates, if any do."""

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Joints that share coordinates, with those between them; none if they are not distinguished."""

    @property
    def is_one_system(self) -> bool:
        """Whether to solve by the mass matrix where there is a choice between it and articulated bodies or clusters."""

    @property
    def carrier(self) -> int:
        """The one body that carries all others, if the root has neither mass nor another rotor; else the root."""

    @overload
    def slots(self, kind: type[T]) -> list[T]: ...
    @overload
    def slots(self, kind: type[T], count: int) -> list[list[T]]: ...
    def slots(self, kind: type[T], count: int | None = None) -> list[T] | list[list[T]]:
        """An empty array with one place per slot, or `count` of them, for quantities of one type."""

    @overload
    def scalars(self) -> list[Scalar]: ...
    @overload
    def scalars(self, count: int) -> list[list[Scalar]]: ...
    def scalars(self, count: int | None = None) -> list[Scalar] | list[list[Scalar]]:
        """The same for one number per slot."""

    @overload
    def pieces(self) -> list[Numbers]: ...
    @overload
    def pieces(self, count: int) -> list[list[Numbers]]: ...
    def pieces(self, count: int | None = None) -> list[Numbers] | list[list[Numbers]]:
        """The same for some numbers per slot: those of its joint."""

    def meeting(self, i: int, j: int) -> int:
        """The body where the paths from bodies i and j to the root meet."""

    def toward_root(self, i: int, end: int = 0) -> Iterable[Pair]:
        """(j, λ(j)) for each joint j on the way from body i to the root, or to the body `end` on that way."""

    def toward_tip(self, start: int, i: int) -> Iterable[Pair]:
        """The same joints in the opposite order: from the body `start` to body i, which it carries."""

    def behind(self, j: int) -> Iterable[Pair]:
        """(i, λ(i)) for each body i that body j carries, parents first."""

    def blocks(self) -> JointBlocks:
        """A symmetric matrix of joints, zero at first."""

    def square(self) -> JointSquare:
        """A matrix of joints with no symmetry, zero at first."""

    def squares(self, count: int) -> JointSquares:
        """`count` matrices of joints with no symmetry, zero at first."""

    def diagonal(self) -> JointDiagonal:
        """A matrix with a block for each joint on its diagonal, zero elsewhere."""

    def columns(self, rows: int, *, apart: bool = False) -> JointColumns:
        """A matrix with one column per degree of freedom, zero at first; `apart` if a function does not return it."""

    def rows(self, columns: int) -> JointRows:
        """A matrix with one row per degree of freedom, zero at first."""

    def grid(self, rows: int, columns: int, /, *, clear: bool = True, is_scratch: bool = False) -> Grid:
        """A matrix that is processed row by row, zero at first if `clear`; in loops of the program if it has loops."""

    def shared(self, function: Shared, numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        """The results of a function of numbers; a program with loops calls one program that all its callers share."""

    def in_slots(self, pieces: Sequence[T]) -> Sequence[T]:
        """An algorithm's result, from slot 1 on, as an array with slot 0, which is never read."""

    def at_rest(self) -> Sequence[Numbers]:
        """A v of zeros, one piece per slot."""

    def of_some(self, values: Mapping[int, T], zero: T) -> Mapping[int, T]:
        """Values that some bodies have; `zero` is the value of the others, for trees that cannot leave them out."""

    def some(self, slots: Collection[int]) -> Collection[int]:
        """Slots that an algorithm treats differently from the rest; `i in` it finds them."""

    def joined(self, pieces: Sequence[Numbers], space: str) -> list[Scalar]:
        """Pieces from slot 1 on as one flat q ("nq"), q̇ ("rates"), v ("nv") or row of joint forces ("forces")."""

    def numbers(self, pieces: Sequence[Numbers], space: str) -> list[Scalar]:
        """Pieces as in `joined`, for rows that are not a function's result."""

    def split(self, x: Any, space: str | int | tuple[int, ...]) -> Any:
        """The opposite of `joined`: one piece per slot; slot 0 is empty."""

    def stacked(self, *rows: tuple[Sequence[Numbers], str]) -> list[Scalar]:
        """Pieces from slot 1 on, each with its space, as rows one after the other."""

    def stacked_matrices(self, *matrices: JointBlocks | JointSquare) -> list[Scalar]:
        """Row by row, one matrix after the other."""

    @property
    def topology(self) -> Topology:
        """How its bodies hang together, one by one."""

    @property
    def alone(self) -> Collection[int]:
        """The slots of bodies that the root carries and that carry nothing; `i in` it finds them."""

    def of_slot(self, values: Sequence[int], i: int) -> Any:
        """The entry of slot i; for loops of a program those of all slots of `topology`."""

    def in_chains(self, coupled: Sequence[Collection[int]]) -> Tree:
        """The tree whose mass matrix is a `BlockMatrix` with the same `coupled` entries, if its bodies are looped over:
        all of the matrix, with zeros, would be large."""

    def with_armature(self, armature: Sequence[Numbers]) -> Tree:
        """The tree with other armatures, which an algorithm has computed."""

    def with_gravity(self, gravity: Motion) -> Tree:
        """The tree with another acceleration of free fall, which an algorithm has computed."""

    def rebuilt(self, change: Callable[[Any], Any]) -> Tree:
        """The tree with its constants changed by a function of an `UnrolledTree`."""
