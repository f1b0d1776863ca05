"""The tree as the algorithms see it: the book's arrays (RBDA section 4.4), with slot 0 for the root."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeVar

from kinetree.expr import Recorder, Scalar, is_zero
from kinetree.model.clusters import Cluster, clusters
from kinetree.model.coordinate_map import CoordinateMap
from kinetree.model.drive import Drive
from kinetree.model.elimination import SparseMatrix, elimination
from kinetree.model.joints import JointKind
from kinetree.spatial import Inertia, Motion, Transform, Vec3

__all__ = ["SPACES", "JointBlocks", "JointColumns", "JointDiagonal", "JointRows", "JointSquare", "JointSquares", "Tree"]

T = TypeVar("T")
SPACES = ("nq", "nv", "forces")
"""What has a piece a joint."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Slots 1 … N in the order of the file. Entry 0 of each array belongs to the root and is never read.

    `outward` lists (i, λ(i)), each parent before its children; `inward` is its reverse.
    """

    outward: tuple[tuple[int, int], ...]
    inward: tuple[tuple[int, int], ...]
    joint: tuple[JointKind, ...]
    """Entry 0 is a placeholder that moves nothing."""
    X_T: tuple[Transform, ...]
    """From body λ(i) to the fixed side of joint i."""
    I: tuple[Inertia, ...]
    """Of everything fixed to body i, in its frame. I[0] is what is fixed to the root."""
    armature: tuple[tuple[Scalar, ...], ...]
    """Rotor inertia seen at the joint, geared rotors' included."""
    gravity: Motion
    """The acceleration of free fall."""
    parent: tuple[int, ...]
    rotor: tuple[tuple[Vec3, ...], ...] = ()
    """Ratio times inertia times axis of each geared rotor, in the joint's fixed frame; a vector a degree of freedom,
    or none where no rotor is."""
    drive: tuple[Drive, ...] = ()
    coordinates: CoordinateMap | None = None
    """How joints share coordinates, if any do."""
    is_one_system: bool = False
    """Whether forward dynamics is to be solved as one system, not cluster by cluster, where joints share some; and
    other things by the mass matrix, not by articulated bodies, where there are both ways."""
    recorder: Recorder | None = None
    """Of the trace, if dense linear algebra is to be done in loops of the program."""

    @property
    def size(self) -> int:
        """N + 1: the root's slot included."""
        return len(self.joint)

    def slots(self, count: int) -> list[list[Any]]:
        """`count` empty arrays, a place a slot."""
        return [[None] * self.size for _ in range(count)]

    def supports(self, i: int) -> list[int]:
        """The joints between the root and body i, the root's side first (κ(i), RBDA section 4.1.4)."""
        path: list[int] = []
        while i != 0:
            path.append(i)
            i = self.parent[i]
        return path[::-1]

    def meeting(self, i: int, j: int) -> int:
        """The body where the ways from bodies i and j to the root meet."""
        above = {0, *self.supports(j)}
        while i not in above:
            i = self.parent[i]
        return i

    def toward_root(self, i: int, end: int = 0) -> Iterator[tuple[int, int]]:
        """(j, λ(j)) for each joint j on the way from body i to the root, or to the body `end` on that way."""
        while i != end:
            yield i, self.parent[i]
            i = self.parent[i]

    def toward_tip(self, start: int, i: int) -> Iterator[tuple[int, int]]:
        """The same joints in the opposite order: from the body `start` to body i, which it carries."""
        return reversed(list(self.toward_root(i, start)))

    def behind(self, j: int) -> Iterator[tuple[int, int]]:
        """(i, λ(i)) for each body i that body j carries, parents first."""
        carried = {j}
        for i, p in self.outward:
            if p in carried:
                carried.add(i)
                yield i, p

    def blocks(self) -> JointBlocks:
        """A symmetric matrix of joints, zero at first."""
        return JointBlocks(self)

    def square(self) -> JointSquare:
        """A matrix of joints with no symmetry, zero at first."""
        return JointSquare(self)

    def squares(self, count: int) -> JointSquares:
        """`count` matrices of joints with no symmetry, zero at first."""
        return JointSquares(self, count)

    def diagonal(self) -> JointDiagonal:
        """A matrix with a block for each joint on its diagonal, zero elsewhere."""
        return JointDiagonal(self)

    def columns(self, rows: int, *, apart: bool = False) -> JointColumns:  # noqa: ARG002
        """A matrix with a column a degree of freedom, zero at first; `apart` if it is not what a function returns."""
        return JointColumns(self, rows)

    def rows(self, columns: int) -> JointRows:
        """A matrix with a row a degree of freedom, zero at first."""
        return JointRows(self, columns)

    def in_slots(self, pieces: Sequence[T]) -> Sequence[T | None]:
        """What an algorithm returned, from slot 1 on, as an array with slot 0."""
        return [None, *pieces]

    def at_rest(self) -> list[list[Scalar]]:
        """A v of zeros, a piece a slot."""
        return [[0.0] * kind.nv for kind in self.joint]

    def of_some(self, values: Mapping[int, T], zero: T) -> Mapping[int, T]:  # noqa: ARG002
        """Values that some bodies have; `zero` is the one of the others, for trees that cannot leave them out."""
        return values

    def some(self, slots: Collection[int]) -> Collection[int]:
        """Slots that an algorithm treats in another way than the rest; `i in` it tells which they are."""
        return slots

    def stacked(self, *rows: tuple[Sequence[Sequence[Scalar]], str]) -> list[Scalar]:
        """Pieces from slot 1 on, each with its space, as rows one after the other."""
        return [x for pieces, space in rows for x in self.joined(pieces, space)]

    def stacked_matrices(self, *matrices: JointBlocks | JointSquare) -> list[Scalar]:
        """Row by row, one after the other."""
        return [x for matrix in matrices for x in matrix.flat()]

    def rebuilt(self, change: Callable[[Tree], Tree]) -> Tree:
        """The tree with something about its constants changed."""
        return change(self)

    def with_armature(self, armature: Sequence[Sequence[Scalar]]) -> Tree:
        """The tree with other armatures, which an algorithm has computed."""
        return replace(self, armature=tuple(map(tuple, armature)))

    @property
    def carrier(self) -> int:
        """The one body that carries all others, if the root has neither mass nor a rotor beside it; else the root."""
        carried = [i for i, p in self.outward if p == 0]
        if len(carried) != 1:
            return 0
        I, (i,) = self.I[0], carried
        spins = (x for couple in self.rotor[i] for x in couple.components())
        return i if all(map(is_zero, (I.mass, *I.h.components(), *I.I.components(), *spins))) else 0

    @property
    def v_starts(self) -> list[int]:
        """Where each slot's degrees of freedom begin among those of all joints, and their number."""
        return list(accumulate((kind.nv for kind in self.joint), initial=0))

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Joints that share coordinates, with those between them; none if they are not to be told apart."""
        return () if self.is_one_system else clusters(self)

    def factor_operations(self) -> int:
        """About how many multiplications the L D Lᵀ of all clusters take."""
        return sum(cluster.size**3 for cluster in clusters(self)) // 6

    def joined(self, pieces: Sequence[Sequence[Scalar]], space: str) -> list[Scalar]:
        """Pieces from slot 1 on as one flat q ("nq"), q̇ ("rates"), v ("nv") or row of joint forces ("forces")."""
        flat = [x for piece in pieces for x in piece]
        return flat if self.coordinates is None else self.coordinates.gathered(flat, space)

    def numbers(self, pieces: Sequence[Sequence[Scalar]], space: str) -> list[Scalar]:
        """The same where it is not what a function returns."""
        return self.joined(pieces, space)

    def split(self, x: Sequence[Scalar], space: str | int) -> Any:
        """The opposite of `joined`: a piece a slot; slot 0 is empty. What has no piece a joint stays as it is."""
        if space not in SPACES:
            return x
        if self.coordinates is not None:
            x = self.coordinates.spread(x, space)
        pieces: list[Sequence[Scalar]] = []
        start = 0
        for kind in self.joint:
            n = kind.nq if space == "nq" else kind.nv
            pieces.append(x[start : start + n])
            start += n
        return pieces


class JointBlocks(dict[tuple[int, int], list[list[Scalar]]]):
    """A symmetric matrix of joints, by its blocks (i, j); (j, i) is the transpose, and the root has none."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._starts = tree.v_starts

    def __setitem__(self, ij: tuple[int, int], block: list[list[Scalar]]) -> None:
        if 0 not in ij:
            super().__setitem__(ij, block)

    def flat(self) -> list[Scalar]:
        """The whole matrix, row by row: of the robot's degrees of freedom, also where joints share some."""
        n = self._starts[-1]
        H: list[Scalar] = [0.0] * (n * n)
        for (i, j), block in self.items():
            for a, row in enumerate(block, self._starts[i]):
                for b, x in enumerate(row, self._starts[j]):
                    H[a * n + b] = H[b * n + a] = x
        shared = self._tree.coordinates
        if shared is None:
            return H
        half = [shared.gathered(H[a * n : (a + 1) * n], "forces") for a in range(n)]  # H G, row by row
        columns = [shared.gathered(column, "forces") for column in zip(*half, strict=True)]  # (Gᵀ H G)ᵀ
        return [columns[max(a, b)][min(a, b)] for a in range(shared.nv) for b in range(shared.nv)]

    def sparse(self, *, as_numbered: bool = False) -> SparseMatrix:
        """The same, to be factored with the sparsity of the tree: tips first, or in the reverse order of v."""
        H = self.flat()
        n = math.isqrt(len(H))
        rows = [H[a * n : (a + 1) * n] for a in range(n)]
        return SparseMatrix(rows, elimination(self._tree, as_numbered=as_numbered), self._tree)


