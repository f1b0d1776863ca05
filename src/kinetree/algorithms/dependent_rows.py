"""Rows that may depend on each other: the pseudo-inverse of A = B Bᵀ by an orthogonal decomposition, without branches.

A is never formed, because that would square the condition number of B. Each step first exchanges rows: it brings to the
front the row with the largest part that is orthogonal to all rows before it, relative to the row's own length. A
Householder reflection then turns this part into a single number. Where the square of this relative length is no more
than `tolerance`, the row depends on the rows K before it, and so do all rows behind it. So B = P L Q up to the order of
its rows: Q has orthonormal rows, L is a lower triangle, and P has a row of the identity for each row of K and
z = (its row of the triangle) L⁻¹ for each of the others. With G = PᵀP = 1 + Σ z zᵀ,

    y = B⁺ b = Qᵀ L⁻¹ G⁻¹ Pᵀ b,    x = A⁺ b = (Bᵀ)⁺ y = P G⁻¹ L⁻ᵀ L⁻¹ G⁻¹ Pᵀ b.

y is the minimum-norm solution of B y = b, and x that of Bᵀ x = y. Neither depends on the order of the rows, nor on
which of them are K.

Source: Golub and Van Loan, *Matrix Computations*, sections 5.1 (Householder), 5.4.1 and 5.4.2 (exchanges, rank) and
5.5 (rank-deficient least squares).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from kinetree.expr import Grid, Index, NewGrid, Numbers, Scalar, dot, less, select, sqrt
from kinetree.records import record
from kinetree.spatial import LDLT
from kinetree.tree import Tree

__all__ = ["DependentRows", "Solution", "are_many", "decomposed", "solutions"]

_WRITTEN_OUT = 6000
"""Product of rows, columns and steps above which the decomposition loops over rows."""


def are_many(rows: int, columns: int) -> bool:
    """Whether rounds over rows become loops in the program."""
    return rows * columns * min(rows, columns) > _WRITTEN_OUT


class Solution(NamedTuple):
    """The solutions for one right-hand side b."""

    x: list[Scalar]
    """A⁺ b."""
    y: list[Scalar]
    """B⁺ b."""


def solutions(
    tree: Tree,
    B: Sequence[Sequence[Scalar]],
    tolerance: float,
    present: Sequence[Scalar],
    *sides: Sequence[Scalar],
) -> list[Solution]:
    """The solutions for several right-hand sides; where there are many rows, by a program that does nothing else, which
    all functions with as many rows, columns and right-hand sides share. `present` as for `decomposed`.
    """
    m, n = len(B), len(B[0])
    if not are_many(m, n):
        rows = DependentRows(B, present, tolerance)
        return [rows.solve(b) for b in sides]
    numbers = [*(x for row in B for x in row), *present, *(x for b in sides for x in b)]
    numbers_left = iter(tree.shared(_Solver(m, n, len(sides), tolerance), numbers))
    return [Solution([*islice(numbers_left, m)], [*islice(numbers_left, n)]) for _ in sides]


@record(frozen=True, slots=True)
class _Solver:
    """From the numbers of B, `present` and the right-hand sides to those of the solutions."""

    rows: int
    columns: int
    sides: int
    tolerance: float

    @property
    def name(self) -> str:
        """As programs have it."""
        return "solutions of dependent rows"

    def __call__(self, grid: NewGrid, numbers: Numbers, /) -> list[Scalar]:
        m, n, size = self.rows, self.columns, self.rows * self.columns
        rows = DependentRows(_Part(numbers, 0, m, n), _Part(numbers, size, m), self.tolerance, grid)
        sides = [_Part(numbers, size + m * (1 + k), m) for k in range(self.sides)]
        return [number for b in sides for part in rows.solve(b) for number in part]


class _Part(Sequence[Any]):
    """Numbers that follow each other, or rows of them, each read when it is asked for: in memory, where it is used."""

    def __init__(self, numbers: Numbers, first: Index | int, count: int, columns: int = 0) -> None:
        self._numbers, self._first, self._count, self._columns = numbers, first, count, columns

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        """A number, or a row; of a loop's counter, too."""
        if isinstance(k, int) and not 0 <= k < self._count:
            raise IndexError(k)
        if self._columns:
            return _Part(self._numbers, k * self._columns + self._first, self._columns)
        return self._numbers[k + self._first]


def decomposed(tree: Tree, B: Sequence[Sequence[Scalar]], tolerance: float, present: Sequence[Scalar]) -> DependentRows:
    """The decomposition of B, in loops of the program where there are many rows.

    `present` is 0 for each row of zeros and 1 for the others. Small numbers that rounding left of zeros must not count:
    rows are judged relative to themselves, so such a row would be as good as any.
    """
    return DependentRows(B, present, tolerance, tree.grid if are_many(len(B), len(B[0])) else Grid)


