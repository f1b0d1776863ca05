"""How the bodies of a robot hang together, and where their joints' coordinates are in q and v."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from kinetree.expr import Scalar
from kinetree.joints import JointKind
from kinetree.records import record
from kinetree.tree.coordinate_map import CoordinateMap

__all__ = ["SPACES", "Topology"]

T = TypeVar("T")
SPACES = ("nq", "nv", "forces")
"""The vector spaces whose vectors have one piece per joint."""


@record(frozen=True, slots=True, kw_only=True)
class Topology:
    """Slots 1 … N in the order of the file. Entry 0 of each array belongs to the root and is never read.

    `outward` lists (i, λ(i)), each parent before its children; `inward` is its reverse.
    """

    outward: tuple[tuple[int, int], ...]
    inward: tuple[tuple[int, int], ...]
    parent: tuple[int, ...]
    joint: tuple[JointKind, ...]
    """Entry 0 is a placeholder that moves nothing."""
    coordinates: CoordinateMap | None = None
    """How joints share coordinates, if any do."""

    @property
    def size(self) -> int:
        """N + 1, including the root's slot."""
        return len(self.joint)

    @property
    def topology(self) -> Topology:
        """The tree, whose bodies are known one by one."""
        return self

    @property
    def alone(self) -> Collection[int]:
        """The slots of bodies that the root carries and that carry nothing."""
        carriers = {p for _, p in self.outward}
        return {i for i, p in self.outward if p == 0 and i not in carriers}

    def of_slot(self, values: Sequence[int], i: int) -> Any:
        """The entry of slot i."""
        return values[i]

    def supports(self, i: int) -> list[int]:
        """The joints between the root and body i, the root's side first (κ(i), RBDA section 4.1.4)."""
        path: list[int] = []
        while i != 0:
            path.append(i)
            i = self.parent[i]
        return path[::-1]

    def meeting(self, i: int, j: int) -> int:
        """The body where the paths from bodies i and j to the root meet."""
        above = {0, *self.supports(j)}
        while i not in above:
            i = self.parent[i]
        return i

    def toward_root(self, i: int, end: int = 0) -> Iterator[tuple[int, int]]:
        """(j, λ(j)) for each joint j on the path from body i to the root, or to the body `end` on that path."""
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

    def in_slots(self, pieces: Sequence[T]) -> Sequence[T]:
        """An algorithm's result, from slot 1 on, as an array with slot 0."""
        return [None, *pieces]  # type: ignore[list-item]

    def at_rest(self) -> list[list[Scalar]]:
        """A v of zeros, one piece per slot."""
        return [[0.0] * kind.nv for kind in self.joint]

    @property
    def v_starts(self) -> list[int]:
        """Start of each slot's degrees of freedom among those of all joints, and their total number."""
        return list(accumulate((kind.nv for kind in self.joint), initial=0))

    def joined(self, pieces: Sequence[Sequence[Scalar]], space: str) -> list[Scalar]:
        """Pieces from slot 1 on as one flat q ("nq"), q̇ ("rates"), v ("nv") or row of joint forces ("forces")."""
        flat = [x for piece in pieces for x in piece]
        return flat if self.coordinates is None else self.coordinates.gathered(flat, space)

    def numbers(self, pieces: Sequence[Sequence[Scalar]], space: str) -> list[Scalar]:
        """Like `joined`, for values that are not a function's result."""
        return self.joined(pieces, space)

    def split(self, x: Sequence[Scalar], space: str | int | tuple[int, ...]) -> Any:
        """The inverse of `joined`: one piece per slot; slot 0 is empty. Spaces without joint pieces stay unchanged."""
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