class JointSquare(dict[tuple[int, int], list[list[Scalar]]]):
    """A matrix of joints by its blocks (i, j), whose rows are forces and whose columns are rates; the root has none."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._starts = tree.v_starts

    def __setitem__(self, ij: tuple[int, int], block: list[list[Scalar]]) -> None:
        if 0 not in ij:
            super().__setitem__(ij, block)

    def __sub__(self, other: Mapping[int, list[list[Scalar]]]) -> JointSquare:
        """Less a block a joint on the diagonal."""
        difference = JointSquare(self._tree)
        difference.update(self)
        for i, block in other.items():
            rows = zip(self[i, i], block, strict=True)
            difference[i, i] = [[x - y for x, y in zip(*row, strict=True)] for row in rows]
        return difference

    def flat(self) -> list[Scalar]:
        """The whole matrix, row by row: of the robot's degrees of freedom, also where joints share some."""
        return [x for row in self.rows() for x in row]

    def rows(self) -> list[list[Scalar]]:
        """The same, in its rows."""
        n = self._starts[-1]
        rows: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        for (i, j), block in self.items():
            for a, row in enumerate(block, self._starts[i]):
                rows[a][self._starts[j] : self._starts[j + 1]] = row
        shared = self._tree.coordinates
        if shared is None:
            return rows
        half = [shared.gathered(row, "forces") for row in rows]  # C G, row by row
        columns = [shared.gathered(column, "forces") for column in zip(*half, strict=True)]  # (Gᵀ C G)ᵀ
        return [list(row) for row in zip(*columns, strict=True)]


