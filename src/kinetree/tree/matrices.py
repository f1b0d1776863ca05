"""Matrices of joints, as algorithms return them: blocks per joint, to be written out row by row."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from kinetree.expr import Scalar, is_zero
from kinetree.tree.topology import Topology

if TYPE_CHECKING:
    from kinetree.expr import Recorder
    from kinetree.tree.sparse_matrix import SparseMatrix

__all__ = [
    "BodyColumns",
    "JointBlocks",
    "JointColumns",
    "JointDiagonal",
    "JointRows",
    "JointSquare",
    "JointSquares",
    "Rows",
]


class JointBlocks(dict[tuple[int, int], list[list[Scalar]]]):
    """A symmetric matrix of joints, by its blocks (i, j); (j, i) is the transpose, and the root has none."""

    def __init__(self, tree: Topology, recorder: Recorder | None = None) -> None:
        """`recorder`: that of the trace, if its linear algebra is done in loops of the program."""
        self._tree = tree
        self._starts = tree.v_starts
        self._recorder = recorder

    def __setitem__(self, ij: tuple[int, int], block: list[list[Scalar]]) -> None:
        if 0 not in ij:
            super().__setitem__(ij, block)

    def flat(self) -> list[Scalar]:
        """The whole matrix, row by row: for the robot's degrees of freedom, even if joints share some."""
        n = self._starts[-1]
        M: list[Scalar] = [0.0] * (n * n)
        for (i, j), block in self.items():
            for a, row in enumerate(block, self._starts[i]):
                for b, x in enumerate(row, self._starts[j]):
                    M[a * n + b] = M[b * n + a] = x
        shared = self._tree.coordinates
        if shared is None:
            return M
        half = [shared.gathered(M[a * n : (a + 1) * n], "forces") for a in range(n)]  # M G, row by row
        columns = [shared.gathered(column, "forces") for column in zip(*half, strict=True)]  # (Gᵀ M G)ᵀ
        return [columns[max(a, b)][min(a, b)] for a in range(shared.nv) for b in range(shared.nv)]

    def sparse(
        self, *, as_numbered: bool = False, in_chains: bool = False, coupled: Sequence[Collection[int]] = ()
    ) -> SparseMatrix:
        """The same matrix, to be factored with the sparsity of the tree: tips first, or in the reverse order of v.

        `in_chains`, `coupled`: as for `elimination`.
        """
        from kinetree.tree.elimination import elimination
        from kinetree.tree.sparse_matrix import SparseMatrix

        M = self.flat()
        n = math.isqrt(len(M))
        rows = [M[a * n : (a + 1) * n] for a in range(n)]
        order = elimination(self._tree, as_numbered=as_numbered, in_chains=in_chains, coupled=coupled)
        return SparseMatrix(rows, order, self._tree, self._recorder)


class JointSquare(dict[tuple[int, int], list[list[Scalar]]]):
    """A matrix of joints by its blocks (i, j), whose rows are forces and whose columns are rates; the root has none."""

    def __init__(self, tree: Topology) -> None:
        self._tree = tree
        self._starts = tree.v_starts

    def __setitem__(self, ij: tuple[int, int], block: list[list[Scalar]]) -> None:
        if 0 not in ij:
            super().__setitem__(ij, block)

    def __sub__(self, other: Mapping[int, list[list[Scalar]]]) -> JointSquare:
        """Subtract one block per joint on the diagonal."""
        difference = JointSquare(self._tree)
        difference.update(self)
        for i, block in other.items():
            rows = zip(self[i, i], block, strict=True)
            difference[i, i] = [[x - y for x, y in zip(*row, strict=True)] for row in rows]
        return difference

    def flat(self) -> list[Scalar]:
        """The whole matrix, row by row: for the robot's degrees of freedom, even if joints share some."""
        return [x for row in self.rows() for x in row]

    def rows(self) -> list[list[Scalar]]:
        """The rows of the whole matrix."""
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
    """Several matrices of joints by their blocks: each entry of `squares[i, j]` has one number per matrix."""

    def __init__(self, tree: Topology, count: int) -> None:
        self._squares = [JointSquare(tree) for _ in range(count)]

    def __setitem__(self, ij: tuple[int, int], block: Sequence[Sequence[Sequence[Scalar]]]) -> None:
        for n, square in enumerate(self._squares):
            square[ij] = [[numbers[n] for numbers in row] for row in block]

    def flat(self) -> list[Scalar]:
        """One matrix after the other, each row by row."""
        return [x for square in self._squares for x in square.flat()]


class JointDiagonal(dict[int, list[list[Scalar]]]):
    """A block-diagonal matrix from v to v, by its blocks, one per joint."""

    def places(self) -> dict[tuple[int, int], Scalar]:
        """Its numbers by place, without constant zeros; joints must not share coordinates."""
        return {
            (a, b): x
            for i, block in self.items()
            for a, row in enumerate(block, self._starts[i])
            for b, x in enumerate(row, self._starts[i])
            if not is_zero(x)
        }

    def __init__(self, tree: Topology) -> None:
        self._tree = tree
        self._starts = tree.v_starts

    def flat(self) -> list[Scalar]:
        """The whole matrix, row by row: for the robot's degrees of freedom, even if joints share some."""
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
    """A matrix with some columns per joint: `columns[j]` are joint j's, `columns[j, k]` their rows from k on."""

    def __init__(self, tree: Topology, rows: int) -> None:
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

    def in_rows(self, space: str = "forces") -> list[list[Scalar]]:
        """Its rows, for the robot's degrees of freedom, even if joints share some: of forces or of "squares"."""
        shared = self._tree.coordinates
        rows = [[column[r] for columns in self._columns for column in columns] for r in range(self._rows)]
        return rows if shared is None else [shared.gathered(row, space) for row in rows]


class JointRows:
    """A matrix whose rows are joint forces, some rows per joint: `rows[j, k]` is joint j's block from column k on."""

    def __init__(self, tree: Topology, columns: int) -> None:
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


class Rows:
    """A result with some numbers per body: `rows[k]` are those of body k."""

    def __init__(self, count: int) -> None:
        self._rows: list[Sequence[Scalar]] = [()] * count

    def __setitem__(self, k: int, numbers: Sequence[Scalar]) -> None:
        self._rows[k] = numbers

    def flat(self) -> list[Scalar]:
        """All numbers, row by row."""
        return [x for row in self._rows for x in row]


class BodyColumns:
    """A result of some rows, with some columns per body: `columns[k]` are the rows of body k."""

    def __init__(self, count: int) -> None:
        self._bodies: list[Sequence[Sequence[Scalar]]] = [()] * count

    def __setitem__(self, k: int, rows: Sequence[Sequence[Scalar]]) -> None:
        self._bodies[k] = rows

    def flat(self) -> list[Scalar]:
        """All numbers, row by row."""
        return [x for rows in zip(*self._bodies, strict=True) for row in rows for x in row]
