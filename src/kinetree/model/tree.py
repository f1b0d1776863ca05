"""The tree as the algorithms see it: the book's arrays (RBDA section 4.4), with slot 0 for the root."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVar

from kinetree.expr import Scalar
from kinetree.model.joints import JointKind
from kinetree.spatial import Inertia, Motion, Transform

__all__ = ["JointBlocks", "JointColumns", "Tree"]

T = TypeVar("T")


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
    gravity: Motion
    """The acceleration of free fall."""
    parent: tuple[int, ...]

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

    def toward_root(self, i: int) -> Iterator[tuple[int, int]]:
        """(j, λ(j)) for each joint j on the way from body i to the root."""
        while i != 0:
            yield i, self.parent[i]
            i = self.parent[i]

    def blocks(self) -> JointBlocks:
        """A symmetric matrix of joints, zero at first."""
        return JointBlocks([kind.nv for kind in self.joint])

    def columns(self, rows: int) -> JointColumns:
        """A matrix with a column a degree of freedom, zero at first."""
        return JointColumns([kind.nv for kind in self.joint], rows)

    def in_slots(self, pieces: Sequence[T]) -> Sequence[T | None]:
        """What an algorithm returned, from slot 1 on, as an array with slot 0."""
        return [None, *pieces]

    def at_rest(self) -> list[list[Scalar]]:
        """A v of zeros, a piece a slot."""
        return [[0.0] * kind.nv for kind in self.joint]

    def of_some(self, values: Mapping[int, T], zero: T) -> Mapping[int, T]:  # noqa: ARG002
        """Values that some bodies have; `zero` is the one of the others, for trees that cannot leave them out."""
        return values

    def rebuilt(self, change: Callable[[Tree], Tree]) -> Tree:
        """The tree with something about its constants changed."""
        return change(self)

    def joined(self, pieces: Sequence[Sequence[Scalar]], sizes: str) -> list[Scalar]:  # noqa: ARG002
        """Pieces from slot 1 on as one flat q ("nq") or v ("nv"); the opposite of `split`."""
        return [x for piece in pieces for x in piece]

    def split(self, x: Sequence[Scalar], sizes: str) -> list[Sequence[Scalar]]:
        """A flat q ("nq") or v ("nv") as one piece a slot; slot 0 is empty."""
        pieces: list[Sequence[Scalar]] = []
        start = 0
        for kind in self.joint:
            n = getattr(kind, sizes)
            pieces.append(x[start : start + n])
            start += n
        return pieces


class JointBlocks(dict[tuple[int, int], list[list[Scalar]]]):
    """A symmetric matrix of joints, by its blocks (i, j); (j, i) is the transpose, and the root has none."""

    def __init__(self, widths: Sequence[int]) -> None:
        self._starts = list(accumulate(widths, initial=0))

    def __setitem__(self, ij: tuple[int, int], block: list[list[Scalar]]) -> None:
        if 0 not in ij:
            super().__setitem__(ij, block)

    def flat(self) -> list[Scalar]:
        """The whole matrix, row by row."""
        n = self._starts[-1]
        H: list[Scalar] = [0.0] * (n * n)
        for (i, j), block in self.items():
            for a, row in enumerate(block, self._starts[i]):
                for b, x in enumerate(row, self._starts[j]):
                    H[a * n + b] = H[b * n + a] = x
        return H


class JointColumns:
    """A matrix with some columns a joint: `columns[j]` are those of joint j."""

    def __init__(self, widths: Sequence[int], rows: int) -> None:
        self._columns: list[Sequence[Sequence[Scalar]]] = [[[0.0] * rows] * width for width in widths]
        self._rows = rows

    def __setitem__(self, j: int, columns: Sequence[Sequence[Scalar]]) -> None:
        self._columns[j] = columns

    def flat(self) -> list[Scalar]:
        """Its numbers, row by row."""
        return [column[row] for row in range(self._rows) for columns in self._columns for column in columns]
