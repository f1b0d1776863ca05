"""A joint with its sides exchanged: its moving side is held, its fixed side moves."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.wrapping import Wrapping
from kinetree.spatial import Motion, Subspace, Transform

__all__ = ["Reversed"]


class Reversed(Wrapping):
    """Any joint with its sides exchanged: the inverse placement at the same coordinates, which keep names and limits.

    It serves kinds whose inverse has no kind of its own, such as `Planar`. v, and how q changes with it, are as in the
    original kind.

    Raises:
        ModelError: the argument is not a kind of joint.

    >>> import kinetree as kt
    >>> kt.joints.Planar().reversed()
    Reversed(Planar([0.0, 0.0, 1.0]))
    """

    def __repr__(self) -> str:
        return f"Reversed({self.kind!r})"

    @property
    def description(self) -> str:
        return f"reversed {self.kind.description}"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        """-S and -c_J, seen from the side that was fixed."""
        X_J, S, v_J, c_J = self.kind.calc(q, v)

        def back(m: Motion) -> Motion:
            return -X_J.back(m)

        return JointMotion(X_J.inverse, Subspace(tuple(map(back, S.columns))), back(v_J), back(c_J))

    def aligned(self) -> tuple[JointKind, Transform]:
        kind, turn = self.kind.aligned()
        return Reversed(kind), turn

    def reversed(self) -> JointKind:
        return self.kind

    def mirrored(self, normal: int) -> JointKind | None:
        kind = self.kind.mirrored(normal)
        return None if kind is None else Reversed(kind)

    def scaled(self, length: float) -> JointKind | None:
        kind = self.kind.scaled(length)
        return None if kind is None else Reversed(kind)
