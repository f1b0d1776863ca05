"""Fixed joints: no degrees of freedom. The builder merges them, so an algorithm finds one only in the root's slot."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion
from kinetree.spatial import Motion, Subspace, Transform

__all__ = ["Fixed"]


class Fixed(JointKind):
    """A joint that welds its two sides together."""

    nq = nv = 0
    can_be_singular = False

    @property
    def description(self) -> str:
        return "fixed"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        return JointMotion(Transform.identity(), Subspace(()), Motion.zero(), Motion.zero())

    def reversed(self) -> JointKind:
        return self

    def mirrored(self, normal: int) -> JointKind:
        return self

    def scaled(self, length: float) -> JointKind:
        return self
