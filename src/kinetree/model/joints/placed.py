"""A joint at fixed placements: where it stands in what carries it, and where the moving body's frame stands in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.model.joints.base import JointKind, JointMotion, Matrix
from kinetree.model.joints.one_axis import mirror_image
from kinetree.spatial import Mat3, Motion, Subspace, Transform

__all__ = ["Placed"]


class Placed(JointKind):
    """Another kind of joint between two fixed placements; coordinates, their names and units are that kind's.

    The joint stands at `before` in this one's fixed side, and this one's moving side, the moving body's frame, at
    `after` in the joint's. It serves to have a body's frame elsewhere than at its joint, such as at its centre of
    mass. Algorithms are compiled in the joint's own axes where that takes fewer operations, so it costs next to
    nothing.

    Raises:
        ModelError: it is not given a kind of joint and Transforms.

    >>> import kinetree as kt
    >>> kt.Placed(kt.Revolute([0, 0, 1]), kt.placement((0.0, 0.0, 0.1))).description
    'revolute about z'
    """

    def __init__(self, kind: JointKind, after: Transform, before: Transform | None = None) -> None:
        if not isinstance(kind, JointKind):
            raise ModelError(f"Placed: give it a joint kind such as Revolute([0, 0, 1]), not {kind!r:.60}")
        for name, X in (("after", after), ("before", before)):
            if not isinstance(X, Transform) and (name, X) != ("before", None):
                raise ModelError(f"Placed: {name} must be a Transform, not {X!r:.60}")
        self.kind = kind
        self.after = after.plain()
        self.before = Transform.identity() if before is None else before.plain()

    def __repr__(self) -> str:
        before = "" if self.before == Transform.identity() else f", {self.before!r}"
        return f"Placed({self.kind!r}, {self.after!r}{before})"

    @property
    def nq(self) -> int:  # type: ignore[override]
        return self.kind.nq

    @property
    def nv(self) -> int:  # type: ignore[override]
        return self.kind.nv

    @property
    def quaternions(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.kind.quaternions

    @property
    def is_flat(self) -> bool:  # type: ignore[override]
        return self.kind.is_flat

    @property
    def description(self) -> str:
        return self.kind.description

    @property
    def q_names(self) -> tuple[str, ...]:
        return self.kind.q_names

    @property
    def v_names(self) -> tuple[str, ...]:
        return self.kind.v_names

    @property
    def q_units(self) -> tuple[str, ...]:
        return self.kind.q_units

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        """The same motion, seen from the moving body's frame."""
        X_J, S, v_J, c_J = self.kind.calc(q, v)

        def seen(m: Motion) -> Motion:
            return self.after @ m

        X = self.after @ X_J @ self.before
        return JointMotion(X, Subspace(tuple(map(seen, S.columns))), seen(v_J), seen(c_J))

    def neutral(self) -> tuple[float, ...]:
        return self.kind.neutral()

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        return self.kind.random(rng, lower, upper)

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return self.kind.integrate(q, v)

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        return self.kind.difference(q0, q1)

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return self.kind.rates(q, v)

    def integrate_jacobians(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Matrix, Matrix]:
        return self.kind.integrate_jacobians(q, v)

    def difference_jacobians(self, q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Matrix, Matrix]:
        return self.kind.difference_jacobians(q0, q1)

    def rechart(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        return self.kind.rechart(q, v)

    @property
    def recharts(self) -> bool:
        return self.kind.recharts

    def reversed(self) -> JointKind | None:
        kind = self.kind.reversed()
        return None if kind is None else Placed(kind, self.before.inverse, self.after.inverse)

    def mirrored(self, normal: int) -> JointKind | None:
        kind = self.kind.mirrored(normal)
        return None if kind is None else Placed(kind, _mirrored(self.after, normal), _mirrored(self.before, normal))

    def scaled(self, length: float) -> JointKind | None:
        kind = self.kind.scaled(length)
        after, before = (Transform(X.E, X.r * length) for X in (self.after, self.before))
        return None if kind is None else Placed(kind, after, before)


def _mirrored(X: Transform, normal: int) -> Transform:
    """M E M and M r, with the reflection M."""
    rows = [mirror_image(row, normal) for row in (X.E.x, X.E.y, X.E.z)]
    rows[normal] = -rows[normal]
    return Transform(Mat3(*rows), mirror_image(X.r, normal))