class JointSquares:
    """Several matrices of joints by their blocks: `squares[i, j]` has a number for each matrix in each place."""

    def __init__(self, tree: Tree, count: int) -> None:
        self._squares = [JointSquare(tree) for _ in range(count)]

    def __setitem__(self, ij: tuple[int, int], block: Sequence[Sequence[Sequence[Scalar]]]) -> None:
        for n, square in enumerate(self._squares):
            square[ij] = [[numbers[n] for numbers in row] for row in block]

    def flat(self) -> list[Scalar]:
        """One matrix after the other, each row by row."""
        return [x for square in self._squares for x in square.flat()]


class JointDiagonal(dict[int, list[list[Scalar]]]):
    """A matrix from v to v that mixes no two joints, by its blocks, one a joint."""

    def places(self) -> dict[tuple[int, int], Scalar]:
        """Its numbers, but for constants that are zero, by where they stand; no joints may share coordinates."""
        return {
            (a, b): x
            for i, block in self.items()
            for a, row in enumerate(block, self._starts[i])
            for b, x in enumerate(row, self._starts[i])
            if not is_zero(x)
        }

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._starts = tree.v_starts

    def flat(self) -> list[Scalar]:
        """The whole matrix, row by row: of the robot's degrees of freedom, also where joints share some."""
        n = self._starts[-1]
        rows: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        for i, block in self.items():
            for a, row in enumerate(block, self._starts[i]):
                rows[a][self._starts[i] : self._starts[i + 1]] = row
        shared = self._tree.coordinates
        if shared is None:
            return [x for row in rows for x in row]
        half = [shared.gathered(row, "forces") for row in rows]  # M G, row by row
        columns = [shared.gathered(column, "nv") for column in zip(*half, strict=True)]  # of G⁻ M G
        return [x for row in zip(*columns, strict=True) for x in row]


class JointColumns:
    """A matrix with some columns a joint: `columns[j]` are those of joint j, `columns[j, k]` their rows from k on."""

    def __init__(self, tree: Tree, rows: int) -> None:
        self._columns: list[list[list[Scalar]]] = [[[0.0] * rows for _ in range(kind.nv)] for kind in tree.joint]
        self._rows = rows
        self._tree = tree

    def __setitem__(self, place: int | tuple[int, int], columns: Sequence[Sequence[Scalar]]) -> None:
        j, first = place if isinstance(place, tuple) else (place, 0)
        for column, numbers in zip(self._columns[j], columns, strict=True):
            column[first : first + len(numbers)] = numbers

    def flat(self) -> list[Scalar]:
        """Its numbers, row by row."""
        return [x for row in self.in_rows() for x in row]

    def in_rows(self) -> list[list[Scalar]]:
        """The same, in its rows: of the robot's degrees of freedom, also where joints share some."""
        shared = self._tree.coordinates
        rows = [[column[r] for columns in self._columns for column in columns] for r in range(self._rows)]
        return rows if shared is None else [shared.gathered(row, "forces") for row in rows]


class JointRows:
    """A matrix whose rows are joint forces, some rows a joint: `rows[j, k]` is joint j's block from column k on."""

    def __init__(self, tree: Tree, columns: int) -> None:
        self._starts = tree.v_starts
        self._rows: list[list[Scalar]] = [[0.0] * columns for _ in range(self._starts[-1])]
        self._tree = tree

    def __setitem__(self, jk: tuple[int, int], block: Sequence[Sequence[Scalar]]) -> None:
        j, k = jk
        for a, row in enumerate(block, self._starts[j]):
            self._rows[a][k : k + len(row)] = row

    def flat(self) -> list[Scalar]:
        """Its numbers, row by row."""
        shared = self._tree.coordinates
        if shared is None:
            return [x for row in self._rows for x in row]
        columns = [shared.gathered(column, "forces") for column in zip(*self._rows, strict=True)]
        return [x for row in zip(*columns, strict=True) for x in row]
