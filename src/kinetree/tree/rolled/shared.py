"""Coordinates shared by joints, in traces with loops: sparse matrices applied to memory by one loop each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.expr import Index, Memory, Recorder, Scalar
from kinetree.tree.coordinate_map import CoordinateMap, Row

__all__ = ["SharedMemory", "transposed"]


class SharedMemory:
    """`CoordinateMap` for memory instead of lists."""

    def __init__(self, recorder: Recorder, shared: CoordinateMap) -> None:
        self._recorder = recorder
        self._shared = shared
        self.nv: int = shared.nv
        self.forces: tuple[Row, ...] = transposed(shared.v_rows, shared.nv)
        """Gᵀ, by rows."""

    def width(self, space: str) -> int:
        """How many numbers the robot's coordinates of a space are."""
        return len(self._shared.q_back) if space in ("nq", "rates") else self.nv

    def spread(self, memory: Memory, space: str, first: Index | int) -> Memory:
        """The joints' coordinates from the robot's, which begin at `first`."""
        shared = self._shared
        rows = {"nq": shared.q_rows, "nv": shared.v_rows}.get(space) or transposed(shared.v_back, len(shared.v_rows))
        offset = shared.q_offset if space == "nq" else None
        target = self._recorder.array(f"joints_{space}", len(rows))
        self._apply(rows, offset, memory, first, (target, 0))
        return target

    def gather(self, memory: Memory, space: str, *places: tuple[Memory, Index | int]) -> None:
        """The robot's coordinates from the joints', written at each of the places."""
        shared = self._shared
        rows = {"nq": shared.q_back, "rates": shared.q_back, "nv": shared.v_back}.get(space) or self.forces
        offset = None
        if space == "nq":
            offset = [-sum(weight * shared.q_offset[c] for c, weight in row) for row in rows]
        self._apply(rows, offset, memory, 0, *places)

    def _apply(
        self,
        rows: Sequence[Row],
        offset: Sequence[float] | None,
        source: Memory,
        first: Index | int,
        *places: tuple[Memory, Index | int],
    ) -> None:
        matrix = Terms(self._recorder, rows)
        shift = self._recorder.array("offset", len(rows), offset) if offset is not None and any(offset) else None
        for k in source.rounds(0, len(rows)):
            total = matrix.sum(k, lambda at: source[at + first])
            if shift is not None:
                total = total + shift[k]
            for target, start in places:
                target[k + start] = total

    def projected(self, M: Memory, n: int, target: Memory) -> None:
        """Gᵀ M G of a symmetric n by n matrix."""
        terms = Terms(self._recorder, self.forces)
        half = self._recorder.array("half_projected", n * self.nv)
        for a in M.rounds(0, n):
            for k in M.rounds(0, self.nv):
                half[a * self.nv + k] = terms.sum(k, lambda at, a=a: M[a * n + at])  # type: ignore[misc]
        for k in M.rounds(0, self.nv):
            for l in M.rounds(0, k + 1):
                x = terms.sum(k, lambda at, l=l: half[at * self.nv + l])  # type: ignore[misc]
                target[k * self.nv + l] = x
                target[l * self.nv + k] = x

    def projected_columns(self, J: Memory, rows: int, n: int, target: Memory) -> None:
        """J G of a matrix of `rows` rows and n columns."""
        terms = Terms(self._recorder, self.forces)
        for row in J.rounds(0, rows):
            for k in J.rounds(0, self.nv):
                target[row * self.nv + k] = terms.sum(k, lambda at, row=row: J[row * n + at])  # type: ignore[misc]

    def projected_rows(self, Y: Memory, columns: int, target: Memory) -> None:
        """Gᵀ Y of a matrix with this many columns."""
        self._product(self.forces, (Y, 0), columns, (target, 0))

    def projected_square(self, C: Memory, n: int, target: Memory) -> None:
        """Gᵀ C G of an n by n matrix from v to forces."""
        self._between(self.forces, C, n, target)

    def projected_squares(self, C: Memory, count: int, n: int, target: Memory) -> None:
        """Gᵀ C G of each of `count` n by n matrices."""
        half = self._recorder.array("half_projected", count * n * self.nv)
        self.projected_columns(C, count * n, n, half)
        for matrix in C.rounds(0, count):
            self._product(self.forces, (half, matrix * (n * self.nv)), self.nv, (target, matrix * self.nv**2))

    def transformed(self, M: Memory, n: int, target: Memory) -> None:
        """G⁻ M G of an n by n matrix from v to v, with the left inverse G⁻ that `gather` applies."""
        self._between(self._shared.v_back, M, n, target)

    def _between(self, rows: Sequence[Row], M: Memory, n: int, target: Memory) -> None:
        """R M G, for a sparse R of these rows."""
        half = self._recorder.array("half_transformed", n * self.nv)
        self.projected_columns(M, n, n, half)
        self._product(rows, (half, 0), self.nv, (target, 0))

    def _product(
        self, rows: Sequence[Row], M: tuple[Memory, Index | int], columns: int, target: tuple[Memory, Index | int]
    ) -> None:
        """R M, for a sparse R of these rows and an M with this many columns; M and the result have start indices."""
        (source, first), (result, start) = M, target
        terms = Terms(self._recorder, rows)
        for k in source.rounds(0, len(rows)):
            for l in source.rounds(0, columns):
                x = terms.sum(k, lambda at, l=l: source[at * columns + l + first])  # type: ignore[misc]
                result[k * columns + l + start] = x


class Terms:
    """The rows of a sparse matrix, each padded with zero weights to the length of the longest."""

    def __init__(self, recorder: Recorder, rows: Sequence[Row]) -> None:
        self._recorder = recorder
        count = max((len(row) for row in rows), default=0)
        padded = [(*row, *(((row[0][0] if row else 0), 0.0),) * (count - len(row))) for row in rows]
        self._columns = [[row[t][0] for row in padded] for t in range(count)]
        weights = [[row[t][1] for row in padded] for t in range(count)]
        self._weights = [
            None if all(w == 1.0 for w in column) else recorder.array("weights", len(rows), column)
            for column in weights
        ]

    def sum(self, k: Index, entry: Callable[[Index], Scalar]) -> Scalar:
        """Σ weight · entry(column) over row k."""
        total: Scalar = 0.0
        for columns, weights in zip(self._columns, self._weights, strict=True):
            x = entry(self._recorder.look_up(columns, k))
            total = total + (x if weights is None else x * weights[k])
        return total


def transposed(rows: Sequence[Row], n: int) -> tuple[Row, ...]:
    """The n rows of the transpose."""
    result: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for r, row in enumerate(rows):
        for column, weight in row:
            result[column].append((r, weight))
    return tuple(map(tuple, result))
