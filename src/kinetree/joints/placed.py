"""A joint between two fixed placements: its own in its carrier, and that of the moving body's frame in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.wrapping import Wrapping
from kinetree.spatial import Motion, Subspace, Transform
from kinetree.spatial.mirror import mirror_image_of_placement
from kinetree.spatial.plain import plain_transform
from kinetree.spatial.poses import Pose, pose

__all__ = ["Placed"]


class Placed(Wrapping):
    """Another kind of joint between two fixed placements, with that kind's coordinates, names and units.

    `before` is the placement of the joint in this one's fixed side, `after` that of this one's moving side, the moving
    body's frame, in the joint's moving side. Use it to put a body's frame somewhere other than at its joint, such as at
    its centre of mass. Algorithms are compiled in the joint's own axes where that takes fewer operations, so it costs
    next to nothing.

    Raises:
        ModelError: the arguments are not a kind of joint and placements: `Transform` or arrays (4, 4).

    >>> import kinetree as kt
    >>> kt.joints.Placed(kt.Revolute([0, 0, 1]), kt.lie.placement((0.0, 0.0, 0.1))).description
    'revolute about z'
    """

    def __init__(self, kind: JointKind, after: Pose, before: Pose | None = None) -> None:
        super().__init__(kind)
        self.after: Transform = plain_transform(pose("Placed: after", after, ModelError).plain())
        before = Transform.identity() if before is None else pose("Placed: before", before, ModelError)
        self.before: Transform = plain_transform(before.plain())

    def __repr__(self) -> str:
        before = "" if self.before == Transform.identity() else f", {self.before!r}"
        return f"Placed({self.kind!r}, {self.after!r}{before})"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        """The same motion, seen from the moving body's frame."""
        X_J, S, v_J, c_J = self.kind.calc(q, v)

        def seen(m: Motion) -> Motion:
            return self.after @ m

        X = self.after @ X_J @ self.before
        return JointMotion(X, Subspace(tuple(map(seen, S.columns))), seen(v_J), seen(c_J))

    def turning_rate(self, v: Sequence[Any]) -> list[Any]:
        return self.kind.turning_rate(v)

    def seen_from_fixed(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return self.kind.seen_from_fixed(q, v)

    def seen_from_moving(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return self.kind.seen_from_moving(q, v)

    def displaced(self, q: Sequence[Any], d: Sequence[Any]) -> list[Any]:
        return self.kind.displaced(q, d)

    def displacement_rate(self, q: Sequence[Any], d: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return self.kind.displacement_rate(q, d, v)

    def in_fixed_axes(self) -> JointKind:
        kind = self.kind.in_fixed_axes()
        return self if kind is self.kind else Placed(kind, self.after, self.before)

    def reversed(self) -> JointKind | None:
        kind = self.kind.reversed()
        return None if kind is None else Placed(kind, self.before.inverse, self.after.inverse)

    def mirrored(self, normal: int) -> JointKind | None:
        kind = self.kind.mirrored(normal)
        after, before = (mirror_image_of_placement(X, normal) for X in (self.after, self.before))
        return None if kind is None else Placed(kind, after, before)

    def scaled(self, length: float) -> JointKind | None:
        kind = self.kind.scaled(length)
        after, before = (Transform(X.E, X.r * length) for X in (self.after, self.before))
        return None if kind is None else Placed(kind, after, before)