class _Reflection(NamedTuple):
    """Householder reflection 1 - factor v vᵀ, which reduces the rest of a row to one number, the diagonal of L."""

    row: list[Scalar]
    """The rest of the row; v is the same with the diagonal subtracted from its first entry."""
    diagonal: Scalar
    inverse: Scalar
    """The inverse of the diagonal. Like the factor, it is zero where the row depends on those before it."""
    factor: Scalar
    kept: Scalar
    """1 where the row is independent of those before it, otherwise 0."""


class DependentRows:
    """The decomposition of B; its rounds over rows may be loops in the program (`Grid`)."""

    def __init__(
        self,
        B: Sequence[Sequence[Scalar]],
        present: Sequence[Scalar],
        tolerance: float,
        grid: NewGrid = Grid,
    ) -> None:
        """`present` is 0 for each row of zeros and 1 for the others; `grid` makes the matrices that it works on."""
        self._m, self._n = len(B), len(B[0])
        self._steps = min(self._m, self._n)
        self._grid = grid
        # The grid holds the rows of B, which become those of the triangle column by column, and two numbers per row.
        self._weight = self._n  # the inverse square of the row's length
        self._left = self._n + 1  # the part of that square which is orthogonal to the rows before it
        self._rows = grid(self._m, self._n + 2, clear=False)
        for i in self._rows.rounds(0, self._m) if isinstance(B, _Part) else range(self._m):
            square: Scalar = 0.0
            for j, x in enumerate(B[i]):
                self._rows[i, j] = x
                square = square + x * x
            self._rows[i, self._weight] = select(present[i], 1.0 / select(present[i], square, 1.0), 0.0)
            self._rows[i, self._left] = present[i]
        self._exchanges = grid(self._m, self._steps, clear=False)
        self._L: list[list[Scalar]] = []
        self._reflections: list[_Reflection] = []
        for k in range(self._steps):
            self._step(k, tolerance)
        if self._steps:
            for i in self._rows.rounds(self._steps, self._m):
                self._rows[i, self._steps - 1] = self._reflected(self._steps, i)[self._steps - 1]
        self._gram = LDLT(self._combine())

    def solve(self, b: Sequence[Scalar]) -> Solution:
        """x = A⁺ b and y = B⁺ b."""
        x = self._grid(self._m, 1, clear=False)
        for i, number in enumerate(b):
            x[i, 0] = number
        for k in range(self._steps):
            for i in x.rounds(k + 1, self._m):
                x.exchange(i, k, self._exchanges[i, k])

        # G⁻¹ Pᵀ b = b_K + G⁻¹ Σ z (b_i - zᵀ b_K), which is exactly b_K where b is consistent.
        asked = [x[k, 0] for k in range(self._steps)]
        more = self._grid(1, self._steps)
        for i in x.rounds(1, self._m):
            z = self._z(i)
            other = x[i, 0]
            for a, c in zip(z, asked, strict=True):
                other = other - a * c
            for j, a in enumerate(z):
                more[0, j] = more[0, j] + a * other
        asked = [a + c for a, c in zip(asked, self._gram.solve(more.row(0, range(self._steps))), strict=True)]

        y = self._forward(asked)
        shares = self._gram.solve(self._backward(y))
        for i in range(self._m):
            x[i, 0] = shares[i] if i < self._steps else 0.0
        for i in x.rounds(1, self._m):
            total = x[i, 0]
            for a, c in zip(self._z(i), shares, strict=True):
                total = total + a * c
            x[i, 0] = total
        self._put_back(x)
        return Solution([x[i, 0] for i in range(self._m)], self._turned_back(y))

    def inverse(self) -> list[Scalar]:
        """A⁺ = Wᵀ W, W = L⁻¹ G⁻¹ Pᵀ, row by row."""
        W = self._grid(self._m, self._steps)
        for k in range(self._steps):
            W[k, k] = 1.0
        for i in W.rounds(0, self._m):
            column = [a + b for a, b in zip(W.row(i, range(self._steps)), self._z(i), strict=True)]
            for j, x in enumerate(self._forward(self._gram.solve(column))):
                W[i, j] = x
        self._put_back(W)
        result = self._grid(self._m, self._m)
        for i in W.rounds(0, self._m):
            row = W.row(i, range(self._steps))
            for s in range(self._m):
                result[i, s] = dot(row, W.row(s, range(self._steps)))
        return [result[r, s] for r in range(self._m) for s in range(self._m)]

    def _step(self, k: int, tolerance: float) -> None:
        """Apply the previous step's reflection, bring the row with the largest rest to position k, and reflect it."""
        rows = self._rows

        def bring_forward(i: Index | int, best: Sequence[Scalar]) -> list[Scalar]:
            row = self._reflected(k, i)
            is_larger = less(best[self._left], row[self._left])
            self._exchanges[i, k] = is_larger
            for j, (a, b) in enumerate(zip(best, row, strict=True)):
                rows[i, j] = select(is_larger, a, b)
            return [select(is_larger, b, a) for a, b in zip(best, row, strict=True)]

        row = rows.fold(k + 1, self._m, self._reflected(k, k), bring_forward)
        self._reflections.append(_reflection(row[k : self._n], row[self._weight], tolerance))
        self._L.append([*row[:k]])
        for j in range(self._n):
            rows[k, j] = row[j] if j < k else 0.0

    def _reflected(self, k: int, i: Index | int) -> list[Scalar]:
        """Row i as it enters step k."""
        row = self._rows.row(i, range(self._n + 2))
        if k == 0:
            return row
        reflection, first = self._reflections[k - 1], k - 1
        along: Scalar = 0.0
        for a, b in zip(reflection.row, row[first : self._n], strict=True):
            along = along + a * b
        part = (along - reflection.diagonal * row[first]) * reflection.factor
        row[first] = along * reflection.inverse
        left: Scalar = 0.0
        for j in range(k, self._n):
            row[j] = row[j] - part * reflection.row[j - first]
            left = left + row[j] * row[j]
        row[self._left] = left * row[self._weight]
        return row

    def _combine(self) -> list[list[Scalar]]:
        """Replace each row by z, which is zero for the rows of K, and return G."""
        rows, steps = self._rows, self._steps
        for i in range(self._m):
            rows[i, self._left] = self._reflections[i].kept if i < steps else 0.0
        gram = self._grid(steps, steps)
        for k in range(steps):
            gram[k, k] = 1.0
        for i in rows.rounds(1, self._m):
            z = rows.row(i, range(steps))
            is_of_K = rows[i, self._left]
            for j in reversed(range(steps)):
                z[j] = z[j] * self._reflections[j].inverse
                for l in range(j):
                    z[l] = z[l] - z[j] * self._L[j][l]
            z = [select(is_of_K, 0.0, x) for x in z]
            for j, x in enumerate(z):
                rows[i, j] = x
                for l in range(j + 1):
                    gram[j, l] = gram[j, l] + x * z[l]
        return [gram.row(j, range(steps)) for j in range(steps)]

    def _z(self, i: Index | int) -> list[Scalar]:
        return self._rows.row(i, range(self._steps))

    def _put_back(self, x: Grid) -> None:
        """Undo the exchanges."""
        for k in reversed(range(self._steps)):
            for i in x.rounds(self._m - 1, k):
                x.exchange(i, k, self._exchanges[i, k])

    def _forward(self, x: Sequence[Scalar]) -> list[Scalar]:
        """L⁻¹ x, with zeros where a row depends on those before it."""
        x = list(x)
        for k, row in enumerate(self._L):
            for j, a in enumerate(row):
                x[k] = x[k] - a * x[j]
            x[k] = x[k] * self._reflections[k].inverse
        return x

    def _backward(self, x: Sequence[Scalar]) -> list[Scalar]:
        """L⁻ᵀ x, with the same zeros."""
        x = list(x)
        for k in reversed(range(self._steps)):
            x[k] = x[k] * self._reflections[k].inverse
            for j, a in enumerate(self._L[k]):
                x[j] = x[j] - a * x[k]
        return x

    def _turned_back(self, y: Sequence[Scalar]) -> list[Scalar]:
        """Qᵀ y."""
        total = [*y, *[0.0] * (self._n - self._steps)]
        for k in reversed(range(self._steps)):
            reflection = self._reflections[k]
            v = [reflection.row[0] - reflection.diagonal, *reflection.row[1:]]
            along: Scalar = 0.0
            for a, b in zip(v, total[k:], strict=True):
                along = along + a * b
            along = along * reflection.factor
            for j, a in enumerate(v, k):
                total[j] = total[j] - along * a
        return total


def _reflection(row: Sequence[Scalar], weight: Scalar, tolerance: float) -> _Reflection:
    square: Scalar = 0.0
    for x in row:
        square = square + x * x
    kept = less(tolerance, square * weight)
    square = select(kept, square, 1.0)
    root = sqrt(square)
    diagonal = select(less(row[0], 0.0), root, -root)  # so that row[0] - diagonal does not cancel
    factor = select(kept, 1.0 / (square - diagonal * row[0]), 0.0)
    return _Reflection([*row], diagonal, select(kept, 1.0 / diagonal, 0.0), factor, kept)
