"""Results with some numbers per body, written out."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar

__all__ = ["BodyColumns", "Rows"]


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
