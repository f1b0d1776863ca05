"""The tree as the algorithms see it: the book's arrays (RBDA section 4.4), with slot 0 for the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.expr import Scalar
from kinetree.model.joints import JointKind
from kinetree.spatial import Inertia, Motion, Transform

__all__ = ["Tree"]


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

    def split(self, x: Sequence[Scalar], sizes: str) -> list[Sequence[Scalar]]:
        """A flat q ("nq") or v ("nv") as one piece a slot; slot 0 is empty."""
        pieces: list[Sequence[Scalar]] = []
        start = 0
        for kind in self.joint:
            n = getattr(kind, sizes)
            pieces.append(x[start : start + n])
            start += n
        return pieces
